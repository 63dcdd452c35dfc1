package callers

import (
	"context"
	"slices"

	"bridged/internal/bridge"
)

// Quota bounds how many things of a kind there are. One token tree, and all tokens together, may
// only create a part of them, so that BRIDGE_TOKEN can always create some.
type Quota struct {
	Things             string // their plural, for refusals
	All, Tree, Created int    // in all, created by one token tree, created by all tokens
	Remedy             string
}

var tokenQuota = Quota{"tokens", 1000, 50, 750, "revoke some"}

// admits refuses one more thing. total is how many there are, own how many the caller's tree
// has, and created how many tokens created. Only the total bounds BRIDGE_TOKEN.
func (q Quota) admits(caller bridge.Token, total, own, created int) error {
	switch {
	case total >= q.All:
		return bridge.Invalid("there are %d %s already, which is the most: %s", q.All, q.Things, q.Remedy)
	case caller.ID == 0:
		return nil
	case own >= q.Tree:
		return bridge.Invalid("%d %s are the most that one token makes, with the tokens that it made: %s", q.Tree, q.Things, q.Remedy)
	case created >= q.Created:
		return bridge.Invalid("%d %s are the most that tokens make together: %s", q.Created, q.Things, q.Remedy)
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

// Add stores a new thing of the caller of ctx within its quota.
func (things Things[T]) Add(ctx context.Context, add func(context.Context, T) (T, error), thing T) (T, error) {
	things.Tokens.adds.Lock()
	defer things.Tokens.adds.Unlock()
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
