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
