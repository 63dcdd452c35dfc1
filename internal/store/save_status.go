package store

import (
	"context"
	"fmt"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store/columns"
	"bridged/internal/store/settings"
)

// advanceStatus moves the status of an own message forward, never back: to failed only from
// pending, and from failed by a receipt, which proves that the message did go out.
func (t *writeTx) advanceStatus(seq int64, to bridge.Delivery) {
	status := columns.StatusOf(to)
	if status <= columns.StatusPending {
		return
	}
	condition := "status < ?1 OR status = ?3"
	from := columns.StatusFailed
	if status == columns.StatusFailed {
		condition, from = "status = ?3", columns.StatusPending
	}
	if t.Change("UPDATE messages SET status = ?1 WHERE seq = ?2 AND ("+condition+")", status, seq, from) > 0 {
		t.appendEvent(bridge.EventMessageStatus, seq, 0)
	}
}

// advanceMessage moves the status of an own message forward. A sent message means that the account has
// read the messages before it.
func (t *writeTx) advanceMessage(m target, to bridge.Delivery) {
	t.advanceStatus(m.seq, to)
	hadLeft := m.status != columns.StatusPending && m.status != columns.StatusFailed
	if !hadLeft && to != bridge.DeliveryPending && to != bridge.DeliveryFailed {
		t.readUpTo(m.chat, m.seq)
	}
}

// saveReceipt moves the status of own messages forward. In a group the first member's
// receipt counts. The account's other devices count only in the chat with oneself.
func (t *writeTx) saveReceipt(f bridge.Receipt) {
	p, known := t.People.Find(f.From)
	ownDevice := known && p.ID == t.People.OwnerID() && t.People.Canonical(f.Chat) != p.JID()
	if ownDevice {
		return
	}
	for _, id := range f.IDs {
		if m, found := t.findMessage(f.Chat, id); found && m.fromMe {
			t.advanceMessage(m, f.Status)
		}
	}
}

// saveSendResult stores the result of sending. The message gets the network's timestamp, by which other
// apps sort it.
func (t *writeTx) saveSendResult(f bridge.SendResult) {
	m, found := t.findMessage(f.Chat, f.ID)
	if !found || !m.fromMe {
		return
	}
	if timestamp := millis(f.Timestamp); timestamp != 0 && timestamp != m.timestamp {
		t.Run("UPDATE messages SET timestamp = ? WHERE seq = ?", timestamp, m.seq)
		uncountMessage(t.Conn, m.chat)
		countMessage(t.Conn, m.chat, timestamp, 0)
		t.s.index.MarkStale(t.Conn, m.seq)
		t.appendEvent(bridge.EventMessageStatus, m.seq, 0)
	}
	t.advanceMessage(m, f.Status)
}

// unfinishedQuery selects pending messages that no live key and no schedule may still send.
var unfinishedQuery = fmt.Sprintf(`
	SELECT seq FROM messages WHERE status = %d AND NOT EXISTS
		(SELECT 1 FROM send_keys WHERE send_keys.msg_id = messages.id AND send_keys.at > ?)
		AND NOT EXISTS (SELECT 1 FROM scheduled WHERE scheduled.id = messages.id AND scheduled.status = 'sending')`, columns.StatusPending)

// FailPending makes messages failed that were being sent when the program ended, unless a
// live Idempotency-Key or their schedule may still send them.
func (s *Store) FailPending(ctx context.Context) error {
	return s.write(ctx, func(t *writeTx) {
		for _, seq := range sqlite.List[int64](t.Conn, unfinishedQuery, t.at-settings.KeyLife.Milliseconds()) {
			t.advanceStatus(seq, bridge.DeliveryFailed)
		}
	})
}
