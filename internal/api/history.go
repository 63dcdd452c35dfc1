package api

import (
	"context"
	"net/http"

	"bridged/internal/bridge"
)

const (
	// usualHistory is how many messages the apps ask the phone for at a time.
	usualHistory = 50
	maxHistory   = 500
)

// requestHistory asks the phone for messages of a chat from before the oldest one
// that is stored. The answer says what was asked; the phone's comes later.
func (s *server) requestHistory(w http.ResponseWriter, r *http.Request) error {
	jid, err := pathChat(r, "jid")
	if err != nil {
		return err
	}
	req := struct {
		Count *int `json:"count"`
	}{}
	if _, err := s.bodies.decodeStrictOptional(w, r, &req); err != nil {
		return err
	}
	count := usualHistory
	if req.Count != nil {
		count = *req.Count
	}
	if count < 1 || count > maxHistory {
		return bridge.Invalid("count must be 1 to %d", maxHistory)
	}
	oldest, err := s.oldestMessage(r.Context(), jid)
	if err != nil {
		return err
	}
	id, err := s.account.AskHistory(r.Context(), oldest, count)
	if err != nil {
		return err
	}
	return s.answer(w, r, struct {
		RequestID string        `json:"requestId"`
		ChatJID   bridge.JID    `json:"chatJid"`
		Count     int           `json:"count"`
		Before    historyAnchor `json:"before"`
	}{id, oldest.Chat, count, historyAnchor{oldest.ID, oldest.Timestamp}})
}

// historyAnchor is the message from before which messages are asked for.
type historyAnchor struct {
	MsgID     string      `json:"msgId"`
	Timestamp bridge.Time `json:"timestamp"`
}

// oldestMessage returns the oldest stored message of a chat, from before which the
// phone can be asked.
func (s *server) oldestMessage(ctx context.Context, jid bridge.JID) (bridge.Message, error) {
	chat, err := s.chat(ctx, jid)
	if err != nil {
		return bridge.Message{}, err
	}
	page, err := s.store.Messages(ctx, bridge.MessageQuery{Chat: chat.JID, Order: bridge.OrderAsc, Limit: 1})
	if err != nil {
		return bridge.Message{}, err
	}
	if len(page.Items) == 0 {
		return bridge.Message{}, bridge.Invalid("the chat has no stored message, from before which the phone could be asked: wait for one, or send one")
	}
	oldest := page.Items[0]
	oldest.Chat = chat.JID
	return oldest, nil
}
