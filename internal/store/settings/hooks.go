package settings

import (
	"context"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

const selectHooks = `SELECT id, name, chat, template, ifnull(secret, ''), key_hash, enabled, created_at, updated_at,
	last_delivery_at, last_failed_at, last_error, ifnull(token, 0) FROM hooks`

// Hooks returns all hooks, the oldest first.
func (t *Tables) Hooks(ctx context.Context) ([]bridge.Hook, error) {
	return view(ctx, t, "list hooks", func(c *sqlite.Conn) []bridge.Hook {
		return sqlite.Collect(c, t.scanHook, selectHooks+" ORDER BY id")
	})
}

// Hook returns a hook: [bridge.CodeNotFound] if there is no such hook.
func (t *Tables) Hook(ctx context.Context, id int64) (bridge.Hook, error) {
	return view(ctx, t, "read a hook", func(c *sqlite.Conn) bridge.Hook { return t.hook(c, id) })
}

func (t *Tables) hook(c *sqlite.Conn, id int64) (h bridge.Hook) {
	for row := range c.Rows(selectHooks+" WHERE id = ?", id) {
		return t.scanHook(row)
	}
	c.Fail(bridge.NotFound("there is no hook %d", id))
	return h
}

func (t *Tables) scanHook(row *sqlite.Row) (h bridge.Hook) {
	row.Scan(&h.ID, &h.Name, &h.Chat, &h.Template, &h.Secret, &h.KeyHash, &h.Enabled, &h.CreatedAt, &h.UpdatedAt,
		&h.LastDeliveryAt, &h.LastFailedAt, &h.LastError, &h.Token)
	h.Chat, h.HasSecret = t.db.Canonical(h.Chat), h.Secret != ""
	return h
}

// AddHook stores a new hook and returns it with its id.
func (t *Tables) AddHook(ctx context.Context, h bridge.Hook) (bridge.Hook, error) {
	err := t.update(ctx, "store a hook", func(c *sqlite.Conn) {
		id := c.Insert(`
			INSERT INTO hooks (name, chat, template, secret, key_hash, enabled, created_at, updated_at, token)
			VALUES (?1, ?2, ?3, nullif(?4, ''), ?5, ?6, ?7, ?7, nullif(?8, 0))`,
			h.Name, h.Chat, h.Template, h.Secret, h.KeyHash, h.Enabled, t.now(), h.Token)
		h = t.hook(c, id)
	})
	return h, err
}

// ChangeHook changes a hook, unless change fails. It fails with [bridge.CodeNotFound] if there is
// no such hook.
func (t *Tables) ChangeHook(ctx context.Context, id int64, change func(*bridge.Hook) error) (h bridge.Hook, err error) {
	err = t.update(ctx, "change a hook", func(c *sqlite.Conn) {
		h = t.hook(c, id)
		if c.Err() != nil {
			return
		}
		c.Fail(change(&h))
		c.Run(`
			UPDATE hooks SET name = ?, chat = ?, template = ?, secret = nullif(?, ''), key_hash = ?, enabled = ?, updated_at = ? WHERE id = ?`,
			h.Name, h.Chat, h.Template, h.Secret, h.KeyHash, h.Enabled, t.now(), id)
		h = t.hook(c, id)
	})
	return h, err
}

// RemoveHook removes a hook.
func (t *Tables) RemoveHook(ctx context.Context, id int64) error {
	return t.update(ctx, "remove a hook", func(c *sqlite.Conn) { c.Run("DELETE FROM hooks WHERE id = ?", id) })
}

// NoteDelivery stores the time of the last delivery to a hook, and the reason if it was refused.
func (t *Tables) NoteDelivery(ctx context.Context, id int64, at bridge.Time, problem string) error {
	return t.update(ctx, "note a hook's delivery", func(c *sqlite.Conn) {
		if problem == "" {
			c.Run("UPDATE hooks SET last_delivery_at = ?, last_error = NULL WHERE id = ?", at, id)
			return
		}
		c.Run("UPDATE hooks SET last_failed_at = ?, last_error = ? WHERE id = ?", at, problem, id)
	})
}
