// Package sqldb runs the statements of the boxes of memory in a SQL database. SQLite and Postgres share the statements; the drivers,
// sqlitedb and pgdb, bring transactions, migrations and the meaning of errors.
//
// # Texts
//
// Parameters are $1, $2 and so on in the order of their first use. A word in braces is what the databases say in different ways:
//
//	{now}       the clock of the store, in microseconds
//	{in $3}     as in "id {in $3}": is one of a []string
//	{ints $3}   as in "no {ints $3}": is one of a []int64
//	{share $3}  waits for who has {alone $3} of the same text, until the end of its transaction; a value of no meaning
//	{alone $3}  as {share}, and waits for those too
//	{lock}      at the end of a select: locks its rows
//	{skip}      at the end of a select: locks its rows and leaves out those that another has locked
package sqldb

import (
	"context"
	"io/fs"
	"regexp"
	"strings"
	"sync"
	"time"
)

// A Stmt is a statement with its arguments: string, int64, []byte, []string or []int64.
type Stmt struct {
	Text string
	Args []any
	Many [][]any                             // where it is set the statement is run with each of these instead of Args
	Each func(scan func(...any) error) error // is called for each row; nil if there are none
}

// Exec is a statement without rows.
func Exec(text string, args ...any) Stmt { return Stmt{Text: text, Args: args} }

// ExecMany is a statement without rows that is run for each of several lists of arguments.
func ExecMany(text string, args [][]any) Stmt { return Stmt{Text: text, Many: args} }

// Query is a statement with rows.
func Query(text string, each func(scan func(...any) error) error, args ...any) Stmt {
	return Stmt{Text: text, Args: args, Each: each}
}

// Runs are the lists of arguments that the statement is run with.
func (s Stmt) Runs() [][]any {
	if s.Many != nil {
		return s.Many
	}
	return [][]any{s.Args}
}

// Share keeps an Alone of the same key out until the transaction ends.
func Share(key string) Stmt { return Exec(`select {share $1}`, key) }

// Alone waits for all who Share a key, and keeps them out until the transaction ends.
func Alone(key string) Stmt { return Exec(`select {alone $1}`, key) }

// Counts add to n the rows of tables under a condition.
func Counts(n *int, tables []string, where string, args ...any) (stmts []Stmt) {
	add := func(scan func(...any) error) error {
		var rows int
		err := scan(&rows)
		*n += rows
		return err
	}
	for _, t := range tables {
		stmts = append(stmts, Query(`select count(*) from `+t+where, add, args...))
	}
	return stmts
}

// Run runs statements in a transaction, one after the other, up to the first error.
type Run func(ctx context.Context, stmts ...Stmt) error

// A DB gives transactions. An error of f undoes it, and is returned as it is; f may be called again after a collision. Other
// errors wrap Errors.Unavailable, Errors.Corrupt or neither.
type DB interface {
	Read(ctx context.Context, f func(Run) error) error // sees one moment
	Write(ctx context.Context, f func(Run) error) error
	Remove(ctx context.Context, f func(Run) error) error // as Write, and sees one moment: what another writes meanwhile stays whole

	// Compact writes the files of the box anew, without what the tables no longer have. Writers wait for it, on Postgres all wait.
	Compact(ctx context.Context) error

	// Erased is called after all rows of an owner were removed. It is Compact where that is in nobody's way.
	Erased(ctx context.Context) error

	Close() error
}

// A Box is what a database is opened for.
type Box struct {
	Prefix     string // of its tables, such as "hfl_". Their version is in the table Prefix + "version"
	Migrations fs.FS  // files named 0001_name.sql and so on, in its root. A released file is never changed
	Errors     Errors
}

// Errors are the sentinels of a box.
type Errors struct{ Unavailable, Corrupt, NewerFormat, Options error }

// At is a time from its column. Microseconds are what both databases and every platform keep; zero is 0.
func At(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

// Micros is the column of a time.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Words are what a database says for words in braces; $ stands for the place of a parameter.
type Words map[string]string

// Texts turns texts into those of one database, each once. The zero Texts has no words.
type Texts struct {
	Words  Words
	Prefix string // of tables
	Schema string // is put before each name that begins with Prefix; empty: none
	known  sync.Map
}

var word = regexp.MustCompile(`\{([a-z]+)(?: (\$\d+))?\}`)

// Of returns a text with the words of the database.
func (t *Texts) Of(text string) string {
	if known, ok := t.known.Load(text); ok {
		return known.(string)
	}
	full := text
	if t.Schema != "" {
		full = strings.ReplaceAll(full, t.Prefix, t.Schema+"."+t.Prefix)
	}
	full = word.ReplaceAllStringFunc(full, func(s string) string {
		m := word.FindStringSubmatch(s)
		if w, ok := t.Words[m[1]]; ok {
			return strings.ReplaceAll(w, "$", m[2])
		}
		return s // a fault of the caller, which the database will complain of
	})
	t.known.Store(text, full)
	return full
}
