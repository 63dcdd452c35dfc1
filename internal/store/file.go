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
	"bridged/internal/store/db"
	"bridged/migrations"
)

// applicationID marks a SQLite file as a store of ours ("brdg").
const applicationID = 0x62726467

// prepareFile makes sure that there is a sound store of today's schema at
// path.
func prepareFile(path string) error {
	present, err := exists(path)
	if err != nil {
		return err
	}
	if !present {
		if err := create(path); err != nil {
			return fmt.Errorf("create the store: %w", err)
		}
		return nil
	}
	if err := inspect(path); err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return fmt.Errorf("keep the store private: %w", err)
	}
	return upgrade(path, writerPragmas)
}

// exists reports whether there is a store at path. A write-ahead log without its
// database means that the database was taken away: nothing is made in its
// place.
func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if err == nil {
		return true, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("look for the store: %w", err)
	}
	if _, err := os.Stat(path + "-wal"); err == nil {
		return false, fmt.Errorf("%s is missing, but %s-wal is there: put the database back beside it, "+
			"or restore a backup after moving %s-wal away", path, path, path)
	}
	return false, nil
}

// create makes a new store beside path and moves it there when it is whole, so
// that a process killed meanwhile leaves nothing that looks like a damaged
// store.
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
	// Nothing waits for the disk but the whole of it: a draft that is not finished
	// is thrown away.
	if err := upgrade(draft, append(slices.Clone(writerPragmas), "synchronous(OFF)")); err != nil {
		return err
	}
	if err := syncFile(draft); err != nil {
		return err
	}
	if err := os.Rename(draft, path); err != nil {
		return err
	}
	return dbfile.SyncDir(filepath.Dir(path))
}

// inspect refuses a file that is not a store, or not a whole one, without
// changing it.
func inspect(path string) error {
	head, err := dbfile.ReadHeader(path)
	switch {
	case errors.Is(err, dbfile.ErrEmpty):
		return fmt.Errorf("%s is empty, and a store never is: restore a backup, "+
			"or move the file away to begin with an empty store", path)
	case errors.As(err, new(*fs.PathError)): // it could not be opened, which says nothing about its content
		return fmt.Errorf("open the store: %w", err)
	case err != nil && head == (dbfile.Header{}):
		return damaged(path, err)
	case head.Application != applicationID:
		return fmt.Errorf("%s is a database of another program: "+
			"choose another data directory, or move the file away", path)
	case err != nil:
		return damaged(path, err)
	}
	return nil
}

func damaged(path string, why error) error {
	return fmt.Errorf("%s is damaged: restore a backup, or move the file away to begin with an empty store: %w", path, why)
}

// upgrade brings the schema up to date, each step in a transaction of its own.
// The number of the last one is the file's user_version.
func upgrade(path string, pragmas []string) (err error) {
	c, err := db.Open(path, pragmas)
	if err != nil {
		return damaged(path, err)
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := readable(c); err != nil {
		return damaged(path, err)
	}
	steps, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		return err
	}
	var current int
	if err := c.Use(context.Background(), func() { c.Find("PRAGMA user_version", nil, &current) }); err != nil {
		return damaged(path, err)
	}
	if current > len(steps) {
		return fmt.Errorf("%s was written by a newer bridged (schema %d, this program knows %d): "+
			"install that version again, or restore a backup", path, current, len(steps))
	}
	for i, name := range steps[current:] {
		script, err := fs.ReadFile(migrations.FS, name)
		if err != nil {
			return err
		}
		if err := c.Script(fmt.Sprintf("BEGIN IMMEDIATE; %s; PRAGMA user_version = %d; COMMIT", script, current+i+1)); err != nil {
			return fmt.Errorf("upgrade %s with %s: %w", path, name, explain(err))
		}
	}
	return nil
}

// readable reads the schema and the top of every table. It finds what stops a
// store from working at all; reading every page would take seconds at a
// million messages (see checkInBackground).
func readable(c *db.Conn) error {
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

// Backup writes a consistent copy of the store to a new file, while the store
// goes on being used. It never overwrites anything. To restore a backup, stop
// the program and put it in place of the database, without the files beside it
// that end in -wal and -shm.
//
// Without secrets the copy has no tokens, webhooks and hooks: once restored, they
// would let in, and post to, those who were shut out since.
func (s *Store) Backup(ctx context.Context, path string, secrets bool) error {
	return BackupFile(ctx, s.path, path, secrets)
}

// BackupFile does what [Store.Backup] does, for the store in a file, which another process
// may be using.
func BackupFile(ctx context.Context, from, to string, secrets bool) error {
	if _, err := os.Stat(from); err != nil {
		return fmt.Errorf("there is no store to back up: %w", err)
	}
	if err := backup(ctx, from, to, secrets); err != nil {
		return fmt.Errorf("back up the store: %w", err)
	}
	return nil
}

func backup(ctx context.Context, from, path string, secrets bool) error {
	// The name is taken first, so that two backups cannot meet under it; what
	// it stands for is moved there when it is whole.
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
		err = syncFile(part)
	}
	if err != nil {
		return errors.Join(err, remove(part), remove(path))
	}
	if err := os.Rename(part, path); err != nil {
		return errors.Join(err, remove(part), remove(path))
	}
	return dbfile.SyncDir(filepath.Dir(path))
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

// copyTo copies on a connection of its own: reading ones may not write, not
// even elsewhere.
func copyTo(ctx context.Context, from, path string) (err error) {
	if err := remove(path); err != nil { // left by a backup that was killed
		return err
	}
	if err := reserve(path); err != nil {
		return err
	}
	c, err := db.Open(from, []string{"busy_timeout(5000)"})
	if err != nil {
		return explain(err)
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return explain(c.Use(ctx, func() { c.Run("VACUUM INTO ?", path) }))
}

// secretTables hold what lets somebody in, or signs, and what names it.
var secretTables = []string{"deliveries", "webhooks", "hooks", "tokens"}

// eraseSecrets removes what secretTables hold from a copy that nobody else uses,
// and overwrites where it stood. There is no journal, which would keep it; a copy
// that is not finished is removed.
func eraseSecrets(path string) (err error) {
	c, err := db.Open(path, []string{"journal_mode(off)", "secure_delete(on)"})
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

func syncFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
