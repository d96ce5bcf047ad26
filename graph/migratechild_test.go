package graph_test

import (
	"context"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/state"
)

// A parcel's child has another field and another node in its second version.
type childV1 struct {
	Old state.List[string] `json:"old"`
}

type childV2 struct {
	Log state.List[string] `json:"log"`
}

func childOne(t *testing.T) *graph.App[childV1] {
	g := graph.New[childV1]("child")
	g.Node("start", func(_ context.Context, s *childV1) error { s.Old.Append("start"); return nil })
	g.Node("old", func(ctx context.Context, s *childV1) error {
		_, err := graph.Ask[bool](ctx, "q", "ok?")
		s.Old.Append("asked")
		return err
	})
	g.Edge(graph.Start, "start")
	g.Edge("start", "old")
	return compile(t, g, graph.Options{})
}

func childTwo(t *testing.T, fn func(*graph.Migration) error) *graph.App[childV2] {
	g := graph.New[childV2]("child")
	g.Version(2)
	g.Node("start", func(_ context.Context, s *childV2) error { s.Log.Append("start"); return nil })
	g.Node("new", func(ctx context.Context, s *childV2) error {
		_, err := graph.Ask[bool](ctx, "q", "ok?")
		s.Log.Append("asked")
		return err
	})
	g.Edge(graph.Start, "start")
	g.Node("more", func(ctx context.Context, s *childV2) error {
		_, err := graph.Ask[bool](ctx, "q2", "really?")
		s.Log.Append("really")
		return err
	})
	g.Edge("start", "new")
	g.Edge("new", "more")
	g.Migrate(0, 2, fn)
	return compile(t, g, graph.Options{})
}

func moveChild(m *graph.Migration) error {
	m.RenameField("old", "log")
	m.RenameNode("old", "new")
	return nil
}

// parent mounts a child of one version or the other.
func parent[C any](t *testing.T, s checkpoint.Store, name string, child *graph.App[C], log func(*C) []string, memory graph.Memory, move func(*graph.Migration) error) *graph.App[notes] {
	g := graph.New[notes]("parent")
	graph.Mount(g, name, child, nil, func(s *notes, c *C) { s.Log.Append(log(c)...) }, graph.MountOptions{Memory: memory})
	g.Node("end", say("end"))
	g.Edge(graph.Start, name)
	g.Edge(name, "end")
	if move != nil {
		g.Version(1)
		g.Migrate(0, 1, move)
	}
	return compile(t, g, graph.Options{Store: s})
}

func oldLog(c *childV1) []string { return c.Old.Slice() }
func newLog(c *childV2) []string { return c.Log.Slice() }

// E45, E44: a child graph that waits is migrated with its own migrations, inside a parent that is, or is not, migrated too; what is
// remembered per thread is migrated with the next call.
func TestMigrationOfAChild(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, node string
		memory     graph.Memory
		move       func(*graph.Migration) error
		ended      bool // the child's call before the migration
		want       string
	}{
		{"child alone", "c", graph.PerCall, nil, false, "start asked really end"},
		{"parent too", "d", graph.PerCall, func(m *graph.Migration) error { m.RenameNode("c", "d"); return nil }, false, "start asked really end"},
		{"per thread", "c", graph.PerThread, nil, false, "start asked really end"},
		{"per thread, after its end", "c", graph.PerThread, nil, true, "start asked end start asked start asked really end"},
		{"per thread, parent too", "c", graph.PerThread, func(*graph.Migration) error { return nil }, true, "start asked end start asked start asked really end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			store, th := new(checkpoint.Memory), graph.ID("1")
			one := parent(t, store, "c", childOne(t), oldLog, c.memory, nil)
			_, err := one.Run(t.Context(), th, nil)
			q := paused(t, err).Questions[0]
			two := parent(t, store, c.node, childTwo(t, moveChild), newLog, c.memory, c.move)
			if c.ended {
				if _, err := one.Resume(t.Context(), th, graph.Answer(q, true)); err != nil {
					t.Fatal(err)
				}
				_, err := two.Run(t.Context(), th, nil)
				q = paused(t, err).Questions[0]
			} else if kids, err := two.Children(t.Context(), th); err != nil || string(kids[0].State) != `{"log":["start"]}` || kids[0].Next[0].Node != "new" {
				t.Fatalf("%+v, %v", kids, err)
			}
			_, err = two.Resume(t.Context(), th, graph.AnswerID(q.ID, true))
			q = paused(t, err).Questions[0]
			two = parent(t, store, c.node, childTwo(t, moveChild), newLog, c.memory, c.move) // another process reads what was written
			s, err := two.Resume(t.Context(), th, graph.AnswerID(q.ID, true))
			if err != nil || strings.Join(s.Log.Slice(), " ") != c.want {
				t.Fatalf("%q, %v", s.Log.Slice(), err)
			}
		})
	}
}

// E45, E44: a child that cannot be migrated, or that a later version has written, is refused before anything is changed; the questions of a
// child whose caller is dropped are closed.
func TestMigrationOfAChildIsRefused(t *testing.T) {
	t.Parallel()
	store, th := new(checkpoint.Memory), graph.ID("1")
	one := parent(t, store, "c", childOne(t), oldLog, graph.PerCall, nil)
	_, err := one.Run(t.Context(), th, nil)
	q := paused(t, err).Questions[0]
	refused := func(app *graph.App[notes], want string) {
		t.Helper()
		before := dump(t, store, "1")
		_, err := app.Resume(t.Context(), th, graph.AnswerID(q.ID, true))
		if wantErr(t, err, graph.ErrIncompatible); !strings.Contains(err.Error(), want) {
			t.Fatal(err)
		}
		if !sameRecords(before, dump(t, store, "1")) {
			t.Fatal("the thread was touched")
		}
	}
	refused(parent(t, store, "c", childTwo(t, func(*graph.Migration) error { return errBoom }), newLog, graph.PerCall, nil), "boom")
	refused(parent(t, store, "c", childTwo(t, nil), newLog, graph.PerCall, nil), `"old"`)

	two := parent(t, store, "c", childTwo(t, moveChild), newLog, graph.PerCall, nil)
	_, err = two.Resume(t.Context(), th, graph.AnswerID(q.ID, true))
	if _, err = two.Resume(t.Context(), th, graph.AnswerID(paused(t, err).Questions[0].ID, true)); err != nil {
		t.Fatal(err)
	}
	_, err = two.Run(t.Context(), th, nil)
	q = paused(t, err).Questions[0]
	refused(one, "version 2 has written it")

	g := graph.New[notes]("parent")
	g.Version(1)
	g.Node("end", say("end"))
	g.Edge(graph.Start, "end")
	g.Migrate(0, 1, func(m *graph.Migration) error { m.DropNode("c"); return nil })
	s, err := compile(t, g, graph.Options{Store: store}).Resume(t.Context(), th)
	if err != nil || strings.Join(s.Log.Slice(), " ") != "start asked really end" {
		t.Fatalf("%v, %v", s.Log.Slice(), err)
	}
	qs, err := store.Questions(t.Context(), checkpoint.QuestionFilter{})
	if err != nil || len(qs) != 0 {
		t.Fatalf("still open: %v, %v", qs, err)
	}
}

// E45, E44: memory of a thread goes by the name of its node, so that name stays.
func TestThreadMemoryKeepsItsName(t *testing.T) {
	t.Parallel()
	store, th := new(checkpoint.Memory), graph.ID("1")
	_, err := parent(t, store, "c", childOne(t), oldLog, graph.PerThread, nil).Run(t.Context(), th, nil)
	paused(t, err)
	_, err = parent(t, store, "d", childTwo(t, moveChild), newLog, graph.PerThread, func(m *graph.Migration) error { m.RenameNode("c", "d"); return nil }).Resume(t.Context(), th)
	if wantErr(t, err, graph.ErrIncompatible); !strings.Contains(err.Error(), "goes by its name") {
		t.Fatal(err)
	}
	g := graph.New[notes]("parent")
	graph.Mount(g, "d", childOne(t), nil, nil, graph.MountOptions{Memory: graph.PerThread})
	g.Edge(graph.Start, "d")
	g.Alias("c", "d")
	if _, err := g.Compile(graph.Options{Store: store}); err == nil || !strings.Contains(err.Error(), "under the name of its node") {
		t.Fatal(err)
	}
}
