package nodes

import (
	"context"
	"sync/atomic"

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
	g.Node(name, func(ctx context.Context, s *S) error { return body(with[S, P](ctx, s)) })
}

// AddBranch adds a node whose body works on the Turn and says where to go.
func AddBranch[S any, P Embeds[S]](g *graph.Graph[S], name string, body func(context.Context, *Turn) (graph.Next, error), targets ...string) {
	g.Branch(name, func(ctx context.Context, s *S) (graph.Next, error) { return body(with[S, P](ctx, s)) }, targets...)
}

// AddEach adds a node whose body works on the Turn with an argument, once for each that is sent to it.
func AddEach[S, T any, P Embeds[S]](g *graph.Graph[S], name string, body func(context.Context, *Turn, T) error) graph.Sender[T] {
	return graph.Each(g, name, func(ctx context.Context, s *S, arg T) error {
		ctx, t := with[S, P](ctx, s)
		return body(ctx, t, arg)
	})
}

// AddRoute adds a route that reads the Turn.
func AddRoute[S any, P Embeds[S]](g *graph.Graph[S], from string, body func(context.Context, *Turn) (graph.Next, error), targets ...string) {
	g.Route(from, func(ctx context.Context, s *S) (graph.Next, error) { return body(with[S, P](ctx, s)) }, targets...)
}

type placeKey struct{}

// A place is where a function of a tool or of a Config is called from.
type place struct {
	state any
	turn  *Turn
	left  *atomic.Bool // the function was left behind: nil if it cannot be
}

// with puts a state and its Turn into the context of a node.
func with[S any, P Embeds[S]](ctx context.Context, s *S) (context.Context, *Turn) {
	t := P(s).embedsTurn()
	return context.WithValue(ctx, placeKey{}, place{state: s, turn: t}), t
}

// placeOf is the zero place where there is none any more.
func placeOf(ctx context.Context) place {
	p, _ := ctx.Value(placeKey{}).(place)
	if p.left != nil && p.left.Load() {
		return place{}
	}
	return p
}

// StateOf returns the whole state in which the Turn is embedded, for tools and functions of a Config: false if the context
// is not that of a node of this package, or the state is of another type. What a tool's function writes to it counts unless
// the tool has an effect: see ToolOptions.Then. A function that did not return in time must not touch it any more.
func StateOf[S any](ctx context.Context) (*S, bool) {
	s, ok := placeOf(ctx).state.(*S)
	return s, ok
}

// TurnOf returns the Turn of the node that a tool or a function of a Config is called by. StateOf says what holds for it.
func TurnOf(ctx context.Context) (*Turn, bool) {
	t := placeOf(ctx).turn
	return t, t != nil
}
