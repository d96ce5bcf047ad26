package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// twins are two nodes that ask at the same time, behind an effect, and a join.
func twins(t testing.TB, store checkpoint.Store, effects *[]string) *graph.App[notes] {
	g := graph.New[notes]("pair")
	for _, name := range []string{"left", "right"} {
		g.Node(name, func(ctx context.Context, s *notes) error {
			_, err := graph.Once(ctx, "effect", func(context.Context, string) (string, error) {
				*effects = append(*effects, name)
				return name, nil
			})
			if err != nil {
				return err
			}
			said, err := graph.Ask[string](ctx, "what", name+"?")
			if err != nil {
				return err
			}
			s.Said.Put(name, said)
			return nil
		})
		g.Edge(graph.Start, name)
	}
	g.Node("end", func(_ context.Context, s *notes) error { s.Log.Append("end"); return nil })
	g.Node("aside", func(_ context.Context, s *notes) error { s.Log.Append("aside"); return nil })
	g.Join([]string{"left", "right"}, "end")
	g.Edge("aside", graph.End)
	g.Branch("choose", func(context.Context, *notes) (graph.Next, error) { return graph.To("aside"), nil }, "aside")
	g.Edge("end", "choose")
	return compile(t, g, graph.Options{Store: store, MaxConcurrency: 1})
}

func put(k, v string) func(*notes) { return func(s *notes) { s.Said.Put(k, v) } }

// As an open task an edit is its result: its question is closed, the sibling keeps its id, its effect and its question. // E41
func TestEditIsTheResultOfAnOpenTask(t *testing.T) {
	t.Parallel()
	var effects []string
	store, th := &checkpoint.Memory{}, graph.ID("t")
	app := twins(t, store, &effects)
	_, err := app.Run(t.Context(), th, nil)
	qs := paused(t, err).Questions
	left, right := qs[0], qs[1]
	if to, err := app.Edit(t.Context(), th, -1, "left", put("left", "by hand")); err != nil || to != th {
		t.Fatalf("%v, %v", to, err)
	}
	s := stateOf(t, app, th, -1)
	if len(s.Questions) != 1 || s.Questions[0].ID != right.ID || s.Status != checkpoint.Interrupted || !s.Next[0].Done || s.Next[1].ID != right.Task {
		t.Fatalf("after the edit: %+v", s.ThreadInfo)
	}
	_, err = app.Resume(t.Context(), th, graph.Answer(left, "late"))
	wantErr(t, err, graph.ErrNotPending)
	out, err := app.Resume(t.Context(), th, graph.Answer(right, "answer"))
	if err != nil {
		t.Fatal(err)
	}
	if l, _ := out.Said.Get("left"); l != "by hand" || out.Log.Len() != 2 || len(effects) != 2 {
		t.Errorf("left is %q, log %q, effects %q", l, out.Log.Slice(), effects)
	}
}

// When the edit completes the superstep it is committed at once, and the thread waits for Resume. // E41
func TestEditCompletesASuperstep(t *testing.T) {
	t.Parallel()
	d, store, th := &desk{}, &checkpoint.Memory{}, graph.ID("t")
	app := d.app(t, store)
	_, err := app.Run(t.Context(), th, amount("1"))
	task := paused(t, err).Questions[0].Task
	if _, err := app.Edit(t.Context(), th, -1, task, func(s *notes) { s.Log.Append("paid by hand") }); err != nil {
		t.Fatal(err)
	}
	s := stateOf(t, app, th, -1)
	if len(s.Next) != 1 || s.Next[0].Node != "close" || s.State.Log.Len() != 2 || s.Reason != "edit" || len(s.Questions) != 0 {
		t.Fatalf("after the edit: %+v", s.ThreadInfo)
	}
	out, err := app.Resume(t.Context(), th)
	if err != nil || out.Total.Get() != 1 || len(d.keys) != 0 {
		t.Fatalf("%v, %v", out, err)
	}
	if _, err := app.Edit(t.Context(), th, -1, "close", func(s *notes) { s.Total.Add(5) }); err != nil { // nothing is open and nothing comes next
		t.Fatal(err)
	}
	if s := stateOf(t, app, th, -1); s.State.Total.Get() != 6 || s.Status != checkpoint.Completed {
		t.Errorf("after the end: %d, %s", s.State.Total.Get(), s.Status)
	}
}

// As another node an edit is an entry of its own beside the open work, with the edges, joins and routes of that node. // E41
func TestEditAsAnotherNode(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		as   string
		opts []graph.EditOptions
		next []string
		want error
	}{
		{as: "aside", next: []string{"left", "right"}},
		{as: graph.End, next: []string{"left", "right"}},
		{as: graph.Start, next: []string{"left", "right"}}, // both are going to run anyway
		{as: "choose", want: nil},
		{as: "choose", opts: []graph.EditOptions{{Goto: graph.To("aside")}}, next: []string{"left", "right", "aside"}},
		{as: "end", next: []string{"left", "right", "choose"}},
		{as: "nobody"},
	} {
		t.Run(fmt.Sprint(tc.as, len(tc.opts)), func(t *testing.T) {
			t.Parallel()
			var effects []string
			store, th := &checkpoint.Memory{}, graph.ID("t")
			app := twins(t, store, &effects)
			_, err := app.Run(t.Context(), th, nil)
			qs := paused(t, err).Questions
			before := recordsOf(t, store, th, 0)
			_, err = app.Edit(t.Context(), th, -1, tc.as, put("by", "hand"), tc.opts...)
			if tc.next == nil {
				if err == nil || !slices.Equal(before, recordsOf(t, store, th, 0)) {
					t.Fatalf("error %v, or something was written", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			s := stateOf(t, app, th, -1)
			var next []string
			for _, n := range s.Next {
				next = append(next, n.Node)
			}
			if by, _ := s.State.Said.Get("by"); by != "hand" || !slices.Equal(next, tc.next) || len(s.Questions) != 2 || s.Next[0].ID != qs[0].Task {
				t.Fatalf("%q next %q, %d questions", by, next, len(s.Questions))
			}
			if got := recordsOf(t, store, th, 0); !slices.Equal(before, got[:len(before)]) {
				t.Error("old records have changed")
			}
			out, err := app.Resume(t.Context(), th, graph.Answer(qs[0], "l"), graph.Answer(qs[1], "r"))
			if err != nil || len(effects) != 2 || !slices.Contains(out.Log.Slice(), "end") {
				t.Errorf("%v, effects %q, %q", err, effects, out.Log.Slice())
			}
		})
	}
}

// A half of a join may come from an edit. // E41
func TestEditReachesAJoin(t *testing.T) {
	t.Parallel()
	var effects []string
	th := graph.ID("t")
	app := twins(t, &checkpoint.Memory{}, &effects)
	_, err := app.Run(t.Context(), th, nil)
	qs := paused(t, err).Questions
	for _, q := range qs {
		if _, err := app.Edit(t.Context(), th, -1, q.Node, nil); err != nil {
			t.Fatal(err)
		}
	}
	s := stateOf(t, app, th, -1)
	if len(s.Next) != 1 || s.Next[0].Node != "end" {
		t.Fatalf("next is %+v", s.Next)
	}
}

// What an edit cannot mean is refused with what it can mean, and nothing changes. // E41
func TestEditIsAmbiguous(t *testing.T) {
	t.Parallel()
	store, th := &checkpoint.Memory{}, graph.ID("t")
	g := graph.New[notes]("sends")
	work := graph.Each(g, "work", func(ctx context.Context, s *notes, n int) error {
		_, err := graph.Ask[bool](ctx, "ok", n)
		return err
	})
	g.Route(graph.Start, func(context.Context, *notes) (graph.Next, error) { return work.Send(1, 2), nil }, "work")
	app := compile(t, g, graph.Options{Store: store})
	_, err := app.Run(t.Context(), th, nil)
	q := paused(t, err).Questions[1]
	_, err = app.Edit(t.Context(), th, -1, "work", amount("x"))
	wantErr(t, err, graph.ErrAmbiguous)
	e, ok := errors.AsType[*graph.AmbiguousTaskError](err)
	if !ok || len(e.Candidates) != 2 || e.Candidates[1] != q.Task {
		t.Fatalf("%v", err)
	}
	if _, err := app.Edit(t.Context(), th, -1, q.Task, amount("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := app.Edit(t.Context(), th, -1, e.Candidates[0], nil); err != nil { // completes the superstep
		t.Fatal(err)
	}
	s := stateOf(t, app, th, -1)
	if s.State.Value.Get() != "x" || s.Status != checkpoint.Completed {
		t.Errorf("%q, %s", s.State.Value.Get(), s.Status)
	}
	if _, err := app.Edit(t.Context(), th, -1, "", amount("y")); err != nil { // one node ran last
		t.Fatal(err)
	}
	var effects []string
	other := twins(t, store, &effects)
	_, err = other.Run(t.Context(), graph.ID("u"), nil)
	for _, q := range paused(t, err).Questions {
		if _, err := other.Edit(t.Context(), graph.ID("u"), -1, q.Task, nil); err != nil {
			t.Fatal(err)
		}
	}
	_, err = other.Edit(t.Context(), graph.ID("u"), -1, "", nil)
	if e, ok := errors.AsType[*graph.AmbiguousTaskError](err); !ok || !slices.Equal(e.Candidates, []string{"left", "right"}) {
		t.Fatalf("%v", err)
	}
}

// An edit of an old entry is a new branch; the old one keeps every byte. On a thread that runs it is refused. // E41 // report 189
func TestEditOfAnOldEntryForks(t *testing.T) {
	t.Parallel()
	d, store, th := &desk{}, &checkpoint.Memory{}, graph.ID("t")
	app := d.app(t, store)
	_, err := app.Run(t.Context(), th, amount("10"))
	if _, err = app.Resume(t.Context(), th, graph.Answer(paused(t, err).Questions[0], true)); err != nil {
		t.Fatal(err)
	}
	before := recordsOf(t, store, th, 0)
	drafted := entries(t, app, th)[1].Pos
	_, err = app.Edit(t.Context(), th, drafted, "draft", amount("20"))
	wantErr(t, err, graph.ErrEffects)
	_, err = app.Edit(t.Context(), th, drafted, "nobody", amount("20"))
	if err == nil || stateOf(t, app, th, -1).Branches != nil {
		t.Fatalf("a wrong edit made a branch: %v", err)
	}
	to, err := app.Edit(t.Context(), th, drafted, "draft", amount("20"), graph.EditOptions{Fork: graph.ForkOptions{Effects: graph.Rerun}})
	if err != nil || to.Branch != "edit-1" {
		t.Fatalf("%v, %v", to, err)
	}
	_, err = app.Resume(t.Context(), to)
	if q := paused(t, err).Questions[0]; q.Text() != "pay 20?" {
		t.Errorf("the new branch asks %q", q.Text())
	}
	if !slices.Equal(before, recordsOf(t, store, th, 0)) {
		t.Error("the old branch has changed")
	}
}

// On a thread that somebody works on, an edit and a fork are ErrBusy. // E41
func TestEditOfARunningThread(t *testing.T) {
	t.Parallel()
	store, th := &checkpoint.Memory{}, graph.ID("t")
	started, let := make(chan struct{}), make(chan struct{})
	g := graph.New[notes]("slow")
	g.Node("slow", func(context.Context, *notes) error { close(started); <-let; return nil })
	g.Edge(graph.Start, "slow")
	g.Edge("slow", graph.End)
	app := compile(t, g, graph.Options{Store: store})
	done := make(chan error, 1)
	go func() { _, err := app.Run(context.Background(), th, nil); done <- err }()
	<-started
	for _, call := range []func() error{
		func() error { _, err := app.Edit(t.Context(), th, -1, "slow", amount("x")); return err },
		func() error { _, err := app.Fork(t.Context(), th, -1, graph.ForkOptions{}); return err },
		func() error { return app.Activate(t.Context(), th) },
	} {
		wantErr(t, call(), graph.ErrBusy)
	}
	if err := app.Copy(t.Context(), th, graph.ID("copy")); err != nil { // reads one moment of it
		t.Error(err)
	}
	close(let)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if _, err := app.Resume(t.Context(), graph.ID("copy")); err == nil {
		t.Error("the copy was expected to run the node, which closes a closed channel")
	}
}
