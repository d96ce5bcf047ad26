package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/procid"
	"github.com/holdfast-go/holdfast/internal/record"
)

func (c *core) checkCall(th Thread, ro RunOptions) error {
	if err := errors.Join(ro.Durability.validate(), ro.OnBusy.validate()); err != nil {
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
	return th.key().Valid()
}

func (c *core) newRun(ctx context.Context, th Thread, ro RunOptions) *run {
	r := &run{c: c, plan: c.plan, opts: &c.opts, thread: th, key: th.key(), done: make(chan struct{})}
	r.root = r
	r.chain = checkpoint.Chain{Key: r.key}
	r.assume(ro)
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.bus = newBus(c, ro)
	return r
}

// assume takes the options of a call.
func (r *run) assume(ro RunOptions) {
	r.ro, r.by = ro, ro.By
	r.limit = cmp.Or(ro.StepLimit, r.c.opts.StepLimit)
	r.mode = cmp.Or(ro.Durability, r.c.opts.Durability)
}

// begin starts a run with an input.
func (c *core) begin(ctx context.Context, th Thread, ro RunOptions, input func(view any) error) (started *run, err error) {
	if c.bare() {
		return nil, ErrNoProgram
	}
	ctx, over := c.callSpan(ctx, th)
	defer func() { over(started, err) }()
	if err := c.checkCall(th, ro); err != nil {
		return nil, err
	}
	before := int64(-1) // inputs up to this number of the inbox came before this call; not known yet
	passed := int64(0)  // inputs up to this number are done
	for try := 0; ; try++ {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		r := c.newRun(ctx, th, ro)
		r.before, r.passed = before, passed
		if err := c.enroll(r); err != nil {
			r.cancel(nil)
			return nil, err
		}
		err := aside(func() error { return c.prepare(ctx, r, intake{write: input}) })
		if err == nil {
			return r, nil
		}
		before = r.before
		c.discard(r)
		switch {
		case errors.Is(err, errQueueFirst):
			switch err := c.first(ctx, th); {
			case errors.Is(err, ErrNothingToDo):
				passed = before
			case err != nil:
				return nil, err
			}
			try = 0
		case errors.Is(err, errPreempt):
			if err := c.preempt(ctx, th, ro); err != nil {
				return nil, err
			}
			try = 0
		case !isHeld(err) || try >= mostTries && ro.OnBusy != Enqueue: // else somebody was faster: look again
			return nil, c.outrun(ctx, th, err)
		}
	}
}

// mostTries is how often a call looks again at a thread that was free, and that somebody else was faster to take.
const mostTries = 10

// outrun is ErrBusy for a call that somebody else was faster than each time.
func (c *core) outrun(ctx context.Context, th Thread, err error) error {
	if !isHeld(err) {
		return err
	}
	l, err := c.load(ctx, th.key())
	if err != nil {
		return err
	}
	return c.busy(th, l)
}

// discard forgets a run that never started.
func (c *core) discard(r *run) {
	c.forget(r)
	c.mu.Lock()
	delete(c.runs, r)
	c.idle.Broadcast()
	c.mu.Unlock()
	r.cancel(nil)
}

func (c *core) prepare(ctx context.Context, r *run, input intake) error {
	r.id, r.starter = uuid.NewString(), r.by
	if c.store == nil {
		r.head = c.plan.ops.empty()
		_, err := r.input(input, 0)
		r.step++
		return err
	}
	l, err := c.loadToRun(ctx, r.key)
	if err != nil {
		return err
	}
	if of := l.Head.Owner; of != "" && r.ro.Owner != "" && of != r.ro.Owner {
		return ErrOwner // and the caller sees nothing of it
	}
	if err := activeOnly(r.thread, l.Loaded); err != nil {
		return err
	}
	if err := c.admit(ctx, r, l, input); err != nil {
		return err
	}
	return c.startLogged(ctx, r, l, input)
}

// admit decides whether a thread takes a new input now.
func (c *core) admit(ctx context.Context, r *run, l *loaded, input intake) error {
	h := &l.Head
	if r.before < 0 {
		r.before = h.Inbox
	}
	waiting := c.queued(l.Inbox, r.passed)
	free := !h.Held() && h.Status.Ended()
	switch {
	case h.Epoch == 0 || free && (len(waiting) == 0 || waiting[0].N > r.before || r.ro.OnBusy.preempts()):
		return nil
	case free && r.ro.OnBusy != Enqueue:
		return errQueueFirst
	case !free && h.Status.Ended() && (h.Expired || c.dead(h)): // its run had ended, but its process died holding the thread
		return c.unlock(r, l)
	}
	if r.ro.Request != "" { // a free thread's store says it by itself
		if err := c.duplicate(ctx, r); err != nil {
			return err
		}
	}
	switch r.ro.OnBusy {
	case Enqueue:
		return c.enqueue(ctx, r, l, input)
	case Preempt, Rollback:
		return errPreempt
	}
	return c.busy(r.thread, l)
}

// duplicate looks for the run that the same request has started.
func (c *core) duplicate(ctx context.Context, r *run) error {
	run, err := c.findRun(ctx, r.key, func(run *checkpoint.Run) bool { return run.Request == r.ro.Request })
	if err == nil && run != nil {
		err = &DuplicateError{run.ID, run.Status}
	}
	return err
}

// unlock frees a thread whose run has ended. The caller looks again.
func (c *core) unlock(r *run, l *loaded) error {
	r.open(l, checkpoint.NewNonce(), l.Head.Epoch+1)
	a := &checkpoint.Acquire{Key: r.key, Mode: checkpoint.Steal, Seen: l.Head.Nonce, Nonce: r.journal.nonce, TTL: c.opts.Lease, Holder: procid.Self()}
	if l.Head.Expired {
		a.Mode = checkpoint.Expired
	}
	if err := c.acquire(r, a); err != nil {
		return err
	}
	defer c.forget(r)
	if err := r.letGo(); err != nil {
		return err
	}
	return checkpoint.ErrHeld
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
func (c *core) startLogged(ctx context.Context, r *run, l *loaded, input intake) error {
	if err := l.refuse(r.thread); err != nil {
		return err
	}
	r.log = l.log
	head := l.head
	if head == nil {
		var err error
		if head, err = c.restore(r.thread, l.log); err != nil {
			return err
		}
	}
	r.head = head
	items, closed := l.move.at(l.log.Step + 1)
	last := l.log.Step + int64(min(1, len(items)))
	if len(l.log.Next) > 0 {
		x, settled := settlement(c.plan, l.log, head, settledByInput)
		for _, q := range l.Questions {
			x.Questions = append(x.Questions, q.ID)
		}
		last++
		if err := l.log.ApplySettle(x); err != nil {
			return err
		}
		r.head, closed = settled, append(closed, x.Questions...)
		items = append(items, item{kind: checkpoint.KindSettle, step: last, body: x})
	}
	in, err := r.input(input, last)
	if err != nil {
		return err
	}
	if items, err = r.inputItems(items, in); err != nil {
		return err
	}
	r.open(l, checkpoint.NewNonce(), l.Head.Epoch+1)
	r.journal.looked(l.Head.Inbox, r.sort(l.Inbox)) // what is done goes with the first append
	recs, _, err := r.journal.add(nil, nil, items...)
	if err != nil {
		return err
	}
	r.journal.put() // they travel with the acquisition
	a := &checkpoint.Acquire{
		Key: r.key, Mode: checkpoint.Free, Epoch: l.Head.Epoch, Nonce: r.journal.nonce, TTL: c.opts.Lease, Holder: procid.Self(),
		Owner: r.ro.Owner, Records: recs, Closed: closed,
		Run: &checkpoint.Run{Key: r.key, ID: r.id, Request: r.ro.Request, Status: checkpoint.Running, Graph: c.plan.id.Name, By: r.by, Meta: r.ro.Meta},
	}
	if err := c.acquire(r, a); err != nil {
		return err
	}
	for _, rec := range recs {
		r.log.Note(rec)
	}
	r.step++
	return nil
}

// inputItems adds the input, and a snapshot when reading the chain has become too dear: runs that fail, are cancelled or end
// at once have no entry that could bring one. The input is folded.
func (r *run) inputItems(items []item, in *record.Input) ([]item, error) {
	if err := r.log.ApplyInput(in); err != nil {
		return nil, err
	}
	items = append(items, item{kind: checkpoint.KindInput, step: r.step, body: in})
	size := 0
	for i := range items {
		body, err := record.Encode(items[i].body)
		if err != nil {
			return nil, err
		}
		items[i].encoded = body
		size += len(body) + checkpoint.Overhead
	}
	if r.log.SnapshotDue(size - checkpoint.Overhead) {
		s := r.log.Snapshot()
		s.Of, s.Start = r.log.Pos+int64(len(items)), r.step
		items = append(items, item{kind: checkpoint.KindSnapshot, step: r.step, body: s})
	}
	return items, nil
}

// input writes the input into the state and schedules what Start leads to. The chain's last step is given.
func (r *run) input(from intake, last int64) (*record.Input, error) {
	p := r.plan
	r.step, r.startStep = last+1, last+1
	if r.log != nil && r.log.Pos < 0 && last == 0 {
		r.step, r.startStep = 0, 0
	}
	t := &task{r: r, node: p.start, step: r.step, ctx: r.ctx, head: r.head}
	c := &t.first
	c.begin(t, 1, r.ctx)
	if err := c.protect(from.into); err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	head, folded, err := p.ops.commit(r.head, []part{{Start, c.view}})
	if err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	r.head, t.out = head, c
	r.schedule([]*task{t})
	in := &record.Input{
		Run: r.id, By: r.starter, Request: r.ro.Request, Meta: r.ro.Meta, Graph: p.id, Mode: string(r.mode), Writes: c.writes, Folded: folded,
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
	if r.over {
		r.finish(checkpoint.Completed, nil)
		return
	}
	r.c.log(r, "run starts")
	r.unwatch = context.AfterFunc(r.ctx, r.supervise)
	go r.drive(r.superstep)
}
