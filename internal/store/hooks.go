package store

import (
	"context"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

const selectHooks = `SELECT id, name, chat, template, ifnull(secret, ''), key_hash, enabled, created_at, updated_at,
	last_delivery_at, last_failed_at, last_error, ifnull(token, 0) FROM hooks`

// Hooks returns all hooks, the oldest first.
func (s *Store) Hooks(ctx context.Context) ([]bridge.Hook, error) {
	return readAs(ctx, s, "list hooks", func(r *readTx) []bridge.Hook {
		return sqlite.Collect(r.Conn, s.scanHook, selectHooks+" ORDER BY id")
	})
}

// Hook returns one hook: [bridge.CodeNotFound] when there is none.
func (s *Store) Hook(ctx context.Context, id int64) (bridge.Hook, error) {
	return readAs(ctx, s, "read a hook", func(r *readTx) bridge.Hook { return s.readHook(r.Conn, id) })
}

func (s *Store) readHook(c *sqlite.Conn, id int64) (h bridge.Hook) {
	for row := range c.Rows(selectHooks+" WHERE id = ?", id) {
		return s.scanHook(row)
	}
	c.Fail(bridge.NotFound("there is no hook %d", id))
	return h
}

func (s *Store) scanHook(row *sqlite.Row) (h bridge.Hook) {
	row.Scan(&h.ID, &h.Name, &h.Chat, &h.Template, &h.Secret, &h.KeyHash, &h.Enabled, &h.CreatedAt, &h.UpdatedAt,
		&h.LastDeliveryAt, &h.LastFailedAt, &h.LastError, &h.Token)
	h.Chat, h.HasSecret = s.Canonical(h.Chat), h.Secret != ""
	return h
}

// AddHook keeps a new hook and returns it with its id.
func (s *Store) AddHook(ctx context.Context, h bridge.Hook) (bridge.Hook, error) {
	err := s.writeAs(ctx, "keep a hook", func(t *writeTx) {
		id := t.Insert(`
			INSERT INTO hooks (name, chat, template, secret, key_hash, enabled, created_at, updated_at, token)
			VALUES (?1, ?2, ?3, nullif(?4, ''), ?5, ?6, ?7, ?7, nullif(?8, 0))`,
			h.Name, h.Chat, h.Template, h.Secret, h.KeyHash, h.Enabled, t.at, h.Token)
		h = s.readHook(t.Conn, id)
	})
	return h, err
}

// ChangeHook applies change to the settings of a hook, unless change fails:
// [bridge.CodeNotFound] when there is none.
func (s *Store) ChangeHook(ctx context.Context, id int64, change func(*bridge.Hook) error) (h bridge.Hook, err error) {
	err = s.writeAs(ctx, "change a hook", func(t *writeTx) {
		h = s.readHook(t.Conn, id)
		if t.Err() != nil {
			return
		}
		t.Fail(change(&h))
		t.Run(`
			UPDATE hooks SET name = ?, chat = ?, template = ?, secret = nullif(?, ''), key_hash = ?, enabled = ?, updated_at = ? WHERE id = ?`,
			h.Name, h.Chat, h.Template, h.Secret, h.KeyHash, h.Enabled, t.at, id)
		h = s.readHook(t.Conn, id)
	})
	return h, err
}

// RemoveHook removes a hook.
func (s *Store) RemoveHook(ctx context.Context, id int64) error {
	return s.writeAs(ctx, "remove a hook", func(t *writeTx) { t.Run("DELETE FROM hooks WHERE id = ?", id) })
}

// NoteDelivery notes the last delivery to a hook, and why it was refused, if it was.
func (s *Store) NoteDelivery(ctx context.Context, id int64, at bridge.Time, problem string) error {
	return s.writeAs(ctx, "note a hook's delivery", func(t *writeTx) {
		if problem == "" {
			t.Run("UPDATE hooks SET last_delivery_at = ?, last_error = NULL WHERE id = ?", at, id)
			return
		}
		t.Run("UPDATE hooks SET last_failed_at = ?, last_error = ? WHERE id = ?", at, problem, id)
	})
}
