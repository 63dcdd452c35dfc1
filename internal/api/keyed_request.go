package api

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
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

// requestOnce makes a change, unless its key says that an earlier call did, or answers
// the fault that was found in the request. Key and plan are stored before anything
// leaves, the outcome when it is known: a repeat is then answered from the store. A
// repeat of a call that was refused, or has no answer, acts again.
func (s *server) requestOnce(in *input, body []byte, c keyedRequest) (any, error) {
	key := s.sendKey(in, body)
	remedy := "look whether it was before you repeat the call, and send an Idempotency-Key next time, which makes repeating safe"
	if key != nil {
		remedy = "repeat the call with the same Idempotency-Key"
	}
	b := attempt{KeyedRequest: bridge.KeyedRequest{ID: newRequestID()}}
	return s.once(in, key, action{
		chat: c.chat,
		noun: "change", doubt: "may have been made", remedy: remedy,
		replay: func(ctx context.Context, earlier bridge.SendKey) (any, error) {
			stored, err := s.Store.KeyedRequest(ctx, earlier.MsgID)
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
			_, err := s.chat(ctx, c.chat)
			return err
		},
		do: func(ctx context.Context, key *bridge.SendKey) (any, error) { return s.beginRequest(ctx, key, b, c) },
	})
}

// newRequestID returns a new id, in the form of those of messages.
func newRequestID() string {
	var random [9]byte
	_, _ = rand.Read(random[:]) // never fails
	return "3EB0" + strings.ToUpper(hex.EncodeToString(random[:]))
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
	if err := s.Store.Save(ctx, b.KeyedRequest); err != nil {
		s.Log.Error().Err(err).Msg("the outcome of a change was not stored")
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
	return s.Store.Save(ctx, key, b.KeyedRequest)
}
