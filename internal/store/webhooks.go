package store

import (
	"cmp"
	"context"
	"fmt"

	"bridged/internal/bridge"
	"bridged/internal/store/db"
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
	return readAs(ctx, s, "list webhooks", func(r *readTx) []bridge.Webhook {
		webhooks := []bridge.Webhook{}
		for row := range r.Rows("SELECT " + webhookColumns + " FROM webhooks w ORDER BY w.id") {
			webhooks = append(webhooks, s.shown(scanWebhook(r.Conn, row, true)))
		}
		return webhooks
	})
}

// Webhook returns one webhook: [bridge.CodeNotFound] when there is none.
func (s *Store) Webhook(ctx context.Context, id int64) (bridge.Webhook, error) {
	return readAs(ctx, s, "read a webhook", func(r *readTx) bridge.Webhook { return s.shown(readWebhook(r.Conn, id)) })
}

func readWebhook(c *db.Conn, id int64) (w bridge.Webhook) {
	for row := range c.Rows("SELECT "+webhookColumns+" FROM webhooks w WHERE w.id = ?", id) {
		return scanWebhook(c, row, true)
	}
	c.Fail(noWebhook(id))
	return w
}

func noWebhook(id int64) error { return bridge.NotFound("there is no webhook %d", id) }

// webhook reads what a webhook is set to, without how it does: that counts
// its deliveries.
func (r *readTx) webhook(id int64) (w bridge.Webhook) {
	for row := range r.Rows("SELECT "+webhookSettings+" FROM webhooks w WHERE w.id = ?", id) {
		return scanWebhook(r.Conn, row, false)
	}
	r.Fail(noWebhook(id))
	return w
}

// liveWebhook does what webhook does, but finds none whose token has expired.
func (r *readTx) liveWebhook(id int64) bridge.Webhook {
	w := r.webhook(id)
	if w.EndsAt != nil && w.EndsAt.UnixMilli() <= r.s.now() {
		r.Fail(bridge.NotFound("webhook %d has ended with the token that made it", id))
	}
	return w
}

// scanWebhook reads webhookSettings, or webhookColumns whole.
func scanWebhook(c *db.Conn, row *db.Row, whole bool) (w bridge.Webhook) {
	var types, chats, exclude, only []byte
	into := []any{
		&w.ID, &w.URL, &w.Secret, &types, &chats, &exclude, &w.ChatType, &w.FromMe,
		&w.AllowPrivate, &w.Enabled, &w.Source, &w.Cursor, &w.Token, &only, &w.EndsAt,
	}
	if whole {
		into = append(into, &w.CreatedAt, &w.UpdatedAt, &w.LastDeliveredAt, &w.LastFailedAt, &w.LastError, &w.Pending, &w.Dead)
	}
	row.Scan(into...)
	c.Decode(types, &w.Types)
	c.Decode(chats, &w.Chats)
	c.Decode(exclude, &w.ExcludeChats)
	c.Decode(only, &w.Only)
	return w
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

// filterColumns are the columns of a filter, in the order of filterValues.
const filterColumns = "types, chats, exclude_chats, chat_type, from_me"

func filterValues(c *db.Conn, f bridge.EventFilter) []any {
	return []any{c.Encode(notNil(f.Types)), c.Encode(notNil(f.Chats)), c.Encode(notNil(f.ExcludeChats)), cmp.Or(f.ChatType, bridge.ChatsAll), f.FromMe}
}

// AddWebhook keeps a new webhook. It begins behind w.Cursor, with the next
// event where that is negative, and with the first in the log where it is 0.
func (s *Store) AddWebhook(ctx context.Context, w bridge.Webhook) (bridge.Webhook, error) {
	err := s.writeAs(ctx, "keep a webhook", func(t *writeTx) {
		last, pruned := lastEvent(t.Conn)
		switch {
		case w.Cursor < 0:
			w.Cursor = last
		case w.Cursor == 0:
			w.Cursor = pruned
		}
		id := t.Insert(`
			INSERT INTO webhooks (`+filterColumns+`, url, secret, allow_private, enabled, source, cursor, created_at, updated_at, token)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?12, nullif(?13, 0))`,
			append(filterValues(t.Conn, w.EventFilter), w.URL, w.Secret, w.AllowPrivate, w.Enabled, w.Source, w.Cursor, t.at, w.Token)...)
		w = readWebhook(t.Conn, id)
	})
	return s.shown(w), err
}

// ChangeWebhook changes what change does to a webhook's settings:
// [bridge.CodeNotFound] when there is none. An error of change changes nothing.
func (s *Store) ChangeWebhook(ctx context.Context, id int64, change func(*bridge.Webhook) error) (w bridge.Webhook, err error) {
	err = s.writeAs(ctx, "change a webhook", func(t *writeTx) {
		w = readWebhook(t.Conn, id)
		if t.Err() != nil {
			return
		}
		t.Fail(change(&w))
		t.Run(`
			UPDATE webhooks SET (`+filterColumns+`) = (?, ?, ?, ?, ?), url = ?, secret = ?, allow_private = ?, enabled = ?, updated_at = ?
			WHERE id = ?`,
			append(filterValues(t.Conn, w.EventFilter), w.URL, w.Secret, w.AllowPrivate, w.Enabled, t.at, id)...)
		w = readWebhook(t.Conn, id)
	})
	return s.shown(w), err
}

// RemoveWebhook removes a webhook and its deliveries, where allow does not
// refuse that: [bridge.CodeNotFound] when there is none.
func (s *Store) RemoveWebhook(ctx context.Context, id int64, allow func(bridge.Webhook) error) error {
	return s.writeAs(ctx, "remove a webhook", func(t *writeTx) {
		w := readWebhook(t.Conn, id)
		if t.Err() != nil {
			return
		}
		t.Fail(allow(w))
		t.Run("DELETE FROM webhooks WHERE id = ?", id)
	})
}
