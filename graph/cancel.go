package graph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// A cancelBody is what a cancel command carries.
type cancelBody struct {
	Run   string `json:"run"`
	By    string `json:"by,omitzero"`
	Input bool   `json:"input,omitzero"` // whoever cancels has an input that comes before those in the inbox
	Back  bool   `json:"back,omitzero"`  // the thread goes back to before the run
}

// A cancelling is one call that ends a run for good.
type cancelling struct {
	run   string // which run; empty: whichever is the latest
	input bool   // to make room for an input
	fence bool   // take the thread although its holder lives
	back  bool   // go back to before the run
	// posted is the run whose holder was told. Once it is set, a second look may find that the run has ended.
	posted string
	target string // the run that was looked at last
}

// cancelThread ends a thread's run for good.
func (c *core) cancelThread(ctx context.Context, th Thread, ro RunOptions, run string) error {
	if c.store == nil {
		return ErrNoStore
	}
	if err := c.checkCall(th, ro); err != nil {
		return err
	}
	var err error
	call := cancelling{run: run}
	for range mostTries {
		if err = c.cancelOnce(ctx, th, ro, &call); !isHeld(err) {
			return err
		}
	}
	return c.outrun(ctx, th, err)
}

// cancelOnce cancels the run, or leaves the cancel to its holder and notes that it did so.
func (c *core) cancelOnce(ctx context.Context, th Thread, ro RunOptions, call *cancelling) error {
	l, err := c.load(ctx, th.key())
	if err != nil {
		return err
	}
	call.target = l.Head.Run
	order := cancelBody{Run: l.Head.Run, By: ro.By, Input: call.input, Back: call.back}
	switch {
	case l.Head.Epoch == 0:
		return fmt.Errorf("%w: %s", ErrNoThread, th)
	case activeOnly(th, l.Loaded) != nil:
		return activeOnly(th, l.Loaded)
	case call.run != "" && call.run != l.Head.Run:
		return c.cancelQueued(ctx, l, cancelBody{Run: call.run, By: ro.By})
	case l.Head.Status == checkpoint.Cancelled && l.Head.Run == call.posted:
		return nil
	case l.Head.Status == checkpoint.Completed || l.Head.Status == checkpoint.Cancelled:
		return ErrNothingToDo
	}
	if call.back {
		if err := c.canGoBack(ctx, l); err != nil {
			return err
		}
	}
	if c.worked(&l.Head) && !call.fence {
		call.posted = l.Head.Run
		return c.postCancel(ctx, l, order)
	}
	r := c.newRun(ctx, th, ro)
	if err := c.enroll(r); err != nil {
		r.cancel(nil)
		return err
	}
	if r.cancelled, err = commandOf(order); err == nil {
		err = c.takeUp(r, l, []Command{{force: true}})
	}
	if err != nil {
		c.discard(r)
		if errors.Is(err, errReduces) {
			return c.leaveCancel(ctx, l, order)
		}
		return err
	}
	r.start()
	if err := r.wait(); !errors.Is(err, ErrCancelled) {
		return err
	}
	return nil
}

func commandOf(order cancelBody) (*checkpoint.Command, error) {
	body, err := json.Marshal(order)
	request := "cancel " + order.Run
	if order.Back { // it says more than a cancel that may be there already
		request = "rollback " + order.Run
	}
	return &checkpoint.Command{Kind: checkpoint.CommandCancel, Request: request, Body: body}, err
}

// worked reports whether somebody who may be alive works on the thread.
func (c *core) worked(h *checkpoint.Head) bool { return h.Held() && !h.Expired && !c.dead(h) }

// postCancel leaves the cancel to whoever holds the thread, and wakes it if it is in this process.
func (c *core) postCancel(ctx context.Context, l *loaded, order cancelBody) error {
	cmd, err := commandOf(order)
	if err != nil {
		return err
	}
	cmd.Key = l.Head.Key
	if err := c.post(ctx, &l.Head, cmd); err != nil {
		return err
	}
	run := l.Head.Run
	if l, err = c.load(ctx, l.Head.Key); err != nil {
		return err
	}
	switch {
	case c.worked(&l.Head) || l.Head.Run != run || l.Head.Status == checkpoint.Cancelled:
		return nil
	case l.Head.Status == checkpoint.Completed:
		return ErrNothingToDo
	default:
		return checkpoint.ErrHeld // the holder had left before the command came: look again
	}
}

// post puts a command into the inbox of a thread, and wakes its holder if that is in this process.
func (c *core) post(ctx context.Context, h *checkpoint.Head, cmd *checkpoint.Command) error {
	err := persist(ctx, c.opts.StorePatience, len(cmd.Body), func(ctx context.Context) error {
		_, err := c.store.Post(ctx, *cmd)
		return err
	})
	if r, ok := held.Load(h.Nonce); ok && err == nil {
		r.(*run).peek()
	}
	return err
}

// cancelling reports whether somebody wants the run to end for good.
func (r *run) cancelling() bool {
	return r.up == nil && r.cancelled != nil || context.Cause(r.ctx) == errCancel
}

// order is the cancel that ends the run.
func (r *run) order() (b cancelBody) {
	if r.cancelled != nil && unmarshal(r.cancelled.Body, &b) != nil {
		return cancelBody{}
	}
	return b
}

// cancelIn finds a cancel of this run.
func (r *run) cancelIn(cmds []checkpoint.Command) *checkpoint.Command { return cancelOf(r.id, cmds) }

// cancelOf finds a cancel of a run: of several the one that also takes it back, or else the first.
func cancelOf(run string, cmds []checkpoint.Command) (first *checkpoint.Command) {
	for i := range cmds {
		var b cancelBody
		if cmds[i].Kind != checkpoint.CommandCancel || json.Unmarshal(cmds[i].Body, &b) != nil || b.Run != run {
			continue
		}
		if b.Back {
			return &cmds[i]
		}
		if first == nil {
			first = &cmds[i]
		}
	}
	return first
}
