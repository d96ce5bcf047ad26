package graph

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// Outcomes of a run that are not results.
var (
	// ErrInterrupted is matched by *Interrupted: the run waits, and Resume goes on.
	ErrInterrupted = errors.New("graph: interrupted")

	// ErrCancelled is returned when the run was cancelled for good. The thread takes the next input.
	ErrCancelled = errors.New("graph: the run was cancelled")

	// ErrDrained is returned when the run stopped at a superstep boundary because its App is closing, or because of Drain.
	// Resume continues it.
	ErrDrained = errors.New("graph: drained; Resume continues the run")

	// ErrStopped is the cause when a reader broke out of a stream. Resume continues the run.
	ErrStopped = errors.New("graph: the reader left the stream; Resume continues the run")

	// ErrStepLimit is returned when a call has run as many supersteps as it may. Everything is saved; Resume continues it.
	ErrStepLimit = errors.New("graph: step limit reached; Resume continues the run")

	// ErrCrashLoop is returned when a run was taken over again and again without getting anywhere: a task kills its process.
	ErrCrashLoop = errors.New("graph: the run was taken over too often without progress; mend the task, then Resume")
)

// ErrQueued is matched by *QueuedError: the input is stored and runs when its turn comes.
var ErrQueued = errors.New("graph: the input is queued")

// Refusals: nothing was changed.
var (
	// ErrNoStore is returned by calls that need a store when the graph was compiled without one.
	ErrNoStore = errors.New("graph: needs a store: set Options.Store")

	// ErrNoProgram is returned by a View without a program (Bare) for what runs nodes.
	ErrNoProgram = errors.New("graph: needs the program: a bare View runs no nodes")

	// ErrClosed is returned by an App that was closed.
	ErrClosed = errors.New("graph: the app is closed")

	// ErrNoThread is returned when the thread does not exist.
	ErrNoThread = errors.New("graph: no such thread")

	// ErrBusy is matched by *BusyError: the thread has unfinished business.
	ErrBusy = errors.New("graph: the thread is busy")

	// ErrOwner is returned by Run when RunOptions.Owner is not the owner of the thread. Nothing of the thread is shown.
	ErrOwner = errors.New("graph: the thread belongs to another owner")

	// ErrNothingToDo is returned by Resume when the last run has ended.
	ErrNothingToDo = errors.New("graph: nothing to resume: the last run has ended; Run starts the next one")

	// ErrNotHead is returned when Resume names an entry that is not the newest one.
	ErrNotHead = errors.New("graph: the entry is not the head of the thread; fork from it, then resume the fork")

	// ErrDormant is returned by calls that run or answer, for a branch that is not the active one. Activate wakes it.
	ErrDormant = errors.New("graph: the branch is dormant; Activate it first")

	// ErrInUse is returned when a name is taken, or what is to be removed is needed by what stays.
	ErrInUse = errors.New("graph: in use")

	// ErrEffects is matched by *EffectsError: a fork would come by recorded effects again, and it was not said what becomes of them.
	ErrEffects = errors.New("graph: effects are recorded behind the entry; say Reuse or Rerun")

	// ErrPruned is returned when an entry was removed by retention.
	ErrPruned = checkpoint.ErrPruned

	// ErrAmbiguous is matched by *AmbiguousError, an answer without an id and not exactly one open question, and by
	// *AmbiguousTaskError.
	ErrAmbiguous = errors.New("graph: it is not clear what is meant")

	// ErrBadAnswer is matched by *BadAnswerError: the answer does not fit what was asked.
	ErrBadAnswer = errors.New("graph: bad answer")

	// ErrNotPending is returned when a question is not open: answered, closed, or unknown.
	ErrNotPending = checkpoint.ErrNotPending

	// ErrExpired is matched by *ExpiredError: the question's deadline has passed.
	ErrExpired = checkpoint.ErrExpired

	// ErrIncompatible is matched by *IncompatibleError: the thread was written by a graph that this one cannot continue.
	ErrIncompatible = errors.New("graph: the thread does not fit this graph")

	// ErrDuplicate is matched by *DuplicateError: the request id has started a run before.
	ErrDuplicate = errors.New("graph: the request has been taken before")
)

// Mistakes inside nodes.
var (
	// ErrStale is returned when a call comes too late: the node was abandoned after its time-out, or another process has the
	// thread. Nothing of it is kept.
	ErrStale = checkpoint.ErrStale

	// ErrNoRun is returned by Ask, Once and the like when the context is not that of a node.
	ErrNoRun = errors.New("graph: the context is not that of a node; in tests use graphtest.Context")

	// ErrSwallowed is returned for a node that asked a question and did not return the error it was given.
	ErrSwallowed = errors.New("graph: the node asked and then hid it; return the error of Ask")

	// ErrTimeout is matched by *TimeoutError.
	ErrTimeout = errors.New("graph: timed out")

	// ErrCallBusy is returned when two calls of Call under one name run at the same time in one task: after a pause they could not be
	// told apart.
	ErrCallBusy = errors.New("graph: a Call of this name is running in this task; give parallel calls different names")

	// ErrOnceBusy is returned when two calls of Once under one name run at the same time in one task.
	ErrOnceBusy = errors.New("graph: a Once of this name is running in this task; give them different names")
)

// An Interrupted is the error of a run that waits. It is not a failure: everything is saved, nothing is held.
type Interrupted struct {
	Thread    Thread
	Run       string
	Questions []Question // open, in task order; answer them with Resume
	Breaks    []string   // nodes at which a breakpoint stopped
	Err       error      // a sibling failed in the same superstep
}

// Error lists what is waited for.
func (e *Interrupted) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "graph: thread %s waits", e.Thread)
	for i, q := range e.Questions {
		b.WriteString([]string{" for an answer to ", ", "}[min(i, 1)])
		fmt.Fprintf(&b, "%s (node %s, id %s)", q.Name, q.Node, q.ID)
	}
	if len(e.Breaks) > 0 {
		fmt.Fprintf(&b, " at breakpoint %s", strings.Join(e.Breaks, ", "))
	}
	if e.Err != nil {
		fmt.Fprintf(&b, "; and %v", e.Err)
	}
	return b.String()
}

// Is makes errors.Is(err, ErrInterrupted) true.
func (e *Interrupted) Is(target error) bool { return target == ErrInterrupted }

// Unwrap returns the sibling's error.
func (e *Interrupted) Unwrap() error { return e.Err }

// A BusyError says why a thread does not take this call now.
type BusyError struct {
	Thread    Thread
	Run       string
	Status    checkpoint.Status
	Holder    checkpoint.Holder // who works on it, if somebody does
	Questions []Question        // what it waits for, if it waits
	Recorded  bool              // the answers of this call were recorded; the holder will use them
}

// Error says what the thread is doing and what to do.
func (e *BusyError) Error() string {
	switch {
	case e.Recorded:
		return fmt.Sprintf("graph: thread %s is worked on by process %d on %s, which will use the recorded answers", e.Thread, e.Holder.PID, e.Holder.Host)
	case e.Status == checkpoint.Running && e.Holder.PID != 0:
		return fmt.Sprintf("graph: thread %s is worked on by process %d on %s; wait for run %s or cancel it", e.Thread, e.Holder.PID, e.Holder.Host, e.Run)
	case len(e.Questions) > 0:
		return fmt.Sprintf("graph: thread %s waits for %d answer(s); Resume with them, or Cancel run %s first", e.Thread, len(e.Questions), e.Run)
	default:
		return fmt.Sprintf("graph: thread %s has an unfinished run %s (%s); Resume it, or Cancel it first", e.Thread, e.Run, e.Status)
	}
}

// Is makes errors.Is(err, ErrBusy) true.
func (e *BusyError) Is(target error) bool { return target == ErrBusy }

// A QueuedError says that an input was stored, durably, and will run as Run. Until then the thread shows nothing of it;
// afterwards State, History and the events of the process that runs it do. App.CancelRun takes it back.
type QueuedError struct {
	Thread Thread
	Run    string
}

// Error names the run.
func (e *QueuedError) Error() string {
	return fmt.Sprintf("graph: thread %s is busy; the input is queued as run %s", e.Thread, e.Run)
}

// Is makes errors.Is(err, ErrQueued) true.
func (e *QueuedError) Is(target error) bool { return target == ErrQueued }

// An AmbiguousError lists the open questions among which an answer without an id cannot choose.
type AmbiguousError struct{ Questions []Question }

// Error lists the questions.
func (e *AmbiguousError) Error() string {
	if len(e.Questions) == 0 {
		return "graph: the answer fits no question: none is open"
	}
	ids := make([]string, len(e.Questions))
	for i, q := range e.Questions {
		ids[i] = q.Name + " (" + q.ID + ")"
	}
	return fmt.Sprintf("graph: %d questions are open, say which one is answered: %s", len(ids), strings.Join(ids, ", "))
}

// Is makes errors.Is(err, ErrAmbiguous) true.
func (e *AmbiguousError) Is(target error) bool { return target == ErrAmbiguous }

// An AmbiguousTaskError lists what an edit may be made as.
type AmbiguousTaskError struct {
	As         string
	Candidates []string // names of nodes, or ids of open tasks
}

// Error lists the candidates.
func (e *AmbiguousTaskError) Error() string {
	return fmt.Sprintf("graph: an edit as %q can mean several things, say which: %s", e.As, strings.Join(e.Candidates, ", "))
}

// Is makes errors.Is(err, ErrAmbiguous) true.
func (e *AmbiguousTaskError) Is(target error) bool { return target == ErrAmbiguous }

// A BadAnswerError says why an answer was not taken. The question is still open.
type BadAnswerError struct {
	Question Question
	Err      error
}

// Error names the question and what is wrong.
func (e *BadAnswerError) Error() string {
	return fmt.Sprintf("graph: bad answer to %s (node %s, id %s): %v", e.Question.Name, e.Question.Node, e.Question.ID, e.Err)
}

// Is makes errors.Is(err, ErrBadAnswer) true.
func (e *BadAnswerError) Is(target error) bool { return target == ErrBadAnswer }

// Unwrap returns what is wrong.
func (e *BadAnswerError) Unwrap() error { return e.Err }

// An ExpiredError says that a question's deadline has passed. Ask returns it when the question has no default, and the
// task fails with it unless the node deals with it; Resume of the failed task then asks anew. Resume with an answer that
// comes too late returns it too, and changes nothing.
type ExpiredError struct{ Question Question }

// Error names the question and its deadline.
func (e *ExpiredError) Error() string {
	return fmt.Sprintf("graph: question %s (node %s, id %s) has expired at %s", e.Question.Name, e.Question.Node, e.Question.ID, e.Question.Expires.Format(time.RFC3339))
}

// Is makes errors.Is(err, ErrExpired) true.
func (e *ExpiredError) Is(target error) bool { return target == ErrExpired }

// Retryable is false: another attempt would find the question as expired.
func (e *ExpiredError) Retryable() bool { return false }

// An IncompatibleError lists why a thread cannot be continued by this graph.
type IncompatibleError struct {
	Thread  Thread
	Written string // name, version and fingerprint of the graph that wrote it
	Reasons []string
}

// Error lists the reasons.
func (e *IncompatibleError) Error() string {
	return fmt.Sprintf("graph: thread %s was written by %s and does not fit this graph: %s", e.Thread, e.Written, strings.Join(e.Reasons, "; "))
}

// Is makes errors.Is(err, ErrIncompatible) true.
func (e *IncompatibleError) Is(target error) bool { return target == ErrIncompatible }

// A DuplicateError tells which run was started by the same request before.
type DuplicateError struct {
	Run    string
	Status checkpoint.Status
}

// Error names the run.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("graph: the request has started run %s before, which is %s; read it with State", e.Run, e.Status)
}

// Is makes errors.Is(err, ErrDuplicate) true.
func (e *DuplicateError) Is(target error) bool { return target == ErrDuplicate }

// A NodeError is the failure of a task, with everything needed to find it.
type NodeError struct {
	Node    string
	Task    string
	Attempt int
	Err     error
}

// Error names the node.
func (e *NodeError) Error() string { return fmt.Sprintf("node %s: %v", e.Node, e.Err) }

// Unwrap returns the node's error.
func (e *NodeError) Unwrap() error { return e.Err }

// A PanicError is a panic, or an exit of the goroutine, in the user's code.
type PanicError struct {
	Value string // what was panicked with
	Stack []byte
}

// Error says what happened; the stack is a field.
func (e *PanicError) Error() string { return "panic: " + e.Value }

// A TimeoutError says which of a node's time-outs passed.
type TimeoutError struct {
	Node  string
	Idle  bool // without a sign of life; otherwise in all
	After time.Duration
}

// Error names the node and the time.
func (e *TimeoutError) Error() string {
	if e.Idle {
		return fmt.Sprintf("no sign of life for %s", e.After)
	}
	return fmt.Sprintf("not done after %s", e.After)
}

// Is makes errors.Is(err, ErrTimeout) true.
func (e *TimeoutError) Is(target error) bool { return target == ErrTimeout }

// Retryable makes a time-out an ordinary transient error.
func (e *TimeoutError) Retryable() bool { return true }

// A RouteError is a route or branch that did not keep to what it declared.
type RouteError struct {
	From   string
	Target string
	Reason string
}

// Error names source and target.
func (e *RouteError) Error() string {
	if e.Target == "" {
		return fmt.Sprintf("route of %s: %s", e.From, e.Reason)
	}
	return fmt.Sprintf("route of %s to %q: %s", e.From, e.Target, e.Reason)
}

// An UnreturnedError is what Close returns when nodes did not come back.
type UnreturnedError struct{ Nodes []string }

// Error names the nodes.
func (e *UnreturnedError) Error() string {
	return fmt.Sprintf("graph: %d call(s) did not return: %s", len(e.Nodes), strings.Join(e.Nodes, ", "))
}
