package api

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"bridged/internal/bridge"
)

// keyedRequest is a change at the network that is no message. It has neither an id that
// the apps show once, nor a row that a repeat finds: what a repeated call needs
// is kept beside its key.
type keyedRequest struct {
	chat bridge.JID // that it changes, which must be stored; "" for none
	// plan returns how things are before the call, for a repeat after an unknown
	// outcome; nil keeps nothing.
	plan func(ctx context.Context) (any, error)
	// act makes the change, or finds it made where again, and returns the answer.
	act func(ctx context.Context, c attempt) (any, error)
}

// attempt is one try of a call.
type attempt struct {
	bridge.KeyedRequest
	again bool // an earlier one with the same key ended without an answer
}

// requestOnce makes a change, unless its key says that an earlier call did. The
// order of refusals is that of [server.sendOnce]. Key and plan are stored before
// anything leaves, the outcome when it is known: a repeat is then answered from the
// store. A repeat of a call that was refused, or has no answer, acts again.
func (s *server) requestOnce(w http.ResponseWriter, r *http.Request, body []byte, c keyedRequest) error {
	key, err := s.sendKey(r, body)
	if err != nil {
		return err
	}
	if c.chat != "" {
		if err := s.see(r.Context(), c.chat); err != nil {
			return err
		}
	}
	b := attempt{KeyedRequest: bridge.KeyedRequest{ID: newRequestID()}}
	if key != nil {
		if err := s.keys.claim(*key); err != nil {
			return err
		}
		defer s.keys.release(*key)
		if b, err = s.earlierRequest(r.Context(), *key, b); err != nil {
			return err
		}
		if b.Answer != nil {
			w.Header().Set("Idempotency-Replayed", "true")
			return s.answer(w, r, json.RawMessage(b.Answer))
		}
	}
	if c.chat != "" {
		if _, err := s.chat(r.Context(), c.chat); err != nil {
			return err
		}
	}
	if err := s.account.Ready(); err != nil {
		return err
	}
	return s.finishRequest(w, r, func(ctx context.Context) (any, error) { return s.beginRequest(ctx, key, b, c) })
}

// newRequestID returns a new id, in the form of those of messages.
func newRequestID() string {
	var random [9]byte
	_, _ = rand.Read(random[:]) // never fails
	return "3EB0" + strings.ToUpper(hex.EncodeToString(random[:]))
}

// earlierRequest returns the call that a key is bound to, or fresh.
func (s *server) earlierRequest(ctx context.Context, key bridge.SendKey, fresh attempt) (attempt, error) {
	earlier, found, err := s.earlier(ctx, key)
	if err != nil || !found {
		return fresh, err
	}
	stored, err := s.store.KeyedRequest(ctx, earlier.MsgID)
	return attempt{KeyedRequest: stored, again: !stored.Refused}, err
}

// beginRequest stores the key of a call, acts and stores the answer.
func (s *server) beginRequest(ctx context.Context, key *bridge.SendKey, b attempt, c keyedRequest) (any, error) {
	if key != nil && !b.again {
		if err := s.saveRequest(ctx, *key, &b, c); err != nil {
			return nil, err
		}
	}
	answer, err := c.act(ctx, b)
	if key == nil || err != nil && !isRefusal(err) {
		return answer, err
	}
	if b.Refused = err != nil; !b.Refused {
		if b.Answer, err = bridge.EncodeJSON(answer); err != nil {
			return nil, err
		}
	}
	// The outcome is known: a store that fails now leaves it to a repeat.
	if err := s.store.Save(ctx, b.KeyedRequest); err != nil {
		s.log.Error().Err(err).Msg("the outcome of a change was not stored")
	}
	return answer, err
}

// isRefusal reports whether a call is known to have changed nothing more.
func isRefusal(err error) bool {
	switch bridge.CodeOf(err) {
	case bridge.CodeSendTimeout, bridge.CodeNotConnected, bridge.CodeInternal, bridge.CodeStorageUnavailable:
		return false
	}
	return true
}

func (s *server) saveRequest(ctx context.Context, key bridge.SendKey, b *attempt, c keyedRequest) (err error) {
	var before any
	if c.plan != nil {
		if before, err = c.plan(ctx); err != nil {
			return err
		}
	}
	if b.Plan, err = bridge.EncodeJSON(before); err != nil {
		return err
	}
	b.Refused = false
	key.Chat, key.MsgID = c.chat, b.ID
	return s.store.Save(ctx, key, b.KeyedRequest)
}

// finishRequest runs a call in a context of its own, as [server.finish] does a send.
func (s *server) finishRequest(w http.ResponseWriter, r *http.Request, run func(context.Context) (any, error)) error {
	ctx, cancel := s.sendContext(r)
	defer cancel()
	answer, err := run(ctx)
	switch {
	case err == nil:
		return s.answer(w, r, answer)
	case errors.Is(err, context.Canceled):
		// The cause without its identity, as in finish.
		return bridge.NotConnected("the service is stopping and the change was not confirmed; when it is back, %s", remedyOfRequest(r)).
			Because(errors.New(err.Error()))
	case bridge.CodeOf(err) == bridge.CodeSendTimeout:
		return unconfirmed(r, err)
	case ctx.Err() != nil && bridge.CodeOf(err) == bridge.CodeInternal:
		return unconfirmed(r, err)
	}
	return err
}

// unconfirmed returns the error of a call that may have made its change. What
// was changed before it is told.
func unconfirmed(r *http.Request, cause error) error {
	told := bridge.Fail(bridge.CodeSendTimeout, "the network did not confirm the change in time, and it may have been made; %s", remedyOfRequest(r)).
		Because(cause)
	var e *bridge.Error
	if errors.As(cause, &e) {
		told.Changed = e.Changed
	}
	return told
}

// remedyOfRequest returns what to do where nobody knows whether a change was made.
func remedyOfRequest(r *http.Request) string {
	if r.Header.Get("Idempotency-Key") != "" {
		return "repeat the call with the same Idempotency-Key"
	}
	return "look whether it was before you repeat the call, and send an Idempotency-Key next time, which makes repeating safe"
}
