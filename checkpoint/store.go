package checkpoint

import (
	"context"
	"time"
)

// A Store keeps threads. It is safe for concurrent use by any number of goroutines, and, where [Info.Shared] says so, of
// processes. Every call ends when its context does; a store sets a deadline of its own where the context has none.
type Store interface {
	Log
	Leaser
	Desk
	Directory

	// Info says what this store really gives.
	Info() Info

	// Close ends it: later calls return ErrClosed. It waits for calls under way.
	Close() error
}

// Info says what a store really gives.
type Info struct {
	Name       string        // "memory", "sqlite", ...
	Durability string        // shown to people: "SQLite FULL"
	LossWindow time.Duration // how much of the tail a crash of the machine may take; 0: none; Forever: all of it
	Shared     bool          // several processes may work on it at once
	Local      bool          // every holder is a process of this machine
}

// Forever is the loss window of a store that keeps nothing after its process.
const Forever time.Duration = 1<<63 - 1

// A Log keeps the records of threads.
type Log interface {
	// Load returns, as of one moment: the head, the records of one chain from the base of its last record to its tail,
	// the questions of the branch that are not Closed, the inbox, and the branches. branch may be Active. An unknown
	// thread is a zero Head with the key and Epoch 0; an unknown chain has no records.
	Load(ctx context.Context, key Key, branch int32, ns Namespace) (*Loaded, error)

	// Read returns records of one chain, as the query says. A chain or position that is not there yields none.
	Read(ctx context.Context, q Query) ([]Record, error)

	// Chains lists the chains of a branch with their last records, bodies left out, in the order of their namespaces.
	Chains(ctx context.Context, key Key, branch int32) ([]Record, error)

	// Append writes records, and with Park the end or the pause of a run, in one atomic step. It returns ErrStale and
	// changes nothing if the nonce is not the holder's or a position is taken by another record. A repeated call whose
	// first attempt had succeeded returns the acknowledgement again, also after its own release. A store may read the
	// bodies until the outcome is known: they must not change meanwhile.
	Append(ctx context.Context, a *Append) (Ack, error)

	// Trim removes the records of a chain below a position. It needs no lease: nobody reads below a base.
	Trim(ctx context.Context, c Chain, below int64) (removed int64, err error)

	// Delete removes a thread and every row of it. An unknown thread is no error. A holder's next write is ErrStale.
	Delete(ctx context.Context, key Key) error
}

// Active stands for the active branch of a thread where a branch number is asked for.
const Active int32 = -1

// Loaded is what Load returns.
type Loaded struct {
	Head      Head
	Branch    int32 // the branch that was read
	Records   []Record
	Questions []Question
	Inbox     []Command
	Branches  []Branch
}

// A Query selects records of one chain, in ascending order of position.
type Query struct {
	Chain
	From   int64 // first position
	To     int64 // last position; negative: the tail
	MaxOrd int64 // only records with Ord at most this; 0: all
	Limit  int   // at most so many; 0: all
	Newest bool  // with Limit: the last ones instead of the first ones (still returned in ascending order)
	NoBody bool  // leave the bodies out
}

// An Append is one atomic write of a holder.
type Append struct {
	Key
	Nonce    Nonce
	Records  []Record // at least one, so that the write can be recognised when it is read back
	Closed   []string // ids of questions that these records use up or close
	Seen     int64    // the last inbox number that the holder has looked at; commands up to Taken are removed
	Taken    int64    // commands with numbers up to this one are done
	Branch   *Branch  // a new branch, or nil
	Activate *int32   // makes a branch the active one
	Park     *Park    // the run pauses or ends
}

// A Park ends or pauses a run together with the records that say so. The lease is released only if the inbox number
// equals Append.Seen: otherwise the records and the status are written, the holder keeps the lease and looks again.
type Park struct {
	Status    Status
	Error     string
	Questions []Question // asked; one whose id exists is replaced and open again
}

// An Ack acknowledges an Append.
type Ack struct {
	Inbox    int64 // the thread's inbox number at that moment
	Released bool  // with Park: the caller no longer holds the lease
}

// A Leaser decides who may write to a thread.
type Leaser interface {
	// Acquire takes a thread. It returns ErrHeld if the thread is not as the request expects, and a *DuplicateError if the
	// run's request id was used before in this thread; then nothing is changed. The head is as after the acquisition. A
	// repeated call whose first attempt had succeeded returns that acquisition again.
	Acquire(ctx context.Context, a *Acquire) (Head, error)

	// Renew extends leases to now plus ttl by the store's clock, in one statement where it can. The result has one
	// element for each lease, in order.
	Renew(ctx context.Context, leases []Lease, ttl time.Duration) ([]Renewal, error)

	// Release gives a thread back and leaves its status. It does so only if the inbox number is seen. Releasing what is not held
	// under this nonce is ErrStale; repeating an own release is not an error only for the store that can tell.
	Release(ctx context.Context, l Lease, seen int64) (released bool, err error)
}

// An AcquireMode says which state of a thread an Acquire expects.
type AcquireMode uint8

// The ways to acquire a thread.
const (
	Free    AcquireMode = iota // nobody holds it, and nothing happened since it was loaded (Epoch)
	Expired                    // somebody holds it, and the lease has run out by the store's clock
	Steal                      // the holder seen (Seen) still holds it: for holders known to be dead
)

// An Acquire takes a thread.
type Acquire struct {
	Key
	Mode     AcquireMode
	Epoch    int64 // Free: the epoch as loaded; 0 creates the thread
	Seen     Nonce // Steal: the nonce as loaded
	Nonce    Nonce // of this acquisition
	TTL      time.Duration
	Holder   Holder
	Owner    string   // of a thread that this creates
	Run      *Run     // a new run with its Status, or Running if that is zero; the thread takes it. nil: the latest run stays the latest
	Again    bool     // Run is one that the thread has had: it becomes the latest again. Its row stays; the thread takes its Status, Graph and Meta
	Resume   bool     // without Run: the latest run becomes Running again; false: its status stays, as for an edit
	Records  []Record // Free only: appended with it, as Append does
	Closed   []string // Free only: as in Append
	Branch   *Branch  // Free only: as in Append
	Activate *int32   // Free only: as in Append
}

// A Lease names one acquisition.
type Lease struct {
	Key
	Nonce Nonce
}

// A Renewal is the outcome for one lease.
type Renewal struct {
	Lost       bool  // somebody else holds the thread, or nobody, or it is gone
	RolledBack bool  // with Lost: the store has lost the acquisition itself, and can tell; see ErrRolledBack
	Inbox      int64 // the thread's inbox number
}

// A Desk takes what comes from outside. None of its calls needs the lease; each bumps the inbox number of the thread.
type Desk interface {
	// Answer records answers to open questions, all of them or none. A question that is not open is a *NotPendingError, one
	// past its deadline wraps ErrExpired, one whose Shown differs from a reply's Shown wraps ErrChanged, one that the
	// replier must not answer wraps ErrNotAllowed. It returns the new inbox number.
	Answer(ctx context.Context, key Key, replies []Reply) (inbox int64, err error)

	// Post puts a command into the inbox and returns its number. A command whose Request is there already returns the
	// number of the first. An unknown thread is ErrNoThread.
	Post(ctx context.Context, c Command) (n int64, err error)

	// Inbox returns the commands of a thread in order.
	Inbox(ctx context.Context, key Key) ([]Command, error)
}

// A Reply answers one question.
type Reply struct {
	Question string
	Shown    []byte // if not empty it must equal the question's
	Value    []byte
	By       string
}

// A Directory lists over threads. An empty tenant means all tenants. Pages are stable under concurrent change: a row that is
// there throughout is seen exactly once.
type Directory interface {
	// Threads lists threads in the order of tenant and id.
	Threads(ctx context.Context, f ThreadFilter) ([]Head, error)
	// Runs lists runs in the order of tenant, thread and run id.
	Runs(ctx context.Context, f RunFilter) ([]Run, error)
	// Questions lists questions of active branches, oldest first; at the same instant in the order of tenant, thread and id.
	Questions(ctx context.Context, f QuestionFilter) ([]Question, error)
}

// A ThreadFilter selects threads. Zero fields select all.
type ThreadFilter struct {
	Tenant   string
	Status   Status
	Owner    string
	Graph    string
	Meta     map[string]string // each key has this value
	Held     bool              // somebody holds it, alive or not
	Expired  bool              // the lease has run out
	HasInbox bool              // commands wait
	After    Key               // of the last row of the page before
	Limit    int               // 0: 100
}

// A RunFilter selects runs. Zero fields select all.
type RunFilter struct {
	Tenant string
	Thread string
	Status Status
	Meta   map[string]string
	After  RunCursor // of the last row of the page before
	Limit  int       // 0: 100
}

// A RunCursor is the place of a run in the order of a list.
type RunCursor struct {
	Key
	Run string
}

// A QuestionFilter selects questions. Zero fields select all open ones, expired or not.
type QuestionFilter struct {
	Tenant  string
	Thread  string
	State   QuestionState
	Expired bool           // only those whose deadline has passed
	After   QuestionCursor // of the last row of the page before
	Limit   int            // 0: 100
}

// A QuestionCursor is the place of a question in the order of a list.
type QuestionCursor struct {
	Asked time.Time
	Key
	ID string
}
