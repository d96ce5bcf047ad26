package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

// fan is a graph in which all named nodes run at once and join in "done".
func fan(nodes map[string]func(context.Context, *notes) error) *graph.Graph[notes] {
	g := graph.New[notes]("fan")
	var names []string
	for name := range nodes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		g.Node(name, nodes[name])
		g.Edge(graph.Start, name)
	}
	g.Node("done", func(ctx context.Context, s *notes) error { s.Log.Append("done"); return nil })
	if len(names) > 1 {
		g.Join(names, "done")
	} else {
		g.Edge(names[0], "done")
	}
	return g
}

// asking is a node that asks once under its name and notes the answer.
func asking(name string) func(context.Context, *notes) error {
	return func(ctx context.Context, s *notes) error {
		a, err := graph.Ask[string](ctx, name, "what is "+name+"?")
		if err == nil {
			s.Said.Put(name, a)
		}
		return err
	}
}

func names(qs []graph.Question) (out []string) {
	for _, q := range qs {
		out = append(out, q.Name)
	}
	return out
}

// All pauses of a step come together, siblings run to their end, a failing sibling's error is joined, one call may
// answer any subset. // E30 // E33 // report 42 // report 44 // report 56
func TestPausesOfAStepComeTogether(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	var runs, fails atomic.Int32
	g := fan(map[string]func(context.Context, *notes) error{
		"a": asking("a"), "b": asking("b"), "c": asking("c"),
		"plain": func(ctx context.Context, s *notes) error { runs.Add(1); s.Log.Append("plain"); return nil },
		"fail": func(ctx context.Context, s *notes) error {
			if fails.Add(1) == 1 {
				return broken
			}
			return nil
		},
	})
	app := compile(t, g, graph.Options{Store: new(checkpoint.Memory)})
	th := graph.ID("t")
	_, err := app.Run(t.Context(), th, nil)
	in := paused(t, err)
	wantErr(t, err, broken)
	if got := names(in.Questions); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Fatalf("open: %v", got)
	}
	_, err = app.Resume(t.Context(), th, graph.Answer(in.Questions[2], "C"), graph.Answer(in.Questions[0], "A"))
	in = paused(t, err)
	if got := names(in.Questions); !slices.Equal(got, []string{"b"}) {
		t.Fatalf("open after two answers: %v", got)
	}
	out, err := app.Resume(t.Context(), th, graph.AnswerOnly("B"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"a", "b", "c"} {
		if got, _ := out.Said.Get(n); got != strings.ToUpper(n) {
			t.Errorf("%s got answer %q", n, got)
		}
	}
	if got := out.Log.Slice(); !slices.Equal(got, []string{"plain", "done"}) || runs.Load() != 1 {
		t.Errorf("log %v, plain ran %d times", got, runs.Load())
	}
}

// A pause is written before anybody hears of it. // E30
func TestPauseIsDurableFirst(t *testing.T) {
	t.Parallel()
	store := faultstore.New(new(checkpoint.Memory))
	store.At("Append", 1, faultstore.CrashBefore)
	var seen atomic.Int32
	app := compile(t, fan(map[string]func(context.Context, *notes) error{"a": asking("a")}), graph.Options{
		Store: store, StorePatience: 50 * time.Millisecond, OnEvent: func(e graph.Event) {
			if e.Kind == graph.QuestionAsked || e.Kind == graph.RunInterrupted {
				seen.Add(1)
			}
		},
	})
	_, err := app.Run(t.Context(), graph.ID("t"), nil)
	if errors.Is(err, graph.ErrInterrupted) || err == nil || seen.Load() != 0 {
		t.Fatalf("got %v and %d events of a pause that was not written", err, seen.Load())
	}
}

// Several questions of one node are gathered; the node runs again only when all of them have answers. // E30 // E33 // report 23
func TestGatheredQuestionsRunTheNodeOnceMore(t *testing.T) {
	t.Parallel()
	var entered atomic.Int32
	app := compile(t, fan(map[string]func(context.Context, *notes) error{"a": func(ctx context.Context, s *notes) error {
		entered.Add(1)
		x, err1 := graph.Ask[string](ctx, "x", "x?")
		y, err2 := graph.Ask[int](ctx, "y", "y?")
		z, err3 := graph.Ask[bool](ctx, "z", "z?")
		if err := errors.Join(err1, fmt.Errorf("wrapped: %w", err2), err3); err1 != nil || err2 != nil || err3 != nil {
			return err
		}
		s.Value.Set(fmt.Sprint(x, y, z))
		return nil
	}}), graph.Options{Store: new(checkpoint.Memory)})
	th := graph.ID("t")
	_, err := app.Run(t.Context(), th, nil)
	qs := paused(t, err).Questions
	if got := names(qs); !slices.Equal(got, []string{"x", "y", "z"}) {
		t.Fatalf("open: %v", got)
	}
	_, err = app.Resume(t.Context(), th, graph.Answer(qs[1], 7))
	paused(t, err)
	_, err = app.Resume(t.Context(), th, graph.Answer(qs[2], true))
	if left := paused(t, err).Questions; len(left) != 1 || left[0].ID != qs[0].ID || entered.Load() != 1 {
		t.Fatalf("left %v, entered %d times", names(left), entered.Load())
	}
	out, err := app.Resume(t.Context(), th, graph.Answer(qs[0], "v"))
	if err != nil || out.Value.Get() != "v7 true" && out.Value.Get() != "v 7 true" || entered.Load() != 2 {
		t.Fatalf("%v %q entered %d times", err, out.Value.Get(), entered.Load())
	}
}

// A node that hides a question fails and says so. It is not retried, and no handler hears of it. // E30 // E18 // E20 // report 55
func TestSwallowedQuestion(t *testing.T) {
	t.Parallel()
	for name, hide := range map[string]func(error) error{
		"returned nil":       func(error) error { return nil },
		"made another error": func(err error) error { return fmt.Errorf("tool failed: %v", err) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var entered, handled atomic.Int32
			g := fan(map[string]func(context.Context, *notes) error{"a": func(ctx context.Context, s *notes) error {
				entered.Add(1)
				_, err := graph.Ask[bool](ctx, "ok", "ok?")
				return hide(err)
			}})
			g.Policy("a", graph.Policy{Attempts: 3, Backoff: 1})
			g.Handle("a", func(context.Context, *notes, error) (graph.Next, error) { handled.Add(1); return graph.Next{}, nil })
			app := compile(t, g, graph.Options{Store: new(checkpoint.Memory)})
			_, err := app.Run(t.Context(), graph.ID("t"), nil)
			wantErr(t, err, graph.ErrSwallowed)
			if entered.Load() != 1 || handled.Load() != 0 {
				t.Fatalf("entered %d times, handler ran %d times", entered.Load(), handled.Load())
			}
		})
	}
}

// A pause is neither retried nor handled: the node starts once for the pause and once for the answer. // E18 // report 24
func TestPauseIsNoFailure(t *testing.T) {
	t.Parallel()
	var entered, handled atomic.Int32
	g := fan(map[string]func(context.Context, *notes) error{"a": func(ctx context.Context, s *notes) error {
		entered.Add(1)
		return asking("a")(ctx, s)
	}})
	g.Policy("a", graph.Policy{Attempts: 4, Backoff: 1, Retry: func(error) bool { return true }})
	g.Handle(graph.All, func(context.Context, *notes, error) (graph.Next, error) { handled.Add(1); return graph.Next{}, nil })
	app := compile(t, g, graph.Options{Store: new(checkpoint.Memory)})
	_, err := app.Run(t.Context(), graph.ID("t"), nil)
	in := paused(t, err)
	if entered.Load() != 1 {
		t.Fatalf("entered %d times before the answer", entered.Load())
	}
	if _, err := app.Resume(t.Context(), graph.ID("t"), graph.Answer(in.Questions[0], "x")); err != nil || entered.Load() != 2 || handled.Load() != 0 {
		t.Fatalf("%v, entered %d times, handler ran %d times", err, entered.Load(), handled.Load())
	}
}

// An id stays while its task is repeated and is new in the next superstep: a late answer never reaches another visit.
// Every visit pauses or ends. // E31 // report 51
func TestQuestionOfALoopHasAnIDPerVisit(t *testing.T) {
	t.Parallel()
	const visits = 50
	g := graph.New[notes]("loop")
	g.Node("a", func(ctx context.Context, s *notes) error {
		_, err := graph.Ask[bool](ctx, "again", "again?")
		s.Total.Add(1)
		return err
	})
	g.Edge(graph.Start, "a")
	g.Route("a", func(ctx context.Context, s *notes) (graph.Next, error) {
		if s.Total.Get() < visits {
			return graph.To("a"), nil
		}
		return graph.To(graph.End), nil
	}, "a", graph.End)
	app := compile(t, g, graph.Options{Store: new(checkpoint.Memory)})
	th := graph.ID("t")
	_, err := app.Run(t.Context(), th, nil)
	seen := map[string]bool{}
	for i := range visits {
		q := paused(t, err).Questions[0]
		if seen[q.ID] {
			t.Fatalf("visit %d has the id of an earlier one", i)
		}
		seen[q.ID] = true
		_, err = app.Resume(t.Context(), th)
		if again := paused(t, err).Questions; len(again) != 1 || again[0].ID != q.ID {
			t.Fatalf("visit %d: a plain resume changed the question", i)
		}
		if _, err = app.Resume(t.Context(), th, graph.Answer(q, true)); i < visits-1 {
			_, late := app.Resume(t.Context(), th, graph.Answer(q, false))
			wantErr(t, late, graph.ErrNotPending)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A bare answer goes only to a single open question; otherwise the error lists them and nothing changes. // E31 // report 45 // report 46
func TestBareAnswer(t *testing.T) {
	t.Parallel()
	app := compile(t, fan(map[string]func(context.Context, *notes) error{"a": asking("a"), "b": asking("b")}), graph.Options{Store: new(checkpoint.Memory)})
	th := graph.ID("t")
	_, err := app.Run(t.Context(), th, nil)
	in := paused(t, err)
	before, err := app.State(t.Context(), th)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		_, err := app.Resume(t.Context(), th, graph.AnswerOnly("x"))
		amb, ok := errors.AsType[*graph.AmbiguousError](err)
		if !ok || !slices.Equal(names(amb.Questions), []string{"a", "b"}) || !strings.Contains(err.Error(), in.Questions[1].ID) {
			t.Fatalf("got %v", err)
		}
	}
	after, err := app.State(t.Context(), th)
	if err != nil || after.Entry != before.Entry || len(after.Questions) != 2 {
		t.Fatalf("%v: a refused answer changed the thread: %+v", err, after.Status)
	}
	_, err = app.Resume(t.Context(), th, graph.AnswerID(in.Questions[0].ID, "x"))
	paused(t, err)
	_, err = app.Resume(t.Context(), th, graph.AnswerID(in.Questions[0].ID, "y")) // answered
	wantErr(t, err, graph.ErrNotPending)
	_, err = app.Resume(t.Context(), th, graph.AnswerID("nonsense", "y"))
	wantErr(t, err, graph.ErrNotPending)
	if _, err = app.Resume(t.Context(), th, graph.AnswerOnly("z")); err != nil {
		t.Fatal(err)
	}
	_, err = app.Resume(t.Context(), th, graph.AnswerOnly("z"))
	wantErr(t, err, graph.ErrAmbiguous)
}
