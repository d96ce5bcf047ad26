package graph

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// seqBits is how many bits of an event's number count within one entry.
const seqBits = 24

// branchShift is where the number of the branch begins in an event's number.
const branchShift = 48

// seqAt is the number that stands for a position of a branch: those of the events there follow it.
func seqAt(branch int32, pos int64) int64 { return int64(branch)<<branchShift + pos<<seqBits }

// posIn is the position in a branch that a number of it belongs to.
func posIn(branch int32, seq int64) int64 { return (seq - seqAt(branch, 0)) >> seqBits }

// branchOf is the branch that a number belongs to.
func branchOf(seq int64) int32 { return int32(seq >> branchShift) }

// sliceBits is how many bits of an event's number count within one acquisition of the thread, between two records.
const sliceBits = 20

// A bus numbers the events of one run and hands them to whoever watches. It never waits for a reader.
type bus struct {
	c      *core
	r      *run
	active atomic.Bool // somebody watches
	shown  atomic.Bool // somebody watches or has watched, and may still hold an event with a state

	mu   sync.Mutex
	seq  int64
	deaf bool // live events may have happened that nobody watched, and that have no number
	over bool // the run has ended
	subs []*reader
}

func newBus(c *core, ro RunOptions) *bus {
	watched := c.opts.OnEvent != nil
	b := &bus{c: c, deaf: !watched}
	b.active.Store(watched)
	b.shown.Store(watched)
	return b
}

// listening reports whether an event would reach anybody.
func (b *bus) listening() bool { return b.active.Load() }

// updates reports whether somebody wants to see writes, so that they must be encoded even without a store.
func (b *bus) updates() bool { return b.active.Load() }

// watch adds a reader. It must be called before the run starts.
func (b *bus) watch(rd *reader) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(rd)
}

func (b *bus) add(rd *reader) {
	b.subs, b.deaf = append(b.subs, rd), false
	b.active.Store(true)
	b.shown.Store(true)
}

// join adds a reader to a run under way, unless it has ended or is of another chain. The reader gets what has a number above
// the one that is returned.
func (b *bus) join(chain checkpoint.Chain, rd *reader) (after int64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over || b.r.chain != chain {
		return 0, false
	}
	if b.deaf {
		b.seq++ // stands for what nobody has watched
	}
	b.add(rd)
	return b.seq, true
}

// leave takes a reader out.
func (b *bus) leave(rd *reader) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.subs = slices.DeleteFunc(b.subs, func(s *reader) bool { return s == rd })
	if len(b.subs) == 0 && b.c.opts.OnEvent == nil {
		b.active.Store(false)
		b.deaf = true
	}
}

// publish numbers events and hands them on. at is the position of the entry behind which they happened: 0 keeps counting.
func (b *bus) publish(at int64, evs ...Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tell(at, evs)
}

func (b *bus) tell(at int64, evs []Event) {
	if at > 0 {
		b.seq = max(b.seq, seqAt(b.r.chain.Branch, at)-1)
	}
	for _, e := range evs {
		b.seq++
		e.Seq, e.Thread, e.Run = b.seq, b.r.thread, b.r.id
		for _, rd := range b.subs {
			rd.put(e)
		}
		if b.c.opts.OnEvent != nil {
			b.callback(e)
		}
	}
}

// callback keeps a panic of the user's function, and an exit of its goroutine, away from the run.
func (b *bus) callback(e Event) {
	err := aside(func() error {
		b.c.opts.OnEvent(e)
		return nil
	})
	if err != nil {
		b.r.note("OnEvent panicked", "kind", string(e.Kind), "err", err)
	}
}

// begin opens the bus of a run that starts.
func (b *bus) begin(r *run) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.r = r
	if r.log != nil {
		b.seq = seqAt(r.chain.Branch, r.log.Pos) + r.slice()<<sliceBits
		if r.chain.Namespace == "" {
			b.c.live.Store(r.key, r)
		}
	}
	if b.listening() {
		b.tell(0, []Event{{Kind: RunStarted, Step: r.step - r.startStep - 1}})
	} else {
		b.seq++
	}
}

// slice is which of the acquisitions behind the last record this one is: each has numbers of its own, above those of the ones
// before. 0: the record is its own.
func (r *run) slice() int64 {
	const last = 1<<(seqBits-sliceBits) - 1
	if r.over { // it only tells how a run has ended
		return last
	}
	return max(0, min(r.epoch.Load()-r.log.EntryOrd>>32, last))
}

// step tells of a committed superstep: what each task wrote, the state, the entry.
func (b *bus) step(r *run, ran []*task, pos int64) {
	if r.up != nil { // numbers are places in the root's chain: what a child does is told behind the entry before
		pos = 0
	}
	if !b.listening() && b.pass(ran, pos) {
		return
	}
	step, hide := r.step-r.startStep, hiddenSet(r.plan.ops)
	var evs []Event
	for _, t := range ran {
		if !t.node.policy.Silent {
			evs = append(evs, Event{Kind: TaskUpdated, Step: step, Node: t.node.name, Task: t.id(), Attempt: max(1, t.attempt), Cached: t.out.cached, Data: updateData(t.out.writes, hide)})
		}
	}
	evs = append(evs, Event{Kind: StateValues, Step: step, head: r.head, ops: r.plan.ops})
	e := Event{Kind: EntryCommitted, Step: step}
	for _, t := range r.scheduled() {
		if !slices.Contains(e.Next, t.node.name) {
			e.Next = append(e.Next, t.node.name)
		}
	}
	b.publish(pos, r.inPath(append(evs, e)...)...)
}

// pass counts a superstep that nobody watches, so that whoever joins later knows how far the run is. It returns false if
// somebody has just joined.
func (b *bus) pass(ran []*task, pos int64) bool {
	if pos == 0 { // without a store nobody can join, and what a child does is live
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.active.Load() {
		return false
	}
	b.seq = seqAt(b.r.chain.Branch, pos) + 1 // the state, the entry
	for _, t := range ran {
		if !t.node.policy.Silent {
			b.seq++
		}
	}
	return true
}

// end tells how the run ended, and ends all readers.
func (b *bus) end(r *run, status checkpoint.Status, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.listening() {
		b.tell(r.endPos(status), endEvents(r, status, err))
	}
	b.over = true
	b.c.live.CompareAndDelete(r.key, r)
	for _, rd := range b.subs {
		rd.end()
	}
}

// endPos is the position of the record that says how the run ended. 0: it is the entry that was told last, or there is none.
func (r *run) endPos(status checkpoint.Status) int64 {
	if r.journal == nil || r.journal.unwritten() > 0 {
		return 0
	}
	r.logMu.Lock()
	defer r.logMu.Unlock()
	if r.log.Pause == nil && status != checkpoint.Cancelled {
		return 0
	}
	return r.log.Pos
}

func endEvents(r *run, status checkpoint.Status, err error) (evs []Event) {
	e := Event{Kind: endKind(status, err), Step: r.step - r.startStep - 1}
	if err != nil {
		e.Error = err.Error()
	}
	if in, ok := errors.AsType[*Interrupted](err); ok && e.Kind == RunInterrupted {
		for i := range in.Questions {
			q := in.Questions[i]
			evs = append(evs, Event{Kind: QuestionAsked, Step: e.Step, Path: q.Path, Node: q.Node, Task: q.Task, Question: &q})
		}
	}
	return append(evs, e)
}

// endKind says how a run ended.
func endKind(status checkpoint.Status, err error) EventKind {
	_, waits := errors.AsType[*Interrupted](err)
	switch {
	case status == checkpoint.Completed:
		return RunCompleted
	case status == checkpoint.Cancelled:
		return RunCancelled
	case waits:
		return RunInterrupted
	case errors.Is(err, ErrDrained):
		return RunDrained
	case status == checkpoint.Interrupted:
		return RunStopped
	default:
		return RunFailed
	}
}

// taskEvent tells of a task.
func (r *run) taskEvent(t *task, kind EventKind, err error) {
	if !r.bus.listening() || t.node.policy.Silent {
		return
	}
	e := Event{Kind: kind, Step: t.runs, Node: t.node.name, Task: t.id(), Attempt: t.attempt}
	if err != nil {
		e.Error = err.Error()
	}
	e.Cached = kind == TaskCompleted && t.out.cached
	r.bus.publish(0, r.inPath(e)...)
}

// inPath says where in the tree of child graphs events have happened.
func (r *run) inPath(evs ...Event) []Event {
	if r.up != nil {
		for i := range evs {
			evs[i].Path, evs[i].Calls = r.path, r.calls
		}
	}
	return evs
}

// custom tells what a node emitted.
func (r *run) custom(c *call, name string, data []byte) {
	r.bus.publish(0, r.inPath(Event{Kind: CustomEvent, Step: c.t.runs, Node: c.t.node.name, Task: c.t.id(), Attempt: c.n, Name: name, Data: data})...)
}

// A reader holds events for one stream until they are read. When it is full it stops taking events and remembers which
// numbers it has missed.
type reader struct {
	kinds []EventKind // empty: all but StateValues

	mu      sync.Mutex
	queue   []Event
	last    []Event // how the run ended: never missed
	lagFrom int64   // first number missed; 0: none
	lagTo   int64   // last number missed
	lagLive int64   // last number of a live event missed; 0: none
	lagKept int     // how many durable events were missed
	ended   bool
	signal  chan struct{}
}

// readerSize is how many events a reader holds.
const readerSize = 256

func newReader(kinds []EventKind) *reader {
	return &reader{kinds: kinds, signal: make(chan struct{}, 1)}
}

// wanted reports whether a choice of kinds includes one. What is dropped is told to everybody.
func wanted(kinds []EventKind, k EventKind) bool {
	if len(kinds) == 0 {
		return k != StateValues
	}
	return slices.Contains(kinds, k) || k == EventsDropped
}

func (rd *reader) put(e Event) {
	if !wanted(rd.kinds, e.Kind) {
		return
	}
	rd.mu.Lock()
	if e.Kind.final() {
		rd.last = append(rd.last, e)
	} else if rd.lagFrom == 0 && len(rd.queue) < readerSize {
		rd.queue = append(rd.queue, e)
	} else {
		if rd.lagFrom == 0 {
			rd.lagFrom = e.Seq
		}
		rd.lagTo = e.Seq
		if e.Kind.Durable() && len(e.Path) == 0 {
			rd.lagKept++
		} else {
			rd.lagLive = e.Seq
		}
	}
	rd.mu.Unlock()
	rd.wake()
}

func (rd *reader) end() {
	rd.mu.Lock()
	rd.ended = true
	rd.mu.Unlock()
	rd.wake()
}

func (rd *reader) wake() {
	select {
	case rd.signal <- struct{}{}:
	default:
	}
}

// A gap is what a reader has missed.
type gap struct {
	from, to, live int64
	durable        int
}

// take returns what is there: events, or a gap behind them, or the end.
func (rd *reader) take(ctx context.Context) (evs []Event, missed *gap, ended bool) {
	for {
		rd.mu.Lock()
		evs, rd.queue = rd.queue, nil
		if len(evs) == 0 && rd.lagFrom > 0 {
			missed = &gap{rd.lagFrom, rd.lagTo, rd.lagLive, rd.lagKept}
			rd.lagFrom, rd.lagTo, rd.lagLive, rd.lagKept = 0, 0, 0, 0
		}
		if len(evs) == 0 && missed == nil {
			evs, rd.last = rd.last, nil
		}
		ended = rd.ended && len(evs) == 0 && missed == nil
		rd.mu.Unlock()
		if len(evs) > 0 || missed != nil || ended {
			return evs, missed, ended
		}
		select {
		case <-rd.signal:
		case <-ctx.Done():
			return nil, nil, true
		}
	}
}
