package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pressly/goose/v3"

	"bridged/migrations"
)

// applicationID marks a SQLite file as a store of ours ("brdg").
const applicationID = 0x62726467

// prepareFile makes sure that there is a sound store of today's schema at
// path.
func prepareFile(ctx context.Context, path string) error {
	present, err := exists(path)
	if err != nil {
		return err
	}
	if !present {
		return create(ctx, path)
	}
	if err := inspect(path); err != nil {
		return err
	}
	if err := removeDraft(compactDraft(path)); err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return fmt.Errorf("keep the store private: %w", err)
	}
	return upgrade(ctx, path, writerPragmas)
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
func create(ctx context.Context, path string) error {
	draft := path + ".new"
	if err := removeDraft(draft); err != nil {
		return err
	}
	file, err := os.OpenFile(draft, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("create the store: %w", err)
	}
	defer file.Close()
	if err := fillDraft(ctx, draft); err != nil {
		return fmt.Errorf("create the store: %w", err)
	}
	if err := file.Sync(); err != nil {
		return fmt.Errorf("create the store: %w", err)
	}
	if err := os.Rename(draft, path); err != nil {
		return fmt.Errorf("create the store: %w", err)
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("create the store: %w", err)
	}
	return nil
}

// draftPragmas write a draft without waiting for the disk at each of some
// thirty steps: it is thrown away if it is not finished, and create waits once
// for the whole of it.
var draftPragmas = append(slices.Clone(writerPragmas), "synchronous(OFF)")

// fillDraft gives a draft today's schema and the settings of a new store.
func fillDraft(ctx context.Context, draft string) error {
	if err := upgrade(ctx, draft, draftPragmas); err != nil {
		return err
	}
	return errors.Join(noteIn(ctx, draft, draftPragmas, settingClean, "1"), noteIn(ctx, draft, draftPragmas, settingReread, rereadDone))
}

// removeDraft removes what a process left that was killed while it wrote a
// store: messages that are deleted later would stay in it.
func removeDraft(draft string) error {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := remove(draft + suffix); err != nil {
			return fmt.Errorf("clear an unfinished store: %w", err)
		}
	}
	return nil
}

// header is what the first bytes of a SQLite file say.
type header struct {
	pageSize, pages int64
	application     uint32
}

// inspect refuses a file that is not a store, or not a whole one, without
// changing it.
func inspect(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	if info.Size() == 0 {
		return fmt.Errorf("%s is empty, and a store never is: restore a backup, "+
			"or move the file away to begin with an empty store", path)
	}
	head, ok := readHeader(file)
	if !ok {
		return damaged(path, errors.New("it does not begin as a SQLite database does"))
	}
	if head.application != applicationID {
		return fmt.Errorf("%s is a database of another program: "+
			"choose another data directory, or move the file away", path)
	}
	if _, err := os.Stat(path + "-wal"); err == nil {
		return nil // pages may be in the write-ahead log alone
	}
	if info.Size() < head.pageSize*head.pages {
		return damaged(path, fmt.Errorf("it has %d bytes of %d", info.Size(), head.pageSize*head.pages))
	}
	return nil
}

func readHeader(file io.Reader) (header, bool) {
	var b [100]byte
	if _, err := io.ReadFull(file, b[:]); err != nil || string(b[:16]) != "SQLite format 3\x00" {
		return header{}, false
	}
	h := header{
		pageSize:    int64(binary.BigEndian.Uint16(b[16:])),
		pages:       int64(binary.BigEndian.Uint32(b[28:])),
		application: binary.BigEndian.Uint32(b[68:]),
	}
	if h.pageSize == 1 {
		h.pageSize = 65536
	}
	return h, true
}

func damaged(path string, why error) error {
	return fmt.Errorf("%s is damaged: restore a backup, or move the file away to begin with an empty store: %w", path, why)
}

// upgrade brings the schema up to date, each step in a transaction of its own.
func upgrade(ctx context.Context, path string, pragmas []string) (err error) {
	db, err := openDB(path, pragmas)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	if err := readable(ctx, db); err != nil {
		return damaged(path, err)
	}
	steps, err := goose.NewProvider(goose.DialectSQLite3, db, migrations.FS,
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	current, known, err := steps.GetVersions(ctx)
	if err != nil {
		return damaged(path, err)
	}
	if current > known {
		return fmt.Errorf("%s was written by a newer bridged (schema %d, this program knows %d): "+
			"install that version again, or restore a backup", path, current, known)
	}
	if current == known {
		return nil
	}
	if _, err := steps.Up(ctx); err != nil {
		return fmt.Errorf("upgrade %s from schema %d to %d: %w", path, current, known, explain(err))
	}
	return nil
}

// readable reads the schema and the top of every table. It finds what stops a
// store from working at all; reading every page would take seconds at a
// million messages (see checkInBackground).
func readable(ctx context.Context, db *sql.DB) error {
	tables, err := tableNames(ctx, db)
	if err != nil {
		return err
	}
	for _, table := range tables {
		rows, err := db.QueryContext(ctx, `SELECT 1 FROM "`+table+`" LIMIT 1`)
		if err != nil {
			return err
		}
		rows.Next()
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
	}
	return nil
}

func tableNames(ctx context.Context, db *sql.DB) ([]string, error) {
	rows, err := db.QueryContext(ctx, "SELECT name FROM sqlite_schema WHERE type = 'table'")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}
