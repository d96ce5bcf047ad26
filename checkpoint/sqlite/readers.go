package sqlite

import (
	"context"
	"errors"
)

// readers are the connections for reading. They are opened when they are needed first.
type readers struct {
	path string
	o    Options
	free chan *conn // nil: may be opened
}

func newReaders(path string, o Options) *readers {
	p := &readers{path: path, o: o, free: make(chan *conn, o.Readers)}
	for range o.Readers {
		p.free <- nil
	}
	return p
}

// do runs f inside a read transaction: all of it sees one moment. If another process is in the way f runs again.
func (p *readers) do(ctx context.Context, f func(context.Context, *conn) error) (err error) {
	var c *conn
	select {
	case c = <-p.free:
	case <-ctx.Done():
		return late(context.Cause(ctx))
	}
	defer func() {
		if isDB(err) && c != nil { // in what state it is now is unknown
			c.close()
			c = nil
		}
		p.free <- c
	}()
	if c == nil {
		if c, err = p.open(ctx); err != nil {
			return err
		}
	}
	return patiently(ctx, func() error {
		if _, err := c.exec(ctx, sqlBeginRead); err != nil {
			return err
		}
		err := f(ctx, c)
		_, endErr := c.exec(context.Background(), sqlRollback) // nothing was written
		return errors.Join(err, endErr)
	})
}

func (p *readers) open(ctx context.Context) (*conn, error) {
	c, err := openConn(dsn(p.path))
	if err != nil {
		return nil, err
	}
	for _, pragma := range []string{"pragma query_only=1", "pragma busy_timeout=100"} {
		if err := c.query(ctx, pragma, func(*row) {}); err != nil {
			c.close()
			return nil, err
		}
	}
	return c, nil
}

// close is called when no call is under way.
func (p *readers) close() error {
	var errs []error
	for range p.o.Readers {
		if c := <-p.free; c != nil {
			errs = append(errs, c.close())
		}
	}
	return errors.Join(errs...)
}
