package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"bridged/internal/bridge"
)

const hookColumns = `id, name, chat, template, ifnull(secret, ''), key_hash, enabled, created_at, updated_at,
	last_delivery_at, last_failed_at, last_error, ifnull(token, 0)`

// Hooks returns all hooks, the oldest first.
func (s *Store) Hooks(ctx context.Context) ([]bridge.Hook, error) {
	hooks := []bridge.Hook{}
	err := s.read(ctx, func(r *readTx) error {
		return r.each(ctx, "SELECT "+hookColumns+" FROM hooks ORDER BY id", nil, func(rows *resultSet) error {
			h, err := s.scanHook(rows.Scan)
			hooks = append(hooks, h)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list hooks: %w", err)
	}
	return hooks, nil
}

// Hook returns one hook: [bridge.CodeNotFound] when there is none.
func (s *Store) Hook(ctx context.Context, id int64) (bridge.Hook, error) {
	var h bridge.Hook
	err := s.read(ctx, func(r *readTx) (err error) {
		h, err = s.readHook(ctx, r.conn, id)
		return err
	})
	if err != nil {
		return bridge.Hook{}, fmt.Errorf("read a hook: %w", err)
	}
	return h, nil
}

func (s *Store) readHook(ctx context.Context, q *conn, id int64) (bridge.Hook, error) {
	h, err := s.scanHook(func(into ...any) error {
		return q.scan(ctx, "SELECT "+hookColumns+" FROM hooks WHERE id = ?", []any{id}, into...)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return h, bridge.NotFound("there is no hook %d", id)
	}
	return h, err
}

// scanHook reads hookColumns.
func (s *Store) scanHook(scan func(...any) error) (bridge.Hook, error) {
	var h bridge.Hook
	var created, updated int64
	var delivered, failed sql.NullInt64
	var lastError sql.NullString
	err := scan(&h.ID, &h.Name, &h.Chat, &h.Template, &h.Secret, &h.KeyHash, &h.Enabled, &created, &updated,
		&delivered, &failed, &lastError, &h.Token)
	if err != nil {
		return h, err
	}
	h.Chat, h.HasSecret = s.Canonical(h.Chat), h.Secret != ""
	h.CreatedAt, h.UpdatedAt = bridge.Millis(created), bridge.Millis(updated)
	h.LastDeliveryAt, h.LastFailedAt = timeOf(delivered), timeOf(failed)
	if lastError.Valid {
		h.LastError = &lastError.String
	}
	return h, nil
}

// AddHook keeps a new hook and returns it with its id.
func (s *Store) AddHook(ctx context.Context, h bridge.Hook) (bridge.Hook, error) {
	err := s.write(ctx, func(ctx context.Context, t *writeTx) error {
		id, err := t.insert(ctx, `
			INSERT INTO hooks (name, chat, template, secret, key_hash, enabled, created_at, updated_at, token)
			VALUES (?1, ?2, ?3, nullif(?4, ''), ?5, ?6, ?7, ?7, nullif(?8, 0))`,
			h.Name, string(h.Chat), h.Template, h.Secret, h.KeyHash, h.Enabled, t.at, h.Token)
		if err != nil {
			return err
		}
		h, err = s.readHook(ctx, t.conn, id)
		return err
	})
	if err != nil {
		return bridge.Hook{}, fmt.Errorf("keep a hook: %w", err)
	}
	return h, nil
}

// ChangeHook changes what change does to a hook's settings:
// [bridge.CodeNotFound] when there is none. An error of change changes nothing.
func (s *Store) ChangeHook(ctx context.Context, id int64, change func(*bridge.Hook) error) (bridge.Hook, error) {
	var h bridge.Hook
	err := s.write(ctx, func(ctx context.Context, t *writeTx) (err error) {
		if h, err = s.readHook(ctx, t.conn, id); err != nil {
			return err
		}
		if err := change(&h); err != nil {
			return err
		}
		err = t.run(ctx, `
			UPDATE hooks SET name = ?, chat = ?, template = ?, secret = nullif(?, ''), key_hash = ?, enabled = ?, updated_at = ? WHERE id = ?`,
			h.Name, string(h.Chat), h.Template, h.Secret, h.KeyHash, h.Enabled, t.at, id)
		if err != nil {
			return err
		}
		h, err = s.readHook(ctx, t.conn, id)
		return err
	})
	if err != nil {
		return bridge.Hook{}, fmt.Errorf("change a hook: %w", err)
	}
	return h, nil
}

// RemoveHook removes a hook.
func (s *Store) RemoveHook(ctx context.Context, id int64) error {
	err := s.write(ctx, func(ctx context.Context, t *writeTx) error {
		return t.run(ctx, "DELETE FROM hooks WHERE id = ?", id)
	})
	if err != nil {
		return fmt.Errorf("remove a hook: %w", err)
	}
	return nil
}

// NoteDelivery notes when a hook's last delivery came, and why it was refused;
// an empty problem is none.
func (s *Store) NoteDelivery(ctx context.Context, id int64, at bridge.Time, problem string) error {
	err := s.write(ctx, func(ctx context.Context, t *writeTx) error {
		if problem == "" {
			return t.run(ctx, "UPDATE hooks SET last_delivery_at = ?, last_error = NULL WHERE id = ?", at.UnixMilli(), id)
		}
		return t.run(ctx, "UPDATE hooks SET last_failed_at = ?, last_error = ? WHERE id = ?", at.UnixMilli(), problem, id)
	})
	if err != nil {
		return fmt.Errorf("note a hook's delivery: %w", err)
	}
	return nil
}
