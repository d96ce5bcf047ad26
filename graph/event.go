package graph

import (
	"encoding/json"
	"fmt"
	"iter"

	"github.com/holdfast-go/holdfast/internal/record"
	"github.com/holdfast-go/holdfast/state"
)

// An EventKind says what an event tells.
type EventKind string

// The kinds of events. Durable ones can be read from the log again; live ones exist only while they happen.
const (
	RunStarted     EventKind = "run.started" // also when a run is resumed
	RunCompleted   EventKind = "run.completed"
	RunFailed      EventKind = "run.failed"
	RunInterrupted EventKind = "run.interrupted" // it waits for answers or at a breakpoint
	RunDrained     EventKind = "run.drained"
	RunStopped     EventKind = "run.stopped" // the caller's context ended, or the step limit was reached
	RunCancelled   EventKind = "run.cancelled"

	TaskStarted   EventKind = "task.started"   // live
	TaskCompleted EventKind = "task.completed" // live; its writes come with TaskUpdated, when they are committed
	TaskRetried   EventKind = "task.retried"   // live
	TaskAsked     EventKind = "task.asked"     // live
	TaskFailed    EventKind = "task.failed"    // live
	TaskStopped   EventKind = "task.stopped"   // live

	TaskUpdated    EventKind = "updated"  // durable: what one task of a committed superstep wrote
	StateValues    EventKind = "values"   // durable: the state after a superstep; only when asked for
	EntryCommitted EventKind = "entry"    // durable: a superstep was committed
	QuestionAsked  EventKind = "question" // a question waits; the pause is durable
	CustomEvent    EventKind = "custom"   // live: what a node emitted
	EventsDropped  EventKind = "dropped"  // live events that this reader cannot have any more: From and To
)

// Durable reports whether events of this kind can be read from the log again.
func (k EventKind) Durable() bool { return k == TaskUpdated || k == StateValues || k == EntryCommitted }

// final reports whether events of this kind say how a run ended. There are few of them and they come last.
func (k EventKind) final() bool {
	switch k {
	case RunCompleted, RunFailed, RunInterrupted, RunDrained, RunStopped, RunCancelled, QuestionAsked:
		return true
	}
	return false
}

// Reserved names of custom events.
const (
	ModelToken   = "model.token"
	ToolProgress = "tool.progress"
)

// An Event is something that happened in a run.
type Event struct {
	// Seq grows within a run, from run to run of a branch, and from a branch to each that was made later, so that no two events of
	// a thread share a number. It is a place, not a count: the branch, the position of the record before the event, and the event's
	// place behind it. So a durable event has the same number whoever reads it, live or from the log.
	Seq      int64           `json:"seq"`
	Kind     EventKind       `json:"kind"`
	Thread   Thread          `json:"thread"`
	Run      string          `json:"run"`
	Path     []string        `json:"path,omitzero"`  // of a child graph: the names of the calls that lead to it
	Calls    []string        `json:"calls,omitzero"` // the tasks that made these calls, so that parallel calls can be told apart
	Step     int64           `json:"step"`           // in the run: input 0, first superstep 1
	Node     string          `json:"node,omitzero"`
	Task     string          `json:"task,omitzero"`
	Attempt  int             `json:"attempt,omitzero"`
	Name     string          `json:"name,omitzero"` // of a custom event
	Data     json.RawMessage `json:"data,omitzero"` // Updated: writes by field; custom events: the value; Values, through a View: the state
	Next     []string        `json:"next,omitzero"` // Entry: the nodes that come next
	Question *Question       `json:"question,omitzero"`
	Error    string          `json:"error,omitzero"`
	FromLog  bool            `json:"from_log,omitzero"`
	Cached   bool            `json:"cached,omitzero"` // TaskCompleted, TaskUpdated: the result came from the cache, and the node did not run
	From     int64           `json:"from,omitzero"`   // EventsDropped: the first number
	To       int64           `json:"to,omitzero"`     // EventsDropped: the last number; 0: all live events until one comes again

	head any        // StateValues, live
	raw  *state.Raw // StateValues, from the log
	ops  ops
}

// State is the state of a Values event in its JSON form.
func (e Event) State() (json.RawMessage, error) {
	switch {
	case e.ops == nil || e.head == nil && e.raw == nil:
		return nil, fmt.Errorf("graph: event %s carries no state; watch graph.StateValues", e.Kind)
	case e.head != nil:
		return e.ops.json(e.head)
	default:
		return e.raw.JSON(hidden(e.ops)...)
	}
}

// inJSON puts the state of Values events into their data.
func inJSON(events iter.Seq2[Event, error]) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for e, err := range events {
			if err == nil && e.Kind == StateValues {
				e.Data, err = e.State()
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// StateOf is the state of a Values event. The state belongs to the caller.
func StateOf[S any](e Event) (*S, error) {
	t, ok := e.ops.(typed[S])
	if !ok || e.head == nil && e.raw == nil {
		return nil, fmt.Errorf("graph: event %s carries no state of type %T", e.Kind, *new(S))
	}
	head := e.head
	if head == nil {
		var err error
		if head, err = t.restore(e.raw); err != nil {
			return nil, err
		}
	}
	return t.view(head).(*S), nil
}

// Custom decodes what a node emitted.
func Custom[T any](e Event) (T, error) {
	if e.Kind != CustomEvent {
		var none T
		return none, fmt.Errorf("graph: event %s is not a custom event", e.Kind)
	}
	return decodeValue[T](e.Data)
}

// updateData is the JSON form of what a task wrote: by field, the kind of the field and the write.
func updateData(ws record.Writes, hide map[string]bool) json.RawMessage {
	type write struct {
		Kind  string          `json:"kind"`
		Write json.RawMessage `json:"write"`
	}
	m := make(map[string]write, len(ws))
	for _, w := range ws {
		if !hide[w.Field] {
			m[w.Field] = write{w.Kind, w.Data}
		}
	}
	b, err := record.Encode(m)
	if err != nil { // JSON that was checked when it was written
		panic(err)
	}
	return b[1:]
}

func hidden(o ops) (names []string) {
	for _, f := range o.fields() {
		if f.Hidden {
			names = append(names, f.Name)
		}
	}
	return names
}

func hiddenSet(o ops) map[string]bool {
	set := map[string]bool{}
	for _, n := range hidden(o) {
		set[n] = true
	}
	return set
}
