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

type familyKey struct{}

// WithFamily returns the context of a call by a token of a family, for limits that are
// shared by all callers.
func WithFamily(ctx context.Context, family int64) context.Context {
	return context.WithValue(ctx, familyKey{}, family)
}

// FamilyOf returns the family of a call's token; 0, that of BRIDGE_TOKEN, for what the
// bridge does itself.
func FamilyOf(ctx context.Context) int64 {
	family, _ := ctx.Value(familyKey{}).(int64)
	return family
}
