package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph/internal/host"
	"github.com/holdfast-go/holdfast/internal/record"
)

// A callee is a child graph as one call of a task sees it.
type callee struct {
	*mount
	name    string
	segment string   // of its namespace; empty: that of the call
	targets []string // of Escape
	counted bool     // the task may call under this name again
	quiet   bool     // nothing happens between its end and the parent's result: they share a write
}

// A track is the end of a chain: where its next record goes.
type track struct {
	ns        checkpoint.Namespace
	pos, base int64
}

// A childStop is the error of a call whose graph waits. It is shown like a question's.
type childStop struct {
	name string
	err  error
}

func (s *childStop) Error() string { return s.name + ": " + s.err.Error() }
func (s *childStop) Unwrap() error { return s.err }

// children are the runs of child graphs under one root, the latest of each chain.
type children struct {
	mu   sync.Mutex
	runs map[checkpoint.Namespace]*run
}

// replace makes r the run of its chain, and returns the one before.
func (k *children) replace(r *run) *run {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.runs == nil {
		k.runs = map[checkpoint.Namespace]*run{}
	}
	old := k.runs[r.chain.Namespace]
	k.runs[r.chain.Namespace] = r
	return old
}

// drop forgets the calls of tasks that are done.
func (k *children) drop(r *run, done []*task) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for ns := range k.runs {
		rest, below := strings.CutPrefix(string(ns), string(r.chain.Namespace))
		segs, err := checkpoint.Namespace(rest).Segments()
		if !below || err != nil || len(segs) == 0 || segs[0][0] == 'm' && len(segs) == 1 {
			continue // what is kept per thread is needed again
		}
		if slices.ContainsFunc(done, func(t *task) bool { return t.owns(segs[0]) }) {
			delete(k.runs, ns)
		}
	}
}

// child runs a child graph to its end, in whatever goroutine that takes. The run it returns has ended. An error is a failure of the child, or a
// *childStop.
func (c *call) child(k *callee, input func(view any) error) (*run, error) {
	if err := c.Heartbeat(); err != nil {
		return nil, err
	}
	r, err := c.newChild(k)
	if err != nil {
		return nil, err
	}
	if k.counted {
		defer c.release("call " + k.name)
	}
	err = aside(func() error { return r.prepareChild(k, input) })
	switch {
	case err != nil:
		r.finish(checkpoint.Running, err)
		return nil, err
	case r.over:
		r.finish(checkpoint.Completed, nil)
		return r, nil
	}
	r.unwatch = context.AfterFunc(r.ctx, r.supervise)
	go r.drive(r.superstep)
	<-r.done
	if r.status == checkpoint.Completed {
		return r, nil
	}
	return nil, c.stoppedBy(r)
}

// newChild is a run in the place of a call.
func (c *call) newChild(k *callee) (*run, error) {
	up := c.t.r
	segment, id := k.segment, perCall(c.t.id(), "", 0)
	if k.counted {
		c.mu.Lock()
		n := c.named()
		if n.busy["call "+k.name] {
			c.mu.Unlock()
			return nil, ErrCallBusy
		}
		n.busy["call "+k.name] = true
		id = perCall(c.t.id(), k.name, n.calls[k.name])
		n.calls[k.name]++
		c.mu.Unlock()
	}
	segment = cmp.Or(segment, id)
	r := &run{
		c: up.c, root: up.root, up: c, plan: k.plan, opts: k.opts, thread: up.thread, key: up.key, branch: up.branch, id: up.callID() + id,
		by: up.root.by, starter: up.root.starter, mode: up.root.mode, limit: k.opts.StepLimit, bus: up.bus, done: make(chan struct{}),
		quiet: k.quiet, escapes: k.targets, memory: k.memory, deferred: nil,
	}
	r.path = append(slices.Clip(up.path), k.name)
	if k.counted { // a node may call several graphs
		r.path = append(slices.Clip(up.path), c.t.node.name, k.name)
	}
	r.calls = append(slices.Clip(up.calls), c.t.id())
	r.chain = checkpoint.Chain{Key: up.key, Branch: up.chain.Branch, Namespace: up.chain.Namespace.Child(segment)}
	r.ro = RunOptions{Durability: up.root.mode}
	prefix := strings.TrimPrefix(strings.Join(r.path[len(up.path):], "/")+"/", "/")
	r.ro.BreakBefore = below(prefix, up.ro.BreakBefore, up.opts.BreakBefore)
	r.ro.BreakAfter = below(prefix, up.ro.BreakAfter, up.opts.BreakAfter)
	if k.memory != NoMemory {
		r.journal = up.journal
	}
	r.ctx, r.cancel = context.WithCancelCause(r.beginChildSpan(c))
	return r, nil
}

// callID is what the run of a child is called in its own records: the calls that lead to it.
func (r *run) callID() string {
	if r.up == nil {
		return ""
	}
	return r.id + " "
}

// below are the breakpoints inside a child graph.
func below(prefix string, lists ...[]string) (out []string) {
	for _, list := range lists {
		for _, name := range list {
			if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" {
				out = append(out, rest)
			}
		}
	}
	return out
}

// prepareChild finds out where the child stands: at its beginning, in the middle, or at its end.
func (r *run) prepareChild(k *callee, input func(any) error) (err error) {
	defer func() {
		r.logMu.Lock()
		r.begun = err == nil && r.log != nil
		r.logMu.Unlock()
	}()
	if r.journal == nil {
		r.head = r.plan.ops.empty()
		_, err := r.input(intake{write: input}, 0)
		r.step++
		return err
	}
	log, err := r.pickUp(k)
	if err != nil {
		return err
	}
	r.log, r.track = log, &track{r.chain.Namespace, log.Pos, log.Base}
	l := r.asLoaded(log)
	mine := log.Pos >= 0 && log.Run == r.id
	if mine && len(log.Next) > 0 {
		err = l.fits(r.thread, r.plan)
	} else {
		err = l.refuse(r.thread)
	}
	if err != nil {
		return err
	}
	if r.head, err = r.plan.restore(r.thread, log); err != nil {
		return err
	}
	switch {
	case !mine:
		return r.beginChild(l.move, input)
	case len(log.Next) == 0:
		r.over, r.escaped = true, log.Escape
		return nil
	}
	r.rebuild(l)
	if err := r.decodeResults(); err != nil {
		return err
	}
	return r.stage(l.move)
}

// asLoaded migrates the fold of a child's chain, if an earlier version of its graph has written it.
func (r *run) asLoaded(log *record.Thread) *loaded {
	l := &loaded{Loaded: &checkpoint.Loaded{}, log: log}
	r.root.answerMu.Lock()
	for _, q := range r.root.answers {
		l.Questions = append(l.Questions, *q)
	}
	r.root.answerMu.Unlock()
	r.plan.fit(l, r.chain.Namespace)
	return l
}

// pickUp returns the fold of the child's chain, and makes sure that nobody else of this process adds to it.
func (r *run) pickUp(k *callee) (log *record.Thread, err error) {
	old := r.root.kids.replace(r)
	switch {
	case old == nil && r.up.t.fresh && k.memory != PerThread:
		return record.NewThread(), nil
	case old != nil && old.fence():
		return old.log, nil
	default: // what is not written yet is part of it too
		if err := r.journal.sync(); err != nil {
			return nil, r.wrote(err)
		}
	}
	err = persist(r.ctx, r.c.opts.StorePatience, 0, func(ctx context.Context) error {
		l, err := r.c.store.Load(ctx, r.key, r.chain.Branch, r.chain.Namespace)
		switch {
		case err != nil:
			return err
		case l.Head.Nonce != r.journal.nonce:
			return checkpoint.ErrStale
		}
		log, err = record.Fold(l.Records)
		return err
	})
	if errors.Is(err, checkpoint.ErrStale) {
		return nil, r.wrote(err)
	}
	return log, err
}

// fence keeps a run from adding anything more. It reports whether the run has ended, so that its fold is what is written.
func (r *run) fence() bool {
	r.logMu.Lock()
	defer r.logMu.Unlock()
	r.fenced = true
	select {
	case <-r.done:
		return r.begun // else what was folded may not be written
	default:
		return false
	}
}

// beginChild starts the child with its input. Its record is written with the first superstep: without it the call would begin anew.
func (r *run) beginChild(m *move, input func(any) error) error {
	items, closed := m.at(r.log.Step + 1)
	last := r.log.Step + int64(min(1, len(items)))
	if len(r.log.Next) > 0 { // a call before this one was abandoned
		x, settled := settlement(r.plan, r.log, r.head, settledByInput)
		if err := r.log.ApplySettle(x); err != nil {
			return err
		}
		r.head = settled
		last++
		items = append(items, item{kind: checkpoint.KindSettle, step: last, body: x})
	}
	in, err := r.input(intake{write: input}, last)
	if err != nil {
		return err
	}
	if items, err = r.inputItems(items, in); err != nil {
		return err
	}
	if _, err := r.addWith(closed, nil, items...); err != nil {
		return err
	}
	r.step++
	return nil
}

// stoppedBy takes what a child that has not come to its end leaves to the task that called it.
func (c *call) stoppedBy(k *run) error {
	in, waits := k.err.(*Interrupted) // another thread's, which a node may return, is a failure
	drained := k.status != checkpoint.Failed && errors.Is(k.err, ErrDrained)
	if !waits && !drained {
		return k.err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	left := c.own()
	left.held = true
	if waits {
		left.breaks = append(left.breaks, in.Breaks...)
		left.beside = errors.Join(left.beside, in.Err)
		left.paused = left.paused || in.Err != nil // Resume tries what has failed again
	}
	left.drained = left.drained || drained
	for _, t := range k.current {
		if t.asked() {
			left.asked = append(left.asked, t.out.asked...)
			left.drained = left.drained || t.out.drained
		}
	}
	left.paused = left.paused || left.drained || len(left.breaks) > 0
	return &childStop{k.path[len(k.path)-1], k.err}
}

// park writes down, in the child's chain, why it stops. The rows of its questions come with the pause of the root.
func (r *run) parkChild(why *pause, foldErr error) bool {
	items := r.openItems(foldErr)
	r.questionRows(why.pause)
	items = append(items, item{kind: checkpoint.KindPause, step: r.step, body: why.pause})
	if _, err := r.addWith(r.lateQuestions(), nil, items...); err != nil {
		return r.crash(err)
	}
	return r.finish(why.status, why.err)
}

// finishChild ends the run of a child.
func (r *run) finishChild(status checkpoint.Status, err error) bool {
	r.status, r.err = status, err
	if r.unwatch != nil {
		r.unwatch()
	}
	r.endSpans(endKind(status, err), err)
	r.cancel(nil)
	close(r.done)
	return false
}

// leaveFor ends a child whose superstep has escaped.
func (r *run) leaveFor(ran []*task) {
	for _, t := range ran {
		for _, to := range t.out.up {
			if !slices.Contains(r.escaped, to) {
				r.escaped = append(r.escaped, to)
			}
		}
	}
	if len(r.escaped) > 0 {
		r.current, r.deferred, r.joins = nil, nil, nil
	}
}

// escape takes targets of the parent.
func (c *call) escape(to []string, from string) error {
	if len(to) == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range to {
		switch {
		case !slices.Contains(c.t.r.escapes, t):
			return &RouteError{from, t, "no parent declares it as a target of this graph; see MountOptions.Targets"}
		case c.t.node == c.t.r.plan.start:
			return &RouteError{from, t, "a graph cannot escape before it has run a node"}
		}
		c.own().up = append(c.up, t)
	}
	return nil
}

// at says where a question is asked.
func (c *call) at(q *host.Question) {
	r := c.t.r
	q.Namespace, q.Task, q.Node, q.Path = r.chain.Namespace, c.t.id(), c.t.node.name, r.path
}

// relates says whether a question is one of the task's own, or of a graph that it calls.
func (r *run) relates(q *checkpoint.Question, t *task) (own, below bool) {
	if q.Namespace == r.chain.Namespace {
		return q.Task == t.id(), false
	}
	rest, ok := strings.CutPrefix(string(q.Namespace), string(r.chain.Namespace))
	segs, err := checkpoint.Namespace(rest).Segments()
	return false, ok && err == nil && len(segs) > 0 && t.owns(segs[0])
}

// waitsFor reports whether nothing of the task can go on: a question of its own has no answer, or one in each task of the graphs
// that it calls.
func (r *run) waitsFor(t *task) bool {
	type place struct {
		ns   checkpoint.Namespace
		task string
	}
	r.root.answerMu.Lock()
	defer r.root.answerMu.Unlock()
	blocked, seen := map[place]bool{}, map[place]bool{}
	for _, q := range r.root.answers {
		own, below := r.relates(q, t)
		switch {
		case own && waits(q):
			return true
		case below && waits(q):
			blocked[place{q.Namespace, q.Task}] = true
		case below:
			seen[place{q.Namespace, q.Task}] = true
		}
	}
	for p := range seen {
		if !blocked[p] {
			return false
		}
	}
	return len(blocked) > 0
}

// shown reports whether a breakpoint of a child was shown to anybody: the root's pause came behind the child's. A process may have died
// between the two.
func (r *run) shown(log *record.Thread) bool {
	if r.up == nil || log.Pause == nil || log.Pause.Begun || log.Pause.Reason != record.ReasonBreak {
		return true
	}
	r.root.logMu.Lock()
	defer r.root.logMu.Unlock()
	return log.EntryOrd < r.root.log.EntryOrd
}

// called returns the name under which breakpoints and people know a node.
func (r *run) called(name string) string {
	if len(r.path) == 0 {
		return name
	}
	return strings.Join(r.path, "/") + "/" + name
}

// restore decodes a state into the program's types.
func (p *plan) restore(th Thread, log *record.Thread) (any, error) {
	head, err := p.ops.restore(log.State)
	if err != nil {
		return nil, &IncompatibleError{Thread: th, Written: graphText(log.Graph), Reasons: []string{err.Error()}}
	}
	return head, nil
}

// misfitting children are found before anything is changed.
func (c *core) childrenFit(ctx context.Context, th Thread, chain checkpoint.Chain, p *plan, log *record.Thread, caller string) error {
	for _, t := range log.Next {
		n := p.node(t.Node)
		if n == nil || n.mount == nil || n.mount.memory == NoMemory || log.Results[t.ID] != nil && log.Results[t.ID].Fail == "" {
			continue
		}
		at := chain
		at.Namespace = chain.Namespace.Child(cmp.Or(n.callee().segment, perCall(t.ID, "", 0)))
		l, err := c.store.Load(ctx, chain.Key, chain.Branch, at.Namespace)
		if err != nil {
			return err
		}
		child, err := n.mount.plan.folded(l, at.Namespace)
		if err != nil {
			return err
		}
		id := caller + perCall(t.ID, "", 0)
		if child.log.Run != id { // a call before this one, which is going to be settled
			continue
		}
		if err := child.fits(th, n.mount.plan); err != nil {
			return fmt.Errorf("node %s: %w", t.Node, err)
		}
		if err := c.childrenFit(ctx, th, at, n.mount.plan, child.log, id+" "); err != nil {
			return err
		}
	}
	return nil
}
