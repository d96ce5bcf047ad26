package nodes

import (
	"context"
	"log/slog"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/compact"
	"github.com/holdfast-go/holdfast/memory/pin"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/memory/working"
)

// A Config names what the ready nodes work with. Roles and Session are required.
type Config struct {
	Roles   []Role         // the first one answers until it hands over
	Session *session.Store // keeps conversations and large results; session.NewMemory is one for tests

	// Adapt changes a copy of the role for one call of a model, by the state: StateOf gives all of it. Instructions that stay
	// the same are cheaper: a provider's cache holds as long as System and Tools are the same bytes.
	Adapt func(ctx context.Context, t *Turn, r *Role) error

	LongTerm  LongTerm     // nil: nothing is known of the user beyond the conversation
	Knowledge Knowledge    // nil: no documents
	Agent     memory.Agent // who reads and writes long-term memory and knowledge; required with either

	Profile working.Profile // of prompts; default working.Default()
	Counter working.Counter // default working.Estimate, cached
	Compact compact.Options // of the history
	Pins    pin.Model       // finds denials that no rule finds; nil: rules alone

	ApproveFirst bool          // no call of a step runs before all questions of the step are answered; default: each as soon as its own is
	Attempts     int           // of one model for one answer; default 3
	MaxWait      time.Duration // longest wait before another attempt: a provider that asks for more is left for the next model; default 30 s
	MaxSteps     int           // calls of a model in one run, the last without tools; default 25
	AnswerTime   time.Duration // how long a model may take for one answer; default 5 minutes
	RecallTime   time.Duration // how long LongTerm and Knowledge may take; default 3 s
	Logger       *slog.Logger  // nil: nothing is logged. No content is ever logged
}

// A Role is who answers: instructions, tools, models.
type Role struct {
	Name        string
	Description string   // what it is for, told to roles that may hand over to it
	System      []string // instructions, the same bytes in every call
	Tools       []Tool
	Models      []Model  // the first answers; the others when it cannot
	HandOff     []string // roles that it may hand the conversation over to: a tool "transfer_to_NAME" for each
	Output      *Output  // the form of its answers; nil: text
}
