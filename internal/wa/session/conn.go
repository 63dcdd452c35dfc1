package session

import (
	"context"
	"database/sql/driver"
	"errors"
	"time"

	"modernc.org/sqlite"
)

// connector opens connections that cache prepared statements: whatsmeow prepares none, and for
// most of them SQLite takes longer to prepare than to run.
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

// sqliteConn is the interface of the driver's connections. [connection] has neither ExecContext
// nor QueryContext, so database/sql prepares each statement and closes it after its last row.
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
	idle map[string]driver.Stmt // prepared statements that are not in use
	lags bool                   // commits do not wait for the disk
}

// maxIdleStatements is enough for whatsmeow's constant statements and for some of the statements
// that vary with the number of rows.
const maxIdleStatements = 64

// PrepareContext returns an idle statement, or prepares one.
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

// sqliteStmt is the interface of the driver's statements.
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

// Close makes the statement idle.
func (s *statement) Close() error {
	if _, isIdle := s.conn.idle[s.query]; isIdle || len(s.conn.idle) == maxIdleStatements {
		return s.sqliteStmt.Close()
	}
	s.conn.idle[s.query] = s.sqliteStmt
	return nil
}

// releaseMemory frees cached pages. SQLite does that when it prepares the statement, so the
// statement must not be a cached one.
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

// ResetSession returns an error if the connection cannot be used again.
func (c *connection) ResetSession(ctx context.Context) error { return c.conn.ResetSession(ctx) }

// IsValid reports whether the connection can be used again. It cannot if it failed to return to
// durable commits.
func (c *connection) IsValid() bool { return c.conn.IsValid() && !c.lags }

// Begin begins a transaction.
func (c *connection) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

type laggingKey struct{}

// lagging returns a context whose transactions do not wait for the disk. A power failure may undo
// the newest of them but does not damage the file; a kill undoes none. The next durable
// transaction makes them durable.
//
// Decryptions may lag: acknowledged messages are in the store, which does wait; an older session
// state decrypts the next messages as after lost messages; unacknowledged messages are sent
// again. Encryptions must not lag: with an older session state, a message key would be used
// twice, and the recipient would drop the next message.
func lagging(ctx context.Context) context.Context { return context.WithValue(ctx, laggingKey{}, true) }

// durable returns a context whose transactions wait for the disk.
func durable(ctx context.Context) context.Context { return context.WithValue(ctx, laggingKey{}, false) }

// isLagging reports whether a context's transactions do not wait for the disk.
func isLagging(ctx context.Context) bool {
	lags, _ := ctx.Value(laggingKey{}).(bool)
	return lags
}

// lagLimit is the longest time that decryptions may lag, because a session can skip at most 2,000
// messages of one sender. Clearing content, when nothing else happens, waits for the disk (see
// [clearedContent]).
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
