package api

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/store"
)

// usedEvery separates two notes of a token's last use.
const usedEvery = time.Minute

// bearers holds BRIDGE_TOKEN and the store's tokens, which only this process changes.
type bearers struct {
	root  [sha256.Size]byte
	store *store.Store
	now   func() time.Time

	mu     sync.Mutex
	tokens map[[sha256.Size]byte]*bearer // nil until they are read; guarded by mu
}

// bearer is a token in use. Its requests end with it.
type bearer struct {
	bridge.Token
	hook  *bridge.Hook // that the request is for, if it came to its address
	ctx   context.Context
	end   context.CancelCauseFunc
	noted time.Time // when the last use was noted; guarded by the mutex of bearers
}

func newBearers(root string, st *store.Store, now func() time.Time) *bearers {
	return &bearers{root: sha256.Sum256([]byte(root)), store: st, now: now}
}

// find returns the bearer with a secret, 0 being BRIDGE_TOKEN's id; nil for an unknown one. It
// compares hashes, so that its time shows neither a length nor the first wrong byte.
func (b *bearers) find(ctx context.Context, secret string) (*bearer, error) {
	hash := sha256.Sum256([]byte(secret))
	switch {
	case secret == "":
		return nil, nil
	case subtle.ConstantTimeCompare(hash[:], b.root[:]) == 1:
		return &bearer{Token: bridge.Token{Name: "BRIDGE_TOKEN", Scopes: bridge.Scopes()}}, nil
	case !strings.HasPrefix(secret, bridge.TokenPrefix):
		return nil, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.load(ctx); err != nil {
		return nil, err
	}
	found := b.tokens[hash]
	if found == nil || subtle.ConstantTimeCompare(hash[:], found.Hash) != 1 || found.hasExpired(b.now()) {
		return nil, nil
	}
	return found, nil
}

// secretOf returns the secret in a request; empty for none.
func secretOf(r *http.Request) string {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, secret, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(secret)
}

func (b *bearer) hasExpired(now time.Time) bool {
	return b.ExpiresAt != nil && !now.Before(b.ExpiresAt.Time)
}

// load reads the tokens, once.
func (b *bearers) load(ctx context.Context) error {
	if b.tokens != nil {
		return nil
	}
	list, err := b.store.Tokens(ctx)
	if err != nil {
		return fmt.Errorf("read the tokens: %w", err)
	}
	b.tokens = make(map[[sha256.Size]byte]*bearer, len(list))
	for _, token := range list {
		b.enter(token)
	}
	return nil
}

// enter adds a token, whose parent is known. The caller holds mu.
func (b *bearers) enter(token bridge.Token) {
	token.Family = b.familyOf(token)
	entry := &bearer{Token: token}
	entry.ctx, entry.end = context.WithCancelCause(context.Background())
	b.tokens[[sha256.Size]byte(token.Hash)] = entry
}

// add stores a new token, unless there are too many.
func (b *bearers) add(ctx context.Context, token bridge.Token) (bridge.Token, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.load(ctx); err != nil {
		return token, err
	}
	maps.DeleteFunc(b.tokens, func(_ [sha256.Size]byte, known *bearer) bool { return known.hasExpired(b.now()) })
	if err := b.mayAdd(token); err != nil {
		return token, err
	}
	token, err := b.store.AddToken(ctx, token)
	if err == nil {
		b.enter(token)
	}
	return token, err
}

// mayAdd refuses one token too many. The caller holds mu.
func (b *bearers) mayAdd(token bridge.Token) error {
	own, made, family := 0, 0, b.familyOf(token)
	for _, known := range b.tokens {
		if known.Parent != 0 {
			made++
		}
		if known.Family == family {
			own++
		}
	}
	return tokenQuota.admits(bridge.Token{ID: token.Parent}, len(b.tokens), own, made)
}

// familyOf returns the family of a token, whose parent is known. The caller holds mu.
func (b *bearers) familyOf(token bridge.Token) int64 {
	if token.Parent == 0 {
		return token.ID
	}
	for _, parent := range b.tokens {
		if parent.ID == token.Parent {
			return parent.Family
		}
	}
	return token.ID
}

// family returns the tokens of a caller's family.
func (b *bearers) family(ctx context.Context) (map[int64]bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.load(ctx); err != nil {
		return nil, err
	}
	ids, family := make(map[int64]bool), callerOf(ctx).Family
	for _, token := range b.tokens {
		if token.Family == family {
			ids[token.ID] = true
		}
	}
	return ids, nil
}

// madeBy returns a token and all that were made with it or with these.
func (b *bearers) madeBy(id int64) []int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	made := []int64{id}
	for i := 0; i < len(made); i++ {
		for _, token := range b.tokens {
			if token.Parent == made[i] {
				made = append(made, token.ID)
			}
		}
	}
	return made
}

// remove removes tokens and ends their requests.
func (b *bearers) remove(ids []int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for hash, entry := range b.tokens {
		if slices.Contains(ids, entry.ID) {
			delete(b.tokens, hash)
			entry.end(errTokenEnded)
		}
	}
}

// toTheMinute returns the moment of a use to the minute, but none before the creation of
// what was used.
func toTheMinute(used time.Time, created bridge.Time) time.Time {
	at := used.Truncate(usedEvery)
	if at.Before(created.Time) {
		return created.Time
	}
	return at
}

// note stores when a token was used, to the minute. A failure is only logged.
func (b *bearers) note(ctx context.Context, used *bearer, log *zerolog.Logger) {
	at := toTheMinute(b.now(), used.CreatedAt)
	b.mu.Lock()
	known := !at.After(used.noted)
	used.noted = at
	b.mu.Unlock()
	if known {
		return
	}
	if err := b.store.TokenUsed(ctx, used.ID, bridge.At(at)); err != nil {
		log.Warn().Err(err).Msg("use of a token not noted")
	}
}

// byID returns a token; nil for one that has ended. BRIDGE_TOKEN's id is 0.
func (b *bearers) byID(ctx context.Context, id int64) (*bearer, error) {
	if id == 0 {
		return &bearer{ctx: context.Background()}, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.load(ctx); err != nil {
		return nil, err
	}
	for _, token := range b.tokens {
		if token.ID == id && !token.hasExpired(b.now()) {
			return token, nil
		}
	}
	return nil, nil
}

// during returns the context of a request, which ends with its token.
func (b *bearer) during(parent context.Context) (context.Context, context.CancelFunc) {
	parent = bridge.WithTree(context.WithValue(parent, callerKey{}, b), b.Family)
	if b.ID == 0 {
		return parent, func() {}
	}
	ctx, cancel := context.WithCancelCause(parent)
	unhook, stop := context.AfterFunc(b.ctx, func() { cancel(errTokenEnded) }), func() {}
	if b.ExpiresAt != nil {
		ctx, stop = context.WithDeadlineCause(ctx, b.ExpiresAt.Time, errTokenEnded)
	}
	return ctx, func() {
		stop()
		unhook()
		cancel(nil)
	}
}
