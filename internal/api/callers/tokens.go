package callers

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

// Tokens holds BRIDGE_TOKEN and the stored tokens, which only this process changes.
type Tokens struct {
	root  [sha256.Size]byte
	store *store.Store
	now   func() time.Time

	adds sync.Mutex // held while things of a kind are counted and one is added

	mu      sync.Mutex
	callers map[[sha256.Size]byte]*Caller // by the hash of the secret; nil until they are read; guarded by mu
}

// NewTokens returns the tokens of a store and root, which is BRIDGE_TOKEN.
func NewTokens(root string, st *store.Store, now func() time.Time) *Tokens {
	return &Tokens{root: sha256.Sum256([]byte(root)), store: st, now: now}
}

// OfRequest returns the caller of a request; nil if its token or address is missing or unknown.
func (t *Tokens) OfRequest(r *http.Request) (*Caller, error) {
	if IsHook(r) {
		return t.ofHook(r)
	}
	secret := secretOf(r)
	if hash, given := r.Context().Value(hashKey{}).([sha256.Size]byte); given && secret == "" {
		return t.ByHash(r.Context(), hash)
	}
	return t.Find(r.Context(), secret)
}

// Identify returns the token tree of a request, for the quota of its connection. A request without a bearer
// token has the one that other returns, for example for its session; other may be nil. Failures of the store are
// answered later, by the handler.
func (t *Tokens) Identify(r *http.Request, other func(*http.Request) (tree int64, known bool)) (tree int64, known bool) {
	if other != nil && secretOf(r) == "" {
		if tree, known = other(r); known {
			return tree, true
		}
	}
	caller, err := t.OfRequest(r)
	if err != nil || caller == nil {
		return 0, false
	}
	return caller.Tree, true
}

// Find returns the caller with a secret; nil for an unknown one. It compares hashes, so that
// the time it takes shows neither the length nor the first wrong byte.
func (t *Tokens) Find(ctx context.Context, secret string) (*Caller, error) {
	hash := sha256.Sum256([]byte(secret))
	if secret == "" || !t.isRoot(hash) && !strings.HasPrefix(secret, bridge.TokenPrefix) {
		return nil, nil
	}
	return t.ByHash(ctx, hash)
}

func (t *Tokens) isRoot(hash [sha256.Size]byte) bool {
	return subtle.ConstantTimeCompare(hash[:], t.root[:]) == 1
}

// ByHash returns the caller whose secret has a hash; nil for an unknown one.
func (t *Tokens) ByHash(ctx context.Context, hash [sha256.Size]byte) (*Caller, error) {
	if t.isRoot(hash) {
		return &Caller{Token: bridge.Token{Name: bridge.RootToken, Scopes: bridge.Scopes()}}, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.load(ctx); err != nil {
		return nil, err
	}
	found := t.callers[hash]
	if found == nil || subtle.ConstantTimeCompare(hash[:], found.Hash) != 1 || found.hasExpired(t.now()) {
		return nil, nil
	}
	return found, nil
}

type hashKey struct{}

// As returns a handler that serves requests without a bearer token as the token whose secret has a hash. It is
// for calls within the process: the console's sessions have only the hash.
func (*Tokens) As(handler http.Handler, hash [sha256.Size]byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), hashKey{}, hash)))
	})
}

// ByID returns the token with an id; nil if it was revoked or has expired. Its secret may have ended.
func (t *Tokens) ByID(ctx context.Context, id int64) (*Caller, error) {
	if id == 0 {
		return &Caller{ctx: context.Background()}, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.load(ctx); err != nil {
		return nil, err
	}
	for _, token := range t.callers {
		if token.ID == id && !isOver(token.ExpiresAt, t.now()) {
			return token, nil
		}
	}
	return nil, nil
}

// load reads the tokens, once. The caller holds mu.
func (t *Tokens) load(ctx context.Context) error {
	if t.callers != nil {
		return nil
	}
	list, err := t.store.Tokens(ctx)
	if err != nil {
		return fmt.Errorf("read the tokens: %w", err)
	}
	t.callers = make(map[[sha256.Size]byte]*Caller, len(list))
	for _, token := range list {
		t.enter(token)
	}
	return nil
}

// enter adds a token whose parent was entered before. The caller holds mu.
func (t *Tokens) enter(token bridge.Token) {
	t.place(&token)
	caller := &Caller{Token: token}
	caller.ctx, caller.end = context.WithCancelCause(context.Background())
	t.callers[[sha256.Size]byte(token.Hash)] = caller
}

// place sets Tree and Above of a token. The caller holds mu.
func (t *Tokens) place(token *bridge.Token) {
	token.Tree = token.ID
	for _, parent := range t.callers {
		if token.Parent != 0 && parent.ID == token.Parent {
			token.Tree, token.Above = parent.Tree, append([]int64{parent.ID}, parent.Above...)
		}
	}
}

// Add stores a new token within the quota of tokens.
func (t *Tokens) Add(ctx context.Context, token bridge.Token) (bridge.Token, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.load(ctx); err != nil {
		return token, err
	}
	maps.DeleteFunc(t.callers, func(_ [sha256.Size]byte, known *Caller) bool { return isOver(known.ExpiresAt, t.now()) })
	if err := t.admits(token); err != nil {
		return token, err
	}
	token, err := t.store.AddToken(ctx, token)
	if err == nil {
		t.enter(token)
	}
	return token, err
}

// Renew replaces the secret of an OAuth client's token by one with another hash, which ends at a time
// and not after the token. save stores it. Requests with the former secret end when that would have
// ended. It fails with [bridge.CodeNotFound] if the token was revoked or has expired.
func (t *Tokens) Renew(ctx context.Context, id int64, hash [sha256.Size]byte, ends bridge.Time, save func(ends bridge.Time) error) (bridge.Token, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.load(ctx); err != nil {
		return bridge.Token{}, err
	}
	for former, known := range t.callers {
		if known.ID != id || isOver(known.ExpiresAt, t.now()) {
			continue
		}
		if known.ExpiresAt != nil && ends.After(known.ExpiresAt.Time) {
			ends = *known.ExpiresAt
		}
		if err := save(ends); err != nil {
			return bridge.Token{}, err
		}
		renewed := *known
		renewed.Hash, renewed.SecretEnds = hash[:], &ends
		delete(t.callers, former)
		t.callers[hash] = &renewed
		return renewed.Token, nil
	}
	return bridge.Token{}, bridge.NotFound("there is no token %d", id)
}

// admits refuses a new token beyond the quota. The caller holds mu.
func (t *Tokens) admits(token bridge.Token) error {
	own, created := 0, 0
	t.place(&token)
	for _, known := range t.callers {
		if known.Parent != 0 {
			created++
		}
		if known.Tree == token.Tree {
			own++
		}
	}
	return tokenQuota.admits(bridge.Token{ID: token.Parent}, len(t.callers), own, created)
}

// tree returns the ids of the tokens of a tree.
func (t *Tokens) tree(ctx context.Context, tree int64) (map[int64]bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.load(ctx); err != nil {
		return nil, err
	}
	ids := make(map[int64]bool)
	for _, token := range t.callers {
		if token.Tree == tree {
			ids[token.ID] = true
		}
	}
	return ids, nil
}

// RevokeTree ends the requests of a token and of all tokens that descend from it.
func (t *Tokens) RevokeTree(id int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ids := []int64{id}
	for i := 0; i < len(ids); i++ {
		for _, token := range t.callers {
			if token.Parent == ids[i] {
				ids = append(ids, token.ID)
			}
		}
	}
	t.revoke(ids)
}

// Revoke ends the requests of tokens that were removed from the store.
func (t *Tokens) Revoke(ids []int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.revoke(ids)
}

// revoke is Revoke for callers that hold mu.
func (t *Tokens) revoke(ids []int64) {
	for hash, caller := range t.callers {
		if slices.Contains(ids, caller.ID) {
			delete(t.callers, hash)
			caller.end(errTokenEnded)
		}
	}
}

// usedEvery is how often the last use of a token is stored.
const usedEvery = time.Minute

// ToTheMinute rounds the time of a use down to the minute, but not to before the creation of
// the token or hook.
func ToTheMinute(used time.Time, created bridge.Time) time.Time {
	at := used.Truncate(usedEvery)
	if at.Before(created.Time) {
		return created.Time
	}
	return at
}

// NoteUse stores when a token was used, to the minute. A failure is only logged.
func (t *Tokens) NoteUse(ctx context.Context, used *Caller, log *zerolog.Logger) {
	at := ToTheMinute(t.now(), used.CreatedAt)
	t.mu.Lock()
	isNoted := !at.After(used.noted)
	used.noted = at
	t.mu.Unlock()
	if isNoted {
		return
	}
	if err := t.store.TokenUsed(ctx, used.ID, bridge.At(at)); err != nil {
		log.Warn().Err(err).Msg("use of a token not noted")
	}
}
