package graph_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

type size struct {
	W int `json:"w"`
	H int `json:"h"`
}

// A bad answer is refused when it is given, by whatever App shares the store; nothing changes. // E32
func TestAnswerIsCheckedWhenGiven(t *testing.T) {
	t.Parallel()
	store := new(checkpoint.Memory)
	build := func() *graph.App[notes] {
		return compile(t, fan(map[string]func(context.Context, *notes) error{"a": func(ctx context.Context, s *notes) error {
			a, err := graph.Ask[size](ctx, "a", "how large?")
			s.Value.Set(fmt.Sprint(a))
			return err
		}}), graph.Options{Store: store})
	}
	th := graph.ID("t")
	_, err := build().Run(t.Context(), th, nil)
	q := paused(t, err).Questions[0]
	other := build()
	for _, bad := range []graph.Command{
		graph.Answer(q, "large"), graph.Answer(q, true), graph.Answer[*int](q, nil), graph.AnswerJSON(q.ID, json.RawMessage(`{"w":1.5,"h":2}`)),
		graph.AnswerJSON(q.ID, json.RawMessage(`{"w":1,"h":2,"d":3}`)), graph.AnswerJSON(q.ID, json.RawMessage(`[1,2]`)),
	} {
		_, err := other.Resume(t.Context(), th, bad)
		wantErr(t, err, graph.ErrBadAnswer)
	}
	if _, err := other.Resume(t.Context(), th, graph.AnswerJSON(q.ID, json.RawMessage(`{"w":`))); err == nil {
		t.Error("cut JSON was taken")
	}
	st, err := other.State(t.Context(), th)
	if err != nil || len(st.Questions) != 1 || st.Questions[0].ID != q.ID || st.Questions[0].Refused != "" {
		t.Fatalf("%v %+v", err, st)
	}
	out, err := other.Resume(t.Context(), th, graph.AnswerJSON(q.ID, json.RawMessage(`{"h":2,"w":1}`)))
	if err != nil || out.Value.Get() != "{1 2}" {
		t.Fatalf("%v %q", err, out.Value.Get())
	}
}

// An answer that the question's own check refuses opens the question again with the reason, in the log too. // E32
func TestAnswerIsCheckedWhenUsed(t *testing.T) {
	t.Parallel()
	app := compile(t, fan(map[string]func(context.Context, *notes) error{"a": func(ctx context.Context, s *notes) error {
		a, err := graph.Ask(ctx, "a", "how many?", graph.AskOptions[int]{Check: func(n int) error {
			if n < 0 {
				return errors.New("it must not be negative")
			}
			return nil
		}})
		s.Total.Add(a)
		return err
	}}), graph.Options{Store: new(checkpoint.Memory)})
	th := graph.ID("t")
	_, err := app.Run(t.Context(), th, nil)
	q := paused(t, err).Questions[0]
	for range 3 {
		_, err = app.Resume(t.Context(), th, graph.Answer(q, -1))
		again := paused(t, err).Questions
		if len(again) != 1 || again[0].ID != q.ID || again[0].Refused != "it must not be negative" {
			t.Fatalf("%+v", again)
		}
		st, err := app.State(t.Context(), th)
		if err != nil || len(st.Questions) != 1 || st.Questions[0].Refused != "it must not be negative" {
			t.Fatalf("%v: the state shows %+v", err, st.Questions)
		}
	}
	out, err := app.Resume(t.Context(), th, graph.Answer(q, 4))
	if err != nil || out.Total.Get() != 4 {
		t.Fatalf("%v %d", err, out.Total.Get())
	}
}

// asksFor is a node that asks for an A and notes that it was answered.
func asksFor[A any](s func(A) string) func(context.Context, *notes) error {
	return func(ctx context.Context, n *notes) error {
		a, err := graph.Ask[A](ctx, "q", "?")
		if err == nil {
			n.Value.Set("answered " + s(a))
		}
		return err
	}
}

// nil, false, 0 and "" are answers. // E32
func TestEmptyAnswers(t *testing.T) {
	t.Parallel()
	show := func(v any) string { return fmt.Sprintf("%#v", v) }
	for name, c := range map[string]struct {
		node   func(context.Context, *notes) error
		answer func(graph.Question) graph.Command
	}{
		"false":       {asksFor(func(v bool) string { return show(v) }), func(q graph.Question) graph.Command { return graph.Answer(q, false) }},
		"0":           {asksFor(func(v int) string { return show(v) }), func(q graph.Question) graph.Command { return graph.Answer(q, 0) }},
		`""`:          {asksFor(func(v string) string { return show(v) }), func(q graph.Question) graph.Command { return graph.Answer(q, "") }},
		"(*int)(nil)": {asksFor(func(v *int) string { return show(v) }), func(q graph.Question) graph.Command { return graph.Answer[*int](q, nil) }},
		"[]int(nil)":  {asksFor(func(v []int) string { return show(v) }), func(q graph.Question) graph.Command { return graph.Answer[[]int](q, nil) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app := compile(t, fan(map[string]func(context.Context, *notes) error{"a": c.node}), graph.Options{Store: new(checkpoint.Memory)})
			_, err := app.Run(t.Context(), graph.ID("t"), nil)
			q := paused(t, err).Questions[0]
			out, err := app.Resume(t.Context(), graph.ID("t"), c.answer(q))
			if err != nil || out.Value.Get() != "answered "+name {
				t.Fatalf("%v %q", err, out.Value.Get())
			}
		})
	}
}

// Any subset may be answered in any order. Answered questions are not shown as open; a node runs again only with all of
// its answers; what was answered is never asked again. // E33 // report 47 // report 52 // report 27
func TestEveryOrderOfAnswers(t *testing.T) {
	t.Parallel()
	all := []string{"a1", "a2", "b1", "b2", "b3"}
	permute(all, func(order []string) {
		var entered atomic.Int32
		node := func(qs ...string) func(context.Context, *notes) error {
			return func(ctx context.Context, s *notes) error {
				entered.Add(1)
				var errs []error
				for _, q := range qs {
					a, err := graph.Ask[string](ctx, q, q)
					if err == nil {
						s.Said.Put(q, a)
					}
					errs = append(errs, err)
				}
				return errors.Join(errs...)
			}
		}
		app := compile(t, fan(map[string]func(context.Context, *notes) error{"a": node("a1", "a2"), "b": node("b1", "b2", "b3")}), graph.Options{Store: new(checkpoint.Memory)})
		th := graph.ID("t")
		_, err := app.Run(t.Context(), th, nil)
		byName := map[string]graph.Question{}
		for _, q := range paused(t, err).Questions {
			byName[q.Name] = q
		}
		left := slices.Clone(all)
		var out *notes
		for _, name := range order {
			out, err = app.Resume(t.Context(), th, graph.Answer(byName[name], "to "+name))
			left = slices.DeleteFunc(left, func(s string) bool { return s == name })
			if len(left) == 0 {
				break
			}
			if got := names(paused(t, err).Questions); !slices.Equal(got, left) {
				t.Fatalf("order %v: open after %s: %v, want %v", order, name, got, left)
			}
			st, err := app.State(t.Context(), th)
			if err != nil || !slices.Equal(names(st.Questions), left) {
				t.Fatalf("order %v: the state shows %v, want %v", order, names(st.Questions), left)
			}
			if _, err := app.Run(t.Context(), th, nil); !errors.Is(err, graph.ErrBusy) { // plain input is no answer
				t.Fatalf("new input on a paused thread: %v", err)
			}
		}
		if err != nil || entered.Load() != 4 {
			t.Fatalf("order %v: %v, entered %d times", order, err, entered.Load())
		}
		for _, name := range all {
			if got, _ := out.Said.Get(name); got != "to "+name {
				t.Fatalf("order %v: %s got %q", order, name, got)
			}
		}
	})
}

func permute(s []string, f func([]string)) {
	if len(s) <= 1 {
		f(s)
		return
	}
	for i := range s {
		rest := append(slices.Clone(s[:i]), s[i+1:]...)
		permute(rest, func(tail []string) { f(append([]string{s[i]}, tail...)) })
	}
}

// n asks in a loop need n answers; an effect in Once before each ask happens once. // E34 // report 22
func TestAskInALoop(t *testing.T) {
	t.Parallel()
	var effects, entered atomic.Int32
	app := compile(t, fan(map[string]func(context.Context, *notes) error{"a": func(ctx context.Context, s *notes) error {
		entered.Add(1)
		for range 3 {
			if _, err := graph.Once(ctx, "effect", func(context.Context, string) (int, error) { return int(effects.Add(1)), nil }); err != nil {
				return err
			}
			a, err := graph.Ask[string](ctx, "q", "?")
			if err != nil {
				return err
			}
			s.Log.Append(a)
		}
		return nil
	}}), graph.Options{Store: new(checkpoint.Memory)})
	th := graph.ID("t")
	_, err := app.Run(t.Context(), th, nil)
	for i := range 3 {
		q := paused(t, err).Questions
		if len(q) != 1 || int(effects.Load()) != i+1 {
			t.Fatalf("ask %d: %d open, %d effects", i, len(q), effects.Load())
		}
		_, err = app.Resume(t.Context(), th, graph.Answer(q[0], fmt.Sprint(i)))
	}
	st, serr := app.State(t.Context(), th)
	if err != nil || serr != nil || strings.Join(st.State.Log.Slice(), " ") != "0 1 2 done" || effects.Load() != 3 || entered.Load() != 4 {
		t.Fatalf("%v %v: %v, %d effects, entered %d times", err, serr, st.State.Log.Slice(), effects.Load(), entered.Load())
	}
}

// k parallel sends each ask for themselves; the answers reach the right ones and the reduce step runs once. // E34 // report 42
func TestAskInParallelSends(t *testing.T) {
	t.Parallel()
	g := graph.New[notes]("sends")
	each := graph.Each(g, "each", func(ctx context.Context, s *notes, n int) error {
		a, err := graph.Ask[string](ctx, "name", fmt.Sprintf("name of %d?", n))
		if err == nil {
			s.Said.Put(fmt.Sprint(n), a)
		}
		return err
	})
	g.Route(graph.Start, func(context.Context, *notes) (graph.Next, error) { return each.Send(0, 1, 2, 3), nil }, "each")
	g.Node("done", func(ctx context.Context, s *notes) error { s.Total.Add(1); return nil })
	g.Edge("each", "done")
	app := compile(t, g, graph.Options{Store: new(checkpoint.Memory)})
	th := graph.ID("t")
	_, err := app.Run(t.Context(), th, nil)
	qs := paused(t, err).Questions
	if len(qs) != 4 {
		t.Fatalf("%d questions", len(qs))
	}
	var cmds []graph.Command
	for i, q := range qs {
		if want := fmt.Sprintf("name of %d?", i); q.Text() != want {
			t.Errorf("question %d is %q, want %q", i, q.Text(), want)
		}
		cmds = append(cmds, graph.Answer(q, fmt.Sprintf("n%d", i)))
	}
	slices.Reverse(cmds)
	out, err := app.Resume(t.Context(), th, cmds...)
	if err != nil || out.Total.Get() != 1 || out.Said.Len() != 4 {
		t.Fatalf("%v: done ran %d times, %d answers", err, out.Total.Get(), out.Said.Len())
	}
	for i := range 4 {
		if got, _ := out.Said.Get(fmt.Sprint(i)); got != fmt.Sprintf("n%d", i) {
			t.Errorf("%d got %q", i, got)
		}
	}
}

// A chain of pausing nodes runs forward only: each stage starts once and is repeated once for its answer. // report 25 // report 50
func TestPausingChainGoesForward(t *testing.T) {
	t.Parallel()
	var counts [3]atomic.Int32
	g := graph.New[notes]("chain")
	last := graph.Start
	for i := range 3 {
		name := fmt.Sprintf("s%d", i)
		g.Node(name, func(ctx context.Context, s *notes) error {
			counts[i].Add(1)
			if i == 2 {
				return nil
			}
			return asking(name)(ctx, s)
		})
		g.Edge(last, name)
		last = name
	}
	app := compile(t, g, graph.Options{Store: new(checkpoint.Memory)})
	th := graph.ID("t")
	_, err := app.Run(t.Context(), th, nil)
	for i := range 2 {
		st, serr := app.State(t.Context(), th)
		if serr != nil || len(st.Next) != 1 || st.Next[0].Node != fmt.Sprintf("s%d", i) || !st.Next[0].Waiting {
			t.Fatalf("%v: next %+v", serr, st.Next)
		}
		_, err = app.Resume(t.Context(), th, graph.Answer(paused(t, err).Questions[0], "go"))
	}
	if err != nil || counts[0].Load() != 2 || counts[1].Load() != 2 || counts[2].Load() != 1 {
		t.Fatalf("%v: the stages ran %d, %d, %d times", err, counts[0].Load(), counts[1].Load(), counts[2].Load())
	}
}

// Who answered and what is in the log; who must not answer cannot. // E31
func TestWhoAnswered(t *testing.T) {
	t.Parallel()
	store := new(checkpoint.Memory)
	app := compile(t, fan(map[string]func(context.Context, *notes) error{"a": func(ctx context.Context, s *notes) error {
		_, err := graph.Ask(ctx, "a", "?", graph.AskOptions[bool]{NotBy: "asker"})
		return err
	}}), graph.Options{Store: store})
	th := graph.ID("t")
	_, err := app.Run(t.Context(), th, nil)
	q := paused(t, err).Questions[0]
	_, err = app.With(graph.RunOptions{By: "asker"}).Resume(t.Context(), th, graph.Answer(q, true))
	wantErr(t, err, checkpoint.ErrNotAllowed)
	changed := q
	changed.Shown = []byte("something else")
	_, err = app.Resume(t.Context(), th, graph.Answer(changed, true).By("boss"))
	wantErr(t, err, checkpoint.ErrChanged)
	if _, err = app.Resume(t.Context(), th, graph.Answer(q, true).By("boss")); err != nil {
		t.Fatal(err)
	}
	_, err = app.Resume(t.Context(), th, graph.Answer(q, true).By("late"))
	wantErr(t, err, graph.ErrNotPending)
	recs, err := store.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: checkpoint.Key{Tenant: th.Tenant, Thread: th.ID}}, To: -1})
	if err != nil || !slices.ContainsFunc(recs, func(r checkpoint.Record) bool {
		return r.Kind == checkpoint.KindEntry && strings.Contains(string(r.Body), `"q":[{"q":"`+q.ID+`","by":"boss","at":"`)
	}) {
		t.Fatalf("%v: the log does not say who answered", err)
	}
}
