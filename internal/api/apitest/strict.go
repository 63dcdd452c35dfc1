package apitest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// closeAnswers forbids undocumented fields in answers and webhooks. The document itself allows them, so
// that a generated client accepts a field that a later version adds.
func closeAnswers(doc *openapi3.T) {
	done := make(map[*openapi3.Schema]bool)
	for _, item := range doc.Paths.Map() {
		for _, operation := range item.Operations() {
			for _, response := range operation.Responses.Map() {
				closeContent(response.Value.Content, done)
			}
		}
	}
	for _, item := range doc.Webhooks {
		for _, operation := range item.Operations() {
			closeContent(operation.RequestBody.Value.Content, done)
		}
	}
}

func closeContent(content openapi3.Content, done map[*openapi3.Schema]bool) {
	for _, media := range content {
		closeSchema(media.Schema, done)
	}
}

func closeSchema(ref *openapi3.SchemaRef, done map[*openapi3.Schema]bool) {
	if ref == nil || done[ref.Value] {
		return
	}
	schema := ref.Value
	done[schema] = true
	if len(schema.Properties) > 0 && schema.AdditionalProperties.Has == nil {
		schema.AdditionalProperties.Has = openapi3.Ptr(false)
	}
	for _, property := range schema.Properties {
		closeSchema(property, done)
	}
	for _, branch := range slices.Concat(schema.OneOf, schema.AnyOf, schema.AllOf) {
		closeSchema(branch, done)
	}
	closeSchema(schema.Items, done)
}

// Codes returns the error codes that a response of the document may carry.
func Codes(response *openapi3.Response) ([]string, error) {
	list, ok := response.Extensions["x-codes"].([]any)
	if !ok || len(list) == 0 {
		return nil, errors.New("the response has no x-codes")
	}
	codes := make([]string, len(list))
	for i, code := range list {
		if codes[i], ok = code.(string); !ok {
			return nil, fmt.Errorf("x-codes has %v, which is not a string", code)
		}
	}
	return codes, nil
}

// checkCode checks that the document lists an error's code for its status.
func checkCode(operation *openapi3.Operation, status int, body []byte) error {
	if status < http.StatusBadRequest || body == nil {
		return nil
	}
	codes, err := Codes(operation.Responses.Status(status).Value)
	var failure struct{ Code string }
	if err := errors.Join(err, json.Unmarshal(body, &failure)); err != nil {
		return err
	}
	if !slices.Contains(codes, failure.Code) {
		return fmt.Errorf("the code %q is not one of %v", failure.Code, codes)
	}
	return nil
}
