package session

import (
	"context"
	"database/sql/driver"
	"errors"
	"time"

	"modernc.org/sqlite"
)

// connector opens connections to session.db that keep their prepared
// statements: whatsmeow prepares none, and SQLite takes longer to prepare most of
// them than to run them.
type connector struct{ driver.Connector }

func newConnector(dsn string) (connector, error) {
	c, err := sqlite.NewConnector(dsn)
	return connector{c}, err
}

// Connect opens a connection.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &connection{conn: conn.(sqliteConn), idle: make(map[string]driver.Stmt)}, nil
}

// sqliteConn is what the driver's connections can do. [connection] has no
// ExecContext and no QueryContext: without them database/sql prepares each
// statement, and closes it after its last row.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.SessionResetter
	driver.Validator
}

// connection is a connection to session.db.
type connection struct {
	conn sqliteConn
	idle map[string]driver.Stmt // prepared, and not in use
	lags bool                   // commits do not wait for the disk
}

// maxIdleStatements is how many statements a connection keeps: those of whatsmeow
// that do not vary, and some of those that do with the number of their rows.
const maxIdleStatements = 64

// PrepareContext returns a statement that is idle, or prepares one.
func (c *connection) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	stmt, isIdle := c.idle[query]
	if isIdle {
		delete(c.idle, query)
	} else {
		var err error
		if stmt, err = c.conn.PrepareContext(ctx, query); err != nil {
			return nil, err
		}
	}
	return &statement{sqliteStmt: stmt.(sqliteStmt), conn: c, query: query}, nil
}

// Prepare is PrepareContext without a context.
func (c *connection) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// sqliteStmt is what the driver's statements can do.
type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// statement is a prepared statement in use.
type statement struct {
	sqliteStmt
	conn  *connection
	query string
}

// Close leaves the statement idle.
func (s *statement) Close() error {
	if _, isIdle := s.conn.idle[s.query]; isIdle || len(s.conn.idle) == maxIdleStatements {
		return s.sqliteStmt.Close()
	}
	s.conn.idle[s.query] = s.sqliteStmt
	return nil
}

// releaseMemory gives back the pages that the connection keeps. SQLite does it
// when it prepares the statement, so that it cannot be one of those that are kept.
func (c *connection) releaseMemory(ctx context.Context) error {
	_, err := c.conn.ExecContext(ctx, "PRAGMA shrink_memory", nil)
	return err
}

// Close closes the connection and its statements.
func (c *connection) Close() error {
	var errs []error
	for query, stmt := range c.idle {
		errs = append(errs, stmt.Close())
		delete(c.idle, query)
	}
	return errors.Join(append(errs, c.conn.Close())...)
}

// ResetSession reports a connection that cannot be used again.
func (c *connection) ResetSession(ctx context.Context) error { return c.conn.ResetSession(ctx) }

// IsValid reports whether the connection can be used again. One that could not be
// set to wait for the disk again is closed.
func (c *connection) IsValid() bool { return c.conn.IsValid() && !c.lags }

// Begin begins a transaction.
func (c *connection) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

type laggingKey struct{}

// lagging returns a context whose transactions do not wait for the disk: after a
// power cut the last of them may be undone, the newest first, without harm to the
// file. A kill undoes none. The next transaction that does wait takes them with it.
//
// Decryptions may lag. What is acknowledged is in the store, which waits for the
// disk; a session that is put back reads its people's next messages as it would
// after lost ones; and what is not acknowledged comes again, and is decrypted
// again. Encryptions must not: a session that goes back after a message has left
// would use its key a second time, and the recipient would drop the next one.
func lagging(ctx context.Context) context.Context { return context.WithValue(ctx, laggingKey{}, true) }

// durable returns a context whose transactions wait for the disk.
func durable(ctx context.Context) context.Context { return context.WithValue(ctx, laggingKey{}, false) }

// isLagging reports whether a context's transactions do not wait for the disk.
func isLagging(ctx context.Context) bool {
	lags, _ := ctx.Value(laggingKey{}).(bool)
	return lags
}

// lagLimit is how long decryptions may lag: one in each second waits for the disk,
// and so does what is done when it is quiet (see [clearedContent]). Sessions read on
// behind at most 2,000 messages of one sender that they do not know of.
const lagLimit = time.Second

// BeginTx begins a transaction.
func (c *connection) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if !isLagging(ctx) {
		return c.conn.BeginTx(ctx, opts)
	}
	if err := c.lag(true); err != nil {
		return nil, err
	}
	tx, err := c.conn.BeginTx(ctx, opts)
	if err != nil {
		return nil, errors.Join(err, c.lag(false))
	}
	return laggingTx{tx, c}, nil
}

// lag says whether commits wait for the disk.
func (c *connection) lag(lags bool) error {
	level := "FULL"
	if lags {
		c.lags, level = true, "NORMAL"
	}
	_, err := c.conn.ExecContext(context.Background(), "PRAGMA synchronous = "+level, nil)
	if err == nil {
		c.lags = lags
	}
	return err
}

// laggingTx is a transaction that does not wait for the disk.
type laggingTx struct {
	driver.Tx
	conn *connection
}

// Commit commits the transaction.
func (t laggingTx) Commit() error { return errors.Join(t.Tx.Commit(), t.conn.lag(false)) }

// Rollback undoes the transaction.
func (t laggingTx) Rollback() error { return errors.Join(t.Tx.Rollback(), t.conn.lag(false)) }
