package apitest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"bridged/internal/api"
)

// timeForm is the form of times in answers. The document leaves it out: generators of clients fail on a
// pattern of a date.
const timeForm = `^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$`

// Document returns the server's OpenAPI document, changed so that answers may only have the fields
// that it names.
var Document = sync.OnceValues(func() (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromData(api.Document)
	if err != nil {
		return nil, fmt.Errorf("load openapi.yaml: %w", err)
	}
	closeAnswers(doc)
	for _, name := range []string{"Time", "MaybeTime"} {
		doc.Components.Schemas[name].Value.Pattern = timeForm
	}
	return doc, nil
})

// Checked returns a transport that fails t for every exchange through next that the document does not
// allow.
func Checked(t testing.TB, next http.RoundTripper) http.RoundTripper {
	t.Helper()
	doc, err := Document()
	if err != nil {
		t.Fatal(err)
	}
	return &checker{t: t, doc: doc, next: next}
}

type checker struct {
	t    testing.TB
	doc  *openapi3.T
	next http.RoundTripper
}

// RoundTrip makes the call and checks the answer. Only the status and headers of streams and files
// are checked.
func (c *checker) RoundTrip(req *http.Request) (*http.Response, error) {
	sent, err := readBody(&req.Body)
	if err != nil {
		return nil, err
	}
	resp, err := c.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	var received []byte
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		if received, err = readBody(&resp.Body); err != nil {
			return nil, err
		}
	}
	if received != nil && resp.Header.Get("Content-Encoding") == "gzip" {
		if received, err = unzipped(received); err != nil {
			return nil, err
		}
	}
	if err := c.check(req, sent, resp, received); err != nil {
		c.t.Errorf("%s %s answered %d against openapi.yaml: %v\n%s", req.Method, req.URL.EscapedPath(), resp.StatusCode, err, received)
	}
	return resp, nil
}

func unzipped(body []byte) ([]byte, error) {
	from, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(from)
}

// readBody reads a body and replaces it with a copy.
func readBody(body *io.ReadCloser) ([]byte, error) {
	if *body == nil || *body == http.NoBody {
		return nil, nil
	}
	data, err := io.ReadAll(*body)
	err = errors.Join(err, (*body).Close())
	*body = io.NopCloser(bytes.NewReader(data))
	return data, err
}

// seen has the documented answers and webhooks that were checked.
var seen sync.Map

// Unseen returns the documented answers ("GET /api/chats 200") and webhooks ("message.created") that
// this process has not checked yet.
func Unseen() ([]string, error) {
	doc, err := Document()
	if err != nil {
		return nil, err
	}
	documented := slices.Collect(maps.Keys(doc.Webhooks))
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			for status := range operation.Responses.Map() {
				documented = append(documented, method+" "+path+" "+status)
			}
		}
	}
	slices.Sort(documented)
	return slices.DeleteFunc(documented, func(what string) bool {
		_, isSeen := seen.Load(what)
		return isSeen
	}), nil
}

func (c *checker) check(req *http.Request, sent []byte, resp *http.Response, received []byte) error {
	input, found := c.route(req)
	if !found {
		return c.checkUndocumented(resp, received)
	}
	seen.Store(fmt.Sprint(input.Route.Method, " ", input.Route.Path, " ", resp.StatusCode), true)
	input.Request = req.Clone(context.Background())
	input.Request.Body = io.NopCloser(bytes.NewReader(sent))
	answer := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input,
		Status:                 resp.StatusCode,
		Header:                 resp.Header,
		Options:                input.Options,
	}
	if err := openapi3filter.ValidateResponse(context.Background(), answer); err != nil {
		return err
	}
	if received != nil {
		if err := checkJSON(input.Route.Operation.Responses.Status(resp.StatusCode).Value.Content, resp.Header.Get("Content-Type"), received); err != nil {
			return err
		}
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return checkCode(input.Route.Operation, resp.StatusCode, received)
	}
	if err := checkAccepted(input, req.Header.Get("Content-Type"), sent); err != nil {
		return fmt.Errorf("the server accepted what the document does not: %w", err)
	}
	return nil
}

// checkAccepted checks an accepted request against the document. A body without a Content-Type is
// JSON.
func checkAccepted(input *openapi3filter.RequestValidationInput, contentType string, sent []byte) error {
	body := input.Route.Operation.RequestBody
	switch {
	case strings.HasPrefix(contentType, "multipart/form-data;"), body != nil && isBinary(body.Value.Content.Get(contentType)):
		input.Options.ExcludeRequestBody = true // the library can check only a few types of files
	case len(sent) > 0 && body != nil && (contentType == "application/json" || body.Value.Content[contentType] == nil):
		input.Options.ExcludeRequestBody = true
		if err := checkJSON(body.Value.Content, "application/json", sent); err != nil {
			return err
		}
	}
	return openapi3filter.ValidateRequest(context.Background(), input)
}

func isBinary(media *openapi3.MediaType) bool {
	return media != nil && media.Schema.Value.Format == "binary"
}

// checkUndocumented checks that an undocumented route has refused a request.
func (c *checker) checkUndocumented(resp *http.Response, received []byte) error {
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusNotFound:
	case http.StatusMethodNotAllowed:
		if resp.Header.Get("Allow") == "" {
			return errors.New("405 without Allow")
		}
	default:
		return errors.New("the route is not documented")
	}
	if resp.Request.Method == http.MethodHead {
		return nil
	}
	return checkSchema(c.doc.Components.Schemas["Error"].Value, received)
}

// route returns the documented operation of a request. The operation of HEAD is GET.
func (c *checker) route(req *http.Request) (*openapi3filter.RequestValidationInput, bool) {
	method := req.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for template, item := range c.doc.Paths.Map() {
		params, ok := match(template, req.URL.EscapedPath())
		if operation := item.GetOperation(method); ok && operation != nil {
			return inputOf(c.doc, template, item, method, params), true
		}
	}
	return nil, false
}

// inputOf returns an operation in the form that the validators need.
func inputOf(doc *openapi3.T, path string, item *openapi3.PathItem, method string, params map[string]string) *openapi3filter.RequestValidationInput {
	return &openapi3filter.RequestValidationInput{
		PathParams: params,
		Route:      &routers.Route{Spec: doc, Path: path, PathItem: item, Method: method, Operation: item.GetOperation(method)},
		Options: &openapi3filter.Options{
			IncludeResponseStatus: true,
			ExcludeResponseBody:   true, // checkJSON checks it
			SkipSettingDefaults:   true,
			AuthenticationFunc:    openapi3filter.NoopAuthenticationFunc,
		},
	}
}

// match returns the parameters of an encoded path if it matches a template with {names}.
func match(template, path string) (map[string]string, bool) {
	want, have := strings.Split(template, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return nil, false
	}
	params := make(map[string]string)
	for i, part := range want {
		value, err := url.PathUnescape(have[i])
		isParam := strings.HasPrefix(part, "{")
		if err != nil || !isParam && part != have[i] {
			return nil, false
		}
		if isParam {
			params[strings.Trim(part, "{}")] = value
		}
	}
	return params, true
}

// CheckPosted checks a request of a webhook against the document.
func CheckPosted(req *http.Request, body []byte) error {
	doc, err := Document()
	if err != nil {
		return err
	}
	var posted struct{ Type string }
	if err := json.Unmarshal(body, &posted); err != nil {
		return err
	}
	item := doc.Webhooks[posted.Type]
	if item == nil || item.GetOperation(req.Method) == nil {
		return fmt.Errorf("the document has no webhook for %s of type %q", req.Method, posted.Type)
	}
	if got, _, _ := strings.Cut(req.Header.Get("Content-Type"), ";"); got != "application/json" {
		return fmt.Errorf("the Content-Type is %q", got)
	}
	seen.Store(posted.Type, true)
	if err := checkJSON(item.GetOperation(req.Method).RequestBody.Value.Content, "application/json", body); err != nil {
		return err
	}
	input := inputOf(doc, posted.Type, item, req.Method, nil)
	input.Request, input.Options.ExcludeRequestBody = req, true
	return openapi3filter.ValidateRequest(context.Background(), input)
}
