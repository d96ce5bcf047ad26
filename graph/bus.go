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

// A bus numbers the events of one run and hands them to whoever watches. It never waits for a reader.
type bus struct {
	c      *core
	r      *run
	active atomic.Bool // somebody watches

	mu   sync.Mutex
	seq  int64
	subs []*reader
}

func newBus(c *core, ro RunOptions) *bus {
	b := &bus{c: c}
	b.active.Store(c.opts.OnEvent != nil)
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
	b.subs = append(b.subs, rd)
	b.active.Store(true)
}

// publish numbers events and hands them on. at is the position of the entry behind which they happened: 0 keeps counting.
func (b *bus) publish(at int64, evs ...Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := at<<seqBits - 1; s > b.seq {
		b.seq = s
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
		b.c.log(b.r, "OnEvent panicked", "kind", string(e.Kind), "err", err)
	}
}

func (b *bus) begin(r *run) {
	b.r = r
	if r.log != nil {
		// Behind the last record, and behind whatever a former run has told there.
		b.seq = r.log.Pos<<seqBits + 1<<(seqBits-1)
	}
	if b.listening() {
		b.publish(0, Event{Kind: RunStarted, Step: r.step - r.startStep - 1})
	}
}

// step tells of a committed superstep: what each task wrote, the state, the entry.
func (b *bus) step(r *run, ran []*task, pos int64) {
	if !b.listening() {
		return
	}
	step := r.step - r.startStep
	hide := map[string]bool{}
	for _, n := range hidden(r.plan.ops) {
		hide[n] = true
	}
	var evs []Event
	for _, t := range ran {
		if !t.node.policy.Silent {
			evs = append(evs, Event{Kind: TaskUpdated, Step: step, Node: t.node.name, Task: t.id(), Attempt: t.attempt, Cached: t.out.cached, Data: updateData(t.out.writes, hide)})
		}
	}
	evs = append(evs, Event{Kind: StateValues, Step: step, head: r.head, ops: r.plan.ops})
	e := Event{Kind: EntryCommitted, Step: step}
	for _, t := range r.scheduled() {
		if !slices.Contains(e.Next, t.node.name) {
			e.Next = append(e.Next, t.node.name)
		}
	}
	if r.up != nil { // numbers are places in the root's chain: what a child does is told behind the entry before
		pos = 0
	}
	b.publish(pos, r.inPath(append(evs, e)...)...)
}

// end tells how the run ended, and ends all readers.
func (b *bus) end(r *run, status checkpoint.Status, err error) {
	if b.listening() {
		b.publish(0, endEvents(r, status, err)...)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, rd := range b.subs {
		rd.end()
	}
}

func endEvents(r *run, status checkpoint.Status, err error) (evs []Event) {
	e := Event{Step: r.step - r.startStep - 1}
	if err != nil {
		e.Error = err.Error()
	}
	in, waits := errors.AsType[*Interrupted](err)
	switch {
	case status == checkpoint.Completed:
		e.Kind = RunCompleted
	case status == checkpoint.Cancelled:
		e.Kind = RunCancelled
	case waits:
		e.Kind = RunInterrupted
		for i := range in.Questions {
			q := in.Questions[i]
			evs = append(evs, Event{Kind: QuestionAsked, Step: e.Step, Path: q.Path, Node: q.Node, Task: q.Task, Question: &q})
		}
	case errors.Is(err, ErrDrained):
		e.Kind = RunDrained
	case status == checkpoint.Interrupted:
		e.Kind = RunStopped
	default:
		e.Kind = RunFailed
	}
	return append(evs, e)
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

func (rd *reader) wants(k EventKind) bool {
	if len(rd.kinds) == 0 {
		return k != StateValues
	}
	return slices.Contains(rd.kinds, k) || k == EventsDropped
}

func (rd *reader) put(e Event) {
	if !rd.wants(e.Kind) {
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
