package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"

	"bridged/internal/bridge"
	"bridged/internal/dbfile"
)

func memoryConn(t *testing.T) *Conn {
	t.Helper()
	conn, err := sqlite.OpenConn(":memory:", sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	c := &Conn{sqlite: conn, stmts: make(map[string]*stmt)}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// TestConn_ValuesComeBackAsTheyWent also NULL, nothing, NUL, and types of ours.
func TestConn_ValuesComeBackAsTheyWent(t *testing.T) {
	t.Parallel()
	c := memoryConn(t)
	text, number, moment := "text with \x00 inside", int64(-1<<63), bridge.Millis(1_700_000_000_123)
	var (
		got struct {
			text, empty, pointed string
			jid                  bridge.JID
			kind                 bridge.MediaType
			yes                  bool
			number               int64
			null, some           *int64
			none                 *string
			raw                  Raw
			blob, nothing        []byte
			named                *bridge.JID
			at                   bridge.Time
			maybe, never         *bridge.Time
		}
		blob = []byte{0, 1, 2}
	)
	err := c.Use(t.Context(), func() {
		c.Find("SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?",
			[]any{text, "", &text, bridge.JID("1@lid"), bridge.MediaImage, true, number, nil, 7, (*string)(nil), blob, blob, []byte(nil), "2@lid", moment, &moment, bridge.Time{}},
			&got.text, &got.empty, &got.pointed, &got.jid, &got.kind, &got.yes, &got.number, &got.null, &got.some, &got.none, &got.raw, &got.blob, &got.nothing, &got.named,
			&got.at, &got.maybe, &got.never)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.text != text || got.empty != "" || got.pointed != text || got.jid != "1@lid" || got.kind != bridge.MediaImage || !got.yes || got.number != number {
		t.Errorf("values: %+v", got)
	}
	if got.null != nil || *got.some != 7 || got.none != nil || got.named == nil || *got.named != "2@lid" {
		t.Errorf("what may be NULL: %+v", got)
	}
	if !slices.Equal(got.raw, blob) || !slices.Equal(got.blob, blob) || got.nothing != nil {
		t.Errorf("bytes: %v %v %v", got.raw, got.blob, got.nothing)
	}
	if !got.at.Equal(moment.Time) || !got.maybe.Equal(moment.Time) || got.never != nil {
		t.Errorf("times: %v %v %v", got.at, got.maybe, got.never)
	}
}

// TestConn_RefusesWhatDoesNotFit: an argument too few would be NULL, a statement
// run again would begin anew, and a text would be the number 0.
func TestConn_RefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	c := memoryConn(t)
	var number int64
	const one = "SELECT 1"
	for what, f := range map[string]func(){
		"2 parameters":    func() { c.Find("SELECT ? + ?", []any{1}, &number) },
		"2 columns":       func() { c.Find("SELECT 1, 2", nil, &number) },
		"NULL":            func() { c.Find("SELECT NULL", nil, &number) },
		"whole number":    func() { c.Find("SELECT 'one'", nil, &number) },
		"no rule":         func() { c.Find("SELECT 300", nil, new(int8)) },
		"no rule for it":  func() { c.Find("SELECT -1", nil, new(uint64)) },
		"after":           func() { c.Run("SELECT 1; SELECT 2") },
		"after the":       func() { c.Run("SELECT 1; SELECT 2") }, // nor later
		"no column holds": func() { c.Run("SELECT ?", struct{}{}) },
		"run again": func() {
			for range c.Rows(one) {
				c.Find(one, nil, &number)
			}
		},
	} {
		if err := c.Use(t.Context(), f); err == nil || !strings.Contains(err.Error(), strings.TrimSuffix(what, " for it")) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := c.Use(t.Context(), func() { c.Find(one, nil, &number) }); err != nil || number != 1 {
		t.Errorf("afterwards: %d, %v", number, err)
	}
}

// TestConn_NothingIsDoneAfterAFailure, nothing found, and nothing committed.
func TestConn_NothingIsDoneAfterAFailure(t *testing.T) {
	t.Parallel()
	c := memoryConn(t)
	if err := c.Script("CREATE TABLE words (word TEXT NOT NULL)"); err != nil {
		t.Fatal(err)
	}
	err := c.Update(func() {
		c.Run("INSERT INTO words VALUES ('before')")
		c.Run("INSERT INTO words VALUES (NULL)")
		if n := c.Change("INSERT INTO words VALUES ('after')"); n != 0 || c.Find("SELECT 1", nil, new(int)) || List[int](c, "SELECT 1") != nil {
			t.Errorf("a statement after the failure has run, %d rows", n)
		}
	})
	if err == nil || !strings.Contains(err.Error(), "NOT NULL") {
		t.Errorf("the error: %v", err)
	}
	words := -1
	if err := c.View(t.Context(), func() { c.Find("SELECT count(*) FROM words", nil, &words) }); err != nil || words != 0 {
		t.Errorf("%d words are left, %v", words, err)
	}
}

// TestConn_AStatementEndsWithItsContext, and the connection is used again.
func TestConn_AStatementEndsWithItsContext(t *testing.T) {
	t.Parallel()
	c := memoryConn(t)
	ctx, cancel := context.WithCancel(t.Context())
	var number int64
	err := c.View(ctx, func() {
		for row := range c.Rows("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n") {
			cancel()
			row.Scan(&number)
		}
	})
	if dbfile.ResultCode(err) != int(sqlite.ResultInterrupt) {
		t.Errorf("ended by %v", err)
	}
	if err := c.View(t.Context(), func() { c.Find("SELECT 5", nil, &number) }); err != nil || number != 5 {
		t.Errorf("afterwards: %d, %v", number, err)
	}
}

// TestConn_LimitsAreNotPreparedAnew guards [Limited]: a statement with a bare
// "LIMIT ?" is prepared anew for each run.
func TestConn_LimitsAreNotPreparedAnew(t *testing.T) {
	t.Parallel()
	c := memoryConn(t)
	prepared := 0
	err := c.sqlite.SetAuthorizer(sqlite.AuthorizeFunc(func(sqlite.Action) sqlite.AuthResult { prepared++; return sqlite.AuthResultOK }))
	if err != nil {
		t.Fatal(err)
	}
	var once int
	for n := range 3 {
		if err := c.Use(t.Context(), func() { c.Run("SELECT name FROM sqlite_schema ORDER BY rowid"+Limited, n) }); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			once = prepared
		}
	}
	if once == 0 || prepared != once {
		t.Errorf("the authorizer was asked %d times at first, %d in all", once, prepared)
	}
}

// TestConn_AnInterruptDoesNotOutliveItsUse: closing the connection copies the write-ahead log into
// the database and removes it, also if its last use was interrupted in the middle.
func TestConn_AnInterruptDoesNotOutliveItsUse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Open(path, []string{"journal_mode(WAL)"})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Script("CREATE TABLE texts (text TEXT); INSERT INTO texts VALUES ('some text')"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = c.Use(ctx, func() {
		for range c.Rows("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n") {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("the use ended with %v", err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the write-ahead log is left: %v", err)
	}
}
