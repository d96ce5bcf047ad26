package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/jackc/pgx/v5/pgconn"
)

var (
	// ErrRowSecurity is returned by Open when row-level security would not hold, or when it holds although it was not asked
	// for. The message says which, and what to do.
	ErrRowSecurity = errors.New("postgres: row-level security")

	// ErrTenantRequired is returned by lists over all tenants under row-level security.
	ErrTenantRequired = errors.New("postgres: row-level security allows no list over all tenants; name a tenant, or use a store of a role that may see all")

	// ErrUnsuitable is returned by Open for a server or a database that cannot keep threads, and by Compact for a role that may not
	// do it. The message says why.
	ErrUnsuitable = errors.New("postgres: the database is not suitable")
)

// Codes that hf_must raises.
const (
	codeMine      = "HF000" // an acquisition that happened before
	codeRefused   = "HF001" // the thread is not held as the write expects
	codeDuplicate = "HF002" // the run was started before
	codeUnfit     = "HF003" // positions, branches or questions are not as the write expects
)

const codeUnique = "23505"

// code is the code of an error that the server sent, or empty.
func code(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// refused reports whether the server looked at a write and refused it: nothing of it was stored.
func refused(err error) bool {
	c := code(err)
	return c == codeUnique || strings.HasPrefix(c, "HF")
}

// collided reports whether transactions were in each other's way. Nothing was stored; the same again may succeed.
func collided(err error) bool {
	c := code(err)
	return c == "40001" || c == "40P01"
}

// An errNoConn is why there is no connection.
type errNoConn struct{ error }

func (e errNoConn) Unwrap() error { return e.error }

// failure gives an error of the driver or the server its meaning. lost tells that the connection has broken.
func failure(ctx context.Context, lost bool, err error) error {
	if err == nil || errors.Is(err, checkpoint.ErrCorrupt) {
		return err
	}
	if ctx.Err() != nil {
		return late(context.Cause(ctx))
	}
	if c := code(err); c != "" {
		return &serverError{meaning(c), err}
	}
	if _, none := errors.AsType[errNoConn](err); lost || none || pgconn.SafeToRetry(err) {
		return &serverError{checkpoint.ErrUnavailable, err}
	}
	return &serverError{nil, err}
}

// opening is failure for a connection that is just being made.
func opening(ctx context.Context, err error) error {
	switch {
	case err == nil, errors.Is(err, checkpoint.ErrUnavailable), errors.Is(err, checkpoint.ErrNewerFormat), errors.Is(err, ErrUnsuitable), errors.Is(err, ErrRowSecurity):
		return err
	case code(err) == "08P01":
		return fmt.Errorf("%w: it refuses settings of a session; behind a pooler set Options.Pooler: %w", ErrUnsuitable, err)
	}
	return failure(ctx, code(err) == "", err)
}

// meaning is the error of this module for a code of the server, or nil.
func meaning(code string) error {
	switch code {
	case "57014", // cancelled, also by a time-out of the server
		"25006",                   // read only: the server has become a replica
		"40001", "40P01", "55P03", // collided too often
		"55000", "72000":
		return checkpoint.ErrUnavailable
	case "54000": // a limit of the server
		return checkpoint.ErrTooLarge
	}
	switch code[:2] {
	case "08", "53", "57", "58": // connection, resources (too many connections, disk full), shutdown, disk
		return checkpoint.ErrUnavailable
	}
	return nil
}

// A serverError came from the server or the way to it.
type serverError struct {
	kind error // of this module; nil for none
	err  error
}

func (e *serverError) Error() string {
	if e.kind == nil {
		return "postgres: " + e.err.Error()
	}
	return e.kind.Error() + ": " + e.err.Error()
}

func (e *serverError) Unwrap() []error {
	if e.kind == nil {
		return []error{e.err}
	}
	return []error{e.kind, e.err}
}

// corrupt is the error of a row that is not what this package wrote.
func corrupt(noun string, err error) error {
	return fmt.Errorf("%w: %s: %w", checkpoint.ErrCorrupt, noun, err)
}

// late is the error of a call whose time ran out.
func late(why error) error { return fmt.Errorf("%w: %w", checkpoint.ErrUnavailable, why) }
