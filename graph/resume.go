package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/crashpoint"
	"github.com/holdfast-go/holdfast/internal/procid"
	"github.com/holdfast-go/holdfast/internal/record"
)

// maxTakeovers is how often a run may be taken over without a new entry before it counts as one that kills its process.
const maxTakeovers = 5

// resume continues a thread.
func (c *core) resume(ctx context.Context, th Thread, ro RunOptions, cmds []Command) (started *run, err error) {
	if c.bare() {
		return nil, ErrNoProgram
	}
	ctx, over := c.callSpan(ctx, th)
	defer func() { over(started, err) }()
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
		err := aside(func() error { return c.prepareResume(ctx, r, cmds, &recorded) })
		if err == nil {
			return r, nil
		}
		c.discard(r)
		if !isHeld(err) || try == mostTries {
			err = c.outrun(ctx, th, err)
			if busy, ok := errors.AsType[*BusyError](err); ok {
				busy.Recorded = recorded
			}
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
	if err := activeOnly(r.thread, l.Loaded); err != nil {
		if slices.ContainsFunc(cmds, func(cmd Command) bool { return cmd.answer != nil }) {
			err = fmt.Errorf("%w (%w)", ErrNotPending, err)
		}
		return err
	}
	for _, cmd := range cmds {
		if cmd.at != nil && *cmd.at != l.log.EntryPos {
			return fmt.Errorf("%w: entry %d was named, the head is %d", ErrNotHead, *cmd.at, l.log.EntryPos)
		}
	}
	if err := c.compatible(r.thread, l); err != nil {
		return err
	}
	if err := c.childrenFit(ctx, r.thread, checkpoint.Chain{Key: r.key, Branch: l.Branch}, c.plan, l.log, ""); err != nil {
		return err
	}
	if !*recorded {
		given, err := replies(cmds, l.Questions, r.by)
		if e, ok := errors.AsType[*checkpoint.NotPendingError](err); ok {
			return c.dormant(ctx, l.Loaded, e.Question, c.whoWas(ctx, r.key, err))
		}
		if err != nil {
			return err
		}
		if len(given) > 0 {
			if err := c.try(r, l, cmds); err != nil {
				return err
			}
			if err := c.answer(ctx, r, given, l.Questions); err != nil {
				return err
			}
			crashpoint.Hit("answered")
			*recorded = true
			return c.prepareResume(ctx, r, cmds, recorded)
		}
	}
	if c.nextQueued(r, l, cmds, *recorded) {
		if c.worked(&l.Head) {
			return c.busy(r.thread, l)
		}
		if l.Head.Held() { // its run had ended, but its process died holding the thread
			return c.unlock(r, l)
		}
		return c.startQueued(ctx, r, l)
	}
	switch {
	case *recorded && l.Head.Status == checkpoint.Completed:
		return r.adopt(l)
	case *recorded && l.Head.Status == checkpoint.Cancelled:
		return ErrCancelled
	case l.Head.Status == checkpoint.Completed || l.Head.Status == checkpoint.Cancelled:
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

// nextQueued reports whether resuming means to start an input that waits: nothing else is left to do. After a failure
// that is so when nobody has asked for the failed run itself.
func (c *core) nextQueued(r *run, l *loaded, cmds []Command, recorded bool) bool {
	sweep := swept(cmds)
	r.swept = sweep
	if recorded || len(cmds) > 0 && !sweep || len(c.queued(l.Inbox, r.passed)) == 0 {
		return false
	}
	return l.Head.Status.Ended() && (sweep || l.Head.Status != checkpoint.Failed)
}

func swept(cmds []Command) bool {
	return slices.ContainsFunc(cmds, func(c Command) bool { return c.sweep })
}

// try finds out whether the writes and gotos of a call fit, before its answers are recorded.
func (c *core) try(r *run, l *loaded, cmds []Command) (err error) {
	r.log, r.step = l.log, l.log.EntryStep+1
	if r.head, err = c.restore(r.thread, l.log); err != nil {
		return err
	}
	_, err = r.edited(cmds)
	return err
}

// adopt takes the end of the run as this call's own: somebody else has used the answers it recorded.
func (r *run) adopt(l *loaded) (err error) {
	r.log, r.id, r.over = l.log, l.log.Run, true
	r.step, r.startStep = l.log.EntryStep+1, l.log.Start
	r.head, err = r.c.restore(r.thread, l.log)
	return err
}

// answer records answers; a refusal names the question and who was faster.
func (c *core) answer(ctx context.Context, r *run, given []checkpoint.Reply, rows []checkpoint.Question) error {
	err := persist(ctx, c.opts.StorePatience, 0, func(ctx context.Context) error {
		_, err := c.store.Answer(ctx, r.key, given)
		return err
	})
	if errors.Is(err, checkpoint.ErrNotPending) && c.mine(ctx, r, given) {
		return nil // the first attempt had succeeded, and its reply was lost
	}
	return err
}

// whoWas completes the refusal of an answer with who was faster: a question that its task has used up is not loaded any more.
// The reply names something that was never shown, so that it is refused whatever has become of the question.
func (c *core) whoWas(ctx context.Context, key checkpoint.Key, refusal error) error {
	late, ok := errors.AsType[*checkpoint.NotPendingError](refusal)
	if !ok || late.State != checkpoint.Closed {
		return refusal
	}
	_, err := c.store.Answer(ctx, key, []checkpoint.Reply{{Question: late.Question, Shown: []byte("never shown"), Value: []byte("null")}})
	if known, ok := errors.AsType[*checkpoint.NotPendingError](err); ok {
		return known
	}
	return refusal
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
	if err := c.closable(r.thread, l); err != nil {
		return err
	}
	nonce := checkpoint.NewNonce()
	r.takeRows(l.Questions)
	r.rebuild(l)
	r.open(l, nonce, l.Head.Epoch+1)
	a := &checkpoint.Acquire{Key: r.key, Mode: checkpoint.Free, Epoch: l.Head.Epoch, Nonce: nonce, TTL: c.opts.Lease, Holder: procid.Self(), Resume: true}
	takeover := l.Head.Held()
	if !takeover && !r.canGoOn(cmds, l.Head.Status) && r.cancelIn(l.Inbox) == nil {
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
	if takeover {
		r.note("taken over", "epoch", r.epoch.Load(), "host", l.Head.Holder.Host, "pid", l.Head.Holder.PID)
	}
	if err := c.takeOver(r, l, takeover, cmds); err != nil {
		return r.backOut(err, l)
	}
	return nil
}

// takeOver makes the acquired thread ready to run.
func (c *core) takeOver(r *run, l *loaded, takeover bool, cmds []Command) error {
	move := l.move
	if takeover || r.journal.unseen() {
		// What was read before the acquisition does not count: the former holder may have written in between.
		crashpoint.Hit("taken over")
		l, err := c.loadOwn(r)
		if err != nil {
			return err
		}
		if r.cancelled == nil { // what is not going to run need not fit
			err = c.compatible(r.thread, l)
		} else {
			err = c.closable(r.thread, l)
		}
		if err != nil {
			return err
		}
		r.chain.Branch = l.Branch // the former holder may have made another branch
		r.journal.chain = r.chain
		r.journal.pos, r.journal.base = l.log.Pos, l.log.Base
		r.journal.good = r.journal.place
		r.take(l.Loaded)
		r.rebuild(l)
		r.inherit(l.Inbox)
		move = l.move
		if r.crashLoop, err = c.looping(r, l); err != nil {
			return err
		}
	} else {
		r.take(l.Loaded) // a cancel may have been left for whoever comes next
		r.inherit(l.Inbox)
	}
	if c.bare() && reduces(r.log) {
		return errReduces
	}
	head, err := c.restore(r.thread, r.log)
	if err != nil {
		return err
	}
	r.head = head
	if err := r.decodeResults(); err != nil {
		return err
	}
	if err := r.stage(move); err != nil {
		return err
	}
	if r.crashLoop || r.cancelling() {
		return nil
	}
	return r.edit(cmds)
}

// looping reports whether the thread was taken over too often without an entry, in the root or in a child graph. One of the takeovers is
// this one, which has not run anything yet.
func (c *core) looping(r *run, l *loaded) (bool, error) {
	if l.Head.Epoch-(l.log.EntryOrd>>32) <= maxTakeovers {
		return false, nil
	}
	chains, err := c.childrenAt(r.ctx, checkpoint.Chain{Key: r.key, Branch: l.Branch}, l.log, 0)
	for _, ch := range chains {
		if l.Head.Epoch-(ch.log.EntryOrd>>32) <= maxTakeovers {
			return false, nil
		}
	}
	return err == nil, err
}

// loadOwn reads the thread again under the own lease.
func (c *core) loadOwn(r *run) (l *loaded, err error) {
	err = persist(context.WithoutCancel(r.ctx), c.opts.StorePatience, r.weight(), func(ctx context.Context) error {
		l, err = c.load(ctx, r.key)
		return err
	})
	if err == nil && l.Head.Nonce != r.journal.nonce {
		err = checkpoint.ErrHeld
	}
	return l, err
}

// canGoOn reports whether resuming would run anything. What has failed is not tried again unless somebody asks for it.
func (r *run) canGoOn(cmds []Command, status checkpoint.Status) bool {
	asked := !swept(cmds) || status == checkpoint.Running
	for _, c := range cmds {
		if c.write != nil || c.goTo != nil || c.force {
			return true
		}
	}
	waiting := false
	for _, t := range r.current {
		failed := r.log.Results[t.id()] // or finished
		if t.phase != phaseEnd && !t.waiting && (asked || failed == nil || failed.Handler) {
			return true
		}
		waiting = waiting || t.waiting
	}
	return !waiting && asked
}

// backOut gives a thread back that was taken for a call that turned out to be wrong. The thread gets its status back, and if an
// answer came in meanwhile, somebody must use it: its giver was told that the holder would.
func (r *run) backOut(cause error, was *loaded) error {
	why := &record.Pause{Run: was.log.Run, Reason: record.ReasonStopped, Error: cause.Error()}
	if was.log.Pause != nil {
		why = was.log.Pause
	}
	err := r.giveBack(&checkpoint.Park{Status: was.Head.Status, Error: why.Error}, why)
	r.c.forget(r)
	if err == nil && r.answered() {
		r.c.goOn(r.thread, r.ro)
	}
	return errors.Join(cause, err)
}

// giveBack parks a thread and frees it, whatever comes in meanwhile.
func (r *run) giveBack(park *checkpoint.Park, why *record.Pause) error {
	b, err := r.addWith(nil, park, item{kind: checkpoint.KindPause, step: r.step, body: why})
	if err != nil {
		return err
	}
	ack, err := r.journal.flush(b)
	for released := ack.Released; err == nil && !released; {
		if err = r.reload(); err == nil {
			released, err = r.release()
		}
	}
	return err
}

// release frees the thread if nothing has come in that the run has not looked at.
func (r *run) release() (released bool, err error) {
	err = persist(detached(r.ctx), r.c.opts.StorePatience, 0, func(ctx context.Context) (err error) {
		released, err = r.c.store.Release(ctx, checkpoint.Lease{Key: r.key, Nonce: r.journal.nonce}, r.journal.seenInbox())
		return err
	})
	return released, err
}

// answered reports whether an answer waits to be used.
func (r *run) answered() bool {
	r.answerMu.Lock()
	defer r.answerMu.Unlock()
	for _, q := range r.answers {
		if q.State == checkpoint.Answered {
			return true
		}
	}
	return false
}

// goOn continues a thread on behalf of the App. What a closed App leaves is for the next process.
func (c *core) goOn(th Thread, ro RunOptions) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.bare() {
		return
	}
	c.serving.Go(func() {
		r, err := c.resume(context.Background(), th, ro, []Command{{sweep: true}})
		if err == nil {
			r.swept = false // nobody else looks after what comes next
			r.start()
			err = r.wait()
		}
		if l := c.opts.Logger; l != nil && err != nil {
			l.Info("continued", "graph", c.plan.id.Name, "thread", th.String(), "err", err)
		}
	})
}
