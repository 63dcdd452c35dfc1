package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"bridged/internal/bridge"
)

const (
	// sendTimeout bounds a send that outlives its caller. The account's own
	// limits are shorter and say better what happened.
	sendTimeout = 3 * time.Minute
	// uploadTimeout is what a file may take longer, once it is fetched.
	uploadTimeout = 15 * time.Minute
	maxKey        = 255
)

// sentBody is the answer of every sending route.
type sentBody struct {
	OK        bool        `json:"ok"`
	MsgID     string      `json:"msgId"`
	Timestamp bridge.Time `json:"timestamp"`
	ChatJID   bridge.JID  `json:"chatJid"`
}

// sendOnce is the path of every send behind its validation: the key and its
// replay, which need no socket; what the message refers to, which compose
// looks up; the socket; the send. The account stores the message's id and the
// key before anything leaves, so that a repeated call finds them.
func (s *server) sendOnce(w http.ResponseWriter, r *http.Request, body []byte, compose func(context.Context) (bridge.Outgoing, error)) error {
	return s.sendBy(w, r, body, compose, way{sendTimeout, s.account.Send})
}

// way is how a composed message leaves, and how long that may take in all.
type way struct {
	limit time.Duration
	send  func(context.Context, bridge.Outgoing) (bridge.Sent, error)
}

// sendBy is sendOnce in another way than the account's alone.
func (s *server) sendBy(w http.ResponseWriter, r *http.Request, body []byte, compose func(context.Context) (bridge.Outgoing, error), way way) error {
	key, err := s.sendKey(r, body)
	if err != nil {
		return err
	}
	if key != nil {
		if err := s.keys.claim(*key); err != nil {
			return err
		}
		defer s.keys.release(*key)
		earlier, found, err := s.store.SendKey(r.Context(), key.Key)
		if err != nil {
			return err
		}
		if found {
			return s.repeat(w, r, *key, earlier)
		}
	}
	out, err := compose(r.Context())
	if err != nil {
		return err
	}
	if err := s.account.Ready(); err != nil {
		return err
	}
	out.Key = key
	return s.sent(w, r, way.limit, func(ctx context.Context) (bridge.Sent, error) { return way.send(ctx, out) })
}

// repeat answers a key that an earlier call bound to a message. Where that
// call's message is not known to have left, it is sent again under the same
// id, of which the apps show one message however often it comes.
func (s *server) repeat(w http.ResponseWriter, r *http.Request, key, earlier bridge.SendKey) error {
	if err := sameRequest(key, earlier); err != nil {
		return err
	}
	if earlier.Route == reactRoute {
		// A reaction is no message of its own: its key is stored when the
		// network has accepted it.
		return s.replay(w, r, bridge.Sent{ID: earlier.MsgID, Chat: earlier.Chat, Timestamp: earlier.At})
	}
	m, err := s.store.Message(r.Context(), earlier.Chat, earlier.MsgID)
	if bridge.CodeOf(err) == bridge.CodeNotFound {
		// Key and message are stored together: this is a fault of ours, never
		// the caller's 404.
		return fmt.Errorf("the message of an idempotency key is gone: %v", err)
	}
	if err != nil {
		return err
	}
	if m.DeletedAt == nil && m.Status != nil && (*m.Status == bridge.DeliveryPending || *m.Status == bridge.DeliveryFailed) {
		if err := s.account.Ready(); err != nil {
			return err
		}
		return s.sent(w, r, sendTimeout, func(ctx context.Context) (bridge.Sent, error) { return s.account.Resend(ctx, m) })
	}
	return s.replay(w, r, bridge.Sent{ID: m.ID, Chat: m.Chat, Timestamp: m.Timestamp})
}

// sent runs a send on its own time and answers what became of it.
func (s *server) sent(w http.ResponseWriter, r *http.Request, limit time.Duration, send func(context.Context) (bridge.Sent, error)) error {
	ctx, cancel := s.sendContext(r, limit)
	defer cancel()
	sent, err := send(ctx)
	switch {
	case err == nil:
		return s.answer(w, r, s.sentBody(sent))
	case errors.Is(err, context.Canceled) && errors.Is(context.Cause(ctx), errStopping):
		// The cause without its identity: the request's context has ended too,
		// and the answer would be that of a caller who hung up.
		return bridge.NotConnected("the service is stopping and the message was not confirmed; when it is back, %s", remedy(r)).
			Because(errors.New(err.Error()))
	case bridge.CodeOf(err) == bridge.CodeSendTimeout, ctx.Err() != nil && bridge.CodeOf(err) == bridge.CodeInternal:
		return bridge.Fail(bridge.CodeSendTimeout, "the network did not confirm the message in time, and it may still arrive; %s", remedy(r)).
			Because(err)
	}
	return err
}

// remedy says what to do where nobody knows whether a message arrived.
func remedy(r *http.Request) string {
	if r.Header.Get("Idempotency-Key") != "" {
		return "repeat the call with the same Idempotency-Key"
	}
	return "look in the chat whether it arrived before you send it again, and send with an Idempotency-Key next time, " +
		"which makes repeating a call safe"
}

func (s *server) replay(w http.ResponseWriter, r *http.Request, sent bridge.Sent) error {
	w.Header().Set("Idempotency-Replayed", "true")
	return s.answer(w, r, s.sentBody(sent))
}

func (s *server) sentBody(sent bridge.Sent) sentBody {
	return sentBody{OK: true, MsgID: sent.ID, Timestamp: sent.Timestamp, ChatJID: s.canonical(sent.Chat)}
}

// errStopping is the cause of the end of sends at the program's end.
var errStopping = errors.New("the service is stopping")

// sendContext outlives the caller, because a message that has begun to leave
// cannot be called back, but neither its time nor the program.
func (s *server) sendContext(r *http.Request, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), limit)
	ctx, stop := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(s.lifetime, func() { stop(errStopping) })
	return ctx, func() {
		unhook()
		stop(nil)
		cancel()
	}
}

// sendKey reads the Idempotency-Key of a request; nil without one.
func (s *server) sendKey(r *http.Request, body []byte) (*bridge.SendKey, error) {
	values := r.Header.Values("Idempotency-Key")
	if len(values) == 0 {
		return nil, nil
	}
	if len(values) > 1 || !isKey(values[0]) {
		return nil, bridge.Invalid("Idempotency-Key must be given once, with 1 to %d visible ASCII characters", maxKey)
	}
	route := r.Method + " " + chi.RouteContext(r.Context()).RoutePattern()
	hash := sha256.New()
	hash.Write([]byte(route + "\n"))
	hash.Write(body)
	return &bridge.SendKey{Key: values[0], Route: route, BodyHash: hash.Sum(nil), At: bridge.At(s.now())}, nil
}

// reactRoute is the route of keys that belong to reactions.
const reactRoute = http.MethodPost + " /api/messages/react"

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

// sameRequest refuses a key that was used for something else.
func sameRequest(key, earlier bridge.SendKey) error {
	switch {
	case key.Route != earlier.Route:
		return bridge.Fail(bridge.CodeIdempotencyMismatch, "this Idempotency-Key was used on another route; take a new key")
	case !bytes.Equal(key.BodyHash, earlier.BodyHash):
		return bridge.Fail(bridge.CodeIdempotencyMismatch, "this Idempotency-Key was used with another body; take a new key")
	}
	return nil
}

// keysInUse are the keys of calls that are not answered yet. mu guards them.
type keysInUse struct {
	mu   sync.Mutex
	keys map[string]bridge.SendKey
}

// claim takes the key for one call. A key that can never fit is refused as
// such, also while its call is running.
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
