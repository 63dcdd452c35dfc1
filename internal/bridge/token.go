package bridge

import (
	"context"
	"slices"
)

// Scope is a permission of a token.
type Scope string

const (
	ScopeRead   Scope = "read"   // all that reads
	ScopeSend   Scope = "send"   // all that leaves
	ScopeManage Scope = "manage" // the account, webhooks, hooks, tokens
)

// Scopes returns all scopes.
func Scopes() []Scope { return []Scope{ScopeRead, ScopeSend, ScopeManage} }

// TokenPrefix is the start of the secrets of tokens.
const TokenPrefix = "brt_"

// Token is a bearer token with limited permissions.
type Token struct {
	ID         int64   `json:"id"`
	Name       string  `json:"name"`
	Scopes     []Scope `json:"scopes"`
	Chats      []JID   `json:"chats"` // nil for all
	ExpiresAt  *Time   `json:"expiresAt"`
	CreatedAt  Time    `json:"createdAt"`
	LastUsedAt *Time   `json:"lastUsedAt"` // to the minute
	// OAuthClient is the host of the OAuth client that holds the token; nil for other tokens.
	OAuthClient *string `json:"oauthClient"`

	Hash       []byte  `json:"-"` // the SHA-256 of its secret
	SecretEnds *Time   `json:"-"` // when an OAuth client has to renew the secret; nil for other tokens
	Parent     int64   `json:"-"` // the token that made it; 0 is BRIDGE_TOKEN
	Ancestors  []int64 `json:"-"` // Parent, its parent and so on, without BRIDGE_TOKEN

	// Tree identifies the token tree, to which quotas apply: it is the id of the tree's first
	// token, which BRIDGE_TOKEN created. It is 0 for BRIDGE_TOKEN, and the hook's negative ID
	// for a hook that BRIDGE_TOKEN created.
	Tree int64 `json:"-"`
}

// Allows reports whether t has a scope.
func (t Token) Allows(scope Scope) bool { return slices.Contains(t.Scopes, scope) }

// Transcribes reports whether the token may have messages transcribed: it reads and sends, or
// manages. The audio leaves the machine and may cost money.
func (t Token) Transcribes() bool {
	return t.Allows(ScopeManage) || t.Allows(ScopeRead) && t.Allows(ScopeSend)
}

// Entrance is the part of the program that received a call.
type Entrance string

const (
	EntranceAPI       Entrance = "api"
	EntranceConsole   Entrance = "console"
	EntranceMCP       Entrance = "mcp"
	EntranceCloud     Entrance = "cloud" // this and the next two are compatibility APIs
	EntranceEvolution Entrance = "evolution"
	EntranceWAHA      Entrance = "waha"
	EntranceNATS      Entrance = "nats"
	EntranceHook      Entrance = "hook"
	EntranceSchedule  Entrance = "schedule" // it sends what a token has scheduled
)

// CalledBy is the caller that has sent a message or begun an import. It is stored with that, and outlives the token.
type CalledBy struct {
	Token     int64    `json:"-"` // its id; 0 for BRIDGE_TOKEN, and negative for the address of a hook
	Ancestors []int64  `json:"-"` // as in [Token]
	Name      string   `json:"name"`
	Entrance  Entrance `json:"through"`

	// These are only set in answers. Ended means that the token was revoked or has expired, or that the hook was removed.
	TokenID *int64 `json:"tokenId"`
	HookID  *int64 `json:"hookId"`
	Ended   bool   `json:"ended"`
}

// Through returns the token as the caller of a call that an entrance received.
func (t Token) Through(e Entrance) *CalledBy {
	by := &CalledBy{Token: t.ID, Ancestors: t.Ancestors, Name: t.Name, Entrance: e}
	if t.ID == 0 {
		by.Name = RootToken
	}
	return by
}

// String returns the entrance and the name for a sentence, such as "in the console with the token n8n".
func (by CalledBy) String() string {
	name := by.Name
	switch {
	case by.HookID != nil:
		name = "the hook " + name
	case by.TokenID != nil:
		name = "the token " + name
	}
	if by.Ended && by.HookID != nil {
		name += " (removed)"
	} else if by.Ended {
		name += " (revoked or expired)"
	}
	return entranceWords[by.Entrance] + name
}

var entranceWords = map[Entrance]string{
	EntranceAPI: "with ", EntranceConsole: "in the console with ", EntranceMCP: "by an agent with ", EntranceCloud: "over the Cloud API with ",
	EntranceEvolution: "over Evolution’s API with ", EntranceWAHA: "over WAHA’s API with ", EntranceNATS: "over NATS with ", EntranceHook: "by ",
	EntranceSchedule: "later with ",
}

// RootToken is the name of the token that may do everything.
const RootToken = "BRIDGE_TOKEN"

type entranceKey struct{}

// WithEntrance returns a context that carries an entrance.
func WithEntrance(ctx context.Context, e Entrance) context.Context {
	return context.WithValue(ctx, entranceKey{}, e)
}

// EntranceOf returns the entrance of a context.
func EntranceOf(ctx context.Context) Entrance {
	if e, ok := ctx.Value(entranceKey{}).(Entrance); ok {
		return e
	}
	return EntranceAPI
}

type treeKey struct{}

// WithTree returns a context that carries a token tree, for quotas.
func WithTree(ctx context.Context, tree int64) context.Context {
	return context.WithValue(ctx, treeKey{}, tree)
}

// TreeOf returns the token tree of a context. 0, the tree of BRIDGE_TOKEN, is also used for the
// bridge's own work.
func TreeOf(ctx context.Context) int64 {
	tree, _ := ctx.Value(treeKey{}).(int64)
	return tree
}

// ConsoleSession is a session of the console as it is stored.
type ConsoleSession struct {
	ID        int64
	Hash      []byte // the SHA-256 of the secret in the browser's cookie
	Token     int64  // the token that it was opened with; 0 is BRIDGE_TOKEN
	TokenHash []byte // the SHA-256 of that token's secret; nil for BRIDGE_TOKEN
	Browser   string
	Zone      string // the browser's time zone
	CreatedAt Time
	UsedAt    Time // to some minutes
}
