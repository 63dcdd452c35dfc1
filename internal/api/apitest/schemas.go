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

// compiled holds the schemas of bodies as validators. kin-openapi compiles a
// schema with each body that it looks at, which takes longer than what most
// tests do besides.
var compiled sync.Map // of func() (*jsonschema.Schema, error), by *openapi3.Schema

// checkJSON holds a JSON body against the schema that the document has for its
// type.
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

// checkSchema holds a JSON body against a schema of the document.
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

// compileSchema returns a validator for a schema, which stands beside the
// document's components so that its references lead there.
func compileSchema(schema *openapi3.Schema) (*jsonschema.Schema, error) {
	doc, err := Document()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(map[string]any{"components": doc.Components, "body": schema})
	if err != nil {
		return nil, err
	}
	resource, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource("openapi.json", resource); err != nil {
		return nil, err
	}
	return compiler.Compile("openapi.json#/body")
}
