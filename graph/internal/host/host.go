// Package host is the seam between a node's context and whoever runs the node: the engine, or graphtest.
package host

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// A Host serves the calls that a node makes through its context.
type Host interface {
	// Ask returns the answer to the next question of that name, or a *Suspend as error.
	Ask(q *Question) (answer json.RawMessage, err error)
	// Refuse says that the answer that Ask returned does not do; it returns a *Suspend that asks again.
	Refuse(q *Question, reason error) error
	// OnceBegin claims the next ordinal of the name.
	OnceBegin(name string, intent bool) (*Once, error)
	// OnceAgain notes that an effect of unknown outcome is about to be run again, if the claim has an intent.
	OnceAgain(o *Once) error
	// OnceEnd records the result, or gives the claim up when err is not nil.
	OnceEnd(o *Once, result json.RawMessage, err error) error
	// Emit publishes a custom event.
	Emit(name string, data json.RawMessage) error
	// Listening reports whether anybody would see an emitted event.
	Listening() bool
	// Heartbeat is a sign of life.
	Heartbeat() error
	// Info describes the task.
	Info() Info
	// StepsLeft is how many supersteps the call may still run after this one.
	StepsLeft() int
	// Draining reports whether the run is asked to stop at the next boundary.
	Draining() bool
}

// A Question is what a node asks.
type Question struct {
	Name     string
	N        int // ordinal of the name in the task; set by Ask
	Prompt   json.RawMessage
	Schema   json.RawMessage
	NotBy    string
	Within   time.Duration   // from asking until it expires; 0: Deadline, or never
	Deadline time.Time       // when it expires; set by Ask where Within is given
	Default  json.RawMessage // the answer if it expires; nil: none
	ID       string          // set by Ask
	Lapsed   bool            // set by Ask: the answer is the default

	// Where it is asked; set by Ask.
	Namespace  checkpoint.Namespace
	Task, Node string
	Path       []string
}

// A Once is one claimed effect.
type Once struct {
	Name     string
	N        int
	Key      string          // idempotency key
	Recorded json.RawMessage // the recorded result; nil: run it
	Unknown  bool            // it began before, and nobody knows how it ended
	Tries    int             // how often it has begun
	Intent   bool            // that it begins is recorded
}

// Info describes a task for the node that runs it.
type Info struct {
	Tenant, Thread, Branch, Run string
	Graph, Node, Task           string
	Step                        int64
	Attempt                     int
	Key, By                     string
	Path                        []string
}

// ErrUnknown ends a Once whose function did not return: nobody knows whether its effect happened.
var ErrUnknown = errors.New("graph: the outcome of the effect is unknown")

// A Suspend is the error that a waiting task returns.
type Suspend struct{ Question Question }

// Error names the question.
func (s *Suspend) Error() string { return "waits for an answer to " + s.Question.Name }

type key struct{}

// Key is how a context is asked for its host.
var Key any = key{}

// From returns the host of a context, or nil.
func From(ctx context.Context) Host {
	h, _ := ctx.Value(Key).(Host)
	return h
}
