package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// compiled has the validators of bodies. Without it, kin-openapi would compile a schema for each body,
// which takes longer than most tests.
var compiled sync.Map // of func() (*jsonschema.Schema, error), by *openapi3.Schema

// checkJSON checks a JSON body against the schema of its type.
func checkJSON(content openapi3.Content, contentType string, body []byte) error {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return fmt.Errorf("the Content-Type is %q: %w", contentType, err)
	}
	if len(content) == 0 {
		return nil
	}
	media := content.Get(kind)
	if media == nil {
		return fmt.Errorf("the document has no body of the Content-Type %q", contentType)
	}
	return checkSchema(media.Schema.Value, body)
}

// checkSchema checks a JSON body against a schema of the document.
func checkSchema(schema *openapi3.Schema, body []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("the body is not JSON: %w", err)
	}
	compile, _ := compiled.LoadOrStore(schema, sync.OnceValues(func() (*jsonschema.Schema, error) {
		return compileSchema(schema)
	}))
	validator, err := compile.(func() (*jsonschema.Schema, error))()
	if err != nil {
		return fmt.Errorf("compile the schema of the document: %w", err)
	}
	return validator.Validate(value)
}

// compileSchema returns a validator for a schema and the components that it refers to.
func compileSchema(schema *openapi3.Schema) (*jsonschema.Schema, error) {
	shared, err := components()
	if err != nil {
		return nil, err
	}
	body, err := decoded(schema)
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource("openapi.json", map[string]any{"components": shared, "body": body}); err != nil {
		return nil, err
	}
	return compiler.Compile("openapi.json#/body")
}

// components returns the components of the document, as [jsonschema.UnmarshalJSON] decodes them.
var components = sync.OnceValues(func() (any, error) {
	doc, err := Document()
	if err != nil {
		return nil, err
	}
	return decoded(doc.Components)
})

func decoded(value any) (any, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(text))
}
