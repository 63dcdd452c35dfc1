package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"go.mau.fi/whatsmeow/types"
)

// newWordsDB returns a session database with an additional table.
func newWordsDB(t *testing.T) *DB {
	t.Helper()
	db, err := openFile(t.Context(), filepath.Join(t.TempDir(), "session.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.sql.ExecContext(t.Context(), "CREATE TABLE words (word TEXT)"); err != nil {
		t.Fatal(err)
	}
	return db
}

// add adds a word in a transaction.
func add(t *testing.T, ctx context.Context, db *DB, word string) {
	t.Helper()
	tx, err := db.sql.BeginTx(ctx, nil)
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

// onConn calls f with the database's only connection.
func onConn(t *testing.T, db *DB, f func(*connection)) {
	t.Helper()
	conn, err := db.sql.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Raw(func(c any) error { f(c.(*connection)); return nil }); err != nil {
		t.Fatal(err)
	}
}

func TestConnection_PreparesAStatementOnce(t *testing.T) {
	t.Parallel()
	db := newWordsDB(t)
	const insert = "INSERT INTO words VALUES (?)"
	var first any
	for range 3 {
		add(t, t.Context(), db, "again")
		onConn(t, db, func(c *connection) {
			if first == nil {
				first = c.idle[insert]
			}
			if c.idle[insert] == nil || c.idle[insert] != first {
				t.Errorf("the statement was prepared again: %v, %v", first, c.idle[insert])
			}
		})
	}
	for n := range 2 * maxIdleStatements {
		if _, err := db.sql.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO words VALUES ('%d')", n)); err != nil {
			t.Fatal(err)
		}
	}
	onConn(t, db, func(c *connection) {
		if len(c.idle) != maxIdleStatements {
			t.Errorf("%d statements are kept, want %d", len(c.idle), maxIdleStatements)
		}
	})
}

// A statement cannot run again while its rows are being read.
func TestConnection_ReadsTheSameStatementTwiceAtOnce(t *testing.T) {
	t.Parallel()
	db := newWordsDB(t)
	for _, word := range []string{"a", "b", "c"} {
		add(t, t.Context(), db, word)
	}
	tx, err := db.sql.BeginTx(t.Context(), nil)
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

// level returns SQLite's number for which commits wait for the disk.
func level(t *testing.T, q interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
},
) (level int) {
	t.Helper()
	if err := q.QueryRowContext(t.Context(), "PRAGMA synchronous").Scan(&level); err != nil {
		t.Fatal(err)
	}
	return level
}

func TestConnection_WaitsForTheDiskUnlessPermitted(t *testing.T) {
	t.Parallel()
	const normal, full = 1, 2
	db := newWordsDB(t)
	for name, end := range map[string]func(*sql.Tx) error{"committed": (*sql.Tx).Commit, "rolled back": (*sql.Tx).Rollback} {
		for _, test := range []struct {
			ctx  context.Context
			want int
		}{{t.Context(), full}, {lagging(t.Context()), normal}, {durable(lagging(t.Context())), full}} {
			tx, err := db.sql.BeginTx(test.ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := level(t, tx); got != test.want {
				t.Errorf("synchronous is %d in a transaction, want %d", got, test.want)
			}
			if err := end(tx); err != nil {
				t.Fatal(err)
			}
			if got := level(t, db.sql); got != full {
				t.Errorf("synchronous is %d after one was %s, want %d", got, name, full)
			}
		}
	}
	ended, cancel := context.WithCancel(lagging(t.Context()))
	cancel()
	if _, err := db.sql.BeginTx(ended, nil); err == nil {
		t.Error("a transaction began in a context that had ended")
	}
	if got := level(t, db.sql); got != full {
		t.Errorf("synchronous is %d after one did not begin, want %d", got, full)
	}
}

// TestConnection_ThatGoesOnLaggingIsClosed: a connection that cannot be switched
// back to waiting for the disk must not store the session of a send.
func TestConnection_ThatGoesOnLaggingIsClosed(t *testing.T) {
	t.Parallel()
	db := newWordsDB(t)
	var first *connection
	onConn(t, db, func(c *connection) {
		if err := c.lag(true); err != nil {
			t.Fatal(err)
		}
		first = c
	})
	onConn(t, db, func(c *connection) {
		if c == first || c.lags {
			t.Error("the connection is used again")
		}
	})
}

// A killed process leaves its files as they are, including transactions that did
// not wait for the disk.
func TestConnection_AKillUndoesNothing(t *testing.T) {
	t.Parallel()
	db, killed := newWordsDB(t), t.TempDir()
	add(t, t.Context(), db, "durable")
	add(t, lagging(t.Context()), db, "lagging")
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(db.path + suffix)
		if err := errors.Join(err, os.WriteFile(filepath.Join(killed, "session.db"+suffix), data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	next, err := openFile(t.Context(), filepath.Join(killed, "session.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if n := countRows(t, next, "words"); n != 2 {
		t.Errorf("%d of 2 transactions are there after a kill", n)
	}
}

// laggingBuffer records which transactions lag.
type laggingBuffer struct {
	countedBuffer
	lags []bool
}

func (b *laggingBuffer) DoDecryptionTxn(ctx context.Context, fn func(context.Context) error) error {
	b.lags = append(b.lags, isLagging(ctx))
	return b.countedBuffer.DoDecryptionTxn(ctx, fn)
}

// Decryptions may lag by at most a second, sends never.
func TestLockedStore_DecryptionsLagAndSendsDoNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := new(laggingBuffer)
		s := newLockedStore(signalStores{b, b, b, b, b}, func(error) {}, zerolog.Nop())
		expect := func(what string, want bool) {
			t.Helper()
			if got := b.lags[len(b.lags)-1]; got != want {
				t.Errorf("%s lags: %v", what, got)
			}
		}
		decrypt := func() {
			if err := s.DoDecryptionTxn(t.Context(), func(context.Context) error { return nil }); err != nil {
				t.Error(err)
			}
		}
		decrypt()
		expect("the first decryption", false)
		time.Sleep(lagLimit / 2)
		decrypt()
		expect("the second decryption", true)
		time.Sleep(lagLimit / 2)
		decrypt()
		expect("a decryption after a second", false)
		decrypt()
		expect("the decryption behind it", true)

		ctx, end := s.lock.forSend(t.Context(), nil)
		if _, err := s.GetManySessions(ctx, nil); err != nil {
			t.Fatal(err)
		}
		if err := s.PutManySessions(ctx, nil); err != nil {
			t.Fatal(err)
		}
		end()
		expect("a send", false)

		decrypt()
		clearAll(t, s, one)
		time.Sleep(2 * clearPause)
		synctest.Wait()
		expect("what is done when it is quiet", false)
		s.end()
	})
}

func TestSecretTap_DoesNotWaitForTheDisk(t *testing.T) {
	t.Parallel()
	b := new(laggingBuffer)
	if err := (secretTap{b, b}).PutMessageSecret(t.Context(), types.JID{}, types.JID{}, "A", nil); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(b.lags, []bool{true}) {
		t.Errorf("transactions that lag: %v, want one", b.lags)
	}
}
