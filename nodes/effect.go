package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory/pin"
	"github.com/holdfast-go/holdfast/message"
)

// An effect is what is recorded of a call. Where nobody knows whether it happened, a person says so with a text or a value.
type effect struct {
	Status message.Status  `json:"status,omitzero" enum:"ok,error,cancelled,crashed,timed_out,denied"` // empty: ok
	Text   string          `json:"text,omitzero"`
	Parts  []message.Part  `json:"parts,omitzero"`
	Value  json.RawMessage `json:"value,omitzero"` // what the function returned, of a call that went well
	Args   json.RawMessage `json:"args,omitzero"`  // that it ran with, if a wrapper has changed them
}

// failed is what a call comes to that did not run, or failed.
func failed(s message.Status, format string, args ...any) *effect {
	return &effect{Status: s, Text: fmt.Sprintf(format, args...)}
}

// ofError is what an error of a tool comes to.
func ofError(err error) *effect {
	if _, late := errors.AsType[*lateError](err); late {
		return failed(message.StatusTimedOut, "%v", err)
	}
	return failed(message.StatusError, "%v", err)
}

// ofResult is what a wrapper made of a call.
func ofResult(r message.Result) *effect {
	switch r.Status {
	case "", message.StatusOK:
		return &effect{Parts: r.Parts}
	case message.StatusError, message.StatusCancelled, message.StatusCrashed, message.StatusTimedOut, message.StatusDenied:
		return &effect{Status: r.Status, Parts: r.Parts}
	}
	return &effect{Status: message.StatusError, Parts: r.Parts}
}

// ok reports whether the call went well.
func (e *effect) ok() bool { return e.Status == "" || e.Status == message.StatusOK }

// result is how the model reads it: valid whatever a tool or a person has written.
func (e *effect) result(c message.Call) message.Result {
	r := message.Result{CallID: c.ID, Name: c.Name, Status: e.Status}
	if r.Status == "" {
		r.Status = message.StatusOK
	}
	parts := e.Parts
	if e.Text != "" || len(parts) == 0 {
		parts = append([]message.Part{message.Text(e.Text)}, parts...)
	}
	for _, p := range parts {
		p.Text = strings.ToValidUTF8(p.Text, "\uFFFD")
		switch {
		case p.Kind == message.KindText && strings.TrimSpace(p.Text) != "":
			r.Parts = append(r.Parts, message.Text(p.Text))
		case p.Kind == message.KindImage && p.Image != nil:
			r.Parts = append(r.Parts, message.Part{Kind: message.KindImage, Image: p.Image})
		}
	}
	if len(r.Parts) == 0 {
		r.Parts = []message.Part{message.Text(e.wordless())}
	}
	return r
}

// wordless is what is said of a result without words.
func (e *effect) wordless() string {
	switch {
	case !e.ok():
		return "It failed and did not say why."
	case len(e.Value) > 0:
		return strings.ToValidUTF8(string(e.Value), "\uFFFD")
	}
	return "It is done; there is nothing to show."
}

// stops reports whether an error is no failure of a tool: a question waits, or the thread is another process's.
func stops(err error) bool { return graph.Waits(err) || errors.Is(err, graph.ErrStale) }

// A chain is one call of a function with its wrappers.
type chain struct {
	job   *job
	call  message.Call    // as it was allowed
	run   context.Context // of the task: when it ends the run has ended
	key   string
	stop  error // that no wrapper can change: the call waits, or its run has ended
	left  error // that the function was left behind: it is not called beside itself
	value json.RawMessage
	args  string // of value
}

// perform runs a call that may run. The result is recorded, unless doing it again is harmless. An error is no result.
func (w *job) perform(ctx context.Context, c message.Call) (*effect, error) {
	run := func(ctx context.Context, key string) (*effect, error) {
		return (&chain{job: w, call: c, run: ctx, key: key}).effect()
	}
	if w.tool.readOnly || w.tool.inline {
		info, _ := graph.Info(ctx)
		return run(ctx, info.Key)
	}
	return graph.Once(ctx, "tool", run, graph.OnceOptions{OnUnknown: w.tool.unknown})
}

// effect calls the wrappers, the last one first.
func (h *chain) effect() (*effect, error) {
	next := h.last
	for _, around := range h.job.tool.wraps {
		inner := next
		next = func(ctx context.Context, c message.Call) (message.Result, error) { return around(ctx, c, inner) }
	}
	r, err := next(h.job.context(h.run, h.call, h.key), h.call)
	switch {
	case h.stop != nil:
		return nil, h.stop
	case err != nil && h.run.Err() != nil:
		return nil, context.Cause(h.run)
	case err != nil && (stops(err) || isFatal(err)):
		return nil, err
	case err != nil:
		h.job.logPanic(err)
		return ofError(err), nil
	}
	e := ofResult(r)
	if e.ok() {
		e.Value = h.value
		if h.args != h.call.Args && h.value != nil {
			e.Args = json.RawMessage(h.args)
		}
	}
	return e, nil
}

// last is the next of the innermost wrapper: the function itself, behind a gate of its own.
func (h *chain) last(ctx context.Context, c message.Call) (message.Result, error) {
	if err := errors.Join(h.stop, h.left); err != nil {
		return message.Result{}, err
	}
	c.ID, c.Name, c.Args = h.call.ID, h.call.Name, argsOf(c)
	if refusal := h.changed(ctx, c); refusal != nil {
		return refusal.result(c), nil
	}
	h.value = nil
	r := h.job.tool.attempt(h.job.context(ctx, c, h.key), json.RawMessage(c.Args), h.run)
	if r.err != nil {
		h.remember(r.err)
		return message.Result{}, r.err
	}
	h.value, h.args = r.value, c.Args
	return (&effect{Parts: r.parts}).result(c), nil
}

// remember keeps what wrappers cannot change.
func (h *chain) remember(err error) {
	late, ok := errors.AsType[*lateError](err)
	switch {
	case h.run.Err() != nil:
		h.stop = context.Cause(h.run)
	case stops(err):
		h.stop = err
	case ok && late.left:
		h.left = err
	}
}

// changed refuses arguments that a wrapper has put in the place of those that were allowed, unless they would have been
// allowed without a decision.
func (h *chain) changed(ctx context.Context, c message.Call) *effect {
	if decisionKey(c) == decisionKey(h.call) {
		return nil
	}
	w := *h.job
	w.call = c
	if e := w.refused(); e != nil {
		return e
	}
	if v, _ := w.tool.judge(w.context(ctx, c, h.key), w.turn, c); v.Decision == pin.Ask {
		return failed(message.StatusDenied, "The arguments were changed on the way, and nobody has decided about the new ones.")
	}
	return nil
}
