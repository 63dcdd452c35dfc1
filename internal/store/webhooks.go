package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"bridged/internal/bridge"
)

// webhookSettings are the columns that change with the settings alone. What a
// token made shows that token's chats, and nothing once it has expired.
const webhookSettings = `w.id, w.url, w.secret, w.types, w.chats, w.exclude_chats, w.chat_type, w.from_me, w.allow_private, w.enabled, w.source, w.cursor, ifnull(w.token, 0),
	(SELECT t.chats FROM tokens t WHERE t.id = w.token), (SELECT t.expires_at FROM tokens t WHERE t.id = w.token)`

var webhookColumns = webhookSettings + fmt.Sprintf(`,
	w.created_at, w.updated_at, w.last_delivered_at, w.last_failed_at, w.last_error,
	(SELECT count(*) FROM deliveries d WHERE d.webhook = w.id AND d.status = %d),
	(SELECT count(*) FROM deliveries d WHERE d.webhook = w.id AND d.status = %d)`, webhookPending, webhookDead)

// Webhooks returns all webhooks, the oldest first.
func (s *Store) Webhooks(ctx context.Context) ([]bridge.Webhook, error) {
	webhooks := []bridge.Webhook{}
	err := s.read(ctx, func(r *readTx) error {
		return r.each(ctx, "SELECT "+webhookColumns+" FROM webhooks w ORDER BY w.id", nil, func(rows *resultSet) error {
			w, err := scanWebhook(rows.Scan)
			webhooks = append(webhooks, s.shown(w))
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
	return s.shown(w), nil
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
	return row.webhook()
}

// liveWebhook does what webhook does, but finds none whose token has expired.
func (r *readTx) liveWebhook(ctx context.Context, id int64) (bridge.Webhook, error) {
	w, err := r.webhook(ctx, id)
	if err == nil && w.EndsAt != nil && w.EndsAt.UnixMilli() <= r.s.now() {
		err = bridge.NotFound("webhook %d has ended with the token that made it", id)
	}
	return w, err
}

// webhookRow is a webhook with the columns that need decoding.
type webhookRow struct {
	bridge.Webhook
	types, chats, exclude string
	fromMe                sql.NullBool
	only                  sql.NullString
	expires               sql.NullInt64
}

// settings returns where webhookSettings are read into.
func (w *webhookRow) settings() []any {
	return []any{&w.ID, &w.URL, &w.Secret, &w.types, &w.chats, &w.exclude, &w.ChatType, &w.fromMe,
		&w.AllowPrivate, &w.Enabled, &w.Source, &w.Cursor, &w.Token, &w.only, &w.expires}
}

func (w *webhookRow) webhook() (bridge.Webhook, error) {
	w.EndsAt = timeOf(w.expires)
	if w.fromMe.Valid {
		w.FromMe = &w.fromMe.Bool
	}
	lists := []struct {
		column string
		into   any
	}{{w.types, &w.Types}, {w.chats, &w.Chats}, {w.exclude, &w.ExcludeChats}}
	if w.only.Valid {
		lists = append(lists, struct {
			column string
			into   any
		}{w.only.String, &w.Only})
	}
	for _, list := range lists {
		if err := json.Unmarshal([]byte(list.column), list.into); err != nil {
			return w.Webhook, err
		}
	}
	return w.Webhook, nil
}

// shown returns a webhook with its chats by the names that they have now.
// Queries take those that it was given, which every snapshot knows.
func (s *Store) shown(w bridge.Webhook) bridge.Webhook {
	w.Chats, w.ExcludeChats = s.canonicalOnce(w.Chats), s.canonicalOnce(w.ExcludeChats)
	return w
}

// canonicalOnce returns chats by their names in answers, each once: two may have
// become one.
func (s *Store) canonicalOnce(chats []bridge.JID) []bridge.JID {
	once := make([]bridge.JID, 0, len(chats))
	seen := make(map[bridge.JID]bool, len(chats))
	for _, jid := range chats {
		if jid = s.Canonical(jid); !seen[jid] {
			seen[jid] = true
			once = append(once, jid)
		}
	}
	return once
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

// filterColumns are the columns of a filter, in the order of
// filterValues.
const filterColumns = "types, chats, exclude_chats, chat_type, from_me"

func filterValues(f bridge.EventFilter) ([]any, error) {
	types, err := listColumn(f.Types)
	if err != nil {
		return nil, err
	}
	chats, err := listColumn(f.Chats)
	if err != nil {
		return nil, err
	}
	exclude, err := listColumn(f.ExcludeChats)
	return []any{types, chats, exclude, string(cmp.Or(f.ChatType, bridge.ChatsAll)), column(f.FromMe)}, err
}

// listColumn returns a list as JSON, an empty one as [].
func listColumn[T any](list []T) (string, error) {
	if list == nil {
		list = []T{}
	}
	text, err := json.Marshal(list)
	return string(text), err
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
		filter, err := filterValues(w.EventFilter)
		if err != nil {
			return err
		}
		id, err := t.insert(ctx, `
			INSERT INTO webhooks (`+filterColumns+`, url, secret, allow_private, enabled, source, cursor, created_at, updated_at, token)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?12, nullif(?13, 0))`,
			append(filter, w.URL, w.Secret, w.AllowPrivate, w.Enabled, string(w.Source), w.Cursor, t.at, w.Token)...)
		if err != nil {
			return err
		}
		w, err = readWebhook(ctx, t.conn, id)
		return err
	})
	if err != nil {
		return bridge.Webhook{}, fmt.Errorf("keep a webhook: %w", err)
	}
	return s.shown(w), nil
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
		filter, err := filterValues(w.EventFilter)
		if err != nil {
			return err
		}
		err = t.run(ctx, `
			UPDATE webhooks SET (`+filterColumns+`) = (?, ?, ?, ?, ?), url = ?, secret = ?, allow_private = ?, enabled = ?, updated_at = ?
			WHERE id = ?`,
			append(filter, w.URL, w.Secret, w.AllowPrivate, w.Enabled, t.at, id)...)
		if err != nil {
			return err
		}
		w, err = readWebhook(ctx, t.conn, id)
		return err
	})
	if err != nil {
		return bridge.Webhook{}, fmt.Errorf("change a webhook: %w", err)
	}
	return s.shown(w), nil
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
