// Package callers identifies the callers of the API and limits them.
//
// A caller is BRIDGE_TOKEN, a stored token or the address of an incoming webhook. [Tokens]
// finds it, and [Caller.During] puts it into the context of its request, which ends when the
// token is revoked or expires. [Quota] bounds what tokens create, and [Limiters] how often
// they do something.
package callers

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"bridged/internal/bridge"
)

// Caller is a token in use. Its requests end when it is revoked or expires.
type Caller struct {
	bridge.Token
	hook  *bridge.Hook // the hook to whose address the request was sent, or nil
	ctx   context.Context
	end   context.CancelCauseFunc
	noted time.Time // the last use that was stored; guarded by the mutex of Tokens
}

type contextKey struct{}

// Of returns the token of a request. BRIDGE_TOKEN has the id 0.
func Of(ctx context.Context) bridge.Token {
	if caller, ok := ctx.Value(contextKey{}).(*Caller); ok {
		return caller.Token
	}
	return bridge.Token{}
}

// By returns the caller of ctx, to be stored with what it creates.
func By(ctx context.Context) *bridge.CalledBy {
	if HookOf(ctx) != nil {
		return Of(ctx).Through(bridge.EntranceHook)
	}
	return Of(ctx).Through(bridge.EntranceOf(ctx))
}

// Shown completes by for an answer to the caller of ctx. It returns nil if the caller may not see it: BRIDGE_TOKEN sees all
// callers, and a token with the scope manage sees itself and the tokens that descend from it.
func (t *Tokens) Shown(ctx context.Context, by *bridge.CalledBy) (*bridge.CalledBy, error) {
	caller := Of(ctx)
	if by == nil || !caller.Allows(bridge.ScopeManage) || caller.ID != 0 && caller.ID != by.Token && !slices.Contains(by.Ancestors, caller.ID) {
		return nil, nil
	}
	shown := *by
	switch id := by.Token; {
	case id > 0:
		token, err := t.ByID(ctx, id)
		shown.TokenID, shown.Ended = &id, token == nil
		return &shown, err
	case id < 0:
		_, err := t.store.Hook(ctx, -id)
		shown.HookID = new(-id)
		if shown.Ended = bridge.CodeOf(err) == bridge.CodeNotFound; shown.Ended {
			err = nil
		}
		return &shown, err
	}
	return &shown, nil
}

// HookOf returns the hook to whose address a request was sent, or nil.
func HookOf(ctx context.Context) *bridge.Hook {
	if caller, ok := ctx.Value(contextKey{}).(*Caller); ok {
		return caller.hook
	}
	return nil
}

// WhileValid returns a context that ends with parent and with the token of the request of
// ctx, but not with the request. The caller must call release.
func WhileValid(ctx, parent context.Context) (valid context.Context, release context.CancelFunc) {
	caller, ok := ctx.Value(contextKey{}).(*Caller)
	if !ok {
		return parent, func() {}
	}
	return caller.During(parent)
}

var errTokenEnded = errors.New("the token has expired or was revoked")

// Ended returns an error if the request's token has expired or was revoked since the request began.
func Ended(r *http.Request) error {
	if !errors.Is(context.Cause(r.Context()), errTokenEnded) {
		return nil
	}
	return bridge.Fail(bridge.CodeUnauthorized, "the token has expired or was revoked")
}

// During returns the context of a request, which ends with its token.
func (c *Caller) During(parent context.Context) (context.Context, context.CancelFunc) {
	parent = bridge.WithTree(context.WithValue(parent, contextKey{}, c), c.Tree)
	if c.ID == 0 {
		return parent, func() {}
	}
	ctx, cancel := context.WithCancelCause(parent)
	unhook, stop := context.AfterFunc(c.ctx, func() { cancel(errTokenEnded) }), func() {}
	if ends := c.ends(); ends != nil {
		ctx, stop = context.WithDeadlineCause(ctx, ends.Time, errTokenEnded)
	}
	return ctx, func() {
		stop()
		unhook()
		cancel(nil)
	}
}

// UntilRevoked returns the context that ends when the token is revoked. Its expiry does not
// end it.
func (c *Caller) UntilRevoked() context.Context { return c.ctx }

// ends returns when the token or its secret ends, whichever is first; nil for never.
func (c *Caller) ends() *bridge.Time {
	if c.SecretEnds != nil && (c.ExpiresAt == nil || c.SecretEnds.Before(c.ExpiresAt.Time)) {
		return c.SecretEnds
	}
	return c.ExpiresAt
}

func (c *Caller) hasExpired(now time.Time) bool { return isOver(c.ends(), now) }

// isOver reports whether the time end has come; nil means never.
func isOver(end *bridge.Time, now time.Time) bool { return end != nil && !now.Before(end.Time) }

// secretOf returns the bearer token of a request; empty if none.
func secretOf(r *http.Request) string {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	secret, _ := bridge.Bearer(values[0])
	return secret
}
