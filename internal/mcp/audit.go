package mcp

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bridged/internal/bridge"
)

// tool describes a tool of ours.
type tool struct {
	name, title, description string
	writes                   bool // it changes something at the network
}

// handler does the work of a tool. It returns the chat that it is about, for the
// audit, and its answer.
type handler[In any] func(ctx context.Context, req *sdk.CallToolRequest, in In) (chat bridge.JID, result *sdk.CallToolResult, answer any, err error)

// add registers a tool. Each call leaves a line in the log, without what anybody
// wrote.
func add[In any](c *caller, server *sdk.Server, t tool, handle handler[In]) {
	no, yes := false, true
	sdk.AddTool(server, &sdk.Tool{
		Name: t.name, Title: t.title, Description: t.description,
		Annotations: &sdk.ToolAnnotations{Title: t.title, ReadOnlyHint: !t.writes, DestructiveHint: &t.writes, OpenWorldHint: &yes, IdempotentHint: no},
	}, func(ctx context.Context, req *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
		began := time.Now()
		chat, result, answer, err := recovered(ctx, req, in, handle)
		c.audit(t.name, chat, result, err, time.Since(began))
		if err != nil {
			return nil, nil, errors.New(sentence(err))
		}
		return result, answer, nil
	})
}

// recovered calls a handler. The SDK runs it in a goroutine of its own, in which
// a panic would end the whole program.
func recovered[In any](ctx context.Context, req *sdk.CallToolRequest, in In, handle handler[In]) (chat bridge.JID, result *sdk.CallToolResult, answer any, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic of type %T\n%s", cause, debug.Stack()) // its value may hold what people wrote
		}
	}()
	return handle(ctx, req, in)
}

func (c *caller) audit(name string, chat bridge.JID, result *sdk.CallToolResult, err error, took time.Duration) {
	event := c.s.options.Log.Info()
	outcome := "done"
	switch {
	case err != nil && bridge.CodeOf(err) == bridge.CodeInternal:
		event = c.s.options.Log.Error().Str("error", bridge.Redact(err.Error()))
		outcome = string(bridge.CodeInternal)
	case err != nil:
		outcome = string(bridge.CodeOf(err))
	case result != nil && result.InputRequests != nil:
		outcome = "asked for confirmation"
	}
	event.Str("tool", name).Str("token_name", visible(c.token.Name)).Str("chat", redacted(chat)).Str("outcome", outcome).
		Dur("took_ms", took).Msg("agent")
}

// redacted returns what the log gets of a chat that a model named: what is no JID
// may be anything.
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

// reads answers what is read beside the tools, a resource or a prompt, with the
// same recovery and a line in the log.
func (c *caller) reads(ctx context.Context, what string, chat bridge.JID, read func(context.Context) (answer, error)) (answer, error) {
	began := time.Now()
	_, _, shown, err := recovered(ctx, nil, nothing{}, func(ctx context.Context, _ *sdk.CallToolRequest, _ nothing) (bridge.JID, *sdk.CallToolResult, any, error) {
		shown, err := read(ctx)
		return chat, nil, shown, err
	})
	c.audit(what, chat, nil, err, time.Since(began))
	if err != nil {
		return nil, err
	}
	return shown.(answer), nil
}

// sentence returns what a model may know of an error.
func sentence(err error) string {
	var known *bridge.Error
	if errors.As(err, &known) && known.Code != bridge.CodeInternal {
		return visible(known.Msg)
	}
	return "something went wrong inside the bridge; its log says what"
}
