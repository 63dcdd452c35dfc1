// Package settings stores what belongs to neither people nor chats: settings, tokens, OAuth
// clients, sessions of the console, hooks, webhooks with their deliveries, idempotency keys, look-ups of numbers, the parts of the phone's
// history and the queue of transcripts.
//
// The methods of [Tables] run in transactions of their own. The functions run in a transaction of
// package store, which embeds Tables.
package settings

import (
	"context"
	"fmt"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/dbfile"
	"bridged/internal/sqlite"
)

// Database runs transactions on bridged.db.
type Database interface {
	View(ctx context.Context, f func(*sqlite.Conn)) error           // on one snapshot
	Update(ctx context.Context, f func(*sqlite.Conn)) error         // in one transaction
	UpdateUnsynced(ctx context.Context, f func(*sqlite.Conn)) error // in one that a power cut may undo
	Clock() *bridge.Clock
	// Canonical returns the JID that answers show: see package store.
	Canonical(jid bridge.JID) bridge.JID
}

// Options configures [Tables].
type Options struct {
	Log        zerolog.Logger
	Spare      *dbfile.Spare         // space for removing tokens and sessions on a full disk; nil if none
	Transcribe bridge.TranscribeMode // which voice notes are transcribed
}

// Tables reads and changes the tables. All methods may be called at the same time.
type Tables struct {
	db Database
	o  Options
}

// New returns the tables of a database.
func New(db Database, o Options) *Tables { return &Tables{db, o} }

// now returns the time in milliseconds by the store's clock.
func (t *Tables) now() int64 { return t.db.Clock().Now().UnixMilli() }

// view returns the result of f, which reads one snapshot. Errors start with the operation.
func view[T any](ctx context.Context, t *Tables, what string, f func(*sqlite.Conn) T) (value T, err error) {
	if err := t.db.View(ctx, func(c *sqlite.Conn) { value = f(c) }); err != nil {
		var none T
		return none, fmt.Errorf("%s: %w", what, err)
	}
	return value, nil
}

// update runs f in one transaction. Errors begin with what, such as "remove a token".
func (t *Tables) update(ctx context.Context, what string, f func(*sqlite.Conn)) error {
	if err := t.db.Update(ctx, f); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// remove is update for removing what gives access. On a full disk it uses the space that is reserved for it.
func (t *Tables) remove(ctx context.Context, what string, f func(*sqlite.Conn)) error {
	err := t.update(ctx, what, f)
	if dbfile.IsFull(err) && t.o.Spare.Release() {
		t.o.Log.Warn().Msg("the disk is full: the space that is reserved for revoking tokens and logging out is used, until the next start")
		err = t.update(ctx, what, f)
	}
	return err
}

// Settings that say how the log of events and the chats have changed.
const (
	Pruned = "store.events_pruned" // the last event that was removed
	merges = "store.chat_merges"   // how often two chats have become one
)

// Setting returns a setting; it is empty if it was never set.
func (t *Tables) Setting(ctx context.Context, name string) (string, error) {
	return view(ctx, t, "read the setting "+name, func(c *sqlite.Conn) string { return Get(c, name) })
}

// SetSetting stores a setting.
func (t *Tables) SetSetting(ctx context.Context, name, value string) error {
	return t.db.Update(ctx, func(c *sqlite.Conn) { Set(c, name, value) })
}

// Get returns a setting; it is empty if it was never set.
func Get(c *sqlite.Conn, name string) (value string) {
	c.Find("SELECT value FROM settings WHERE name = ?", []any{name}, &value)
	return value
}

// Number returns a setting as a number; it is 0 if it was never set.
func Number(c *sqlite.Conn, name string) (number int64) {
	c.Find("SELECT CAST(value AS INTEGER) FROM settings WHERE name = ?", []any{name}, &number)
	return number
}

// Set stores a setting.
func Set(c *sqlite.Conn, name, value string) {
	c.Run(`
		INSERT INTO settings (name, value) VALUES (?, ?)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value != excluded.value`, name, value)
}

// LastEvent returns the highest number that an event ever had, and the highest number of an event
// that was removed.
func LastEvent(c *sqlite.Conn) (last, pruned int64) {
	pruned = Number(c, Pruned)
	c.Find("SELECT ifnull(max(id), 0) FROM events", nil, &last)
	return max(last, pruned), pruned
}
