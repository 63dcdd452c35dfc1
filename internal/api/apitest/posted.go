package apitest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// CheckPosted compares what a webhook's receiver was posted with the webhooks
// of the document: the payload's type, its schema and the headers.
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
	see(posted.Type)
	if err := checkJSON(item.GetOperation(req.Method).RequestBody.Value.Content, "application/json", body); err != nil {
		return err
	}
	return openapi3filter.ValidateRequest(context.Background(), &openapi3filter.RequestValidationInput{
		Request: req,
		Route: &routers.Route{
			Spec: doc, Path: posted.Type, PathItem: item, Method: req.Method, Operation: item.GetOperation(req.Method),
		},
		Options: &openapi3filter.Options{ExcludeRequestBody: true, SkipSettingDefaults: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	})
}
