package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/message"
)

// grace is how long a tool may take to return once its context has ended.
const grace = time.Second

// A lateError says that a tool ran out of time. It matches graph.ErrTimeout.
type lateError struct {
	after time.Duration
	left  bool  // it did not return
	err   error // what it returned
}

func (e *lateError) Error() string {
	if e.left {
		return fmt.Sprintf("It did not return within %v, or when it was told to stop. Whether it took effect is unknown.", e.after)
	}
	return fmt.Sprintf("It was stopped after %v: %v. Whether it took effect is unknown.", e.after, e.err)
}

func (e *lateError) Is(target error) bool { return target == graph.ErrTimeout }

func (e *lateError) Unwrap() error { return e.err }

// A returned is what a tool's function has returned.
type returned struct {
	value json.RawMessage
	parts []message.Part
	err   error
}

// attempt runs the function in time. Only the end of the run itself is waited for: the engine leaves the whole task behind.
func (t Tool) attempt(ctx context.Context, args json.RawMessage, run context.Context) returned {
	if t.inline {
		return t.protected(ctx, args)
	}
	after := t.timeout
	if end, ok := ctx.Deadline(); ok { // a wrapper's may be sooner
		after = min(after, time.Until(end).Round(time.Millisecond))
	}
	ctx, cancel := context.WithTimeout(ctx, after)
	defer cancel()
	left := new(atomic.Bool)
	done := t.started(ctx, args, left)
	var late <-chan time.Time
	ended := ctx.Done()
	for {
		select {
		case r := <-done:
			if r.err != nil && ctx.Err() == context.DeadlineExceeded && run.Err() == nil {
				r.err = &lateError{after: after, err: r.err}
			}
			return r
		case <-ended:
			ended, late = nil, time.After(grace)
		case <-late:
			if run.Err() == nil {
				left.Store(true)
				return returned{err: &lateError{after: after, left: true}}
			}
		}
	}
}

// started runs the function on a goroutine of its own, which may be left behind.
func (t Tool) started(ctx context.Context, args json.RawMessage, left *atomic.Bool) <-chan returned {
	p := placeOf(ctx)
	p.left = left
	ctx = context.WithValue(ctx, placeKey{}, p)
	done := make(chan returned, 1)
	go func() {
		r := returned{err: errors.New("the tool has ended its goroutine")}
		defer func() { done <- r }()
		r = t.protected(ctx, args)
	}()
	return done
}

// protected makes an error of a panic.
func (t Tool) protected(ctx context.Context, args json.RawMessage) returned {
	r, err := guarded(func() (r returned, err error) {
		r.value, r.parts, err = t.run(ctx, args)
		return r, err
	})
	r.err = err
	return r
}

// guarded makes an error of a panic.
func guarded[T any](fn func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &graph.PanicError{Value: fmt.Sprint(p), Stack: debug.Stack()}
		}
	}()
	return fn()
}
