package api

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"bridged/internal/bridge"
	"bridged/internal/store"
)

const (
	// hookRoot is where the addresses of hooks begin.
	hookRoot = "/hooks/"
	// hookRate is how many deliveries a minute a hook takes.
	hookRate = 60
)

// hookKeys knows the keys of hooks, by their hashes, so that a stranger's guess
// costs the store nothing, and what each hook does now.
type hookKeys struct {
	store *store.Store
	now   func() time.Time

	// changes is held while hooks are made, changed or removed, so that no more are
	// made than there may be, and the key that is known is the one that was stored
	// last.
	changes sync.Mutex

	mu    sync.Mutex
	known map[int64]*hookKey // nil until they are read; guarded by mu, as what they hold
}

type hookKey struct {
	hash    []byte
	limit   *rate.Limiter
	noted   time.Time // when its last delivery was noted
	problem string    // that was noted with it
}

// newHookKey returns the key of a hook and its hash. It has 130 random bits, so that
// the hash needs no salt.
func newHookKey() (key string, hash []byte) {
	key = rand.Text()
	sum := sha256.Sum256([]byte(key))
	return key, sum[:]
}

// hookPath returns the path of a hook's address.
func hookPath(id int64, key string) string {
	return hookRoot + strconv.FormatInt(id, 10) + "." + key
}

// parseHookPath divides what hookPath made.
func parseHookPath(path string) (id int64, key string) {
	number, key, _ := strings.Cut(strings.TrimPrefix(path, hookRoot), ".")
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil || id < 1 {
		return 0, ""
	}
	return id, key
}

// find returns the hook whose address a path is, and nil for any other.
func (k *hookKeys) find(ctx context.Context, path string) (*bridge.Hook, error) {
	id, key := parseHookPath(path)
	if key == "" {
		return nil, nil
	}
	hash := sha256.Sum256([]byte(key))
	if known, err := k.knows(ctx, id, hash[:]); err != nil || !known {
		return nil, err
	}
	hook, err := k.store.Hook(ctx, id)
	switch {
	case bridge.CodeOf(err) == bridge.CodeNotFound: // it went with its token
		return nil, nil
	case err != nil:
		return nil, err
	case subtle.ConstantTimeCompare(hash[:], hook.KeyHash) != 1 || !hook.Enabled:
		return nil, nil
	}
	return &hook, nil
}

// knows reports whether a hook has the key of a hash. It compares in constant
// time.
func (k *hookKeys) knows(ctx context.Context, id int64, hash []byte) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil {
		hooks, err := k.store.Hooks(ctx)
		if err != nil {
			return false, err
		}
		k.known = make(map[int64]*hookKey)
		for _, hook := range hooks {
			k.enter(hook)
		}
	}
	key := k.known[id]
	return key != nil && subtle.ConstantTimeCompare(hash, key.hash) == 1, nil
}

// enter makes a hook's key known. What the hook has taken and done stays counted
// and noted. mu is held.
func (k *hookKeys) enter(hook bridge.Hook) {
	if key := k.known[hook.ID]; key != nil {
		key.hash = hook.KeyHash
		return
	}
	k.known[hook.ID] = &hookKey{hash: hook.KeyHash, limit: rate.NewLimiter(rate.Every(time.Minute/hookRate), hookRate)}
}

// put makes a new key known, or another one in place of the old.
func (k *hookKeys) put(hook bridge.Hook) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known != nil {
		k.enter(hook)
	}
}

// forget forgets the key of a hook that was removed.
func (k *hookKeys) forget(id int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.known, id)
}

// take counts a delivery, and refuses one too many.
func (k *hookKeys) take(id int64) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := k.known[id]
	if key == nil {
		return nil // removed a moment ago
	}
	reservation := key.limit.ReserveN(k.now(), 1)
	wait := reservation.DelayFrom(k.now())
	if wait == 0 {
		return nil
	}
	reservation.CancelAt(k.now())
	return &bridge.Error{Code: bridge.CodeRateLimited, Msg: "a hook takes 60 deliveries a minute; try again a little later", RetryAfter: wait}
}

// note keeps what became of a hook's delivery: when it changes, else to the
// minute.
func (k *hookKeys) note(ctx context.Context, id int64, problem string) error {
	at := k.now()
	k.mu.Lock()
	key := k.known[id]
	isKnown := key == nil || key.problem == problem && at.Truncate(usedEvery).Equal(key.noted.Truncate(usedEvery))
	if !isKnown {
		key.noted, key.problem = at, problem
	}
	k.mu.Unlock()
	if isKnown {
		return nil
	}
	if problem == "" {
		at = at.Truncate(usedEvery)
	}
	return k.store.NoteDelivery(ctx, id, bridge.At(at), problem)
}
