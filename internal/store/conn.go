package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"zombiezen.com/go/sqlite"
)

// conn is one connection with the statements that it has prepared: SQLite
// takes longer to prepare most of ours than to run them. It is used by one
// goroutine at a time.
//
// It does without database/sql, which boxes every value of every row and takes
// a lock for each: that costs more than reading the rows.
type conn struct {
	db      *sqlite.Conn
	stmts   map[string]*stmt
	until   <-chan struct{} // interrupts what runs
	running int             // statements that have rows yet
}

// stmt is a prepared statement.
type stmt struct {
	*sqlite.Stmt
	params  int
	running bool
}

// limited ends a query whose number of rows is an argument. SQLite prepares a
// statement with a bare "LIMIT ?" anew for each run (sqlite3ExprIsInteger looks at
// the value).
const limited = " LIMIT 0 + ?"

// openConn opens the file at path, which must be there.
func openConn(path string, pragmas []string) (*conn, error) {
	db, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return nil, failure(err)
	}
	db.SetBusyTimeout(0) // the pragmas say how long another one's lock is waited for
	c := &conn{db: db, stmts: make(map[string]*stmt)}
	for _, pragma := range pragmas {
		if err := c.once("PRAGMA " + pragma); err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	return c, nil
}

// close closes the connection. The last one of a file copies the log into it and
// removes the log, which an interruption would prevent: a statement clears it.
func (c *conn) close() error {
	c.interruptWith(context.Background())
	cleared := c.once("SELECT 1")
	for _, stmt := range c.stmts {
		// What it returns is the error of its last run, which was told then.
		_ = stmt.Finalize()
	}
	return errors.Join(cleared, failure(c.db.Close()))
}

// once runs statements that are not kept.
func (c *conn) once(script string) error {
	for script = strings.TrimSpace(script); script != ""; script = strings.TrimSpace(script) {
		stmt, rest, err := c.db.PrepareTransient(script)
		if err != nil {
			return failure(err)
		}
		script = script[len(script)-rest:]
		if err := errors.Join(runAll(stmt), stmt.Finalize()); err != nil {
			return failure(err)
		}
	}
	return nil
}

// runAll steps through all rows of a statement.
func runAll(s *sqlite.Stmt) (err error) {
	for more := true; more && err == nil; {
		more, err = s.Step()
	}
	return err
}

// begin binds arguments to a statement, which ends with ctx.
func (c *conn) begin(ctx context.Context, query string, args []any) (*stmt, error) {
	c.interruptWith(ctx)
	s, err := c.prepare(query)
	if err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	if s.running {
		return nil, errors.New("a statement is run again while its rows are read")
	}
	if len(args) != s.params {
		return nil, fmt.Errorf("a statement with %d parameters is given %d arguments", s.params, len(args))
	}
	for i, arg := range args {
		if err := bind(s.Stmt, i+1, arg); err != nil {
			return nil, err
		}
	}
	s.running = true
	c.running++
	return s, nil
}

func (c *conn) prepare(query string) (*stmt, error) {
	if s, ok := c.stmts[query]; ok {
		return s, nil
	}
	prepared, rest, err := c.db.PrepareTransient(query)
	if err != nil {
		return nil, failure(err)
	}
	if rest > 0 {
		return nil, errors.Join(errors.New("there is something behind the statement"), failure(prepared.Finalize()))
	}
	s := &stmt{Stmt: prepared, params: prepared.BindParamCount()}
	c.stmts[query] = s
	return s, nil
}

// end makes a statement ready to be run again.
func (c *conn) end(s *stmt) {
	// Both return the error of the run, which step has returned.
	_, _ = s.Reset(), s.ClearBindings()
	s.running = false
	c.running--
}

// interruptWith has what runs from now on end with ctx. A statement within the
// rows of another one ends with that one's.
func (c *conn) interruptWith(ctx context.Context) {
	if done := ctx.Done(); done != c.until && c.running == 0 {
		c.db.SetInterrupt(done)
		c.until = done
	}
}

// run executes a statement for its effect, of which changes and lastID tell.
func (c *conn) run(ctx context.Context, query string, args ...any) error {
	s, err := c.begin(ctx, query, args)
	if err != nil {
		return err
	}
	defer c.end(s)
	return failure(runAll(s.Stmt))
}

// changes returns how many rows the last statement has changed.
func (c *conn) changes() int64 { return int64(c.db.Changes()) }

// lastID returns the id of the row that was inserted last.
func (c *conn) lastID() int64 { return c.db.LastInsertRowID() }

// query returns the rows of a query, which must be closed.
func (c *conn) query(ctx context.Context, query string, args ...any) (*resultSet, error) {
	s, err := c.begin(ctx, query, args)
	if err != nil {
		return nil, err
	}
	return &resultSet{conn: c, stmt: s}, nil
}

// scan reads the one row of a query: [sql.ErrNoRows] when there is none.
func (c *conn) scan(ctx context.Context, query string, args []any, into ...any) error {
	rows, err := c.query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if rows.Next() {
		return rows.Scan(into...)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return sql.ErrNoRows
}

// each calls f for every row of a query.
func (c *conn) each(ctx context.Context, query string, args []any, f func(*resultSet) error) error {
	rows, err := c.query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
