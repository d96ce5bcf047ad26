package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/jackc/pgx/v5/pgconn"
)

// code is the code of an error that the server sent, or empty.
func code(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// collided reports whether transactions were in each other's way. Nothing was stored; the same again may succeed.
func collided(err error) bool {
	c := code(err)
	return c == "40001" || c == "40P01"
}

// failure gives an error of the driver or the server its meaning.
func failure(ctx context.Context, err error) error {
	switch {
	case err == nil, errors.Is(err, session.ErrCorrupt), errors.Is(err, session.ErrUnavailable), errors.Is(err, session.ErrNewerFormat):
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w: %w", session.ErrUnavailable, context.Cause(ctx), err)
	case unavailable(code(err)):
		return fmt.Errorf("%w: %w", session.ErrUnavailable, err)
	}
	return fmt.Errorf("postgres: %w", err)
}

// unavailable reports whether a code of the server, or none, means that the same may succeed later.
func unavailable(code string) bool {
	switch code {
	case "", // the connection broke, or there was none
		"57014",                   // cancelled, also by a time-out of the server
		"25006",                   // read only: the server has become a replica
		"40001", "40P01", "55P03": // collided too often
		return true
	}
	switch code[:2] {
	case "08", "53", "57", "58": // connection, resources (too many connections, disk full), shutdown, disk
		return true
	}
	return false
}
