// Package rows keeps conversations in the tables of a SQL database. SQLite and Postgres share its statements; each of them
// brings transactions, migrations and the meaning of its errors.
package rows

import (
	"context"
	"strings"
)

// A Stmt is a statement with its arguments: string, int64 or []byte. Texts are the same for both databases: parameters are
// $1, $2 and so on in the order of their first use, tables begin with hfs_, and {now} is the clock in microseconds.
type Stmt struct {
	Text string
	Args []any
	Each func(scan func(...any) error) error // is called for each row; nil if there are none
}

// Run runs statements in a transaction, one after the other, up to the first error.
type Run func(ctx context.Context, stmts ...Stmt) error

// A DB gives transactions. An error of f undoes it, and is returned as it is; f may be called again after a collision. Other
// errors wrap session.ErrUnavailable, session.ErrCorrupt or neither.
type DB interface {
	Read(ctx context.Context, f func(Run) error) error // sees one moment
	Write(ctx context.Context, f func(Run) error) error
	Remove(ctx context.Context, f func(Run) error) error // as Write, and sees one moment: what another writes meanwhile stays whole
	Close() error
}

func stmt(text string, args ...any) Stmt { return Stmt{Text: text, Args: args} }

func query(text string, each func(scan func(...any) error) error, args ...any) Stmt {
	return Stmt{Text: text, Args: args, Each: each}
}

// WithClock puts an expression for the clock into a text.
func WithClock(text, clock string) string { return strings.ReplaceAll(text, "{now}", clock) }

// list adds ids to a statement's arguments and returns their places, as in "($4,$5)". No ids are no row's.
func list(args *[]any, ids []string) string {
	if len(ids) == 0 {
		return "(null)"
	}
	var b strings.Builder
	b.WriteByte('(')
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		*args = append(*args, id)
		b.WriteString(place(len(*args)))
	}
	b.WriteByte(')')
	return b.String()
}
