package mcp

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"time"

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
		ctx = bridge.WithEntrance(bridge.WithTree(ctx, c.tree), bridge.EntranceMCP)
		var chat bridge.JID
		in := reflect.New(arguments).Interface()
		err := decodeArguments(req.Params.Arguments, schema, in)
		if named, ok := in.(aboutChat); ok && err == nil {
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
		if asked, ok := errors.AsType[question](err); ok {
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
