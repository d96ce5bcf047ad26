package pgdb

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/jackc/pgx/v5/pgconn"
)

// Code is the code of an error that the server sent, or empty.
func Code(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// collided reports whether transactions were in each other's way. Nothing was stored; the same again may succeed.
func collided(err error) bool {
	c := Code(err)
	return c == "40001" || c == "40P01"
}

// failure gives an error of the driver or the server its meaning.
func failure(ctx context.Context, e sqldb.Errors, err error) error {
	switch {
	case err == nil, errors.Is(err, e.Corrupt), errors.Is(err, e.Unavailable), errors.Is(err, e.NewerFormat), errors.Is(err, e.Options), errors.Is(err, ErrVectors):
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w: %w", e.Unavailable, context.Cause(ctx), err)
	case unavailable(Code(err)):
		return fmt.Errorf("%w: %w", e.Unavailable, err)
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
