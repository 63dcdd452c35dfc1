package dbfile

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"syscall"

	_ "modernc.org/sqlite" // the driver
	sqlite3 "modernc.org/sqlite/lib"

	"bridged/internal/bridge"
)

// ErrUnfinished means that a database was not closed, or is in use.
var ErrUnfinished = errors.New("there are changes in its write-ahead log")

// ExplainOpening explains why the database at path could not be opened: by owners and modes of its
// files if they are the reason, otherwise as [Database.Explain] does. It opens no file, because
// closing one would release the locks that SQLite holds on it in this process (sqlite.org/howtocorrupt.html, 2.2).
func (d Database) ExplainOpening(path string, err error) error {
	var known *bridge.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	switch ResultCode(err) {
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_OK:
		if reason := d.access(path); reason != nil {
			return reason.Because(err)
		}
	}
	return d.Explain(err)
}

// Examine returns why bridged cannot use the database at path, in the sentence that the start
// has for it, and [ErrUnfinished] if only opening it can find out. It changes nothing. No
// connection of this process may have the database open.
func (d Database) Examine(ctx context.Context, path string) error {
	if reason := d.access(path); reason != nil {
		return reason
	}
	if err := d.CheckHead(path); err != nil {
		return err
	}
	if err := d.probe(path); err != nil {
		return err
	}
	return d.ExplainOpening(path, d.check(ctx, path))
}

// headSize counts the bytes of a SQLite file's header, which begins with headMagic
// (sqlite.org/fileformat.html, 1.3).
const (
	headSize  = 100
	headMagic = "SQLite format 3\x00"
)

// CheckHead refuses a file that is not a database of this kind. SQLite would take an emptied file for
// a new database. The error of a missing file is [fs.ErrNotExist].
func (d Database) CheckHead(path string) error {
	head, err := readHead(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil:
		return d.ExplainOpening(path, err)
	case len(head) == 0:
		return d.Damaged(errors.New("it is empty"))
	case len(head) < headSize || string(head[:len(headMagic)]) != headMagic:
		return d.Damaged(errors.New("it does not begin as a SQLite database does"))
	case d.Application != 0 && binary.BigEndian.Uint32(head[68:]) != d.Application:
		return unusable("%s is a database of another program: choose another data directory, or move the file away", d.Name)
	}
	return nil
}

func readHead(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, headSize))
}

// Newer returns the error of a database with a later schema than this program knows.
func (d Database) Newer(schema int) error {
	return unusable("%s was written by a newer bridged (schema %d, this program knows %d): "+
		"install that version again, or restore a backup", d.Name, schema, d.Schema)
}

// check looks for a newer schema and for damage in a database that no program has open.
func (d Database) check(ctx context.Context, path string) (err error) {
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
	if err := d.checkSchema(ctx, db); err != nil {
		return err
	}
	var verdict string
	if err = db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return d.Damaged(errors.New(verdict))
	}
	return nil
}

func (d Database) checkSchema(ctx context.Context, db *sql.DB) error {
	if d.SchemaQuery == "" {
		return nil
	}
	var schema int
	switch err := db.QueryRowContext(ctx, d.SchemaQuery).Scan(&schema); {
	case errors.Is(err, sql.ErrNoRows), ResultCode(err) == sqlite3.SQLITE_ERROR: // the tables are not created yet
		return nil
	case err != nil:
		return err
	}
	if schema > d.Schema {
		return d.Newer(schema)
	}
	return nil
}

func unusable(format string, args ...any) *bridge.Error {
	return bridge.Fail(bridge.CodeStorageUnavailable, format, args...)
}

// access returns which file or directory of a database this process may not use, nil if none.
func (d Database) access(path string) *bridge.Error {
	if reason := ExplainDir(filepath.Dir(path)); reason != nil {
		return reason
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		info, err := os.Stat(path + suffix)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return explainAccess(d.Name+suffix, path+suffix, err)
		case !info.Mode().IsRegular():
			return unusable("%s is not a file: move it away, and put the database in its place", d.Name+suffix)
		default:
			if reason := explainAccess(d.Name+suffix, path+suffix, mayUse(path+suffix, false)); reason != nil {
				return reason
			}
		}
	}
	return nil
}

// ExplainDir returns why this process cannot use a data directory, nil if it can, or if the directory
// does not exist.
func ExplainDir(path string) *bridge.Error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, syscall.ENOTDIR):
		return unusable("DATA_DIR cannot be made: a part of its path is a file, choose a directory that the user of this process may write")
	case err == nil && !info.IsDir():
		return unusable("DATA_DIR is not a directory: set it to a directory")
	case err == nil:
		err = mayUse(path, true)
	}
	return explainAccess("DATA_DIR", path, err)
}

// ExplainFile explains an error of the operating system about a file of the data directory, with a
// remedy if there is one.
func ExplainFile(path string, err error) error {
	var known *bridge.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	if reason := ExplainDir(filepath.Dir(path)); reason != nil {
		return reason.Because(err)
	}
	if reason := explainSystem(filepath.Base(path), err); reason != nil {
		return reason.Because(err)
	}
	if reason := explainAccess(filepath.Base(path), path, mayUse(path, false)); reason != nil {
		return reason.Because(err)
	}
	return err
}

// explainAccess explains why the operating system does not let this process use a file; nil if it does.
func explainAccess(name, path string, err error) *bridge.Error {
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, syscall.EROFS):
		return unusable("%s is on a read-only file system: mount its volume writable", name)
	case errors.Is(err, fs.ErrPermission):
		owner, user := owners(path)
		if owner == user {
			return unusable("%s cannot be read or written by its owner, user %s: correct its mode with chmod u+rwX, and check that it is not write-protected (chattr)", name, user)
		}
		return unusable("%s belongs to user %s, and this process runs as user %s, which cannot read or write it: "+
			"give the whole data directory to that user with chown -R, or run bridged as the other", name, owner, user)
	}
	return unusable("%s cannot be used: check the file, and that its volume is mounted", name).Because(err)
}

// explainSystem returns a sentence for an error of the operating system that is not about one
// file, nil for others.
func explainSystem(name string, err error) *bridge.Error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return unusable("%s", diskFull)
	case errors.Is(err, syscall.EROFS):
		return unusable("%s is on a read-only file system: mount its volume writable", name)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return unusable("%s cannot be opened, this process has too many open files: raise the limit (ulimit -n)", name)
	case errors.Is(err, syscall.EIO):
		return unusable("%s", fmt.Sprintf(diskErrors, name))
	}
	return nil
}
