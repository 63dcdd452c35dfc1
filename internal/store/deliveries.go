package store

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"bridged/internal/bridge"
)

// The states of deliveries as they are numbered in the column status. The
// numbers are written into queries: SQLite uses the index of pending
// deliveries only with the number itself.
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

func stateNumber(state bridge.DeliveryState) int {
	for i, known := range deliveryStates {
		if state == known {
			return i
		}
	}
	return -1
}

// keptDeliveries is how many of the events that were delivered a webhook
// remembers.
const keptDeliveries = 200

const deliveryColumns = `d.id, d.webhook, d.event, d.event_at, d.type, d.chat, d.status, d.attempts,
	d.first_at, d.last_at, d.next_at, d.response, d.error, d.chat_id, d.tried_ms`

func (s *Store) scanDelivery(scan func(...any) error) (bridge.WebhookDelivery, error) {
	var d bridge.WebhookDelivery
	var eventAt, tried int64
	var status int
	var first, last, next, response sql.NullInt64
	var lastError sql.NullString
	err := scan(&d.ID, &d.WebhookID, &d.EventID, &eventAt, &d.EventType, &d.ChatJID, &status, &d.Attempts,
		&first, &last, &next, &response, &lastError, &d.Queue, &tried)
	if err != nil {
		return d, err
	}
	d.EventAt, d.ChatJID, d.Status = bridge.Millis(eventAt), s.Canonical(d.ChatJID), deliveryStates[status]
	d.Tried = time.Duration(tried) * time.Millisecond
	d.FirstAttemptAt, d.LastAttemptAt, d.NextAttemptAt = timeOf(first), timeOf(last), timeOf(next)
	if response.Valid {
		answered := int(response.Int64)
		d.ResponseStatus = &answered
	}
	if lastError.Valid {
		d.LastError = &lastError.String
	}
	return d, nil
}

func (s *Store) listDeliveries(ctx context.Context, query string, args ...any) ([]bridge.WebhookDelivery, error) {
	list := []bridge.WebhookDelivery{}
	err := s.read(ctx, func(r *readTx) (err error) {
		list, err = r.deliveries(ctx, query, args...)
		return err
	})
	return list, err
}

func (r *readTx) deliveries(ctx context.Context, query string, args ...any) ([]bridge.WebhookDelivery, error) {
	list := []bridge.WebhookDelivery{}
	err := r.each(ctx, query, args, func(rows *resultSet) error {
		d, err := r.s.scanDelivery(rows.Scan)
		list = append(list, d)
		return err
	})
	return list, err
}

// DeliveryProgress is how far a webhook has come: all events up to Cursor were
// looked at (where it is not negative), Deliveries went as they say, and the
// events of Dropped are not to be delivered.
type DeliveryProgress struct {
	Cursor     int64
	Deliveries []bridge.WebhookDelivery
	Dropped    []int64
}

// SaveDeliveries keeps the progress of a webhook in one transaction. It fails
// with [bridge.CodeNotFound] when the webhook is gone.
func (s *Store) SaveDeliveries(ctx context.Context, webhook int64, p DeliveryProgress) error {
	err := s.write(ctx, func(ctx context.Context, t *writeTx) error {
		changed, err := t.change(ctx, "UPDATE webhooks SET cursor = iif(?1 < 0, cursor, ?1) WHERE id = ?2", p.Cursor, webhook)
		if err != nil {
			return err
		}
		if changed == 0 {
			return bridge.NotFound("there is no webhook %d", webhook)
		}
		for _, d := range p.Deliveries {
			if err := t.saveDelivery(ctx, webhook, d); err != nil {
				return err
			}
		}
		for _, event := range p.Dropped {
			if err := t.run(ctx, "DELETE FROM deliveries WHERE webhook = ? AND event = ?", webhook, event); err != nil {
				return err
			}
		}
		if err := t.showTries(ctx, webhook, p.Deliveries); err != nil {
			return err
		}
		return t.forgetDelivered(ctx, webhook)
	})
	if err != nil {
		return fmt.Errorf("save deliveries: %w", err)
	}
	return nil
}

// saveDelivery adds or changes a delivery. Its chat is looked up here, in the
// transaction: two chats may have become one since the event was read.
func (t *writeTx) saveDelivery(ctx context.Context, webhook int64, d bridge.WebhookDelivery) error {
	return t.run(ctx, `
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
		webhook, d.EventID, d.EventAt.UnixMilli(), string(d.EventType), stateNumber(d.Status), d.Attempts,
		millisColumn(d.FirstAttemptAt), millisColumn(d.LastAttemptAt), millisColumn(d.NextAttemptAt),
		column(d.ResponseStatus), column(d.LastError), d.Tried.Milliseconds(), bridge.QueueReset, bridge.QueueAccount, string(bridge.EventReset))
}

// showTries enters the last success and the last failure into the webhook.
func (t *writeTx) showTries(ctx context.Context, webhook int64, deliveries []bridge.WebhookDelivery) error {
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
		err := t.run(ctx, "UPDATE webhooks SET last_failed_at = ?, last_error = ? WHERE id = ?",
			failed.LastAttemptAt.UnixMilli(), column(failed.LastError), webhook)
		if err != nil {
			return err
		}
	}
	if delivered == nil {
		return nil
	}
	isLast := failed == nil || !delivered.LastAttemptAt.Before(failed.LastAttemptAt.Time)
	return t.run(ctx, "UPDATE webhooks SET last_delivered_at = ?, last_error = iif(?, NULL, last_error) WHERE id = ?",
		delivered.LastAttemptAt.UnixMilli(), isLast, webhook)
}

var forgetDeliveredQuery = fmt.Sprintf(`
	DELETE FROM deliveries WHERE webhook = ?1 AND status = %[1]d AND id <=
		(SELECT id FROM deliveries WHERE webhook = ?1 AND status = %[1]d ORDER BY id DESC LIMIT 1 OFFSET ?2)`, webhookDelivered)

func (t *writeTx) forgetDelivered(ctx context.Context, webhook int64) error {
	return t.run(ctx, forgetDeliveredQuery, webhook, keptDeliveries)
}

// moveDeliveries gives what is pending for one chat to another, which has
// become one with it, and tells those who have read the queues before.
func (t *writeTx) moveDeliveries(ctx context.Context, from, into int64) error {
	merges, err := readNumber(ctx, t.conn, settingMerges)
	if err != nil {
		return err
	}
	if err := t.setSetting(ctx, settingMerges, strconv.FormatInt(merges+1, 10)); err != nil {
		return err
	}
	return t.run(ctx, fmt.Sprintf("UPDATE deliveries SET chat_id = ? WHERE chat_id = ? AND status = %d", webhookPending), into, from)
}

// PruneDeliveries forgets deliveries of events that are not in the log any
// more, but for those that are pending.
func (s *Store) PruneDeliveries(ctx context.Context) error {
	err := s.write(ctx, func(ctx context.Context, t *writeTx) error {
		pruned, err := readNumber(ctx, t.conn, settingPruned)
		if err != nil {
			return err
		}
		return t.run(ctx, "DELETE FROM deliveries WHERE status != ? AND event <= ?", webhookPending, pruned)
	})
	if err != nil {
		return fmt.Errorf("forget old deliveries: %w", err)
	}
	return nil
}
