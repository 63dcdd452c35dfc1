package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"bridged/internal/bridge"
)

// maxKey is the length of the longest Idempotency-Key.
const maxKey = 255

// repeat answers a call whose key an earlier one bound to a message. If that
// message may not have left, it is sent again under the same id; the apps show
// it once, however often it arrives.
func (s *server) repeat(w http.ResponseWriter, r *http.Request, earlier bridge.SendKey) error {
	m, err := s.store.Message(r.Context(), earlier.Chat, earlier.MsgID)
	if bridge.CodeOf(err) == bridge.CodeNotFound {
		// Key and message are stored together: this is our fault, not the
		// caller's 404.
		return fmt.Errorf("the message of an idempotency key is gone: %v", err)
	}
	if err != nil {
		return err
	}
	if m.DeletedAt == nil && m.Status != nil && (*m.Status == bridge.DeliveryPending || *m.Status == bridge.DeliveryFailed) {
		if err := s.account.Ready(); err != nil {
			return err
		}
		return s.finish(w, r, remedyFor(r, nil), func(ctx context.Context) (bridge.Sent, error) { return s.account.Resend(ctx, m) })
	}
	return s.replay(w, r, bridge.Sent{ID: m.ID, Chat: m.Chat, Timestamp: m.Timestamp})
}

// earlier returns what a key was bound to by an earlier call of the same request, and
// reports whether there was one.
func (s *server) earlier(ctx context.Context, key bridge.SendKey) (bridge.SendKey, bool, error) {
	earlier, found, err := s.store.SendKey(ctx, key.Key)
	if err == nil && found {
		err = sameRequest(key, earlier)
	}
	return earlier, found, err
}

// replay answers as the earlier call was answered.
func (s *server) replay(w http.ResponseWriter, r *http.Request, sent bridge.Sent) error {
	w.Header().Set("Idempotency-Replayed", "true")
	if hookOf(r.Context()) != nil {
		return s.answerHook(w, r, hookAnswer{Duplicate: true, MsgID: &sent.ID}, "an earlier delivery of the same was sent")
	}
	return s.answerSent(w, r, sent)
}

// sendKey returns the Idempotency-Key of a request; nil without one. It is bound to
// the body, and to what the path names.
func (s *server) sendKey(r *http.Request, body []byte) (*bridge.SendKey, error) {
	values := r.Header.Values("Idempotency-Key")
	if len(values) == 0 {
		return nil, nil
	}
	if len(values) > 1 || !isKey(values[0]) {
		return nil, bridge.Invalid("Idempotency-Key must be given once, with 1 to %d visible ASCII characters", maxKey)
	}
	at := chi.RouteContext(r.Context())
	route := r.Method + " " + at.RoutePattern()
	hash := sha256.New()
	hash.Write([]byte(route + "\n"))
	for i, name := range at.URLParams.Keys {
		if name != "*" {
			fmt.Fprintf(hash, "%s=%q\n", name, unescaped(at.URLParams.Values[i]))
		}
	}
	hash.Write(body)
	return &bridge.SendKey{Key: ownKey(r.Context(), values[0]), Route: route, BodyHash: hash.Sum(nil), At: bridge.At(s.now())}, nil
}

// ownKey returns the key of one caller: the keys of two have nothing to do with
// each other. No key from outside has a space.
func ownKey(ctx context.Context, key string) string {
	if id := callerOf(ctx).ID; id != 0 {
		return fmt.Sprintf("token %d %s", id, key)
	}
	return key
}

// unescaped returns a part of a path without its escapes, of which there are
// several for one name.
func unescaped(part string) string {
	if plain, err := url.PathUnescape(part); err == nil {
		return plain
	}
	return part
}

func isKey(s string) bool {
	if len(s) < 1 || len(s) > maxKey {
		return false
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// sameRequest refuses a key that was used for another request.
func sameRequest(key, earlier bridge.SendKey) error {
	switch {
	case key.Route != earlier.Route:
		return bridge.Fail(bridge.CodeIdempotencyMismatch, "this Idempotency-Key was used on another route; take a new key")
	case !bytes.Equal(key.BodyHash, earlier.BodyHash):
		return bridge.Fail(bridge.CodeIdempotencyMismatch, "this Idempotency-Key was used with another body; take a new key")
	}
	return nil
}

// keysInUse holds the keys of calls that are not answered yet. mu guards them.
type keysInUse struct {
	mu   sync.Mutex
	keys map[string]bridge.SendKey
}

// claim takes a key for one call. While another call has it, the refusal says
// whether repeating could ever succeed.
func (k *keysInUse) claim(key bridge.SendKey) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if other, taken := k.keys[key.Key]; taken {
		if err := sameRequest(key, other); err != nil {
			return err
		}
		return &bridge.Error{
			Code:       bridge.CodeRequestInProgress,
			Msg:        "a call with this Idempotency-Key is still in progress; repeat it for its answer",
			RetryAfter: time.Second,
		}
	}
	if k.keys == nil {
		k.keys = make(map[string]bridge.SendKey)
	}
	k.keys[key.Key] = key
	return nil
}

func (k *keysInUse) release(key bridge.SendKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.keys, key.Key)
}
