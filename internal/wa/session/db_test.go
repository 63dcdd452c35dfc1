package session

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"
	"modernc.org/sqlite"
)

// TestDB_CutsOffTheLogOfAKilledRun: the text of a message that was decrypted,
// stored and removed must not stay in the log of a run that could not close its
// file.
func TestDB_CutsOffTheLogOfAKilledRun(t *testing.T) {
	t.Parallel()
	running, killed := t.TempDir(), t.TempDir()
	db, err := openFile(t.Context(), filepath.Join(running, "session.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{"CREATE TABLE texts (text TEXT)", "INSERT INTO texts VALUES ('the-removed-text')", "DELETE FROM texts"} {
		if _, err := db.sql.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"session.db", "session.db-wal"} { // as left by a kill
		data, err := os.ReadFile(filepath.Join(running, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(killed, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(killed, "session.db-wal")
	if data, err := os.ReadFile(path); err != nil || !bytes.Contains(data, []byte("the-removed-text")) {
		t.Fatalf("the log does not hold the text: the test does not look where it is (%v)", err)
	}
	next, err := openFile(t.Context(), filepath.Join(killed, "session.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	deletions := make(chan struct{}) // the first is received once the log has been cut off
	go func() {
		defer close(done)
		next.KeepLogShort(ctx, deletions, zerolog.Nop())
	}()
	deletions <- struct{}{}
	cancel()
	<-done
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Errorf("the log after the start: %v, %v", info, err)
	}
}

// TestDB_CloseLeavesNothingInTheLog of what was deleted last, also if a statement was interrupted
// before.
func TestDB_CloseLeavesNothingInTheLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "session.db")
	db, err := openFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"CREATE TABLE texts (text TEXT)", "INSERT INTO texts VALUES ('the-removed-text')", "DELETE FROM texts"} {
		if _, err := db.sql.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for _, pool := range []*sql.DB{db.sql, db.keeper} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		rows, err := pool.QueryContext(ctx, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			cancel()
		}
		if err := errors.Join(rows.Err(), rows.Close()); err == nil {
			t.Fatal("the statement was not interrupted")
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + "-wal"} {
		if data, err := os.ReadFile(name); bytes.Contains(data, []byte("the-removed-text")) || err != nil && name == path {
			t.Errorf("%s has the text, or cannot be read: %v", filepath.Base(name), err)
		}
	}
}

// TestDB_GivesPagesBack of both connections: an idle bridge keeps none.
func TestDB_GivesPagesBack(t *testing.T) {
	t.Parallel()
	db, err := openFile(t.Context(), filepath.Join(t.TempDir(), "session.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{"CREATE TABLE keys (key BLOB)", "INSERT INTO keys VALUES (zeroblob(65536))"} {
		if _, err := db.sql.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	kept := func(of *sql.DB) (bytes int) {
		conn, err := of.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		err = conn.Raw(func(driver any) (err error) {
			bytes, _, err = driver.(*connection).conn.(sqlite.DBStatus).Status(sqlite.DBStatusCacheUsed, false)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return bytes
	}
	for range 2 {
		for _, of := range []*sql.DB{db.sql, db.keeper} {
			var size int
			if err := of.QueryRowContext(t.Context(), "SELECT length(key || '') FROM keys").Scan(&size); err != nil {
				t.Fatal(err)
			}
			if kept(of) < 64<<10 {
				t.Fatalf("kept before: %d bytes, the test shows nothing", kept(of))
			}
		}
		if err := db.ReleaseMemory(t.Context()); err != nil {
			t.Fatal(err)
		}
		if kept(db.sql) > 16<<10 || kept(db.keeper) > 16<<10 { // room for their own tables
			t.Errorf("kept: %d and %d bytes", kept(db.sql), kept(db.keeper))
		}
	}
}
