package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"

	"bridged/internal/bridge"
	"bridged/internal/dbfile"
)

func memoryConn(t *testing.T) *conn {
	t.Helper()
	db, err := sqlite.OpenConn(":memory:", sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	c := &conn{db: db, stmts: make(map[string]*stmt)}
	t.Cleanup(func() {
		if err := c.close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// TestConn_ValuesComeBackAsTheyWent also NULL, nothing, NUL, and types of ours.
func TestConn_ValuesComeBackAsTheyWent(t *testing.T) {
	t.Parallel()
	c := memoryConn(t)
	text, moment := "text with \x00 inside", int64(-1<<63)
	var (
		got struct {
			text, empty, pointed string
			jid                  bridge.JID
			kind                 bridge.MediaType
			yes                  bool
			number               int64
			null, some           sql.NullInt64
			none                 *string
			raw                  sql.RawBytes
			blob, nothing        []byte
			named                *bridge.JID
		}
		blob = []byte{0, 1, 2}
	)
	err := c.scan(t.Context(), "SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?",
		[]any{text, "", &text, bridge.JID("1@lid"), bridge.MediaImage, true, moment, nil, 7, (*string)(nil), blob, blob, []byte(nil), "2@lid"},
		&got.text, &got.empty, &got.pointed, &got.jid, &got.kind, &got.yes, &got.number, &got.null, &got.some, &got.none, &got.raw, &got.blob, &got.nothing, &got.named)
	if err != nil {
		t.Fatal(err)
	}
	if got.text != text || got.empty != "" || got.pointed != text || got.jid != "1@lid" || got.kind != bridge.MediaImage || !got.yes || got.number != moment {
		t.Errorf("values: %+v", got)
	}
	if got.null.Valid || !got.some.Valid || got.some.Int64 != 7 || got.none != nil || got.named == nil || *got.named != "2@lid" {
		t.Errorf("what may be NULL: %+v", got)
	}
	if !slices.Equal(got.raw, blob) || !slices.Equal(got.blob, blob) || got.nothing != nil {
		t.Errorf("bytes: %v %v %v", got.raw, got.blob, got.nothing)
	}
	if err := c.scan(t.Context(), "SELECT 1 WHERE 0", nil, &got.number); !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("no row: %v", err)
	}
}

// TestConn_RefusesWhatDoesNotFit: an argument too few would be NULL, a statement
// run again would begin anew, and a text would be the number 0.
func TestConn_RefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	c, ctx := memoryConn(t), t.Context()
	var number int64
	for what, err := range map[string]error{
		"2 parameters":     c.scan(ctx, "SELECT ? + ?", []any{1}, &number),
		"2 columns":        c.scan(ctx, "SELECT 1, 2", nil, &number),
		"NULL":             c.scan(ctx, "SELECT NULL", nil, &number),
		"whole number":     c.scan(ctx, "SELECT 'one'", nil, &number),
		"is too large":     c.scan(ctx, "SELECT 300", nil, new(int8)),
		"no value of":      c.scan(ctx, "SELECT -1", nil, new(uint64)),
		"no rule":          c.scan(ctx, "SELECT 1", nil, new(struct{})),
		"behind":           c.run(ctx, "SELECT 1; SELECT 2"),
		"behind the":       c.run(ctx, "SELECT 1; SELECT 2"), // nor later
		"unsupported type": c.run(ctx, "SELECT ?", struct{}{}),
	} {
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	const one = "SELECT 1"
	err := c.each(ctx, one, nil, func(*resultSet) error { return c.scan(ctx, one, nil, &number) })
	if err == nil || !strings.Contains(err.Error(), "run again") {
		t.Errorf("a statement within its own rows: %v", err)
	}
	if err := c.scan(ctx, one, nil, &number); err != nil || number != 1 {
		t.Errorf("afterwards: %d, %v", number, err)
	}
}

// TestConn_AStatementEndsWithItsContext, and the connection is used again.
func TestConn_AStatementEndsWithItsContext(t *testing.T) {
	t.Parallel()
	c := memoryConn(t)
	ctx, cancel := context.WithCancel(t.Context())
	var number int64
	err := c.each(ctx, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n", nil, func(rows *resultSet) error {
		cancel()
		return rows.Scan(&number)
	})
	if dbfile.ResultCode(err) != int(sqlite.ResultInterrupt) {
		t.Errorf("ended by %v", err)
	}
	if err := c.scan(t.Context(), "SELECT 5", nil, &number); err != nil || number != 5 {
		t.Errorf("afterwards: %d, %v", number, err)
	}
}

// TestConn_LimitsAreNotPreparedAnew guards limited: a statement with a bare "LIMIT ?"
// is prepared anew for each run.
func TestConn_LimitsAreNotPreparedAnew(t *testing.T) {
	t.Parallel()
	c := memoryConn(t)
	query := "SELECT name FROM sqlite_schema ORDER BY rowid" + limited
	prepared := 0
	err := c.db.SetAuthorizer(sqlite.AuthorizeFunc(func(sqlite.Action) sqlite.AuthResult { prepared++; return sqlite.AuthResultOK }))
	if err != nil {
		t.Fatal(err)
	}
	var once int
	for n := range 3 {
		if err := c.run(t.Context(), query, n); err != nil {
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
