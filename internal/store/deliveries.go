package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"bridged/internal/bridge"
)

// The states of deliveries as they are numbered in the column status.
var deliveryStates = [...]bridge.DeliveryState{
	0: bridge.DeliveryPosting,
	1: bridge.DeliveryDone,
	2: bridge.DeliveryAbandoned,
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
	d.first_at, d.last_at, d.next_at, d.response, d.error`

func (s *Store) scanDelivery(scan func(...any) error) (bridge.WebhookDelivery, error) {
	var d bridge.WebhookDelivery
	var eventAt int64
	var status int
	var first, last, next, response sql.NullInt64
	var lastError sql.NullString
	err := scan(&d.ID, &d.WebhookID, &d.EventID, &eventAt, &d.EventType, &d.ChatJID, &status, &d.Attempts,
		&first, &last, &next, &response, &lastError)
	if err != nil {
		return d, err
	}
	d.EventAt, d.ChatJID, d.Status = bridge.Millis(eventAt), s.Canonical(d.ChatJID), deliveryStates[status]
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
	err := s.read(ctx, func(r *snapshot) error {
		return r.each(ctx, query, args, func(rows *sql.Rows) error {
			d, err := s.scanDelivery(rows.Scan)
			list = append(list, d)
			return err
		})
	})
	return list, err
}

// pendingHeadsQuery walks the index of what is pending; the other columns are
// those of the row with the lowest event.
const pendingHeadsQuery = `
	SELECT d.id, d.webhook, min(d.event), d.event_at, d.type, d.chat, d.status, d.attempts,
		d.first_at, d.last_at, d.next_at, d.response, d.error
	FROM deliveries d WHERE d.webhook = ? AND d.status = 0 GROUP BY d.chat`

// PendingHeads are, for each chat of which something is pending, the delivery
// that is the next in order.
func (s *Store) PendingHeads(ctx context.Context, webhook int64) ([]bridge.WebhookDelivery, error) {
	heads, err := s.listDeliveries(ctx, pendingHeadsQuery, webhook)
	if err != nil {
		return nil, fmt.Errorf("list pending deliveries: %w", err)
	}
	return heads, nil
}

const pendingOfQuery = "SELECT " + deliveryColumns + ` FROM deliveries d
	WHERE d.webhook = ? AND d.status = 0 AND d.chat = (SELECT chat FROM deliveries WHERE id = ?) ORDER BY d.event LIMIT ?`

// PendingOf are the first deliveries that are pending for the chat of one of
// them, in order.
func (s *Store) PendingOf(ctx context.Context, head bridge.WebhookDelivery, limit int) ([]bridge.WebhookDelivery, error) {
	list, err := s.listDeliveries(ctx, pendingOfQuery, head.WebhookID, head.ID, limit)
	if err != nil {
		return nil, fmt.Errorf("list a chat's pending deliveries: %w", err)
	}
	return list, nil
}

// SaveDeliveries keeps how deliveries of a webhook went, and that all events
// up to cursor were looked at (where it is not negative), in one transaction. It answers
// [bridge.CodeNotFound] when the webhook is gone.
func (s *Store) SaveDeliveries(ctx context.Context, webhook, cursor int64, deliveries []bridge.WebhookDelivery) error {
	err := s.write(ctx, func(t *tx) error {
		changed, err := t.change("UPDATE webhooks SET cursor = iif(?1 < 0, cursor, ?1) WHERE id = ?2", cursor, webhook)
		if err != nil {
			return err
		}
		if changed == 0 {
			return bridge.NotFound("there is no webhook %d", webhook)
		}
		for _, d := range deliveries {
			if err := t.saveDelivery(webhook, d); err != nil {
				return err
			}
		}
		return t.forgetDelivered(webhook)
	})
	if err != nil {
		return fmt.Errorf("save deliveries: %w", err)
	}
	return nil
}

func (t *tx) saveDelivery(webhook int64, d bridge.WebhookDelivery) error {
	err := t.run(`
		INSERT INTO deliveries (webhook, event, event_at, type, chat, status, attempts, first_at, last_at, next_at, response, error)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (webhook, event) DO UPDATE SET status = excluded.status, attempts = excluded.attempts,
			first_at = excluded.first_at, last_at = excluded.last_at, next_at = excluded.next_at,
			response = excluded.response, error = excluded.error`,
		webhook, d.EventID, d.EventAt.UnixMilli(), string(d.EventType), string(d.ChatJID), stateNumber(d.Status), d.Attempts,
		millisColumn(d.FirstAttemptAt), millisColumn(d.LastAttemptAt), millisColumn(d.NextAttemptAt),
		column(d.ResponseStatus), column(d.LastError))
	if err != nil || d.LastAttemptAt == nil {
		return err
	}
	if d.Status == bridge.DeliveryDone {
		return t.run("UPDATE webhooks SET last_delivered_at = ?, last_error = NULL WHERE id = ?", d.LastAttemptAt.UnixMilli(), webhook)
	}
	return t.run("UPDATE webhooks SET last_failed_at = ?, last_error = ? WHERE id = ?",
		d.LastAttemptAt.UnixMilli(), column(d.LastError), webhook)
}

const forgetDeliveredQuery = `
	DELETE FROM deliveries WHERE webhook = ?1 AND status = 1 AND id <=
		(SELECT id FROM deliveries WHERE webhook = ?1 AND status = 1 ORDER BY id DESC LIMIT 1 OFFSET ?2)`

func (t *tx) forgetDelivered(webhook int64) error {
	return t.run(forgetDeliveredQuery, webhook, keptDeliveries)
}

// RetryDeliveries makes everything that is pending for a webhook due now.
func (s *Store) RetryDeliveries(ctx context.Context, webhook int64) error {
	err := s.write(ctx, func(t *tx) error {
		return t.run("UPDATE deliveries SET next_at = ? WHERE webhook = ? AND status = 0", t.at, webhook)
	})
	if err != nil {
		return fmt.Errorf("retry deliveries: %w", err)
	}
	return nil
}

// PruneDeliveries forgets deliveries of events that are not in the log any
// more, but for those that are pending.
func (s *Store) PruneDeliveries(ctx context.Context) error {
	err := s.write(ctx, func(t *tx) error {
		pruned, err := readNumber(ctx, t.session, settingPruned)
		if err != nil {
			return err
		}
		return t.run("DELETE FROM deliveries WHERE status != 0 AND event <= ?", pruned)
	})
	if err != nil {
		return fmt.Errorf("forget old deliveries: %w", err)
	}
	return nil
}

// Delivery is one delivery of a webhook: [bridge.CodeNotFound] when it is not
// kept.
func (s *Store) Delivery(ctx context.Context, webhook, id int64) (bridge.WebhookDelivery, error) {
	var d bridge.WebhookDelivery
	err := s.read(ctx, func(r *snapshot) (err error) {
		d, err = s.scanDelivery(func(into ...any) error {
			return r.scan(ctx, "SELECT "+deliveryColumns+" FROM deliveries d WHERE d.webhook = ? AND d.id = ?", []any{webhook, id}, into...)
		})
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return d, bridge.NotFound("there is no delivery %d of webhook %d; only the last %d that went well are kept", id, webhook, keptDeliveries)
	}
	if err != nil {
		return d, fmt.Errorf("read a delivery: %w", err)
	}
	return d, nil
}

// Deliveries lists a webhook's deliveries, the newest first:
// [bridge.CodeNotFound] when there is no such webhook.
func (s *Store) Deliveries(ctx context.Context, q bridge.DeliveryQuery) (bridge.Page[bridge.WebhookDelivery], error) {
	var page bridge.Page[bridge.WebhookDelivery]
	if _, err := s.Webhook(ctx, q.Webhook); err != nil {
		return page, err
	}
	query, args, err := deliveriesQuery(q)
	if err != nil {
		return page, err
	}
	if page.Items, err = s.listDeliveries(ctx, query, args...); err != nil {
		return page, fmt.Errorf("list deliveries: %w", err)
	}
	if limit := limitOf(q.Limit); len(page.Items) > limit {
		page.Items = page.Items[:limit]
		cursor := packCursor("d", strconv.FormatInt(page.Items[limit-1].ID, 36), "")
		page.NextCursor = &cursor
	}
	return page, nil
}

func deliveriesQuery(q bridge.DeliveryQuery) (string, []any, error) {
	where, args := "d.webhook = ?", []any{q.Webhook}
	if q.Status != "" {
		where, args = where+" AND d.status = ?", append(args, stateNumber(q.Status))
	}
	if q.Cursor != "" {
		parts, err := unpackCursor(q.Cursor, "d")
		if err != nil {
			return "", nil, err
		}
		before, err := strconv.ParseInt(parts[0], 36, 64)
		if err != nil {
			return "", nil, badCursor()
		}
		where, args = where+" AND d.id < ?", append(args, before)
	}
	return "SELECT " + deliveryColumns + " FROM deliveries d WHERE " + where + " ORDER BY d.id DESC LIMIT ?",
		append(args, limitOf(q.Limit)+1), nil
}
