package golden_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/state"
)

// Shared has a field of every kind that is stored.
type Shared struct {
	Steps state.List[string]         `json:"steps"`
	Total state.Sum[int]             `json:"total"`
	Ratio state.Sum[float64]         `json:"ratio"`
	Seen  state.Set[string]          `json:"seen"`
	Said  state.Map[string, string]  `json:"said"`
	Nums  state.Map[int, []byte]     `json:"nums"`
	Docs  state.Keyed[doc]           `json:"docs"`
	Long  state.Fold[string, longer] `json:"long"`
	Now   state.Ephemeral[string]    `json:"now"`
}

// An older is the state of version 0, a newer that of version 1.
type older struct {
	Shared
	Title state.Last[string] `json:"title"`
	Junk  state.Last[string] `json:"junk"`
}

type newer struct {
	Shared
	Name state.Last[string] `json:"name"`
}

type doc struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
}

func (d doc) Key() string { return d.ID }

type longer struct{}

func (longer) Reduce(acc, w string) (string, error) {
	if len(w) > len(acc) {
		return w, nil
	}
	return acc, nil
}

// A world is what differs between the program that left a thread and the one that continues it.
type world struct {
	bad    string        // a node, or a send's argument, that fails
	within time.Duration // of the question
	drain  func(context.Context) error
}

var errBad = errors.New("bad")

// A program is one version of the graph: how its state is reached, and what its node that asks is called.
type program[S any] struct {
	version int
	asks    string
	shared  func(*S) *Shared
	name    func(*S) *state.Last[string]
	junk    func(*S)
	mount   func(g *graph.Graph[S]) error // the node "kid"
}

// A child graph asks too. Its own versions go with those of its parent.
type kidOlder struct {
	Told state.List[string] `json:"told"`
}

type kidNewer struct {
	Said state.List[string] `json:"said"`
}

func kid[C any](version int, asks string, said func(*C) *state.List[string]) *graph.Graph[C] {
	g := graph.New[C]("kid")
	g.Version(version)
	g.Node("begin", func(_ context.Context, c *C) error { said(c).Append("begin"); return nil })
	g.Node(asks, func(ctx context.Context, c *C) error {
		yes, err := graph.Ask[bool](ctx, "sure", "sure?")
		said(c).Append(fmt.Sprint("sure ", yes))
		return err
	})
	g.Edge(graph.Start, "begin")
	g.Node("done", func(_ context.Context, c *C) error { said(c).Append("done"); return nil })
	g.Edge("begin", asks)
	g.Edge(asks, "done")
	return g
}

func kid0(g *graph.Graph[older]) error {
	told := func(c *kidOlder) *state.List[string] { return &c.Told }
	app, err := kid(0, "doubt", told).Compile(graph.Options{})
	if err == nil {
		graph.Mount(g, "kid", app, nil, func(s *older, c *kidOlder) { s.Steps.Append(c.Told.Slice()...) })
	}
	return err
}

func kid1(g *graph.Graph[newer]) error {
	child := kid(1, "check", func(c *kidNewer) *state.List[string] { return &c.Said })
	child.Migrate(0, 1, func(m *graph.Migration) error {
		m.RenameField("told", "said")
		m.RenameNode("doubt", "check")
		return nil
	})
	app, err := child.Compile(graph.Options{})
	if err == nil {
		graph.Mount(g, "kid", app, nil, func(s *newer, c *kidNewer) { s.Steps.Append(c.Said.Slice()...) })
	}
	return err
}

var (
	version0 = program[older]{0, "gate", func(s *older) *Shared { return &s.Shared }, func(s *older) *state.Last[string] { return &s.Title }, func(s *older) { s.Junk.Set("junk") }, kid0}
	version1 = program[newer]{1, "ask", func(s *newer) *Shared { return &s.Shared }, func(s *newer) *state.Last[string] { return &s.Name }, func(*newer) {}, kid1}
)

// migrate is how version 1 continues threads of version 0.
func migrate(g *graph.Graph[newer]) {
	g.Migrate(0, 1, func(m *graph.Migration) error {
		m.RenameField("title", "name")
		m.DropField("junk")
		m.RenameNode("gate", "ask")
		return nil
	})
}

// build makes the graph: split sends three items and goes to ask, which asks two questions; side goes to kid, a child graph that asks one
// question, to flaky, which is tried twice, to
// risky, whose handler has the word, and to late, which is deferred; ask, flaky and side join to close.
func (p program[S]) build(t testing.TB, w *world) *graph.Graph[S] {
	g := graph.New[S]("golden")
	g.Version(p.version)
	say := func(name string) func(context.Context, *S) error {
		return func(_ context.Context, s *S) error {
			if w.bad == name {
				return errBad
			}
			p.shared(s).Steps.Append(name)
			return nil
		}
	}
	items := graph.Each(g, "item", func(_ context.Context, s *S, n int) error {
		if w.bad == fmt.Sprint("item ", n) {
			return errBad
		}
		sh := p.shared(s)
		sh.Total.Add(n)
		sh.Docs.Put(doc{fmt.Sprint("d", n%2), time.Date(2027, 1, n, 0, 0, 0, n, time.FixedZone("", 3600))})
		sh.Long.Put(fmt.Sprintf("%0*d", n, n))
		return nil
	})
	g.Branch("split", func(ctx context.Context, s *S) (graph.Next, error) {
		paid, err := graph.Once(ctx, "pay", func(context.Context, string) (string, error) { return "paid \x00", nil })
		if err != nil {
			return graph.Next{}, err
		}
		sh := p.shared(s)
		sh.Steps.Append("split")
		sh.Said.Put("pay", paid)
		sh.Nums.Put(-1, []byte{0, 255})
		sh.Now.Set("now")
		p.name(s).Set("named")
		p.junk(s)
		if w.bad == "split" {
			return graph.Next{}, errBad
		}
		return graph.To(p.asks).And(items.Send(1, 2, 3)), nil
	}, p.asks, "item")
	g.Node("side", func(ctx context.Context, s *S) error {
		p.shared(s).Ratio.Add(0.5)
		if w.drain == nil {
			return nil
		}
		if err := w.drain(ctx); err != nil {
			return err
		}
		for !graph.Draining(ctx) && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		return ctx.Err()
	})
	g.Node(p.asks, func(ctx context.Context, s *S) error { return p.ask(ctx, s, w) })
	g.Node("flaky", func(ctx context.Context, s *S) error {
		if i, _ := graph.Info(ctx); i.Attempt == 1 {
			return errBad
		}
		p.shared(s).Seen.Add("flaky")
		return nil
	})
	g.Policy("flaky", graph.Policy{Attempts: 2, Backoff: time.Nanosecond, Retry: func(error) bool { return true }})
	g.Node("risky", func(context.Context, *S) error { return errBad })
	g.Handle("risky", func(_ context.Context, s *S, cause error) (graph.Next, error) {
		p.shared(s).Steps.Append("handled " + cause.Error())
		return graph.Next{}, nil
	})
	g.Node("late", say("late"))
	g.Policy("late", graph.Policy{Deferred: true})
	g.Node("close", say("close"))
	g.Edge(graph.Start, "split")
	g.Edge(graph.Start, "side")
	g.Edge("side", "flaky")
	g.Edge("side", "late")
	want(t, p.mount(g), nil)
	g.Edge("side", "kid")
	g.Edge("flaky", "risky")
	g.Join([]string{p.asks, "flaky", "side"}, "close")
	return g
}

// ask asks two questions at once.
func (p program[S]) ask(ctx context.Context, s *S, w *world) error {
	var opts []graph.AskOptions[bool]
	if no := false; w.within > 0 {
		opts = append(opts, graph.AskOptions[bool]{Within: w.within, Default: &no})
	}
	ok, err1 := graph.Ask(ctx, "ok", "go on?", opts...)
	who, err2 := graph.Ask[string](ctx, "who", map[string]string{"prompt": "who?"})
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	now, _ := p.shared(s).Now.Get()
	p.shared(s).Steps.Append(fmt.Sprintf("ask %t %s %s", ok, who, now))
	return nil
}

// older0 and newer1 compile the two versions.
func older0(t testing.TB, s checkpoint.Store, w *world) *graph.View {
	app, err := version0.build(t, w).Compile(graph.Options{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	return app.View()
}

func newer1(t testing.TB, s checkpoint.Store, w *world) *graph.View { return app1(t, s, w).View() }

func app1(t testing.TB, s checkpoint.Store, w *world) *graph.App[newer] {
	g := version1.build(t, w)
	migrate(g)
	app, err := g.Compile(graph.Options{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	return app
}
