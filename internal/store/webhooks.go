package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"bridged/internal/bridge"
)

// webhookSettings are the columns that change with the settings alone. What a
// token made shows that token's chats, and nothing once it has expired.
const webhookSettings = `w.id, w.url, w.secret, w.types, w.chat, w.allow_private, w.enabled, w.source, w.cursor, ifnull(w.token, 0),
	(SELECT t.chats FROM tokens t WHERE t.id = w.token), (SELECT t.expires_at FROM tokens t WHERE t.id = w.token)`

var webhookColumns = webhookSettings + fmt.Sprintf(`,
	w.created_at, w.updated_at, w.last_delivered_at, w.last_failed_at, w.last_error,
	(SELECT count(*) FROM deliveries d WHERE d.webhook = w.id AND d.status = %d),
	(SELECT count(*) FROM deliveries d WHERE d.webhook = w.id AND d.status = %d)`, webhookPending, webhookDead)

// Webhooks returns all webhooks, the oldest first.
func (s *Store) Webhooks(ctx context.Context) ([]bridge.Webhook, error) {
	webhooks := []bridge.Webhook{}
	err := s.read(ctx, func(r *readTx) error {
		return r.each(ctx, "SELECT "+webhookColumns+" FROM webhooks w ORDER BY w.id", nil, func(rows *sql.Rows) error {
			w, err := scanWebhook(rows.Scan)
			w.Chat = s.Canonical(w.Chat)
			webhooks = append(webhooks, w)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list webhooks: %w", err)
	}
	return webhooks, nil
}

// Webhook returns one webhook: [bridge.CodeNotFound] when there is none.
func (s *Store) Webhook(ctx context.Context, id int64) (bridge.Webhook, error) {
	var w bridge.Webhook
	err := s.read(ctx, func(r *readTx) (err error) {
		w, err = readWebhook(ctx, r.conn, id)
		return err
	})
	if err != nil {
		return bridge.Webhook{}, fmt.Errorf("read a webhook: %w", err)
	}
	w.Chat = s.Canonical(w.Chat)
	return w, nil
}

func readWebhook(ctx context.Context, q *conn, id int64) (bridge.Webhook, error) {
	w, err := scanWebhook(func(into ...any) error {
		return q.scan(ctx, "SELECT "+webhookColumns+" FROM webhooks w WHERE w.id = ?", []any{id}, into...)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return w, bridge.NotFound("there is no webhook %d", id)
	}
	return w, err
}

// webhook reads what a webhook is set to, without how it does: that counts
// its deliveries.
func (r *readTx) webhook(ctx context.Context, id int64) (bridge.Webhook, error) {
	var row webhookRow
	err := r.scan(ctx, "SELECT "+webhookSettings+" FROM webhooks w WHERE w.id = ?", []any{id}, row.settings()...)
	if errors.Is(err, sql.ErrNoRows) {
		return row.Webhook, bridge.NotFound("there is no webhook %d", id)
	}
	if err != nil {
		return row.Webhook, err
	}
	row.Chat = r.s.Canonical(row.Chat)
	return row.webhook()
}

// webhookRow is a webhook with the columns that need decoding.
type webhookRow struct {
	bridge.Webhook
	types   string
	only    sql.NullString
	expires sql.NullInt64
}

// settings returns where webhookSettings are read into.
func (w *webhookRow) settings() []any {
	return []any{&w.ID, &w.URL, &w.Secret, &w.types, &w.Chat, &w.AllowPrivate, &w.Enabled, &w.Source, &w.Cursor, &w.Token, &w.only, &w.expires}
}

func (w *webhookRow) webhook() (bridge.Webhook, error) {
	w.EndsAt = timeOf(w.expires)
	if w.only.Valid {
		if err := json.Unmarshal([]byte(w.only.String), &w.Only); err != nil {
			return w.Webhook, err
		}
	}
	return w.Webhook, json.Unmarshal([]byte(w.types), &w.Types)
}

// scanWebhook reads webhookColumns.
func scanWebhook(scan func(...any) error) (bridge.Webhook, error) {
	var w webhookRow
	var created, updated int64
	var delivered, failed sql.NullInt64
	var lastError sql.NullString
	err := scan(append(w.settings(), &created, &updated, &delivered, &failed, &lastError, &w.Pending, &w.Dead)...)
	if err != nil {
		return w.Webhook, err
	}
	w.CreatedAt, w.UpdatedAt = bridge.Millis(created), bridge.Millis(updated)
	w.LastDeliveredAt, w.LastFailedAt = timeOf(delivered), timeOf(failed)
	if lastError.Valid {
		w.LastError = &lastError.String
	}
	return w.webhook()
}

// AddWebhook keeps a new webhook. It begins behind w.Cursor, with the next
// event where that is negative, and with the first in the log where it is 0.
func (s *Store) AddWebhook(ctx context.Context, w bridge.Webhook) (bridge.Webhook, error) {
	err := s.write(ctx, func(ctx context.Context, t *writeTx) error {
		var err error
		switch {
		case w.Cursor < 0:
			w.Cursor, err = t.lastEvent(ctx)
		case w.Cursor == 0:
			w.Cursor, err = readNumber(ctx, t.conn, settingPruned)
		}
		if err != nil {
			return err
		}
		types, err := typesColumn(w.Types)
		if err != nil {
			return err
		}
		id, err := t.insert(ctx, `
			INSERT INTO webhooks (url, secret, types, chat, allow_private, enabled, source, cursor, created_at, updated_at, token)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, nullif(?10, 0))`,
			w.URL, w.Secret, types, string(w.Chat), w.AllowPrivate, w.Enabled, string(w.Source), w.Cursor, t.at, w.Token)
		if err != nil {
			return err
		}
		w, err = readWebhook(ctx, t.conn, id)
		return err
	})
	if err != nil {
		return bridge.Webhook{}, fmt.Errorf("keep a webhook: %w", err)
	}
	return w, nil
}

// lastEvent returns the highest number that an event ever had.
func (t *writeTx) lastEvent(ctx context.Context) (int64, error) {
	pruned, err := readNumber(ctx, t.conn, settingPruned)
	if err != nil {
		return 0, err
	}
	var last int64
	_, err = t.find(ctx, "SELECT ifnull(max(id), 0) FROM events", nil, &last)
	return max(last, pruned), err
}

func typesColumn(types []bridge.EventType) (string, error) {
	if types == nil {
		types = []bridge.EventType{}
	}
	column, err := json.Marshal(types)
	return string(column), err
}

// ChangeWebhook changes what change does to a webhook's settings:
// [bridge.CodeNotFound] when there is none. An error of change changes nothing.
func (s *Store) ChangeWebhook(ctx context.Context, id int64, change func(*bridge.Webhook) error) (bridge.Webhook, error) {
	var w bridge.Webhook
	err := s.write(ctx, func(ctx context.Context, t *writeTx) (err error) {
		if w, err = readWebhook(ctx, t.conn, id); err != nil {
			return err
		}
		if err := change(&w); err != nil {
			return err
		}
		types, err := typesColumn(w.Types)
		if err != nil {
			return err
		}
		err = t.run(ctx, `
			UPDATE webhooks SET url = ?, secret = ?, types = ?, chat = ?, allow_private = ?, enabled = ?, updated_at = ?
			WHERE id = ?`,
			w.URL, w.Secret, types, string(w.Chat), w.AllowPrivate, w.Enabled, t.at, id)
		if err != nil {
			return err
		}
		w, err = readWebhook(ctx, t.conn, id)
		return err
	})
	if err != nil {
		return bridge.Webhook{}, fmt.Errorf("change a webhook: %w", err)
	}
	w.Chat = s.Canonical(w.Chat)
	return w, nil
}

// RemoveWebhook removes a webhook and its deliveries, where allow does not
// refuse that: [bridge.CodeNotFound] when there is none.
func (s *Store) RemoveWebhook(ctx context.Context, id int64, allow func(bridge.Webhook) error) error {
	err := s.write(ctx, func(ctx context.Context, t *writeTx) error {
		w, err := readWebhook(ctx, t.conn, id)
		if err != nil {
			return err
		}
		if err := allow(w); err != nil {
			return err
		}
		return t.run(ctx, "DELETE FROM webhooks WHERE id = ?", id)
	})
	if err != nil {
		return fmt.Errorf("remove a webhook: %w", err)
	}
	return nil
}
