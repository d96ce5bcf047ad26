package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/checkpoint"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

var (
	// ErrFull is returned when the disk, or Options.MaxBytes, is full. Nothing of the write was stored. It also wraps
	// checkpoint.ErrUnavailable: once there is room the same call succeeds.
	ErrFull = errors.New("sqlite: no room on the disk")

	// ErrForeign is returned by Open for a database that another program made. It also wraps checkpoint.ErrCorrupt.
	ErrForeign = errors.New("sqlite: the file belongs to another program")

	// ErrMismatch is returned by Open for a path that is open in this process with another durability.
	ErrMismatch = errors.New("sqlite: the file is open with other options")
)

// A dbError came from the database, as opposed to a verdict of this package: what was written so far is undone.
type dbError struct {
	kind error // of this module; nil for none
	err  error
}

func (e *dbError) Error() string {
	if e.kind == nil {
		return e.err.Error()
	}
	return e.kind.Error() + ": " + e.err.Error()
}

func (e *dbError) Unwrap() []error {
	if e.kind == nil {
		return []error{e.err}
	}
	return []error{e.kind, e.err}
}

// failure gives an error of the driver its meaning.
func failure(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &dbError{checkpoint.ErrUnavailable, err}
	}
	switch code(err) {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_IOERR, lib.SQLITE_NOMEM, lib.SQLITE_INTERRUPT, lib.SQLITE_PROTOCOL:
		return &dbError{checkpoint.ErrUnavailable, err}
	case lib.SQLITE_FULL:
		return &dbError{fmt.Errorf("%w (%w)", ErrFull, checkpoint.ErrUnavailable), err}
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return &dbError{checkpoint.ErrCorrupt, err}
	case lib.SQLITE_TOOBIG:
		return &dbError{checkpoint.ErrTooLarge, err}
	}
	return &dbError{nil, err}
}

// code is the primary result code of an error of the driver, or -1.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return -1
}

// busy reports whether another process was in the way.
func busy(err error) bool {
	c := code(err)
	return c == lib.SQLITE_BUSY || c == lib.SQLITE_LOCKED || c == lib.SQLITE_PROTOCOL
}

// late is the error of a call whose time ran out.
func late(why error) error { return fmt.Errorf("%w: %w", checkpoint.ErrUnavailable, why) }
