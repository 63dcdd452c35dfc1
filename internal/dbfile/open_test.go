package dbfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"

	"bridged/internal/bridge"
)

var things = Database{Name: "a.db", Repair: "move it away", SchemaQuery: "PRAGMA user_version", Schema: 3}

// coded is an error with a code of SQLite.
type coded int

func (c coded) Error() string { return fmt.Sprintf("sqlite: %d", int(c)) }
func (c coded) Code() int     { return int(c) }

// Every error of opening has a sentence, and only proven damage has a remedy that loses the file.
func TestExplainOpening_GivesNothingUpWithoutProvenDamage(t *testing.T) {
	path := newDatabase(t)
	for want, err := range map[string]error{
		"a.db is locked by another program: end that program":                 coded(sqlite3.SQLITE_BUSY),
		"a.db is locked by another program: end that program, or wait":        coded(sqlite3.SQLITE_PROTOCOL),
		"a.db is on a file system without memory that processes share":        coded(sqlite3.SQLITE_IOERR_SHMMAP),
		"a.db is on a file system without memory that processes share (mmap)": coded(sqlite3.SQLITE_IOERR_SHMOPEN),
		"a.db is on a file system without locks: use a local":                 coded(sqlite3.SQLITE_IOERR_LOCK),
		"a.db is on a file system without locks":                              coded(sqlite3.SQLITE_IOERR_SHMLOCK),
		"a.db cannot be used, memory is short":                                coded(sqlite3.SQLITE_IOERR_NOMEM),
		"a.db cannot be read or written, the disk answers with errors":        coded(sqlite3.SQLITE_IOERR_READ),
		"a.db cannot be opened: check that its volume is mounted":             coded(sqlite3.SQLITE_CANTOPEN),
		"a.db is read-only: make":                                             coded(sqlite3.SQLITE_READONLY_DIRECTORY),
		"the disk is full: make":                                              coded(sqlite3.SQLITE_IOERR_SHMSIZE),
		"the disk is full: make room":                                         coded(sqlite3.SQLITE_FULL),
		"the disk is full: make room, writing goes on":                        &fs.PathError{Op: "write", Err: syscall.ENOSPC},
		"the disk is full": &fs.PathError{Op: "write", Err: syscall.EDQUOT},
		"a.db is on a read-only file system: mount its volume writable":          &fs.PathError{Op: "open", Err: syscall.EROFS},
		"a.db cannot be opened, this process has too many open files: raise":     &fs.PathError{Op: "open", Err: syscall.EMFILE},
		"a.db cannot be read or written, the disk answers with errors: check":    &fs.PathError{Op: "read", Err: syscall.EIO},
		"a.db answers with an error (SQLite's code 20): restart bridged":         coded(sqlite3.SQLITE_MISMATCH),
		"a.db was written by a newer bridged (schema 9, this program knows 3): ": things.Newer(9),
	} {
		err := things.ExplainOpening(path, fmt.Errorf("open: %w", err))
		if bridge.CodeOf(err) != bridge.CodeStorageUnavailable || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want storage_unavailable with %q", err, want)
		}
		if strings.Contains(err.Error(), "damaged") || strings.Contains(err.Error(), things.Repair) {
			t.Errorf("calls an intact file damaged: %v", err)
		}
	}
	for _, code := range []coded{sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT_INDEX} {
		if err := things.ExplainOpening(path, code); err == nil || !strings.HasPrefix(err.Error(), "a.db is damaged: move it away") {
			t.Errorf("%d: %v", code, err)
		}
	}
	other := errors.New("something else")
	if err := things.ExplainOpening(path, other); err != other {
		t.Errorf("%v", err)
	}
	if err := things.Unreadable(other); strings.Contains(err.Error(), things.Repair) || !strings.Contains(err.Error(), "bridged doctor") {
		t.Errorf("%v", err)
	}
}

// Another connection of this process would hide its own locks: the other program is a process in
// package e2e. Here are the faults that need none.
func TestExamine_SaysWhyAnIntactDatabaseCannotBeUsed(t *testing.T) {
	for want, harm := range map[string]func(t *testing.T, path string){
		"a.db was written by a newer bridged (schema 9, this program knows 3): install that version again, or restore a backup": func(t *testing.T, path string) {
			change(t, path, "PRAGMA user_version = 9")
		},
		"a.db-shm is not a file: move it away, and put the database in its place": func(t *testing.T, path string) { ok(t, os.Mkdir(path+"-shm", 0o700)) },
		"a.db is not a file: move it away, and put the database in its place": func(t *testing.T, path string) {
			ok(t, os.Remove(path))
			ok(t, os.Mkdir(path, 0o700))
		},
	} {
		path := newDatabase(t)
		harm(t, path)
		if err := things.Examine(t.Context(), path); err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	other := things
	other.Application = 7
	if err := other.Examine(t.Context(), newDatabase(t)); err == nil || !strings.HasPrefix(err.Error(), "a.db is a database of another program: ") {
		t.Errorf("%v", err)
	}
	fresh := things
	fresh.SchemaQuery = "SELECT version FROM not_created_yet"
	ok(t, fresh.Examine(t.Context(), newDatabase(t)))
}

func change(t *testing.T, path, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	ok(t, err)
	_, err = db.ExecContext(context.Background(), query)
	ok(t, errors.Join(err, db.Close()))
}

func TestExposed_NamesADirectoryThatOthersCanRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	ok(t, os.Mkdir(dir, 0o700))
	if got := Exposed(dir); got != "" {
		t.Errorf("private: %s", got)
	}
	ok(t, os.Chmod(dir, 0o755))
	if got := Exposed(dir); !strings.HasPrefix(got, "DATA_DIR has the mode 0755, so other users of this machine may read") {
		t.Errorf("open: %s", got)
	}
	ok(t, MakePrivate(dir, 0o700))
	if got := Exposed(dir); got != "" {
		t.Errorf("private again: %s", got)
	}
	if err := MakePrivate(filepath.Join(dir, "missing"), 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}
