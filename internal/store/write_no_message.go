package store

import (
	"context"
	"database/sql"
	"encoding/json"

	"bridged/internal/bridge"
)

// noMessage is what the log keeps of a placeholder that was none: its row is gone.
type noMessage struct {
	ID        string `json:"id"`
	Sender    int64  `json:"sender"` // a person
	FromMe    bool   `json:"fromMe"`
	Timestamp int64  `json:"timestamp"` // in milliseconds, as below
	RemovedAt int64  `json:"removedAt"`
}

// saveNoMessage removes the placeholder of what proves to be no message, and tells of
// it as deleted.
func (t *writeTx) saveNoMessage(ctx context.Context, f bridge.NoMessage) error {
	m, found, err := t.findMessage(ctx, f.Chat, f.ID)
	if err != nil || !found || !m.isPlaceholder() || m.isAlias || m.fromMe != f.FromMe {
		return err
	}
	sender, err := t.ensurePerson(ctx, f.Sender)
	if err != nil || !t.couldBeOne(m.sender, sender) {
		return err
	}
	if err := t.removeMessage(ctx, m.seq); err != nil {
		return err
	}
	data, err := json.Marshal(noMessage{ID: f.ID, Sender: m.sender, FromMe: m.fromMe, Timestamp: m.timestamp, RemovedAt: t.at})
	if err != nil {
		return err
	}
	return t.appendEntry(ctx, entryKey{event: eventMessageUpdated, chat: m.chat, data: string(data)})
}

// removedMessage returns a message of an event that has no row any more.
func (r *readTx) removedMessage(ctx context.Context, e entry) (*bridge.Message, error) {
	var kept noMessage
	if e.data == "" {
		return nil, sql.ErrNoRows
	}
	if err := json.Unmarshal([]byte(e.data), &kept); err != nil {
		return nil, err
	}
	var chat bridge.JID
	if err := r.scan(ctx, "SELECT jid FROM chats WHERE id = ?", []any{e.chat}, &chat); err != nil {
		return nil, err
	}
	p, removed := r.s.people.get(kept.Sender), bridge.Millis(kept.RemovedAt)
	return &bridge.Message{
		Chat: r.s.Canonical(chat), ID: kept.ID, FromMe: kept.FromMe, MessageType: bridge.TypeUndecryptable, Timestamp: bridge.Millis(kept.Timestamp),
		SenderJID: p.jid(), SenderLID: p.lid, SenderUsername: p.usernameOrNil(), PushName: p.pushName(),
		Reactions: []bridge.MessageReaction{}, DeletedAt: &removed,
	}, nil
}
