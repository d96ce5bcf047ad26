package compact

import (
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

// A State is what compaction works on: the working copy of a history and the summary of what was taken out of it. It is
// plain data; keep it in the state of a graph.
type State struct {
	History []message.Message `json:"history"`
	Summary working.Summary   `json:"summary"`
}

// MaxCovers is how many ids Summary.Covers keeps, the newest. The index that the summary names leads to all of them.
const MaxCovers = 256

// A Stop says why a compaction ended.
type Stop string

// The reasons.
const (
	Below  Stop = "below"  // history and summary were not above the trigger: nothing was done
	Done   Stop = "done"   // they are within the budget now
	Held   Stop = "held"   // what may not be compacted is above the budget: system messages, open calls, the latest user message
	Failed Stop = "failed" // see the error; what was done until then is in the state
)

// A Report says what a compaction did.
type Report struct {
	Stop          Stop        `json:"stop"`
	Before        int         `json:"before"` // tokens of history and summary
	After         int         `json:"after"`
	SummaryTokens int         `json:"summary_tokens"`
	Excerpts      []Excerpted `json:"excerpts,omitzero"`
	Evicted       []string    `json:"evicted,omitzero"`  // ids of the messages taken out, oldest first
	Archives      []string    `json:"archives,omitzero"` // ids of the results that have their full text
	Requests      int         `json:"requests,omitzero"` // calls of the Summarizer
	Failures      []string    `json:"failures,omitzero"` // of the Summarizer; where it failed, the rules alone have summarized
}

// An Excerpted text was replaced by its excerpt in a message that stays.
type Excerpted struct {
	Message string `json:"message"` // id
	Result  string `json:"result"`  // id of the full text
	Tokens  int    `json:"tokens"`  // of the excerpt
}
