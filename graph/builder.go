package graph

import (
	"context"
	"fmt"
	"slices"
)

// A Graph is being built. Its methods note mistakes and go on; Compile reports all of them at once. It is not safe for
// concurrent use; what Compile returns is.
type Graph[S any] struct {
	name     string
	version  int
	nodes    []*node
	edges    [][2]string
	joins    []*join
	routes   []*route
	handlers []*handler
	policies map[string]Policy
	caches   []*caching
	aliases  map[string]string
	errs     []error

	migrations []migrator
}

// A node of the erased core: the types S and T of the user end here.
type node struct {
	name    string
	fn      func(ctx context.Context, view, arg any) (Next, error)
	arg     func(raw []byte) (any, error) // decodes the argument of a send; nil: takes none
	argType string
	branch  bool     // returns where to go
	targets []string // declared by a branch, or where the mounted graph may escape to
	mount   *mount   // the node is a child graph

	// Filled in by Compile.
	edges   []string
	routes  []*route
	joins   []int // indexes of joins it feeds
	handler *handler
	policy  Policy
	cache   *caching
}

type route struct {
	from    string
	fn      func(ctx context.Context, view any) (Next, error)
	targets []string
}

type join struct {
	from []string
	to   string
}

type handler struct {
	node    string
	fn      func(ctx context.Context, view any, cause error) (Next, error)
	targets []string
}

// New begins a graph over the state S. The name is durable: it is in every record of its threads.
func New[S any](name string) *Graph[S] {
	g := &Graph[S]{name: name, policies: map[string]Policy{}, aliases: map[string]string{}}
	if name == "" {
		g.mistake("a graph needs a name: graph.New[S](\"refund\")")
	}
	return g
}

func (g *Graph[S]) mistake(format string, args ...any) {
	g.errs = append(g.errs, fmt.Errorf(format, args...))
}

// Version sets the version of the graph, recorded in every entry. The default is 0. Raise it when threads of the version before need a
// migration. A program refuses threads that a later version has written.
func (g *Graph[S]) Version(v int) { g.version = v }

// Alias continues threads that were written when the node new was called old.
func (g *Graph[S]) Alias(old, new string) {
	if _, twice := g.aliases[old]; twice {
		g.mistake("%q is the alias of two nodes", old)
	}
	g.aliases[old] = new
}

// Node adds a node: a function that reads and writes its view of the state.
func (g *Graph[S]) Node(name string, fn func(context.Context, *S) error) {
	g.add(name, fn == nil, &node{name: name, fn: func(ctx context.Context, view, _ any) (Next, error) {
		return Next{}, fn(ctx, view.(*S))
	}})
}

// Branch adds a node that also says where to go: to one or more of the declared targets.
func (g *Graph[S]) Branch(name string, fn func(context.Context, *S) (Next, error), targets ...string) {
	if len(targets) == 0 {
		g.mistake("branch %s declares no targets", name)
	}
	g.add(name, fn == nil, &node{name: name, branch: true, targets: slices.Clone(targets), fn: func(ctx context.Context, view, _ any) (Next, error) {
		return fn(ctx, view.(*S))
	}})
}

// Each adds a node that takes an argument and runs once for each that is sent to it, all in one superstep. The sender it
// returns makes those sends, in routes, branches and handlers that declare the node as a target.
func Each[S, T any](g *Graph[S], name string, fn func(context.Context, *S, T) error) Sender[T] {
	c, err := codecOf[T]()
	if err != nil {
		g.mistake("node %s: argument: %w", name, err)
	}
	n := &node{name: name, argType: fmt.Sprintf("%T", *new(T))}
	n.fn = func(ctx context.Context, view, arg any) (Next, error) { return Next{}, fn(ctx, view.(*S), arg.(T)) }
	n.arg = func(raw []byte) (any, error) {
		v, err := c.decode(raw)
		return v, err
	}
	g.add(name, fn == nil, n)
	return Sender[T]{node: name, codec: c}
}

func (g *Graph[S]) add(name string, missing bool, n *node) {
	switch {
	case name == "":
		g.mistake("a node has no name")
	case name == Start || name == End || name == All:
		g.mistake("node %q: the name is reserved", name)
	case !validName(name):
		g.mistake("node %q: a name is valid UTF-8 without control characters, at most 128 bytes", name)
	case slices.ContainsFunc(g.nodes, func(o *node) bool { return o.name == name }):
		g.mistake("node %s is there twice", name)
	}
	if missing {
		g.mistake("node %s has no function", name)
	}
	g.nodes = append(g.nodes, n)
}

// Edge goes from one node to another, always. From may be Start, to may be End.
func (g *Graph[S]) Edge(from, to string) { g.edges = append(g.edges, [2]string{from, to}) }

// Join goes to a node once all of the named nodes have run in this run, in whatever supersteps.
func (g *Graph[S]) Join(from []string, to string) {
	if len(from) < 2 {
		g.mistake("join to %s: needs at least two sources; one is an Edge", to)
	}
	g.joins = append(g.joins, &join{slices.Clone(from), to})
}

// Route is a conditional edge: after the node, fn reads the committed state and the node's own writes, and says which of
// the declared targets come next. It must not write. Several routes of a node all count.
func (g *Graph[S]) Route(from string, fn func(context.Context, *S) (Next, error), targets ...string) {
	if fn == nil {
		g.mistake("route of %s has no function", from)
	}
	if len(targets) == 0 {
		g.mistake("route of %s declares no targets", from)
	}
	g.routes = append(g.routes, &route{from, func(ctx context.Context, view any) (Next, error) {
		return fn(ctx, view.(*S))
	}, slices.Clone(targets)})
}

// Handle runs fn when the node (or, with All, any node without a handler of its own) has failed for good. Its writes
// replace the node's. If it returns the zero Next the node's edges, routes and joins go on as if it had succeeded;
// otherwise only the returned targets, which it must declare, come next. Questions, cancel and drain never reach it.
//
// That the handler runs, and not the node, is durable before it starts: after a crash the handler runs. When the handler itself
// has failed, the task has, and Resume runs the node again. In another process the cause is its text alone: do not decide by
// its type.
func (g *Graph[S]) Handle(name string, fn func(ctx context.Context, s *S, cause error) (Next, error), targets ...string) {
	if fn == nil {
		g.mistake("handler of %s has no function", name)
	}
	if slices.ContainsFunc(g.handlers, func(h *handler) bool { return h.node == name }) {
		g.mistake("node %s has two handlers", name)
	}
	g.handlers = append(g.handlers, &handler{name, func(ctx context.Context, view any, cause error) (Next, error) {
		return fn(ctx, view.(*S), cause)
	}, slices.Clone(targets)})
}

// Policy sets how a node is run.
func (g *Graph[S]) Policy(name string, p Policy) {
	if err := p.validate(); err != nil {
		g.mistake("policy of %s: %w", name, err)
	}
	if _, twice := g.policies[name]; twice {
		g.mistake("node %s has two policies", name)
	}
	g.policies[name] = p
}
