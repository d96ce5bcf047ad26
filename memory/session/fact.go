package session

import (
	"encoding/json"
	"time"
)

// An Origin says who confirmed a fact.
type Origin string

// The origins. There are no others: what a model says confirms nothing.
const (
	ByTool Origin = "tool" // a tool call that succeeded
	ByUser Origin = "user" // a message of the user
)

// A Source is what confirmed a fact.
type Source struct {
	Origin Origin `json:"origin"`
	Ref    string `json:"ref"` // id of the tool call, or of the user's message
}

// FromTool is the source of what a tool call returned.
func FromTool(call string) Source { return Source{ByTool, call} }

// FromUser is the source of what a message of the user says.
func FromUser(messageID string) Source { return Source{ByUser, messageID} }

// A Fact is a confirmed value of a field.
type Fact struct {
	Field     string          `json:"field"`
	Version   int64           `json:"version"`         // counts the facts of this field in its conversation, from 1
	Value     json.RawMessage `json:"value,omitempty"` // nil: withdrawn
	Source                    // what confirmed it
	Candidate string          `json:"candidate,omitzero"` // that was confirmed; "" if none was asked about
	At        time.Time       `json:"at"`                 // by the store's clock
}

// A Change confirms or withdraws a field. Make it with Set or Unset.
type Change struct {
	Field string
	Value json.RawMessage // nil: withdrawn
	Source
	err error
}

// Set is the change that confirms a value of a field. A value that JSON cannot hold is ErrInvalidValue at the write.
func Set[T any](f Field[T], value T, s Source) Change {
	b, err := json.Marshal(value)
	return Change{Field: f.name, Value: b, Source: s, err: err}
}

// Unset is the change that withdraws a field. Its history stays.
func Unset[T any](f Field[T], s Source) Change { return Change{Field: f.name, Source: s} }
