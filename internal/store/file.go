package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"bridged/internal/dbfile"
	"bridged/internal/sqlite"
	"bridged/migrations"
)

// prepareFile makes sure that there is an intact store of today's schema at path. It changes
// nothing in a file that is no store.
func prepareFile(path string) error {
	switch err := database.CheckHead(path); {
	case errors.Is(err, fs.ErrNotExist):
		return opening(path, createMissing(path))
	case err != nil:
		return opening(path, err)
	}
	if err := dbfile.MakePrivate(path, 0o600); err != nil {
		return opening(path, err)
	}
	return opening(path, upgrade(path, writerPragmas))
}

// opening explains why the store cannot be opened.
func opening(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("open %s: %w", path, database.ExplainOpening(path, err))
}

// createMissing creates a store where there was none. A write-ahead log without its
// database means that the database was taken away.
func createMissing(path string) error {
	if _, err := os.Stat(path + "-wal"); err == nil {
		return fmt.Errorf("it is missing, but %s-wal is there: put the database back next to it, "+
			"or restore a backup after moving %s-wal away", path, path)
	}
	return create(path)
}

// create makes a new store beside path and moves it there when it is whole: a process that
// is killed meanwhile leaves no store that looks damaged.
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
	// Only the whole draft is synced: one that is not finished is thrown away.
	if err := upgrade(draft, append(slices.Clone(writerPragmas), "synchronous(OFF)")); err != nil {
		return err
	}
	return finish(draft, path)
}

// finish moves a draft to its path once it is on the disk.
func finish(draft, path string) error {
	file, err := os.OpenFile(draft, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(draft, path); err != nil {
		return err
	}
	return dbfile.SyncDir(filepath.Dir(path))
}

// upgrade brings the schema up to date, each step in a transaction of its own. The file's
// user_version is the number of the last one.
func upgrade(path string, pragmas []string) (err error) {
	c, err := sqlite.Open(path, pragmas)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := readable(c); err != nil {
		return err
	}
	steps := migrations.Names()
	var current int
	if err := c.Use(context.Background(), func() { c.Find(database.SchemaQuery, nil, &current) }); err != nil {
		return err
	}
	if current > database.Schema {
		return database.Newer(current)
	}
	for i, name := range steps[current:] {
		script, err := fs.ReadFile(migrations.FS, name)
		if err != nil {
			return err
		}
		if err := c.Script(fmt.Sprintf("BEGIN IMMEDIATE; %s; PRAGMA user_version = %d; COMMIT", script, current+i+1)); err != nil {
			return fmt.Errorf("upgrade with %s: %w", name, database.ExplainOpening(path, err))
		}
	}
	return nil
}

// readable reads the schema and the top of every table. Reading every page would take
// seconds at a million messages (see checkInBackground).
func readable(c *sqlite.Conn) error {
	tables, err := realTables(context.Background(), c)
	if err != nil {
		return err
	}
	for _, table := range tables {
		if err := c.Script(`SELECT 1 FROM "` + table + `" LIMIT 1`); err != nil {
			return err
		}
	}
	return nil
}

// BackupFile writes a consistent copy of the store in a file, which this or another process
// may be using, to a new file.
//
// Without secrets the copy has no tokens, webhooks and hooks: once restored, they
// would let in, and post to, those who were shut out since.
func BackupFile(ctx context.Context, from, to string, secrets bool) error {
	switch err := database.CheckHead(from); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no store to back up: %w", err)
	case err != nil:
		return fmt.Errorf("back up the store: %w", err)
	}
	if err := backup(ctx, from, to, secrets); err != nil {
		return fmt.Errorf("back up the store: %w", err)
	}
	return nil
}

func backup(ctx context.Context, from, path string, secrets bool) error {
	// The name is taken first, so that two backups cannot meet under it.
	if err := reserve(path); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s exists already: choose another name", path)
		}
		return err
	}
	part := path + ".part"
	err := copyTo(ctx, from, part)
	if err == nil && !secrets {
		err = eraseSecrets(part)
	}
	if err == nil {
		err = finish(part, path)
	}
	if err != nil {
		return errors.Join(err, remove(part), remove(path))
	}
	return nil
}

// reserve makes an empty private file where there is none.
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

// copyTo uses a connection of its own: those of readers may not write another file, either.
func copyTo(ctx context.Context, from, path string) (err error) {
	if err := remove(path); err != nil { // left by a backup that was killed
		return err
	}
	if err := reserve(path); err != nil {
		return err
	}
	c, err := sqlite.Open(from, []string{"busy_timeout(5000)"})
	if err != nil {
		return database.ExplainOpening(from, err)
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	err = c.Use(ctx, func() { c.Run("VACUUM INTO ?", path) })
	if dbfile.IsFull(err) {
		return fmt.Errorf("the disk of %s is full: make room, or choose another place: %w", path, err)
	}
	return database.ExplainOpening(from, err)
}

// secretTables hold secrets, and deliveries, which refer to webhooks.
var secretTables = []string{"deliveries", "webhooks", "hooks", "tokens"}

// eraseSecrets empties and overwrites secretTables in a copy that nothing else uses, without
// a journal, which would keep their content.
func eraseSecrets(path string) (err error) {
	c, err := sqlite.Open(path, []string{"journal_mode(off)", "secure_delete(on)"})
	if err != nil {
		return explain(err)
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for _, table := range secretTables {
		if err := c.Script("DELETE FROM " + table); err != nil {
			return explain(err)
		}
	}
	return nil
}

// Size counts the bytes of the database, and of the log of events in it.
type Size struct{ Bytes, Log int64 }

// Size measures the store. That takes about 60 ms for a million events.
func (s *Store) Size(ctx context.Context) (Size, error) {
	return readAs(ctx, s, "measure the store", func(r *readTx) (size Size) {
		r.Find("SELECT pgsize FROM dbstat WHERE schema = 'main' AND aggregate = 1 AND name = 'events'", nil, &size.Log)
		size.Bytes = r.fileSize()
		return size
	})
}

// FileSize returns the bytes of the database.
func (s *Store) FileSize(ctx context.Context) (int64, error) {
	return readAs(ctx, s, "measure the store", (*readTx).fileSize)
}

// fileSize returns the size that the database's file has once the write-ahead log is in
// it. The log itself grows and shrinks with how busy the bridge was, not with what it
// holds.
func (r *readTx) fileSize() int64 {
	var pages, size int64
	r.Find("PRAGMA page_count", nil, &pages)
	r.Find("PRAGMA page_size", nil, &size)
	return pages * size
}
