package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/record"
)

// WatchOptions of one Watch.
type WatchOptions struct {
	Run   string        // the watch ends with this run, which may be queued still; empty: the latest one
	After int64         // go on behind the event with this number (Event.Seq), also if it is of an earlier run of the branch; 0: where the run begins
	Kinds []EventKind   // events that are yielded; default: all but StateValues
	Every time.Duration // the longest time between two looks at the log; default 1 s
}

// Watching the log: how much is read at once, and how often at most the log is looked at, as a part of WatchOptions.Every.
const (
	watchPage = 50
	watchPart = 50
)

// A watcher tells the events of a branch: from the bus while this App runs the thread, from the log otherwise.
type watcher struct {
	c      *core
	ctx    context.Context
	o      WatchOptions
	thread Thread
	chain  checkpoint.Chain
	yield  func(Event, error) bool

	until  string // the run that the watch ends with
	waited bool   // it has been seen in the queue
	begun  bool   // it is known to have begun
	start  int64  // position where it begins; below 0: not known
	seen   bool   // records of it, or behind it, have been read
	over   bool   // another run has begun behind it

	last int64      // number of the last event
	log  *retelling // nil: the log is read from the last event on
	next int64      // position that is read next
	rows map[string]*checkpoint.Question

	trimmed bool // records behind the last event were removed
	missing bool // that live events are missing from here on has been told

	ord    int64 // place in the order of the thread of the last record that was told
	nested bool  // child graphs have written behind it
}

// errLeft is how a watch ends whose reader has left.
var errLeft = errors.New("graph: the reader has left")

// watch yields what happens on a thread.
func (c *core) watch(ctx context.Context, th Thread, o WatchOptions) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		w := &watcher{c: c, ctx: ctx, o: o, thread: th, yield: yield, start: -1, rows: map[string]*checkpoint.Question{}}
		w.o.Every = cmp.Or(o.Every, time.Second)
		err := w.open()
		if err == nil {
			err = w.follow()
		}
		if err != nil && err != errLeft {
			yield(Event{}, err)
		}
	}
}

// open finds out what is watched, and where to begin.
func (w *watcher) open() error {
	switch {
	case w.c.store == nil:
		return ErrNoStore
	case w.o.After < 0 || w.o.Every < 0:
		return errors.New("graph: the numbers of WatchOptions are not negative")
	}
	if err := w.c.checkCall(w.thread, RunOptions{}); err != nil {
		return err
	}
	l, err := w.load()
	if err != nil {
		return err
	}
	return w.enter(l)
}

// enter finds out which branch and which run are watched, as the thread is now.
func (w *watcher) enter(l *checkpoint.Loaded) error {
	branch, err := branchNumber(w.thread, l)
	if err != nil {
		return err
	}
	w.chain = checkpoint.Chain{Key: w.thread.key(), Branch: branch}
	if w.until = w.o.Run; w.until == "" && branch == l.Head.Active {
		w.until = l.Head.Run
	}
	if w.begun = branch == l.Head.Active && w.until == l.Head.Run; w.begun && w.o.After > 0 && branchOf(w.o.After) == branch {
		w.last = w.o.After
		return nil
	}
	return w.begin(l)
}

// again enters the branch that has become the active one while the run waited for its turn.
func (w *watcher) again(l *checkpoint.Loaded) error {
	if w.o.After > 0 {
		w.o.After = max(w.o.After, w.last)
	}
	w.log, w.trimmed, w.missing, w.nested = nil, false, false, false
	return w.enter(l)
}

// begin looks for the run that the watch ends with. A number of another branch says nothing of a place in the one that it is in.
func (w *watcher) begin(l *checkpoint.Loaded) error {
	waits := w.o.Run != "" && waitsIn(l.Inbox, w.o.Run)
	w.waited = w.waited || waits
	tail, err := w.find(l, waits)
	if err != nil {
		return err
	}
	first := seqAt(w.chain.Branch, w.start)
	switch {
	case w.start >= 0:
		w.begun = true
	case w.o.Run != "" && !waits && !w.begun:
		return w.unknown(l)
	default: // a run that has not begun comes behind the tail
		first = max(seqAt(w.chain.Branch, tail+1)-1, 0)
	}
	switch {
	case w.o.After == 0:
		w.last = first
	case branchOf(w.o.After) == w.chain.Branch:
		w.last = w.o.After
	default:
		return w.moved(first)
	}
	return nil
}

// moved tells a reader that comes from another branch that it has missed what is between, and begins as for a reader without a number.
func (w *watcher) moved(first int64) error {
	from := min(w.o.After+1, seqAt(w.chain.Branch, 0))
	w.last, w.o.After = first, 0
	if !w.yield(Event{Kind: EventsDropped, Seq: first, From: from, To: first, Thread: w.thread, Run: w.until}, nil) {
		return errLeft
	}
	return nil
}

// find looks for the run in the branch that is watched and, if none was asked for by name, in the others, the latest first.
// It returns the tail of the branch, of the first one if there is no such run.
func (w *watcher) find(l *checkpoint.Loaded, waits bool) (tail int64, err error) {
	own, id := w.chain.Branch, w.o.Run
	if tail, err = w.findHere(id); err != nil || w.start >= 0 || w.thread.Branch != "" || waits {
		return tail, err
	}
	if id == "" { // a rollback has made the branch, and no run has begun in it
		id = w.until
	}
	for n := l.Head.Branches - 1; n >= 0; n-- {
		if w.chain.Branch = n; n == own {
			continue
		}
		if there, err := w.findHere(id); err != nil || w.start >= 0 {
			return there, err
		}
	}
	w.chain.Branch = own
	return tail, nil
}

// findHere looks for a run in the branch; without an id, for the latest one.
func (w *watcher) findHere(id string) (tail int64, err error) {
	err = w.patiently(func() error {
		var run string
		if w.start, tail, run, err = w.runStart(id); w.start >= 0 {
			w.until = run
		}
		return err
	})
	return tail, err
}

// unknown says why there is no such run.
func (w *watcher) unknown(l *checkpoint.Loaded) error {
	if cancelOf(w.o.Run, l.Inbox) != nil {
		return takenBack(w.o.Run)
	}
	var run *checkpoint.Run
	err := w.patiently(func() (err error) {
		run, err = w.c.findRun(w.ctx, w.chain.Key, func(r *checkpoint.Run) bool { return r.ID == w.o.Run })
		return err
	})
	switch {
	case err != nil:
		return err
	case run == nil && w.waited:
		return takenBack(w.o.Run)
	case run != nil:
		return fmt.Errorf("%w: run %s of thread %s", checkpoint.ErrPruned, w.o.Run, w.thread)
	}
	return fmt.Errorf("%w: thread %s has no run %q", ErrNoThread, w.thread, w.o.Run)
}

func takenBack(run string) error {
	return fmt.Errorf("%w: run %s was taken back before it began", ErrCancelled, run)
}

// runStart looks for the record with which a run begins, from the tail; without an id, the latest one. A branch that a rollback has
// made begins with the name of the run that was rolled back, which is not in it.
func (w *watcher) runStart(id string) (pos, tail int64, run string, err error) {
	oldest := checkpoint.Record{Pos: -1}
	tail = -1
	for rec, err := range w.c.backward(w.ctx, checkpoint.Query{Chain: w.chain, To: -1, NoBody: true}) {
		if err != nil {
			return -1, tail, "", err
		}
		oldest, tail = rec, max(tail, rec.Pos)
		if rec.Kind != checkpoint.KindInput && rec.Kind != checkpoint.KindSeal {
			continue
		}
		e, err := w.entry(rec.Pos)
		if err != nil {
			return -1, tail, "", err
		}
		if back := e.From != nil && e.From.Reason == record.OriginRollback; !back && (id == "" || e.Run == id) {
			return rec.Pos, tail, e.Run, nil
		}
	}
	if oldest.Kind != checkpoint.KindSnapshot { // else retention has removed the beginning of a run
		return -1, tail, "", nil
	}
	e, err := w.entry(oldest.Pos)
	if err != nil || id != "" && e.Run != id {
		return -1, tail, "", err
	}
	w.trimmed = true
	return oldest.Pos, tail, e.Run, nil
}

// entry describes a record at which a run may begin.
func (w *watcher) entry(pos int64) (EntryInfo, error) {
	recs, err := w.read(checkpoint.Query{From: pos, To: pos})
	if err != nil || len(recs) == 0 {
		return EntryInfo{}, err
	}
	return entryInfo(recs[0])
}

// waitsIn reports whether a run is queued.
func waitsIn(inbox []checkpoint.Command, run string) bool {
	return cancelOf(run, inbox) == nil && slices.ContainsFunc(inbox, func(cmd checkpoint.Command) bool {
		return cmd.Kind == checkpoint.CommandInput && inputOf(&cmd).Run == run
	})
}

// follow tells what there is and what comes, until the run rests. While nothing comes it looks at the log less and less often.
func (w *watcher) follow() error {
	var l *checkpoint.Loaded // the thread, as it was before the last look at the log
	shortest := max(w.o.Every/watchPart, 1)
	wait := shortest
	for {
		joined, err := w.join()
		if err != nil {
			return err
		}
		n, err := w.advance(math.MaxInt64)
		switch {
		case err != nil:
			return err
		case n == 0 && !joined && l != nil && !w.begun && w.thread.Branch == "" && l.Head.Active != w.chain.Branch:
			if err := w.again(l); err != nil {
				return err
			}
			l = nil
			continue
		case w.over || n == 0 && !joined && l != nil && w.rests(l):
			return w.taken(l)
		case joined || n > 0:
			wait, l = shortest, nil
		}
		if l == nil && (w.stopped() || wait >= w.o.Every) {
			if l, err = w.load(); err != nil {
				return err
			}
			continue // what came before that is read before it counts
		}
		if err := w.sleep(wait); err != nil {
			return err
		}
		wait, l = min(2*wait, w.o.Every), nil
	}
}

// rests reports whether nothing more of the run will come by itself: it has ended, or it waits for people.
func (w *watcher) rests(l *checkpoint.Loaded) bool {
	h := &l.Head
	switch {
	case h.Active != w.chain.Branch:
		return true
	case h.Run == w.until:
		return h.Status.Ended() || h.Status == checkpoint.Interrupted && !w.c.worked(h)
	}
	return w.begun || !waitsIn(l.Inbox, w.until)
}

// taken is nil, or says that the run will never begin.
func (w *watcher) taken(l *checkpoint.Loaded) error {
	if w.over || w.begun || l.Head.Active != w.chain.Branch {
		return nil
	}
	return takenBack(w.until)
}

// stopped reports whether the last record may be the end of what is told.
func (w *watcher) stopped() bool {
	return w.log == nil || w.log.log.Pause != nil || len(w.log.log.Next) == 0 || w.log.log.Run != w.until
}

// sleep waits for the next look.
func (w *watcher) sleep(d time.Duration) error {
	wake, stop := w.c.after(d)
	defer stop()
	select {
	case <-wake:
		return nil
	case <-w.c.closing:
		return ErrClosed
	case <-w.ctx.Done():
		return context.Cause(w.ctx)
	}
}

// join tells the events of the run that this App has under way on the thread, until that ends. It reports whether there is one.
func (w *watcher) join() (bool, error) {
	v, ok := w.c.live.Load(w.chain.Key)
	if !ok {
		return false, nil
	}
	r, rd := v.(*run), newReader(w.o.Kinds)
	if r.id != w.until && (w.begun || w.o.After == 0) {
		return false, nil
	}
	at, ok := r.bus.join(w.chain, rd)
	if !ok {
		return false, nil
	}
	defer r.bus.leave(rd)
	r.journal.sync() // what cannot be written cannot be read either
	if _, err := w.advance(at); err != nil || w.over {
		return true, err
	}
	if err := w.gap(at, at); err != nil {
		return true, err
	}
	w.last, w.log, w.missing, w.nested = max(w.last, at), nil, false, false
	return true, w.live(r, rd)
}

// live tells what the run tells. A run that has lost its thread has not ended: whoever has it goes on.
func (w *watcher) live(r *run, rd *reader) error {
	for {
		evs, missed, ended := rd.take(w.ctx)
		if missed != nil {
			evs = w.c.recall(r, rd, missed)
		}
		for _, e := range evs {
			if e.Seq <= w.last || e.Kind == RunFailed && r.status == checkpoint.Running {
				continue
			}
			w.last = e.Seq
			if !w.yield(e, nil) {
				return errLeft
			}
		}
		if ended {
			return context.Cause(w.ctx)
		}
	}
}
