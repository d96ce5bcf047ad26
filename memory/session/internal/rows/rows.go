// Package rows keeps conversations in the tables of a SQL database. SQLite and Postgres share its statements; each of them
// brings its tables.
package rows

import (
	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/session"
)

// Errors are those of session.
var Errors = sqldb.Errors{
	Unavailable: session.ErrUnavailable, Corrupt: session.ErrCorrupt, NewerFormat: session.ErrNewerFormat, Options: session.ErrOptions,
}
