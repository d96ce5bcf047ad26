package checkpoint

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"
)

// A Nonce identifies one acquisition of a thread. It is random, not a counter: a counter repeats after a store lost its
// tail, and then a late writer would be let in.
type Nonce [16]byte

// NewNonce returns a random nonce.
func NewNonce() Nonce {
	var n Nonce
	rand.Read(n[:]) // never fails (crypto/rand)
	return n
}

// Writer is the first 63 bits of the nonce, as records carry it.
func (n Nonce) Writer() int64 { return int64(binary.BigEndian.Uint64(n[:8]) >> 1) }

// Zero reports whether n is no nonce.
func (n Nonce) Zero() bool { return n == Nonce{} }

// A Status says where the present run of a thread stands.
type Status uint8

// The states of a run. A thread has the status of its latest run.
const (
	Running     Status = iota + 1 // somebody works on it, or died or was drained doing so
	Interrupted                   // it waits: for an answer, at a breakpoint, after a limit or a stop
	Completed                     // nothing is left to do
	Failed                        // a task failed; Resume tries again
	Cancelled                     // somebody ended it for good
)

var statusNames = [...]string{"", "running", "interrupted", "completed", "failed", "cancelled"}

// String returns the status in one lower-case word.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return "unknown"
}

// MarshalText writes the word, so that JSON has it instead of a number.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the word.
func (s *Status) UnmarshalText(b []byte) error {
	for i, name := range statusNames {
		if i > 0 && name == string(b) {
			*s = Status(i)
			return nil
		}
	}
	return fmt.Errorf("%w: unknown status %q", ErrCorrupt, b)
}

// Ended reports whether the run needs nobody any more.
func (s Status) Ended() bool { return s == Completed || s == Failed || s == Cancelled }

// A Holder describes the process that holds a lease: for people, and to see that it is dead.
type Holder struct {
	Host  string `json:"host"`
	Boot  string `json:"boot,omitempty"`  // identity of the machine's present boot
	PID   int    `json:"pid"`             // process id on that host
	Start string `json:"start,omitempty"` // when that process started, as the system counts
}

// A Head is the one mutable row of a thread. A thread that does not exist has Epoch 0.
type Head struct {
	Key
	Epoch      int64     // acquisitions so far: it orders, it never fences
	Nonce      Nonce     // of the present acquisition; zero if nobody holds the thread
	LeaseUntil time.Time // by the store's clock
	Expired    bool      // held, and the lease has run out by the store's clock
	Holder     Holder
	Takeovers  int               // acquisitions from an expired or dead holder since the last entry or free acquisition
	Inbox      int64             // number of the last command or answer; a holder releases only if it has seen it
	Active     int32             // the branch that runs, answers and plain reads mean
	Branches   int32             // number of branches
	Run        string            // id of the latest run
	Status     Status            // of the latest run
	Graph      string            // name of the graph of the latest run
	Owner      string            // user the thread belongs to; set at creation, never changed; may be empty
	Meta       map[string]string // of the latest run; filterable
	Created    time.Time
	Updated    time.Time // last change of status
}

// Held reports whether somebody holds the thread.
func (h *Head) Held() bool { return !h.Nonce.Zero() }

// A Run is the row of one run of a thread.
type Run struct {
	Key
	ID      string
	Request string // unique in the thread if not empty: a repeated start returns the first run
	Status  Status
	Graph   string
	By      string            // who started it
	Meta    map[string]string // filterable
	Error   string            // why it failed
	Started time.Time         // the store's clock
	Ended   time.Time         // zero while it has not ended
}

// First is the status that a run starts with: its own, or Running.
func (r *Run) First() Status { return cmp.Or(r.Status, Running) }

// A Branch is a row of a thread's tree of branches. Branch 0 is called "" and has no row.
type Branch struct {
	N      int32
	Name   string // unique in the thread; a write with a number that is not the next or a name in use is ErrStale
	Origin int32  // the branch it was forked from
	Ord    int64  // the cut of the origin
	Reason string // fork, replay, rollback, edit
}

// A QuestionState says whether a question still waits.
type QuestionState uint8

// The states of a question.
const (
	Open     QuestionState = iota // waits for an answer
	Answered                      // has one; its task has not used it yet
	Closed                        // used by an entry, or closed with its run
)

// A Question is a row that a person may answer.
type Question struct {
	Key
	ID         string
	Branch     int32
	Namespace  Namespace
	Run        string
	Task       string
	State      QuestionState
	Asked      time.Time // the store's clock
	Deadline   time.Time // zero: none. Past it nobody can answer, by the store's clock
	Expired    bool      // open, and its deadline has passed; computed by the store
	Shown      []byte    // hash of what was shown; an answer may carry it
	NotBy      string    // who must not answer (four eyes); empty: anybody may
	Body       []byte    // what was asked, opaque to the store
	Answer     []byte
	AnsweredBy string
	AnsweredAt time.Time
}

// Accepts reports why the question does not take a reply at that moment, or nil. Stores share it, so that they agree.
func (q *Question) Accepts(r *Reply, active int32, now time.Time) error {
	switch {
	case q.State != Open || q.Branch != active:
		return &NotPendingError{Question: q.ID, State: q.State, By: q.AnsweredBy, At: q.AnsweredAt, Answer: q.Answer}
	case q.late(now):
		return fmt.Errorf("question %s: %w", q.ID, ErrExpired)
	case len(r.Shown) > 0 && !bytes.Equal(r.Shown, q.Shown):
		return fmt.Errorf("question %s: %w", q.ID, ErrChanged)
	case q.NotBy != "" && (q.NotBy == r.By || r.By == ""): // leaving the name out is no way round
		return fmt.Errorf("question %s: %w", q.ID, ErrNotAllowed)
	}
	return nil
}

// late reports whether the deadline has passed.
func (q *Question) late(now time.Time) bool { return !q.Deadline.IsZero() && !now.Before(q.Deadline) }

// A Command came from outside while somebody held the thread, or before anybody did.
type Command struct {
	Key
	N       int64 // number in the thread's inbox, given by the store
	Kind    CommandKind
	Request string // unique in the inbox if not empty
	At      time.Time
	Body    []byte
}

// A CommandKind says what a command wants.
type CommandKind byte

// The kinds of commands.
const (
	CommandCancel CommandKind = 'c' // end the run for good
	CommandInput  CommandKind = 'i' // run this input next
	CommandDrain  CommandKind = 'd' // stop at the next superstep
)
