package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-chi/chi/v5"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	"bridged/internal/intake/intaketest"
)

// No body takes a multiple of its bytes in memory, on any route of the router: with values of every
// kind in place of each member that the document names, and in other types and encodings. Callers
// have a token for one chat with the least that the route needs, and one to read.
func TestBodies_OfEveryRouteHoldLittleMemory(t *testing.T) {
	s := newHooked(t)
	s.know(members(club, "Readers", grace, me), say(club, grace, "G1", "to all", 0))
	token := func(scopes string) string {
		return s.server.token(`{"name":"x","scopes":[` + scopes + `],"chats":["` + string(club) + `"]}`).Secret
	}
	reader := token(`"read"`)
	allowed := map[bridge.Scope]string{
		bridge.ScopeRead: reader, "": reader, bridge.ScopeSend: token(`"read","send"`), bridge.ScopeManage: token(`"read","send","manage"`),
	}
	var hook struct{ URL string }
	s.Post("/api/hooks", object{"name": "x", "chatJid": club, "template": "json"}).Want(http.StatusCreated).Decode(&hook)
	_, address, _ := strings.Cut(hook.URL, "/hooks/")
	names := strings.NewReplacer("{jid}", string(club), "{chatJid}", string(club), "{msgId}", "G1", "{id}", "1", "{deliveryId}", "1", "{hook}", address)
	others := intaketest.Others()
	walked := 0
	err := chi.Walk(s.handler.(chi.Routes), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		send := func(secret, kind, encoding, body string) int {
			req := httptest.NewRequest(method, names.Replace(route), strings.NewReader(body))
			req.Header.Set("Authorization", "Bearer "+secret)
			req.Header.Set("Content-Type", kind)
			if encoding != "" {
				req.Header.Set("Content-Encoding", encoding)
			}
			w := httptest.NewRecorder()
			s.handler.ServeHTTP(w, req)
			return w.Code
		}
		secret := allowed[reaches[method+" "+route].scope]
		for _, body := range intaketest.Bodies(legalBody(t, method, route)) {
			name := fmt.Sprintf("%s %s with %s", method, route, body.Where)
			intaketest.Check(t, name, intaketest.Usual, func() int { return send(secret, "application/json", "", body.Text) })
		}
		for _, body := range others {
			name := fmt.Sprintf("%s %s with %s", method, route, body.Name)
			for _, secret := range []string{secret, reader} {
				intaketest.Check(t, name, intaketest.Usual, func() int { return send(secret, body.Type, body.Encoding, body.Text) })
			}
		}
		walked++
		return nil
	})
	if err != nil || walked < len(reaches) {
		t.Errorf("%d of %d routes, %v", walked, len(reaches), err)
	}
}

// legalBody returns a body of a route with all members that the document names; "{}" for none.
func legalBody(t *testing.T, method, route string) string {
	t.Helper()
	document, err := apitest.Document()
	if err != nil {
		t.Fatal(err)
	}
	item := document.Paths.Value(route)
	if item == nil || item.GetOperation(method) == nil || item.GetOperation(method).RequestBody == nil {
		return "{}"
	}
	kind := item.GetOperation(method).RequestBody.Value.Content["application/json"]
	if kind == nil || kind.Schema == nil {
		return "{}"
	}
	body, err := json.Marshal(legalValue(kind.Schema.Value, 4))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// legalValue returns a value of a schema, with members and elements down to a depth.
func legalValue(schema *openapi3.Schema, depth int) any {
	members := map[string]any{}
	var add func(*openapi3.Schema)
	add = func(schema *openapi3.Schema) {
		for name, property := range schema.Properties {
			if depth > 0 {
				members[name] = legalValue(property.Value, depth-1)
			}
		}
		for _, others := range []openapi3.SchemaRefs{schema.AllOf, schema.AnyOf, schema.OneOf} {
			for _, other := range others {
				add(other.Value)
			}
		}
	}
	add(schema)
	switch {
	case schema.Type.Includes("array"):
		return []any{legalValue(schema.Items.Value, depth-1)}
	case len(members) > 0 || schema.Type.Includes("object"):
		return members
	case schema.Type.Includes("boolean"):
		return true
	case schema.Type.Includes("number") || schema.Type.Includes("integer"):
		return 1
	}
	return string(grace)
}
