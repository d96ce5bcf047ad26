package graph_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
	"github.com/holdfast-go/holdfast/internal/record"
	"github.com/holdfast-go/holdfast/state"
)

// byValue is a key made of what the tests give as input.
func byValue(_ context.Context, s *notes) (string, error) { return s.Value.Get(), nil }

// A search is a graph whose first node is cached: it writes, and goes to one of two nodes by what it was given.
type search struct{ ran atomic.Int32 }

func (c *search) graph() *graph.Graph[notes] {
	g := graph.New[notes]("search")
	g.Branch("find", func(ctx context.Context, s *notes) (graph.Next, error) {
		s.Log.Append(fmt.Sprintf("found %s by run %d", s.Value.Get(), c.ran.Add(1)))
		return graph.To(strings.Fields(s.Value.Get())[0]), nil
	}, "left", "right")
	g.Node("left", func(_ context.Context, s *notes) error { s.Log.Append("left"); return nil })
	g.Node("right", func(_ context.Context, s *notes) error { s.Log.Append("right"); return nil })
	g.Edge(graph.Start, "find")
	g.Cache("find", time.Hour, byValue)
	return g
}

// cachedTasks lists the tasks of a thread's history whose results came from the cache.
func cachedTasks[S any](t testing.TB, app *graph.App[S], th graph.Thread) (ids []string) {
	t.Helper()
	for _, e := range entries(t, app, th) {
		ids = append(ids, e.Cached...)
	}
	return ids
}

// A node whose key comes again does not run: its writes and its routing are taken, in another thread, App and process too, and
// are marked in entries and events, live and from the log. Another key, tenant, graph or version runs. // E25 // E47
func TestCache(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s checkpoint.Store, h *hand) {
		c := new(search)
		app := compile(t, c.graph(), graph.Options{Store: s})
		run := func(app *graph.App[notes], th graph.Thread, value string, want ...string) {
			t.Helper()
			out, err := app.Run(t.Context(), th, give(value))
			if err != nil || !slices.Equal(out.Log.Slice(), want) {
				t.Fatalf("%s: %v %q, want %q", th, err, out.Log.Slice(), want)
			}
		}
		run(app, graph.ID("a"), "left x", "found left x by run 1", "left")
		if ids := cachedTasks(t, app, graph.ID("a")); len(ids) > 0 {
			t.Fatalf("%q are marked", ids)
		}
		run(compile(t, c.graph(), graph.Options{Store: s}), graph.ID("b"), "left x", "found left x by run 1", "left")
		if ids := cachedTasks(t, app, graph.ID("b")); !slices.Equal(ids, []string{"0.0"}) {
			t.Fatalf("%q are marked", ids)
		}
		run(app, graph.ID("c"), "right x", "found right x by run 2", "right")
		run(app, graph.Thread{Tenant: "other", ID: "a"}, "left x", "found left x by run 3", "left")
		next := c.graph()
		next.Version(2)
		run(compile(t, next, graph.Options{Store: s}), graph.ID("d"), "left x", "found left x by run 4", "left")
		run(app, graph.ID("a"), "left x", "found left x by run 1", "left", "found left x by run 1", "left")

		var marked []string
		for ev, err := range app.Stream(t.Context(), graph.ID("e"), give("left x")) {
			if err != nil {
				t.Fatal(err)
			}
			if ev.Cached {
				marked = append(marked, fmt.Sprint(ev.Kind, " ", ev.Node))
			}
		}
		if want := []string{"task.completed find", "updated find"}; !slices.Equal(marked, want) {
			t.Fatalf("%q are marked, want %q", marked, want)
		}
		h.move(time.Hour)
		run(app, graph.ID("f"), "left x", "found left x by run 5", "left")
	})
}

// Sends have keys of their own, made of the argument; a cached node may itself send; several results of a superstep are kept, and
// some may come from the cache while others run. // E25 // E13
func TestCacheOfSends(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s checkpoint.Store, _ *hand) {
		var ran, planned atomic.Int32
		g := graph.New[notes]("sends")
		var work graph.Sender[int]
		g.Branch("plan", func(_ context.Context, n *notes) (graph.Next, error) {
			planned.Add(1)
			if n.Value.Get() == "more" {
				return work.Send(1, 2, 3, 2), nil
			}
			return work.Send(1, 2), nil
		}, "work")
		work = graph.Each(g, "work", func(_ context.Context, n *notes, k int) error { ran.Add(1); n.Total.Add(k); return nil })
		g.Edge(graph.Start, "plan")
		g.Cache("plan", time.Hour, byValue)
		graph.CacheEach(g, "work", time.Hour, func(_ context.Context, _ *notes, k int) (string, error) { return fmt.Sprint(k), nil })
		app := compile(t, g, graph.Options{Store: s})
		for i, c := range []struct {
			value         string
			total         int
			planned, ran  int32
			cachedTargets int
		}{{"some", 3, 1, 2, 0}, {"some", 3, 1, 2, 3}, {"more", 8, 2, 3, 3}, {"more", 8, 2, 3, 5}} {
			th := graph.ID(fmt.Sprint(i))
			out, err := app.Run(t.Context(), th, give(c.value))
			ids := cachedTasks(t, app, th)
			if err != nil || out.Total.Get() != c.total || planned.Load() != c.planned || ran.Load() != c.ran || len(ids) != c.cachedTargets {
				t.Fatalf("%d: %v total %d, planned %d, ran %d, cached %q", i, err, out.Total.Get(), planned.Load(), ran.Load(), ids)
			}
		}
	})
}

// What is no result of its own is not kept: of a task that failed, waited, was handled, was cancelled, or used an answer, an effect, a
// child graph or an Untracked field, or of a superstep that was refused. // E25 // E4
func TestCacheKeepsResultsOnly(t *testing.T) {
	t.Parallel()
	type kept struct {
		Log     state.List[string]    `json:"log"`
		Last    state.Last[string]    `json:"last"`
		Private state.Untracked[bool] `json:"private"`
	}
	child := compile(t, graph.Func("child", func(context.Context, int, *state.Last[int]) (int, error) { return 1, nil }), graph.Options{})
	ran := map[string]int{}
	for name, c := range map[string]struct {
		fn   func(ctx context.Context, s *kept) error
		want int // runs of the node in two runs on two threads, the pauses answered
	}{
		"plain":     {func(context.Context, *kept) error { return nil }, 1},
		"heartbeat": {func(ctx context.Context, _ *kept) error { return graph.Heartbeat(ctx) }, 1},
		"fails":     {func(context.Context, *kept) error { return errors.New("no") }, 2},
		"asks":      {func(ctx context.Context, _ *kept) error { _, err := graph.Ask[string](ctx, "q", "?"); return err }, 4},
		"once": {func(ctx context.Context, _ *kept) error {
			_, err := graph.Once(ctx, "o", func(context.Context, string) (int, error) { return 1, nil })
			return err
		}, 2},
		"calls":   {func(ctx context.Context, _ *kept) error { _, err := graph.Call(ctx, "c", child, nil); return err }, 2},
		"private": {func(_ context.Context, s *kept) error { s.Private.Set(true); return nil }, 2},
		"clash":   {func(_ context.Context, s *kept) error { s.Last.Set("mine"); return nil }, 2},
	} {
		s := new(checkpoint.Memory)
		g := graph.New[kept](name)
		g.Node("n", func(ctx context.Context, k *kept) error { ran[name]++; return c.fn(ctx, k) })
		g.Edge(graph.Start, "n")
		g.Cache("n", time.Hour, func(context.Context, *kept) (string, error) { return "key", nil })
		if name == "clash" {
			g.Node("other", func(_ context.Context, k *kept) error { k.Last.Set("other"); return nil })
			g.Edge(graph.Start, "other")
		}
		app := compile(t, g, graph.Options{Store: s})
		for _, th := range []graph.Thread{graph.ID("a"), graph.ID("b")} {
			_, err := app.Run(t.Context(), th, nil)
			if name == "asks" {
				_, err = app.Resume(t.Context(), th, graph.Answer(paused(t, err).Questions[0], "yes"))
			}
			if failed := name == "fails" || name == "clash"; (err != nil) != failed {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if ran[name] != c.want {
			t.Errorf("%s ran %d times, want %d", name, ran[name], c.want)
		}
	}

	handled, handling := 0, graph.New[notes]("handled")
	handling.Node("n", func(context.Context, *notes) error { handled++; return errors.New("no") })
	handling.Handle("n", func(_ context.Context, n *notes, _ error) (graph.Next, error) {
		n.Log.Append("handled")
		return graph.Next{}, nil
	})
	handling.Edge(graph.Start, "n")
	handling.Cache("n", time.Hour, byValue)
	app := compile(t, handling, graph.Options{Store: new(checkpoint.Memory)})
	for range 2 {
		if _, err := app.Run(t.Context(), graph.ID("t"), nil); err != nil {
			t.Fatal(err)
		}
	}
	if handled != 2 {
		t.Errorf("a handled task ran %d times", handled)
	}
}

// A node that returns because its run was cancelled has no result to keep, whatever it returns. // E25 // E26
func TestCacheOfACancelledRun(t *testing.T) {
	t.Parallel()
	s, entered := new(checkpoint.Memory), make(chan struct{}, 2)
	ran := 0
	g := graph.New[notes]("cancelled")
	g.Node("n", func(ctx context.Context, n *notes) error {
		entered <- struct{}{}
		if ran++; ran == 1 {
			<-ctx.Done()
		}
		n.Log.Append(fmt.Sprint("run ", ran))
		return nil // as if it had finished
	})
	g.Edge(graph.Start, "n")
	g.Cache("n", time.Hour, byValue)
	app := compile(t, g, graph.Options{Store: s})
	busy := going(func() (*notes, error) { return app.Run(t.Context(), graph.ID("a"), nil) })
	<-entered
	if err := app.Cancel(t.Context(), graph.ID("a")); err != nil {
		t.Fatal(err)
	}
	<-busy
	out, err := app.Run(t.Context(), graph.ID("b"), nil)
	if err != nil || !slices.Equal(out.Log.Slice(), []string{"run 2"}) {
		t.Fatalf("%v %q", err, out.Log.Slice())
	}
}

// A cache that fails, is slow to fail, or holds something else never fails a task: the node runs. // E25
func TestCacheFailures(t *testing.T) {
	t.Parallel()
	c, th := new(search), graph.ID("t")
	broken := faultstore.New(new(checkpoint.Memory))
	broken.Before = func(call *faultstore.Call) error {
		if strings.HasPrefix(call.Name, "Cache") {
			return checkpoint.ErrUnavailable
		}
		return nil
	}
	app := compile(t, c.graph(), graph.Options{Store: broken})
	for n := range 2 {
		out, err := app.Run(t.Context(), th, give("left x"))
		if err != nil || int(c.ran.Load()) != n+1 || out.Log.Len() != 2*(n+1) {
			t.Fatalf("%v: ran %d", err, c.ran.Load())
		}
	}
	if gets, puts := broken.Calls("CacheGet"), broken.Calls("CachePut"); gets != 2 || puts != 2 {
		t.Fatalf("%d gets, %d puts", gets, puts)
	}
	for _, bad := range []any{
		nil,
		"no record",
		&record.Done{Node: "another"},
		&record.Done{Node: "find", To: []string{"nowhere"}},
		&record.Done{Node: "find", To: []string{"find"}}, // not declared
		&record.Done{Node: "find", To: []string{"left"}, Writes: record.Writes{{Field: "log", Kind: "sum", Data: []byte(`{"add":1}`)}}},
		&record.Done{Node: "find", To: []string{"left"}, Writes: record.Writes{{Field: "log", Kind: "list", Data: []byte(`7`)}}},
		&record.Done{Node: "find", Sends: []record.Send{{Node: "left", Arg: []byte(`1`)}}},
	} {
		body, err := record.Encode(bad)
		if err != nil {
			t.Fatal(err)
		}
		before := c.ran.Load()
		out, err := compile(t, c.graph(), graph.Options{Cache: &planted{Memory: new(checkpoint.Memory), body: body}}).Run(t.Context(), th, give("left x"))
		if err != nil || c.ran.Load() != before+1 || out.Log.Len() != 2 {
			t.Fatalf("%s: %v: ran %d times", body, err, c.ran.Load()-before)
		}
	}
	good, err := record.Encode(&record.Done{Node: "find", To: []string{"right"}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := compile(t, c.graph(), graph.Options{Cache: &planted{Memory: new(checkpoint.Memory), body: good}}).Run(t.Context(), th, give("left x"))
	if err != nil || !slices.Equal(out.Log.Slice(), []string{"right"}) { // else the others prove nothing
		t.Fatalf("%v %q", err, out.Log.Slice())
	}
}

// planted is a cache that has one body under every key.
type planted struct {
	*checkpoint.Memory
	body []byte
}

func (p *planted) CacheGet(context.Context, checkpoint.CacheKey) ([]byte, error) { return p.body, nil }

// A key function that fails, panics or writes fails its attempt, as its node would; the retry policy decides. // E25 // E21
func TestCacheKeyFails(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]func(context.Context, *notes) (string, error){
		"boom":  func(context.Context, *notes) (string, error) { return "", errors.New("boom") },
		"panic": func(context.Context, *notes) (string, error) { panic("boom") },
		"wrote": func(_ context.Context, n *notes) (string, error) { n.Total.Add(1); return "", nil },
	} {
		g := graph.New[notes]("key")
		g.Node("n", func(context.Context, *notes) error { t.Errorf("%s: the node ran", name); return nil })
		g.Edge(graph.Start, "n")
		g.Cache("n", time.Hour, key)
		_, err := compile(t, g, graph.Options{}).Run(t.Context(), graph.ID("t"), nil)
		if failed, ok := errors.AsType[*graph.NodeError](err); !ok || failed.Node != "n" || !strings.Contains(err.Error(), name) && !strings.Contains(err.Error(), "boom") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A hit stands in the entry like any result: after a crash behind it, and on a fork before it, the thread goes on with it although
// the cache has it no more. A crash before the entry asks the cache again. // E25 // E61
func TestCacheAndCrash(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		c, s := new(search), new(checkpoint.Memory)
		if _, err := compile(t, c.graph(), graph.Options{Store: s}).Run(t.Context(), graph.ID("first"), give("left x")); err != nil {
			t.Fatal(err)
		}
		dying, th := faultstore.New(s), graph.ID("t")
		dying.At("", n, faultstore.CrashBefore)
		app := compile(t, c.graph(), graph.Options{Store: dying, StorePatience: 100 * time.Millisecond})
		_, err := app.Run(t.Context(), th, give("left x"))
		if err := app.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		alive := compile(t, c.graph(), graph.Options{Store: s})
		if _, err := alive.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		if errors.Is(err, checkpoint.ErrUnavailable) {
			if _, err := alive.State(t.Context(), th); errors.Is(err, graph.ErrNoThread) { // it had not begun
				continue
			}
		}
		if got, want := linesOf(t, alive, th), []string{"found left x by run 1", "left"}; !slices.Equal(got, want) {
			t.Fatalf("crash at call %d: %q, want %q", n, got, want)
		}
		if dying.Calls("") < n {
			return
		}
	}
}

// The cache of a file is that of all processes on it, and of none that was given another. Without a store the App remembers by itself. // E25
func TestCacheElsewhere(t *testing.T) {
	t.Parallel()
	path, c := filepath.Join(t.TempDir(), "db"), new(search)
	for range 2 {
		s, err := sqlite.Open(path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := compile(t, c.graph(), graph.Options{Store: s}).Run(t.Context(), graph.ID("t"), give("left x")); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.ran.Load(); n != 1 {
		t.Fatalf("two processes ran it %d times", n)
	}
	s := new(checkpoint.Memory)
	for range 2 {
		if _, err := compile(t, c.graph(), graph.Options{Store: s, Cache: new(checkpoint.Memory)}).Run(t.Context(), graph.ID("t"), give("left x")); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.ran.Load(); n != 3 {
		t.Fatalf("with caches of their own two Apps ran it %d times", n-1)
	}
	for _, o := range []graph.Options{{}, {Store: struct{ checkpoint.Store }{s}}} {
		before, app := c.ran.Load(), compile(t, c.graph(), o)
		for n := range 2 {
			if _, err := app.Run(t.Context(), graph.ID(fmt.Sprint("alone ", n)), give("left x")); err != nil {
				t.Fatal(err)
			}
		}
		if n := c.ran.Load() - before; n != 1 {
			t.Fatalf("an App of its own ran it %d times", n)
		}
	}
}

// Mistakes are found by Compile. // E25 // E11
func TestCacheMistakes(t *testing.T) {
	t.Parallel()
	g := graph.New[notes]("mistakes")
	g.Node("a", func(context.Context, *notes) error { return nil })
	graph.Mount[notes, notes](g, "child", compile(t, inLine("x"), graph.Options{}), nil, nil)
	send := graph.Each(g, "each", func(context.Context, *notes, int) error { return nil })
	g.Edge(graph.Start, "a")
	g.Edge("a", "child")
	g.Route("a", func(context.Context, *notes) (graph.Next, error) { return send.Send(1), nil }, "each")
	each := func(context.Context, *notes, string) (string, error) { return "", nil }
	g.Cache("a", 0, byValue)
	g.Cache("b", time.Hour, byValue)
	g.Cache("child", time.Hour, byValue)
	g.Cache("each", time.Hour, byValue)
	g.Cache("a", time.Hour, nil)
	g.Cache("a", time.Hour, byValue)
	graph.CacheEach(g, "each", time.Hour, each)
	g.Node("plain", func(context.Context, *notes) error { return nil })
	g.Edge("a", "plain")
	graph.CacheEach(g, "plain", time.Hour, each)
	_, err := g.Compile(graph.Options{})
	for _, want := range []string{
		`cache of a: it needs a time to live`, `there is no node "b"`, `cache of child: it is a graph`, `of type "int", its key ""`,
		`of type "int", its key "string"`, `of type "", its key "string"`, "a key function is needed", "it has one already",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks: %s", err, want)
		}
	}
}
