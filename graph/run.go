package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/crashpoint"
	"github.com/holdfast-go/holdfast/internal/record"
)

// A run is one call of Run or Resume at work. One goroutine at a time drives it: it alone reads and writes the fields
// below "driver". A superstep of one task is run by the driver itself, without a goroutine of its own; if that task does
// not come back when it must, or ends the goroutine, another goroutine takes over the driving.
type run struct {
	c       *core
	root    *run // of the thread; itself unless this is a child graph's
	plan    *plan
	opts    *Options // of its graph
	ro      RunOptions
	thread  Thread
	chain   checkpoint.Chain
	branch  string // its name; empty: the first one
	key     checkpoint.Key
	id      string
	by      string // who made this call
	starter string // who started the run
	mode    Durability
	limit   int
	ctx     context.Context
	cancel  context.CancelCauseFunc
	bus     *bus
	traced  bool          // its Tracer has begun a span for the call
	done    chan struct{} // closed when the run has ended, err and head are final then

	journal *journal  // nil without a store
	stored  time.Time // by the store's clock, when it was local here: the acquisition has told
	local   time.Time
	epoch   atomic.Int64 // of the acquisition
	inline  atomic.Pointer[task]
	drained atomic.Pointer[string] // why this run, and not the whole App, is asked to stop at the next boundary

	// Of a child graph.
	up      *call  // the attempt that called it; nil for the root
	track   *track // the end of its chain
	path    []string
	calls   []string // ids of the tasks that called, from the root on
	memory  Memory
	quiet   bool
	escapes []string // targets that it may escape to
	escaped []string // where it has escaped to

	kids children // of the root: child graphs under it

	logMu   sync.Mutex
	stepCtx context.Context // of the superstep, if there is a Tracer. Others than the driver read it under the lock
	fenced  bool            // another attempt has taken its chain
	begun   bool            // of a child: what was folded is in the journal
	log     *record.Thread  // nil without a store
	onces   map[record.OnceID]*record.Once

	answerMu sync.Mutex
	answers  map[string]*checkpoint.Question // of this thread that are open or answered, by id
	refused  map[string]error

	// driver
	head       any
	step       int64
	startStep  int64 // step of the run's input
	ran        int
	current    []*task // of the open superstep, in task order
	deferred   []*task // wait until nothing else is scheduled
	joins      [][]bool
	marks      []bool
	ready      []*task    // room for execute
	parts      []part     // room for fold
	rooms      [2][]*task // room for the tasks of this superstep and the next
	folding    bool       // user code may run in the driver
	leftBehind bool       // a task was abandoned and may still run
	out        outside    // tasks of the open superstep in goroutines of their own
	skipBreak  bool
	status     checkpoint.Status
	err        error
	cancelled  *checkpoint.Command // somebody wants the run to end
	stepCancel context.CancelCauseFunc
	crashLoop  bool  // it was taken over too often
	over       bool  // it had ended before this call could take it up
	more       bool  // inputs wait in the inbox
	passed     int64 // inputs up to this number of the inbox are done
	before     int64 // inputs up to this number came before the call that began the run; below 0: not known
	swept      bool  // whoever waits for the run looks after the inbox
	unwatch    func() bool
	lostOnce   sync.Once
	lost       atomic.Pointer[error]
}

// errCancel is the cause with which a cancelled run's context ends.
var errCancel = fmt.Errorf("%w by command", ErrCancelled)

// drive runs supersteps until the run ends or pauses.
func (r *run) drive(then func() bool) {
	defer func() {
		if r.folding { // a reducer ended this goroutine
			r.folding = false
			go r.drive(func() bool { return r.stop(fmt.Errorf("folding the superstep: %w", errExit)) })
		}
	}()
	if !then() {
		return
	}
	for r.superstep() {
	}
}

// superstep runs one. It returns false when the run is over or another goroutine drives it now.
func (r *run) superstep() bool {
	if r.halt() {
		return false
	}
	return r.execute() && r.settleStep()
}

// execute runs the tasks of the open superstep that can run.
func (r *run) execute() bool {
	ready := r.ready[:0]
	ctx := r.beginStep()
	if r.opts.FailFast && len(r.current) > 1 {
		ctx, r.stepCancel = context.WithCancelCause(ctx)
	}
	for _, t := range r.current {
		if t.phase == phaseEnd || t.waiting {
			continue
		}
		t.ctx, t.head, t.at, t.runs, t.left = ctx, r.head, r.step, r.step-r.startStep, max(0, r.limit-r.ran-1)
		ready = append(ready, t)
	}
	r.ready = ready
	if len(ready) == 1 {
		r.beginTask(ready[0])
		r.taskEvent(ready[0], TaskStarted, nil)
		return r.finishInline(ready[0])
	}
	r.parallel(ready)
	return true
}

// finishInline executes a task in the driver's own goroutine. It returns false if the baton has passed meanwhile.
func (r *run) finishInline(t *task) bool {
	r.inline.Store(t)
	returned := false
	defer func() {
		switch {
		case returned:
		case r.inline.CompareAndSwap(t, nil): // user code ended this goroutine: another one drives on
			go r.drive(func() bool { return r.finishInline(t) && r.settleStep() })
		default:
			r.c.returned(t)
		}
	}()
	t.execute()
	returned = true
	if !r.inline.CompareAndSwap(t, nil) {
		r.c.returned(t)
		return false
	}
	r.ended(t)
	return true
}

// abandonInline takes the baton from a task that does not return.
func (r *run) abandonInline() {
	t := r.inline.Load()
	if t == nil {
		return
	}
	r.c.missing(t) // before its goroutine can learn that it is alone, and say that it has returned
	if !r.inline.CompareAndSwap(t, nil) {
		r.c.returned(t)
		return
	}
	t.fate.Store(fateLeft)
	r.abandon(t)
	go r.drive(r.settleStep)
}

// abandonParallel abandons a task unless it has been handed back already.
func (r *run) abandonParallel(t *task) bool {
	r.c.missing(t)
	if !t.fate.CompareAndSwap(fateOpen, fateLeft) {
		r.c.returned(t)
		return false
	}
	r.abandon(t)
	return true
}

// abandon replaces a task by a successor that was stopped.
func (r *run) abandon(t *task) {
	t.note("abandoned")
	r.endTask(t, TaskStopped, 0, nil)
	r.leftBehind = true
	s := t.successor(fmt.Errorf("%w: it did not return in time", errStopped))
	r.current[slices.Index(r.current, t)] = s
}

// parallel runs tasks in goroutines, a bounded number at a time, and waits for them.
func (r *run) parallel(ready []*task) {
	done := make(chan *task, len(ready))
	ctx := r.ctx
	ended := ctx.Done()
	var late <-chan time.Time
	stop := func() {}
	defer func() { stop() }()
	hurry := func() {
		if late == nil {
			late, stop = r.c.after(r.opts.Grace)
		}
	}
	running := map[*task]bool{}
	r.out.set(running)
	defer r.out.set(nil)
	failed := false
	for i := 0; ; {
		for i < len(ready) && len(running) < r.opts.MaxConcurrency && ctx.Err() == nil && !failed {
			t := ready[i]
			i++
			r.out.add(t)
			r.beginTask(t)
			r.taskEvent(t, TaskStarted, nil)
			go t.spawn(done)
		}
		if len(running) == 0 {
			for _, t := range ready[i:] {
				t.phase, t.err = phaseEnd, errStopped
			}
			return
		}
		select {
		case t := <-done:
			r.out.remove(t)
			r.ended(t)
			more := len(running) > 0 || i < len(ready)
			if t.err == nil && more {
				r.keep(t)
			}
			if t.err != nil && !t.asked() && r.stepCancel != nil {
				failed = true
				r.stepCancel(fmt.Errorf("a sibling failed: %w", t.err))
				hurry()
			}
		case <-ended:
			ended = nil
			hurry()
		case <-late:
			for _, t := range ready[:i] {
				if running[t] && r.abandonParallel(t) {
					r.out.remove(t)
				}
			}
		}
	}
}

// spawn executes the task and hands it back, from whatever goroutine that takes.
func (t *task) spawn(done chan<- *task) {
	defer func() {
		switch {
		case t.fate.Load() == fateLeft:
			t.r.c.returned(t)
		case t.phase != phaseEnd:
			go t.spawn(done)
		case t.fate.CompareAndSwap(fateOpen, fateHandedBack):
			done <- t
		default:
			t.r.c.returned(t)
		}
	}()
	t.execute()
}

// keep records the result of a task whose siblings still run. It does not wait for the store.
func (r *run) keep(t *task) {
	if r.journal == nil || t.recorded {
		return
	}
	res := &record.Result{Done: t.result()}
	if _, err := r.add(item{kind: checkpoint.KindResult, step: r.step, body: res}); err == nil {
		t.recorded = true
		crashpoint.Hit("kept")
		if r.mode == Sync {
			r.journal.start()
		}
	}
}

// result is the record of a finished task.
func (t *task) result() record.Done {
	c := t.out
	d := record.Done{ID: t.id(), Node: t.node.name, Writes: c.writes, To: c.to, Escape: c.up, Answers: c.used, Handled: t.handled, Cached: c.cached, Instead: c.redirected}
	if t.attempt > 1 {
		d.Attempt = t.attempt
	}
	for _, s := range c.sends {
		d.Sends = append(d.Sends, record.Send{Node: s.node, Arg: s.arg, Time: s.time})
	}
	return d
}

// add appends records to the journal and folds them.
func (r *run) add(items ...item) (*batch, error) { return r.addWith(nil, nil, items...) }

func (r *run) addWith(closed []string, park *checkpoint.Park, items ...item) (*batch, error) {
	r.logMu.Lock()
	defer r.logMu.Unlock()
	if r.fenced {
		return nil, errFenced
	}
	for i := range items {
		items[i].work = r.work()
		if items[i].branch == nil {
			items[i].track = r.track
		}
	}
	recs, b, err := r.journal.add(closed, park, items...)
	if err != nil {
		return nil, err
	}
	for i, rec := range recs {
		if items[i].branch != nil { // of another chain
			continue
		}
		switch body := items[i].body.(type) {
		case *record.Result:
			r.log.ApplyResult(body)
		case *record.Once:
			r.log.ApplyOnce(body)
		case *record.Pause:
			r.log.ApplyPause(body)
		case *record.Void:
			r.log.ApplyVoid(body)
		}
		r.log.Note(rec) // entries, edits and settles were folded when they were made
	}
	return b, nil
}

// record writes one record on behalf of a task, and waits for it.
func (r *run) record(t *task, res *record.Result) error {
	if r.journal == nil {
		return nil
	}
	b, err := r.add(item{kind: checkpoint.KindResult, step: t.at, body: res})
	if err == nil {
		_, err = r.journal.flush(b)
	}
	return r.wrote(err)
}

// recordOnce writes one step of an effect on behalf of a node, and waits for it.
func (r *run) recordOnce(c *call, o *record.Once) error {
	if r.journal == nil {
		r.logMu.Lock()
		defer r.logMu.Unlock()
		if r.onces == nil {
			r.onces = map[record.OnceID]*record.Once{}
		}
		r.onces[record.OnceID{Task: o.Task, Name: o.Name, N: o.N}] = o
		return nil
	}
	c.mu.Lock()
	if err := c.live(); err != nil { // checked under the lock that sealing takes: nothing slips in behind it
		c.mu.Unlock()
		return err
	}
	b, err := r.add(item{kind: checkpoint.KindOnce, step: c.t.at, body: o})
	c.mu.Unlock()
	if err == nil {
		_, err = r.journal.flush(b)
	}
	return r.wrote(err)
}

// once returns what is recorded of an effect, and whether that stands in the origin of the branch.
func (r *run) once(id record.OnceID) (o *record.Once, reused bool) {
	r.logMu.Lock()
	defer r.logMu.Unlock()
	if r.log == nil {
		return r.onces[id], false
	}
	if o := r.log.Onces[id]; o != nil {
		return o, false
	}
	if r.up == nil {
		return r.log.Reused(id), true
	}
	r.root.logMu.Lock() // what a branch takes over stands in the root's chain
	defer r.root.logMu.Unlock()
	id.In = r.chain.Namespace
	if o := r.root.log.Reused(id); o != nil {
		own := *o
		own.In = nil
		return &own, true
	}
	return nil, false
}

// wrote looks at the outcome of a write: one that failed for good ends the run.
func (r *run) wrote(err error) error {
	if err != nil && !errors.Is(err, errFenced) {
		r.root.lose(err)
	}
	return err
}

// errFenced is what a child gets that was left behind, when it wants to write. It says nothing of the thread.
var errFenced = fmt.Errorf("%w: another attempt has taken its chain", ErrStale)

// lose ends the run because it cannot write any more: somebody else has the thread, or the store is away.
func (r *run) lose(err error) {
	r.lostOnce.Do(func() {
		r.lost.Store(&err)
		r.cancel(err)
		r.note("lost", "err", err)
	})
}

// answerTo returns the recorded answer to a question, if it was given to what is shown now.
func (r *run) answerTo(id string, shown []byte) *checkpoint.Question {
	r = r.root
	r.answerMu.Lock()
	defer r.answerMu.Unlock()
	q := r.answers[id]
	if q == nil || q.State != checkpoint.Answered || !slices.Equal(q.Shown, shown) || r.refused[id] != nil {
		return nil
	}
	return q
}

func (r *run) refuse(id string, reason error) {
	r = r.root
	r.answerMu.Lock()
	defer r.answerMu.Unlock()
	if r.refused == nil {
		r.refused = map[string]error{}
	}
	r.refused[id] = reason
}

// ended tells what became of a task.
func (r *run) ended(t *task) {
	kind, err := t.outcome(), t.err
	if kind == TaskAsked {
		err = nil
		for _, q := range t.out.asked {
			if q.Namespace == r.chain.Namespace { // what a child has asked, its own task has said
				t.note("asked", "question", q.ID, "name", q.Name)
			}
		}
	}
	r.taskEvent(t, kind, err)
	r.endTask(t, kind, t.attempt, err)
}

func (t *task) outcome() EventKind {
	switch {
	case t.err == nil:
		return TaskCompleted
	case t.asked():
		return TaskAsked
	case errors.Is(t.err, errStopped):
		return TaskStopped
	default:
		return TaskFailed
	}
}

// supervise runs once the run's context has ended: a task of the driver's own that does not return within the grace is
// left behind.
func (r *run) supervise() {
	for {
		late, stop := r.c.after(r.opts.Grace)
		select {
		case <-r.done:
			stop()
			return
		case <-late:
			r.abandonInline()
		}
	}
}

// wait waits for the run to end.
func (r *run) wait() error {
	<-r.done
	return r.err
}
