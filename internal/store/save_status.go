package store

import (
	"context"
	"fmt"
	"slices"

	"bridged/internal/store/storefile"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store/settings"
)

// The delivery statuses in the column status.
const (
	statusPending = 0
	statusFailed  = 5
)

var deliveries = [...]bridge.Delivery{
	statusPending: bridge.DeliveryPending,
	1:             bridge.DeliverySent,
	2:             bridge.DeliveryDelivered,
	3:             bridge.DeliveryRead,
	4:             bridge.DeliveryPlayed,
	statusFailed:  bridge.DeliveryFailed,
}

// delivery returns the delivery with a number; an unknown one is damage.
func delivery(status int64) (bridge.Delivery, error) {
	if status < 0 || status >= int64(len(deliveries)) {
		return "", storefile.Database.Damaged(fmt.Errorf("a message has the status %d", status))
	}
	return deliveries[status], nil
}

// statusOf returns the number of a delivery, -1 for none that we know.
func statusOf(d bridge.Delivery) int64 { return int64(slices.Index(deliveries[:], d)) }

// statusColumn returns null for other people's messages. An own one without a status was
// sent by the phone.
func statusColumn(m bridge.Message) any {
	if !m.FromMe {
		return nil
	}
	if m.Status == nil || statusOf(*m.Status) < 0 {
		return statusOf(bridge.DeliverySent)
	}
	return statusOf(*m.Status)
}

// advanceStatus moves the status of an own message forward, never back: to failed only from
// pending, and from failed by a receipt, which proves that the message did go out.
func (t *writeTx) advanceStatus(seq int64, to bridge.Delivery) {
	status := statusOf(to)
	if status <= statusPending {
		return
	}
	condition := "status < ?1 OR status = ?3"
	from := statusFailed
	if status == statusFailed {
		condition, from = "status = ?3", statusPending
	}
	if t.Change("UPDATE messages SET status = ?1 WHERE seq = ?2 AND ("+condition+")", status, seq, from) > 0 {
		t.appendEvent(bridge.EventMessageStatus, seq, 0)
	}
}

// advanceMessage moves the status of an own message forward. One that has left proves that
// the account has read what came before it.
func (t *writeTx) advanceMessage(m target, to bridge.Delivery) {
	t.advanceStatus(m.seq, to)
	hadLeft := m.status != statusPending && m.status != statusFailed
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

// saveSendResult ends a try to send. The network's timestamp becomes the message's: other
// people's apps order it by that.
func (t *writeTx) saveSendResult(f bridge.SendResult) {
	m, found := t.findMessage(f.Chat, f.ID)
	if !found || !m.fromMe {
		return
	}
	if timestamp := millis(f.Timestamp); timestamp != 0 && timestamp != m.timestamp {
		t.Run("UPDATE messages SET timestamp = ? WHERE seq = ?", timestamp, m.seq)
		t.uncountMessage(m.chat)
		t.countMessage(m.chat, timestamp, 0)
		t.s.index.MarkStale(t.Conn, m.seq)
		t.appendEvent(bridge.EventMessageStatus, m.seq, 0)
	}
	t.advanceMessage(m, f.Status)
}

// unfinishedQuery selects pending messages that no live key may still send.
var unfinishedQuery = fmt.Sprintf(`
	SELECT seq FROM messages WHERE status = %d AND NOT EXISTS
		(SELECT 1 FROM send_keys WHERE send_keys.msg_id = messages.id AND send_keys.at > ?)`, statusPending)

// FailPending makes messages failed that were being sent when the program ended, unless a
// live Idempotency-Key may still send them.
func (s *Store) FailPending(ctx context.Context) error {
	return s.write(ctx, func(t *writeTx) {
		for _, seq := range sqlite.List[int64](t.Conn, unfinishedQuery, t.at-settings.KeyLife.Milliseconds()) {
			t.advanceStatus(seq, bridge.DeliveryFailed)
		}
	})
}
