package store

import (
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"bridged/internal/bridge"
)

// explain turns SQLite's refusals to write into an error of
// [bridge.CodeStorageUnavailable], for which nothing may be acknowledged.
// Other errors stay as they are.
func explain(err error) error {
	var known *bridge.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	switch resultCode(err) {
	case sqlite3.SQLITE_FULL:
		return unavailable(err, "the disk is full; writing goes on by itself once there is room")
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return unavailable(err, "the store is locked by another program")
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM:
		return unavailable(err, "the store cannot be written: the disk answers with errors")
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		return unavailable(err, "the store cannot be written: the file or its directory is read-only")
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return unavailable(err, "the store is damaged; stop, and restore a backup")
	}
	return err
}

func unavailable(err error, sentence string) error {
	return bridge.Fail(bridge.CodeStorageUnavailable, "%s", sentence).Because(err)
}

// resultCode is SQLite's primary result code of err, 0 when it is not
// SQLite's.
func resultCode(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code() & 0xff
}

func errClosed() error {
	return bridge.Fail(bridge.CodeStorageUnavailable, "the store is closed: the program is ending")
}
