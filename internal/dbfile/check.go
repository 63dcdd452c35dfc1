package dbfile

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"

	_ "modernc.org/sqlite" // the driver
)

// ErrUnfinished means that a database was not closed, or is in use.
var ErrUnfinished = errors.New("there are changes in the log beside it")

// Check looks for damage in a database file that no program has open, without changing
// anything, and returns it as an error.
func Check(ctx context.Context, path string) (err error) {
	switch log, err := os.Stat(path + "-wal"); {
	case err == nil && log.Size() > 0:
		return ErrUnfinished
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: "mode=ro&immutable=1"}).String())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	var tables int
	if err = db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	if tables == 0 {
		return errors.New("it is empty") // which is a database to SQLite
	}
	var verdict string
	if err = db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return errors.New(verdict)
	}
	return nil
}
