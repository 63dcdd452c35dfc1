package api

import (
	"context"
	"net/http"

	"bridged/internal/bridge"
)

// act is something that others see of a chat beside its messages: it is read, the
// account types. It has no row, but its key is kept as that of a send.
type act struct {
	chat   bridge.JID                                     // empty where looking up finds it
	lookUp func(ctx context.Context) error                // finds what the call names
	do     func(ctx context.Context) (bridge.Sent, error) // what its key is bound to
	answer func(bridge.Sent) any
}

// actOnce does something, unless its key says that an earlier call did. The order of
// refusals is that of sends. The key is kept once it is done: until then a
// repeated call does it again, which others see once.
func (s *server) actOnce(w http.ResponseWriter, r *http.Request, body []byte, a act) error {
	key, err := s.sendKey(r, body)
	if err != nil {
		return err
	}
	if a.chat != "" {
		if err := s.see(r.Context(), a.chat); err != nil {
			return err
		}
	}
	if key != nil {
		if err := s.keys.claim(*key); err != nil {
			return err
		}
		defer s.keys.release(*key)
		earlier, found, err := s.earlier(r.Context(), *key)
		if err != nil {
			return err
		}
		if found {
			w.Header().Set("Idempotency-Replayed", "true")
			return s.answer(w, r, a.answer(bridge.Sent{ID: earlier.MsgID, Chat: earlier.Chat, Timestamp: earlier.TakenAt}))
		}
	}
	if err := a.lookUp(r.Context()); err != nil {
		return err
	}
	if err := s.account.Ready(); err != nil {
		return err
	}
	done, err := s.run(r, "repeat the call: nobody is told twice", func(ctx context.Context) (bridge.Sent, error) {
		done, err := a.do(ctx)
		if err == nil && key != nil {
			key.Chat, key.MsgID, key.TakenAt = done.Chat, done.ID, done.Timestamp
			err = s.store.Save(ctx, *key)
		}
		return done, err
	})
	if err != nil {
		return err
	}
	return s.answer(w, r, a.answer(done))
}

// markRead marks a chat as read up to a message, or all of it, which those who wrote
// in it are shown.
func (s *server) markRead(w http.ResponseWriter, r *http.Request) error {
	jid, err := pathChat(r, "jid")
	if err != nil {
		return err
	}
	req := struct {
		MsgID *string `json:"msgId"`
	}{}
	body, err := s.bodies.decodeStrictOptional(w, r, &req)
	if err != nil {
		return err
	}
	var chat bridge.Chat
	upTo, last := "", ""
	if req.MsgID != nil {
		// Ticks cannot be taken back: a script whose variable is empty means one message.
		if upTo = *req.MsgID; upTo == "" {
			return bridge.Invalid("msgId is empty: give the id of a message, or leave it out to read the whole chat")
		}
	}
	return s.actOnce(w, r, body, act{
		chat: jid,
		lookUp: func(ctx context.Context) (err error) {
			if chat, err = s.chat(ctx, jid); err != nil {
				return err
			}
			if upTo == "" {
				if chat.LastMessage != nil {
					last = chat.LastMessage.ID
				}
				return nil
			}
			m, err := s.message(ctx, jid, upTo)
			upTo, last = m.ID, m.ID
			return err
		},
		do: func(ctx context.Context) (bridge.Sent, error) {
			return bridge.Sent{ID: last, Chat: chat.JID, Timestamp: bridge.At(s.now())}, s.account.MarkRead(ctx, chat, upTo)
		},
		answer: func(done bridge.Sent) any {
			return struct {
				OK      bool       `json:"ok"`
				ChatJID bridge.JID `json:"chatJid"`
				MsgID   *string    `json:"msgId"`
			}{true, s.canonical(done.Chat), orNull(done.ID)}
		},
	})
}

// orNull returns a text, or nil for an empty one.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// showTyping shows the account as typing in a chat, for a while.
func (s *server) showTyping(w http.ResponseWriter, r *http.Request) error {
	jid, err := pathChat(r, "jid")
	if err != nil {
		return err
	}
	req := struct {
		State bridge.TypingState `json:"state"`
	}{}
	body, err := s.bodies.decodeStrict(w, r, &req)
	if err != nil {
		return err
	}
	switch req.State {
	case bridge.TypingText, bridge.TypingVoice, bridge.TypingPaused:
	default:
		return bridge.Invalid("state must be %s, %s or %s", bridge.TypingText, bridge.TypingVoice, bridge.TypingPaused)
	}
	var chat bridge.Chat
	return s.actOnce(w, r, body, act{
		chat: jid,
		lookUp: func(ctx context.Context) (err error) {
			chat, err = s.chat(ctx, jid)
			return err
		},
		do: func(ctx context.Context) (bridge.Sent, error) {
			until, err := s.account.Type(ctx, chat.JID, req.State)
			return bridge.Sent{Chat: chat.JID, Timestamp: until}, err
		},
		answer: func(done bridge.Sent) any {
			var until *bridge.Time
			if !done.Timestamp.IsZero() {
				until = &done.Timestamp
			}
			return struct {
				OK      bool               `json:"ok"`
				ChatJID bridge.JID         `json:"chatJid"`
				State   bridge.TypingState `json:"state"`
				Until   *bridge.Time       `json:"until"`
			}{true, s.canonical(done.Chat), req.State, until}
		},
	})
}
