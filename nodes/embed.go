package nodes

import (
	"context"

	"github.com/holdfast-go/holdfast/graph"
)

// Embeds is satisfied by *S where S is a struct that embeds Turn. It is inferred; nobody has to name it.
type Embeds[S any] interface {
	*S
	embedsTurn() *Turn
}

func (t *Turn) embedsTurn() *Turn { return t }

// Add adds a node whose body works on the Turn of the state.
//
//	nodes.Add(g, "assemble", kit.Assemble)
func Add[S any, P Embeds[S]](g *graph.Graph[S], name string, body func(context.Context, *Turn) error) {
	g.Node(name, func(ctx context.Context, s *S) error { return body(with(ctx, s), P(s).embedsTurn()) })
}

// AddBranch adds a node whose body works on the Turn and says where to go.
func AddBranch[S any, P Embeds[S]](g *graph.Graph[S], name string, body func(context.Context, *Turn) (graph.Next, error), targets ...string) {
	g.Branch(name, func(ctx context.Context, s *S) (graph.Next, error) { return body(with(ctx, s), P(s).embedsTurn()) }, targets...)
}

// AddEach adds a node whose body works on the Turn with an argument, once for each that is sent to it.
func AddEach[S, T any, P Embeds[S]](g *graph.Graph[S], name string, body func(context.Context, *Turn, T) error) graph.Sender[T] {
	return graph.Each(g, name, func(ctx context.Context, s *S, arg T) error { return body(with(ctx, s), P(s).embedsTurn(), arg) })
}

// AddRoute adds a route that reads the Turn.
func AddRoute[S any, P Embeds[S]](g *graph.Graph[S], from string, body func(context.Context, *Turn) (graph.Next, error), targets ...string) {
	g.Route(from, func(ctx context.Context, s *S) (graph.Next, error) { return body(with(ctx, s), P(s).embedsTurn()) }, targets...)
}

type stateKey struct{}

func with(ctx context.Context, s any) context.Context { return context.WithValue(ctx, stateKey{}, s) }

// StateOf returns the whole state in which the Turn is embedded, for tools and functions of a Config: false if the context is not
// that of a node of this package, or the state is of another type. What a tool's function writes to it counts unless the tool
// has an effect: see ToolOptions.Then.
func StateOf[S any](ctx context.Context) (*S, bool) {
	s, ok := ctx.Value(stateKey{}).(*S)
	return s, ok
}
