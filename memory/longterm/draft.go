package longterm

import (
	"encoding/json"
	"time"

	"github.com/holdfast-go/holdfast/memory"
)

// A Draft is what may become an item. Text, Kind, Origin and a Source are required.
type Draft struct {
	Namespace  string // default: the first of the agent's
	Label      memory.Label
	Kind       Kind
	Key        string // "": none is known; a sentence that says otherwise about the same is found by its words
	Text       string
	Words      string // default Text
	Value      json.RawMessage
	Meta       map[string]string
	Origin     Origin
	Source     Source
	Confidence float64   // 0 to 1; default 1
	From       time.Time // it holds since; default Source.At, or now
	Expires    time.Time // default by Options.TTL of its kind
	Depends    []string  // ids of items that it follows from
	Ends       bool      // it withdraws what holds about Key, or what Replaces names, and says nothing new
	Repeats    string    // id of an item that says the same; "": found by its words
	Replaces   string    // id of an item that this is a later version of; "": found by Key or by its words
}

// A Fate says what became of a draft.
type Fate string

// The fates.
const (
	Stored   Fate = "stored"   // a new fact
	Repeated Fate = "repeated" // it was known: the source was added to the item
	Replaced Fate = "replaced" // it supersedes Outcome.Over
	Held     Fate = "held"     // inferred: it waits for somebody to confirm it
	Ended    Fate = "ended"    // a withdrawal: Outcome.Over holds no longer
	Dropped  Fate = "dropped"  // Outcome.Reason says why
)

// A Reason says why a draft was dropped.
type Reason string

// The reasons.
const (
	Unsure      Reason = "low confidence"
	Secret      Reason = "secret" // nothing but a credential was in it
	Instruction Reason = "planted instruction"
	Invented    Reason = "not in its source" // its words are not in the message that it names
	NoSource    Reason = "no source"
	Older       Reason = "older than what is known" // also of a draft that was stored: as a past version
	Malformed   Reason = "malformed"                // an extractor made a draft that Add would refuse
	Expired     Reason = "expired"
	Unknown     Reason = "nothing to withdraw"
	OverLimit   Reason = "over a limit"
)

// An Outcome says what became of a draft. It holds none of its words, only where they stand in what was said.
type Outcome struct {
	Fate       Fate    `json:"fate"`
	ID         string  `json:"id,omitzero"`   // the item
	Over       string  `json:"over,omitzero"` // the item that holds no longer
	Reason     Reason  `json:"reason,omitzero"`
	Confidence float64 `json:"confidence,omitzero"`
	Least      float64 `json:"least,omitzero"`    // confidence that a draft needed, of Unsure
	Hash       string  `json:"hash"`              // of namespace and text
	Redacted   bool    `json:"redacted,omitzero"` // secrets in it were blotted out
	Message    string  `json:"message,omitzero"`  // that said it; "" of NoSource
	Call       string  `json:"call,omitzero"`     // the tool call in it that did
	Span       Span    `json:"span,omitzero"`     // of its words in that text; zero: they are not there, or nobody has looked
}
