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

	adding sync.Mutex // held from counting the things of a quota until one is added

	mu      sync.Mutex
	callers map[[sha256.Size]byte]*Caller // by the hash of the secret; nil until the store is read; guarded by mu
}

// NewTokens returns the tokens of a store and root, which is BRIDGE_TOKEN.
func NewTokens(root string, st *store.Store, now func() time.Time) *Tokens {
	return &Tokens{root: sha256.Sum256([]byte(root)), store: st, now: now}
}

// OfRequest returns the caller of a request. It returns nil if the token, or the key in a hook's address, is missing or unknown.
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

// Identify returns the token tree of a request, for the quota of its connection. For a request without a bearer
// token it asks other, which knows the sessions of the console, for example; other may be nil. If the store fails,
// the tree is unknown here, and the handler reports the error.
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

// Find returns the caller with a secret, or nil if the secret is unknown. It compares hashes, so that
// the time it takes shows neither the length of a right secret nor the first wrong byte.
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

// ByHash returns the caller whose secret has a hash, or nil if the hash is unknown.
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

// ByID returns the token with an id, or nil if it was revoked or has expired. An OAuth client's token is also
// returned when its secret has expired and waits for its renewal.
func (t *Tokens) ByID(ctx context.Context, id int64) (*Caller, error) {
	if id == 0 {
		return &Caller{ctx: context.Background()}, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.load(ctx); err != nil {
		return nil, err
	}
	return t.valid(id), nil
}

// valid returns the token with an id, or nil if it was revoked or has expired. The caller holds mu.
func (t *Tokens) valid(id int64) *Caller {
	for _, token := range t.callers {
		if token.ID == id && !isOver(token.ExpiresAt, t.now()) {
			return token
		}
	}
	return nil
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
		t.insert(token)
	}
	return nil
}

// insert adds a token to callers, after its parent. The caller holds mu.
func (t *Tokens) insert(token bridge.Token) {
	t.setTree(&token)
	caller := &Caller{Token: token}
	caller.ctx, caller.end = context.WithCancelCause(context.Background())
	t.callers[[sha256.Size]byte(token.Hash)] = caller
}

// setTree sets Tree and Ancestors of a token from its parent's. The caller holds mu.
func (t *Tokens) setTree(token *bridge.Token) {
	token.Tree = token.ID
	for _, parent := range t.callers {
		if token.Parent != 0 && parent.ID == token.Parent {
			token.Tree, token.Ancestors = parent.Tree, append([]int64{parent.ID}, parent.Ancestors...)
		}
	}
}

// Add stores a new token, or refuses it if it exceeds a quota of tokens.
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
		t.insert(token)
	}
	return token, err
}

// Renew replaces the secret of an OAuth client's token. hash is the new secret's; it expires at ends, or with the
// token if that is earlier, and save stores it. Running requests with the old secret continue until the old
// secret's expiry. Renew fails with [bridge.CodeNotFound] if the token was revoked or has expired.
func (t *Tokens) Renew(ctx context.Context, id int64, hash [sha256.Size]byte, ends bridge.Time, save func(ends bridge.Time) error) (bridge.Token, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.load(ctx); err != nil {
		return bridge.Token{}, err
	}
	known := t.valid(id)
	if known == nil {
		return bridge.Token{}, bridge.NotFound("there is no token %d", id)
	}
	if known.ExpiresAt != nil && ends.After(known.ExpiresAt.Time) {
		ends = *known.ExpiresAt
	}
	if err := save(ends); err != nil {
		return bridge.Token{}, err
	}
	renewed := *known
	renewed.Hash, renewed.SecretEnds = hash[:], &ends
	delete(t.callers, [sha256.Size]byte(known.Hash))
	t.callers[hash] = &renewed
	return renewed.Token, nil
}

// admits returns an error if a new token would exceed a quota. The caller holds mu.
func (t *Tokens) admits(token bridge.Token) error {
	own, created := 0, 0
	t.setTree(&token)
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

// RevokeTree does what Revoke does for a token and all tokens that descend from it.
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

// Revoke forgets tokens that were removed from the store, and ends their requests.
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

// useInterval is how often the last use of a token is stored.
const useInterval = time.Minute

// ToTheMinute rounds the time of a use down to the minute, but not to before the creation of
// the token or hook.
func ToTheMinute(used time.Time, created bridge.Time) time.Time {
	at := used.Truncate(useInterval)
	if at.Before(created.Time) {
		return created.Time
	}
	return at
}

// NoteUse stores when a token was used, to the minute. A failure is only logged.
func (t *Tokens) NoteUse(ctx context.Context, used *Caller, log *zerolog.Logger) {
	at := ToTheMinute(t.now(), used.CreatedAt)
	t.mu.Lock()
	isNew := at.After(used.noted)
	used.noted = at
	t.mu.Unlock()
	if !isNew {
		return
	}
	if err := t.store.TokenUsed(ctx, used.ID, bridge.At(at)); err != nil {
		log.Warn().Err(err).Msg("cannot store the use of a token")
	}
}
