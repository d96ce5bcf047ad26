package graph

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/crashpoint"
	"github.com/holdfast-go/holdfast/internal/procid"
	"github.com/holdfast-go/holdfast/internal/record"
)

// maxTakeovers is how often a run may be taken over without a new entry before it counts as one that kills its process.
const maxTakeovers = 5

// A loaded thread: what the store said, folded.
type loaded struct {
	*checkpoint.Loaded
	log *record.Thread
}

func (c *core) load(ctx context.Context, key checkpoint.Key) (*loaded, error) {
	l, err := c.store.Load(ctx, key, checkpoint.Active, "")
	if err != nil {
		return nil, err
	}
	log, err := record.Fold(l.Records)
	if err != nil {
		return nil, err
	}
	return &loaded{l, log}, nil
}

func (c *core) newRun(ctx context.Context, th Thread, ro RunOptions) *run {
	r := &run{c: c, ro: ro, thread: th, key: th.key(), id: "", by: ro.By, limit: cmp.Or(ro.StepLimit, c.opts.StepLimit), done: make(chan struct{})}
	r.chain = checkpoint.Chain{Key: r.key}
	r.mode = cmp.Or(ro.Durability, c.opts.Durability)
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.bus = newBus(c, ro)
	return r
}

func (c *core) checkCall(th Thread, ro RunOptions) error {
	if err := ro.Durability.validate(); err != nil {
		return err
	}
	if err := errors.Join(append(c.plan.checkBreaks(ro.BreakBefore), c.plan.checkBreaks(ro.BreakAfter)...)...); err != nil {
		return err
	}
	if ro.StepLimit < 0 {
		return errors.New("graph: a step limit is not negative")
	}
	if c.store == nil {
		return nil
	}
	if th.Branch != "" {
		return fmt.Errorf("graph: thread %s has no branch %q", th, th.Branch)
	}
	return th.key().Valid()
}

// begin starts a run with an input.
func (c *core) begin(ctx context.Context, th Thread, ro RunOptions, input func(view any) error) (*run, error) {
	if err := c.checkCall(th, ro); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for try := 0; ; try++ {
		r := c.newRun(ctx, th, ro)
		if err := c.enroll(r); err != nil {
			r.cancel(nil)
			return nil, err
		}
		err := c.prepare(ctx, r, input)
		if err == nil {
			return r, nil
		}
		c.discard(r)
		if !errors.Is(err, checkpoint.ErrHeld) || try == 10 { // somebody was faster: look again
			return nil, err
		}
	}
}

// discard forgets a run that never started.
func (c *core) discard(r *run) {
	if r.journal != nil {
		held.Delete(r.journal.nonce)
	}
	c.mu.Lock()
	delete(c.runs, r)
	c.idle.Broadcast()
	c.mu.Unlock()
	r.cancel(nil)
}

func (c *core) prepare(ctx context.Context, r *run, input func(view any) error) error {
	r.id = uuid.NewString()
	if c.store == nil {
		r.head = c.plan.ops.empty()
		_, err := r.input(input, 0)
		r.step++
		return err
	}
	l, err := c.load(ctx, r.key)
	if err != nil {
		return err
	}
	if err := c.admit(ctx, r, l); err != nil {
		return err
	}
	return c.startLogged(ctx, r, l, input)
}

// admit decides whether a thread takes a new input now.
func (c *core) admit(ctx context.Context, r *run, l *loaded) error {
	h := &l.Head
	if r.ro.Request != "" && h.Epoch > 0 {
		if err := c.duplicate(ctx, r); err != nil {
			return err
		}
	}
	switch {
	case h.Epoch == 0 || !h.Held() && h.Status.Ended():
		return nil
	case h.Status.Ended() && (h.Expired || c.dead(h)): // its run had ended, but its process died holding the thread
		return c.unlock(ctx, r, l)
	}
	return c.busy(r.thread, l)
}

// duplicate looks for the run that the same request has started.
func (c *core) duplicate(ctx context.Context, r *run) error {
	after := checkpoint.RunCursor{}
	for {
		runs, err := c.store.Runs(ctx, checkpoint.RunFilter{Tenant: r.key.Tenant, Thread: r.key.Thread, After: after})
		if err != nil {
			return err
		}
		for _, run := range runs {
			if run.Request == r.ro.Request {
				return &DuplicateError{run.ID, run.Status}
			}
			after = checkpoint.RunCursor{Key: run.Key, Run: run.ID}
		}
		if len(runs) == 0 {
			return nil
		}
	}
}

// unlock frees a thread whose run has ended. The caller looks again.
func (c *core) unlock(ctx context.Context, r *run, l *loaded) error {
	r.open(l, checkpoint.NewNonce(), l.Head.Epoch+1)
	a := &checkpoint.Acquire{Key: r.key, Mode: checkpoint.Steal, Seen: l.Head.Nonce, Nonce: r.journal.nonce, TTL: c.opts.Lease, Holder: procid.Self()}
	if l.Head.Expired {
		a.Mode = checkpoint.Expired
	}
	if err := c.acquire(r, a); err != nil {
		return err
	}
	return r.backOut(checkpoint.ErrHeld)
}

func (c *core) busy(th Thread, l *loaded) error {
	e := &BusyError{Thread: th, Run: l.Head.Run, Status: l.Head.Status}
	if l.Head.Held() && !c.dead(&l.Head) && !l.Head.Expired {
		e.Holder = l.Head.Holder
	}
	qs, err := publicQuestions(l.Questions)
	if err != nil {
		return err
	}
	sortQuestions(qs)
	e.Questions = qs
	return e
}

// startLogged writes the input, with what closes an unfinished run before it, and takes the thread: one write.
func (c *core) startLogged(ctx context.Context, r *run, l *loaded, input func(view any) error) error {
	r.log = l.log
	head, err := c.restore(r.thread, l.log)
	if err != nil {
		return err
	}
	r.head = head
	var items []item
	var closed []string
	if len(l.log.Next) > 0 {
		x, settled := settlement(c.plan, l.log, head, settledByInput)
		for _, q := range l.Questions {
			x.Questions = append(x.Questions, q.ID)
		}
		if err := l.log.ApplySettle(x); err != nil {
			return err
		}
		r.head, closed = settled, x.Questions
		items = append(items, item{kind: checkpoint.KindSettle, step: l.log.Step + 1, body: x})
	}
	in, err := r.input(input, l.log.Step+int64(len(items)))
	if err != nil {
		return err
	}
	items = append(items, item{kind: checkpoint.KindInput, step: r.step, body: in})
	r.open(l, checkpoint.NewNonce(), l.Head.Epoch+1)
	recs, _, err := r.journal.add(nil, nil, items...)
	if err != nil {
		return err
	}
	r.journal.queue = nil // they travel with the acquisition
	a := &checkpoint.Acquire{
		Key: r.key, Mode: checkpoint.Free, Epoch: l.Head.Epoch, Nonce: r.journal.nonce, TTL: c.opts.Lease, Holder: procid.Self(),
		Owner: r.ro.Owner, Records: recs, Closed: closed,
		Run: &checkpoint.Run{Key: r.key, ID: r.id, Request: r.ro.Request, Status: checkpoint.Running, Graph: c.plan.id.Name, By: r.by, Meta: r.ro.Meta},
	}
	if err := c.acquire(r, a); err != nil {
		return err
	}
	if err := r.log.ApplyInput(in); err != nil {
		return err
	}
	for _, rec := range recs {
		r.log.Note(rec)
	}
	r.step++
	return nil
}

// open makes the run's journal, behind the last record of the loaded chain.
func (r *run) open(l *loaded, nonce checkpoint.Nonce, epoch int64) {
	r.chain.Branch = l.Branch
	r.journal = &journal{store: r.c.store, chain: r.chain, nonce: nonce, patience: r.c.opts.StorePatience, pos: l.log.Pos, ord: epoch << 32, base: l.log.Base}
	held.Store(nonce, r)
	r.takeRows(l.Questions)
	r.journal.looked(l.Head.Inbox, 0)
}

// acquire takes the thread and begins to renew the lease.
func (c *core) acquire(r *run, a *checkpoint.Acquire) error {
	at := time.Now()
	crashpoint.Hit("acquire")
	err := persist(r.ctx, c.opts.StorePatience, func(ctx context.Context) error {
		h, err := c.store.Acquire(ctx, a)
		if err == nil {
			r.journal.news(h.Inbox)
			if a.Mode != checkpoint.Free {
				r.journal.ord = h.Epoch << 32
			}
		}
		return err
	})
	if dup, ok := errors.AsType[*checkpoint.DuplicateError](err); ok {
		return &DuplicateError{dup.Run.ID, dup.Run.Status}
	}
	if err == nil {
		crashpoint.Hit("acquired")
		c.keeper.keep(r, at)
	}
	return err
}

// restore decodes a thread's state into the program's types.
func (c *core) restore(th Thread, log *record.Thread) (any, error) {
	head, err := c.plan.ops.restore(log.State)
	if err != nil {
		return nil, &IncompatibleError{Thread: th, Written: graphText(log.Graph), Reasons: []string{err.Error()}}
	}
	return head, nil
}

func graphText(g record.Graph) string {
	return fmt.Sprintf("graph %s version %d (%s)", g.Name, g.Version, g.Fingerprint)
}

// input writes the input into the state and schedules what Start leads to. The chain's last step is given.
func (r *run) input(write func(view any) error, last int64) (*record.Input, error) {
	p := r.c.plan
	r.step, r.startStep = last+1, last+1
	if r.log != nil && r.log.Pos < 0 && last == 0 {
		r.step, r.startStep = 0, 0
	}
	t := &task{r: r, node: p.start, step: r.step, ctx: r.ctx, head: r.head}
	c := &t.first
	c.t, c.n, c.Context = t, 1, r.ctx
	err := c.protect(func(c *call) error {
		view := p.ops.view(r.head)
		if write != nil {
			if err := write(view); err != nil {
				return err
			}
		}
		if err := c.leave(view); err != nil {
			return err
		}
		return c.close(view)
	})
	if err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	head, folded, err := p.ops.commit(r.head, []part{{Start, c.view}})
	if err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	r.head, t.out = head, c
	r.schedule([]*task{t})
	in := &record.Input{
		Run: r.id, By: r.by, Request: r.ro.Request, Meta: r.ro.Meta, Graph: p.id, Mode: string(r.mode), Writes: c.writes, Folded: folded,
		Sends: t.result().Sends, Next: r.refer([]*task{t}),
	}
	for i := range in.Next {
		if in.Next[i].From != nil {
			in.Next[i].From = &record.Ref{-1, in.Next[i].From[1]} // of the input itself
		}
	}
	return in, nil
}

// start sets the run going.
func (r *run) start() {
	r.bus.begin(r)
	r.c.log(r, "run starts")
	r.unwatch = context.AfterFunc(r.ctx, r.supervise)
	go r.drive(r.superstep)
}

// resume continues a thread.
func (c *core) resume(ctx context.Context, th Thread, ro RunOptions, cmds []Command) (*run, error) {
	if c.store == nil {
		return nil, ErrNoStore
	}
	if err := c.checkCall(th, ro); err != nil {
		return nil, err
	}
	for _, cmd := range cmds {
		if cmd.err != nil {
			return nil, cmd.err
		}
	}
	recorded := false
	for try := 0; ; try++ {
		r := c.newRun(ctx, th, ro)
		if err := c.enroll(r); err != nil {
			r.cancel(nil)
			return nil, err
		}
		err := c.prepareResume(ctx, r, cmds, &recorded)
		if err == nil {
			return r, nil
		}
		c.discard(r)
		if !errors.Is(err, checkpoint.ErrHeld) || try == 10 {
			return nil, err
		}
	}
}

func (c *core) prepareResume(ctx context.Context, r *run, cmds []Command, recorded *bool) error {
	l, err := c.load(ctx, r.key)
	if err != nil {
		return err
	}
	if l.Head.Epoch == 0 {
		return fmt.Errorf("%w: %s", ErrNoThread, r.thread)
	}
	for _, cmd := range cmds {
		if cmd.at != nil && *cmd.at != l.log.EntryPos {
			return fmt.Errorf("%w: entry %d was named, the head is %d", ErrNotHead, *cmd.at, l.log.EntryPos)
		}
	}
	if err := c.compatible(r.thread, l.log); err != nil {
		return err
	}
	if !*recorded {
		given, err := replies(cmds, l.Questions, r.by)
		if err != nil {
			return err
		}
		if len(given) > 0 {
			if err := c.answer(ctx, r, given, l.Questions); err != nil {
				return err
			}
			crashpoint.Hit("answered")
			*recorded = true
			return c.prepareResume(ctx, r, cmds, recorded)
		}
	}
	if l.Head.Status == checkpoint.Completed || l.Head.Status == checkpoint.Cancelled {
		return ErrNothingToDo
	}
	if l.Head.Held() && !l.Head.Expired && !c.dead(&l.Head) {
		err := c.busy(r.thread, l)
		if b, ok := err.(*BusyError); ok {
			b.Recorded = *recorded
		}
		return err
	}
	return c.takeUp(r, l, cmds)
}

// answer records answers; a refusal names the question and who was faster.
func (c *core) answer(ctx context.Context, r *run, given []checkpoint.Reply, rows []checkpoint.Question) error {
	err := persist(ctx, c.opts.StorePatience, func(ctx context.Context) error {
		_, err := c.store.Answer(ctx, r.key, given)
		return err
	})
	if errors.Is(err, checkpoint.ErrNotPending) && c.mine(ctx, r, given) {
		return nil // the first attempt had succeeded, and its reply was lost
	}
	return err
}

// mine reports whether the recorded answers are the given ones.
func (c *core) mine(ctx context.Context, r *run, given []checkpoint.Reply) bool {
	l, err := c.store.Load(ctx, r.key, checkpoint.Active, "")
	if err != nil {
		return false
	}
	for _, g := range given {
		if !slices.ContainsFunc(l.Questions, func(q checkpoint.Question) bool {
			return q.ID == g.Question && q.State == checkpoint.Answered && q.AnsweredBy == g.By && string(q.Answer) == string(g.Value)
		}) {
			return false
		}
	}
	return true
}

// takeUp takes the thread and rebuilds the open superstep.
func (c *core) takeUp(r *run, l *loaded, cmds []Command) error {
	nonce := checkpoint.NewNonce()
	r.open(l, nonce, l.Head.Epoch+1)
	r.rebuild(l)
	a := &checkpoint.Acquire{Key: r.key, Mode: checkpoint.Free, Epoch: l.Head.Epoch, Nonce: nonce, TTL: c.opts.Lease, Holder: procid.Self()}
	takeover := l.Head.Held()
	if !takeover && !r.canGoOn(cmds) {
		qs := r.questions()
		return &Interrupted{Thread: r.thread, Run: l.log.Run, Questions: qs}
	}
	switch {
	case takeover && l.Head.Expired:
		a.Mode = checkpoint.Expired
	case takeover:
		a.Mode, a.Seen = checkpoint.Steal, l.Head.Nonce
	}
	if err := c.acquire(r, a); err != nil {
		return err
	}
	if err := c.takeOver(r, takeover, cmds); err != nil {
		return r.backOut(err)
	}
	return nil
}

// takeOver makes the acquired thread ready to run.
func (c *core) takeOver(r *run, takeover bool, cmds []Command) error {
	if takeover || r.journal.unseen() {
		// What was read before the acquisition does not count: the former holder may have written in between.
		crashpoint.Hit("taken over")
		l, err := c.loadOwn(r)
		if err != nil {
			return err
		}
		if err := c.compatible(r.thread, l.log); err != nil {
			return err
		}
		r.journal.pos, r.journal.base = l.log.Pos, l.log.Base
		r.take(l.Loaded)
		r.rebuild(l)
		if l.Head.Epoch-(l.log.EntryOrd>>32) > maxTakeovers {
			r.crashLoop = true
		}
	}
	head, err := c.restore(r.thread, r.log)
	if err != nil {
		return err
	}
	r.head = head
	if err := r.decodeResults(); err != nil {
		return err
	}
	if r.crashLoop {
		return nil
	}
	return r.edit(cmds)
}

// loadOwn reads the thread again under the own lease.
func (c *core) loadOwn(r *run) (l *loaded, err error) {
	err = persist(context.WithoutCancel(r.ctx), c.opts.StorePatience, func(ctx context.Context) error {
		l, err = c.load(ctx, r.key)
		return err
	})
	if err == nil && l.Head.Nonce != r.journal.nonce {
		err = checkpoint.ErrHeld
	}
	return l, err
}

// rebuild makes the open superstep's tasks from the log.
func (r *run) rebuild(l *loaded) {
	p := r.c.plan
	r.log = l.log
	r.id, r.step, r.startStep = l.log.Run, l.log.EntryStep+1, l.log.Start
	r.skipBreak = began(l.log)
	if r.ro.Durability == "" {
		r.mode = cmp.Or(Durability(l.log.Mode), r.mode)
	}
	r.current, r.deferred = nil, nil
	for _, s := range l.log.Next {
		step, index := splitTask(s.ID)
		t := &task{r: r, node: p.node(s.Node), step: step, index: index, name: s.ID, arg: s.Arg, time: s.Time, deferred: s.Deferred}
		if s.Deferred {
			r.deferred = append(r.deferred, t)
			continue
		}
		r.current = append(r.current, t)
	}
	r.undefer()
	for _, t := range r.current {
		res := l.log.Results[t.id()]
		switch {
		case res != nil && res.Fail == "":
			t.phase, t.recorded = phaseEnd, true
		case res != nil && res.Handler:
			t.phase, t.marker, t.err, t.cause = phaseHandler, true, errors.New(res.Fail), errors.New(res.Fail)
			t.waiting = r.openFor(t.id())
		default:
			t.waiting = r.openFor(t.id())
		}
	}
	r.joins = nil
	for _, j := range l.log.Joins {
		for i, pj := range p.joins {
			if pj.to == j.To && slices.Equal(pj.from, j.From) {
				for _, have := range j.Have {
					r.arrive(i, have)
				}
			}
		}
	}
}

// began reports whether breakpoints before the open superstep have had their say.
func began(log *record.Thread) bool {
	if log.Pause != nil {
		switch log.Pause.Reason {
		case record.ReasonBreak:
			return true
		case record.ReasonDrain, record.ReasonLimit:
			return false
		}
	}
	return log.Step > log.EntryStep
}

// decodeResults makes recorded results usable for the fold.
func (r *run) decodeResults() error {
	for _, t := range r.current {
		if !t.recorded {
			continue
		}
		res := r.log.Results[t.id()]
		view, err := r.c.plan.ops.decode(res.Writes)
		if err != nil {
			return &IncompatibleError{Thread: r.thread, Written: graphText(r.log.Graph), Reasons: []string{fmt.Sprintf("result of node %s: %v", t.node.name, err)}}
		}
		c := &t.first
		c.t, c.view, c.writes, c.to, c.used = t, view, res.Writes, res.To, res.Answers
		for _, s := range res.Sends {
			c.sends = append(c.sends, send{s.Node, s.Arg, s.Time})
		}
		t.out, t.handled, t.attempt = c, res.Handled, res.Attempt
	}
	return nil
}

// canGoOn reports whether resuming would run anything.
func (r *run) canGoOn(cmds []Command) bool {
	for _, c := range cmds {
		if c.write != nil || c.goTo != nil || c.force {
			return true
		}
	}
	waiting := false
	for _, t := range r.current {
		if t.phase != phaseEnd && !t.waiting {
			return true
		}
		waiting = waiting || t.waiting
	}
	return !waiting
}

// edit applies writes and gotos of a Resume: one record, before anything runs.
func (r *run) edit(cmds []Command) error {
	p := r.c.plan
	if !slices.ContainsFunc(cmds, func(c Command) bool { return c.write != nil || c.goTo != nil }) {
		return nil
	}
	t := &task{r: r, node: &node{name: Start}, step: r.step, ctx: r.ctx, head: r.head}
	c := &t.first
	c.t, c.n, c.Context = t, 1, r.ctx
	err := c.protect(func(c *call) error {
		view := p.ops.view(r.head)
		for _, cmd := range cmds {
			if cmd.write != nil {
				if err := cmd.write(view); err != nil {
					return err
				}
			}
			if cmd.goTo != nil {
				if err := c.follow(*cmd.goTo, p.names(), "Resume"); err != nil {
					return err
				}
			}
		}
		return c.close(view)
	})
	if err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	head, folded, err := p.ops.commit(r.head, []part{{"Resume", c.view}})
	if err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	r.head, t.out = head, c
	return r.editLog(t, folded)
}

func (r *run) editLog(t *task, folded record.Writes) error {
	kept, waiting := r.current, r.deferred
	joins := r.halfJoined()
	r.deferred = nil
	r.schedule([]*task{t})
	fresh := slices.DeleteFunc(append(r.current, r.deferred...), func(n *task) bool {
		return n.arg == nil && slices.ContainsFunc(append(slices.Clone(kept), waiting...), func(k *task) bool { return k.node == n.node })
	})
	d := &record.Edit{Run: r.id, By: r.by, As: "resume", Graph: r.c.plan.id, Writes: t.out.writes, Folded: folded, Sends: t.result().Sends, Joins: joins}
	r.current, r.deferred = kept, waiting
	for _, n := range fresh {
		if n.deferred {
			r.deferred = append(r.deferred, n)
		} else {
			r.current = append(r.current, n)
		}
	}
	for _, n := range r.scheduled() {
		d.Next = append(d.Next, n.scheduled())
	}
	r.logMu.Lock()
	err := r.log.ApplyEdit(d)
	r.logMu.Unlock()
	if err != nil {
		return err
	}
	b, err := r.add(item{kind: checkpoint.KindEdit, step: r.step, body: d})
	if err == nil {
		_, err = r.journal.flush(b)
	}
	r.step++
	return err
}

// backOut gives a thread back that was taken for a call that turned out to be wrong.
func (r *run) backOut(cause error) error {
	r.c.keeper.drop(r)
	err := persist(context.Background(), r.c.opts.StorePatience, func(ctx context.Context) error {
		_, err := r.c.store.Release(ctx, checkpoint.Lease{Key: r.key, Nonce: r.journal.nonce}, r.journal.seenInbox())
		return err
	})
	return errors.Join(cause, err)
}

func (p *plan) names() (names []string) {
	for _, n := range p.nodes {
		names = append(names, n.name)
	}
	return append(names, End)
}

// compatible checks that this graph can continue what is scheduled.
func (c *core) compatible(th Thread, log *record.Thread) error {
	var reasons []string
	if len(log.Next) > 0 && log.Graph.Name != c.plan.id.Name {
		reasons = append(reasons, fmt.Sprintf("it belongs to graph %q, this is %q", log.Graph.Name, c.plan.id.Name))
	}
	for _, t := range log.Next {
		switch n := c.plan.node(t.Node); {
		case n == nil:
			reasons = append(reasons, fmt.Sprintf("node %q is scheduled and this graph has none of that name; add it, or g.Alias(%q, newName)", t.Node, t.Node))
		case (n.arg != nil) != (t.Arg != nil):
			reasons = append(reasons, fmt.Sprintf("node %q is scheduled with argument=%t and this graph's takes argument=%t", t.Node, t.Arg != nil, n.arg != nil))
		}
	}
	if _, err := c.plan.ops.restore(log.State); err != nil {
		reasons = append(reasons, err.Error())
	}
	if len(reasons) > 0 {
		return &IncompatibleError{th, graphText(log.Graph), reasons}
	}
	return nil
}

func unmarshal(b []byte, v any) error { return json.Unmarshal(b, v) }

func sorted(s []string) []string {
	slices.Sort(s)
	return s
}
