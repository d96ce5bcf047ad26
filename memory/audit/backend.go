package audit

import (
	"context"
	"time"
)

// A Backend keeps rows; all rules are in Log. It is for those who write a back end: memory/audit/audittest is the suite that it must pass
// with a Log before it. Its errors wrap ErrUnavailable, ErrCorrupt or none of this package; what f returns is returned as it is,
// and undoes what f wrote.
type Backend interface {
	// View runs f on the rows of a tenant as of one moment. f writes nothing.
	View(ctx context.Context, tenant string, f func(Tx) error) error

	// Update runs f in a transaction that is alone with the chain of a tenant, also among processes. f may be called again after a
	// collision.
	Update(ctx context.Context, tenant string, f func(Tx) error) error

	// Erased is called after a name was removed. It is Compact where that is in nobody's way.
	Erased(ctx context.Context) error

	// Compact writes the files anew, without what was deleted. Where nothing is kept of that it does nothing.
	Compact(ctx context.Context) error

	// Close is called once, when no call is under way.
	Close() error
}

// A Tx works on the rows of one tenant.
type Tx interface {
	// Now is the clock of the store, in whole microseconds.
	Now() time.Time

	// Head returns the head of the chain; the zero one if there is none.
	Head(ctx context.Context) (Head, error)

	// Rows returns the entries that a selection has, by N.
	Rows(ctx context.Context, s Select) ([]Row, error)

	// Append stores new entries and names, and the head behind them.
	Append(ctx context.Context, h Head, names []Name, rows []Row) error

	// Trim removes the entries up to a number and the names that no entry has any more, and stores the head.
	Trim(ctx context.Context, h Head, upTo int64) error

	// NamesOf returns those of users.
	NamesOf(ctx context.Context, users []string) ([]Name, error)

	// Names returns those of pseudonyms.
	Names(ctx context.Context, tokens []string) ([]Name, error)

	// DeleteName removes one by its pseudonym.
	DeleteName(ctx context.Context, token string) error

	// Erased returns those of the scopes, by their Hash, that were erased.
	Erased(ctx context.Context, scopes []string) ([]string, error)

	// PutErased says whether a scope was.
	PutErased(ctx context.Context, scope string, erased bool) error
}

// A Head is where a chain ends and where what is kept of it begins.
type Head struct {
	N       int64  // of the last entry
	Hash    string // of the last entry
	Trimmed int64  // number of the last entry that was trimmed
	Base    string // its hash
}

// A Row is an entry as a back end keeps it.
type Row struct {
	N            int64
	At           time.Time
	User         string // pseudonym; Forgotten
	Agent        string
	Box          string
	Verb         string
	Write        bool
	Conversation string // sealed
	Items        string // JSON; sealed if there is a user
	More         int64
	Result       string
	Hash         string
}

// A Name says whose a pseudonym is.
type Name struct {
	Token  string // the pseudonym
	User   string
	Secret []byte
}

// A Select says which entries of a tenant are wanted. Every field that is set narrows it.
type Select struct {
	After            int64 // N
	User, Agent, Box string
	From, To         time.Time // To is not part of it
	Limit            int       // always set
}
