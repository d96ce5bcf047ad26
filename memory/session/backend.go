package session

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/memory"
)

// A Key names a conversation in the whole store.
type Key struct {
	Scope        memory.Scope
	Conversation string
}

// A Backend keeps rows; all rules are in Store, which has made sure of every scope and id. It is for those who write a back
// end: memory/session/sessiontest is the suite that it must pass with a Store before it.
//
//   - No method touches a row of another scope.
//   - A slice or map that it got or returned belongs to the other side.
//   - Its errors wrap ErrUnavailable, ErrCorrupt or none of this package. Where an error that wraps ErrUnavailable leaves open
//     whether a write happened, the same write again must be safe; it is, because decide looks at what is there.
type Backend interface {
	// Load returns a conversation as of one moment, or ErrNotFound. See Snapshot for refs.
	Load(ctx context.Context, k Key, refs []string) (Snapshot, error)

	// Update makes the conversation if it is not there, has decide say what to change, and stores that, all in one transaction.
	// Two updates of one conversation happen one after the other. If decide returns an error nothing is stored, and Update
	// returns the error as it is. decide is pure; it may be called again with a newer snapshot.
	Update(ctx context.Context, k Key, refs []string, decide func(Snapshot) (Delta, error)) error

	// Pins returns the pins in force of the conversation, if it is there, and the standing ones of its scope.
	Pins(ctx context.Context, k Key) ([]PinRow, error)

	// Messages lists messages; the page has a limit. It returns ErrNotFound without a conversation.
	Messages(ctx context.Context, k Key, p Page) ([]MessageRow, error)

	// Conversations lists those of a scope, newest first and then by id, behind one of them; the zero one is before all.
	Conversations(ctx context.Context, s memory.Scope, after Conversation, limit int) ([]Conversation, error)

	// FactHistory returns all facts of a field, oldest first, or ErrNotFound without a conversation.
	FactHistory(ctx context.Context, k Key, field string) ([]Fact, error)

	// Result returns memory.ErrNoResult if there is none.
	Result(ctx context.Context, s memory.Scope, id string) (memory.Result, error)

	// DeleteMessages removes the messages stored before a time, and what is known of the calls in them. All else stays.
	DeleteMessages(ctx context.Context, k Key, before time.Time) (int, error)

	// Delete removes all rows of a conversation.
	Delete(ctx context.Context, k Key) error

	// Erase removes all rows of a scope, and leaves its Hash: every later Update is memory.ErrErased, also one that was under way and
	// has not ended.
	Erase(ctx context.Context, s memory.Scope) error

	// Readmit takes that mark away.
	Readmit(ctx context.Context, s memory.Scope) error

	// Count returns how many rows of all kinds a scope has.
	Count(ctx context.Context, s memory.Scope) (int, error)

	// Compact writes the files anew, without what was deleted. Where nothing is kept of that it does nothing.
	Compact(ctx context.Context) error

	// Close is called once, when no call is under way.
	Close() error
}

// A Snapshot is what a back end knows of a conversation. refs name those of its rows that are not always part of it.
type Snapshot struct {
	Now          time.Time // by the store's clock, in whole microseconds
	Conversation Conversation
	Facts        []Fact          // the last of each field, and the last of each field and source in refs
	Candidates   []Candidate     // the pending ones, and those whose ID or By is in refs
	Pins         []PinRow        // those in force, of the conversation and its scope, and those whose ID is in refs
	Messages     []MessageRow    // whose id is in refs
	Calls        map[string]bool // calls in refs that have ended: whether well
}

// A Delta is what an update stores. Rows replace those of the same key.
type Delta struct {
	Conversation Conversation
	Messages     []MessageRow    // by Seq
	Calls        map[string]Call // by id
	Facts        []Fact          // by Field and Version: always new
	Candidates   []Candidate     // by ID
	Pins         []PinRow        // by Standing and ID
	Results      []memory.Result // by ID; one that is there is left alone
}

// A Call is how a tool call ended, and which message says so.
type Call struct {
	OK  bool
	Seq int64
}
