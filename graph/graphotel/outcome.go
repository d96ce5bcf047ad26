package graphotel

import (
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// outcome says in one word how a span ended.
func outcome(s graph.Span) string {
	switch {
	case s.Outcome == graph.EntryCommitted:
		return "committed"
	case s.Outcome == "" && s.Kind == graph.RunSpan:
		return "refused"
	case s.Outcome == "":
		return "reopened"
	}
	_, word, _ := strings.Cut(string(s.Outcome), ".")
	return word
}

// failed reports whether somebody should look at it. A run that waits, was stopped, or was refused with an error that its caller
// has is no failure.
func failed(s graph.Span) bool {
	return s.Err != nil && (s.Outcome == graph.RunFailed || s.Outcome == graph.TaskFailed)
}

// errorType names the kind of an error: one of few values, as error.type has to be.
func errorType(err error) string {
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return k.name
		}
	}
	return fmt.Sprintf("%T", cause(err))
}

// cause is the innermost error: of several that were joined, that of the first.
func cause(err error) error {
	var inner error
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		inner = e.Unwrap()
	case interface{ Unwrap() []error }:
		if list := e.Unwrap(); len(list) > 0 {
			inner = list[0]
		}
	}
	if inner == nil {
		return err
	}
	return cause(inner)
}

// kinds are the errors that have a name. One that wraps another stands before it.
var kinds = []struct {
	name string
	err  error
}{
	{"checkpoint.ErrRolledBack", checkpoint.ErrRolledBack},
	{"checkpoint.ErrStale", checkpoint.ErrStale},
	{"checkpoint.ErrHeld", checkpoint.ErrHeld},
	{"checkpoint.ErrUnavailable", checkpoint.ErrUnavailable},
	{"checkpoint.ErrClosed", checkpoint.ErrClosed},
	{"checkpoint.ErrNotPending", checkpoint.ErrNotPending},
	{"checkpoint.ErrExpired", checkpoint.ErrExpired},
	{"checkpoint.ErrChanged", checkpoint.ErrChanged},
	{"checkpoint.ErrNotAllowed", checkpoint.ErrNotAllowed},
	{"checkpoint.ErrNoThread", checkpoint.ErrNoThread},
	{"checkpoint.ErrBadKey", checkpoint.ErrBadKey},
	{"checkpoint.ErrTooLarge", checkpoint.ErrTooLarge},
	{"checkpoint.ErrCorrupt", checkpoint.ErrCorrupt},
	{"checkpoint.ErrNewerFormat", checkpoint.ErrNewerFormat},
	{"checkpoint.ErrPruned", checkpoint.ErrPruned},
	{"graph.ErrInterrupted", graph.ErrInterrupted},
	{"graph.ErrBusy", graph.ErrBusy},
	{"graph.ErrQueued", graph.ErrQueued},
	{"graph.ErrDuplicate", graph.ErrDuplicate},
	{"graph.ErrCancelled", graph.ErrCancelled},
	{"graph.ErrDrained", graph.ErrDrained},
	{"graph.ErrStopped", graph.ErrStopped},
	{"graph.ErrStepLimit", graph.ErrStepLimit},
	{"graph.ErrCrashLoop", graph.ErrCrashLoop},
	{"graph.ErrTimeout", graph.ErrTimeout},
	{"graph.ErrNothingToDo", graph.ErrNothingToDo},
	{"graph.ErrIncompatible", graph.ErrIncompatible},
	{"graph.ErrAmbiguous", graph.ErrAmbiguous},
	{"graph.ErrBadAnswer", graph.ErrBadAnswer},
	{"graph.ErrNoStore", graph.ErrNoStore},
	{"graph.ErrNoThread", graph.ErrNoThread},
	{"graph.ErrClosed", graph.ErrClosed},
}
