package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bridged/internal/bridge"
)

type call struct {
	*caller
	req *sdk.CallToolRequest
}

// aboutChat is implemented by arguments that may name a chat.
type aboutChat interface{ chat() bridge.JID }

// handler answers the calls of a tool. It may return a picture.
type handler[In any, Out answer] func(call, context.Context, In) (*sdk.ImageContent, Out, error)

// add registers a tool.
func add[In any, Out answer](r registry, name, title, description string, writes bool, handle handler[In, Out]) {
	r.register(&sdk.Tool{
		Name: name, Title: title, Description: description, OutputSchema: schemaOf(reflect.TypeFor[Out]().Elem()),
		Annotations: &sdk.ToolAnnotations{Title: title, ReadOnlyHint: !writes, DestructiveHint: &writes, OpenWorldHint: new(true)},
	}, reflect.TypeFor[In](), func(c call, ctx context.Context, in any) (*sdk.ImageContent, answer, error) {
		picture, shown, err := handle(c, ctx, *in.(*In))
		return picture, shown, err
	})
}

// register registers a tool with the type of its arguments. handle gets a pointer to them.
func (r registry) register(tool *sdk.Tool, arguments reflect.Type, handle func(call, context.Context, any) (*sdk.ImageContent, answer, error)) {
	schema := argumentsOf(arguments)
	tool.InputSchema = schema
	r.AddTool(tool, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		c := call{callerOf(req.Extra), req}
		ctx = bridge.WithTree(ctx, c.tree)
		var chat bridge.JID
		in := reflect.New(arguments).Interface()
		err := decodeArguments(req.Params.Arguments, schema, in)
		if named, is := in.(aboutChat); is && err == nil {
			if chat = named.chat(); chat != "" || slices.Contains(schema.Required, "jid") {
				err = checkJID(chat)
			}
		}
		var picture *sdk.ImageContent
		var shown answer
		err = c.observed(tool.Name, chat, func() error {
			if err != nil {
				return err
			}
			picture, shown, err = handle(c, ctx, in)
			return err
		})
		if asked, is := errors.AsType[question](err); is {
			return asked.result, nil
		}
		if err != nil {
			return refusal(err), nil
		}
		return resultOf(shown, picture)
	})
}

// addRead registers a tool that reads.
func addRead[In any, Out answer](r registry, name, title, description string, get func(*caller, context.Context, In) (Out, error)) {
	add(r, name, title, description, false, reading(func(c call, ctx context.Context, in In) (*sdk.ImageContent, Out, error) {
		shown, err := get(c.caller, ctx, in)
		return nil, shown, err
	}))
}

// refusal returns the result for a call that failed, with a sentence for the model.
func refusal(err error) *sdk.CallToolResult {
	result := new(sdk.CallToolResult)
	result.SetError(errors.New(sentence(err)))
	return result
}

// observed calls a handler, logs its outcome and returns a panic as an error. The SDK calls handlers
// in goroutines of its own, so a panic would end the program.
func (c *caller) observed(name string, chat bridge.JID, handle func() error) (err error) {
	began := time.Now()
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic of type %T\n%s", cause, debug.Stack()) // its value may hold messages
		}
		event, outcome := c.s.options.Log.Info(), "done"
		_, asked := errors.AsType[question](err)
		switch code := bridge.CodeOf(err); {
		case asked:
			outcome = "asked for confirmation"
		case err != nil && code == bridge.CodeInternal:
			event, outcome = c.s.options.Log.Error().Str("error", bridge.Redact(err.Error())), string(code)
		case err != nil:
			outcome = string(code)
		}
		event.Str("tool", name).Str("token_name", visible(c.token.Name)).Str("chat", redacted(chat)).Str("outcome", outcome).
			Dur("took_ms", time.Since(began)).Msg("agent")
	}()
	return handle()
}

// redacted returns a chat that a model named, for the log.
func redacted(chat bridge.JID) string {
	if chat == "" {
		return ""
	}
	jid, err := bridge.ParseJID(string(chat))
	if err != nil {
		return "not a JID"
	}
	return jid.Redacted()
}

// sentence returns the sentence of an error that a model may read.
func sentence(err error) string {
	if known, ok := errors.AsType[*bridge.Error](err); ok && known.Code != bridge.CodeInternal {
		return visible(known.Msg)
	}
	return "something went wrong inside the bridge; its log says what"
}

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
// range:"least,most" and enum:"one,another".
func argumentsOf(t reflect.Type) *jsonschema.Schema {
	schema := schemaOf(t)
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		property := schema.Properties[name]
		if property == nil {
			continue
		}
		if property.Types != nil { // null means the same as leaving it out
			property.Type, property.Types = property.Types[len(property.Types)-1], nil
			if property.Type == "null" {
				property.Type = "string"
			}
		}
		if least, most, is := strings.Cut(field.Tag.Get("range"), ","); is {
			property.Minimum, property.Maximum = new(number(least)), new(number(most))
		}
		if enum := field.Tag.Get("enum"); enum != "" {
			for _, one := range strings.Split(enum, ",") {
				property.Enum = append(property.Enum, one)
			}
		}
	}
	return schema
}

func number(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic("mcp: a tag that is no number: " + err.Error())
	}
	return n
}

// decodeArguments decodes a tool's arguments directly into their struct, so unknown members take no
// memory. It refuses arguments that the schema does not allow.
func decodeArguments(raw json.RawMessage, schema *jsonschema.Schema, in any) error {
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return argumentError(err)
	}
	for name, value := range given {
		if schema.Properties[name] == nil {
			return bridge.Invalid("there is no argument %q", capped(name, maxName))
		}
		if err := checkArgument(name, value, schema.Properties[name]); err != nil {
			return err
		}
	}
	for _, name := range schema.Required {
		if _, is := given[name]; !is {
			return bridge.Invalid("the argument %s is missing", name)
		}
	}
	if err := json.Unmarshal(raw, in); err != nil {
		return argumentError(err)
	}
	return nil
}

// checkArgument refuses a value that is out of range or not in the enum of its schema.
func checkArgument(name string, value json.RawMessage, property *jsonschema.Schema) error {
	var n float64
	if property.Minimum != nil && json.Unmarshal(value, &n) == nil && string(value) != "null" && (n < *property.Minimum || n > *property.Maximum) {
		return bridge.Invalid("%s must be between %.0f and %.0f", name, *property.Minimum, *property.Maximum)
	}
	var text string
	if property.Enum != nil && json.Unmarshal(value, &text) == nil && text != "" && !slices.Contains(property.Enum, any(text)) {
		return bridge.Invalid("%s must be one of %s", name, strings.Trim(fmt.Sprint(property.Enum), "[]"))
	}
	return nil
}

// argumentError returns an error for the model about arguments of the wrong type.
func argumentError(err error) error {
	if ours, ok := errors.AsType[*bridge.Error](err); ok {
		return ours
	}
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

// whole is a whole number. Some models write one as 20.0.
type whole int

// UnmarshalJSON implements json.Unmarshaler.
func (n *whole) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	value, err := strconv.ParseFloat(string(data), 64)
	if err != nil || value != float64(int32(value)) {
		return bridge.Invalid("%s is not a whole number", capped(string(data), maxName))
	}
	*n = whole(value)
	return nil
}
