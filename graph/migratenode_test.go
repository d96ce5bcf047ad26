package graph_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/state"
)

// E45: a node that is gone: its tasks are dropped or handed to another node, with questions, targets, sends and joins.
func TestMigrationOfNodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		move func(m *graph.Migration)
		next func(v *release)
		want string // "": refused
		sum  int
	}{
		{"drop what is scheduled", func(m *graph.Migration) { m.DropNode("middle") }, func(v *release) { v.joined = false }, "after item end", 7},
		{"drop a target", func(m *graph.Migration) { m.DropNode("after") }, func(v *release) { v.after = "later" }, "middle item", 7},
		{"drop a send", func(m *graph.Migration) { m.DropNode("item") }, func(v *release) { v.each = "line" }, "middle after end", 0},
		{"drop all", func(m *graph.Migration) { m.DropNode("middle"); m.DropNode("first") }, func(v *release) { v.middle = "other" }, "", 0},
		{"hand to another", func(m *graph.Migration) { m.RenameNode("middle", "after") }, func(v *release) { v.middle, v.joined = "other", false }, "after after end item end", 7},
		{"rename all", func(m *graph.Migration) {
			m.RenameNode("middle", "x")
			m.RenameNode("x", "m")
			m.RenameNode("after", "a")
			m.RenameNode("item", "i")
		}, func(v *release) { v.middle, v.after, v.each = "m", "a", "i" }, "middle after item end", 7},
		{"convert what was sent", func(m *graph.Migration) {
			graph.ConvertArgs(m, "item", func(n int) (int, error) { return 10 * n, nil })
		}, func(*release) {}, "middle after item end", 70},
		{"run it again", func(m *graph.Migration) { m.Rerun("first") }, func(*release) {}, "middle after item end", 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			store := new(checkpoint.Memory)
			_, err := compile(t, v1.build(), graph.Options{Store: store}).Run(t.Context(), graph.ID("1"), nil)
			wantErr(t, err, errBoom)
			v := v1
			v.open, v.version = true, 1
			c.next(&v)
			g := v.build()
			g.Migrate(0, 1, func(m *graph.Migration) error { c.move(m); return nil })
			s, err := compile(t, g, graph.Options{Store: store}).Resume(t.Context(), graph.ID("1"))
			if got := strings.Join(s.Log.Slice(), " "); err != nil || got != c.want || s.Total.Get() != c.sum {
				t.Fatalf("%q, %d, %v", got, s.Total.Get(), err)
			}
		})
	}
}

// waitsAt is a graph in which a and b join to end, a asks, and b waits behind slow, which fails until open.
func waitsAt(version int, open bool, names ...string) *graph.Graph[notes] {
	g := graph.New[notes]("wait")
	g.Version(version)
	for _, n := range names {
		switch n {
		case "ask":
			g.Node(n, func(ctx context.Context, s *notes) error {
				_, err := graph.Ask[bool](ctx, "ok", "ok?")
				s.Log.Append("ask")
				return err
			})
		case "slow":
			g.Node(n, func(_ context.Context, s *notes) error {
				if !open {
					return errBoom
				}
				s.Log.Append(n)
				return nil
			})
		default:
			g.Node(n, say(n))
		}
	}
	return g
}

// E45: questions of a node that is dropped are closed with the migration; a join that waited for it alone fires.
func TestMigrationDropsAQuestion(t *testing.T) {
	t.Parallel()
	store := new(checkpoint.Memory)
	g := waitsAt(0, false, "ask", "b", "end")
	g.Edge(graph.Start, "ask")
	g.Edge(graph.Start, "b")
	g.Join([]string{"ask", "b"}, "end")
	one := compile(t, g, graph.Options{Store: store})
	_, err := one.Run(t.Context(), graph.ID("1"), nil)
	q := paused(t, err).Questions[0]
	two := func(fn func(m *graph.Migration) error) *graph.App[notes] {
		g := waitsAt(1, true, "b", "end")
		g.Edge(graph.Start, "b")
		g.Edge("b", "end")
		g.Migrate(0, 1, fn)
		return compile(t, g, graph.Options{Store: store})
	}
	app := two(func(m *graph.Migration) error { m.DropNode("ask"); m.Rerun("b"); return nil })
	_, err = app.Resume(t.Context(), graph.ID("1"), graph.AnswerID(q.ID, true))
	wantErr(t, err, graph.ErrNotPending)
	s, err := app.Resume(t.Context(), graph.ID("1"))
	if err != nil || strings.Join(s.Log.Slice(), " ") != "b end" {
		t.Fatalf("%v, %v", s.Log.Slice(), err)
	}
	qs, err := store.Questions(t.Context(), checkpoint.QuestionFilter{State: checkpoint.Open})
	if err != nil || len(qs) != 0 {
		t.Fatalf("still open: %v, %v", qs, err)
	}
}

// E45: a half-filled join fires when what it waited for is dropped, waits on for others, and is forgotten with its target.
func TestMigrationOfAHalfFilledJoin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		from       []string
		drop       string
		join       []string // in the next version
	}{
		{"fires", "a b end", []string{"a", "slow", "b"}, "slow", nil},
		{"waits on", "a b slow c end", []string{"a", "slow", "b", "c"}, "b", []string{"a", "slow", "c"}},
		{"target is gone", "a b slow", []string{"a", "slow"}, "end", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			build := func(version int, open bool, drop string, join []string) *graph.Graph[notes] {
				var names []string
				for _, n := range []string{"a", "b", "slow", "c", "end"} {
					if n != drop {
						names = append(names, n)
					}
				}
				g := waitsAt(version, open, names...)
				for _, n := range []string{"a", "b"} {
					if n != drop {
						g.Edge(graph.Start, n)
					}
				}
				switch {
				case drop == "slow":
					g.Edge("b", "c")
				default:
					g.Edge("a", "slow")
					g.Edge("slow", "c")
				}
				switch {
				case join != nil:
					g.Join(join, "end")
				case drop != "end":
					g.Edge("b", "end")
				}
				return g
			}
			store := new(checkpoint.Memory)
			_, err := compile(t, build(0, false, "", c.from), graph.Options{Store: store}).Run(t.Context(), graph.ID("1"), nil)
			wantErr(t, err, errBoom)
			g := build(1, true, c.drop, c.join)
			g.Migrate(0, 1, func(m *graph.Migration) error { m.DropNode(c.drop); return nil })
			s, err := compile(t, g, graph.Options{Store: store}).Resume(t.Context(), graph.ID("1"))
			if got := strings.TrimSuffix(strings.Join(s.Log.Slice(), " "), " c"); err != nil || got != c.want {
				t.Fatalf("%q, %v", got, err)
			}
		})
	}
}

// E45, E23: a result that is taken back runs again, and its effects do not.
func TestMigrationRerunsWithoutItsEffects(t *testing.T) {
	t.Parallel()
	store, did := new(checkpoint.Memory), new(effects)
	_, err := compile(t, orderOne(did), graph.Options{Store: store}).Run(t.Context(), graph.ID("1"), ordering)
	q := paused(t, err).Questions[0]
	two := compile(t, orderTwo(did, func(g *graph.Graph[orderV2]) {
		g.Migrate(1, 2, func(m *graph.Migration) error { m.Rerun("pack"); return oneToTwo(m) })
	}), graph.Options{Store: store})
	s, err := two.Resume(t.Context(), graph.ID("1"), graph.AnswerID(q.ID, true))
	if err != nil || strings.Join(s.Steps.Slice(), " ") != ordered || did.pack != 1 {
		t.Fatalf("%v, %+v, %v", s.Steps.Slice(), did, err)
	}
}

// E45, E9: report 121: a graph that has lost a scheduled node and has no migration for it says so.
func TestMigrationThatForgetsANode(t *testing.T) {
	t.Parallel()
	store, did := new(checkpoint.Memory), new(effects)
	_, err := compile(t, orderOne(did), graph.Options{Store: store}).Run(t.Context(), graph.ID("1"), ordering)
	paused(t, err)
	two := compile(t, orderTwo(did, func(g *graph.Graph[orderV2]) {
		g.Migrate(1, 2, func(m *graph.Migration) error {
			err := oneToTwo(m)
			m.RenameNode("confirm", "approve")
			return err
		})
	}), graph.Options{Store: store})
	_, err = two.Resume(t.Context(), graph.ID("1"))
	if !errors.Is(err, graph.ErrIncompatible) || !strings.Contains(err.Error(), `node "approve" is scheduled`) {
		t.Fatal(err)
	}
}

// E45, E26: a program that cannot migrate a thread can cancel its run, and the thread is still one of the version before: a program
// that has the migration runs it.
func TestCancelLeavesTheVersion(t *testing.T) {
	t.Parallel()
	store := new(checkpoint.Memory)
	_, err := compile(t, v1.build(), graph.Options{Store: store}).Run(t.Context(), graph.ID("1"), nil)
	wantErr(t, err, errBoom)
	program := func(version, from int) *graph.App[notes] {
		v := v1
		v.open, v.version = true, version
		g := v.build()
		g.Migrate(from, version, func(m *graph.Migration) error {
			graph.Convert(m, func(_, n *struct {
				Value state.Last[string] `json:"value"`
			}) error {
				n.Value.Set("migrated")
				return nil
			})
			return nil
		})
		return compile(t, g, graph.Options{Store: store})
	}
	without := program(6, 5)
	_, err = without.Resume(t.Context(), graph.ID("1"))
	wantErr(t, err, graph.ErrIncompatible)
	if err := without.Cancel(t.Context(), graph.ID("1")); err != nil {
		t.Fatal(err)
	}
	_, err = without.Run(t.Context(), graph.ID("1"), nil)
	wantErr(t, err, graph.ErrIncompatible)
	s, err := program(1, 0).Run(t.Context(), graph.ID("1"), nil)
	if err != nil || s.Value.Get() != "migrated" {
		t.Fatalf("%q, %v", s.Value.Get(), err)
	}
}
