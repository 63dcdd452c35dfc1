package store

import (
	"cmp"
	"context"
	"fmt"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// selectWebhooks reads all of a webhook but its numbers of deliveries. One that a token
// made shows that token's chats, and ends with it.
const selectWebhooks = `
	SELECT w.id, w.url, w.secret, w.types, w.chats, w.exclude_chats, w.chat_type, w.from_me, w.format, w.format_options, w.allow_private, w.enabled, w.source, w.cursor,
		ifnull(w.token, 0), t.chats, t.expires_at, w.created_at, w.updated_at, w.last_delivered_at, w.last_failed_at, w.last_error
	FROM webhooks w LEFT JOIN tokens t ON t.id = w.token`

// Webhooks returns all webhooks, the oldest first.
func (s *Store) Webhooks(ctx context.Context) ([]bridge.Webhook, error) {
	return readAs(ctx, s, "list webhooks", func(r *readTx) []bridge.Webhook {
		show := func(row *sqlite.Row) bridge.Webhook { return s.shown(r.Conn, scanWebhook(r.Conn, row)) }
		return sqlite.Collect(r.Conn, show, selectWebhooks+" ORDER BY w.id")
	})
}

// Webhook returns one webhook: [bridge.CodeNotFound] when there is none.
func (s *Store) Webhook(ctx context.Context, id int64) (bridge.Webhook, error) {
	return readAs(ctx, s, "read a webhook", func(r *readTx) bridge.Webhook { return s.shown(r.Conn, findWebhook(r.Conn, id)) })
}

// findWebhook reads a webhook without counting its deliveries.
func findWebhook(c *sqlite.Conn, id int64) (w bridge.Webhook) {
	for row := range c.Rows(selectWebhooks+" WHERE w.id = ?", id) {
		return scanWebhook(c, row)
	}
	c.Fail(noWebhook(id))
	return w
}

func noWebhook(id int64) error { return bridge.NotFound("there is no webhook %d", id) }

// liveWebhook is findWebhook, but finds none whose token has expired.
func (r *readTx) liveWebhook(id int64) bridge.Webhook {
	w := findWebhook(r.Conn, id)
	if w.EndsAt != nil && w.EndsAt.UnixMilli() <= r.s.now() {
		r.Fail(bridge.NotFound("webhook %d has ended with the token that made it", id))
	}
	return w
}

func scanWebhook(c *sqlite.Conn, row *sqlite.Row) (w bridge.Webhook) {
	var types, chats, exclude, only, options []byte
	row.Scan(&w.ID, &w.URL, &w.Secret, &types, &chats, &exclude, &w.ChatType, &w.FromMe, &w.Format, &options, &w.AllowPrivate, &w.Enabled, &w.Source, &w.Cursor,
		&w.Token, &only, &w.EndsAt, &w.CreatedAt, &w.UpdatedAt, &w.LastDeliveredAt, &w.LastFailedAt, &w.LastError)
	c.Decode(types, &w.Types)
	c.Decode(chats, &w.Chats)
	c.Decode(exclude, &w.ExcludeChats)
	c.Decode(only, &w.Only)
	c.Decode(options, &w.Options)
	return w
}

var countDeliveriesQuery = fmt.Sprintf(`
	SELECT (SELECT count(*) FROM deliveries WHERE webhook = ?1 AND status = %d), (SELECT count(*) FROM deliveries WHERE webhook = ?1 AND status = %d)`,
	webhookPending, webhookDead)

// shown completes a webhook for answers: it counts its deliveries, and names its chats as
// they are named now. Queries take the names that it was given, which every snapshot knows.
func (s *Store) shown(c *sqlite.Conn, w bridge.Webhook) bridge.Webhook {
	c.Find(countDeliveriesQuery, []any{w.ID}, &w.Pending, &w.Dead)
	w.Chats, w.ExcludeChats = s.canonicalOnce(w.Chats), s.canonicalOnce(w.ExcludeChats)
	return w
}

// canonicalOnce returns chats by their canonical JIDs, each once: two may have become one.
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

// filterColumns lists the columns of a filter, in the order of filterValues.
const filterColumns = "types, chats, exclude_chats, chat_type, from_me"

func filterValues(c *sqlite.Conn, f bridge.EventFilter) []any {
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
			INSERT INTO webhooks (`+filterColumns+`, format, format_options, url, secret, allow_private, enabled, source, cursor, created_at, updated_at, token)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?14, nullif(?15, 0))`,
			append(filterValues(t.Conn, w.EventFilter), cmp.Or(w.Format, bridge.FormatBridged), t.Encode(w.Options), w.URL, w.Secret, w.AllowPrivate, w.Enabled, w.Source, w.Cursor, t.at, w.Token)...)
		w = s.shown(t.Conn, findWebhook(t.Conn, id))
	})
	return w, err
}

// ChangeWebhook applies change to the settings of a webhook, unless change fails:
// [bridge.CodeNotFound] when there is none.
func (s *Store) ChangeWebhook(ctx context.Context, id int64, change func(*bridge.Webhook) error) (w bridge.Webhook, err error) {
	err = s.writeAs(ctx, "change a webhook", func(t *writeTx) {
		w = findWebhook(t.Conn, id)
		if t.Err() != nil {
			return
		}
		t.Fail(change(&w))
		t.Run(`
			UPDATE webhooks SET (`+filterColumns+`) = (?, ?, ?, ?, ?), format = ?, format_options = ?, url = ?, secret = ?, allow_private = ?, enabled = ?, updated_at = ?
			WHERE id = ?`,
			append(filterValues(t.Conn, w.EventFilter), w.Format, t.Encode(w.Options), w.URL, w.Secret, w.AllowPrivate, w.Enabled, t.at, id)...)
		w = s.shown(t.Conn, findWebhook(t.Conn, id))
	})
	return w, err
}

// RemoveWebhook removes a webhook and its deliveries, unless allow fails:
// [bridge.CodeNotFound] when there is none.
func (s *Store) RemoveWebhook(ctx context.Context, id int64, allow func(bridge.Webhook) error) error {
	return s.writeAs(ctx, "remove a webhook", func(t *writeTx) {
		w := findWebhook(t.Conn, id)
		if t.Err() != nil {
			return
		}
		t.Fail(allow(w))
		t.Run("DELETE FROM webhooks WHERE id = ?", id)
	})
}
