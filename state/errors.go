package state

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrConflict is returned when two tasks of one superstep wrote a field that takes one writer a step, or replaced the
	// same field. The error is a *ConflictError.
	ErrConflict = errors.New("state: conflicting writes in one superstep")

	// ErrIncompatible is returned when stored bytes do not fit the program's field: its kind or its element type has changed.
	// The error is a *FieldError.
	ErrIncompatible = errors.New("state: the stored field does not fit this program")

	// ErrCorrupt is returned when bytes are not what this package wrote.
	ErrCorrupt = errors.New("state: these bytes are no state")
)

// A ConflictError tells which tasks of a superstep cannot be folded together. Nothing of the step was committed. It matches
// ErrConflict.
type ConflictError struct {
	Field string   // the field's durable name
	Go    string   // the field's Go name
	Tasks []int    // indexes into the parts given to Commit
	Names []string // the Task of each of these parts

	replaced bool // by all of them; else the field takes one writer
}

// Error names the field, the tasks and the way out.
func (e *ConflictError) Error() string {
	did, instead := "wrote", "let one of them write it, or use List, Map, Sum or Fold"
	if e.replaced {
		did, instead = "replaced", "let one of them replace it"
	}
	return fmt.Sprintf("state: field %s (%s): tasks %s %s it in one superstep; %s",
		e.Field, e.Go, strings.Join(e.Names, ", "), did, instead)
}

// Is reports whether target is ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// A ReduceError tells that a field's writes could not be folded: its reducer failed or panicked, or a sum left the range of
// its type. Nothing of the step was committed.
type ReduceError struct {
	Field string // the field's durable name
	Go    string // the field's Go name
	Task  string // the Task of the part whose write was refused
	Index int    // the index of that part
	Err   error
	Stack string // the stack of the panic, "" if the reducer returned an error
}

// Error names the field and the task.
func (e *ReduceError) Error() string {
	return fmt.Sprintf("state: field %s (%s): folding what task %s wrote: %v", e.Field, e.Go, e.Task, e.Err)
}

// Unwrap returns the reducer's error.
func (e *ReduceError) Unwrap() error { return e.Err }

// A ValueError tells that a task wrote a value that would not come back as it is. Nothing of the task was kept.
type ValueError struct {
	Field string // the field's durable name
	Go    string // the field's Go name
	Path  string // where in the field, as in [3].Price or ["key"].Name; "" is the value itself
	Err   error
}

// Error names the field, the place in it, and what is wrong there.
func (e *ValueError) Error() string {
	return fmt.Sprintf("state: field %s (%s%s): %v", e.Field, e.Go, e.Path, e.Err)
}

// Unwrap returns what is wrong.
func (e *ValueError) Unwrap() error { return e.Err }

// A FieldError tells that a stored field cannot be read by this program. The stored state is untouched. It matches
// ErrIncompatible.
type FieldError struct {
	Field string // the field's durable name
	Go    string // the field's Go name
	Err   error
}

// Error names the field and what does not fit.
func (e *FieldError) Error() string {
	return fmt.Sprintf("state: stored field %s (%s): %v", e.Field, e.Go, e.Err)
}

// Unwrap returns what does not fit.
func (e *FieldError) Unwrap() error { return e.Err }

// Is reports whether target is ErrIncompatible.
func (e *FieldError) Is(target error) bool { return target == ErrIncompatible }
