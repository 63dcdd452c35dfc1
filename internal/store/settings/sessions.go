package settings

import (
	"context"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// bound names the setting with what BindConsoleSessions stores.
const bound = "console.bridge_token"

// ConsoleSessions returns the stored sessions of the console, the oldest first, and what
// [Tables.BindConsoleSessions] stored last.
func (t *Tables) ConsoleSessions(ctx context.Context) (all []bridge.ConsoleSession, token string, err error) {
	all, err = view(ctx, t, "list the console's sessions", func(c *sqlite.Conn) []bridge.ConsoleSession {
		token = Get(c, bound)
		scan := func(row *sqlite.Row) (one bridge.ConsoleSession) {
			row.Scan(&one.ID, &one.Hash, &one.Token, &one.TokenHash, &one.Browser, &one.Zone, &one.CreatedAt, &one.UsedAt)
			return one
		}
		return sqlite.Collect(c, scan, `SELECT s.id, s.hash, ifnull(s.token, 0), t.hash, s.browser, s.zone, s.created_at, s.used_at
			FROM console_sessions s LEFT JOIN tokens t ON t.id = s.token ORDER BY s.id`)
	})
	return all, token, err
}

// BindConsoleSessions removes the sessions of BRIDGE_TOKEN, and stores a hash of the token that later ones
// are opened with.
func (t *Tables) BindConsoleSessions(ctx context.Context, token string) error {
	return t.update(ctx, "bind the console's sessions", func(c *sqlite.Conn) {
		c.Run("DELETE FROM console_sessions WHERE token IS NULL")
		Set(c, bound, token)
	})
}

// AddConsoleSession removes sessions and stores a new one. It returns its id.
func (t *Tables) AddConsoleSession(ctx context.Context, one bridge.ConsoleSession, remove []int64) (id int64, err error) {
	err = t.update(ctx, "store a session of the console", func(c *sqlite.Conn) {
		removeSessions(c, remove)
		id = c.Insert("INSERT INTO console_sessions (hash, token, browser, zone, created_at, used_at) VALUES (?, nullif(?, 0), ?, ?, ?, ?)",
			one.Hash, one.Token, one.Browser, one.Zone, one.CreatedAt, one.UsedAt)
	})
	return id, err
}

// ChangeConsoleSession stores the last use and the zone of a session.
func (t *Tables) ChangeConsoleSession(ctx context.Context, one bridge.ConsoleSession) error {
	return t.db.UpdateUnsynced(ctx, func(c *sqlite.Conn) {
		c.Run("UPDATE console_sessions SET used_at = ?, zone = ? WHERE id = ?", one.UsedAt, one.Zone, one.ID)
	})
}

// RemoveConsoleSessions removes sessions, even if the disk is full.
func (t *Tables) RemoveConsoleSessions(ctx context.Context, ids []int64) error {
	return t.remove(ctx, "remove sessions of the console", func(c *sqlite.Conn) { removeSessions(c, ids) })
}

func removeSessions(c *sqlite.Conn, ids []int64) {
	for _, id := range ids {
		c.Run("DELETE FROM console_sessions WHERE id = ?", id)
	}
}
