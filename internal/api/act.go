package api

import (
	"context"
	"slices"

	"bridged/internal/bridge"
)

// act is a call that may be made twice without harm: a read receipt, a presence or a change of a chat's settings. Unlike
// a message, it is not stored. Its key is stored after it is done; a call that is repeated before that does it again.
type act struct {
	chat   bridge.JID // empty if lookUp finds it
	lookUp func(ctx context.Context) error
	do     func(ctx context.Context) (bridge.Sent, error) // returns the values stored with its key
	answer func(bridge.Sent) any
	change bool // whether error sentences call it a change instead of a message
}

// actOnce does a, unless its Idempotency-Key shows that an earlier call has done it.
func actOnce(in *input, body []byte, a act) (any, error) {
	noun, outcome := "message", "may still arrive"
	if a.change {
		noun, outcome = "change", "may have been made"
	}
	return once(in, sendKey(in, body), action{
		chat: a.chat, lookUp: a.lookUp,
		noun: noun, outcome: outcome, remedy: "repeat the call: it takes effect once",
		replay: func(_ context.Context, earlier bridge.SendKey) (any, error) {
			return a.answer(bridge.Sent{ID: earlier.MsgID, Chat: earlier.Chat, Timestamp: earlier.TakenAt}), nil
		},
		do: func(ctx context.Context, key *bridge.SendKey) (any, error) {
			done, err := a.do(ctx)
			if err == nil && key != nil {
				key.Chat, key.MsgID, key.TakenAt = done.Chat, done.ID, done.Timestamp
				err = in.Store.Save(ctx, *key)
			}
			return a.answer(done), err
		},
	})
}

// markRead marks a chat as read, up to a message or entirely.
func markRead(in *input) (any, error) {
	jid := in.pathChat("jid")
	var req struct {
		MsgID *string `json:"msgId"`
	}
	body := in.body(&req, optional)
	if req.MsgID != nil && *req.MsgID == "" {
		// A script whose variable is empty means one message, and receipts for all cannot be taken back.
		in.refuse("msgId is empty: give the id of a message, or leave it out to read the whole chat")
	}
	var chat bridge.Chat
	upTo, last := "", ""
	return actOnce(in, body, act{
		chat: jid,
		lookUp: func(ctx context.Context) (err error) {
			if chat, err = in.chat(ctx, jid); err != nil {
				return err
			}
			if req.MsgID != nil {
				m, err := in.message(ctx, jid, *req.MsgID)
				upTo, last = m.ID, m.ID
				return err
			}
			if chat.LastMessage != nil {
				last = chat.LastMessage.ID
			}
			return nil
		},
		do: func(ctx context.Context) (bridge.Sent, error) {
			return bridge.Sent{ID: last, Chat: chat.JID, Timestamp: bridge.At(in.Now())}, in.Account.MarkRead(ctx, chat, upTo)
		},
		answer: func(done bridge.Sent) any {
			return struct {
				OK      bool       `json:"ok"`
				ChatJID bridge.JID `json:"chatJid"`
				MsgID   *string    `json:"msgId"`
			}{true, in.canonical(done.Chat), bridge.OrNil(done.ID)}
		},
	})
}

func showTyping(in *input) (any, error) {
	jid := in.pathChat("jid")
	var req struct {
		State bridge.TypingState `json:"state"`
	}
	body := in.body(&req, strict)
	if !slices.Contains([]bridge.TypingState{bridge.TypingText, bridge.TypingVoice, bridge.TypingPaused}, req.State) {
		in.refuse("state must be %s, %s or %s", bridge.TypingText, bridge.TypingVoice, bridge.TypingPaused)
	}
	var chat bridge.Chat
	return actOnce(in, body, act{
		chat: jid,
		lookUp: func(ctx context.Context) (err error) {
			chat, err = in.chat(ctx, jid)
			return err
		},
		do: func(ctx context.Context) (bridge.Sent, error) {
			until, err := in.Account.Type(ctx, chat.JID, req.State)
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
			}{true, in.canonical(done.Chat), req.State, until}
		},
	})
}

func listCalls(in *input) (any, error) {
	calls := bridge.CallQuery{Chat: in.queryChat("chat"), Since: in.since(), Limit: in.limit(maxPage), Cursor: in.text("cursor"), Only: in.caller().Chats}
	if in.err == nil && calls.Chat != "" {
		in.err = in.see(in.ctx(), calls.Chat)
	}
	return answerPage(in, "calls", calls, in.Store.Calls)
}

func rejectCall(in *input) (any, error) {
	id := in.pathID("id")
	body := in.body(&struct{}{}, optional)
	var call bridge.Call
	return actOnce(in, body, act{
		lookUp: func(ctx context.Context) (err error) {
			if call, err = in.call(ctx, id); err == nil && call.State != bridge.CallRinging {
				err = bridge.Fail(bridge.CodeNotRinging, "the call does not ring any more (state %s): only a call that rings can be rejected", call.State)
			}
			return err
		},
		do: func(ctx context.Context) (bridge.Sent, error) {
			return bridge.Sent{ID: call.ID, Chat: call.ChatJID, Timestamp: bridge.At(in.Now())}, in.Account.RejectCall(ctx, call)
		},
		answer: func(done bridge.Sent) any {
			return struct {
				OK      bool       `json:"ok"`
				ID      string     `json:"id"`
				ChatJID bridge.JID `json:"chatJid"`
			}{true, done.ID, in.canonical(done.Chat)}
		},
	})
}

// call returns a stored call whose chat the token may see.
func (s *server) call(ctx context.Context, id string) (bridge.Call, error) {
	call, err := s.Store.Call(ctx, id)
	if err == nil && s.see(ctx, call.ChatJID) != nil {
		return bridge.Call{}, bridge.NoCall(id)
	}
	return call, err
}
