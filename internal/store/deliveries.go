package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/store/db"
)

// The states of deliveries in the column status. Queries have the numbers themselves:
// SQLite does not use a partial index for a parameter.
const (
	webhookPending   = 0
	webhookDelivered = 1
	webhookDead      = 2
)

var deliveryStates = [...]bridge.DeliveryState{
	webhookPending:   bridge.WebhookPending,
	webhookDelivered: bridge.WebhookDelivered,
	webhookDead:      bridge.WebhookDead,
}

func stateNumber(state bridge.DeliveryState) int { return slices.Index(deliveryStates[:], state) }

// keptDeliveries is how many successful deliveries of a webhook are kept.
const keptDeliveries = 200

const deliveryColumns = `d.id, d.webhook, d.event, d.event_at, d.type, d.chat, d.status, d.attempts,
	d.first_at, d.last_at, d.next_at, d.response, d.error, d.chat_id, d.tried_ms`

// scanDelivery reads a row of deliveryColumns.
func (s *Store) scanDelivery(row *db.Row) (d bridge.WebhookDelivery) {
	var status int
	var tried int64
	row.Scan(&d.ID, &d.WebhookID, &d.EventID, &d.EventAt, &d.EventType, &d.ChatJID, &status, &d.Attempts,
		&d.FirstAttemptAt, &d.LastAttemptAt, &d.NextAttemptAt, &d.ResponseStatus, &d.LastError, &d.Queue, &tried)
	d.ChatJID, d.Status, d.Tried = s.Canonical(d.ChatJID), deliveryStates[status], time.Duration(tried)*time.Millisecond
	return d
}

// Delivery returns one delivery of a webhook: [bridge.CodeNotFound] when it is not
// kept.
func (s *Store) Delivery(ctx context.Context, webhook, id int64) (bridge.WebhookDelivery, error) {
	return readAs(ctx, s, "read a delivery", func(r *readTx) (d bridge.WebhookDelivery) {
		for row := range r.Rows("SELECT "+deliveryColumns+" FROM deliveries d WHERE d.webhook = ? AND d.id = ?", webhook, id) {
			return s.scanDelivery(row)
		}
		r.Fail(bridge.NotFound("there is no delivery %d of webhook %d; only the last %d that went well are kept", id, webhook, keptDeliveries))
		return d
	})
}

// Deliveries lists a webhook's deliveries, the newest first:
// [bridge.CodeNotFound] when there is no such webhook.
func (s *Store) Deliveries(ctx context.Context, q bridge.DeliveryQuery) (bridge.Page[bridge.WebhookDelivery], error) {
	return readAs(ctx, s, "list deliveries", func(r *readTx) bridge.Page[bridge.WebhookDelivery] {
		findWebhook(r.Conn, q.Webhook)
		query, args := r.deliveriesQuery(q)
		return pageOf(r, listDeliveries, limitOf(q.Limit), query, args, func(row *db.Row) (bridge.WebhookDelivery, []any) {
			d := s.scanDelivery(row)
			return d, []any{d.ID}
		})
	})
}

func (r *readTx) deliveriesQuery(q bridge.DeliveryQuery) (string, []any) {
	var f db.Filter
	f.Add("d.webhook = ?", q.Webhook)
	if q.Status != "" {
		f.Add("d.status = ?", stateNumber(q.Status))
	}
	var before int64
	if r.after(listDeliveries, q.Cursor, &before) {
		f.Add("d.id < ?", before)
	}
	return "SELECT " + deliveryColumns + " FROM deliveries d WHERE " + f.Where() + " ORDER BY d.id DESC" + db.Limited,
		append(f.Args, limitOf(q.Limit)+1)
}

// DeliveryProgress is how far a webhook has come.
type DeliveryProgress struct {
	Cursor     int64 // up to which event the log was looked at; negative for no change
	Deliveries []bridge.WebhookDelivery
	Dropped    []int64 // events that are not to be delivered
}

// SaveDeliveries keeps the progress of a webhook in one transaction. It fails
// with [bridge.CodeNotFound] when the webhook is gone.
func (s *Store) SaveDeliveries(ctx context.Context, webhook int64, p DeliveryProgress) error {
	return s.writeAs(ctx, "save deliveries", func(t *writeTx) {
		if t.Change("UPDATE webhooks SET cursor = iif(?1 < 0, cursor, ?1) WHERE id = ?2", p.Cursor, webhook) == 0 {
			t.Fail(noWebhook(webhook))
		}
		for _, d := range p.Deliveries {
			t.saveDelivery(webhook, d)
		}
		for _, event := range p.Dropped {
			t.Run("DELETE FROM deliveries WHERE webhook = ? AND event = ?", webhook, event)
		}
		t.showTries(webhook, p.Deliveries)
		t.Run(forgetDeliveredQuery, webhook, keptDeliveries)
	})
}

var forgetDeliveredQuery = fmt.Sprintf(`
	DELETE FROM deliveries WHERE webhook = ?1 AND status = %[1]d AND id <=
		(SELECT id FROM deliveries WHERE webhook = ?1 AND status = %[1]d ORDER BY id DESC LIMIT 1 OFFSET ?2)`, webhookDelivered)

// saveDelivery adds or changes a delivery. It looks the chat up anew: two chats may have
// become one since the event was read.
func (t *writeTx) saveDelivery(webhook int64, d bridge.WebhookDelivery) {
	t.Run(`
		INSERT INTO deliveries (webhook, event, event_at, type, chat, chat_id, status, attempts, first_at, last_at, next_at, response, error, tried_ms)
		SELECT ?1, ?2, ?3, ?4, ifnull(c.jid, ''), iif(?4 = ?15, ?13, ifnull(c.id, ?14)), ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12
		FROM (SELECT 1)
			LEFT JOIN events e ON e.id = ?2 AND ?4 != ?15
			LEFT JOIN messages m ON m.seq = e.message
			LEFT JOIN chats c ON c.id = ifnull(m.chat, e.chat)
		WHERE true
		ON CONFLICT (webhook, event) DO UPDATE SET status = excluded.status, attempts = excluded.attempts,
			first_at = excluded.first_at, last_at = excluded.last_at, next_at = excluded.next_at,
			response = excluded.response, error = excluded.error, tried_ms = excluded.tried_ms`,
		webhook, d.EventID, d.EventAt.UnixMilli(), d.EventType, stateNumber(d.Status), d.Attempts, d.FirstAttemptAt, d.LastAttemptAt, d.NextAttemptAt,
		d.ResponseStatus, d.LastError, d.Tried.Milliseconds(), bridge.QueueReset, bridge.QueueAccount, bridge.EventReset)
}

// showTries keeps the last success and the last failure with the webhook.
func (t *writeTx) showTries(webhook int64, deliveries []bridge.WebhookDelivery) {
	var delivered, failed *bridge.WebhookDelivery
	for i := range deliveries {
		d := &deliveries[i]
		switch {
		case d.LastAttemptAt == nil:
		case d.Status == bridge.WebhookDelivered && (delivered == nil || !d.LastAttemptAt.Before(delivered.LastAttemptAt.Time)):
			delivered = d
		case d.Status != bridge.WebhookDelivered && (failed == nil || !d.LastAttemptAt.Before(failed.LastAttemptAt.Time)):
			failed = d
		}
	}
	if failed != nil {
		t.Run("UPDATE webhooks SET last_failed_at = ?, last_error = ? WHERE id = ?", failed.LastAttemptAt, failed.LastError, webhook)
	}
	if delivered != nil {
		isLast := failed == nil || !delivered.LastAttemptAt.Before(failed.LastAttemptAt.Time)
		t.Run("UPDATE webhooks SET last_delivered_at = ?, last_error = iif(?, NULL, last_error) WHERE id = ?", delivered.LastAttemptAt, isLast, webhook)
	}
}

// moveDeliveries moves pending deliveries to the chat that theirs was merged into, and
// counts the merge for those who have read the queues before.
func (t *writeTx) moveDeliveries(from, into int64) {
	t.setSetting(settingMerges, strconv.FormatInt(readNumber(t.Conn, settingMerges)+1, 10))
	t.Run(fmt.Sprintf("UPDATE deliveries SET chat_id = ? WHERE chat_id = ? AND status = %d", webhookPending), into, from)
}

// PruneDeliveries forgets deliveries of events that were removed from the log, except
// pending ones.
func (s *Store) PruneDeliveries(ctx context.Context) error {
	return s.writeAs(ctx, "forget old deliveries", func(t *writeTx) {
		t.Run("DELETE FROM deliveries WHERE status != ? AND event <= ?", webhookPending, readNumber(t.Conn, settingPruned))
	})
}
