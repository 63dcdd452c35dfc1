// Package dbfile handles what can happen to a database file under a running program: errors
// of SQLite, for which it has sentences with a remedy ([Database.Explain]), and removal or
// replacement of the file, which SQLite does not notice ([Watch]).
package dbfile

import (
	"errors"
	"fmt"
	"os"

	sqlite3 "modernc.org/sqlite/lib"

	"bridged/internal/bridge"
)

// Database names a database file in sentences.
type Database struct {
	Name   string // of the file
	Repair string // what helps when it is damaged, as an imperative
}

// Explain turns an error of SQLite into [bridge.CodeStorageUnavailable], with a sentence
// that says what to do. Other errors, and [bridge.Error], stay as they are.
func (d Database) Explain(err error) error {
	var known *bridge.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	var sentence string
	switch code := ResultCode(err); code {
	case sqlite3.SQLITE_OK, sqlite3.SQLITE_INTERRUPT:
		return err
	case sqlite3.SQLITE_FULL:
		sentence = "the disk is full: make room, writing goes on by itself then"
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		sentence = d.Name + " is locked by another program: end that program, or wait until it has finished"
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN:
		sentence = d.Name + " cannot be read or written, the disk answers with errors: check the disk, and that its volume is mounted; the log has the cause"
	case sqlite3.SQLITE_NOMEM:
		sentence = d.Name + " cannot be used, memory is short: give the process more of it"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		sentence = d.Name + " is read-only: make the file and its directory writable for the user of this process"
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT:
		return d.Damaged(err)
	default:
		sentence = fmt.Sprintf("%s answers with an error (SQLite's code %d): if it stays, %s", d.Name, code, d.Repair)
	}
	return bridge.Fail(bridge.CodeStorageUnavailable, "%s", sentence).Because(err)
}

// Damaged returns the error of a database that cannot be understood any more.
func (d Database) Damaged(cause error) error {
	return bridge.Fail(bridge.CodeStorageUnavailable, "%s is damaged: %s", d.Name, d.Repair).Because(cause)
}

// ResultCode returns SQLite's primary result code of err, 0 when the error is
// not SQLite's.
func ResultCode(err error) int {
	var e interface {
		error
		Code() int
	}
	if !errors.As(err, &e) {
		return sqlite3.SQLITE_OK
	}
	return e.Code() & 0xff
}

// IsFull reports whether SQLite says that the disk is full.
func IsFull(err error) bool { return ResultCode(err) == sqlite3.SQLITE_FULL }

// IsDamage reports whether SQLite says that a file is damaged.
func IsDamage(err error) bool {
	code := ResultCode(err)
	return code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
}

// SyncDir syncs a directory, so that a file that was renamed there keeps its name over a
// power cut.
func SyncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
