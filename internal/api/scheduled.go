package api

import (
	"context"

	"bridged/internal/api/album"
	"bridged/internal/api/content"
	"bridged/internal/bridge"
	"bridged/internal/schedule"
)

// sendAt reads the time at which a message is sent; nil for now. Whether it is in the future is checked after the
// Idempotency-Key, because a call may be repeated after its time.
func (q *input) sendAt(value string) *bridge.Time {
	at, err := content.ParseSendAt(value)
	return keep(q, at, err)
}

// scheduleUnder schedules a draft under a key, which may be nil. A repeated call gets the answer of the first
// one, whatever has happened to the message since.
func scheduleUnder(in *input, key *bridge.SendKey, d draft) (any, error) {
	return once(in, key, action{
		chat: d.To, later: true, timeout: d.timeout,
		noun: "message", outcome: "may be scheduled", remedy: "look at GET /api/scheduled before you repeat the call, and use an Idempotency-Key next time",
		replay: func(_ context.Context, earlier bridge.SendKey) (any, error) {
			return in.answerScheduled(bridge.Scheduled{ID: earlier.MsgID, Chat: earlier.Chat, CreatedAt: earlier.At, SendAt: *d.sendAt}, d.items), nil
		},
		lookUp: func(ctx context.Context) error {
			if err := in.Schedule.CheckTime(*d.sendAt, in.caller()); err != nil {
				return err
			}
			if err := in.compose(ctx, &d); err != nil {
				return err
			}
			return in.Schedule.CheckQuota(ctx, in.caller(), 0)
		},
		do: func(ctx context.Context, key *bridge.SendKey) (any, error) {
			cleanup, err := d.prepareFile(ctx, in)
			defer cleanup()
			if err != nil {
				return nil, err
			}
			m, err := in.Schedule.Add(ctx, d.Outgoing, *d.sendAt, d.linked, in.caller(), key)
			return in.answerScheduled(m, d.items), err
		},
	})
}

// answerScheduled returns the answer of a call that has scheduled a message. items is empty for an album, otherwise nil.
func (q *input) answerScheduled(m bridge.Scheduled, items []album.SentItem) any {
	return struct {
		OK        bool             `json:"ok"`
		MsgID     string           `json:"msgId"`
		Timestamp bridge.Time      `json:"timestamp"`
		ChatJID   bridge.JID       `json:"chatJid"`
		Items     []album.SentItem `json:"items,omitzero"`
		SendAt    bridge.Time      `json:"sendAt"`
		Ignored   []string         `json:"ignored,omitempty"`
	}{true, m.ID, m.CreatedAt, q.canonical(m.Chat), items, m.SendAt, q.ignored}
}

func listScheduled(in *input) (any, error) {
	q := bridge.ScheduledQuery{Chat: in.queryChat("chat"), Limit: in.limit(maxPage), Cursor: in.text("cursor"), Only: in.caller().Chats}
	if in.err == nil && q.Chat != "" {
		in.err = in.see(in.ctx(), q.Chat)
	}
	return answerPage(in, "scheduled", q, in.Store.Scheduled)
}

func getScheduled(in *input) (any, error) {
	m, err := in.pathScheduled()
	return m.Shown(), err
}

// pathScheduled returns the scheduled message that the path names, if its chat may be seen.
func (q *input) pathScheduled() (bridge.Scheduled, error) {
	id := q.pathID("msgId")
	if q.err != nil {
		return bridge.Scheduled{}, q.err
	}
	m, err := q.Store.ScheduledMessage(q.ctx(), id)
	if err == nil && q.see(q.ctx(), m.Chat) != nil {
		return bridge.Scheduled{}, bridge.NoScheduled(id)
	}
	return m, err
}

func updateScheduled(in *input) (any, error) {
	var req struct {
		SendAt   *string   `json:"sendAt"`
		Text     *string   `json:"text"`
		Mentions *[]string `json:"mentions"`
	}
	in.body(&req, strict)
	var patch schedule.Patch
	if req.SendAt != nil {
		if patch.SendAt = in.sendAt(*req.SendAt); *req.SendAt == "" {
			in.refuse("sendAt is empty: give a time, or leave it out")
		}
	}
	if req.Text != nil {
		in.checkText(*req.Text)
		patch.Text = req.Text
	}
	if req.Mentions != nil {
		if patch.HasMentions = true; req.Text == nil {
			in.refuse("mentions belong to a text: give both")
		}
		patch.Mentions, patch.Unseen = in.people("mentions", *req.Mentions)
	}
	if req.SendAt == nil && req.Text == nil {
		in.refuse("nothing to change: give sendAt, text or both")
	}
	m, err := in.pathScheduled()
	if err == nil && patch.SendAt != nil {
		err = in.Schedule.CheckTime(*patch.SendAt, in.caller())
	}
	if err != nil {
		return nil, err
	}
	m, err = in.Schedule.Change(in.ctx(), m.ID, patch, in.caller())
	return in.answerScheduled(m, nil), err // without the content, which the token may not be able to read
}

func cancelScheduled(in *input) (any, error) {
	m, err := in.pathScheduled()
	if err == nil {
		m, err = in.Schedule.Cancel(in.ctx(), m.ID)
	}
	return struct {
		OK      bool       `json:"ok"`
		MsgID   string     `json:"msgId"`
		ChatJID bridge.JID `json:"chatJid"`
	}{true, m.ID, m.Chat}, err
}

// sendScheduled sends a scheduled message now. It has its final id, so a repeated call cannot send it twice.
func sendScheduled(in *input) (any, error) {
	id := in.pathID("msgId")
	body := in.body(&struct{}{}, optional)
	return once(in, sendKey(in, body), action{
		noun: "message", outcome: "may still arrive", remedy: "repeat the call: the message has the same id and is shown once",
		replay: func(ctx context.Context, earlier bridge.SendKey) (any, error) {
			if _, err := in.Store.ScheduledMessage(ctx, id); err == nil {
				return nil, nil // it was not sent then
			}
			m, err := in.Store.Message(ctx, earlier.Chat, id)
			return in.answerSent(ctx, bridge.Sent{ID: id, Chat: m.Chat, Timestamp: m.Timestamp}, true), err
		},
		lookUp: func(context.Context) error {
			_, err := in.pathScheduled()
			return err
		},
		do: func(ctx context.Context, key *bridge.SendKey) (any, error) {
			sent, err := in.Schedule.SendNow(ctx, id, in.caller(), key)
			return in.answerSent(ctx, sent, false), err
		},
	})
}

// MaySend returns the token of a scheduled message, or the reason why the message may not be sent: the send
// gate, a token that has ended, or a chat that the token may not see.
func (h *Handler) MaySend(ctx context.Context, m bridge.Scheduled) (bridge.Token, error) {
	if err := h.server.sendGate(); err != nil {
		return bridge.Token{}, err
	}
	if m.Token == 0 {
		return bridge.Token{}, nil
	}
	token, err := h.tokens.ByID(ctx, m.Token)
	switch {
	case err != nil:
		return bridge.Token{}, err
	case token == nil:
		return bridge.Token{}, bridge.Fail(bridge.CodeUnauthorized, "the token that scheduled it has expired or was revoked: send it now with another token, or cancel it")
	case !token.Allows(bridge.ScopeSend):
		return bridge.Token{}, errLacks(bridge.ScopeSend)
	}
	if m.Chat != "" && token.Chats != nil && !h.server.isAmong(m.Chat, token.Chats) {
		return bridge.Token{}, bridge.NoChat(m.Chat)
	}
	return token.Token, nil
}
