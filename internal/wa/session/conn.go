package session

import (
	"context"
	"database/sql/driver"
	"errors"
	"time"

	"modernc.org/sqlite"
)

// connector opens connections that keep their prepared statements: whatsmeow prepares
// none, and SQLite takes longer to prepare most of them than to run them.
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

// sqliteConn is implemented by the driver's connections. [connection] has no
// ExecContext and no QueryContext, so that database/sql prepares each statement, and
// closes it after its last row.
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

// maxIdleStatements has room for whatsmeow's constant statements, and some of those
// that vary with their number of rows.
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

// Prepare calls PrepareContext without a context.
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

// releaseMemory gives back cached pages. SQLite does so when it prepares the
// statement, which must not be a kept one.
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

// IsValid reports whether the connection can be used again: not if it could not be
// made to wait for the disk again.
func (c *connection) IsValid() bool { return c.conn.IsValid() && !c.lags }

// Begin begins a transaction.
func (c *connection) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

type laggingKey struct{}

// lagging returns a context whose transactions do not wait for the disk: a power cut
// may undo the newest of them, without harm to the file; a kill undoes none. The next
// durable transaction takes them with it.
//
// Decryptions may lag: what is acknowledged is in the store, which does wait; a session
// that was put back reads on as after lost messages; what is not acknowledged comes
// again. Encryptions must not: a session put back after a message has left would use its
// key twice, and the recipient would drop the next message.
func lagging(ctx context.Context) context.Context { return context.WithValue(ctx, laggingKey{}, true) }

// durable returns a context whose transactions wait for the disk.
func durable(ctx context.Context) context.Context { return context.WithValue(ctx, laggingKey{}, false) }

// isLagging reports whether a context's transactions do not wait for the disk.
func isLagging(ctx context.Context) bool {
	lags, _ := ctx.Value(laggingKey{}).(bool)
	return lags
}

// lagLimit bounds how long decryptions lag, as sessions skip at most 2,000 messages of
// one sender. What is done when it is quiet waits for the disk (see [clearedContent]).
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

// lag sets whether commits wait for the disk.
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
