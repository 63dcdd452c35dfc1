package bridge

import (
	"context"
	"slices"
)

// Scope names a part of what the API can do.
type Scope string

const (
	ScopeRead   Scope = "read"   // all that reads
	ScopeSend   Scope = "send"   // all that leaves
	ScopeManage Scope = "manage" // the account, webhooks, hooks, tokens
)

// Scopes returns all scopes.
func Scopes() []Scope { return []Scope{ScopeRead, ScopeSend, ScopeManage} }

// TokenPrefix begins the secrets of tokens.
const TokenPrefix = "brt_"

// Token is a bearer with limited permissions.
type Token struct {
	ID         int64   `json:"id"`
	Name       string  `json:"name"`
	Scopes     []Scope `json:"scopes"`
	Chats      []JID   `json:"chats"` // nil for all
	ExpiresAt  *Time   `json:"expiresAt"`
	CreatedAt  Time    `json:"createdAt"`
	LastUsedAt *Time   `json:"lastUsedAt"` // to the minute

	Hash   []byte `json:"-"` // the SHA-256 of its secret
	Parent int64  `json:"-"` // the token that made it; 0 is BRIDGE_TOKEN

	// Family is the token by BRIDGE_TOKEN that this one comes from, or is; 0 is
	// BRIDGE_TOKEN, and a negative one a hook that it made. Limits of a caller are
	// limits of a family.
	Family int64 `json:"-"`
}

// Allows reports whether t has a scope.
func (t Token) Allows(scope Scope) bool { return slices.Contains(t.Scopes, scope) }

// Transcribes reports whether the token may have messages transcribed: it reads and sends, or
// manages. The sound leaves the machine and may cost money.
func (t Token) Transcribes() bool {
	return t.Allows(ScopeManage) || t.Allows(ScopeRead) && t.Allows(ScopeSend)
}

type treeKey struct{}

// WithTree returns the context of work for a token tree, for limits that all callers share.
func WithTree(ctx context.Context, tree int64) context.Context {
	return context.WithValue(ctx, treeKey{}, tree)
}

// TreeOf returns the token tree of a context; 0, that of BRIDGE_TOKEN, for the bridge's own work.
func TreeOf(ctx context.Context) int64 {
	tree, _ := ctx.Value(treeKey{}).(int64)
	return tree
}
