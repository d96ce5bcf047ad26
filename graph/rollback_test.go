package graph_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/secure"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

// backed are options of a call that rolls back.
func backed(o graph.RunOptions) graph.RunOptions { o.OnBusy = graph.Rollback; return o }

// linesOf returns what the thread's log says.
func linesOf(t testing.TB, app *graph.App[notes], th graph.Thread) []string {
	t.Helper()
	return stateOf(t, app, th, -1).State.Log.Slice()
}

// Rollback ends what is under way and goes back to before it, in this App and in another, running or waiting, for the thread's
// first run and a later one. What the run had written is still in its branch, byte for byte; its question is closed. // E37 // E42 // report 140
func TestRollback(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s checkpoint.Store, _ *hand) {
		for _, first := range []bool{true, false} {
			for _, busy := range []string{"stuck 1", "ask 1"} {
				rollBack(t, s, graph.ID(fmt.Sprint(busy, first)), busy, first)
			}
		}
	})
}

func rollBack(t *testing.T, s checkpoint.Store, th graph.Thread, text string, first bool) {
	t.Helper()
	b := newStuck()
	o := graph.Options{Store: s, Lease: 3 * time.Second}
	app, other := compile(t, window(b), o), compile(t, window(nil), o)
	var want []string
	if !first {
		if _, err := app.Run(t.Context(), th, give("plain 0")); err != nil {
			t.Fatal(err)
		}
		want = []string{"plain 0"}
	}
	busy := going(func() (*notes, error) { return app.Run(t.Context(), th, give(text)) })
	if text == "stuck 1" {
		<-b.entered
	} else if e := <-busy; !errors.Is(e.err, graph.ErrInterrupted) {
		t.Fatal(e.err)
	}
	before := recordsOf(t, s, th, 0)
	out, err := other.With(backed(graph.RunOptions{By: "ada"})).Run(t.Context(), th, give("plain 2"))
	if err != nil || !slices.Equal(out.Log.Slice(), append(want, "plain 2")) {
		t.Fatalf("%s: %v, %q", th, err, out.Log.Slice())
	}
	if text == "stuck 1" {
		wantErr(t, (<-busy).err, graph.ErrCancelled)
	}
	old := recordsOf(t, s, th, 0)
	if len(old) != len(before)+1 || !slices.Equal(old[:len(before)], before) || old[len(before)][0] != 'X' {
		t.Fatalf("%s: the old branch has changed:\n%s\nbefore:\n%s", th, strings.Join(old, "\n"), strings.Join(before, "\n"))
	}
	st := stateOf(t, app, th, -1)
	if len(st.Branches) != 2 || st.Branches[1] != (graph.BranchInfo{Name: "rollback-1", Active: true, From: graph.Main, Reason: "rollback"}) || len(st.Questions) != 0 {
		t.Fatalf("%s: %+v", th, st.ThreadInfo)
	}
	main := stateOf(t, app, graph.Thread{Tenant: th.Tenant, ID: th.ID, Branch: graph.Main}, -1)
	if got := main.State.Log.Slice(); !slices.Equal(got, append(want, text)) {
		t.Fatalf("%s: the old branch says %q", th, got)
	}
	if _, err := app.Run(t.Context(), th, give("plain 3")); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(recordsOf(t, s, th, 0), old) || !slices.Equal(linesOf(t, app, th), append(want, "plain 2", "plain 3")) {
		t.Fatalf("%s: a later run is not of the new branch alone", th)
	}
}

// What failed, was cancelled or has completed is not under way: the input comes after it, in the same branch. // E37
func TestRollbackOfNothing(t *testing.T) {
	t.Parallel()
	s := new(checkpoint.Memory)
	app := compile(t, window(nil), graph.Options{Store: s})
	for _, text := range []string{"fail 0", "plain 0", "ask 0"} {
		th := graph.ID(text)
		app.Run(t.Context(), th, give(text))
		if text == "ask 0" {
			if err := app.Cancel(t.Context(), th); err != nil {
				t.Fatal(err)
			}
		}
		out, err := app.With(backed(graph.RunOptions{})).Run(t.Context(), th, give("plain 1"))
		if err != nil || !slices.Equal(out.Log.Slice(), []string{text, "plain 1"}) || len(stateOf(t, app, th, -1).Branches) > 0 {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// A run that a fork began goes back to the entry that it began with, and runs that were rolled back one after another leave a
// branch each. A branch that has the name of the new one already is no obstacle. // E37 // E42
func TestRollbackOfBranches(t *testing.T) {
	t.Parallel()
	s, d, th := new(checkpoint.Memory), &desk{}, graph.ID("t")
	app := d.app(t, s)
	_, err := app.Run(t.Context(), th, amount("10"))
	paused(t, err)
	drafted := entries(t, app, th)[1].Pos
	if _, err := app.Fork(t.Context(), th, drafted, graph.ForkOptions{Name: "rollback-2"}); err != nil {
		t.Fatal(err)
	}
	_, err = app.Resume(t.Context(), th)
	paused(t, err)
	for n := range 3 {
		_, err := app.With(backed(graph.RunOptions{})).Run(t.Context(), th, amount("20"))
		paused(t, err)
		if got := linesOf(t, app, th); !slices.Equal(got, []string{"draft", "draft"}) {
			t.Fatalf("round %d: %q", n, got)
		}
	}
	var names []string
	for _, b := range stateOf(t, app, th, -1).Branches {
		names = append(names, b.Name)
	}
	if want := []string{graph.Main, "rollback-2", "rollback-3", "rollback-4", "rollback-5"}; !slices.Equal(names, want) {
		t.Fatalf("%q, want %q", names, want)
	}
	if seal := recordsOf(t, s, th, 2)[0]; seal[0] != 'F' || strings.Contains(seal, `"next"`) {
		t.Fatalf("the branch begins with something left to do: %s", seal)
	}
	if err := app.Activate(t.Context(), graph.Thread{Tenant: th.Tenant, ID: th.ID, Branch: "rollback-3"}); err != nil {
		t.Fatal(err)
	}
	if st := stateOf(t, app, th, -1); st.Status != checkpoint.Cancelled || len(st.Questions) > 0 {
		t.Fatalf("the run of a branch that was rolled back is %s", st.Status)
	}
}

// The effects of the run stand in its branch, and are not undone: the new run has keys of its own. // E37 // E23
func TestRollbackKeepsEffects(t *testing.T) {
	t.Parallel()
	s, th := new(checkpoint.Memory), graph.ID("t")
	var keys []string
	g := graph.New[notes]("paying")
	g.Node("pay", func(ctx context.Context, n *notes) error {
		_, err := graph.Once(ctx, "charge", func(_ context.Context, key string) (int, error) { keys = append(keys, key); return 1, nil })
		if err != nil {
			return err
		}
		return asking("q")(ctx, n)
	})
	g.Edge(graph.Start, "pay")
	app := compile(t, g, graph.Options{Store: s})
	for range 2 {
		_, err := app.With(backed(graph.RunOptions{})).Run(t.Context(), th, nil)
		paused(t, err)
	}
	if len(keys) != 2 || keys[0] == keys[1] {
		t.Fatalf("keys %q", keys)
	}
	if !slices.ContainsFunc(recordsOf(t, s, th, 0), func(r string) bool { return r[0] == 'O' }) {
		t.Fatal("the effect of the old branch is gone")
	}
}

// What retention has removed cannot be gone back to: the call says so and changes nothing. // E37 // E46
func TestRollbackPruned(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s checkpoint.Store, _ *hand) {
		g, th := graph.New[notes]("long"), graph.ID("t")
		g.Branch("a", func(_ context.Context, n *notes) (graph.Next, error) {
			n.Log.Append(strings.Repeat("x", 4096))
			if n.Log.Len() == 16 {
				n.Log.Replace()
				return graph.To("b"), nil
			}
			return graph.To("a"), nil
		}, "a", "b")
		g.Node("b", func(context.Context, *notes) error { return nil })
		g.Edge("b", "q")
		g.Node("q", asking("q"))
		g.Edge(graph.Start, "a")
		app := compile(t, g, graph.Options{Store: s})
		_, err := app.Run(t.Context(), th, nil)
		paused(t, err)
		if got, err := app.Retain(t.Context(), th, graph.Retention{KeepLast: 1}); err != nil || got.Records == 0 {
			t.Fatalf("%v: %d records removed", err, got.Records)
		}
		before := recordsOf(t, s, th, 0)
		_, err = app.With(backed(graph.RunOptions{})).Run(t.Context(), th, nil)
		wantErr(t, err, checkpoint.ErrPruned)
		if st := stateOf(t, app, th, -1); st.Status != checkpoint.Interrupted || len(st.Questions) != 1 || !slices.Equal(before, recordsOf(t, s, th, 0)) {
			t.Fatalf("the thread has changed: %+v", st.ThreadInfo)
		}
	})
}

// A cancel of somebody else that its holder has not seen yet does not take the place of the rollback. A holder that does not
// yield is fenced, and its run is rolled back all the same. // E37 // E38
func TestRollbackFences(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s checkpoint.Store, _ *hand) {
		entered, release := make(chan struct{}, 1), make(chan struct{})
		deaf := window(nil)
		deaf.Node("deaf", func(context.Context, *notes) error { entered <- struct{}{}; <-release; return nil })
		deaf.Edge("plain", "deaf")
		app := compile(t, deaf, graph.Options{Store: s, Lease: 300 * time.Millisecond, Grace: time.Hour})
		other, th := compile(t, window(nil), graph.Options{Store: s, Lease: 300 * time.Millisecond}), graph.ID("t")
		busy := going(func() (*notes, error) { return app.Run(t.Context(), th, give("plain 0")) })
		<-entered
		if err := other.Cancel(t.Context(), th); err != nil {
			t.Fatal(err)
		}
		out, err := other.With(backed(graph.RunOptions{})).Run(t.Context(), th, give("plain 1"))
		if err != nil || !slices.Equal(out.Log.Slice(), []string{"plain 1"}) {
			t.Fatalf("%v %q", err, out.Log.Slice())
		}
		close(release)
		if e := <-busy; e.err == nil {
			t.Fatal("the fenced run has completed")
		}
		if got := linesOf(t, other, th); !slices.Equal(got, []string{"plain 1"}) {
			t.Fatalf("%q", got)
		}
	})
}

// Several callers roll back at once: they come one after another, each goes back to before the run of the one before that it has
// ended, and what the thread had before all of them stays. Whoever was told that his run completed is in the thread's log. // E37
func TestRollbackRace(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s checkpoint.Store, _ *hand) {
		b, th := newStuck(), graph.ID("t")
		app := compile(t, window(b), graph.Options{Store: s})
		if _, err := app.Run(t.Context(), th, give("plain 0")); err != nil {
			t.Fatal(err)
		}
		busy := going(func() (*notes, error) { return app.Run(t.Context(), th, give("stuck 1")) })
		<-b.entered
		var calls []<-chan end
		for n := range 4 {
			caller := compile(t, window(b), graph.Options{Store: s}).With(backed(graph.RunOptions{}))
			calls = append(calls, going(func() (*notes, error) { return caller.Run(t.Context(), th, give(fmt.Sprintf("plain %d", 2+n))) }))
		}
		wantErr(t, (<-busy).err, graph.ErrCancelled)
		want := map[string]bool{"plain 0": true}
		for n, c := range calls {
			switch e := <-c; {
			case e.err == nil:
				want[fmt.Sprintf("plain %d", 2+n)] = true
			case !errors.Is(e.err, graph.ErrCancelled) && !errors.Is(e.err, checkpoint.ErrHeld):
				t.Fatal(e.err)
			}
		}
		got := linesOf(t, app, th)
		if got[0] != "plain 0" || len(got) != len(want) || slices.ContainsFunc(got, func(s string) bool { return !want[s] }) {
			t.Fatalf("%q, completed %v", got, want)
		}
	})
}

// Whoever rolls back dies at any call of the store: what is left is the run as it was, or the thread before it, or the new run; the
// same request again ends as if nothing had happened. // E37 // E61
func TestRollbackSurvivesItsCaller(t *testing.T) {
	t.Parallel()
	for _, fault := range []faultstore.Fault{faultstore.CrashBefore, faultstore.CrashAfter, faultstore.FailBefore, faultstore.FailAfter} {
		for n := 1; rolledBackWith(t, memory(t), fault, n); n++ {
		}
		for n := 1; n < 16; n += 3 {
			rolledBackWith(t, file(t), fault, n)
		}
	}
}

func memory(testing.TB) checkpoint.Store { return new(checkpoint.Memory) }

func file(t testing.TB) checkpoint.Store {
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "db"), sqlite.Options{Synchronous: sqlite.Normal})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// rolledBackWith reports whether the call made so many calls of the store.
func rolledBackWith(t *testing.T, s checkpoint.Store, fault faultstore.Fault, n int) bool {
	t.Helper()
	th, dying := graph.ID("t"), faultstore.New(s)
	alive := compile(t, window(nil), graph.Options{Store: s})
	if _, err := alive.Run(t.Context(), th, give("plain 0")); err != nil {
		t.Fatal(err)
	}
	_, err := alive.Run(t.Context(), th, give("ask 1"))
	paused(t, err)
	dying.At("", n, fault)
	app := compile(t, window(nil), graph.Options{Store: dying, StorePatience: 300 * time.Millisecond})
	again := backed(graph.RunOptions{Request: "r"})
	_, first := app.With(again).Run(t.Context(), th, give("plain 2"))
	if err := app.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := alive.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = alive.With(again).Run(t.Context(), th, give("plain 2"))
	if err != nil && !errors.Is(err, graph.ErrDuplicate) || first == nil && err == nil {
		t.Fatalf("fault %d at call %d: %v, then %v", fault, n, first, err)
	}
	if got, want := linesOf(t, alive, th), []string{"plain 0", "plain 2"}; !slices.Equal(got, want) {
		t.Fatalf("fault %d at call %d (%v): %q, want %q", fault, n, first, got, want)
	}
	return dying.Calls("") >= n
}

// The holder of the run that is to be rolled back dies at any call after the command has come. // E37 // E61
func TestRollbackSurvivesTheHolder(t *testing.T) {
	t.Parallel()
	for _, fault := range []faultstore.Fault{faultstore.CrashBefore, faultstore.CrashAfter} {
		for n := 1; ; n++ {
			s, th, b := memory(t), graph.ID("t"), newStuck()
			dying := faultstore.New(s)
			app := compile(t, window(b), graph.Options{Store: dying, StorePatience: 100 * time.Millisecond, Lease: 300 * time.Millisecond})
			alive := compile(t, window(b), graph.Options{Store: s, Lease: 300 * time.Millisecond})
			if _, err := alive.Run(t.Context(), th, give("plain 0")); err != nil {
				t.Fatal(err)
			}
			busy := going(func() (*notes, error) { return app.Run(t.Context(), th, give("stuck 1")) })
			<-b.entered
			before := dying.Calls("")
			dying.At("", before+n, fault)
			out, err := alive.With(backed(graph.RunOptions{})).Run(t.Context(), th, give("plain 2"))
			if err != nil || !slices.Equal(out.Log.Slice(), []string{"plain 0", "plain 2"}) {
				t.Fatalf("fault %d at call %d: %v %q", fault, n, err, out.Log.Slice())
			}
			close(b.release) // its process is dead, if it is, but its node is not
			if e := <-busy; e.err == nil {
				t.Fatal("the run has completed")
			}
			if err := app.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if dying.Calls("") < before+n {
				break
			}
		}
	}
}

// Encrypted and signed threads are rolled back too. // E37 // C12
func TestRollbackSealed(t *testing.T) {
	t.Parallel()
	keys := secure.Keyring{Current: secure.Key{ID: "k", Bytes: []byte(strings.Repeat("k", secure.KeyBytes))}}
	sealed, err := secure.Encrypt(file(t), keys)
	if err != nil {
		t.Fatal(err)
	}
	rollBack(t, sealed, graph.ID("encrypted"), "ask 1", false)
	signed, err := secure.Sign(file(t), keys)
	if err != nil {
		t.Fatal(err)
	}
	rollBack(t, signed, graph.ID("signed"), "ask 1", true)
}

// What a child graph keeps for the thread goes back with it, and is its own again in the new branch. // E37 // E44
func TestRollbackOfMemory(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s checkpoint.Store, _ *hand) {
		child := graph.New[notes]("child")
		child.Node("note", func(_ context.Context, n *notes) error { n.Log.Append("x"); return nil })
		child.Edge(graph.Start, "note")
		g := graph.New[notes]("parent")
		graph.Mount(g, "child", compile(t, child, graph.Options{}), nil,
			func(n, c *notes) { n.Log.Append(strings.Join(c.Log.Slice(), "")) }, graph.MountOptions{Memory: graph.PerThread})
		g.Node("ask", asking("q"))
		g.Edge(graph.Start, "child")
		g.Edge("child", "ask")
		app, th := compile(t, g, graph.Options{Store: s}), graph.ID("t")
		_, err := app.Run(t.Context(), th, nil)
		if _, err := app.Resume(t.Context(), th, graph.Answer(paused(t, err).Questions[0], "yes")); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			_, err := app.With(backed(graph.RunOptions{})).Run(t.Context(), th, nil)
			paused(t, err)
			if got := linesOf(t, app, th); !slices.Equal(got, []string{"x", "xx"}) {
				t.Fatalf("%q", got)
			}
		}
	})
}
