package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bridged/internal/bridge"
)

type call struct {
	*caller
	req *sdk.CallToolRequest
}

// aboutChat is implemented by the arguments that name a chat.
type aboutChat interface{ chat() bridge.JID }

// add registers a tool. The result of handle is nil unless it holds more than the answer.
func add[In any](d door, name, title, description string, writes bool, handle func(call, context.Context, In) (*sdk.CallToolResult, answer, error)) {
	schema := schemaOf[In]()
	d.AddTool(&sdk.Tool{
		Name: name, Title: title, Description: description, InputSchema: schema,
		Annotations: &sdk.ToolAnnotations{Title: title, ReadOnlyHint: !writes, DestructiveHint: &writes, OpenWorldHint: new(true)},
	}, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		c := call{callerOf(req.Extra), req}
		var chat bridge.JID
		in, err := decodeArguments[In](req.Params.Arguments, schema)
		if named, is := any(in).(aboutChat); is && err == nil {
			chat = named.chat()
			err = checkJID(chat)
		}
		result, shown, err := c.observed(name, chat, func() (*sdk.CallToolResult, answer, error) {
			if err != nil {
				return nil, nil, err
			}
			return handle(c, ctx, in)
		})
		return answered(result, shown, err)
	})
}

// answered returns a tool's answer as the protocol has it: the same JSON as a
// structure and as text. An error is an answer, too, which the model reads.
func answered(result *sdk.CallToolResult, shown answer, err error) (*sdk.CallToolResult, error) {
	if result == nil {
		result = new(sdk.CallToolResult)
	}
	switch {
	case err != nil:
		result.SetError(errors.New(sentence(err)))
		return result, nil
	case shown == nil:
		return result, nil
	}
	text, err := shown.text()
	result.StructuredContent = json.RawMessage(text)
	if result.Content == nil {
		result.Content = []sdk.Content{&sdk.TextContent{Text: text}}
	}
	return result, err
}

// observed runs a handler and leaves a line in the log. The SDK calls it in a goroutine
// of its own, in which a panic would end the whole program.
func (c *caller) observed(name string, chat bridge.JID, handle func() (*sdk.CallToolResult, answer, error)) (result *sdk.CallToolResult, shown answer, err error) {
	began := time.Now()
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic of type %T\n%s", cause, debug.Stack()) // its value may hold messages
		}
		event, outcome := c.s.options.Log.Info(), "done"
		switch code := bridge.CodeOf(err); {
		case err != nil && code == bridge.CodeInternal:
			event, outcome = c.s.options.Log.Error().Str("error", bridge.Redact(err.Error())), string(code)
		case err != nil:
			outcome = string(code)
		case result != nil && result.InputRequests != nil:
			outcome = "asked for confirmation"
		}
		event.Str("tool", name).Str("token_name", visible(c.token.Name)).Str("chat", redacted(chat)).Str("outcome", outcome).
			Dur("took_ms", time.Since(began)).Msg("agent")
	}()
	return handle()
}

// read runs a handler that only reads, as observed does.
func (c *caller) read(name string, chat bridge.JID, handle func() (answer, error)) (answer, error) {
	_, shown, err := c.observed(name, chat, func() (*sdk.CallToolResult, answer, error) {
		shown, err := handle()
		return nil, shown, err
	})
	return shown, err
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

// schemaOf returns the schema of a tool's arguments, which are a struct of ours.
func schemaOf[In any]() *jsonschema.Schema {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		panic("mcp: arguments without a schema: " + err.Error())
	}
	return schema
}

// decodeArguments decodes a tool's arguments into their struct directly, so that
// members which the struct does not have take no memory. It refuses what the schema
// does.
func decodeArguments[In any](raw json.RawMessage, schema *jsonschema.Schema) (in In, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	var given map[string]json.RawMessage
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
		return bridge.Invalid("the argument %s must be a text, not a JSON %s", wrong.Field, wrong.Value)
	}
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
