package longterm

import (
	"encoding/json"
	"time"

	"github.com/holdfast-go/holdfast/memory"
)

// A Kind says what sort of memory an item is. It decides how much its age counts and how it is found.
type Kind string

// The kinds. There are no others.
const (
	Semantic   Kind = "semantic"   // what is so: a name, a company, an order number
	Preference Kind = "preference" // what the user likes, wants or refuses
	Episode    Kind = "episode"    // what happened
	Habit      Kind = "habit"      // how the user works
)

// An Origin says who is behind an item.
type Origin string

// The origins. There are no others.
const (
	FromUser Origin = "user"     // the user said it
	FromTool Origin = "tool"     // a tool call that succeeded said it
	Inferred Origin = "inferred" // a model concluded it: no fact before somebody confirms it
)

// A Source is a message that said what an item says.
type Source struct {
	Conversation string    `json:"conversation"`
	Message      string    `json:"message"`
	Call         string    `json:"call,omitzero"` // the tool call, of FromTool
	At           time.Time `json:"at"`
}

// An Item is one version of one fact.
type Item struct {
	ID         string            `json:"id"`
	Namespace  string            `json:"namespace"`
	Label      memory.Label      `json:"label"` // at least that of what it was derived from
	Kind       Kind              `json:"kind"`
	Key        string            `json:"key,omitzero"` // the subject, such as "default.env": a namespace has one current item of a key
	Text       string            `json:"text"`         // the conclusion, in the language of its source
	Words      string            `json:"words"`        // what was really said
	Value      json.RawMessage   `json:"value,omitzero"`
	Meta       map[string]string `json:"meta,omitzero"`
	Origin     Origin            `json:"origin"`
	Sources    []Source          `json:"sources"` // all that said it, oldest first
	Agent      string            `json:"agent"`   // that wrote it
	Confidence float64           `json:"confidence"`
	Depends    []string          `json:"depends,omitzero"`  // ids of items it follows from
	Doubtful   bool              `json:"doubtful,omitzero"` // something it depends on no longer holds: ask before use

	Version  int       `json:"version"`           // of the fact, from 1
	Replaces string    `json:"replaces,omitzero"` // id of the version before
	Also     []string  `json:"also,omitzero"`     // ids of other items that it superseded
	By       string    `json:"by,omitzero"`       // id of the version after
	From     time.Time `json:"from"`              // it holds since
	Until    time.Time `json:"until,omitzero"`    // it held until; zero: it holds
	Expires  time.Time `json:"expires,omitzero"`  // it is not found from then on
	Stored   time.Time `json:"stored"`            // by the clock of the store
	End      End       `json:"end,omitzero"`      // why it no longer holds
	Ended    Source    `json:"ended,omitzero"`    // the message that withdrew it
}

// Current reports whether it holds now, but for what has expired.
func (i Item) Current() bool { return i.End == "" && i.Origin != Inferred }

// An End says why an item no longer holds.
type End string

// The ends.
const (
	Superseded End = "superseded" // By says by what
	Forgotten  End = "forgotten"  // on request: nothing is left but id, times and this
	RolledBack End = "rolled back"
	Withdrawn  End = "withdrawn" // the user took it back, and said nothing in its place
)
