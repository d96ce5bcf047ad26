package graph

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/graph/internal/host"
)

// RunInfo is what a node may know about where it runs.
type RunInfo struct {
	Thread  Thread
	Run     string
	Graph   string
	Node    string
	Task    string // id of the task: the same for all its attempts, in every process
	Step    int64
	Attempt int      // 1, 2, ... in this process
	Key     string   // idempotency key of the task
	By      string   // who started the run
	Path    []string // of a child graph: the calls that lead to it
}

// Info returns the facts of the task whose context this is, and false outside of one.
func Info(ctx context.Context) (RunInfo, bool) {
	h := host.From(ctx)
	if h == nil {
		return RunInfo{}, false
	}
	i := h.Info()
	return RunInfo{
		Thread: Thread{i.Tenant, i.Thread, i.Branch}, Run: i.Run, Graph: i.Graph, Node: i.Node, Task: i.Task,
		Step: i.Step, Attempt: i.Attempt, Path: i.Path, Key: i.Key, By: i.By,
	}, true
}

// StepsLeft is how many supersteps this call of Run or Resume may still run after the present one. An agent reads it to
// answer with what it has before the limit ends it.
func StepsLeft(ctx context.Context) int {
	if h := host.From(ctx); h != nil {
		return h.StepsLeft()
	}
	return 0
}

// Draining reports whether the run is asked to stop at the next superstep boundary.
func Draining(ctx context.Context) bool {
	h := host.From(ctx)
	return h != nil && h.Draining()
}

// Heartbeat is a sign of life for a node with an idle time-out. It returns ErrStale if the node was abandoned.
func Heartbeat(ctx context.Context) error {
	if h := host.From(ctx); h != nil {
		return h.Heartbeat()
	}
	return ErrNoRun
}

// Emit publishes a value to whoever watches the run, at once. It costs next to nothing when nobody does.
func Emit[T any](ctx context.Context, name string, v T) error {
	h := host.From(ctx)
	if h == nil {
		return ErrNoRun
	}
	if !h.Listening() {
		return h.Heartbeat()
	}
	raw, err := encodeValue(v)
	if err != nil {
		return err
	}
	return h.Emit(name, raw)
}

// sleep waits for d or the end of the context.
func sleep(ctx context.Context, c Clock, d time.Duration) error {
	wake, stop := c.After(d)
	defer stop()
	select {
	case <-wake:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
