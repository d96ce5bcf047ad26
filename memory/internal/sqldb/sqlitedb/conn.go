package sqlitedb

import (
	"context"
	"database/sql/driver"
	"errors"

	"modernc.org/sqlite"
)

// A connector opens connections that keep their statements. database/sql's own prepared statements belong to a pool, which has
// none to prepare on while a transaction holds its only connection.
type connector struct{ dsn string }

func (c connector) Driver() driver.Driver { return new(sqlite.Driver) }

func (c connector) Connect(context.Context) (driver.Conn, error) {
	raw, err := c.Driver().Open(c.dsn)
	if err != nil {
		return nil, err
	}
	own, ok := raw.(rawConn)
	if !ok {
		return nil, errors.Join(errDriver, raw.Close())
	}
	return &conn{own, map[string]stmt{}}, nil
}

var errDriver = errors.New("sqlite: the driver's connections and statements take no context")

type rawConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.SessionResetter
	driver.Validator
}

type stmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// A conn prepares each text once. To parse a statement anew costs more than to run it.
type conn struct {
	rawConn
	stmts map[string]stmt
}

// mostStatements of a connection: selections put texts together from parts.
const mostStatements = 256

func (c *conn) prepared(text string) (stmt, error) {
	if s, ok := c.stmts[text]; ok {
		return s, nil
	}
	if len(c.stmts) == mostStatements {
		if err := c.forget(); err != nil {
			return nil, err
		}
	}
	raw, err := c.Prepare(text)
	if err != nil {
		return nil, err
	}
	s, ok := raw.(stmt)
	if !ok {
		return nil, errors.Join(errDriver, raw.Close())
	}
	c.stmts[text] = s
	return s, nil
}

func (c *conn) forget() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	clear(c.stmts)
	return errors.Join(errs...)
}

// ExecContext implements driver.ExecerContext.
func (c *conn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.prepared(text)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args)
}

// QueryContext implements driver.QueryerContext. The rows of a text are closed before it is queried again.
func (c *conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.prepared(text)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args)
}

// Close implements driver.Conn.
func (c *conn) Close() error { return errors.Join(c.forget(), c.rawConn.Close()) }
