// Package storefile creates, upgrades, copies and checks the database file of the store.
//
// Its errors say how the operator can solve the problem. The package knows which tables contain secrets,
// and nothing else about them.
package storefile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/dbfile"
	"bridged/internal/sqlite"
	"bridged/migrations"
)

// Open returns a connection that writes to the store at path, which has the current schema then. It
// creates a store if there is no file, and does not change a file that is not a store.
func Open(path string) (*sqlite.Conn, error) {
	err := Database.CheckHead(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = createMissing(path)
	}
	if err == nil {
		err = dbfile.MakePrivate(path, 0o600)
	}
	if err != nil {
		return nil, Opening(path, err)
	}
	c, err := upgrade(path, WriterPragmas)
	return c, Opening(path, err)
}

// Opening explains why the store cannot be opened.
func Opening(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("open %s: %w", path, Database.ExplainOpening(path, err))
}

// createMissing creates a store. It fails if there is a write-ahead log, because then the database was
// removed.
func createMissing(path string) error {
	if _, err := os.Stat(path + "-wal"); err == nil {
		return fmt.Errorf("it is missing, but %s-wal is there: put the database back next to it, "+
			"or restore a backup after moving %s-wal away", path, path)
	}
	return create(path)
}

// create makes a new store next to path and renames it when it is complete, so that a process that is
// killed does not leave a store that looks damaged.
func create(path string) error {
	draft := path + ".new"
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} { // left by a process that was killed
		if err := remove(draft + suffix); err != nil {
			return err
		}
	}
	if err := reserve(draft); err != nil {
		return err
	}
	// Only the complete draft is synced: an incomplete one is removed.
	c, err := upgrade(draft, append(slices.Clone(WriterPragmas), "synchronous(OFF)"))
	if err != nil {
		return err
	}
	if err := c.Close(); err != nil {
		return err
	}
	return finish(draft, path)
}

// syncFile waits until a file is on the disk.
func syncFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// finish moves a draft to its path once it is on the disk.
func finish(draft, path string) error {
	if err := syncFile(draft); err != nil {
		return err
	}
	if err := os.Rename(draft, path); err != nil {
		return err
	}
	return dbfile.SyncDir(filepath.Dir(path))
}

// upgrade connects to the file at path and brings its schema up to date. The file's user_version is the
// number of the last step.
func upgrade(path string, pragmas []string) (*sqlite.Conn, error) {
	c, err := sqlite.Open(path, pragmas)
	if err != nil {
		return nil, err
	}
	var current int
	err = readable(c)
	if err == nil {
		err = c.Use(context.Background(), func() { c.Find(Database.SchemaQuery, nil, &current) })
	}
	steps := migrations.Names()
	switch {
	case err != nil:
	case current > Database.Schema:
		err = Database.Newer(current)
	case current < len(steps):
		err = migrate(c, path, migrations.FS, steps, current)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// migrate applies the steps after the current one in a single transaction. If one fails, or the process
// ends, the store stays as it was, and the version that wrote it still opens it.
func migrate(c *sqlite.Conn, path string, scripts fs.FS, steps []string, current int) error {
	return c.Update(func() {
		for _, name := range steps[current:] {
			script, err := fs.ReadFile(scripts, name)
			if err == nil {
				err = Database.ExplainOpening(path, c.Script(string(script)))
			}
			if err != nil {
				c.Fail(fmt.Errorf("upgrade with %s; the file is unchanged, and the version that wrote it still opens it: %w", name, err))
				return
			}
		}
		c.Fail(c.Script(fmt.Sprintf("PRAGMA user_version = %d", len(steps))))
	})
}

// readable reads the schema and the top of every table. Reading every page would take
// seconds at a million messages (see checkInBackground).
func readable(c *sqlite.Conn) error {
	var tables []string
	if err := c.Use(context.Background(), func() { tables = realTables(c) }); err != nil {
		return err
	}
	for _, table := range tables {
		if err := c.Script(`SELECT 1 FROM "` + table + `" LIMIT 1`); err != nil {
			return err
		}
	}
	return nil
}

// Copy writes a consistent copy of the store in a file, which this or another process may be using, to
// another file, which must be empty or missing. The copy is on the disk when Copy returns nil; otherwise
// a part of it may be there.
//
// In the copy, scheduled messages are held.
//
// A copy has no sessions of the console: after a restore, browsers would be logged in again that were logged
// out since the copy was made. Without secrets it also has no tokens, webhooks and hooks, which would give
// access, and send events, to clients that were removed.
//
// Copy opens the store with SQLite only: closing another descriptor of it would release the locks of
// this process (see [dbfile.Database.ExplainOpening]).
func Copy(ctx context.Context, from, to string, secrets bool) error {
	if err := copyTo(ctx, from, to); err != nil {
		return err
	}
	if err := revise(to, secrets); err != nil {
		return err
	}
	return syncFile(to)
}

// reserve creates an empty private file. It fails if the file exists.
func reserve(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// copyTo uses its own connection, because readers' connections may not write any file.
func copyTo(ctx context.Context, from, path string) (err error) {
	c, err := sqlite.Open(from, []string{"busy_timeout(5000)"})
	if err != nil {
		return Database.ExplainOpening(from, err)
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	err = c.Use(ctx, func() { c.Run("VACUUM INTO ?", path) })
	if dbfile.IsFull(err) {
		return fmt.Errorf("the disk of %s is full: make room, or choose another directory: %w", filepath.Dir(path), err)
	}
	return Database.ExplainOpening(from, err)
}

const (
	// hold stops the scheduled messages in a backup, so that a restored copy does not send again what the original
	// has sent since the backup. A caller decides about each.
	hold = `
		UPDATE scheduled SET status = 'held', error = json_object('code', 'restored', 'error',
			'the store was restored from a backup, and the message may have been sent since: look in the chat, then give it a new time, send it now or cancel it')
		WHERE status IN ('scheduled', 'sending');`
	eraseSessions = "DELETE FROM console_sessions; DELETE FROM settings WHERE name = 'console.bridge_token';"
	// eraseSecrets also erases deliveries, which refer to webhooks.
	eraseSecrets = "DELETE FROM deliveries; DELETE FROM webhooks; DELETE FROM hooks; DELETE FROM oauth_grants; DELETE FROM oauth_clients; DELETE FROM tokens;"
)

// revise changes and erases rows of a copy that nothing else uses, without a journal, which would still contain
// them.
func revise(path string, secrets bool) (err error) {
	c, err := sqlite.Open(path, []string{"journal_mode(off)", "secure_delete(on)"})
	if err != nil {
		return Explain(err)
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	script := hold + eraseSessions
	if !secrets {
		script += eraseSecrets
	}
	return Explain(c.Script(script))
}

// The order of pragmas counts: the first to open waits, and does not fail, while
// another process finishes. synchronous(FULL), because an acknowledged message
// must survive a power cut; secure_delete, because a deleted one must not. With a longer
// write-ahead log than usual, pages that every message writes are copied into the database
// once for many messages.
var (
	WriterPragmas = []string{
		"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "secure_delete(1)",
		"temp_store(MEMORY)", "cache_size(-4096)", "journal_size_limit(67108864)", "wal_autocheckpoint(2000)",
	}
	ReaderPragmas = []string{
		"busy_timeout(5000)", "query_only(1)", "temp_store(MEMORY)", "cache_size(-1024)",
	}
)

// applicationID marks a SQLite file as a store of ours ("brdg").
const applicationID = 0x62726467

// Database describes the store's file.
var Database = dbfile.Database{
	Name: "bridged.db",
	Repair: "stop bridged, restore a backup with `bridged restore FILE` and start again; " +
		"without a backup, move it away to begin with an empty store",
	Application: applicationID, SchemaQuery: "PRAGMA user_version", Schema: len(migrations.Names()),
}

// Explain turns errors of SQLite, and of stored JSON, into [bridge.CodeStorageUnavailable].
// Other errors stay as they are.
func Explain(err error) error {
	var known *bridge.Error
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	if !errors.As(err, &known) && (errors.As(err, &syntax) || errors.As(err, &kind)) {
		return Database.Unreadable(err)
	}
	return Database.Explain(err)
}

// ExplainRead explains an error of reading. If neither SQLite nor ctx caused it, a row cannot be
// decoded.
func ExplainRead(ctx context.Context, err error) error {
	err = Explain(err)
	var known *bridge.Error
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return Database.Unreadable(err)
}

// fewPages take a few milliseconds to check.
const fewPages = 1000

// CheckTables checks the tables of a database one after the other, each in a view of its own, and pauses
// after each for as long as it took. It returns SQLite's findings on damaged tables by their names. A small
// database without damage takes a single view.
func CheckTables(ctx context.Context, view func(context.Context, func(*sqlite.Conn)) error) (damaged map[string]string, err error) {
	var tables []string
	var whole string
	err = view(ctx, func(c *sqlite.Conn) {
		tables = realTables(c)
		var pages int
		if c.Find("PRAGMA page_count", nil, &pages); pages <= fewPages {
			_ = c.Try(func() { c.Find("SELECT * FROM pragma_quick_check", nil, &whole) }) // a table has the error again
		}
	})
	if err != nil || whole == "ok" {
		return nil, err
	}
	damaged = make(map[string]string)
	for _, table := range tables {
		began, verdict := time.Now(), ""
		err := view(ctx, func(c *sqlite.Conn) { c.Find("SELECT * FROM pragma_quick_check(?)", []any{table}, &verdict) })
		switch {
		case dbfile.IsDamage(err):
			damaged[table] = err.Error()
		case err != nil:
			return damaged, err
		case verdict != "ok":
			damaged[table] = verdict
		}
		if !bridge.Sleep(ctx, time.Since(began)) {
			return damaged, ctx.Err()
		}
	}
	return damaged, nil
}

// realTables returns the tables that have pages, first the schema with the list of free
// pages.
func realTables(c *sqlite.Conn) []string {
	names := sqlite.List[string](c, "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY name")
	return append([]string{"sqlite_schema"}, names...)
}
