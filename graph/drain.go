package graph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/record"
)

// A drainBody is what a drain command carries. It is for one acquisition of the thread: whoever holds it under a later one
// has been asked to go on.
type drainBody struct {
	Run    string `json:"run"`
	Epoch  int64  `json:"epoch"`
	Reason string `json:"why,omitzero"`
}

// drainThread stops one thread's run at its next superstep boundary.
func (c *core) drainThread(ctx context.Context, th Thread, ro RunOptions, reason string) error {
	if c.store == nil {
		return ErrNoStore
	}
	if err := c.checkCall(th, ro); err != nil {
		return err
	}
	var err error
	posted := ""
	for range mostTries {
		if err = c.drainOnce(ctx, th, ro, reason, &posted); !isHeld(err) {
			return err
		}
	}
	return c.outrun(ctx, th, err)
}

// drainOnce leaves the drain to the run's holder, or parks a run that nobody works on.
func (c *core) drainOnce(ctx context.Context, th Thread, ro RunOptions, reason string, posted *string) error {
	l, err := c.load(ctx, th.key())
	if err != nil {
		return err
	}
	h := &l.Head
	switch {
	case h.Epoch == 0:
		return fmt.Errorf("%w: %s", ErrNoThread, th)
	case activeOnly(th, l.Loaded) != nil:
		return activeOnly(th, l.Loaded)
	case h.Status != checkpoint.Running && h.Run == *posted:
		return nil // it has stopped, for whatever reason
	case h.Status != checkpoint.Running:
		return ErrNothingToDo
	case c.worked(h):
		*posted = h.Run
		return c.postDrain(ctx, l, reason)
	case c.bare():
		return ErrNoProgram // whoever recovers the run can park it
	}
	r := c.newRun(ctx, th, ro)
	if err := c.enroll(r); err != nil {
		r.cancel(nil)
		return err
	}
	if err := c.takeUp(r, l, []Command{{force: true}}); err != nil {
		c.discard(r)
		return err
	}
	r.drained.Store(&reason)
	r.start()
	if err := r.wait(); err != nil && !errors.Is(err, ErrDrained) {
		return err
	}
	return nil
}

// postDrain leaves the drain to whoever holds the thread.
func (c *core) postDrain(ctx context.Context, l *loaded, reason string) error {
	body, err := json.Marshal(drainBody{l.Head.Run, l.Head.Epoch, reason})
	if err != nil {
		return err
	}
	err = c.post(ctx, &l.Head, &checkpoint.Command{
		Key: l.Head.Key, Kind: checkpoint.CommandDrain, Request: "drain " + strconv.FormatInt(l.Head.Epoch, 10), Body: body,
	})
	if err != nil {
		return err
	}
	h, err := c.headOf(ctx, l.Head.Key)
	if err != nil || c.worked(h) && h.Epoch == l.Head.Epoch || h.Run != l.Head.Run || h.Status != checkpoint.Running {
		return err
	}
	return checkpoint.ErrHeld // the holder had left before the command came: look again
}

// heed notes a drain of this run that fits.
func (r *run) heed(cmds []checkpoint.Command, fits func(*drainBody) bool) {
	for i := range cmds {
		var b drainBody
		if cmds[i].Kind == checkpoint.CommandDrain && json.Unmarshal(cmds[i].Body, &b) == nil && b.Run == r.id && fits(&b) {
			r.drained.Store(&b.Reason)
		}
	}
}

// inherit heeds a drain whose holder has died: neither he nor anybody after him has written an entry or a pause since.
func (r *run) inherit(cmds []checkpoint.Command) {
	r.heed(cmds, func(b *drainBody) bool {
		last := r.log.EntryOrd >> 32
		return last < b.Epoch || last == b.Epoch && r.log.Pause == nil
	})
}

// draining reports whether the run is asked to stop at the next boundary.
func (r *run) draining() bool { return r.root.drained.Load() != nil || r.c.draining() }

// drainedNow is why a run stops at a boundary. One whose App is closing waits for nobody: whoever recovers goes on. One that
// was drained by itself waits until somebody resumes it; otherwise the next round of Serve would undo the drain.
func (r *run) drainedNow() *pause {
	err, status := ErrDrained, checkpoint.Running
	if why := r.root.drained.Load(); why != nil {
		status = checkpoint.Interrupted
		if *why != "" {
			err = fmt.Errorf("%w: %s", ErrDrained, *why)
		}
	}
	return &pause{status, &record.Pause{Run: r.id, Reason: record.ReasonDrain, Error: err.Error()}, err}
}
