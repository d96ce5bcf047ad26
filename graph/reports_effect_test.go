package graph_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"weak"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/state"
)

// report 210: what a process has of a run is gone when the run is over, without a store, and with a store once the thread is
// deleted there. It runs alone, before the parallel tests, because it looks at the memory of the process.
func TestHeapStaysFlat(t *testing.T) {
	g := func() *graph.Graph[notes] {
		g := graph.New[notes]("flat")
		each := graph.Each(g, "each", func(_ context.Context, s *notes, n int) error { s.Total.Add(n); return nil })
		g.Route(graph.Start, func(context.Context, *notes) (graph.Next, error) { return each.Send(1, 2), nil }, "each")
		return g
	}
	store := new(checkpoint.Memory)
	for name, app := range map[string]*graph.App[notes]{"no store": compile(t, g(), graph.Options{}), "memory": compile(t, g(), graph.Options{Store: store})} {
		type payload struct{ _ [1 << 10]byte }
		var values []weak.Pointer[payload]
		runs := func(n int) uint64 {
			for i := range n {
				p := new(payload)
				if i%100 == 0 {
					values = append(values, weak.Make(p))
				}
				th := graph.ID(fmt.Sprint(i))
				if _, err := app.Run(context.WithValue(context.Background(), callerKey{}, p), th, nil); err != nil {
					t.Fatal(err)
				}
				if err := store.Delete(context.Background(), checkpoint.Key{Tenant: th.Tenant, Thread: th.ID}); err != nil {
					t.Fatal(err)
				}
			}
			return heapInUse()
		}
		const n, most = 2_500, 128 << 10 // 50 bytes a run; a context alone is more
		first := runs(n)
		if second := runs(n); second > first+most {
			t.Errorf("%s: the heap grew from %d to %d bytes in %d runs", name, first, second, n)
		}
		alive := 0
		for _, v := range values {
			if v.Value() != nil {
				alive++
			}
		}
		if alive > 2 {
			t.Errorf("%s: the callers' values of %d of %d runs are still in memory", name, alive, len(values))
		}
	}
}

// heapInUse collects what is garbage, twice because of finalizers, and counts the rest.
func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// report 28: a node may run again after its effect, so every attempt, of a retry or of a later resume, hands out the same
// idempotency key; a new visit of the node has another one.
func TestEveryAttemptHasTheSameKey(t *testing.T) {
	t.Parallel()
	var keys []string
	left := 3
	app := solo(t, func(ctx context.Context, s *notes) error {
		_, err := graph.Once(ctx, "pay", func(_ context.Context, key string) (int, error) {
			keys = append(keys, key)
			if left > 0 { // the money has moved, and the reply is lost
				left--
				return 0, errBoom
			}
			return 1, nil
		})
		return err
	}, graph.Policy{Attempts: 2, Backoff: 1}, graph.Options{Store: new(checkpoint.Memory)})
	th := graph.ID("1")
	_, err := app.Run(t.Context(), th, nil)
	wantErr(t, err, errBoom)
	if _, err := app.Resume(t.Context(), th); err != nil {
		t.Fatal(err)
	}
	if len(keys) != 4 || len(slices.Compact(slices.Clone(keys))) != 1 || keys[0] == "" {
		t.Fatalf("keys %q", keys)
	}
	if _, err := app.Run(t.Context(), th, nil); err != nil || keys[4] == keys[0] {
		t.Fatalf("%v: another task has the key of the first: %q", err, keys)
	}
}

// E26, report 37: a node that is cancelled in the middle may return what it has, marked as partial. It counts as finished, is
// committed with the cancel, and is there for whoever reads the thread next.
func TestPartialOutputOfACancelIsKept(t *testing.T) {
	t.Parallel()
	type talk struct {
		Messages state.Keyed[message.Message] `json:"messages"`
	}
	const chunks = 25
	streamed := make(chan struct{})
	g := graph.New[talk]("talk")
	g.Node("speak", func(ctx context.Context, s *talk) error {
		var said strings.Builder
		for range chunks {
			said.WriteString("word ")
			if err := graph.Emit(ctx, "token", "word "); err != nil {
				return err
			}
		}
		close(streamed)
		<-ctx.Done() // the model's stream ends with the context
		m := message.Assistant(said.String())
		m.Partial = true
		s.Messages.Append(m)
		return nil
	})
	g.Node("after", func(context.Context, *talk) error { t.Error("a cancelled run went on"); return nil })
	g.Edge(graph.Start, "speak")
	g.Edge("speak", "after")
	store := new(checkpoint.Memory)
	app, th := compile(t, g, graph.Options{Store: store}), graph.ID("1")
	over := make(chan error, 1)
	go func() { _, err := app.Run(t.Context(), th, nil); over <- err }()
	<-streamed
	if err := app.Cancel(t.Context(), th); err != nil {
		t.Fatal(err)
	}
	wantErr(t, <-over, graph.ErrCancelled)
	st, err := compile(t, g, graph.Options{Store: store}).State(t.Context(), th)
	if err != nil || st.Status != checkpoint.Cancelled {
		t.Fatalf("%v, %v", err, st.Status)
	}
	m, _ := st.State.Messages.Last()
	if !m.Partial || m.Text() != strings.Repeat("word ", chunks) {
		t.Fatalf("kept %q, partial %v", m.Text(), m.Partial)
	}
}

// report 220: parallel nodes that read the whole state and hand back what they have read write nothing but what they set.
func TestReadingIsNoWriteInParallel(t *testing.T) {
	t.Parallel()
	type shared struct {
		A state.Last[string]           `json:"a"`
		B state.Last[string]           `json:"b"`
		M state.Last[map[string][]int] `json:"m"`
		L state.List[string]           `json:"l"`
	}
	read := func(s *shared) {
		s.A.Get()
		s.B.Get()
		s.M.Get()["x"][0] = 99 // a copy of the reader's own
		for range s.L.All() {
		}
		s.L.Append(s.L.Slice()[:0]...) // nothing is appended
	}
	g := graph.New[shared]("shared")
	g.Node("one", func(_ context.Context, s *shared) error { read(s); s.A.Set("one"); return nil })
	g.Node("two", func(_ context.Context, s *shared) error { read(s); s.B.Set("two"); return nil })
	g.Edge(graph.Start, "one")
	g.Edge(graph.Start, "two")
	app := compile(t, g, graph.Options{Store: new(checkpoint.Memory)})
	s, err := app.Run(t.Context(), graph.ID("1"), func(s *shared) {
		s.A.Set("a")
		s.B.Set("b")
		s.M.Set(map[string][]int{"x": {1}})
		s.L.Append("l")
	})
	if err != nil || s.A.Get() != "one" || s.B.Get() != "two" || s.M.Get()["x"][0] != 1 || s.L.Len() != 1 {
		t.Fatalf("%v: %q %q %v %v", err, s.A.Get(), s.B.Get(), s.M.Get(), s.L.Slice())
	}
	// One that sets what another sets too is a conflict, and says so; it is never settled by chance.
	g.Node("three", func(_ context.Context, s *shared) error { s.A.Set(s.A.Get()); return nil })
	g.Edge(graph.Start, "three")
	_, err = compile(t, g, graph.Options{}).Run(t.Context(), graph.ID("2"), func(s *shared) { s.M.Set(map[string][]int{"x": {1}}) })
	if c, ok := errors.AsType[*state.ConflictError](err); !ok || c.Field != "a" || !slices.Equal(c.Names, []string{"one", "three"}) {
		t.Fatalf("%v", err)
	}
}
