package wa

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
)

// newWordsDB returns a session database with a table of its own.
func newWordsDB(t *testing.T) *sessionDB {
	t.Helper()
	db, err := openSessionDB(t.Context(), filepath.Join(t.TempDir(), "session.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE words (word TEXT)"); err != nil {
		t.Fatal(err)
	}
	return db
}

// add adds a word in a transaction.
func add(t *testing.T, ctx context.Context, db *sessionDB, word string) {
	t.Helper()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO words VALUES (?)", word); err != nil {
		t.Fatal(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// onConn calls f with the database's one connection.
func onConn(t *testing.T, db *sessionDB, f func(*sessionConn)) {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Raw(func(c any) error { f(c.(*sessionConn)); return nil }); err != nil {
		t.Fatal(err)
	}
}

func TestSessionConn_PreparesAStatementOnce(t *testing.T) {
	t.Parallel()
	db := newWordsDB(t)
	const insert = "INSERT INTO words VALUES (?)"
	var first any
	for range 3 {
		add(t, t.Context(), db, "again")
		onConn(t, db, func(c *sessionConn) {
			if first == nil {
				first = c.idle[insert]
			}
			if c.idle[insert] == nil || c.idle[insert] != first {
				t.Errorf("the statement was prepared again: %v, %v", first, c.idle[insert])
			}
		})
	}
	for n := range 2 * maxIdleStatements {
		if _, err := db.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO words VALUES ('%d')", n)); err != nil {
			t.Fatal(err)
		}
	}
	onConn(t, db, func(c *sessionConn) {
		if len(c.idle) != maxIdleStatements {
			t.Errorf("%d statements are kept, want %d", len(c.idle), maxIdleStatements)
		}
	})
}

// A statement whose rows are being read cannot be run for other rows.
func TestSessionConn_ReadsTheSameStatementTwiceAtOnce(t *testing.T) {
	t.Parallel()
	db := newWordsDB(t)
	for _, word := range []string{"a", "b", "c"} {
		add(t, t.Context(), db, word)
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	const words = "SELECT word FROM words WHERE word >= ? ORDER BY word"
	var pairs string
	outer, err := tx.QueryContext(t.Context(), words, "a")
	if err != nil {
		t.Fatal(err)
	}
	defer outer.Close()
	for outer.Next() {
		var one, least string
		if err := outer.Scan(&one); err != nil {
			t.Fatal(err)
		}
		if err := tx.QueryRowContext(t.Context(), words, "b").Scan(&least); err != nil {
			t.Fatal(err)
		}
		pairs += one + least + " "
	}
	if err := outer.Err(); err != nil || pairs != "ab bb cb " {
		t.Errorf("read %q, %v", pairs, err)
	}
}
