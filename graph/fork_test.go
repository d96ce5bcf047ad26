package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// A desk is a graph with a question and an effect: draft, then pay (asks, then charges), then close.
type desk struct {
	mu   sync.Mutex
	keys []string // idempotency keys of charges that were run
}

func (d *desk) app(t testing.TB, store checkpoint.Store) *graph.App[notes] {
	return d.with(t, graph.Options{Store: store})
}

func (d *desk) with(t testing.TB, o graph.Options) *graph.App[notes] {
	g := graph.New[notes]("desk")
	g.Node("draft", func(_ context.Context, s *notes) error { s.Log.Append("draft"); return nil })
	g.Node("pay", func(ctx context.Context, s *notes) error {
		ok, err := graph.Ask[bool](ctx, "approve", "pay "+s.Value.Get()+"?")
		if err != nil {
			return err
		}
		receipt := "nothing"
		if ok {
			if receipt, err = graph.Once(ctx, "charge", d.charge); err != nil {
				return err
			}
		}
		s.Log.Append("paid " + receipt)
		return nil
	})
	g.Node("close", func(_ context.Context, s *notes) error { s.Total.Add(1); return nil })
	g.Edge(graph.Start, "draft")
	g.Edge("draft", "pay")
	g.Edge("pay", "close")
	g.Edge("close", graph.End)
	return compile(t, g, o)
}

func (d *desk) charge(_ context.Context, key string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keys = append(d.keys, key)
	return fmt.Sprintf("receipt %d", len(d.keys)), nil
}

func amount(v string) func(*notes) { return func(s *notes) { s.Value.Set(v) } }

// entries returns the history, oldest first.
func entries[S any](t testing.TB, app *graph.App[S], th graph.Thread) (out []graph.EntryInfo) {
	t.Helper()
	for e, err := range app.History(t.Context(), th) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	slices.Reverse(out)
	return out
}

// recordsOf returns every record of a branch, as text.
func recordsOf(t testing.TB, store checkpoint.Store, th graph.Thread, branch int32) (out []string) {
	t.Helper()
	key := checkpoint.Key{Tenant: th.Tenant, Thread: th.ID}
	recs, err := store.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: key, Branch: branch}, To: -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range recs {
		out = append(out, fmt.Sprintf("%c %d %d %d %s", r.Kind, r.Pos, r.Base, r.Ord, r.Body))
	}
	return out
}

func stateOf[S any](t testing.TB, app *graph.App[S], th graph.Thread, entry int64) *graph.Snapshot[S] {
	t.Helper()
	s, err := app.StateAt(t.Context(), th, entry)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A run is paused, answered, and forked from before the question: the fork asks again under another id, and its answer leads to
// another end. The first branch stays as it was, byte for byte. // E42 E39 // report 49 184 186 189
func TestForkAsksAgain(t *testing.T) {
	t.Parallel()
	d, store, th := &desk{}, &checkpoint.Memory{}, graph.ID("t")
	app := d.app(t, store)
	_, err := app.Run(t.Context(), th, amount("10"))
	first := paused(t, err).Questions[0]
	if _, err := app.Resume(t.Context(), th, graph.Answer(first, true)); err != nil {
		t.Fatal(err)
	}
	before := recordsOf(t, store, th, 0)
	hist := entries(t, app, th)
	drafted := hist[1].Pos

	_, err = app.Fork(t.Context(), th, drafted, graph.ForkOptions{Name: "again"})
	wantErr(t, err, graph.ErrEffects)
	if e, ok := errors.AsType[*graph.EffectsError](err); !ok || len(e.Effects) != 1 || e.Effects[0].Name != "charge" || e.Effects[0].Unknown {
		t.Fatalf("the effects are %+v", err)
	}
	fork, err := app.Fork(t.Context(), th, drafted, graph.ForkOptions{Name: "again", Effects: graph.Rerun})
	if err != nil || fork.Branch != "again" {
		t.Fatalf("%v, %v", fork, err)
	}
	at := stateOf(t, app, th, -1)
	if at.Status != checkpoint.Interrupted || len(at.Next) != 1 || at.Next[0].Node != "pay" || at.State.Log.Len() != 1 {
		t.Fatalf("the fork stands at %+v", at.ThreadInfo)
	}
	_, err = d.app(t, store).Resume(t.Context(), fork) // another process
	second := paused(t, err).Questions[0]
	if second.ID == first.ID || second.Text() != first.Text() {
		t.Fatalf("the fork asks %+v after %+v", second, first)
	}
	out, err := app.Resume(t.Context(), th, graph.Answer(second, false)) // a plain thread means the active branch
	if err != nil {
		t.Fatal(err)
	}
	if got := out.Log.Slice(); !slices.Equal(got, []string{"draft", "paid nothing"}) {
		t.Fatalf("the fork ends with %q", got)
	}
	if !slices.Equal(before, recordsOf(t, store, th, 0)) {
		t.Error("the first branch has changed")
	}
	main := stateOf(t, app, graph.Thread{Tenant: th.Tenant, ID: th.ID, Branch: graph.Main}, -1)
	if got := main.State.Log.Slice(); !slices.Equal(got, []string{"draft", "paid receipt 1"}) || main.Status != checkpoint.Completed {
		t.Errorf("the first branch says %q, %s", got, main.Status)
	}
	fresh := entries(t, app, th)
	if fresh[0].Kind != checkpoint.KindSeal || *fresh[0].From != (graph.Origin{Branch: graph.Main, Entry: drafted, Reason: "fork"}) {
		t.Errorf("the fork begins with %+v", fresh[0])
	}
	if _, err := app.Run(t.Context(), th, amount("20")); !errors.Is(err, graph.ErrInterrupted) { // the next input follows the fork
		t.Fatal(err)
	}
	if got := stateOf(t, app, th, -1).State.Log.Len(); got != 3 {
		t.Errorf("the next run goes on from %d lines", got)
	}
}

// Effects behind the entry: taken over, or run again under another key. // E42 E23
func TestForkEffects(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		effects graph.Effects
		charges int
		last    string
	}{{graph.Reuse, 1, "paid receipt 1"}, {graph.Rerun, 2, "paid receipt 2"}} {
		t.Run(string(tc.effects), func(t *testing.T) {
			t.Parallel()
			d, store, th := &desk{}, &checkpoint.Memory{}, graph.ID("t")
			app := d.app(t, store)
			_, err := app.Run(t.Context(), th, amount("10"))
			if _, err = app.Resume(t.Context(), th, graph.Answer(paused(t, err).Questions[0], true)); err != nil {
				t.Fatal(err)
			}
			fork, err := app.Fork(t.Context(), th, 0, graph.ForkOptions{Effects: tc.effects})
			if err != nil || fork.Branch != "fork-1" {
				t.Fatalf("%v, %v", fork, err)
			}
			_, err = app.Resume(t.Context(), fork)
			if tc.effects == graph.Reuse { // a fork of the fork takes them over as well, when the origin is long gone
				if _, err := app.Retain(t.Context(), graph.Thread{Tenant: th.Tenant, ID: th.ID, Branch: graph.Main}, graph.Retention{KeepLast: 1}); err != nil {
					t.Fatal(err)
				}
				_, err = app.Fork(t.Context(), th, -1, graph.ForkOptions{})
				wantErr(t, err, graph.ErrEffects)
				if fork, err = app.Fork(t.Context(), th, -1, graph.ForkOptions{Effects: graph.Reuse}); err != nil {
					t.Fatal(err)
				}
				_, err = app.Resume(t.Context(), fork)
			}
			out, err := app.Resume(t.Context(), fork, graph.Answer(paused(t, err).Questions[0], true))
			if err != nil {
				t.Fatal(err)
			}
			if last, _ := out.Log.Last(); len(d.keys) != tc.charges || last != tc.last {
				t.Errorf("%d charges, the fork says %q", len(d.keys), last)
			}
			if len(d.keys) == 2 && d.keys[0] == d.keys[1] {
				t.Error("another effect has the same key")
			}
		})
	}
}

// Only the active branch runs and is answered; a question of another branch says which one it is. Activate wakes it. // E42 E31
func TestDormantBranch(t *testing.T) {
	t.Parallel()
	d, store, th := &desk{}, &checkpoint.Memory{}, graph.ID("t")
	app := d.app(t, store)
	_, err := app.Run(t.Context(), th, amount("10"))
	q := paused(t, err).Questions[0]
	run := stateOf(t, app, th, -1).Run
	fork, err := app.Fork(t.Context(), th, -1, graph.ForkOptions{Name: "b"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = app.Resume(t.Context(), th, graph.Answer(q, true))
	wantErr(t, err, graph.ErrNotPending)
	wantErr(t, err, graph.ErrDormant)
	main := graph.Thread{Tenant: th.Tenant, ID: th.ID, Branch: graph.Main}
	for _, call := range []func() error{
		func() error { _, err := app.Resume(t.Context(), main); return err },
		func() error { _, err := app.Run(t.Context(), main, nil); return err },
		func() error { return app.Cancel(t.Context(), main) },
		func() error { _, err := app.Edit(t.Context(), main, -1, "pay", amount("1")); return err },
	} {
		wantErr(t, call(), graph.ErrDormant)
	}
	_, err = app.Resume(t.Context(), main, graph.Answer(q, true))
	wantErr(t, err, graph.ErrNotPending)
	s := stateOf(t, app, main, -1)
	if s.Status != checkpoint.Interrupted || len(s.Questions) != 1 || len(s.Branches) != 2 || !s.Branches[1].Active || s.Branches[1].From != graph.Main {
		t.Errorf("the dormant branch is %+v", s.ThreadInfo)
	}
	_, err = app.Fork(t.Context(), th, -1, graph.ForkOptions{Name: "b"})
	wantErr(t, err, graph.ErrInUse)
	_, err = app.State(t.Context(), graph.Thread{Tenant: th.Tenant, ID: th.ID, Branch: "none"})
	wantErr(t, err, graph.ErrNoThread)

	if err := app.Activate(t.Context(), main); err != nil {
		t.Fatal(err)
	}
	out, err := app.Resume(t.Context(), th, graph.Answer(q, true))
	if err != nil || out.Total.Get() != 1 {
		t.Fatalf("%v, %v", out, err)
	}
	runs, err := store.Runs(t.Context(), checkpoint.RunFilter{Tenant: th.Tenant, Thread: th.ID})
	if err != nil || len(runs) != 2 {
		t.Fatalf("%v, %v", runs, err)
	}
	for _, r := range runs { // each branch has its own run, and only the one that ran has ended
		if want := map[bool]checkpoint.Status{true: checkpoint.Completed, false: checkpoint.Interrupted}[r.ID == run]; r.Status != want {
			t.Errorf("run %s is %s, want %s", r.ID, r.Status, want)
		}
	}
	if err := app.Activate(t.Context(), fork); err != nil {
		t.Fatal(err)
	}
	_, err = app.Resume(t.Context(), th)
	if p := paused(t, err); p.Questions[0].ID == q.ID {
		t.Error("the fork has the question of its origin")
	}
	if err := app.Cancel(t.Context(), fork); err != nil {
		t.Fatal(err)
	}
}

// Every entry of a thread can be forked from, and the fork has the state of that entry and what was next. // E42
func TestForkFromEveryEntry(t *testing.T) {
	t.Parallel()
	store, th := &checkpoint.Memory{}, graph.ID("t")
	g := graph.New[notes]("fan")
	g.Node("plan", func(_ context.Context, s *notes) error { s.Log.Append("plan"); return nil })
	work := graph.Each(g, "work", func(_ context.Context, s *notes, n int) error { s.Total.Add(n); return nil })
	g.Node("join", func(_ context.Context, s *notes) error { s.Log.Append("join"); return nil })
	g.Edge(graph.Start, "plan")
	g.Route("plan", func(context.Context, *notes) (graph.Next, error) { return work.Send(1, 2, 3), nil }, "work")
	g.Edge("work", "join")
	g.Edge("join", graph.End)
	app := compile(t, g, graph.Options{Store: store})
	for range 2 {
		if _, err := app.Run(t.Context(), th, amount("x")); err != nil {
			t.Fatal(err)
		}
	}
	main := graph.Thread{Tenant: th.Tenant, ID: th.ID, Branch: graph.Main}
	for _, e := range entries(t, app, main) {
		was := stateOf(t, app, main, e.Pos)
		fork, err := app.Fork(t.Context(), main, e.Pos, graph.ForkOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got := stateOf(t, app, fork, -1)
		if g, w := fmt.Sprint(got.State.Log.Slice(), got.State.Total.Get(), got.Next, got.Step), fmt.Sprint(was.State.Log.Slice(), was.State.Total.Get(), was.Next, was.Step); g != w {
			t.Errorf("forked from entry %d: %s, want %s", e.Pos, g, w)
		}
		switch out, err := app.Resume(t.Context(), fork); {
		case len(was.Next) == 0:
			wantErr(t, err, graph.ErrNothingToDo)
		case err != nil:
			t.Fatal(err)
		case out.Total.Get()%6 != 0:
			t.Errorf("the fork from entry %d ends with %d", e.Pos, out.Total.Get())
		}
	}
}
