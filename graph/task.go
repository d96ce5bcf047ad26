package graph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/crashpoint"
	"github.com/holdfast-go/holdfast/internal/record"
)

// A task is one execution of a node in one superstep. Its identity is fixed when it is scheduled. Its outcome is written
// by the goroutine that executes it and read by the one that drives the run, after a hand-over; a task that is abandoned
// is replaced by its successor, so that a late goroutine writes where nobody reads.
type task struct {
	r        *run
	node     *node
	step     int64 // the step that scheduled it
	index    int
	name     atomic.Pointer[string] // its id; made when first asked for, by whoever asks
	arg      json.RawMessage
	time     time.Duration
	deferred bool

	phase    phase
	out      *call // the attempt that succeeded
	err      error // why it has no result
	handled  string
	marker   bool     // the log says that its handler has the word
	cause    error    // what the handler deals with
	recorded bool     // the log has its result
	waiting  bool     // some of its questions have no answer yet
	late     []string // questions that had expired without a default when it failed
	fresh    bool     // scheduled under this acquisition, so that nothing of it is recorded
	attempt  int
	fate     atomic.Uint32 // who has the word on a task that runs in a goroutine of its own
	first    call

	// Facts of the superstep that runs it, set before it starts: a late goroutine must not read what the driver changes.
	ctx  context.Context
	head any
	at   int64 // step in the chain
	runs int64 // step in the run
	left int   // supersteps that this call may still run
}

// A phase says where a task goes on after user code ended its goroutine.
type phase uint8

const (
	phaseNode phase = iota
	phaseHandler
	phaseEnd
)

// The fates of a task. Its goroutine and the driver each try to leave fateOpen; one of them does.
const (
	fateOpen       uint32 = iota
	fateHandedBack        // it has returned
	fateLeft              // abandoned: a successor has taken its place
)

var errExit = &PanicError{Value: "runtime.Goexit was called"}

// errStopped is the outcome of a task that will run again: the run's context ended, or it was never started.
var errStopped = errors.New("graph: stopped before it finished")

func (t *task) id() string {
	if name := t.name.Load(); name != nil {
		return *name
	}
	name := strconv.FormatInt(t.step, 10) + "." + strconv.Itoa(t.index)
	t.name.Store(&name)
	return name
}

func (t *task) scheduled() record.Task {
	return record.Task{ID: t.id(), Node: t.node.name, Arg: t.arg, Deferred: t.deferred, Time: t.time}
}

// successor is the same task, to be run again: after it was abandoned, or by a later superstep of a resumed run.
func (t *task) successor(err error) *task {
	return &task{r: t.r, node: t.node, step: t.step, index: t.index, arg: t.arg, time: t.time, deferred: t.deferred, phase: phaseEnd, err: err, fresh: t.fresh}
}

// execute runs the task to its outcome. If user code ends the goroutine it is called again in another one and goes on
// behind that code.
func (t *task) execute() {
	for t.phase != phaseEnd {
		switch t.phase {
		case phaseNode:
			t.phase, t.err = phaseHandler, errExit
			t.err = t.attempts()
		case phaseHandler:
			t.phase = phaseEnd
			if t.err == nil || t.node.handler == nil || !t.handleable() {
				continue
			}
			t.cause = t.err
			t.err = errExit
			t.err = t.handle(t.cause)
		}
	}
}

// attempts runs the node until it succeeds, or fails for good.
func (t *task) attempts() error {
	p := &t.node.policy
	for n := t.attempt + 1; ; n++ {
		t.attempt = n
		c := &t.first
		if n > 1 {
			c = new(call)
		}
		c.begin(t, n, t.ctx)
		err := c.guard((*call).body)
		c.seal()
		t.late = c.late
		if err == nil {
			t.out = c
			return nil
		}
		if s := c.suspended(err); s {
			t.out = c
			return err
		}
		switch {
		case t.ctx.Err() != nil:
			return fmt.Errorf("%w: %w", errStopped, err)
		case errors.Is(err, ErrSwallowed), errors.Is(err, ErrStepLimit):
			return err
		case !errors.Is(err, ErrTimeout) && c.hid(err):
			return fmt.Errorf("%w: %w", ErrSwallowed, err)
		case n >= p.Attempts || isPanic(err):
			return err
		}
		again, wait, perr := p.again(n, err)
		if perr != nil {
			return fmt.Errorf("%w; deciding about another attempt after: %w", perr, err)
		}
		if !again {
			return err
		}
		t.r.taskEvent(t, TaskRetried, err)
		t.note("retry", "attempt", n, "wait", wait, "err", err)
		if sleep(t.ctx, t.r.c.opts.Clock, wait) != nil {
			return fmt.Errorf("%w: %w", errStopped, err)
		}
	}
}

func isPanic(err error) bool {
	_, ok := errors.AsType[*PanicError](err)
	return ok
}

// handleable reports whether the outcome is one for an error handler.
func (t *task) handleable() bool {
	return !t.asked() && !errors.Is(t.err, errStopped) && !errors.Is(t.err, ErrStale) && !errors.Is(t.err, ErrSwallowed)
}

// asked reports whether the task waits for answers.
func (t *task) asked() bool {
	return t.out != nil && t.err != nil && (len(t.out.asked) > 0 || t.out.held)
}

// handle runs the error handler. That it runs, and not the node, is durable before it starts.
func (t *task) handle(cause error) error {
	if !t.marker {
		err := t.r.record(t, &record.Result{Done: record.Done{ID: t.id(), Node: t.node.name, Attempt: t.attempt}, Fail: cause.Error(), Handler: true})
		if err != nil {
			return err
		}
		t.marker = true
	}
	c := new(call)
	c.begin(t, t.attempt, t.ctx)
	err := c.guard((*call).handlerBody)
	c.seal()
	t.late = append(t.late, c.late...)
	if err == nil || c.suspended(err) {
		t.out, t.handled = c, cause.Error()
		return err
	}
	if t.ctx.Err() != nil {
		return fmt.Errorf("%w: %w", errStopped, err)
	}
	return fmt.Errorf("handler: %w; it was handling: %w", err, cause)
}

// body is one attempt: the node, its routes, and the encoding of what it wrote.
func (c *call) body() error {
	t := c.t
	view := t.r.plan.ops.view(t.head)
	var arg any
	if t.node.arg != nil {
		var err error
		if arg, err = t.node.arg(t.arg); err != nil {
			return fmt.Errorf("argument: %w", err)
		}
	}
	if t.node.cache != nil {
		if hit, err := c.recall(arg); hit || err != nil {
			return err
		}
	}
	crashpoint.Hit("node")
	next, err := t.node.fn(c, view, arg)
	crashpoint.Hit("node returned")
	if err != nil {
		return err
	}
	if t.node.mount != nil && !next.empty() { // the child has escaped
		c.redirected = true
		if err := c.follow(next, t.node.targets, t.node.name); err != nil {
			return err
		}
		return c.close(view)
	}
	if t.node.branch {
		if next.empty() {
			return &RouteError{t.node.name, "", "it returned the zero Next; to stop return graph.To(graph.End)"}
		}
		if err := c.follow(next, t.node.targets, t.node.name); err != nil {
			return err
		}
	}
	if err := c.leave(view); err != nil {
		return err
	}
	return c.close(view)
}

// handlerBody is the error handler in the place of the node.
func (c *call) handlerBody() error {
	t := c.t
	h := t.node.handler
	view := t.r.plan.ops.view(t.head)
	next, err := h.fn(c, view, t.cause)
	if err != nil {
		return err
	}
	if !next.empty() {
		err = c.follow(next, h.targets, "handler of "+t.node.name)
		c.redirected = true
	} else {
		err = c.leave(view)
	}
	if err != nil {
		return err
	}
	return c.close(view)
}

// leave adds the node's edges and what its routes say.
func (c *call) leave(view any) error {
	n := c.t.node
	if c.to == nil {
		c.to = slices.Clip(n.edges) // shared; a route's targets are appended to a copy
	} else {
		c.to = append(c.to, n.edges...)
	}
	for _, r := range n.routes {
		sub := c.t.r.plan.ops.sub(view)
		next, err := r.fn(c, sub)
		if err != nil {
			return fmt.Errorf("route: %w", err)
		}
		if f := c.t.r.plan.ops.wrote(sub); f != "" {
			return &RouteError{n.name, "", "it wrote field " + f + "; only nodes write"}
		}
		if next.empty() {
			return &RouteError{n.name, "", "it returned the zero Next; to stop return graph.To(graph.End)"}
		}
		if err := c.follow(next, r.targets, n.name); err != nil {
			return err
		}
	}
	return nil
}

// follow checks targets against what was declared and adds them.
func (c *call) follow(next Next, declared []string, from string) error {
	if next.err != nil {
		return next.err
	}
	p := c.t.r.plan
	err := next.targets(func(t string) error {
		if err := p.checkTarget(from, t, declared); err != nil {
			return err
		}
		if n := p.index[t]; n != nil && n.arg != nil {
			return &RouteError{from, t, "the node takes an argument: send to it"}
		}
		c.to = append(c.to, t)
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range next.sends {
		if err := p.checkTarget(from, s.node, declared); err != nil {
			return err
		}
		if n := p.index[s.node]; n == nil || n.arg == nil {
			return &RouteError{from, s.node, "it is not a node of this graph that takes an argument"}
		}
	}
	c.sends = append(c.sends, next.sends...)
	return c.escape(next.up, from)
}

func (p *plan) checkTarget(from, target string, declared []string) error {
	for _, d := range declared {
		if d == target {
			return nil
		}
	}
	return &RouteError{from, target, "the target is not declared; add it where the route is added"}
}

// close checks and encodes what was written. From here on the node's own pointers reach nothing.
func (c *call) close(view any) (err error) {
	c.mu.Lock()
	swallowed := len(c.asked) > 0 || c.held
	c.mu.Unlock()
	if swallowed {
		return ErrSwallowed
	}
	c.view = view
	ops := c.t.r.plan.ops
	if c.slot != nil {
		c.ownOnly(view)
	}
	if c.t.r.log == nil && !c.t.r.bus.updates() && c.slot == nil {
		return ops.freeze(view)
	}
	c.writes, err = ops.encode(view)
	return err
}

// guard runs user code: a panic becomes an error with its stack, and a time-out is kept if the node has one.
func (c *call) guard(body func(*call) error) error {
	limit, idle := c.t.node.policy.Timeout, c.t.node.policy.IdleTimeout
	if c.t.time > 0 {
		limit = c.t.time
	}
	if limit == 0 && idle == 0 {
		return c.protect(body)
	}
	return c.timed(body, limit, idle)
}

func (c *call) protect(body func(*call) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{Value: fmt.Sprint(p), Stack: debug.Stack()}
		}
	}()
	if err = body(c); err != nil { // an error whose methods panic does so here, and not in the engine
		_ = err.Error()
		_ = errors.Is(err, errStopped)
	}
	return err
}

// timed runs body in a goroutine of its own, so that it can be left behind.
func (c *call) timed(body func(*call) error, limit, idle time.Duration) error {
	r := c.t.r
	ctx, cancel := context.WithCancelCause(c.Context)
	defer cancel(nil)
	c.Context = ctx
	if idle > 0 {
		c.beat = make(chan struct{}, 1)
	}
	done := make(chan error, 1)
	leave := r.c.enter(c.t.node.name)
	go func() {
		defer leave()
		err := error(errExit) // what remains if the goroutine is ended from inside
		defer func() { done <- err }()
		err = c.protect(body)
	}()
	over, stopLimit := r.c.after(limit)
	defer func() { stopLimit() }()
	quiet, stopIdle := r.c.after(idle)
	defer func() { stopIdle() }()
	var timeout error // the node's own; the end of the run's context is none
	var late <-chan time.Time
	ended := c.Context.Done()
	for {
		select {
		case err := <-done:
			if timeout != nil { // it returned, but too late
				return timeout
			}
			return err
		case <-over:
			timeout = &TimeoutError{Node: c.t.node.name, After: limit}
		case <-quiet:
			select {
			case <-c.beat: // it came in time and was not looked at
				quiet, stopIdle = r.c.after(idle)
				continue
			default:
			}
			timeout = &TimeoutError{Node: c.t.node.name, After: idle, Idle: true}
		case <-c.beat:
			if late == nil {
				stopIdle()
				quiet, stopIdle = r.c.after(idle)
			}
			continue
		case <-ended: // wait for the node no longer than its grace
		case <-late:
			if timeout == nil {
				timeout = context.Cause(ctx)
			}
			c.seal()
			c.t.note("abandoned", "err", timeout)
			return timeout
		}
		if late == nil {
			cancel(timeout)
			var stop func()
			late, stop = r.c.after(c.t.node.policy.Grace)
			defer stop()
		}
		over, quiet, ended = nil, nil, nil
	}
}
