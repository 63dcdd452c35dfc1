package wa

import (
	"context"
	"database/sql/driver"
	"errors"

	"modernc.org/sqlite"
)

// sessionConnector opens connections to session.db that keep their prepared
// statements: whatsmeow prepares none, and SQLite takes longer to prepare most of
// them than to run them.
type sessionConnector struct{ driver.Connector }

func newSessionConnector(dsn string) (sessionConnector, error) {
	connector, err := sqlite.NewConnector(dsn)
	return sessionConnector{connector}, err
}

// Connect opens a connection.
func (c sessionConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &sessionConn{conn: conn.(sqliteConn), idle: make(map[string]driver.Stmt)}, nil
}

// sqliteConn is what the driver's connections can do. [sessionConn] has no
// ExecContext and no QueryContext: without them database/sql prepares each
// statement, and closes it after its last row.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.SessionResetter
	driver.Validator
}

// sessionConn is a connection to session.db.
type sessionConn struct {
	conn sqliteConn
	idle map[string]driver.Stmt // prepared, and not in use
}

// maxIdleStatements is how many statements a connection keeps: those of whatsmeow
// that do not vary, and some of those that do with the number of their rows.
const maxIdleStatements = 64

// PrepareContext returns a statement that is idle, or prepares one.
func (c *sessionConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	stmt, isIdle := c.idle[query]
	if isIdle {
		delete(c.idle, query)
	} else {
		var err error
		if stmt, err = c.conn.PrepareContext(ctx, query); err != nil {
			return nil, err
		}
	}
	return &sessionStmt{sqliteStmt: stmt.(sqliteStmt), conn: c, query: query}, nil
}

// Prepare is PrepareContext without a context.
func (c *sessionConn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// sqliteStmt is what the driver's statements can do.
type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// sessionStmt is a prepared statement in use.
type sessionStmt struct {
	sqliteStmt
	conn  *sessionConn
	query string
}

// Close leaves the statement idle.
func (s *sessionStmt) Close() error {
	if _, isIdle := s.conn.idle[s.query]; isIdle || len(s.conn.idle) == maxIdleStatements {
		return s.sqliteStmt.Close()
	}
	s.conn.idle[s.query] = s.sqliteStmt
	return nil
}

// Close closes the connection and its statements.
func (c *sessionConn) Close() error {
	var errs []error
	for query, stmt := range c.idle {
		errs = append(errs, stmt.Close())
		delete(c.idle, query)
	}
	return errors.Join(append(errs, c.conn.Close())...)
}

// ResetSession reports a connection that cannot be used again.
func (c *sessionConn) ResetSession(ctx context.Context) error { return c.conn.ResetSession(ctx) }

// IsValid reports whether the connection can be used again.
func (c *sessionConn) IsValid() bool { return c.conn.IsValid() }

// Begin begins a transaction.
func (c *sessionConn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

// BeginTx begins a transaction.
func (c *sessionConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	return c.conn.BeginTx(ctx, opts)
}
