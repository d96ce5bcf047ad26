package graph

import (
	"context"
	"encoding/json"
	"iter"
	"slices"

	"github.com/holdfast-go/holdfast/state"
)

// An App is a compiled graph. It is immutable, holds nothing of any run, and is safe for concurrent use.
type App[S any] struct {
	c  *core
	ro RunOptions
}

func newApp[S any](p *plan, o Options) *App[S] { return &App[S]{c: newCore(p, o)} }

// With returns the same App with options for the calls made through it.
func (a *App[S]) With(o RunOptions) *App[S] { return &App[S]{a.c, o} }

// Run starts a run on the thread with an input and returns the state at its end. A thread with unfinished business is
// ErrBusy, or what RunOptions.OnBusy says; inputs that were queued before run first, and Run waits for them. After a failure what had finished is kept, and the rest is closed by name, before the input is taken. A run
// that waits is an *Interrupted, and the state is the one it waits with.
//
// When ctx ends the run stops resumably: finished tasks are recorded, and the error is the context's cause. The values
// of ctx reach every node and are never stored.
func (a *App[S]) Run(ctx context.Context, thread Thread, input func(*S)) (*S, error) {
	return a.finish(a.begin(ctx, thread, input))
}

// Resume continues the thread's run, in any process: with answers, with writes and gotos, or with nothing, which takes up
// unfinished work after a crash, a failure, a stop or a breakpoint. A call that does not fit changes nothing.
func (a *App[S]) Resume(ctx context.Context, thread Thread, cmds ...Command) (*S, error) {
	return a.finish(a.start(a.c.resume(ctx, thread, a.ro, cmds)))
}

// Stream is Run with its events. The run's error is the last thing that the loop gets. Leaving the loop stops the run
// resumably (see RunOptions.Detach); a slow loop never holds the run up.
func (a *App[S]) Stream(ctx context.Context, thread Thread, input func(*S)) iter.Seq2[Event, error] {
	return a.c.stream(ctx, a.ro, func(ctx context.Context) (*run, error) { return a.c.begin(ctx, thread, a.ro, writer(input)) })
}

// StreamResume is Resume with its events.
func (a *App[S]) StreamResume(ctx context.Context, thread Thread, cmds ...Command) iter.Seq2[Event, error] {
	return a.c.stream(ctx, a.ro, func(ctx context.Context) (*run, error) { return a.c.resume(ctx, thread, a.ro, cmds) })
}

// Watch yields the events of a run that somebody else has started, in this process or another, while it goes on or after it
// has ended. It never holds the run up, and leaving the loop leaves the run alone.
//
// While this App runs the thread, Watch joins it: live kinds come too, as soon as they happen. Otherwise it follows the log,
// which has the durable kinds (EventKind.Durable), the start of a run and how it ended or paused. What exists live only, as all that
// happens inside child graphs but their questions, and cannot be had is one EventsDropped. Numbers ascend without a repeat, and a durable event has the same one whoever tells
// it, so a reader that went away goes on where it was with WatchOptions.After, in any process. Only where a crash has taken
// entries that were told before they were safe (Async, AtExit, a store with a LossWindow) numbers go on from what is left.
//
// Numbers name their branch. When another branch is watched than the one that After is of, because Rollback, Fork, DeleteRuns or Activate has
// made it the active one, the first event is one EventsDropped, and then the run is told from where it begins. A branch made later has
// higher numbers; Activate may lead to lower ones, which the reader may have had. A Run that is not in the active branch is looked for in all, unless
// the Thread names one. A queued run is followed into the branch where it begins.
//
// Watch ends when the run ends or waits for people. It goes on when another process takes the run over; one that has drained
// because its App closed is one to be taken over. The loop's last error, if any, is the context's cause, ErrClosed when this
// App closes while it follows the log, or why the log cannot be read.
//
// Following the log is one read of the store for each look: 50 of them a WatchOptions.Every while something comes, less and
// less often, down to one an Every, while nothing comes; then the thread's head is looked at too. To find where a run begins
// (After is 0) costs a read for each 200 records of it.
func (a *App[S]) Watch(ctx context.Context, thread Thread, o WatchOptions) iter.Seq2[Event, error] {
	return a.c.watch(ctx, thread, o)
}

// State returns the thread as it stands: its state, what is next, what is open.
func (a *App[S]) State(ctx context.Context, thread Thread) (*Snapshot[S], error) {
	return a.StateAt(ctx, thread, -1)
}

// StateAt returns the thread as it stood at an entry; -1 is the head.
func (a *App[S]) StateAt(ctx context.Context, thread Thread, entry int64) (*Snapshot[S], error) {
	st, log, err := a.c.stateAt(ctx, thread, entry)
	if err != nil {
		return nil, err
	}
	head, err := a.c.restore(thread, log)
	if err != nil {
		return nil, err
	}
	return &Snapshot[S]{ThreadInfo: *st, State: a.view(head)}, nil
}

// History iterates over the thread's entries, newest first.
func (a *App[S]) History(ctx context.Context, thread Thread) iter.Seq2[EntryInfo, error] {
	return a.c.history(ctx, thread)
}

// Cancel ends the thread's run for good, from any process: finished tasks are committed, open ones abandoned by name,
// questions closed; the thread takes the next input. A run in another process notices within a third of its lease.
func (a *App[S]) Cancel(ctx context.Context, thread Thread) error {
	return a.c.cancelThread(ctx, thread, a.ro, "")
}

// CancelRun is Cancel of one run, by its id: the present one, or one that is queued, which then never starts. Any other is
// ErrNothingToDo.
func (a *App[S]) CancelRun(ctx context.Context, thread Thread, run string) error {
	return a.c.cancelThread(ctx, thread, a.ro, run)
}

// Drain stops the thread's run at its next superstep boundary, from any process: its nodes see Draining, everything is
// saved, and the run is interrupted with the reason, until Resume continues it. A run that ends in that superstep
// completes. A run in another process notices within a third of its lease; Drain does not wait for it. A thread on which
// nothing runs is ErrNothingToDo.
func (a *App[S]) Drain(ctx context.Context, thread Thread, reason string) error {
	return a.c.drainThread(ctx, thread, a.ro, reason)
}

// Recover continues what is left over: runs whose lease has run out or whose holder is dead, threads whose answers nobody
// has used, questions whose deadline has passed, inputs that wait and whose turn has come. It returns what became of each.
// After a crash nothing else is needed.
func (a *App[S]) Recover(ctx context.Context) ([]Recovered, error) { return a.c.recover(ctx, a.ro) }

// Serve repeats Recover until ctx ends, and returns the context's cause.
func (a *App[S]) Serve(ctx context.Context, every ServeOptions) error {
	return a.c.serve(ctx, a.ro, every)
}

// Close stops all runs at their next superstep, resumably, and waits until nothing that this App started is left. If ctx
// ends before that, the error names the nodes that did not return.
func (a *App[S]) Close(ctx context.Context) error { return a.c.close(ctx) }

// Fields describes the state.
func (a *App[S]) Fields() []state.Info { return slices.Clone(a.c.plan.ops.fields()) }

// View is the App without its type, with JSON in the place of states, for servers, queues and command lines.
func (a *App[S]) View() *View { return &View{a.c, a.ro} }

func writer[S any](input func(*S)) func(any) error {
	return func(view any) error {
		if input != nil {
			input(view.(*S))
		}
		return nil
	}
}

func (a *App[S]) begin(ctx context.Context, thread Thread, input func(*S)) (*run, error) {
	return a.start(a.c.begin(ctx, thread, a.ro, writer(input)))
}

func (a *App[S]) start(r *run, err error) (*run, error) {
	if err == nil {
		r.start()
	}
	return r, err
}

func (a *App[S]) finish(r *run, err error) (*S, error) {
	if err != nil {
		return nil, err
	}
	err = r.wait()
	return a.view(r.head), err
}

func (a *App[S]) view(head any) *S { return a.c.plan.ops.view(head).(*S) }

// A View is an App without the type of its state. Input, state and answers are JSON in the one form that events have too.
type View struct {
	c  *core
	ro RunOptions
}

// With returns the same View with options for the calls made through it.
func (v *View) With(o RunOptions) *View { return &View{v.c, o} }

// Name is the graph's name.
func (v *View) Name() string { return v.c.plan.id.Name }

// Schema is the JSON Schema of the state, which is also that of an input.
func (v *View) Schema() json.RawMessage { return v.c.plan.ops.schema() }

// Run is App.Run. The input is an object with some of the state's fields.
func (v *View) Run(ctx context.Context, thread Thread, input json.RawMessage) (json.RawMessage, error) {
	return v.finish(v.c.begin(ctx, thread, v.ro, v.merge(input)))
}

// Resume is App.Resume.
func (v *View) Resume(ctx context.Context, thread Thread, cmds ...Command) (json.RawMessage, error) {
	return v.finish(v.c.resume(ctx, thread, v.ro, cmds))
}

// Stream is App.Stream. An event of StateValues carries the state in its JSON form as Data.
func (v *View) Stream(ctx context.Context, thread Thread, input json.RawMessage) iter.Seq2[Event, error] {
	return inJSON(v.c.stream(ctx, v.ro, func(ctx context.Context) (*run, error) { return v.c.begin(ctx, thread, v.ro, v.merge(input)) }))
}

// StreamResume is App.StreamResume.
func (v *View) StreamResume(ctx context.Context, thread Thread, cmds ...Command) iter.Seq2[Event, error] {
	return inJSON(v.c.stream(ctx, v.ro, func(ctx context.Context) (*run, error) { return v.c.resume(ctx, thread, v.ro, cmds) }))
}

// Watch is App.Watch. An event of StateValues carries the state in its JSON form as Data.
func (v *View) Watch(ctx context.Context, thread Thread, o WatchOptions) iter.Seq2[Event, error] {
	return inJSON(v.c.watch(ctx, thread, o))
}

// State is App.State.
func (v *View) State(ctx context.Context, thread Thread) (*ThreadInfo, error) {
	return v.StateAt(ctx, thread, -1)
}

// History is App.History.
func (v *View) History(ctx context.Context, thread Thread) iter.Seq2[EntryInfo, error] {
	return v.c.history(ctx, thread)
}

// Cancel is App.Cancel.
func (v *View) Cancel(ctx context.Context, thread Thread) error {
	return v.c.cancelThread(ctx, thread, v.ro, "")
}

// CancelRun is App.CancelRun.
func (v *View) CancelRun(ctx context.Context, thread Thread, run string) error {
	return v.c.cancelThread(ctx, thread, v.ro, run)
}

// Drain is App.Drain.
func (v *View) Drain(ctx context.Context, thread Thread, reason string) error {
	return v.c.drainThread(ctx, thread, v.ro, reason)
}

// Mermaid is App.Mermaid.
func (v *View) Mermaid() string { return v.c.plan.mermaid() }

func (v *View) merge(doc json.RawMessage) func(any) error {
	return func(view any) error {
		if len(doc) == 0 {
			return nil
		}
		return v.c.plan.ops.merge(view, doc)
	}
}

func (v *View) finish(r *run, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	r.start()
	err = r.wait()
	doc, jerr := v.c.plan.ops.json(r.head)
	if jerr != nil {
		return nil, jerr
	}
	return doc, err
}

// verify checks, when the environment asks for it, that what the log folds to is what the run holds.
func (r *run) verify() {
	if !verifying || r.log == nil {
		return
	}
	r.logMu.Lock()
	defer r.logMu.Unlock()
	typed, err := r.plan.ops.json(r.head)
	if err != nil {
		panic(err)
	}
	raw, err := r.log.State.JSON(append(hidden(r.plan.ops), r.plan.ops.unknown(r.log.State)...)...)
	if err != nil {
		panic(err)
	}
	if string(typed) != string(raw) {
		panic("graph: the log and the state differ:\n" + string(raw) + "\n" + string(typed))
	}
	var size int64
	for _, w := range r.log.State.Snapshot() {
		size += int64(len(w.Data))
	}
	if size != r.log.State.Size() {
		panic("graph: the state's size is not what it says")
	}
}
