package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// Entries are numbered in the thread and in the run: input 0, first superstep 1. The order never comes from a clock, not
// even from one that runs backwards. // E39
func TestEntriesAreNumbered(t *testing.T) {
	t.Parallel()
	var clock handClock
	store := &checkpoint.Memory{Now: func() time.Time { clock.advance(-time.Hour); return clock.now() }}
	app := compile(t, counter(3, 0), graph.Options{Store: store, BreakAfter: []string{"a"}})
	th := graph.ID("t")
	for range 2 {
		_, err := app.Run(t.Context(), th, func(s *notes) { s.Total.Replace(0) })
		for i := 1; err != nil; i++ {
			paused(t, err)
			st, serr := app.State(t.Context(), th)
			if serr != nil || st.Step != int64(i) {
				t.Fatalf("%v: step %d in the run, want %d", serr, st.Step, i)
			}
			_, err = app.Resume(t.Context(), th)
		}
	}
	last := &graph.EntryInfo{Pos: 1 << 40, Step: 1 << 40}
	var inputs []int64
	for e, err := range app.History(t.Context(), th) {
		if err != nil || e.Pos >= last.Pos || e.Step >= last.Step {
			t.Fatalf("%v: entry %d, step %d behind entry %d, step %d", err, e.Pos, e.Step, last.Pos, last.Step)
		}
		if e.Kind == checkpoint.KindInput {
			inputs = append(inputs, e.Step)
		}
		st, err := app.StateAt(t.Context(), th, e.Pos)
		if err != nil || st.Entry != e.Pos || st.Run != e.Run {
			t.Fatalf("%v: the state at %d is of %d", err, e.Pos, st.Entry)
		}
		last = &e
	}
	if !slices.Equal(inputs, []int64{4, 0}) {
		t.Errorf("inputs at steps %v: the steps of a thread never start anew", inputs)
	}
	if _, err := app.StateAt(t.Context(), th, 1<<30); err == nil {
		t.Error("an entry that is not there has a state")
	}
}

// A run carries metadata and who started it; a thread keeps the owner it was made with. Both can be filtered by. // E39
func TestOwnerAndMetadata(t *testing.T) {
	t.Parallel()
	store := new(checkpoint.Memory)
	app := compile(t, counter(1, 0), graph.Options{Store: store})
	th := graph.ID("t")
	for i, owner := range []string{"anna", ""} {
		o := graph.RunOptions{Owner: owner, By: fmt.Sprint("by", i), Meta: map[string]string{"n": fmt.Sprint(i)}}
		if _, err := app.With(o).Run(t.Context(), th, func(s *notes) { s.Total.Replace(0) }); err != nil {
			t.Fatal(err)
		}
	}
	st, err := app.State(t.Context(), th)
	if err != nil || st.Owner != "anna" || st.Meta["n"] != "1" {
		t.Fatalf("%v %+v", err, st.Status)
	}
	runs, err := store.Runs(t.Context(), checkpoint.RunFilter{Meta: map[string]string{"n": "0"}})
	if err != nil || len(runs) != 1 || runs[0].By != "by0" {
		t.Fatalf("%v %+v", err, runs)
	}
	heads, err := store.Threads(t.Context(), checkpoint.ThreadFilter{Owner: "anna"})
	if err != nil || len(heads) != 1 {
		t.Fatalf("%v %+v", err, heads)
	}
	var by []string
	for e := range app.History(t.Context(), th) {
		if e.Kind == checkpoint.KindInput {
			by = append(by, e.By)
		}
	}
	if !slices.Equal(by, []string{"by1", "by0"}) {
		t.Errorf("started by %v", by)
	}
}

// The state shows what is next, open questions, errors, results and half-filled joins. // E40 // report 41
func TestStateShowsAll(t *testing.T) {
	t.Parallel()
	g := graph.New[notes]("g")
	g.Node("first", func(ctx context.Context, s *notes) error { return nil })
	g.Node("ask", asking("ask"))
	g.Node("bad", func(context.Context, *notes) error { return errors.New("broken") })
	g.Node("good", func(ctx context.Context, s *notes) error { return nil })
	g.Node("joined", func(ctx context.Context, s *notes) error { return nil })
	g.Edge(graph.Start, "first")
	for _, n := range []string{"ask", "bad", "good"} {
		g.Edge("first", n)
	}
	g.Join([]string{"first", "ask"}, "joined")
	app := compile(t, g, graph.Options{Store: new(checkpoint.Memory)})
	_, err := app.Run(t.Context(), graph.ID("t"), nil)
	in := paused(t, err)
	st, err := app.State(t.Context(), graph.ID("t"))
	if err != nil {
		t.Fatal(err)
	}
	if len(st.Next) != 3 || !st.Next[0].Waiting || st.Next[1].Error != "broken" || !st.Next[2].Done {
		t.Errorf("next: %+v", st.Next)
	}
	if len(st.Joins) != 1 || st.Joins[0].To != "joined" || !slices.Equal(st.Joins[0].Have, []string{"first"}) || !slices.Equal(st.Joins[0].Missing, []string{"ask"}) {
		t.Errorf("joins: %+v", st.Joins)
	}
	if len(st.Questions) != 1 || st.Questions[0].ID != in.Questions[0].ID || st.Reason != "question" || st.Error == "" {
		t.Errorf("%+v", st.Status)
	}
	for e, err := range app.History(t.Context(), graph.ID("t")) {
		if err != nil || !slices.Equal(e.Tasks, []string{"first"}) || !slices.Equal(e.Next, []string{"ask", "bad", "good"}) {
			t.Errorf("%v %+v", err, e)
		}
		break
	}
}

// Reading what is not there has no effect. // E40 // report 209
func TestReadingAnUnknownThread(t *testing.T) {
	t.Parallel()
	store := new(checkpoint.Memory)
	app := compile(t, counter(1, 0), graph.Options{Store: store})
	_, err := app.State(t.Context(), graph.ID("nobody"))
	wantErr(t, err, graph.ErrNoThread)
	for _, err := range app.History(t.Context(), graph.ID("nobody")) {
		wantErr(t, err, graph.ErrNoThread)
	}
	_, err = app.Resume(t.Context(), graph.ID("nobody"))
	wantErr(t, err, graph.ErrNoThread)
	if heads, err := store.Threads(t.Context(), checkpoint.ThreadFilter{}); err != nil || len(heads) != 0 {
		t.Fatalf("%v %v", err, heads)
	}
}
