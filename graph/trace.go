package graph

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
)

// A Tracer is told of an App's work while it happens, and may put values into the contexts of that work, so that what a node
// or a store does is seen as a part of it. Package graph/graphotel has one for OpenTelemetry. Its methods must be quick and
// safe for concurrent use, and must not end their goroutine; a panic in one is logged and hurts no run.
type Tracer interface {
	// Begin is called before a run, a superstep or a task begins. What it returns must be made from ctx: it is the context of
	// that work and of everything inside it.
	Begin(ctx context.Context, s Span) context.Context

	// Note is called inside that work, with its context, for what is also a line of the log: a retry, a question, a takeover.
	Note(ctx context.Context, what string, attrs ...slog.Attr)

	// End is called once for each Begin, with the context that Begin returned.
	End(ctx context.Context, s Span)
}

// A SpanKind says what a span is.
type SpanKind string

// The kinds of spans. A run has supersteps, a superstep has tasks, a task may have calls of child graphs.
const (
	RunSpan  SpanKind = "run"       // one call of Run or Resume, also one that is refused
	StepSpan SpanKind = "superstep" // until it is committed, or the run ends
	TaskSpan SpanKind = "task"      // all attempts of it, and its error handler
	CallSpan SpanKind = "call"      // one call of a child graph, inside the task that calls it; it has supersteps in turn
)

// A Span is a stretch of work that a Tracer is told of.
type Span struct {
	Kind   SpanKind
	Graph  string // of a child, its own
	Thread Thread
	Run    string   // empty when a run begins: which one it is comes from the store
	Path   []string // of a child graph: the names of the calls that lead to it
	Step   int64    // in the run, or in the call; of a superstep and a task
	Node   string   // of a task
	Task   string   // of a task

	// Outcome is set at the end: the kind of the event that tells of it. Of a superstep it is EntryCommitted, or how the run has
	// ended instead. It is empty for a run that was refused and for a superstep that begins anew.
	Outcome EventKind
	Attempt int   // of a task, at its end: the last one; 0 for one that was left behind
	Err     error // at the end of what did not succeed; a run that waits has its *Interrupted

	head any
	ops  ops
}

// State is the state after a committed superstep, in its JSON form. It may be called during End only. It costs the size of the
// state; of a Span without one it is an error.
func (s Span) State() (json.RawMessage, error) {
	if s.head == nil {
		return nil, errors.New("graph: only the end of a committed superstep carries a state")
	}
	return s.ops.json(s.head)
}

// beginSpan tells the Tracer. It is called only if there is one.
func (c *core) beginSpan(ctx context.Context, s Span) context.Context {
	inside := ctx
	c.trace(func() { inside = c.opts.Tracer.Begin(ctx, s) })
	return inside
}

func (c *core) endSpan(ctx context.Context, s Span) {
	c.trace(func() { c.opts.Tracer.End(ctx, s) })
}

// trace keeps a panic of the Tracer away from the run.
func (c *core) trace(call func()) {
	err := protected(func() error { call(); return nil })
	if err != nil && c.opts.Logger != nil {
		c.opts.Logger.Info("Tracer panicked", "graph", c.plan.id.Name, "err", err)
	}
}

// callSpan begins the span of a call of Run or Resume. What it returns must be called with the call's outcome: a run that
// starts ends its span itself.
func (c *core) callSpan(ctx context.Context, th Thread) (context.Context, func(*run, error)) {
	if c.opts.Tracer == nil {
		return ctx, func(*run, error) {}
	}
	s := Span{Kind: RunSpan, Graph: c.plan.id.Name, Thread: th}
	ctx = c.beginSpan(ctx, s)
	return ctx, func(r *run, err error) {
		if r != nil {
			r.traced = true
			return
		}
		s.Err = err
		c.endSpan(ctx, s)
	}
}

// endSpans ends the span of the run, and that of a superstep that was not committed.
func (r *run) endSpans(how EventKind, err error) {
	r.endStep(how, err)
	if r.traced {
		s := r.span(RunSpan)
		if r.up != nil {
			s.Kind = CallSpan
		}
		s.Outcome, s.Err = how, err
		r.c.endSpan(r.ctx, s)
	}
}

// beginStep returns the context of the superstep. What the run writes meanwhile is a part of it.
func (r *run) beginStep() context.Context {
	if r.c.opts.Tracer == nil {
		return r.ctx
	}
	r.endStep("", nil) // something came in while the run was about to stop
	s := r.span(StepSpan)
	s.Step = r.step - r.startStep
	ctx := r.c.beginSpan(r.ctx, s)
	r.logMu.Lock()
	defer r.logMu.Unlock()
	r.stepCtx = ctx
	return ctx
}

func (r *run) endStep(how EventKind, err error) {
	if r.stepCtx == nil {
		return
	}
	s := r.span(StepSpan)
	s.Step, s.Outcome, s.Err = r.step-r.startStep, how, err
	if how == EntryCommitted {
		s.head, s.ops = r.head, r.plan.ops
	}
	r.c.endSpan(r.stepCtx, s)
	r.logMu.Lock()
	defer r.logMu.Unlock()
	r.stepCtx = nil
}

// work is the context of what the run writes, if there is a Tracer. The lock of the log is held.
func (r *run) work() context.Context {
	switch {
	case r.c.opts.Tracer == nil:
		return nil
	case r.stepCtx == nil:
		return r.ctx
	}
	return r.stepCtx
}

// beginChildSpan returns the context of a child graph.
func (r *run) beginChildSpan(ctx context.Context) context.Context {
	if r.c.opts.Tracer == nil {
		return ctx
	}
	r.traced = true
	return r.c.beginSpan(ctx, r.span(CallSpan))
}

// beginTask gives the task its context, before anything of it runs.
func (r *run) beginTask(t *task) {
	if r.c.opts.Tracer != nil {
		t.ctx = r.c.beginSpan(t.ctx, t.span())
	}
}

// endTask ends the span of a task that its goroutine has handed back, or that is left behind: then what that goroutine still
// changes must not be looked at.
func (r *run) endTask(t *task, how EventKind, attempt int, err error) {
	if r.c.opts.Tracer == nil {
		return
	}
	s := t.span()
	s.Outcome, s.Attempt, s.Err = how, attempt, err
	r.c.endSpan(t.ctx, s)
}

func (r *run) span(kind SpanKind) Span {
	return Span{Kind: kind, Graph: r.plan.id.Name, Thread: r.thread, Run: r.root.id, Path: r.path}
}

func (t *task) span() Span {
	s := t.r.span(TaskSpan)
	s.Step, s.Node, s.Task = t.runs, t.node.name, t.id()
	return s
}

// note writes a line about a run and tells its Tracer the same.
func (r *run) note(msg string, args ...any) { r.noteIn(r.ctx, msg, args) }

// note is about a task.
func (t *task) note(msg string, args ...any) {
	t.r.noteIn(t.ctx, msg, append([]any{"node", t.node.name, "task", t.id()}, args...))
}

func (r *run) noteIn(ctx context.Context, msg string, args []any) {
	if r.up != nil {
		args = append(args, "path", strings.Join(r.path, "/"))
	}
	r.c.log(r, msg, args...)
	if r.c.opts.Tracer != nil {
		r.c.trace(func() { r.c.opts.Tracer.Note(ctx, msg, attrs(args)...) })
	}
}
