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

// aboutChat is implemented by the arguments that name a chat, or may.
type aboutChat interface{ chat() bridge.JID }

// add registers a tool. The picture of handle is nil for most.
func add[In any, Out answer](d door, name, title, description string, writes bool, handle func(call, context.Context, In) (*sdk.ImageContent, Out, error)) {
	d.register(&sdk.Tool{
		Name: name, Title: title, Description: description, OutputSchema: schemaOf(reflect.TypeFor[Out]().Elem()),
		Annotations: &sdk.ToolAnnotations{Title: title, ReadOnlyHint: !writes, DestructiveHint: &writes, OpenWorldHint: new(true)},
	}, reflect.TypeFor[In](), func(c call, ctx context.Context, in any) (*sdk.ImageContent, answer, error) {
		picture, shown, err := handle(c, ctx, *in.(*In))
		return picture, shown, err
	})
}

// register registers a tool whose arguments are of a type; handle is given a pointer to them.
func (d door) register(tool *sdk.Tool, arguments reflect.Type, handle func(call, context.Context, any) (*sdk.ImageContent, answer, error)) {
	schema := argumentsOf(arguments)
	tool.InputSchema = schema
	d.AddTool(tool, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		c := call{callerOf(req.Extra), req}
		ctx = bridge.WithTree(ctx, c.family)
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
			answered := func() (bool, error) {
				picture, shown, err = handle(c, ctx, in)
				return picture != nil, err
			}
			switch {
			case tool.Name == waitTool: // which holds nothing while it waits
				_, err = answered()
				return errors.Join(err, c.hold(ctx, req.Extra, textBytes))
			case tool.Annotations.ReadOnlyHint:
				return c.read(ctx, req.Extra, answered)
			}
			_, err = answered() // with a short answer
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
func addRead[In any, Out answer](d door, name, title, description string, read func(*caller, context.Context, In) (Out, error)) {
	add(d, name, title, description, false, func(c call, ctx context.Context, in In) (*sdk.ImageContent, Out, error) {
		shown, err := read(c.caller, ctx, in)
		return nil, shown, err
	})
}

// refusal returns the answer that is an error, which the model reads.
func refusal(err error) *sdk.CallToolResult {
	result := new(sdk.CallToolResult)
	result.SetError(errors.New(sentence(err)))
	return result
}

// observed runs a handler and leaves a line in the log. The SDK calls it in a goroutine
// of its own, in which a panic would end the whole program.
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

// redacted returns for the log a chat that a model named, unless it is no JID.
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

// sentence returns the part of an error that a model may know.
func sentence(err error) string {
	if known, ok := errors.AsType[*bridge.Error](err); ok && known.Code != bridge.CodeInternal {
		return visible(known.Msg)
	}
	return "something went wrong inside the bridge; its log says what"
}

// schemas describe the types that do not encode as their fields.
var schemas = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[bridge.Time](): {Type: "string", Format: "date-time"},
	reflect.TypeFor[bridge.JID]():  {Types: []string{"string", "null"}},
}

// schemaOf returns the schema of a struct of ours. Beside the tags of the schema's package
// it knows range:"least,most" and enum:"one,another".
func schemaOf(t reflect.Type) *jsonschema.Schema {
	schema, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: schemas})
	if err != nil {
		panic("mcp: a struct without a schema: " + err.Error())
	}
	return schema
}

// argumentsOf returns the schema of a tool's arguments.
func argumentsOf(t reflect.Type) *jsonschema.Schema {
	schema := schemaOf(t)
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		property := schema.Properties[name]
		if property == nil {
			continue
		}
		if property.Types != nil { // null is as good as left out, which need not be said
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

// decodeArguments decodes a tool's arguments into their struct directly, so that
// members which the struct does not have take no memory. It refuses what the schema
// does.
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

// checkArgument refuses a value beyond what its schema allows.
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

// argumentError returns a sentence for the model about arguments that do not fit.
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
		return bridge.Invalid("%s is no whole number", capped(string(data), maxName))
	}
	*n = whole(value)
	return nil
}
