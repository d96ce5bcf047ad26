package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

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
	return &effect{Status: s, Text: validText(fmt.Sprintf(format, args...))}
}

// validText is a text that can be recorded, whoever wrote it.
func validText(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// ofError is what an error of a tool comes to.
func ofError(err error) *effect {
	if _, late := errors.AsType[*lateError](err); late {
		return failed(message.StatusTimedOut, "%v", err)
	}
	return failed(message.StatusError, "%v", err)
}

// ofResult is what a wrapper made of a call. It can be recorded: what cannot would be done again.
func ofResult(r message.Result) *effect {
	e := &effect{Status: r.Status, Parts: readable(r.Parts)}
	switch r.Status {
	case message.StatusOK:
		e.Status = ""
	case "", message.StatusError, message.StatusCancelled, message.StatusCrashed, message.StatusTimedOut, message.StatusDenied:
	default:
		e.Status = message.StatusError
	}
	return e
}

// readable are the parts that a model can be shown.
func readable(parts []message.Part) (out []message.Part) {
	for _, p := range parts {
		switch {
		case p.Kind == message.KindText && strings.TrimSpace(p.Text) != "":
			out = append(out, message.Text(validText(p.Text)))
		case p.Kind == message.KindImage && p.Image != nil:
			out = append(out, picture(*p.Image))
		}
	}
	return out
}

// picture is an image by its bytes or else by its address. What is none would make every provider refuse the history.
func picture(i message.Image) message.Part {
	kind := i.MediaType
	if kind == "" {
		kind = http.DetectContentType(i.Data)
	}
	switch {
	case len(i.Data) > 0 && strings.HasPrefix(kind, "image/"):
		return message.ImageData(validText(kind), i.Data)
	case len(i.Data) > 0:
		return message.Text(validText(fmt.Sprintf("[%d bytes of %s are no image, and not shown.]", len(i.Data), kind)))
	case i.URL != "":
		return message.ImageURL(validText(i.URL))
	}
	return message.Text("[An image without bytes or address is not shown.]")
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
	if r.Parts = readable(parts); len(r.Parts) == 0 {
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
		return string(e.Value)
	}
	return "It is done; there is nothing to show."
}

// stops reports whether an error is no failure of a tool: a question waits, or the thread is another process's.
func stops(err error) bool { return graph.Waits(err) || errors.Is(err, graph.ErrStale) }

// A chain is one call of a function with its wrappers.
type chain struct {
	job  *job
	call message.Call    // as it was allowed
	run  context.Context // of the task: when it ends the run has ended
	key  string

	mu    sync.Mutex // held while the function is called, of all that follows: wrappers may have goroutines
	over  bool       // the outermost wrapper has returned
	stop  error      // that no wrapper can change: the call waits, or its run has ended
	left  error      // that the function was left behind: it is not called beside itself
	value json.RawMessage
	args  string // of value
}

// onceTool is the name of the effect of a call.
const onceTool = "tool"

// errNotDone keeps a look at what is recorded from being recorded.
var errNotDone = errors.New("nothing is recorded")

// recorded looks whether the call was done before: then that is what it came to, whatever would be decided about it now. It
// costs no write.
func (w *job) recorded(ctx context.Context) (bool, error) {
	e, err := graph.Once(ctx, onceTool, func(context.Context, string) (*effect, error) { return nil, errNotDone })
	if errors.Is(err, errNotDone) {
		return false, nil
	}
	w.done = e
	return err == nil, err
}

// perform runs a call that may run. The result is recorded, unless doing it again is harmless. An error is no result.
func (w *job) perform(ctx context.Context) (*effect, error) {
	if w.done != nil {
		return w.done, nil
	}
	run := func(ctx context.Context, key string) (*effect, error) {
		return (&chain{job: w, call: w.call, run: ctx, key: key}).effect()
	}
	if w.tool.readOnly || w.tool.inline {
		info, _ := graph.Info(ctx)
		return run(ctx, info.Key)
	}
	return graph.Once(ctx, onceTool, run, graph.OnceOptions{OnUnknown: w.tool.unknown})
}

// effect calls the wrappers, the last one first.
func (h *chain) effect() (*effect, error) {
	next := h.last
	for _, around := range h.job.tool.wraps {
		inner := next
		next = func(ctx context.Context, c message.Call) (message.Result, error) { return around(ctx, c, inner) }
	}
	r, err := h.finished(next)
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

// finished calls the outermost wrapper, and then waits for a function that it has not waited for: a question of it holds all
// the same.
func (h *chain) finished(next func(context.Context, message.Call) (message.Result, error)) (message.Result, error) {
	ctx, stop := context.WithCancel(h.run)
	r, err := guarded(func() (message.Result, error) { return next(h.job.context(ctx, h.call, h.key), h.call) })
	stop()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	return r, err
}

var errOver = errors.New("the call is over: its outermost wrapper has returned")

// last is the next of the innermost wrapper: the function itself, behind a gate of its own.
func (h *chain) last(ctx context.Context, c message.Call) (message.Result, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return message.Result{}, errOver
	}
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
