package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"bridged/internal/api/callers"
	"bridged/internal/bridge"
)

const (
	// deliveryTimeout limits a send, without fetching and converting its file: three minutes, and fifteen
	// more for the upload. The account has shorter limits, whose errors explain more.
	deliveryTimeout = 18 * time.Minute
	// maxKey limits the length of an Idempotency-Key.
	maxKey = 255
)

// action is a message, a change of one or of a group, a read receipt or a presence.
type action struct {
	chat bridge.JID // the caller must be allowed to see it; "" if none
	// replay returns the answer of an earlier call with the same key; nil if that call had none,
	// and do continues it.
	replay  func(ctx context.Context, earlier bridge.SendKey) (answer any, err error)
	lookUp  func(ctx context.Context) error // finds the stored things that the call names; may be nil
	do      func(ctx context.Context, key *bridge.SendKey) (answer any, err error)
	later   bool          // it needs no connection now
	timeout time.Duration // 0 for sendTimeout

	// For the error if the network does not confirm the action.
	noun, outcome, remedy string
}

// once runs an action, unless its key shows that an earlier call did. It returns the fault of the
// request, if any. key is nil if the request has none. The order of refusals is the same
// everywhere: the key and its replay, things that are not stored, the connection, the action.
func once(in *input, key *bridge.SendKey, a action) (any, error) {
	if in.err != nil {
		return nil, in.err
	}
	if a.chat != "" {
		if err := in.see(in.ctx(), a.chat); err != nil {
			return nil, err
		}
	}
	if key != nil {
		if err := in.claim(*key); err != nil {
			return nil, err
		}
		defer in.keys.Delete(key.Key)
		answer, err := in.earlier(in.ctx(), *key, a.replay)
		if answer != nil && err == nil {
			in.w.Header().Set("Idempotency-Replayed", "true")
		}
		if answer != nil || err != nil {
			return answer, err
		}
	}
	if a.lookUp != nil {
		if err := a.lookUp(in.ctx()); err != nil {
			return nil, err
		}
	}
	if err := in.Account.Ready(); err != nil && !a.later {
		return nil, err
	}
	return run(in, key, a)
}

// earlier replays the earlier call that used a key, if any.
func (s *server) earlier(ctx context.Context, key bridge.SendKey, replay func(context.Context, bridge.SendKey) (any, error)) (any, error) {
	earlier, found, err := s.Store.SendKey(ctx, key.Key)
	if err != nil || !found {
		return nil, err
	}
	if err := sameRequest(key, earlier); err != nil {
		return nil, err
	}
	return replay(ctx, earlier)
}

var errStopping = errors.New("the service is stopping")

// run runs an action, which outlives its caller, because it cannot be undone.
func run(in *input, key *bridge.SendKey, a action) (any, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(in.ctx()), cmp.Or(a.timeout, in.sendTimeout))
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(in.Lifetime, func() { stop(errStopping) })()
	answer, err := a.do(ctx, key)
	switch {
	case err == nil:
		return answer, nil
	case errors.Is(err, context.Canceled) && errors.Is(context.Cause(ctx), errStopping):
		// The cause as text: context.Canceled would look like a caller that hung up.
		return nil, bridge.NotConnected("the service is stopping and the %s was not confirmed; when it is back, %s", a.noun, a.remedy).
			Because(errors.New(err.Error()))
	case bridge.CodeOf(err) == bridge.CodeSendTimeout, ctx.Err() != nil && bridge.CodeOf(err) == bridge.CodeInternal:
		timeout := bridge.Fail(bridge.CodeSendTimeout, "the network did not confirm the %s in time, and it %s; %s", a.noun, a.outcome, a.remedy).
			Because(err)
		var e *bridge.Error
		if errors.As(err, &e) {
			timeout.Changed = e.Changed
		}
		return nil, timeout
	}
	return nil, err
}

// sendKey returns the Idempotency-Key of a request, bound to body and path; nil without one.
func sendKey(in *input, body []byte) *bridge.SendKey {
	values := in.r.Header.Values("Idempotency-Key")
	if len(values) == 0 {
		return nil
	}
	if len(values) > 1 || !isKey(values[0]) {
		in.refuse("Idempotency-Key must be given once, with 1 to %d visible ASCII characters", maxKey)
		return nil
	}
	at := chi.RouteContext(in.ctx())
	route := in.r.Method + " " + at.RoutePattern()
	hash := sha256.New()
	hash.Write([]byte(route + "\n"))
	for i, name := range at.URLParams.Keys {
		if name != "*" {
			// Several escaped forms of a path name the same thing.
			value := at.URLParams.Values[i]
			plain, _ := url.PathUnescape(value)
			fmt.Fprintf(hash, "%s=%q\n", name, cmp.Or(plain, value))
		}
	}
	hash.Write(body)
	return &bridge.SendKey{Key: ownKey(in.ctx(), values[0]), Route: route, BodyHash: hash.Sum(nil), At: bridge.At(in.Now())}
}

// ownKey prefixes a key with the id of the caller. Keys of requests have no spaces.
func ownKey(ctx context.Context, key string) string {
	if id := callers.Of(ctx).ID; id != 0 {
		return fmt.Sprintf("token %d %s", id, key)
	}
	return key
}

func isKey(s string) bool {
	return s != "" && len(s) <= maxKey && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
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

// claim reserves a key for one call, and refuses it while another call has it.
func (s *server) claim(key bridge.SendKey) error {
	other, taken := s.keys.LoadOrStore(key.Key, key)
	if !taken {
		return nil
	}
	if err := sameRequest(key, other.(bridge.SendKey)); err != nil {
		return err
	}
	return &bridge.Error{
		Code:       bridge.CodeRequestInProgress,
		Msg:        "a call with this Idempotency-Key is still in progress; repeat it for its answer",
		RetryAfter: time.Second,
	}
}

// keyedRequest is a change at the network that is not a message. Unlike a message it has no id by
// which the apps recognise a repeat, and no row. The data that a repeat needs is stored with its
// key.
type keyedRequest struct {
	chat bridge.JID // the stored chat that it changes; "" if none
	// plan returns the state before the call, for a repeat after an unknown outcome; may be nil.
	plan func(ctx context.Context) (any, error)
	// act makes the change and returns the answer. With again it may find the change made.
	act func(ctx context.Context, c attempt) (any, error)
}

// attempt is one attempt of a call.
type attempt struct {
	bridge.KeyedRequest
	again bool // an earlier attempt with the same key ended without an answer
}

// requestOnce makes a change, unless its key shows that an earlier call did. It stores the key and
// the plan before anything is sent, and the outcome afterwards. A repeat gets the stored answer; it
// acts again if the earlier call was refused or has no answer.
func requestOnce(in *input, body []byte, c keyedRequest) (any, error) {
	key := sendKey(in, body)
	remedy := "look whether it was before you repeat the call, and send an Idempotency-Key next time, which makes repeating safe"
	if key != nil {
		remedy = "repeat the call with the same Idempotency-Key"
	}
	b := attempt{KeyedRequest: bridge.KeyedRequest{ID: bridge.NewMessageID()}}
	return once(in, key, action{
		chat: c.chat,
		noun: "change", outcome: "may have been made", remedy: remedy,
		replay: func(ctx context.Context, earlier bridge.SendKey) (any, error) {
			stored, err := in.Store.KeyedRequest(ctx, earlier.MsgID)
			if err != nil {
				return nil, err
			}
			if stored.Answer != nil {
				return json.RawMessage(stored.Answer), nil
			}
			b = attempt{KeyedRequest: stored, again: !stored.Refused}
			return nil, nil
		},
		lookUp: func(ctx context.Context) error {
			if c.chat == "" {
				return nil
			}
			_, err := in.chat(ctx, c.chat)
			return err
		},
		do: func(ctx context.Context, key *bridge.SendKey) (any, error) { return in.beginRequest(ctx, key, b, c) },
	})
}

// beginRequest stores the key of a call, acts and stores the answer.
func (s *server) beginRequest(ctx context.Context, key *bridge.SendKey, b attempt, c keyedRequest) (answer any, err error) {
	if key != nil && !b.again {
		var before any
		if c.plan != nil {
			if before, err = c.plan(ctx); err != nil {
				return nil, err
			}
		}
		if b.Plan, err = bridge.EncodeJSON(before); err != nil {
			return nil, err
		}
		key.Chat, key.MsgID, b.Refused = c.chat, b.ID, false
		if err := s.Store.Save(ctx, *key, b.KeyedRequest); err != nil {
			return nil, err
		}
	}
	answer, err = c.act(ctx, b)
	if key == nil || err != nil && !isRefusal(err) {
		return answer, err
	}
	if b.Refused = err != nil; !b.Refused {
		if b.Answer, err = bridge.EncodeJSON(answer); err != nil {
			return nil, err
		}
	}
	// The caller gets the outcome even if it cannot be stored; a repeat would act again.
	if err := s.Store.Save(ctx, b.KeyedRequest); err != nil {
		s.Log.Error().Err(err).Msg("cannot store the outcome of a change")
	}
	return answer, err
}

// isRefusal reports whether a call that failed is known to have made no change.
func isRefusal(err error) bool {
	switch bridge.CodeOf(err) {
	case bridge.CodeSendTimeout, bridge.CodeNotConnected, bridge.CodeInternal, bridge.CodeStorageUnavailable:
		return false
	}
	return true
}
