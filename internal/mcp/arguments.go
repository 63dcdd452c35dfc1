package mcp

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"

	"bridged/internal/bridge"
)

// schemaOf returns the schema of a tool's arguments. That they are a struct of
// ours is known when the program is built.
func schemaOf[In any]() *jsonschema.Schema {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		panic("mcp: arguments without a schema: " + err.Error())
	}
	return schema
}

// decodeArguments decodes a tool's arguments into their struct, at once: nothing
// that the struct does not have takes memory. It refuses what its schema does.
func decodeArguments[In any](raw json.RawMessage, schema *jsonschema.Schema) (in In, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	var given map[string]present
	if err := json.Unmarshal(raw, &given); err != nil {
		return in, argumentError(err)
	}
	for name := range given {
		if schema.Properties[name] == nil {
			return in, bridge.Invalid("there is no argument %q", capped(name, maxName))
		}
	}
	for _, name := range schema.Required {
		if _, is := given[name]; !is {
			return in, bridge.Invalid("the argument %s is missing", name)
		}
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return in, argumentError(err)
	}
	return in, nil
}

// present notes that an argument is there, and keeps nothing of it.
type present struct{}

// UnmarshalJSON implements json.Unmarshaler.
func (present) UnmarshalJSON([]byte) error { return nil }

// argumentError returns what a model can do about arguments that do not fit.
func argumentError(err error) error {
	var wrong *json.UnmarshalTypeError
	var ours *bridge.Error
	switch {
	case errors.As(err, &ours):
		return ours
	case errors.As(err, &wrong) && wrong.Field == "":
		return bridge.Invalid("the arguments must be an object")
	case wrong != nil:
		return bridge.Invalid("the argument %s must be a text, not a JSON %s", wrong.Field, wrong.Value)
	}
	return bridge.Invalid("the arguments are not valid JSON: %v", err)
}

// whole is a whole number. Some models write one as 20.0.
type whole int

// UnmarshalJSON implements json.Unmarshaler.
func (n *whole) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	value, err := strconv.ParseFloat(string(data), 64)
	if err != nil || value != float64(int32(value)) {
		return bridge.Invalid("%s is no whole number", capped(string(data), maxName))
	}
	*n = whole(value)
	return nil
}
