package working

import (
	"time"

	"github.com/holdfast-go/holdfast/message"
)

// A Tool is what the model is told about a tool.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
	Schema      string `json:"schema,omitzero"` // JSON Schema of the arguments
}

// A Source is the box that an item was recalled from.
type Source string

// The sources.
const (
	LongTerm  Source = "ltm"
	Knowledge Source = "rag"
	Graph     Source = "graph"
)

// An Item is something recalled for this call. It is told as data: each line quoted, marks of roles broken up, in a fence that
// its text cannot close.
type Item struct {
	Source  Source    `json:"source"`
	ID      string    `json:"id"`
	Text    string    `json:"text"`
	Score   float64   `json:"score,omitzero"`   // higher is better; compared within one source
	Origin  string    `json:"origin,omitzero"`  // what it was made of, such as a document: of equal origin and text one is kept
	Subject string    `json:"subject,omitzero"` // what it is about: where a document and a preference meet, the document binds
	Kind    string    `json:"kind,omitzero"`    // of long-term memory: "preference", "episode", ...
	At      time.Time `json:"at,omitzero"`      // said, or effective since
}

// A Summary stands for messages that were taken out of the working copy of a history.
type Summary struct {
	Text   string   `json:"text"`
	Covers []string `json:"covers"` // ids of the messages it stands for, oldest first
}

// A Note is a short conclusion of an earlier step of this run.
type Note struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// An Input is all that one model call may be told: the six blocks and the run notes. Each may be empty.
type Input struct {
	System   []string          // rules and identity; the same bytes in every call, no clock in them
	Tools    []Tool            // in an order that never changes
	State    string            // the summary of the session state: confirmed facts, and candidates as such
	Pins     []string          // denials and standing rules, rendered
	Summary  Summary           // of older messages
	History  []message.Message // the working copy, valid; it ends with the latest user message and what came of it
	Notes    []Note
	Recalled []Item

	// Stored has, for the id of a message or of a call whose full text is kept as a memory.Result, the id of that: where
	// the text is shortened, it is named.
	Stored map[string]string
}
