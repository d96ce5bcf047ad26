package crash

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/crashpoint"
	"github.com/holdfast-go/holdfast/state"
)

// State is the state of all scenes.
type State struct {
	Trail  state.List[string]     `json:"trail"`
	Paid   state.Map[string, int] `json:"paid"`
	Total  state.Sum[int]         `json:"total"`
	Rounds state.Sum[int]         `json:"rounds"`
	Status state.Last[string]     `json:"status"`
}

// A Scene is a graph and how many runs of it a thread sees.
type Scene struct {
	Name  string
	Runs  int
	Ends  string // the state in the end, as JSON
	build func(*graph.Graph[State], *Ledger)
}

// Scenes are all of them.
var Scenes = []Scene{
	{"line", 2, `{"total":12,"trail":["request 0","a","b","c","request 1","a","b","c"]}`, line},
	{"nest", 1, `{"total":15,"trail":["request 0","a","b","c","d","e"]}`, nested},
	{"fan", 1, `{"paid":{"n1":1,"n2":2,"n3":3,"n4":4,"n5":5,"n6":6,"n7":7,"n8":8},"status":"sum 36 of 8","total":37,` +
		`"trail":["request 0","work 1","work 2","work 3","work 4","work 5","work 6","work 7","work 8"]}`, fan},
	{"loop", 1, `{"rounds":3,"trail":["request 0","round 1","round 2","round 3"]}`, loop},
	{"queue", 3, `{"rounds":3,"status":"approved","total":19,"trail":["request 0","take","approve","request 1","take","request 2","take"]}`, queue},
	{"ask", 1, `{"status":"closed","total":31,"trail":["request 0","archive","audit","pay"]}`, ask},
}

// SceneOf finds a scene by its name.
func SceneOf(name string) (Scene, error) {
	for _, s := range Scenes {
		if s.Name == name {
			return s, nil
		}
	}
	return Scene{}, fmt.Errorf("there is no scene %q", name)
}

// Compile makes the scene's App. Its effects count in the ledger.
func (s Scene) Compile(l *Ledger, o graph.Options) (*graph.App[State], error) {
	g := graph.New[State](s.Name)
	s.build(g, l)
	return g.Compile(o)
}

// nest mounts a graph as a node. What it did is added to the parent's state.
func nest(g *graph.Graph[State], name string, l *Ledger, build func(*graph.Graph[State], *Ledger)) {
	inner := graph.New[State](name + " graph")
	build(inner, l)
	child, err := inner.Compile(graph.Options{})
	if err != nil {
		panic(err) // a mistake in this file
	}
	graph.Mount(g, name, child, nil, func(s, c *State) {
		s.Trail.Append(c.Trail.Slice()...)
		s.Total.Add(c.Total.Get())
	})
}

// play is what every node does first: it leaves a trace outside.
func play(ctx context.Context, l *Ledger) graph.RunInfo {
	info, _ := graph.Info(ctx)
	l.Note("start", taskOf(info))
	return info
}

// taskOf names a task among those of all graphs of the thread, and of all their calls.
func taskOf(info graph.RunInfo) string {
	if len(info.Path) == 0 {
		return info.Task
	}
	return strings.Join(info.Path, "/") + "/" + info.Key
}

// effect happens outside, and returns what it cost.
func effect(ctx context.Context, l *Ledger, name string, cost int) (int, error) {
	info, _ := graph.Info(ctx)
	id := taskOf(info) + "/" + name
	paid, err := graph.Once(ctx, name, func(_ context.Context, key string) (int, error) {
		l.Note("effect", key, id)
		crashpoint.Hit("effect")
		return cost, nil
	})
	if err == nil {
		l.Note("recorded", id) // Once has said so
	}
	return paid, err
}

// pay is a node with an effect.
func pay(g *graph.Graph[State], l *Ledger, name string, cost int) {
	g.Node(name, func(ctx context.Context, s *State) error {
		play(ctx, l)
		cost, err := effect(ctx, l, "pay "+name, cost)
		s.Trail.Append(name)
		s.Total.Add(cost)
		return err
	})
}

// row connects nodes to a line.
func row(g *graph.Graph[State], names ...string) {
	from := graph.Start
	for _, name := range names {
		g.Edge(from, name)
		from = name
	}
}

// line is three nodes in a row, each with an effect.
func line(g *graph.Graph[State], l *Ledger) {
	pay(g, l, "a", 1)
	pay(g, l, "b", 2)
	pay(g, l, "c", 3)
	row(g, "a", "b", "c")
}

// nested is a row of three with effects in child graphs of two levels, between two nodes of the thread's own graph.
func nested(g *graph.Graph[State], l *Ledger) {
	pay(g, l, "a", 1)
	nest(g, "middle", l, func(g *graph.Graph[State], l *Ledger) {
		pay(g, l, "b", 2)
		nest(g, "inner", l, func(g *graph.Graph[State], l *Ledger) {
			pay(g, l, "c", 3)
			pay(g, l, "d", 4)
			row(g, "c", "d")
		})
		row(g, "b", "inner")
	})
	pay(g, l, "e", 5)
	row(g, "a", "middle", "e")
}

// fan maps and reduces: eight sends with an effect each, and a node that sees the sum.
func fan(g *graph.Graph[State], l *Ledger) {
	g.Node("plan", func(ctx context.Context, s *State) error {
		play(ctx, l)
		s.Status.Set("planned")
		return nil
	})
	work := graph.Each(g, "work", func(ctx context.Context, s *State, n int) error {
		play(ctx, l)
		cost, err := effect(ctx, l, fmt.Sprintf("work %d", n), n)
		s.Paid.Put(fmt.Sprintf("n%d", n), cost)
		s.Trail.Append(fmt.Sprintf("work %d", n))
		s.Total.Add(cost)
		return err
	})
	g.Node("sum", func(ctx context.Context, s *State) error {
		play(ctx, l)
		cost, err := effect(ctx, l, "report", 1)
		s.Status.Set(fmt.Sprintf("sum %d of %d", s.Total.Get(), s.Paid.Len()))
		s.Total.Add(cost)
		return err
	})
	g.Edge(graph.Start, "plan")
	g.Route("plan", func(context.Context, *State) (graph.Next, error) {
		return work.Send(1, 2, 3, 4, 5, 6, 7, 8), nil
	}, "work")
	g.Edge("work", "sum")
}

var errFlaky = errors.New("not yet")

// loop runs a node three times that fails twice each time: once it is retried, then the run fails and is resumed.
func loop(g *graph.Graph[State], l *Ledger) {
	g.Node("try", func(ctx context.Context, s *State) error {
		info := play(ctx, l)
		l.Note("try", info.Task)
		if l.Count("try", info.Task) <= 2 {
			return errFlaky
		}
		cost, err := effect(ctx, l, "win", 1)
		s.Rounds.Add(cost)
		s.Trail.Append(fmt.Sprintf("round %d", s.Rounds.Get()))
		return err
	})
	g.Policy("try", graph.Policy{Attempts: 2, Backoff: time.Microsecond})
	g.Edge(graph.Start, "try")
	g.Route("try", func(_ context.Context, s *State) (graph.Next, error) {
		if s.Rounds.Get() < 3 {
			return graph.To("try"), nil
		}
		return graph.To(graph.End), nil
	}, "try", graph.End)
}

// queue asks in its first run, while the inputs of the others are queued behind it.
func queue(g *graph.Graph[State], l *Ledger) {
	g.Node("take", func(ctx context.Context, s *State) error {
		play(ctx, l)
		cost, err := effect(ctx, l, "take", 1)
		s.Rounds.Add(1)
		s.Total.Add(cost)
		s.Trail.Append("take")
		return err
	})
	g.Node("approve", func(ctx context.Context, s *State) error {
		play(ctx, l)
		ok, err := graph.Ask[bool](ctx, "approve", "Go on?")
		if err != nil || !ok {
			return err
		}
		cost, err := effect(ctx, l, "charge", 16)
		s.Status.Set("approved")
		s.Total.Add(cost)
		s.Trail.Append("approve")
		return err
	})
	g.Edge(graph.Start, "take")
	g.Route("take", func(_ context.Context, s *State) (graph.Next, error) {
		if s.Rounds.Get() == 1 {
			return graph.To("approve"), nil
		}
		return graph.To(graph.End), nil
	}, "approve", graph.End)
}

// ask has a question between two effects of one node of a child graph, beside a sibling that has finished, and a join behind both and a node
// of the superstep before.
func ask(g *graph.Graph[State], l *Ledger) {
	g.Node("prepare", func(ctx context.Context, s *State) error {
		play(ctx, l)
		cost, err := effect(ctx, l, "quote", 1)
		s.Total.Add(cost)
		return err
	})
	g.Node("archive", func(ctx context.Context, s *State) error {
		play(ctx, l)
		s.Trail.Append("archive")
		return nil
	})
	g.Node("check", func(ctx context.Context, _ *State) error {
		play(ctx, l)
		return nil
	})
	g.Node("audit", func(ctx context.Context, s *State) error {
		play(ctx, l)
		cost, err := effect(ctx, l, "audit", 2)
		s.Total.Add(cost)
		s.Trail.Append("audit")
		return err
	})
	nest(g, "pay", l, func(g *graph.Graph[State], l *Ledger) {
		g.Node("pay", func(ctx context.Context, s *State) error {
			play(ctx, l)
			reserved, err := effect(ctx, l, "reserve", 4)
			if err != nil {
				return err
			}
			ok, err := graph.Ask[bool](ctx, "approve", "Pay?")
			if err != nil || !ok {
				return err
			}
			paid, err := effect(ctx, l, "charge", 8)
			s.Trail.Append("pay")
			s.Total.Add(reserved + paid)
			return err
		})
		g.Edge(graph.Start, "pay")
	})
	g.Node("close", func(ctx context.Context, s *State) error {
		play(ctx, l)
		cost, err := effect(ctx, l, "receipt", 16)
		s.Status.Set("closed")
		s.Total.Add(cost)
		return err
	})
	g.Edge(graph.Start, "prepare")
	g.Edge("prepare", "archive")
	g.Edge("prepare", "check")
	g.Edge("check", "audit")
	g.Edge("check", "pay")
	g.Join([]string{"archive", "audit", "pay"}, "close")
}
