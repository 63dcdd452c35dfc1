package api_test

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"bridged/internal/api"
	"bridged/internal/api/apitest"
)

// written is the document without what the checks of tests add to it.
var written = sync.OnceValues(func() (*openapi3.T, error) { return openapi3.NewLoader().LoadFromData(api.Document) })

func asWritten(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := written()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// operations returns all operations of the document and of its webhooks by
// name.
func operations(doc *openapi3.T) map[string]*openapi3.Operation {
	all := make(map[string]*openapi3.Operation)
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			all[method+" "+path] = operation
		}
	}
	for kind, item := range doc.Webhooks {
		for method, operation := range item.Operations() {
			all[method+" "+kind] = operation
		}
	}
	return all
}

// Generated clients name their methods after operationId.
func TestOpenAPI_OperationsHaveANameATagAndASummary(t *testing.T) {
	t.Parallel()
	doc := asWritten(t)
	named := make(map[string]string)
	for where, operation := range operations(doc) {
		if other := named[operation.OperationID]; operation.OperationID == "" || other != "" {
			t.Errorf("%s: operationId %q, which %q has too", where, operation.OperationID, other)
		}
		named[operation.OperationID] = where
		if len(operation.Tags) != 1 || doc.Tags.Get(operation.Tags[0]) == nil {
			t.Errorf("%s: tags %v", where, operation.Tags)
		}
		if operation.Summary == "" {
			t.Errorf("%s has no summary", where)
		}
	}
}

func TestOpenAPI_BodiesHaveExamples(t *testing.T) {
	t.Parallel()
	for where, operation := range operations(asWritten(t)) {
		if operation.RequestBody != nil {
			wantExample(t, where, operation.RequestBody.Value.Content)
		}
		for status, response := range operation.Responses.Map() {
			wantExample(t, where+" "+status, response.Value.Content)
		}
	}
}

func wantExample(t *testing.T, where string, content openapi3.Content) {
	t.Helper()
	for kind, media := range content {
		if kind != "*/*" && media.Example == nil && len(media.Examples) == 0 {
			t.Errorf("%s: %s has no example", where, kind)
		}
	}
}

// One type for all errors, and the codes of each answer beside it: a schema of
// its own for each is what generators of Python clients stumble over.
func TestOpenAPI_ErrorsAreOneSchemaWithCodes(t *testing.T) {
	t.Parallel()
	doc := asWritten(t)
	known := doc.Components.Schemas["Error"].Value.Properties["code"].Value.Enum
	for where, operation := range operations(doc) {
		for status, response := range operation.Responses.Map() {
			if number, err := strconv.Atoi(status); err != nil || number < http.StatusBadRequest {
				continue
			}
			codes, err := apitest.Codes(response.Value)
			if err != nil {
				t.Errorf("%s %s: %v", where, status, err)
			}
			for _, code := range codes {
				if !slices.Contains(known, any(code)) {
					t.Errorf("%s %s: %q is no code", where, status, code)
				}
			}
			if ref := response.Value.Content["application/json"].Schema.Ref; ref != "#/components/schemas/Error" {
				t.Errorf("%s %s has a body of its own", where, status)
			}
		}
	}
}

// The shapes that generators of clients understand, those of Python the least:
// a type wherever there is no reference or choice, one type beside null,
// choices between named schemas, answers that may get more fields, and values and
// names that make a constant or a field each.
func TestOpenAPI_SchemasSuitGenerators(t *testing.T) {
	t.Parallel()
	doc := asWritten(t)
	shapes := &shapes{t: t, seen: make(map[*openapi3.Schema]bool)}
	for name, schema := range doc.Components.Schemas {
		shapes.check(name, schema)
	}
	for name, parameter := range doc.Components.Parameters {
		shapes.check(name, parameter.Value.Schema)
	}
	for name, header := range doc.Components.Headers {
		shapes.check(name, header.Value.Schema)
	}
	for where, operation := range operations(doc) {
		for _, parameter := range operation.Parameters {
			shapes.check(where+" "+parameter.Value.Name, parameter.Value.Schema)
		}
		if operation.RequestBody != nil {
			shapes.checkContent(where, operation.RequestBody.Value.Content)
		}
		for status, response := range operation.Responses.Map() {
			shapes.checkContent(where+" "+status, response.Value.Content)
			for name, header := range response.Value.Headers {
				shapes.check(where+" "+status+" "+name, header.Value.Schema)
			}
		}
	}
}

// Generators take the first of several representations for the type of an answer, so
// that of events must be the page and not the text of a stream.
func TestOpenAPI_JSONIsTheFirstRepresentation(t *testing.T) {
	t.Parallel()
	several := 0
	for _, at := range contentLine.FindAllSubmatchIndex(api.Document, -1) {
		kinds := mediaTypes(string(api.Document[at[1]:]), string(api.Document[at[2]:at[3]])+"  ")
		if len(kinds) > 1 {
			several++
		}
		if slices.Index(kinds, "application/json") > 0 {
			t.Errorf("line %d: %s comes before application/json", bytes.Count(api.Document[:at[0]], []byte("\n"))+1, kinds[0])
		}
	}
	if several == 0 {
		t.Error("no answer has several representations, but events have two")
	}
}

var contentLine = regexp.MustCompile(`(?m)^( *)content:\n`)

// mediaTypes returns the keys of the block of YAML that text begins with, in order.
func mediaTypes(text, indent string) (kinds []string) {
	for line := range strings.Lines(text) {
		key, isInside := strings.CutPrefix(line, indent)
		switch {
		case strings.TrimSpace(line) == "":
		case !isInside:
			return kinds
		case key[0] != ' ':
			kinds = append(kinds, strings.Trim(key, "\":\n"))
		}
	}
	return kinds
}

// shapes fails t for every schema that does not suit generators.
type shapes struct {
	t    testing.TB
	seen map[*openapi3.Schema]bool
}

func (s *shapes) checkContent(where string, content openapi3.Content) {
	for kind, media := range content {
		if media.Schema == nil {
			s.t.Errorf("%s: %s has no schema", where, kind)
			continue
		}
		s.check(where+" "+kind, media.Schema)
	}
}

func (s *shapes) check(where string, ref *openapi3.SchemaRef) {
	schema := ref.Value
	if s.seen[schema] {
		return
	}
	s.seen[schema] = true
	s.checkType(where, schema)
	s.checkValues(where, schema)
	s.checkNames(where, schema)
	if closed := schema.AdditionalProperties.Has; closed != nil && !*closed {
		s.t.Errorf("%s: additionalProperties: false breaks clients when a field is added", where)
	}
	if isTime := strings.HasPrefix(schema.Pattern, `^\d{4}-\d{2}-\d{2}T`); isTime || schema.Format == "date-time" && schema.Pattern != "" {
		s.t.Errorf("%s: times have the format date-time and no pattern, on which OpenAPI Generator fails", where)
	}
	for name, property := range schema.Properties {
		if property.Value.Default != nil {
			s.t.Errorf("%s.%s: generated clients require a field with a default; say it in the description", where, name)
		}
		s.check(where+"."+name, property)
	}
	if schema.Items != nil {
		s.check(where+"[]", schema.Items)
	}
	for _, branch := range slices.Concat(schema.OneOf, schema.AnyOf) {
		if branch.Ref == "" && len(branch.Value.Properties) > 0 {
			s.t.Errorf("%s: a choice without a name", where)
		}
		s.check(where+"|", branch)
	}
}

func (s *shapes) checkType(where string, schema *openapi3.Schema) {
	chosen := len(schema.OneOf) + len(schema.AnyOf)
	types := schema.Type.Slice()
	switch {
	case len(schema.AllOf) > 0:
		s.t.Errorf("%s: allOf", where)
	case schema.Discriminator != nil && !schema.Type.Is("object"):
		s.t.Errorf("%s: a choice by discriminator needs type: object", where)
	case schema.Discriminator == nil && (len(types) == 0) == (chosen == 0):
		s.t.Errorf("%s: type %v and %d choices; one of the two is needed", where, types, chosen)
	case len(types) > 2, len(types) == 2 && types[1] != "null":
		s.t.Errorf("%s: type [%s]; only null may stand beside a type", where, strings.Join(types, ", "))
	case chosen > 0 && len(schema.Properties) > 0:
		s.t.Errorf("%s: properties beside a choice", where)
	}
}

// checkValues checks that the listed values are of the schema's one type: a type of
// integers has no constant for null, which has to be a choice of its own.
func (s *shapes) checkValues(where string, schema *openapi3.Schema) {
	names, values := make(map[string]any), schema.Enum
	for _, value := range schema.Enum {
		if !slices.ContainsFunc(typesOf(value), schema.Type.Is) {
			s.t.Errorf("%s: the value %v is not of the type %v; null belongs into a choice beside the type", where, value, schema.Type.Slice())
		}
		s.checkName(where, names, value)
	}
	for _, branch := range schema.OneOf {
		values = slices.Concat(values, branch.Value.Enum)
	}
	if schema.Default != nil && len(values) > 0 && !slices.Contains(values, schema.Default) {
		s.t.Errorf("%s: the default %v is not among the values", where, schema.Default)
	}
}

// typesOf returns the types of JSON Schema that a value is of.
func typesOf(value any) []string {
	switch value.(type) {
	case string:
		return []string{"string"}
	case float64, int, int64, uint64:
		return []string{"integer", "number"}
	case bool:
		return []string{"boolean"}
	}
	return nil // a constant cannot be null, a list or an object
}

// checkNames checks the fields of an object.
func (s *shapes) checkNames(where string, schema *openapi3.Schema) {
	names := make(map[string]any)
	for name := range schema.Properties {
		s.checkName(where, names, name)
	}
	for _, name := range schema.Required {
		if schema.Properties[name] == nil {
			s.t.Errorf("%s requires %s, which it does not describe", where, name)
		}
	}
}

// checkName fails if a value becomes the same identifier as another one: generators drop
// what is neither letter nor digit, and write capitals as they like.
func (s *shapes) checkName(where string, names map[string]any, value any) {
	name := strings.ToLower(noIdentifier.ReplaceAllString(fmt.Sprint(value), ""))
	if other, isTaken := names[name]; isTaken {
		s.t.Errorf("%s: %v and %v become one identifier", where, other, value)
	}
	names[name] = value
}

var noIdentifier = regexp.MustCompile(`[^\pL\pN]`)

// Generators make a field with a default required, and some refuse one of two types. Defaults
// of query parameters do no harm.
func TestOpenAPI_RequestFieldsHaveNoDefault(t *testing.T) {
	t.Parallel()
	for where, operation := range operations(asWritten(t)) {
		if operation.RequestBody == nil {
			continue
		}
		for kind, content := range operation.RequestBody.Value.Content {
			wantNoDefault(t, where+" "+kind, content.Schema, map[*openapi3.Schema]bool{})
		}
	}
}

func wantNoDefault(t *testing.T, where string, ref *openapi3.SchemaRef, seen map[*openapi3.Schema]bool) {
	t.Helper()
	if ref == nil || ref.Value == nil || seen[ref.Value] {
		return
	}
	schema := ref.Value
	seen[schema] = true
	if schema.Default != nil {
		t.Errorf("%s has the default %v: say it in the description", where, schema.Default)
	}
	for name, property := range schema.Properties {
		wantNoDefault(t, where+"."+name, property, seen)
	}
	for _, part := range slices.Concat(schema.AllOf, schema.AnyOf, schema.OneOf, openapi3.SchemaRefs{schema.Items}) {
		wantNoDefault(t, where, part, seen)
	}
}
