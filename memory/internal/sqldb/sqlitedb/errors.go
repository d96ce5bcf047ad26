package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// failure gives an error of the driver its meaning.
func failure(e sqldb.Errors, err error) error {
	if err == nil || errors.Is(err, e.Corrupt) || errors.Is(err, e.Unavailable) {
		return err
	}
	// A transaction whose context has ended is over for what is asked of it then.
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, sql.ErrTxDone) {
		return fmt.Errorf("%w: %w", e.Unavailable, err)
	}
	switch code(err) {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL, lib.SQLITE_IOERR, lib.SQLITE_NOMEM, lib.SQLITE_INTERRUPT, lib.SQLITE_FULL:
		return fmt.Errorf("%w: %w", e.Unavailable, err)
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return fmt.Errorf("%w: %w", e.Corrupt, err)
	}
	return fmt.Errorf("sqlite: %w", err)
}

// code is the primary result code of an error of the driver, or -1.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return -1
}

// busy reports whether another connection was in the way. Nothing was changed then.
func busy(err error) bool {
	if errors.Is(err, errInTheWay) {
		return true
	}
	c := code(err)
	return c == lib.SQLITE_BUSY || c == lib.SQLITE_LOCKED || c == lib.SQLITE_PROTOCOL
}

// errInTheWay is returned where the log cannot be emptied because of who is at it.
var errInTheWay = errors.New("another connection is at the log")

// patiently repeats f while another connection is in the way, until the context ends.
func (d *DB) patiently(ctx context.Context, f func() error) error {
	for try := 1; ; try++ {
		err := f()
		if !busy(err) {
			return err
		}
		most := time.Duration(min(try, 20)) * 100 * time.Microsecond // grows to 2 ms
		t := time.NewTimer(most/2 + rand.N(most))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return fmt.Errorf("%w: %w: %w", d.box.Errors.Unavailable, context.Cause(ctx), err)
		}
	}
}
