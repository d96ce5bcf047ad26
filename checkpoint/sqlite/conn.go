package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"modernc.org/sqlite"
)

// A conn is one connection with its prepared statements, used by one goroutine at a time. It is not a database/sql
// connection: the pool's locks and reflection would be a third of a commit that does not wait for the disk.
type conn struct {
	raw   driver.Conn
	stmts map[string]stmt
	args  []driver.NamedValue
	row   row
}

type stmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// A value is what a statement takes: int64, int32, int, string, []byte or time.Time. Nothing is ever NULL.
type value = any

func openConn(dsn string) (*conn, error) {
	raw, err := new(sqlite.Driver).Open(dsn)
	if err != nil {
		return nil, failure(err)
	}
	return &conn{raw: raw, stmts: map[string]stmt{}}, nil
}

func (c *conn) close() error {
	for _, s := range c.stmts {
		s.Close()
	}
	return c.raw.Close()
}

// prepared keeps a statement for each text. Texts are constants, or put together from a few constant parts.
func (c *conn) prepared(text string) (stmt, error) {
	if s, ok := c.stmts[text]; ok {
		return s, nil
	}
	if len(c.stmts) == maxStatements { // filters with ever other numbers of metadata make ever other texts
		for _, s := range c.stmts {
			s.Close()
		}
		clear(c.stmts)
	}
	ds, err := c.raw.Prepare(text)
	if err != nil {
		return nil, err
	}
	s, ok := ds.(stmt)
	if !ok {
		return nil, errors.New("sqlite: the driver's statements take no context")
	}
	c.stmts[text] = s
	return s, nil
}

// exec runs a statement that returns no rows.
func (c *conn) exec(ctx context.Context, text string, args ...value) (changed int64, err error) {
	s, err := c.prepared(text)
	if err != nil {
		return 0, failure(err)
	}
	res, err := s.ExecContext(ctx, c.bind(args))
	if err != nil {
		return 0, failure(err)
	}
	return res.RowsAffected()
}

// query calls each for every row of a statement; it reads its columns in order.
func (c *conn) query(ctx context.Context, text string, each func(*row), args ...value) error {
	s, err := c.prepared(text)
	if err != nil {
		return failure(err)
	}
	rows, err := s.QueryContext(ctx, c.bind(args))
	if err != nil {
		return failure(err)
	}
	defer rows.Close()
	r := &c.row
	if n := len(rows.Columns()); cap(r.v) < n {
		r.v = make([]driver.Value, n)
	} else {
		r.v = r.v[:n]
	}
	for {
		switch err := rows.Next(r.v); {
		case err == io.EOF:
			return nil
		case err != nil:
			return failure(err)
		}
		r.i, r.err = 0, nil
		if each(r); r.err != nil {
			return r.err
		}
	}
}

func (c *conn) bind(args []value) []driver.NamedValue {
	c.args = c.args[:0]
	for i, a := range args {
		switch v := a.(type) {
		case int:
			a = int64(v)
		case int32:
			a = int64(v)
		case time.Time:
			a = millis(v)
		case []byte:
			if len(v) == 0 {
				a = emptyBlob
			}
		}
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return c.args
}

const maxStatements = 256

var emptyBlob = []byte{}

// millis is a time in a column: milliseconds since 1970, and 0 for none.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// A row hands out its columns one after the other. The first column of a wrong type fails the query: such a database was
// not written by this package.
type row struct {
	v   []driver.Value
	i   int
	err error
}

func column[T any](r *row) (out T) {
	v := r.v[r.i]
	r.i++
	out, ok := v.(T)
	if !ok && v != nil && r.err == nil {
		r.err = fmt.Errorf("%w: column %d is a %T", checkpoint.ErrCorrupt, r.i, v)
	}
	return out
}

func (r *row) int() int64   { return column[int64](r) }
func (r *row) int32() int32 { return int32(r.within(math.MinInt32, math.MaxInt32)) }
func (r *row) byte() byte   { return byte(r.within(0, math.MaxUint8)) }

// within is a number that fits where it goes: cut off, it would be another one that is valid.
func (r *row) within(low, high int64) int64 {
	n := r.int()
	if (n < low || n > high) && r.err == nil {
		r.err = fmt.Errorf("%w: column %d is %d", checkpoint.ErrCorrupt, r.i, n)
	}
	return n
}

func (r *row) text() string { return column[string](r) }
func (r *row) blob() []byte { return column[[]byte](r) }

func (r *row) time() time.Time {
	ms := r.int()
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// intOr is int, with a value for NULL, which only an aggregate over no rows is.
func (r *row) intOr(none int64) int64 {
	if r.v[r.i] == nil {
		r.i++
		return none
	}
	return r.int()
}
