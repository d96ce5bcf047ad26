package longterm

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/search"
)

// A Backend keeps rows; all rules are in Store, which has made sure of every scope. It is for those who write a back end:
// memory/longterm/longtermtest is the suite that it must pass with a Store before it. Its errors wrap ErrUnavailable, ErrCorrupt or
// none of this package; what f returns is returned as it is, and undoes what f wrote.
type Backend interface {
	// View runs f on the rows of a scope as of one moment. f writes nothing.
	View(ctx context.Context, sc memory.Scope, f func(Tx) error) error

	// Update runs f in a transaction that is alone with the scope: two updates of one scope happen one after the other. f may be
	// called again after a collision.
	Update(ctx context.Context, sc memory.Scope, f func(Tx) error) error

	// Claim gives jobs of any scope that are due and that nobody holds to a holder, oldest Due first, until their Held time is over.
	Claim(ctx context.Context, holder string, lease time.Duration, limit int) ([]JobRow, error)

	// Next is when a job that nobody holds will be due or a lease runs out, by the clock of the store, whose time is returned
	// too; zero: none is queued.
	Next(ctx context.Context) (due, now time.Time, err error)

	// Erase removes all rows of a scope, and leaves its Hash: every later Update is memory.ErrErased, also one that was under way and
	// has not ended.
	Erase(ctx context.Context, sc memory.Scope) error

	// Readmit takes that mark away.
	Readmit(ctx context.Context, sc memory.Scope) error

	// Count returns how many rows of all kinds a scope has.
	Count(ctx context.Context, sc memory.Scope) (int, error)

	// Compact writes the files anew, without what was deleted. Where nothing is kept of that it does nothing.
	Compact(ctx context.Context) error

	// Close is called once, when no call is under way.
	Close() error
}

// A Tx works on the rows of one scope. Rows and slices that it got or returned belong to the other side.
type Tx interface {
	// Rows are those of the index, see search.
	search.Rows

	// Now is the clock of the store, in whole microseconds, the same in all of a transaction.
	Now() time.Time

	// Items returns the rows that a selection has, by ID.
	Items(ctx context.Context, s Select) ([]Row, error)

	// Put stores rows, each in place of one of the same ID.
	Put(ctx context.Context, rows ...Row) error

	// Shelves returns those that the scope has.
	Shelves(ctx context.Context) ([]Shelf, error)

	// PutShelf stores a shelf.
	PutShelf(ctx context.Context, s Shelf) error

	// PutVectors stores vectors of documents in a space; nil deletes one. Back ends without vectors of their own use
	// search.SaveVectors.
	PutVectors(ctx context.Context, shelf, space string, vectors map[uint32][]float32) error

	// Nearest is search.Nearest, or better.
	Nearest(ctx context.Context, shelves []string, space string, v []float32, limit int) ([]search.Hit, error)

	// Jobs returns those that a selection has, by ID.
	Jobs(ctx context.Context, s SelectJobs) ([]JobRow, error)

	// PutJob stores a job, in place of one of the same ID.
	PutJob(ctx context.Context, j JobRow) error

	// DeleteJobs removes those whose Done is before a time; zero is not.
	DeleteJobs(ctx context.Context, before time.Time) error
}

// A Row is an item as a back end keeps it: the columns that it selects by, and all of it.
type Row struct {
	ID        string // they sort in the order in which they were made
	Shelf     string
	No        uint32 // in the shelf
	Namespace string
	Label     memory.Label
	Kind      Kind
	Key       string
	Hash      string // of what it says: finds a repetition
	Replaces  string // id of the version before
	Depends   []string
	State     State
	From      time.Time
	Until     time.Time // zero: it holds
	Expires   time.Time // zero: never
	Body      []byte
}

// A State is of a row.
type State int

// The states.
const (
	Holds State = iota // current: it is in the index
	Past               // it no longer holds
	Waits              // inferred: it waits for somebody to confirm it
)

// A Select says which rows of a scope are wanted. Every field that is set narrows it.
type Select struct {
	Namespaces []string     // only of these; none: nothing
	Label      memory.Label // only up to this one
	IDs        []string
	Places     []search.Place
	Keys       []string
	Hashes     []string
	Replaces   []string // those that replaced one of these
	Depends    []string // those that follow from one of these
	Kinds      []Kind
	States     []State
	AsOf       time.Time // From is not after it, Until is zero or after it
	After      string    // IDs behind this one
	Newest     bool      // newest From first, instead of by ID
	Limit      int       // 0: all
}

// A Shelf holds what is of one namespace under one label.
type Shelf struct {
	Name      string
	Namespace string
	Label     memory.Label
	Next      uint32 // number of the next item
	Items     int    // that it holds
}

// SelectJobs says which jobs of a scope are wanted. Every field that is set narrows it.
type SelectJobs struct {
	IDs   []string
	Open  bool   // only those that are not done
	After string // IDs behind this one
	Limit int    // 0: all
}

// A JobRow is a job as a back end keeps it.
type JobRow struct {
	ID     string
	Scope  memory.Scope
	State  JobState
	Queued time.Time
	Due    time.Time
	Done   time.Time // zero: not yet
	Holder string    // who works on it
	Held   time.Time // until then
	Body   []byte
}
