package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// A quiz asks k people two questions each, one after the other, at some depth. Before each question there is an effect.
type quiz struct {
	k      int
	depth  int
	called bool // each person is asked in a graph of his own that a node calls; otherwise all in one graph that is mounted

	mu      sync.Mutex
	effects map[string]int
	entered int // executions of the code that asks
}

// person is the code that asks one of them.
func (q *quiz) person(ctx context.Context, s *notes, i string) error {
	q.mu.Lock()
	q.entered++
	q.mu.Unlock()
	for j := range 2 {
		what := fmt.Sprintf("%s/%d", i, j)
		if _, err := graph.Once(ctx, "prepare", func(context.Context, string) (string, error) {
			q.mu.Lock()
			defer q.mu.Unlock()
			q.effects[what]++
			return what, nil
		}); err != nil {
			return err
		}
		a, err := graph.Ask[string](ctx, "q", what)
		if err != nil {
			return err
		}
		s.Said.Put(what, a)
	}
	return nil
}

func saidBack(s, c *notes) {
	for k, v := range c.Said.All() {
		s.Said.Put(k, v)
	}
}

func (q *quiz) build(t testing.TB, store checkpoint.Store) *graph.App[notes] {
	o := func(depth int) graph.Options {
		if depth == q.depth {
			return graph.Options{Store: store}
		}
		return graph.Options{}
	}
	single := func(depth int) *graph.App[notes] {
		return chain(t, "single", o(depth), func(ctx context.Context, s *notes) error { return q.person(ctx, s, s.Value.Get()) })
	}
	ask := q.person
	if q.called && q.depth > 0 {
		app := single(0)
		for range q.depth - 1 {
			inner := app
			app = chain(t, "between", graph.Options{}, func(ctx context.Context, s *notes) error {
				c, err := graph.Call(ctx, "inner", inner, amount(s.Value.Get()))
				if err == nil {
					saidBack(s, c)
				}
				return err
			})
		}
		ask = func(ctx context.Context, s *notes, i string) error {
			c, err := graph.Call(ctx, "one", app, amount(i))
			if err == nil {
				saidBack(s, c)
			}
			return err
		}
	}
	g := graph.New[notes]("quiz")
	each := graph.Each(g, "ask", ask)
	g.Route(graph.Start, func(context.Context, *notes) (graph.Next, error) {
		var who []string
		for i := range q.k {
			who = append(who, fmt.Sprint(i))
		}
		return each.Send(who...), nil
	}, "ask")
	if q.called {
		return compile(t, g, graph.Options{Store: store})
	}
	app := compile(t, g, o(0))
	for d := range q.depth {
		g := graph.New[notes](fmt.Sprint("level ", d))
		graph.Mount(g, "inner", app, nil, saidBack)
		g.Edge(graph.Start, "inner")
		app = compile(t, g, o(d+1))
	}
	return app
}

// orders are all ways to answer n questions in one or more calls: 13 for three.
func orders(n int) (out [][][]int) {
	if n == 0 {
		return [][][]int{nil}
	}
	for _, rest := range orders(n - 1) {
		for i := range rest {
			grown := slices.Clone(rest)
			grown[i] = append(slices.Clone(rest[i]), n-1)
			out = append(out, grown)
		}
		for i := range len(rest) + 1 {
			out = append(out, slices.Insert(slices.Clone(rest), i, []int{n - 1}))
		}
	}
	return out
}

// Questions at depth 0, 1 and 2, in parallel sends, answered in every order and subset, each time in another process: the right answers, no
// question twice, no effect twice, nothing lost. // E30 E31 E33 E34 E44 // report 23 // report 26 // report 27 // report 44 // report 45 // report 63
func TestQuestionMatrix(t *testing.T) {
	t.Parallel()
	const k = 3
	all := orders(k)
	for _, shape := range []struct {
		depth  int
		called bool
	}{{0, false}, {1, false}, {2, false}, {1, true}, {2, true}} {
		t.Run(fmt.Sprintf("depth %d called %t", shape.depth, shape.called), func(t *testing.T) {
			t.Parallel()
			for n, first := range all {
				for m, second := range all {
					if testing.Short() && (n+m)%4 != 0 {
						continue
					}
					q := &quiz{k: k, depth: shape.depth, called: shape.called, effects: map[string]int{}}
					q.play(t, first, second)
				}
			}
		})
	}
}

// play answers the first questions of all in one order, and then the second ones in another.
func (q *quiz) play(t *testing.T, orders ...[][]int) {
	t.Helper()
	store, th := new(checkpoint.Memory), graph.ID("t")
	_, err := q.build(t, store).Run(t.Context(), th, nil)
	ids, left := map[string]string{}, map[string]bool{}
	for i := range q.k {
		left[fmt.Sprintf("%d/0", i)] = true
	}
	for j, order := range orders {
		for _, block := range order {
			in, entered := paused(t, err), q.entered
			q.sameOpen(t, in.Questions, left, ids)
			_, err = q.build(t, store).Resume(t.Context(), th) // nobody has answered: nothing runs
			q.sameOpen(t, paused(t, err).Questions, left, ids)
			if q.entered != entered {
				t.Fatalf("a node was entered although it waits: %d, %d", entered, q.entered)
			}
			var cmds []graph.Command
			for _, i := range block {
				what := fmt.Sprintf("%d/%d", i, j)
				delete(left, what)
				if j == 0 {
					left[fmt.Sprintf("%d/1", i)] = true
				}
				cmds = append(cmds, graph.AnswerID(ids[what], "answer to "+what))
			}
			_, err = q.build(t, store).Resume(t.Context(), th, cmds...)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	said := &stateOf(t, q.build(t, store), th, -1).State.Said
	for i := range q.k {
		for j := range orders {
			what := fmt.Sprintf("%d/%d", i, j)
			if a, _ := said.Get(what); a != "answer to "+what || q.effects[what] != 1 {
				t.Fatalf("%s was answered with %q, and its effect ran %d times", what, a, q.effects[what])
			}
		}
	}
}

// sameOpen compares what is open with what should be, and notes the ids: a question keeps its id.
func (q *quiz) sameOpen(t *testing.T, open []graph.Question, want map[string]bool, ids map[string]string) {
	t.Helper()
	var got []string
	for _, o := range open {
		got = append(got, o.Text())
		if was := ids[o.Text()]; was != "" && was != o.ID {
			t.Fatalf("%s has another id", o.Text())
		}
		ids[o.Text()] = o.ID
		if len(o.Path) < q.depth {
			t.Fatalf("%s is asked in %v", o.Text(), o.Path)
		}
	}
	slices.Sort(got)
	var should []string
	for w := range want {
		should = append(should, w)
	}
	slices.Sort(should)
	if !slices.Equal(got, should) {
		t.Fatalf("open: %s; should be %s", strings.Join(got, " "), strings.Join(should, " "))
	}
}

// Four questions at depths 0, 1 and 2 at once: the stream, the error and the state list the same ones; an answer without an id is refused
// with all of them. // report 212 // E31
func TestQuestionsOfAllDepthsAreListedAlike(t *testing.T) {
	t.Parallel()
	inner := chain(t, "inner", graph.Options{}, asking("two"))
	middle := outer(t, inner, graph.Options{})
	g := fan(map[string]func(context.Context, *notes) error{"a": asking("zero"), "b": asking("none"), "c": func(ctx context.Context, s *notes) error {
		_, err := graph.Call(ctx, "one", chain(t, "one", graph.Options{}, asking("one")), nil)
		return err
	}})
	graph.Mount(g, "d", middle, nil, nil)
	g.Edge(graph.Start, "d")
	app, th := compile(t, g, graph.Options{Store: new(checkpoint.Memory)}), graph.ID("t")
	var streamed []string
	var err error
	for ev, e := range app.Stream(t.Context(), th, nil) {
		if ev.Kind == graph.QuestionAsked {
			streamed = append(streamed, ev.Question.ID)
		}
		err = e
	}
	var listed, stated []string
	for _, q := range paused(t, err).Questions {
		listed = append(listed, q.ID)
	}
	for _, q := range stateOf(t, app, th, -1).Questions {
		stated = append(stated, q.ID)
	}
	slices.Sort(streamed)
	slices.Sort(listed)
	slices.Sort(stated)
	if len(listed) != 4 || !slices.Equal(streamed, listed) || !slices.Equal(stated, listed) {
		t.Fatalf("streamed %v, returned %v, in the state %v", streamed, listed, stated)
	}
	_, err = app.Resume(t.Context(), th, graph.AnswerOnly("yes"))
	if e, ok := errors.AsType[*graph.AmbiguousError](err); !ok || len(e.Questions) != 4 {
		t.Fatalf("got %v", err)
	}
}
