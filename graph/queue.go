package graph

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/record"
)

// BusyPolicy says what becomes of a new input on a thread with unfinished business: a run under way, one that waits for
// people, inputs that wait.
type BusyPolicy string

// The policies. All of them leave an input that comes after a failure, or after a cancel, to start at once.
const (
	// Reject returns a *BusyError and changes nothing. It is the default.
	Reject BusyPolicy = "reject"

	// Enqueue stores the input and returns a *QueuedError with the id of its run at once. Queued inputs run in order, each when
	// the run before it has ended: in the process that held the thread then, or with the next Run, Resume or Recover.
	Enqueue BusyPolicy = "enqueue"

	// Preempt ends what is under way as Cancel does, and then starts. A holder that does not yield within a third of its
	// lease is fenced: nothing that it does afterwards counts. Inputs that wait stay where they are.
	Preempt BusyPolicy = "preempt"

	// Rollback is Preempt, and the thread goes back to before the run that it ends: the input finds the state that that run
	// had found. The entries of the run stay, in the branch in which they were written; the thread goes on in a new one, whose
	// reason is "rollback". Both happen in one write. Effects of the run are not undone: what Once has recorded stands in the
	// old branch, and happens again, under another key, if the new run comes by it. A run that has ended before it could be
	// stopped stays. If retention has removed the entry before the run, the call is checkpoint.ErrPruned and changes nothing.
	Rollback BusyPolicy = "rollback"
)

// preempts reports whether an input ends what is under way.
func (p BusyPolicy) preempts() bool { return p == Preempt || p == Rollback }

func (p BusyPolicy) validate() error {
	switch p {
	case "", Reject, Enqueue, Preempt, Rollback:
		return nil
	}
	return fmt.Errorf("unknown policy %q: use graph.Reject, graph.Enqueue, graph.Preempt or graph.Rollback", string(p))
}

// What admit says when an input cannot start right now, but will.
var (
	errQueueFirst = errors.New("graph: inputs wait before this one")
	errPreempt    = errors.New("graph: the present run must end first")
)

// An inputBody is what an input command carries: what the input wrote, and the options of its call that hold for the run.
type inputBody struct {
	Run         string            `json:"run"`
	Graph       string            `json:"g"`
	Version     int               `json:"v,omitzero"` // of the graph
	By          string            `json:"by,omitzero"`
	Request     string            `json:"req,omitzero"`
	Meta        map[string]string `json:"meta,omitzero"`
	Mode        Durability        `json:"mode,omitzero"`
	StepLimit   int               `json:"limit,omitzero"`
	BreakBefore []string          `json:"before,omitzero"`
	BreakAfter  []string          `json:"after,omitzero"`
	Writes      record.Writes     `json:"w,omitzero"`
}

// inputOf reads an input command. One that cannot be read has no graph, and is left for whoever can.
func inputOf(cmd *checkpoint.Command) (b inputBody) {
	if record.Decode(checkpoint.Record{Kind: checkpoint.KindInput, Body: cmd.Body}, &b) != nil {
		return inputBody{}
	}
	return b
}

func (b *inputBody) options() RunOptions {
	return RunOptions{By: b.By, Request: b.Request, Meta: b.Meta, Durability: b.Mode, StepLimit: b.StepLimit, BreakBefore: b.BreakBefore, BreakAfter: b.BreakAfter}
}

// queued are the inputs for this graph behind a number of the inbox, but for those that were cancelled.
func (c *core) queued(cmds []checkpoint.Command, after int64) (list []checkpoint.Command) {
	for i := range cmds {
		if cmds[i].Kind != checkpoint.CommandInput || cmds[i].N <= after {
			continue
		}
		if b := inputOf(&cmds[i]); b.Graph == c.plan.id.Name && cancelOf(b.Run, cmds) == nil {
			list = append(list, cmds[i])
		}
	}
	return list
}

// own is the number of the command that this run came from, if it is still there.
func (r *run) own(cmds []checkpoint.Command) int64 {
	for i := range cmds {
		if cmds[i].Kind == checkpoint.CommandInput && inputOf(&cmds[i]).Run == r.id {
			return cmds[i].N
		}
	}
	return 0
}

// enqueue stores an input for later.
func (c *core) enqueue(ctx context.Context, r *run, l *loaded, from intake) error {
	if l.Head.Graph != c.plan.id.Name { // its holder could not run this graph's input
		return c.busy(r.thread, l)
	}
	ws, err := r.encodeInput(l, from)
	if err != nil {
		return err
	}
	b := &inputBody{
		Run: uuid.NewString(), Graph: c.plan.id.Name, Version: c.plan.id.Version, By: r.by, Request: r.ro.Request, Meta: r.ro.Meta, Mode: r.ro.Durability, StepLimit: r.ro.StepLimit,
		BreakBefore: r.ro.BreakBefore, BreakAfter: r.ro.BreakAfter, Writes: ws,
	}
	body, err := record.Encode(b)
	if err != nil {
		return err
	}
	cmd := &checkpoint.Command{Key: r.key, Kind: checkpoint.CommandInput, Request: "input " + b.Run, Body: body}
	if b.Request != "" {
		cmd.Request = "request " + b.Request
	}
	if err := c.post(ctx, &l.Head, cmd); err != nil {
		return err
	}
	return c.settled(ctx, r, b)
}

// settled says which run an enqueued input has become, and sees to it that somebody will run it.
func (c *core) settled(ctx context.Context, r *run, b *inputBody) error {
	l, err := c.store.Load(ctx, r.key, checkpoint.Active, noChain)
	if err != nil {
		return fmt.Errorf("graph: the input is queued as run %s: %w", b.Run, err)
	}
	queued := &QueuedError{Thread: r.thread, Run: b.Run}
	for i := range l.Inbox {
		if q := inputOf(&l.Inbox[i]); b.Request != "" && l.Inbox[i].Kind == checkpoint.CommandInput && q.Request == b.Request {
			queued.Run = q.Run // the same request was queued before
		}
	}
	if err := c.startedBy(ctx, r, queued.Run); err != nil {
		return err
	}
	if !l.Head.Held() && l.Head.Status.Ended() { // its holder left before the input came
		c.goOn(r.thread, RunOptions{})
	}
	return queued
}

// startedBy finds out whether the request has started another run before it was queued. What was queued then never starts.
func (c *core) startedBy(ctx context.Context, r *run, queued string) error {
	if r.ro.Request == "" {
		return nil
	}
	err := c.duplicate(ctx, r)
	if dup, ok := errors.AsType[*DuplicateError](err); ok && dup.Run == queued {
		return nil // it is under way already
	}
	return err
}

func (r *run) encodeInput(l *loaded, from intake) (ws record.Writes, err error) {
	if err := l.refuse(r.thread); err != nil {
		return nil, err
	}
	ops := r.plan.ops
	head, err := r.c.restore(r.thread, l.log)
	if err != nil {
		return nil, err
	}
	view := ops.view(head)
	if err := from.write(view); err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	if ws, err = ops.encode(view); err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	return ws, nil
}

// startQueued starts the first input that waits.
func (c *core) startQueued(ctx context.Context, r *run, l *loaded) error {
	for _, cmd := range c.queued(l.Inbox, r.passed) {
		b := inputOf(&cmd)
		ro := b.options()
		ro.Kinds, ro.Detach = r.ro.Kinds, r.ro.Detach
		r.assume(ro)
		r.id, r.starter, r.passed = b.Run, b.By, cmd.N
		ws, err := c.plan.migrateInput(b.Version, b.Writes)
		if err == nil {
			err = c.startLogged(ctx, r, l, intake{writes: ws, queued: true})
		}
		dup, ok := errors.AsType[*DuplicateError](err)
		switch {
		case ok && dup.Run == b.Run || errors.Is(err, checkpoint.ErrStale):
			return checkpoint.ErrHeld // somebody else has started it: look again
		case !ok && err != nil && !errors.Is(err, checkpoint.ErrHeld):
			return fmt.Errorf("graph: the queued run %s cannot start, and waits; App.CancelRun removes it: %w", b.Run, err)
		case !ok:
			return err
		}
		// The same request has started another run, between the look at the runs and the post: this one is none.
		c.forget(r)
		if l, err = c.load(ctx, r.key); err != nil {
			return err
		}
	}
	return ErrNothingToDo
}

// cancelQueued takes an input out of the queue.
func (c *core) cancelQueued(ctx context.Context, l *loaded, order cancelBody) error {
	for i := range l.Inbox {
		if l.Inbox[i].Kind != checkpoint.CommandInput || inputOf(&l.Inbox[i]).Run != order.Run {
			continue
		}
		cmd, err := commandOf(order)
		if err != nil {
			return err
		}
		cmd.Key = l.Head.Key
		if err := c.post(ctx, &l.Head, cmd); err != nil {
			return err
		}
		h, err := c.headOf(ctx, l.Head.Key)
		if err == nil && h.Run == order.Run {
			err = checkpoint.ErrHeld // it has started meanwhile: look again
		}
		return err
	}
	return ErrNothingToDo
}

// first runs the inputs that came before a call of Run, and waits for them. They do not end with the call.
func (c *core) first(ctx context.Context, th Thread) error {
	r, err := c.resume(context.Background(), th, RunOptions{}, []Command{{sweep: true}})
	switch {
	case errors.Is(err, ErrInterrupted), errors.Is(err, ErrBusy):
		return nil // somebody else has started one: look again
	case err != nil:
		return err
	}
	r.start()
	select {
	case <-r.done:
		return nil // what became of it is for whoever queued it
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// preempt ends the present run, and returns once the thread may be free.
func (c *core) preempt(ctx context.Context, th Thread, ro RunOptions) error {
	late := time.NewTimer(c.opts.Lease / 3)
	defer late.Stop()
	call := cancelling{input: true, back: ro.OnBusy == Rollback}
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 250*time.Millisecond) {
		err := c.cancelOnce(ctx, th, ro, &call)
		switch {
		case errors.Is(err, ErrNothingToDo):
			return nil
		case err != nil && (!errors.Is(err, checkpoint.ErrHeld) || ctx.Err() != nil):
			return err
		case err != nil:
			continue
		}
		h, err := c.headOf(ctx, th.key())
		if err != nil {
			return err
		}
		if !c.worked(h) || h.Run != call.posted {
			if call.back {
				return c.wentBack(ctx, th, call.target)
			}
			return nil
		}
		var gone chan struct{}
		if r, ok := held.Load(h.Nonce); ok {
			gone = r.(*run).done
		}
		poll, stop := realClock{}.After(wait)
		select {
		case <-gone:
		case <-poll:
		case <-late.C:
			call.fence, call.run = true, call.posted
		case <-ctx.Done():
			stop()
			return context.Cause(ctx)
		}
		stop()
	}
}

// An intake is what a run starts with: a function that writes, or what one wrote when it was queued.
type intake struct {
	write  func(view any) error
	writes record.Writes
	queued bool
}

// into takes the input into an attempt of Start: its writes, and what the routes of Start make of them.
func (from intake) into(c *call) error {
	ops := c.t.r.plan.ops
	if !from.queued {
		view := ops.view(c.t.head)
		if from.write != nil {
			if err := from.write(view); err != nil {
				return err
			}
		}
		if err := c.leave(view); err != nil {
			return err
		}
		return c.close(view)
	}
	trial, err := ops.decode(from.writes)
	if err != nil {
		return err
	}
	head, _, err := ops.commit(c.t.head, []part{{Start, trial}})
	if err != nil {
		return err
	}
	if err := c.leave(ops.view(head)); err != nil {
		return err
	}
	c.writes = from.writes
	c.view, err = ops.decode(from.writes)
	return err
}
