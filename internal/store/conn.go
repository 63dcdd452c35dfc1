package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// conn is one connection with the statements that it has prepared: SQLite
// takes longer to prepare most of ours than to run them. It is used by one
// goroutine at a time.
type conn struct {
	sqlConn *sql.Conn
	stmts   map[string]*sql.Stmt
}

func newConn(ctx context.Context, db *sql.DB) (*conn, error) {
	sqlConn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{sqlConn: sqlConn, stmts: make(map[string]*sql.Stmt)}, nil
}

func (c *conn) close() {
	for _, stmt := range c.stmts {
		stmt.Close()
	}
	c.sqlConn.Close()
}

func (c *conn) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt, ok := c.stmts[query]; ok {
		return stmt, nil
	}
	stmt, err := c.sqlConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	c.stmts[query] = stmt
	return stmt, nil
}

func (c *conn) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	stmt, err := c.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(ctx, args...)
}

func (c *conn) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := c.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// scan reads the one row of a query: [sql.ErrNoRows] when there is none.
func (c *conn) scan(ctx context.Context, query string, args []any, into ...any) error {
	stmt, err := c.prepare(ctx, query)
	if err != nil {
		return err
	}
	return stmt.QueryRowContext(ctx, args...).Scan(into...)
}

// each calls f for every row of a query.
func (c *conn) each(ctx context.Context, query string, args []any, f func(*sql.Rows) error) error {
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

// readTx is one consistent view of the store, for reading.
type readTx struct {
	*conn
	s *Store

	withoutIndex bool // searches scan
}

// read runs f on one snapshot. Its errors are those of explainRead.
func (s *Store) read(ctx context.Context, f func(*readTx) error) error {
	var r *conn
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closed:
		return errClosed()
	case r = <-s.readers:
	}
	defer func() { s.readers <- r }()
	// Beginning and ending are not cut short: the connection is used again.
	whole := context.WithoutCancel(ctx)
	if _, err := r.exec(whole, "BEGIN"); err != nil {
		return explainRead(ctx, fmt.Errorf("begin reading: %w", err))
	}
	err := f(&readTx{conn: r, s: s})
	if _, end := r.exec(whole, "ROLLBACK"); end != nil {
		err = errors.Join(err, fmt.Errorf("end reading: %w", end))
	}
	return explainRead(ctx, err)
}
