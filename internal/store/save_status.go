package store

import (
	"context"
	"fmt"
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/store/db"
)

// The delivery statuses as they are numbered in the column status.
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

// delivery returns the delivery with a number; one that there is not is damage.
func delivery(status int64) (bridge.Delivery, error) {
	if status < 0 || status >= int64(len(deliveries)) {
		return "", database.Damaged(fmt.Errorf("a message has the status %d", status))
	}
	return deliveries[status], nil
}

// statusOf returns the number of a delivery, -1 for none that we know.
func statusOf(d bridge.Delivery) int64 { return int64(slices.Index(deliveries[:], d)) }

// statusColumn returns null for other people's messages. An own message of which
// nothing is said was typed on the phone, which has sent it.
func statusColumn(m bridge.Message) any {
	if !m.FromMe {
		return nil
	}
	if m.Status == nil || statusOf(*m.Status) < 0 {
		return statusOf(bridge.DeliverySent)
	}
	return statusOf(*m.Status)
}

// advanceStatus moves the status of an own message forward, never back. failed comes
// from pending alone; a receipt after that proves that the message did go out,
// and counts.
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
		t.appendEvent(eventMessageStatus, seq, 0)
	}
}

// advanceMessage moves the status of an own message forward. One that turns out
// to have left proves that the account has read what came before it.
func (t *writeTx) advanceMessage(m target, to bridge.Delivery) {
	t.advanceStatus(m.seq, to)
	hadLeft := m.status != statusPending && m.status != statusFailed
	if hadLeft || to == bridge.DeliveryPending || to == bridge.DeliveryFailed {
		return
	}
	t.readUpTo(m.chat, m.seq)
}

// saveReceipt moves the status of the own messages that it names. In a group the
// first member's receipt counts. The account's own other devices do
// not count as recipients, but in the chat with oneself.
func (t *writeTx) saveReceipt(f bridge.Receipt) {
	p, known := t.people.find(f.From)
	ownDevice := known && p.id == t.people.owner && t.people.canonical(f.Chat) != p.jid()
	if ownDevice {
		return
	}
	for _, id := range f.IDs {
		m, found := t.findMessage(f.Chat, id)
		if !found || !m.fromMe {
			continue
		}
		t.advanceMessage(m, f.Status)
	}
}

// saveSendResult ends a try to send. The network's timestamp is what other
// people's apps order the message by, so it becomes ours.
func (t *writeTx) saveSendResult(f bridge.SendResult) {
	m, found := t.findMessage(f.Chat, f.ID)
	if !found || !m.fromMe {
		return
	}
	if !f.Timestamp.IsZero() && f.Timestamp.UnixMilli() != m.timestamp {
		t.changeTimestamp(m, f.Timestamp.UnixMilli())
	}
	t.advanceMessage(m, f.Status)
}

func (t *writeTx) changeTimestamp(m target, timestamp int64) {
	t.Run("UPDATE messages SET timestamp = ? WHERE seq = ?", timestamp, m.seq)
	t.uncountMessage(m.chat)
	t.countMessage(m.chat, timestamp, 0)
	t.s.index.MarkStale(t.Conn, m.seq)
	t.appendEvent(eventMessageStatus, m.seq, 0)
}

// unfinishedQuery selects own messages that no live key may still send. Only
// with the number itself does SQLite use the index of pending messages.
var unfinishedQuery = fmt.Sprintf(`
	SELECT seq FROM messages WHERE status = %d AND NOT EXISTS
		(SELECT 1 FROM send_keys WHERE send_keys.msg_id = messages.id AND send_keys.at > ?)`, statusPending)

// FailPending is for the start of the program: own messages that were being
// sent when it ended are failed, unless a live Idempotency-Key may still send
// them.
func (s *Store) FailPending(ctx context.Context) error {
	return s.write(ctx, func(t *writeTx) {
		left := db.List[int64](t.Conn, unfinishedQuery,
			t.at-keyLife.Milliseconds())
		for _, seq := range left {
			t.advanceStatus(seq, bridge.DeliveryFailed)
		}
	})
}
