package longterm

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/message"
)

// An Exchange is what was said in one turn.
type Exchange struct {
	Conversation string
	Messages     []message.Message // the user's first; those of the assistant are no source and are not kept
	At           time.Time         // default now
}

// A Text is one thing that was said by somebody who can be a source.
type Text struct {
	Origin Origin // FromUser or FromTool
	Source Source
	Tool   string // its name, of FromTool
	Text   string // secrets are blotted out
}

// A Job is an exchange in the outbox.
type Job struct {
	ID           string
	Scope        memory.Scope
	Agent        memory.Agent
	Conversation string
	Texts        []Text
	Messages     []string // ids of the messages that Texts are of, also when the job is done
	Items        []string // ids of items whose vectors it makes; such a job has no texts
	Queued       time.Time
	Attempts     int       // that have begun
	Due          time.Time // of the next attempt
	State        JobState
	Fault        string    // of the last attempt
	Outcomes     []Outcome // of its drafts; the reasons of those that were dropped
	Done         time.Time
}

// A JobState says where a job is.
type JobState string

// The states. A job that was done has no Texts any more.
const (
	Queued  JobState = "queued"
	Done    JobState = "done"    // Outcomes says what was kept; none: there was nothing to keep
	Failing JobState = "failing" // the last attempt failed; another is due
	Parked  JobState = "parked"  // Options.Attempts have failed: it waits for Retry
)

// An Extractor makes drafts of what was said. It must be safe for concurrent use, and returns an error where it could not say,
// which is not the same as nothing to keep. It sees no text of the assistant and nothing that was recalled.
//
// known are items of the user that may be about the same. A draft's Words must be in the text that its Source names, and its
// Origin that of the text, or Inferred.
type Extractor interface {
	Extract(ctx context.Context, texts []Text, known []Item) ([]Draft, error)
}
