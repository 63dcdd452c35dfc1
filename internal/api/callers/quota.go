package callers

import (
	"context"
	"slices"

	"bridged/internal/bridge"
)

// Quota limits how many things of a kind exist. One token tree, and all tokens together, can use only a part of
// the quota, so that BRIDGE_TOKEN can always create some.
type Quota struct {
	Things             string // the plural, for error sentences
	All, Tree, Created int    // the limits of all things, of those of one token tree, and of those of all tokens
	Remedy             string // what to do at the limit, for error sentences
}

var tokenQuota = Quota{"tokens", 1000, 50, 750, "revoke some"}

// admits returns an error if one more thing would exceed the quota. total things exist; the caller's tree created
// own of them, and all tokens together created. BRIDGE_TOKEN is limited by the total only.
func (q Quota) admits(caller bridge.Token, total, own, created int) error {
	switch {
	case total >= q.All:
		return bridge.Invalid("there are %d %s already, which is the limit: %s", q.All, q.Things, q.Remedy)
	case caller.ID == 0:
		return nil
	case own >= q.Tree:
		return bridge.Invalid("a token and the tokens that it created can create %d %s: %s", q.Tree, q.Things, q.Remedy)
	case created >= q.Created:
		return bridge.Invalid("all tokens together can create %d %s: %s", q.Created, q.Things, q.Remedy)
	}
	return nil
}

// Things lists stored things that tokens create.
type Things[T any] struct {
	Quota
	Tokens *Tokens
	Token  func(T) int64 // the id of the token that created it
	List   func(context.Context) ([]T, error)
}

// Add stores a new thing for the caller of ctx, or refuses it if it exceeds the quota.
func (things Things[T]) Add(ctx context.Context, add func(context.Context, T) (T, error), thing T) (T, error) {
	things.Tokens.adding.Lock()
	defer things.Tokens.adding.Unlock()
	all, err := things.List(ctx)
	if err != nil {
		return thing, err
	}
	tree, err := things.Tokens.tree(ctx, Of(ctx).Tree)
	if err != nil {
		return thing, err
	}
	own, created := 0, 0
	for _, other := range all {
		if things.Token(other) != 0 {
			created++
		}
		if tree[things.Token(other)] {
			own++
		}
	}
	if err := things.admits(Of(ctx), len(all), own, created); err != nil {
		return thing, err
	}
	return add(ctx, thing)
}

// Own returns the things that the caller of ctx, or a token that it created, has created. For
// BRIDGE_TOKEN these are all.
func (things Things[T]) Own(ctx context.Context) ([]T, error) {
	all, err := things.List(ctx)
	if err != nil || Of(ctx).ID == 0 {
		return all, err
	}
	tokens, err := things.Tokens.Own(ctx)
	return slices.DeleteFunc(all, func(thing T) bool {
		return !slices.ContainsFunc(tokens, func(token bridge.Token) bool { return token.ID == things.Token(thing) })
	}), err
}

// Own returns the token of the caller of ctx and all tokens that descend from it.
func (t *Tokens) Own(ctx context.Context) ([]bridge.Token, error) {
	tokens, err := t.store.Tokens(ctx)
	if err != nil {
		return nil, err
	}
	own := map[int64]bool{Of(ctx).ID: true}
	return slices.DeleteFunc(tokens, func(token bridge.Token) bool {
		own[token.ID] = own[token.ID] || own[token.Parent] // parents are older
		return !own[token.ID]
	}), nil
}
