package graph

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/graph/internal/host"
)

// Memory says what a mounted graph remembers from one call to the next.
type Memory string

// The kinds of memory.
const (
	PerCall   Memory = "call"   // it begins empty at each call, and each call survives pauses and crashes. The default
	PerThread Memory = "thread" // it goes on with the state in which the last call on the thread ended
	NoMemory  Memory = "none"   // nothing of it is recorded: it runs again from its start with the parent's task, cannot ask, and its effects may repeat
)

func (m Memory) validate() error {
	switch m {
	case "", PerCall, PerThread, NoMemory:
		return nil
	}
	return fmt.Errorf("unknown memory %q: use graph.PerCall, graph.PerThread or graph.NoMemory", string(m))
}

// MountOptions of one mounted graph.
type MountOptions struct {
	Memory  Memory   // default PerCall
	Targets []string // nodes of the parent, or End, that the child may go to with Escape
}

// A mount is what makes a node a child graph.
type mount struct {
	plan   *plan
	opts   *Options
	memory Memory
}

// Mount adds a node that runs another graph, with a state of its own. in fills the child's input from what the parent's node
// reads; out writes the child's final state into the parent's. in runs once, when the child starts, and must not write to the
// parent; out runs when the child has ended.
//
// The child is part of the parent's thread: its supersteps are durable, its questions are questions of the thread, and after a pause or a crash it
// goes on where it was. Of its own Options those about how it runs count (MaxConcurrency, StepLimit, FailFast, Grace,
// breakpoints, and the policies of its nodes); store, lease, durability, retention and watchers are the parent's. A child that fails
// fails its node, whose policy and handler then apply; the next attempt goes on where the child had failed.
func Mount[S, C any](g *Graph[S], name string, child *App[C], in func(s *S, c *C), out func(s *S, c *C), opts ...MountOptions) {
	var o MountOptions
	switch len(opts) {
	case 0:
	case 1:
		o = opts[0]
	default:
		g.mistake("mount %s: one MountOptions at most", name)
	}
	if err := o.Memory.validate(); err != nil {
		g.mistake("mount %s: %w", name, err)
	}
	n := &node{name: name, targets: slices.Clone(o.Targets)}
	if child != nil {
		n.mount = &mount{child.c.plan, &child.c.opts, o.Memory}
	}
	n.fn = func(ctx context.Context, view, _ any) (Next, error) {
		c := host.From(ctx).(*call)
		k, err := c.child(n.callee(), func(v any) error {
			if in == nil {
				return nil
			}
			sub := c.t.r.plan.ops.sub(view)
			in(sub.(*S), v.(*C))
			if f := c.t.r.plan.ops.wrote(sub); f != "" {
				return &RouteError{name, "", "in wrote field " + f + " of the parent; it only reads it"}
			}
			return nil
		})
		if err != nil {
			return Next{}, err
		}
		if out != nil {
			out(view.(*S), k.plan.ops.view(k.head).(*C))
		}
		var next Next
		for _, to := range k.escaped { // a record may have a former name
			next = next.And(To(c.t.r.plan.present(to)))
		}
		return next, nil
	}
	g.add(name, child == nil, n)
}

// callee is how the node calls its graph.
func (n *node) callee() *callee {
	k := &callee{name: n.name, mount: n.mount, targets: n.targets, quiet: true}
	if n.mount.memory == PerThread {
		k.segment = perThread(n.name)
	}
	return k
}

// Call runs another graph inside a node, with a state of its own, and returns its final state. Like a mounted graph it is part of the
// thread: when it pauses, the error must be returned by the node, as that of Ask; when the node runs again, Call goes on where the child was,
// and a child that has ended is not run again. A call is known by its task, its name, and how often the task has
// called under that name; calls at the same time need names of their own. The child's graph may not Escape.
func Call[C any](ctx context.Context, name string, child *App[C], in func(*C)) (*C, error) {
	c, ok := host.From(ctx).(*call)
	if !ok {
		return nil, ErrNoRun
	}
	if name == "" || !validName(name) || strings.Contains(name, "/") {
		return nil, fmt.Errorf("call %q: a name is valid UTF-8 without control characters and slashes, at most 128 bytes", name)
	}
	k, err := c.child(&callee{name: name, mount: &mount{child.c.plan, &child.c.opts, PerCall}, counted: true}, writer(in))
	if err != nil {
		return nil, err
	}
	return k.plan.ops.view(k.head).(*C), nil
}

// Escape ends a mounted graph with this superstep, and goes to nodes of its parent instead of along the ways out of the node that
// it is mounted as. They must be among MountOptions.Targets. What else the superstep would lead to in the child is dropped.
func Escape(nodes ...string) Next { return Next{up: slices.Clone(nodes)} }

// perThread is the segment of a namespace that outlives its calls.
func perThread(name string) string { return "m" + name }

// perCall is the segment of one call of a task.
func perCall(task, name string, n int) string {
	if name == "" {
		return "t" + task
	}
	return fmt.Sprintf("t%s/%s/%d", task, name, n)
}

// owns reports whether a segment of a namespace, one level below the task's own, is of a graph that the task calls.
func (t *task) owns(segment string) bool {
	if n := t.node; n.mount != nil && n.mount.memory == PerThread {
		return segment == perThread(n.name)
	}
	rest, ok := strings.CutPrefix(segment, "t"+t.id())
	return ok && (rest == "" || rest[0] == '/')
}
