package settings

import (
	"cmp"
	"context"
	"fmt"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// selectWebhooks reads webhooks without counting their deliveries. A webhook that a token created
// is limited to the token's chats, and ends with the token.
const selectWebhooks = `
	SELECT w.id, w.url, w.secret, w.types, w.chats, w.exclude_chats, w.chat_type, w.from_me, w.format, w.format_options, w.allow_private, w.enabled, w.source, w.cursor,
		ifnull(w.token, 0), t.chats, t.expires_at, w.created_at, w.updated_at, w.last_delivered_at, w.last_failed_at, w.last_error
	FROM webhooks w LEFT JOIN tokens t ON t.id = w.token`

// Webhooks returns all webhooks, the oldest first.
func (t *Tables) Webhooks(ctx context.Context) ([]bridge.Webhook, error) {
	return view(ctx, t, "list webhooks", func(c *sqlite.Conn) []bridge.Webhook {
		show := func(row *sqlite.Row) bridge.Webhook { return t.shown(c, scanWebhook(c, row)) }
		return sqlite.Collect(c, show, selectWebhooks+" ORDER BY w.id")
	})
}

// Webhook returns a webhook: [bridge.CodeNotFound] if there is no such webhook.
func (t *Tables) Webhook(ctx context.Context, id int64) (bridge.Webhook, error) {
	return view(ctx, t, "read a webhook", func(c *sqlite.Conn) bridge.Webhook { return t.shown(c, FindWebhook(c, id)) })
}

// FindWebhook returns a webhook without counting its deliveries. It fails with
// [bridge.CodeNotFound] if there is no such webhook.
func FindWebhook(c *sqlite.Conn, id int64) (w bridge.Webhook) {
	for row := range c.Rows(selectWebhooks+" WHERE w.id = ?", id) {
		return scanWebhook(c, row)
	}
	c.Fail(noWebhook(id))
	return w
}

func noWebhook(id int64) error { return bridge.NotFound("there is no webhook %d", id) }

// LiveWebhook returns a webhook as [FindWebhook] does, and fails with [bridge.CodeNotFound] if the
// token that created it has expired.
func LiveWebhook(c *sqlite.Conn, id, now int64) bridge.Webhook {
	w := FindWebhook(c, id)
	if w.EndsAt != nil && w.EndsAt.UnixMilli() <= now {
		c.Fail(bridge.NotFound("webhook %d has ended with the token that made it", id))
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

// shown completes a webhook for answers: it counts the deliveries, and replaces the chats' JIDs by
// today's. Queries use the stored JIDs, which every snapshot knows.
func (t *Tables) shown(c *sqlite.Conn, w bridge.Webhook) bridge.Webhook {
	c.Find(countDeliveriesQuery, []any{w.ID}, &w.Pending, &w.Dead)
	w.Chats, w.ExcludeChats = t.canonicalOnce(w.Chats), t.canonicalOnce(w.ExcludeChats)
	return w
}

// canonicalOnce returns the canonical JIDs of chats, each once: two chats may have become one.
func (t *Tables) canonicalOnce(chats []bridge.JID) []bridge.JID {
	once := make([]bridge.JID, 0, len(chats))
	seen := make(map[bridge.JID]bool, len(chats))
	for _, jid := range chats {
		if jid = t.db.Canonical(jid); !seen[jid] {
			seen[jid] = true
			once = append(once, jid)
		}
	}
	return once
}

// filterColumns lists the columns of a filter, in the order of filterValues.
const filterColumns = "types, chats, exclude_chats, chat_type, from_me"

func filterValues(c *sqlite.Conn, f bridge.EventFilter) []any {
	return []any{c.Encode(bridge.NotNil(f.Types)), c.Encode(bridge.NotNil(f.Chats)), c.Encode(bridge.NotNil(f.ExcludeChats)), cmp.Or(f.ChatType, bridge.ChatsAll), f.FromMe}
}

// AddWebhook stores a new webhook. It starts after the event w.Cursor, with the next event if that
// is negative, and with the first event of the log if it is 0.
func (t *Tables) AddWebhook(ctx context.Context, w bridge.Webhook) (bridge.Webhook, error) {
	err := t.update(ctx, "store a webhook", func(c *sqlite.Conn) {
		last, pruned := LastEvent(c)
		switch {
		case w.Cursor < 0:
			w.Cursor = last
		case w.Cursor == 0:
			w.Cursor = pruned
		}
		id := c.Insert(`
			INSERT INTO webhooks (`+filterColumns+`, format, format_options, url, secret, allow_private, enabled, source, cursor, created_at, updated_at, token)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?14, nullif(?15, 0))`,
			append(filterValues(c, w.EventFilter), cmp.Or(w.Format, bridge.FormatBridged), c.Encode(w.Options), w.URL, w.Secret, w.AllowPrivate, w.Enabled, w.Source, w.Cursor, t.now(), w.Token)...)
		w = t.shown(c, FindWebhook(c, id))
	})
	return w, err
}

// ChangeWebhook changes the settings of a webhook, unless change fails. It fails with
// [bridge.CodeNotFound] if there is no such webhook.
func (t *Tables) ChangeWebhook(ctx context.Context, id int64, change func(*bridge.Webhook) error) (w bridge.Webhook, err error) {
	err = t.update(ctx, "change a webhook", func(c *sqlite.Conn) {
		w = FindWebhook(c, id)
		if c.Err() != nil {
			return
		}
		c.Fail(change(&w))
		c.Run(`
			UPDATE webhooks SET (`+filterColumns+`) = (?, ?, ?, ?, ?), format = ?, format_options = ?, url = ?, secret = ?, allow_private = ?, enabled = ?, updated_at = ?
			WHERE id = ?`,
			append(filterValues(c, w.EventFilter), w.Format, c.Encode(w.Options), w.URL, w.Secret, w.AllowPrivate, w.Enabled, t.now(), id)...)
		w = t.shown(c, FindWebhook(c, id))
	})
	return w, err
}

// RemoveWebhook removes a webhook and its deliveries, unless allow fails. It fails with
// [bridge.CodeNotFound] if there is no such webhook.
func (t *Tables) RemoveWebhook(ctx context.Context, id int64, allow func(bridge.Webhook) error) error {
	return t.update(ctx, "remove a webhook", func(c *sqlite.Conn) {
		w := FindWebhook(c, id)
		if c.Err() != nil {
			return
		}
		c.Fail(allow(w))
		c.Run("DELETE FROM webhooks WHERE id = ?", id)
	})
}
