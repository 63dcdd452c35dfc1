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

// Database names a database file in sentences, and says which files are databases of this kind.
type Database struct {
	Name   string // of the file
	Repair string // what helps if it is damaged, as an imperative; may give up the file's content
	// Application is the application_id in the file's header, 0 for any.
	Application uint32
	// SchemaQuery returns the number of the file's schema; Schema is the latest that this program
	// knows. An empty query checks nothing.
	SchemaQuery string
	Schema      int
}

const (
	diskFull      = "the disk is full: make room, writing goes on by itself then"
	shortOfMemory = " cannot be used, memory is short: give the process more of it"
	diskErrors    = "%s cannot be read or written, the disk answers with errors: check the disk, and that its volume is mounted; the log has the cause"
)

func locked(name string) string {
	return name + " is locked by another program: end that program, or wait until it has finished"
}

func noLocks(name string) string {
	return name + " is on a file system without locks: use a local file system for DATA_DIR, or mount the share with locks (NFS 4, or CIFS without nobrl)"
}

func noSharedMemory(name string) string {
	return name + " is on a file system without memory that processes share (mmap), which SQLite requires: " +
		"use a local file system for DATA_DIR, or mount the share with a cache (CIFS without cache=none)"
}

// Explain turns an error of SQLite, or a full or failing disk, into [bridge.CodeStorageUnavailable], with
// a sentence that says what to do. Only proven damage gets the remedy of damage, which may give up the
// file's content. Other errors, and [bridge.Error], stay as they are.
func (d Database) Explain(err error) error {
	var known *bridge.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	var sentence string
	switch code := ResultCode(err); code {
	case sqlite3.SQLITE_OK:
		if reason := explainSystem(d.Name, err); reason != nil {
			return reason.Because(err)
		}
		return err
	case sqlite3.SQLITE_INTERRUPT:
		return err
	case sqlite3.SQLITE_FULL:
		sentence = diskFull
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		sentence = locked(d.Name)
	case sqlite3.SQLITE_IOERR:
		sentence = d.explainIO(extendedCode(err))
	case sqlite3.SQLITE_CANTOPEN:
		sentence = d.Name + " cannot be opened: check that its volume is mounted, that the user of this process may read and write all files of DATA_DIR, " +
			"and that it may open more files (ulimit -n); the log has the cause"
	case sqlite3.SQLITE_NOMEM:
		sentence = d.Name + shortOfMemory
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		sentence = d.Name + " is read-only: make the file and its directory writable for the user of this process"
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return d.Damaged(err)
	default:
		sentence = fmt.Sprintf("%s answers with an error (SQLite's code %d): restart bridged, and report this with the log if it stays", d.Name, code)
	}
	return bridge.Fail(bridge.CodeStorageUnavailable, "%s", sentence).Because(err)
}

// explainIO returns the sentence of an error of the file system.
func (d Database) explainIO(code int) string {
	switch code {
	case sqlite3.SQLITE_IOERR_SHMSIZE: // the shared memory's file cannot grow
		return diskFull
	case sqlite3.SQLITE_IOERR_SHMMAP, sqlite3.SQLITE_IOERR_SHMOPEN:
		return noSharedMemory(d.Name)
	case sqlite3.SQLITE_IOERR_LOCK, sqlite3.SQLITE_IOERR_RDLOCK, sqlite3.SQLITE_IOERR_UNLOCK, sqlite3.SQLITE_IOERR_CHECKRESERVEDLOCK, sqlite3.SQLITE_IOERR_SHMLOCK:
		return noLocks(d.Name)
	case sqlite3.SQLITE_IOERR_NOMEM:
		return d.Name + shortOfMemory
	}
	return fmt.Sprintf(diskErrors, d.Name)
}

// Damaged returns the error of a database that is proven to be damaged: SQLite or a check of its pages
// says so, or it does not begin as a database does.
func (d Database) Damaged(cause error) error {
	// Remedy: replace the file with a backup. Everything that is not damaged works.
	return bridge.Fail(bridge.CodeStorageUnavailable, "%s is damaged: %s", d.Name, d.Repair).Because(cause)
}

// Unreadable returns the error of a value in a database that cannot be decoded. SQLite did not call the
// file damaged, so the remedy gives nothing up.
func (d Database) Unreadable(cause error) error {
	return bridge.Fail(bridge.CodeStorageUnavailable, "%s has a value that cannot be read, and may be damaged: stop bridged and run bridged doctor, "+
		"which looks for damage; if it finds none, report this with the log, otherwise restore a backup with `bridged restore FILE`", d.Name).Because(cause)
}

// ResultCode returns SQLite's primary result code of err, 0 when the error is
// not SQLite's.
func ResultCode(err error) int { return extendedCode(err) & 0xff }

// extendedCode returns SQLite's extended result code of err, 0 if the error is not SQLite's.
func extendedCode(err error) int {
	var e interface {
		error
		Code() int
	}
	if !errors.As(err, &e) {
		return sqlite3.SQLITE_OK
	}
	return e.Code()
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
