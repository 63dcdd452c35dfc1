package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"bridged/internal/bridge"
)

// Delivery returns one delivery of a webhook: [bridge.CodeNotFound] when it is not
// kept.
func (s *Store) Delivery(ctx context.Context, webhook, id int64) (bridge.WebhookDelivery, error) {
	var d bridge.WebhookDelivery
	err := s.read(ctx, func(r *readTx) (err error) {
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
	return "SELECT " + deliveryColumns + " FROM deliveries d WHERE " + where + " ORDER BY d.id DESC" + limited,
		append(args, limitOf(q.Limit)+1), nil
}
