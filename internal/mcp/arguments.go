package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"bridged/internal/bridge"
	"bridged/internal/spelling"
)

// ignoresOthers is implemented by the arguments of tools that ignore unknown arguments: models invent
// some for tools that need none.
type ignoresOthers interface{ ignoresOthers() }

// schemas has the schemas of types that have their own encoding.
var schemas = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[bridge.Time](): {Type: "string", Format: "date-time"},
	reflect.TypeFor[bridge.JID]():  {Types: []string{"string", "null"}},
}

// schemaOf returns the schema of a struct.
func schemaOf(t reflect.Type) *jsonschema.Schema {
	schema, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: schemas})
	if err != nil {
		panic("mcp: a struct without a schema: " + err.Error())
	}
	return schema
}

// argumentsOf returns the schema of a tool's arguments. In addition to the jsonschema tags it reads
// range:"least,most" and enum:"one,another". The schema has only the keywords that the APIs of all
// models accept: clients pass the schema on unchanged, and an API refuses the whole request if it does not
// know a keyword.
func argumentsOf(t reflect.Type) *jsonschema.Schema {
	schema := schemaOf(t)
	schema.AdditionalProperties = nil // decodeArguments refuses unknown arguments
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		property := schema.Properties[name]
		if property == nil {
			continue
		}
		oneType(property)
		if least, most, is := strings.Cut(field.Tag.Get("range"), ","); is {
			property.Minimum, property.Maximum = new(number(least)), new(number(most))
		}
		if enum := field.Tag.Get("enum"); enum != "" {
			for one := range strings.SplitSeq(enum, ",") {
				property.Enum = append(property.Enum, one)
			}
		}
	}
	return schema
}

// oneType removes null from the types of a schema and of its items. A null argument means the same as
// leaving it out.
func oneType(schema *jsonschema.Schema) {
	if i := slices.IndexFunc(schema.Types, func(name string) bool { return name != "null" }); i >= 0 {
		schema.Type, schema.Types = schema.Types[i], nil
	}
	if schema.Items != nil {
		oneType(schema.Items)
	}
}

func number(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic("mcp: a tag is not a number: " + err.Error())
	}
	return n
}

// decodeArguments decodes a tool's arguments into their struct. It refuses arguments that the schema
// does not allow.
func decodeArguments(raw json.RawMessage, schema *jsonschema.Schema, in any) error {
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return argumentError(err)
	}
	changed := false
	for name, value := range given {
		property := schema.Properties[name]
		if property == nil {
			if _, ignores := in.(ignoresOthers); !ignores {
				return unknownArgument(name, schema)
			}
			delete(given, name)
			changed = true
			continue
		}
		read, err := readArgument(name, value, property)
		if err != nil {
			return err
		}
		if !bytes.Equal(read, value) {
			given[name], changed = read, true
		}
	}
	for _, name := range schema.Required {
		if _, ok := given[name]; !ok {
			return bridge.Invalid("the argument %s is missing", name)
		}
	}
	if changed {
		var err error
		if raw, err = json.Marshal(given); err != nil {
			return err
		}
	}
	if err := json.Unmarshal(raw, in); err != nil {
		return argumentError(err)
	}
	return nil
}

// unknownArgument returns the error for an argument that a tool does not have. It names the argument
// with the most similar name, or all.
func unknownArgument(name string, schema *jsonschema.Schema) error {
	shown := capped(name, maxName)
	if meant := spelling.Nearest(strings.ToLower(name), schema.PropertyOrder, min(2, len(name)/3)); meant != "" {
		return bridge.Invalid("there is no argument %q: did you mean %s?", shown, meant)
	}
	return bridge.Invalid("there is no argument %q: the arguments are %s", shown, strings.Join(schema.PropertyOrder, ", "))
}

// readArgument returns a value in the type of its schema. Some models write 20.0 for 20, and numbers,
// booleans and lists as texts. It refuses a value that is out of range or not in the enum.
func readArgument(name string, value json.RawMessage, property *jsonschema.Schema) (json.RawMessage, error) {
	value = unquoted(value, property.Type)
	switch {
	case string(value) == "null":
	case property.Type == "integer":
		var n float64
		if err := json.Unmarshal(value, &n); err != nil {
			return nil, bridge.Invalid("%s: %s is not a whole number", name, capped(string(value), maxName))
		}
		if property.Minimum != nil && (n < *property.Minimum || n > *property.Maximum) {
			return nil, bridge.Invalid("%s must be between %.0f and %.0f", name, *property.Minimum, *property.Maximum)
		}
		if n != float64(int32(n)) {
			return nil, bridge.Invalid("%s: %s is not a whole number", name, capped(string(value), maxName))
		}
		return strconv.AppendInt(nil, int64(n), 10), nil
	case property.Enum != nil:
		var text string
		if json.Unmarshal(value, &text) == nil && text != "" && !slices.Contains(property.Enum, any(text)) {
			return nil, bridge.Invalid("%s must be one of %s", name, strings.Trim(fmt.Sprint(property.Enum), "[]"))
		}
	}
	return value, nil
}

// unquoted returns the value of the given type that a model wrote as a text: "5", "true", a list's
// JSON, or one entry of a list. It returns value itself if it is not such a text, or if the text may mean several
// entries.
func unquoted(value json.RawMessage, kind string) json.RawMessage {
	var text string
	if kind == "string" || !bytes.HasPrefix(value, []byte(`"`)) || json.Unmarshal(value, &text) != nil {
		return value
	}
	text = strings.TrimSpace(text)
	inner := json.RawMessage(text)
	switch kind {
	case "integer":
		if _, err := strconv.ParseFloat(text, 64); err == nil && json.Valid(inner) {
			return inner
		}
	case "boolean":
		if lower := strings.ToLower(text); lower == "true" || lower == "false" {
			return json.RawMessage(lower)
		}
	case "array":
		var list []string
		switch {
		case strings.HasPrefix(text, "[") && json.Unmarshal(inner, &list) == nil:
			return inner
		case text != "" && !strings.ContainsAny(text, "[]{}\",; \t\r\n"):
			return slices.Concat(json.RawMessage("["), value, json.RawMessage("]"))
		}
	}
	return value
}

// argumentError returns an error for the model about arguments of the wrong type.
func argumentError(err error) error {
	switch wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); {
	case !ok:
		return bridge.Invalid("the arguments are not valid JSON: %v", err)
	case wrong.Field == "":
		return bridge.Invalid("the arguments must be an object")
	default:
		return bridge.Invalid("the argument %s must be %s, not a JSON %s", wrong.Field, kindOf(wrong.Type), wrong.Value)
	}
}

func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	}
	return "a text"
}
