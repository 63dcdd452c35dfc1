// Package sqlite connects to bridged.db, with prepared statements.
//
// A transaction stores its first error, as bufio's Writer does ([Conn.Err]). Statements after it do
// nothing and find nothing, and the transaction returns it ([Conn.View], [Conn.Update]).
//
// The package does not use database/sql, which allocates every value of every row and takes a lock for
// each: that costs more than reading the rows. The package does not know the tables.
package sqlite

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"zombiezen.com/go/sqlite"
)

// Conn is one connection, for one goroutine at a time. It caches its prepared statements: most take
// longer to prepare than to run.
type Conn struct {
	sqlite *sqlite.Conn
	stmts  map[string]*stmt
	err    error // the first of a transaction
}

// stmt is a prepared statement.
type stmt struct {
	*sqlite.Stmt
	params  int
	running bool
}

// Limited ends a query whose number of rows is an argument. SQLite prepares a statement with
// a plain "LIMIT ?" again for each run (sqlite3ExprIsInteger reads the value).
const Limited = " LIMIT 0 + ?"

// Open opens the file at path, which must be there.
func Open(path string, pragmas []string) (*Conn, error) {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return nil, coded(err)
	}
	conn.SetBusyTimeout(0) // the pragmas set it
	c := &Conn{sqlite: conn, stmts: make(map[string]*stmt)}
	for _, pragma := range pragmas {
		if err := c.Script("PRAGMA " + pragma); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// Close closes the connection. The last one of a file removes its write-ahead log.
func (c *Conn) Close() error {
	for _, s := range c.stmts {
		_ = s.Finalize() // the error of its last run, which was returned then
	}
	return coded(c.sqlite.Close())
}

// Script runs statements without caching them, also after an error.
func (c *Conn) Script(script string) error {
	for script = strings.TrimSpace(script); script != ""; script = strings.TrimSpace(script) {
		s, rest, err := c.sqlite.PrepareTransient(script)
		if err != nil {
			return coded(err)
		}
		script = script[len(script)-rest:]
		for more := true; more && err == nil; {
			more, err = s.Step()
		}
		if err := errors.Join(err, s.Finalize()); err != nil {
			return coded(err)
		}
	}
	return nil
}

// Use runs f without a transaction, until ctx ends, and returns the first error.
func (c *Conn) Use(ctx context.Context, f func()) error {
	c.err = nil
	c.sqlite.SetInterrupt(ctx.Done())
	defer c.clearInterrupt(ctx)
	f()
	if ended := ctx.Err(); c.err != nil && ended != nil { // what SQLite calls an interrupt
		return errors.Join(ended, c.err)
	}
	return c.err
}

// clearInterrupt ends the use of a connection. An interrupt outlives it: SQLite clears the
// flag only when the next statement begins (sqlite3Step in vdbeapi.c), and closing the
// connection begins none: it would skip its checkpoint, without an error, and leave the
// write-ahead log.
func (c *Conn) clearInterrupt(ctx context.Context) {
	c.sqlite.SetInterrupt(nil)
	if ctx.Err() != nil {
		c.Fail(c.always("SELECT 1"))
	}
}

// View runs f on one snapshot, until ctx ends.
func (c *Conn) View(ctx context.Context, f func()) (err error) {
	// Beginning and ending are not interrupted: the connection is used again.
	if err := c.always("BEGIN"); err != nil {
		return fmt.Errorf("begin reading: %w", err)
	}
	defer func() { // also after a panic of f
		if end := c.always("ROLLBACK"); end != nil {
			err = errors.Join(err, fmt.Errorf("end reading: %w", end))
		}
	}()
	return c.Use(ctx, f)
}

// Update runs f in one immediate transaction. It rolls back after an error or a panic of f.
func (c *Conn) Update(f func()) error {
	if err := c.always("BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin writing: %w", err)
	}
	committed := false
	defer func() {
		if !committed {
			_ = c.always("ROLLBACK") // fails where SQLite has rolled back by itself
		}
	}()
	c.err = nil
	f()
	if c.err != nil {
		return c.err
	}
	if err := c.always("COMMIT"); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	committed = true
	return nil
}

// always runs a statement, also after an error.
func (c *Conn) always(query string) (err error) {
	c.err, err = nil, c.err
	c.Run(query)
	c.err, err = err, c.err
	return err
}

// Fail makes the transaction fail with err, unless err is nil or it has failed already.
func (c *Conn) Fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// Try runs f and returns its first error, which does not end the transaction.
func (c *Conn) Try(f func()) (err error) {
	f()
	err, c.err = c.err, nil
	return err
}

// Err returns why the transaction has failed, nil while it has not.
func (c *Conn) Err() error { return c.err }

// Run runs a statement for its effect.
func (c *Conn) Run(query string, args ...any) {
	for range c.Rows(query, args...) {
	}
}

// Change runs a statement and returns how many rows it has changed.
func (c *Conn) Change(query string, args ...any) int64 {
	c.Run(query, args...)
	if c.err != nil {
		return 0
	}
	return int64(c.sqlite.Changes())
}

// Insert runs a statement and returns the row's id.
func (c *Conn) Insert(query string, args ...any) int64 {
	c.Run(query, args...)
	if c.err != nil {
		return 0
	}
	return c.sqlite.LastInsertRowID()
}

// Find reads the first row of a query, and reports whether there is one.
func (c *Conn) Find(query string, args []any, into ...any) bool {
	for row := range c.Rows(query, args...) {
		return row.Scan(into...)
	}
	return false
}

// List returns the one column of a query.
func List[T any](c *Conn, query string, args ...any) (list []T) {
	for row := range c.Rows(query, args...) {
		var value T
		row.Scan(&value)
		list = append(list, value)
	}
	return list
}

// Collect returns the result of scan for each row of a query.
func Collect[T any](c *Conn, scan func(*Row) T, query string, args ...any) []T {
	list := []T{}
	for row := range c.Rows(query, args...) {
		list = append(list, scan(row))
	}
	return list
}

// Rows runs a query and returns its rows, each of them valid until the next one.
func (c *Conn) Rows(query string, args ...any) iter.Seq[*Row] {
	return func(yield func(*Row) bool) {
		s := c.begin(query, args)
		if s == nil {
			return
		}
		defer func() {
			_, _ = s.Reset(), s.ClearBindings() // both return the error that step has recorded
			s.running = false
		}()
		row := &Row{conn: c, stmt: s.Stmt}
		for c.step(s) && yield(row) {
		}
	}
}

// begin binds arguments to a statement. It returns nil after an error.
func (c *Conn) begin(query string, args []any) *stmt {
	if c.err != nil {
		return nil
	}
	s, err := c.prepare(query)
	switch {
	case err != nil:
		c.Fail(fmt.Errorf("prepare: %w", err))
	case s.running:
		c.Fail(errors.New("a statement is run again while its rows are read"))
	case len(args) != s.params:
		c.Fail(fmt.Errorf("a statement with %d parameters is given %d arguments", s.params, len(args)))
	}
	if c.err != nil {
		return nil
	}
	for i, arg := range args {
		c.Fail(bind(s.Stmt, i+1, arg))
	}
	s.running = true
	return s
}

func (c *Conn) prepare(query string) (*stmt, error) {
	if s, ok := c.stmts[query]; ok {
		return s, nil
	}
	prepared, rest, err := c.sqlite.PrepareTransient(query)
	if err != nil {
		return nil, coded(err)
	}
	if rest > 0 {
		return nil, errors.Join(errors.New("there is text after the statement"), prepared.Finalize())
	}
	s := &stmt{Stmt: prepared, params: prepared.BindParamCount()}
	c.stmts[query] = s
	return s, nil
}

// step steps to the next row and reports whether there is one.
func (c *Conn) step(s *stmt) bool {
	if c.err != nil {
		return false
	}
	more, err := s.Step()
	c.Fail(coded(err))
	return more && err == nil
}

// Encode returns the JSON of a value.
func (c *Conn) Encode(value any) string {
	data, err := json.Marshal(value)
	c.Fail(err)
	return string(data)
}

// Decode reads JSON into a variable; an empty text leaves it as it is.
func (c *Conn) Decode(text []byte, into any) {
	if len(text) > 0 {
		c.Fail(json.Unmarshal(text, into))
	}
}

// Filter gathers the conditions of a query.
type Filter struct {
	conditions []string
	Args       []any
}

// Add adds a condition with its arguments.
func (f *Filter) Add(condition string, args ...any) {
	f.conditions, f.Args = append(f.conditions, condition), append(f.Args, args...)
}

// Where returns all conditions.
func (f *Filter) Where() string { return cmp.Or(strings.Join(f.conditions, " AND "), "1") }

// codedError carries an error of SQLite with its code, for package dbfile.
type codedError struct{ error }

func (e codedError) Unwrap() error { return e.error }

func (e codedError) Code() int { return int(sqlite.ErrCode(e.error)) }

func coded(err error) error {
	if err == nil {
		return nil
	}
	return codedError{err}
}
