package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"bridged/internal/api"
	"bridged/internal/api/apitest"
	"bridged/internal/api/openapi"
)

func TestOpenAPI_IsValid(t *testing.T) {
	t.Parallel()
	doc, err := apitest.Document()
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(context.Background(), openapi3.EnableExamplesValidation()); err != nil {
		t.Fatal(err)
	}
}

// The document has the version of the program that serves it, and nothing in it is deprecated without
// dates and notice.
func TestOpenAPI_FollowsTheVersionOfTheProgram(t *testing.T) {
	s := newServer(t, func(o *api.Options) { o.Build.Version = "1.4.2" })
	served, err := openapi3.NewLoader().LoadFromData(s.WithToken("").Get("/openapi.yaml").Want(http.StatusOK).Body)
	if err != nil || served.Info.Version != "1.4.2" {
		t.Errorf("the version is %+v, %v", served.Info, err)
	}
	if err := openapi.New(api.Document, "", "", false).Fault(); err != nil {
		t.Error(err)
	}
}

// What the document marks as deprecated is announced by the routes themselves: before the body is
// read, in bodies, and in refusals.
func TestOpenAPI_DeprecationsAreAnnounced(t *testing.T) {
	const marks = "{deprecated: true, x-deprecated: 2027-01-31, x-sunset: 2027-08-01, type: boolean}"
	s := newServer(t, func(o *api.Options) {
		o.Document = []byte("paths:\n  /api/chats:\n    get: {deprecated: true, x-deprecated: 2027-01-31, x-sunset: 2027-08-01}\n" +
			"  /api/messages/send:\n    post: {requestBody: {content: {application/json: {schema: {properties: {linkPreview: " + marks + "}}}}}}\n")
	})
	text := map[string]any{"jid": club, "text": "hello"}
	withField := map[string]any{"jid": club, "text": "hello", "linkPreview": false}
	for name, test := range map[string]struct {
		got  apitest.Response
		want bool
	}{
		"a route": {s.Get("/api/chats"), true}, "its refusal": {s.Get("/api/chats?limit=none"), true}, "another route": {s.Get("/api/contacts"), false},
		"a body without the field": {s.Post("/api/messages/send", text), false}, "a body with it": {s.Post("/api/messages/send", withField), true},
	} {
		if sunset := test.got.Header.Get("Sunset"); (sunset == "Sun, 01 Aug 2027 00:00:00 GMT") != test.want || (test.got.Header.Get("Deprecation") == "@1801353600") != test.want {
			t.Errorf("%s: %d, %v", name, test.got.Status, test.got.Header)
		}
	}
}

func TestOpenAPI_HasEveryRouteAndNoOther(t *testing.T) {
	t.Parallel()
	doc, err := apitest.Document()
	if err != nil {
		t.Fatal(err)
	}
	var documented, served []string
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			documented = append(documented, method+" "+path)
		}
	}
	routes := api.New(api.Options{})
	err = chi.Walk(routes, func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		served = append(served, method+" "+strings.TrimSuffix(route, "/"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(documented)
	slices.Sort(served)
	if diff := cmp.Diff(documented, served); diff != "" {
		t.Errorf("documented (-) and served (+) routes differ:\n%s", diff)
	}
}

func TestOpenAPI_IsServedWithoutToken(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	got := s.WithToken("").Get("/openapi.yaml").Want(http.StatusOK)
	if string(got.Body) != string(api.Document) {
		t.Error("the served document is not the embedded one")
	}
	asJSON := s.WithToken("").Get("/openapi.json").Want(http.StatusOK)
	fromJSON, err := openapi3.NewLoader().LoadFromData(asJSON.Body)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(asJSON.Body) || encoded(t, fromJSON) != encoded(t, asWritten(t)) {
		t.Error("/openapi.json is another document")
	}
	without := httptest.NewServer(api.New(api.Options{Token: token, WithoutPages: true}))
	t.Cleanup(without.Close)
	for _, page := range []string{"/openapi.yaml", "/openapi.json"} {
		resp, err := http.Get(without.URL + page)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s without pages: %d", page, resp.StatusCode)
		}
	}
}

func encoded(t *testing.T, doc *openapi3.T) string {
	t.Helper()
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every error code that the surface can answer is in the document's list, and
// the other way round.
func TestOpenAPI_ListsEveryCode(t *testing.T) {
	t.Parallel()
	doc, err := apitest.Document()
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, code := range doc.Components.Schemas["Error"].Value.Properties["code"].Value.Enum {
		listed = append(listed, code.(string))
	}
	slices.Sort(listed)
	if diff := cmp.Diff(api.Codes(), listed); diff != "" {
		t.Errorf("codes of errors.go (-) and openapi.yaml (+) differ:\n%s", diff)
	}
}

// What the document does not mark as open is closed.
func TestOpenAPI_EveryOtherRouteNeedsTheBearer(t *testing.T) {
	t.Parallel()
	doc, err := apitest.Document()
	if err != nil {
		t.Fatal(err)
	}
	anonymous := newServer(t).WithToken("")
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.Security != nil && len(*operation.Security) == 0 {
				continue
			}
			anonymous.Do(method, strings.ReplaceAll(path, "{jid}", string(club)), "").Want(http.StatusUnauthorized)
		}
	}
}
