package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/crashpoint"
	"github.com/holdfast-go/holdfast/internal/record"
	"github.com/holdfast-go/holdfast/state"
)

// settleStep closes what execute has run: it commits the superstep, or stops resumably. It returns false when the run is over.
func (r *run) settleStep() bool {
	if r.stepCancel != nil {
		r.stepCancel(nil)
		r.stepCancel = nil
	}
	for _, t := range r.current {
		if t.phase != phaseEnd || t.err != nil || t.waiting {
			return r.stop(nil)
		}
	}
	next, folded, err := r.fold()
	if err != nil {
		return r.stop(err)
	}
	crashpoint.Hit("folded")
	return r.commit(next, folded)
}

// fold merges the writes of all tasks in task order. Nothing is changed when it fails.
func (r *run) fold() (any, record.Writes, error) {
	r.parts = r.parts[:0]
	for _, t := range r.current {
		r.parts = append(r.parts, part{t.node.name, t.out.view})
	}
	r.folding = true
	next, folded, err := r.plan.ops.commit(r.head, r.parts)
	r.folding = false
	clear(r.parts)
	return next, folded, err
}

// commit makes the superstep part of the thread and schedules the next one.
func (r *run) commit(head any, folded record.Writes) bool {
	ran := r.current
	r.schedule(ran)
	r.leaveFor(ran)
	if r.alone(ran) {
		r.plan.ops.recycle(r.head)
	}
	r.head = head
	r.ran++
	why := r.reason(ran)
	if r.journal == nil {
		r.bus.step(r, ran, 0)
		r.endStep(EntryCommitted, nil)
		r.remember(ran)
		r.step++
		if why != nil {
			return r.finish(why.status, why.err)
		}
		return true
	}
	return r.commitLog(ran, folded, why)
}

// alone reports whether nobody but the driver can still look at the state before the superstep: no event carries it, and no
// attempt was left behind that might make its view late.
func (r *run) alone(ran []*task) bool {
	if r.leftBehind || r.bus.shown.Load() {
		return false
	}
	for _, t := range ran {
		if t.time > 0 || t.node.policy.Timeout > 0 || t.node.policy.IdleTimeout > 0 {
			return false
		}
	}
	return true
}

func (r *run) commitLog(ran []*task, folded record.Writes, why *pause) bool {
	e := &record.Entry{Run: r.id, Graph: r.plan.id, Folded: folded, Joins: r.halfJoined()}
	for _, t := range ran {
		if t.recorded {
			e.Tasks = append(e.Tasks, record.Done{ID: t.id(), Node: t.node.name, Cached: t.out.cached, Ref: true})
		} else {
			e.Tasks = append(e.Tasks, t.result())
		}
	}
	e.Next = r.refer(ran)
	var park *checkpoint.Park
	if why != nil && r.up == nil {
		park = &checkpoint.Park{Status: why.status}
	}
	items, err := r.entryItems(e, why)
	if err != nil {
		return r.crash(fmt.Errorf("graph: the log cannot fold its own entry: %w", err))
	}
	b, err := r.addWith(r.usedQuestions(ran), park, items...)
	if err == nil && !(r.quiet && why != nil && why.pause == nil) {
		err = r.write(b, why != nil)
	}
	if err != nil {
		return r.crash(r.wrote(err))
	}
	r.verify()
	r.root.kids.drop(r, ran)
	r.bus.step(r, ran, r.entryPos())
	r.endStep(EntryCommitted, nil)
	r.remember(ran)
	r.step++
	switch {
	case r.up != nil && why != nil:
		return r.finish(why.status, why.err)
	case r.up != nil: // what came in is for the root to look at
		return true
	case why == nil:
		return r.listen()
	}
	return r.parked(b, why)
}

// entryItems are the entry, a snapshot when reading the chain has become too dear, and the pause. The entry is folded.
func (r *run) entryItems(e *record.Entry, why *pause) ([]item, error) {
	r.logMu.Lock()
	defer r.logMu.Unlock()
	if err := r.log.ApplyEntry(e); err != nil {
		return nil, err
	}
	body, err := record.Encode(e)
	if err != nil {
		return nil, err
	}
	items := []item{{kind: checkpoint.KindEntry, step: r.step, encoded: body}}
	if r.log.SnapshotDue(len(body)) {
		s := r.log.Snapshot()
		s.Of = r.journal.next(r.track)
		items = append(items, item{kind: checkpoint.KindSnapshot, step: r.step, body: s})
	}
	if why != nil && why.pause != nil {
		items = append(items, item{kind: checkpoint.KindPause, step: r.step, body: why.pause})
	}
	return items, nil
}

// write hands a batch to the store as the durability of the run says.
func (r *run) write(b *batch, now bool) error {
	if !now && r.mode != Sync {
		n, size := r.journal.backlog()
		if size < asyncBytes && (r.mode == AtExit || n < asyncEntries) {
			if r.mode == Async {
				r.journal.start()
			}
			return nil
		}
	}
	_, err := r.journal.flush(b)
	return r.wrote(err)
}

func (r *run) entryPos() int64 {
	r.logMu.Lock()
	defer r.logMu.Unlock()
	return r.log.EntryPos
}

// schedule works out what runs next from the targets of the tasks that ran. Order comes from names and indexes alone.
func (r *run) schedule(ran []*task) {
	p := r.plan
	if r.marks == nil {
		r.marks = make([]bool, len(p.nodes))
	}
	clear(r.marks)
	for _, t := range ran {
		for _, to := range t.out.to {
			r.mark(to)
		}
		if !t.out.redirected {
			for _, j := range t.node.joins {
				r.arrive(j, t.node.name)
			}
		}
	}
	for i, j := range p.joins {
		if r.joins != nil && !slices.Contains(r.joins[i], false) {
			clear(r.joins[i])
			r.mark(j.to)
		}
	}
	r.place(ran)
}

// place makes the tasks: pulled ones by node name, then sends by the sender's place and index.
func (r *run) place(ran []*task) {
	p := r.plan
	r.rooms[0], r.rooms[1] = r.rooms[1], r.rooms[0] // one holds the tasks that ran
	next := r.rooms[0][:0]
	waiting := r.deferred
	index := 0
	for i, n := range p.nodes {
		if !r.marks[i] {
			continue
		}
		if n.policy.Deferred {
			if !slices.ContainsFunc(waiting, func(t *task) bool { return t.node == n }) {
				waiting = append(waiting, &task{r: r, node: n, step: r.step, index: index, deferred: true, fresh: true})
				index++
			}
			continue
		}
		next = append(next, &task{r: r, node: n, step: r.step, index: index, fresh: true})
		index++
	}
	for _, t := range ran {
		for _, s := range t.out.sends {
			next = append(next, &task{r: r, node: p.index[s.node], step: r.step, index: index, arg: s.arg, time: s.time, fresh: true})
			index++
		}
	}
	r.rooms[0] = next
	r.current, r.deferred = next, waiting
	r.undefer()
}

// undefer lets deferred nodes run when nothing else is scheduled.
func (r *run) undefer() {
	if len(r.current) == 0 && len(r.deferred) > 0 {
		slices.SortStableFunc(r.deferred, func(a, b *task) int { return strings.Compare(a.node.name, b.node.name) })
		r.current, r.deferred = r.deferred, nil
		for _, t := range r.current { // they wait no longer, whatever is scheduled beside them now
			t.deferred = false
		}
	}
}

func (r *run) mark(name string) {
	if name == End {
		return
	}
	i, ok := slices.BinarySearchFunc(r.plan.nodes, name, func(n *node, s string) int { return strings.Compare(n.name, s) })
	if ok {
		r.marks[i] = true
	}
}

// arrive notes that a source of a join has run.
func (r *run) arrive(j int, name string) {
	if r.joins == nil {
		r.joins = make([][]bool, len(r.plan.joins))
		for i, join := range r.plan.joins {
			r.joins[i] = make([]bool, len(join.from))
		}
	}
	r.joins[j][slices.Index(r.plan.joins[j].from, name)] = true
}

// halfJoined lists the joins that some of their sources have reached.
func (r *run) halfJoined() (out []record.Join) {
	for i, have := range r.joins {
		if !slices.Contains(have, true) {
			continue
		}
		j := record.Join{To: r.plan.joins[i].to, From: r.plan.joins[i].from}
		for k, h := range have {
			if h {
				j.Have = append(j.Have, j.From[k])
			}
		}
		out = append(out, j)
	}
	return out
}

// refer lists what is scheduled. Arguments of sends are referred to where they stand in the same entry.
func (r *run) refer(ran []*task) (out []record.Task) {
	var refs []record.Ref
	for i, t := range ran {
		for k := range t.out.sends {
			refs = append(refs, record.Ref{i, k})
		}
	}
	for _, t := range r.scheduled() {
		s := t.scheduled()
		if s.Arg != nil && len(refs) > 0 {
			s.Arg, s.From, refs = nil, &refs[0], refs[1:]
		}
		out = append(out, s)
	}
	return out
}

func (r *run) scheduled() []*task { return append(slices.Clone(r.current), r.deferred...) }

// usedQuestions are those of the tasks that ran, whether or not they looked at the answers.
func (r *run) usedQuestions(ran []*task) (ids []string) {
	r.root.answerMu.Lock()
	defer r.root.answerMu.Unlock()
	if len(r.root.answers) == 0 {
		return nil
	}
	for _, t := range ran {
		for id, q := range r.root.answers {
			if own, below := r.relates(q, t); own || below {
				ids = append(ids, id)
			}
		}
	}
	return sorted(ids)
}

// A pause is why a run ends or stops.
type pause struct {
	status checkpoint.Status
	pause  *record.Pause // nil when the run has completed
	err    error
}

// reason says whether the run ends or stops at this boundary, and why.
func (r *run) reason(ran []*task) *pause {
	stop := func(why string, err error) *pause {
		return &pause{checkpoint.Interrupted, &record.Pause{Run: r.id, Reason: why, Error: err.Error()}, err}
	}
	switch {
	case len(r.current) == 0:
		return &pause{status: checkpoint.Completed}
	case r.ctx.Err() != nil && !r.cancelling() && r.root.lost.Load() == nil:
		return stop(record.ReasonStopped, context.Cause(r.ctx))
	case r.draining():
		return r.drainedNow()
	case r.ran >= r.limit:
		return stop(record.ReasonLimit, fmt.Errorf("%w: %d supersteps", ErrStepLimit, r.limit))
	}
	if names := r.breaks(ran); len(names) > 0 {
		p := stop(record.ReasonBreak, &Interrupted{Thread: r.thread, Run: r.root.id, Breaks: names})
		p.pause.Breaks = names
		return p
	}
	return nil
}

// breaks lists the nodes at which a breakpoint stops now: those that ran, and those that come next.
func (r *run) breaks(ran []*task) (names []string) {
	if len(r.opts.BreakAfter)+len(r.opts.BreakBefore)+len(r.ro.BreakAfter)+len(r.ro.BreakBefore) == 0 {
		return nil
	}
	hit := func(list []string, name string) bool {
		return slices.Contains(list, name) || slices.Contains(list, All)
	}
	add := func(list, more []string, tasks []*task) {
		for _, t := range tasks {
			if n := t.node.name; (hit(list, n) || hit(more, n)) && !slices.Contains(names, r.called(n)) {
				names = append(names, r.called(n))
			}
		}
	}
	add(r.opts.BreakAfter, r.ro.BreakAfter, ran)
	add(r.opts.BreakBefore, r.ro.BreakBefore, r.current)
	return names
}

// halt looks for reasons to stop before a superstep starts. It returns true when the run is over.
func (r *run) halt() bool {
	if lost := r.root.lost.Load(); lost != nil {
		r.crash(*lost)
		return true
	}
	if r.cancelling() {
		r.settle()
		return true
	}
	if r.journal != nil && !r.fresh() {
		return true
	}
	var why *pause
	if r.crashLoop {
		text := ErrCrashLoop.Error()
		return !r.park(&pause{checkpoint.Failed, &record.Pause{Run: r.id, Reason: record.ReasonFailed, Error: text}, ErrCrashLoop}, nil)
	}
	if r.skipBreak || r.ran > 0 { // behind an entry, breakpoints were looked at with it
		why = r.reasonPlain()
	} else {
		why = r.reason(nil)
	}
	r.skipBreak = false
	if why == nil {
		return false
	}
	if r.journal == nil {
		r.finish(why.status, why.err)
		return true
	}
	if why.pause == nil { // nothing was to be done: there is no entry that could carry the end
		why.pause = &record.Pause{Run: r.id, Reason: record.ReasonDone}
	}
	return !r.park(why, nil)
}

// reasonPlain is reason without breakpoints.
func (r *run) reasonPlain() *pause {
	p := r.reason(nil)
	if p != nil && p.pause != nil && p.pause.Reason == record.ReasonBreak {
		return nil
	}
	return p
}

// stop ends a superstep that cannot be committed: what has finished is recorded, and the run pauses or fails.
func (r *run) stop(foldErr error) bool {
	if lost := r.root.lost.Load(); lost != nil {
		return r.crash(*lost)
	}
	if r.cancelling() {
		return r.settle()
	}
	var failures []error
	var stopped, drained bool
	var breaks, held []string
	for _, t := range r.current {
		switch {
		case t.waiting || t.err == nil:
		case t.asked():
			if t.out.paused {
				held = append(held, t.id())
			}
			if t.out.beside != nil {
				failures = append(failures, &NodeError{t.node.name, t.id(), t.attempt, t.out.beside})
			}
			breaks, drained = append(breaks, t.out.breaks...), drained || t.out.drained
		case errors.Is(t.err, errStopped):
			stopped = true
		default:
			failures = append(failures, &NodeError{t.node.name, t.id(), t.attempt, t.err})
		}
	}
	if foldErr != nil {
		failures = append(failures, foldErr)
	}
	questions := r.questions()
	err := errors.Join(failures...)
	why := &pause{status: checkpoint.Interrupted, pause: &record.Pause{Run: r.id, Reason: record.ReasonQuestion, Breaks: breaks}}
	switch {
	case drained:
		why = r.drainedNow()
	case len(breaks) > 0 && len(questions) == 0:
		why.pause.Reason = record.ReasonBreak
	case len(failures) > 0 && len(questions) == 0:
		why.status, why.err, why.pause.Reason = checkpoint.Failed, err, record.ReasonFailed
	case stopped && r.ctx.Err() != nil:
		why.err, why.pause.Reason = context.Cause(r.ctx), record.ReasonStopped
	case stopped && len(questions) == 0:
		why.err, why.pause.Reason = errStopped, record.ReasonStopped
	}
	if why.err == nil {
		why.err = &Interrupted{Thread: r.thread, Run: r.root.id, Questions: questions, Breaks: breaks, Err: err}
	}
	why.pause.Begun, why.pause.Held = true, held
	if err != nil {
		why.pause.Error = err.Error()
	}
	if r.journal == nil {
		return r.finish(why.status, why.err)
	}
	return r.park(why, foldErr)
}

// park writes down what the open superstep has so far and why the run stops. It returns true when the run goes on all the
// same, because something came in meanwhile.
func (r *run) park(why *pause, foldErr error) bool {
	if r.up != nil {
		return r.parkChild(why, foldErr)
	}
	items := r.openItems(foldErr)
	rows := r.questionRows(why.pause)
	items = append(items, item{kind: checkpoint.KindPause, step: r.step, body: why.pause})
	text := ""
	if why.status == checkpoint.Failed {
		text = why.pause.Error
	}
	b, err := r.addWith(r.lateQuestions(), &checkpoint.Park{Status: why.status, Error: text, Questions: rows}, items...)
	if err == nil {
		err = r.write(b, true)
	}
	if err != nil {
		return r.crash(err)
	}
	return r.parked(b, why)
}

// openItems are the records of the open superstep that are not written yet.
func (r *run) openItems(foldErr error) (items []item) {
	conflict, _ := errors.AsType[*state.ConflictError](foldErr)
	void := &record.Void{}
	for i, t := range r.current {
		clash := conflict != nil && slices.Contains(conflict.Tasks, i)
		switch {
		case clash:
			// Two writers of one field can never be folded: they run again, with the program of then (E4). That means the
			// node, also where a handler had the word: whether its result was recorded early must not matter.
			if t.recorded || t.marker {
				void.Tasks = append(void.Tasks, t.id())
			}
		case t.phase == phaseEnd && t.err == nil && !t.waiting && !t.recorded:
			items = append(items, item{kind: checkpoint.KindResult, step: r.step, body: &record.Result{Done: t.result()}})
			t.recorded = true
		case t.phase == phaseEnd && t.err != nil && !t.asked() && !errors.Is(t.err, errStopped):
			fail := &record.Result{Done: record.Done{ID: t.id(), Node: t.node.name, Attempt: t.attempt}, Fail: t.err.Error()}
			items = append(items, item{kind: checkpoint.KindResult, step: r.step, body: fail})
		}
	}
	if len(void.Tasks) > 0 {
		void.Why = foldErr.Error()
		items = append(items, item{kind: checkpoint.KindVoid, step: r.step, body: void})
	}
	return items
}

// parked looks at whether the lease is free. If it is not, something came in that the run has not looked at.
func (r *run) parked(b *batch, why *pause) bool {
	if b.ack.Released {
		return r.finish(why.status, why.err)
	}
	if why.status == checkpoint.Completed { // nothing is left to run: whatever came in is too late for this run
		return r.releaseLate(why)
	}
	if err := r.reload(); err != nil {
		return r.crash(err)
	}
	return r.reopen(why)
}

// finish ends the run.
func (r *run) finish(status checkpoint.Status, err error) bool {
	if r.up != nil {
		return r.finishChild(status, err)
	}
	r.status, r.err = status, err
	if r.unwatch != nil {
		r.unwatch()
	}
	r.c.forget(r)
	r.tidy()
	r.bus.end(r, status, err)
	r.c.warm.keep(r)
	r.endSpans(endKind(status, err), err)
	r.c.log(r, "run ends", "status", status.String(), "steps", r.ran, "err", err)
	r.cancel(nil)
	if !r.swept && r.onward() {
		r.c.goOn(r.thread, RunOptions{})
	}
	crashpoint.Hit("done")
	close(r.done)
	r.c.leave(r)
	return false
}

// onward reports whether an input waits whose turn has come, now that the run has ended.
func (r *run) onward() bool { return r.more && r.status.Ended() && !r.order().Input }

// crash ends the run because nothing can be written any more. The thread is left to whoever takes it over.
func (r *run) crash(err error) bool {
	if cause := r.root.lost.Load(); cause != nil {
		err = *cause
	}
	if r.journal == nil || r.up != nil {
		return r.finish(checkpoint.Running, err)
	}
	if n := r.journal.unwritten(); r.mode != Sync && n > 0 {
		err = fmt.Errorf("%w; the last %d records of the run were not written", err, n)
	}
	if decided(err) && !errors.Is(err, checkpoint.ErrStale) && !errors.Is(err, checkpoint.ErrClosed) {
		return r.refusedForGood(err)
	}
	return r.finish(checkpoint.Running, err)
}

// refusedForGood parks the run as failed when the store is there and will never take what was to be written: too large, say. To
// run the superstep again by itself would write the same again.
func (r *run) refusedForGood(err error) bool {
	r.journal.rewind()
	text := err.Error()
	if perr := r.giveBack(&checkpoint.Park{Status: checkpoint.Failed, Error: text}, &record.Pause{Run: r.id, Reason: record.ReasonFailed, Error: text, Begun: true}); perr != nil {
		return r.finish(checkpoint.Running, errors.Join(err, perr))
	}
	return r.finish(checkpoint.Failed, err)
}
