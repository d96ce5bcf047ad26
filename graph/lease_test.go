package graph_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

// A handClock is a store's clock that is moved by hand.
type handClock struct{ offset atomic.Int64 }

func (c *handClock) now() time.Time { return time.Unix(1_700_000_000, c.offset.Load()) }

func (c *handClock) advance(d time.Duration) { c.offset.Add(int64(d)) }

// A worker whose lease has run out is replaced; its late write is ErrStale and leaves not one row. Both see the same
// idempotency key. // E38 // report 36 // report 138
func TestLateWriterIsStale(t *testing.T) {
	t.Parallel()
	var clock handClock
	mem := &checkpoint.Memory{Now: clock.now}
	file, err := sqlite.Open(filepath.Join(t.TempDir(), "t.db"), sqlite.Options{Now: clock.now})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for name, store := range map[string]checkpoint.Store{"memory": mem, "sqlite": file} {
		t.Run(name, func(t *testing.T) {
			b := newStuck()
			keys := make(chan string, 2)
			var second atomic.Bool
			g := fan(map[string]func(context.Context, *notes) error{"a": func(ctx context.Context, s *notes) error {
				info, _ := graph.Info(ctx)
				keys <- info.Key
				if second.Load() {
					s.Log.Append("second")
					return nil
				}
				b.entered <- struct{}{}
				<-b.release
				s.Log.Append("late")
				return nil
			}})
			slow := faultstore.New(store)
			slow.Before = func(c *faultstore.Call) error {
				if c.Name == "Renew" { // it is too busy to renew
					return checkpoint.ErrUnavailable
				}
				return nil
			}
			th := graph.ID("t")
			late := compile(t, g, graph.Options{Store: slow})
			other := compile(t, g, graph.Options{Store: store})
			run := going(func() (*notes, error) { return late.Run(t.Context(), th, nil) })
			<-b.entered
			_, err := other.Resume(t.Context(), th)
			wantErr(t, err, graph.ErrBusy) // its lease is good
			clock.advance(time.Minute)
			second.Store(true)
			out, err := other.Resume(t.Context(), th)
			if err != nil || !slices.Equal(out.Log.Slice(), []string{"second", "done"}) {
				t.Fatalf("%v %v", err, out.Log.Slice())
			}
			before, err := store.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: key(th)}, To: -1})
			if err != nil {
				t.Fatal(err)
			}
			close(b.release)
			wantErr(t, (<-run).err, graph.ErrStale)
			after, err := store.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: key(th)}, To: -1})
			if err != nil || len(after) != len(before) {
				t.Fatalf("%v: %d records before the late write, %d after it", err, len(before), len(after))
			}
			if a, b := <-keys, <-keys; a != b {
				t.Errorf("keys %q and %q", a, b)
			}
			st, err := other.State(t.Context(), th)
			if err != nil || st.Status != checkpoint.Completed {
				t.Fatalf("%v %v", err, st.Status)
			}
		})
	}
}

// Whoever takes over reads the log after acquiring: what the former holder wrote in between is not run again. // E38 // report 34
func TestTakeoverReadsAfterAcquiring(t *testing.T) {
	t.Parallel()
	var clock handClock
	mem := &checkpoint.Memory{Now: clock.now}
	former, successor := faultstore.New(mem), faultstore.New(mem)
	former.Before = func(c *faultstore.Call) error {
		if c.Name == "Renew" {
			return checkpoint.ErrUnavailable
		}
		return nil
	}
	reached, release := successor.Block("Acquire", 1)
	committed := make(chan struct{})
	former.After = func(c *faultstore.Call) error {
		if c.Name == "Append" && c.Nth == 1 {
			close(committed)
		}
		return c.Err
	}
	b := newStuck()
	var first, second atomic.Int32
	g := graph.New[notes]("g")
	g.Node("first", func(ctx context.Context, s *notes) error { first.Add(1); return b.node(ctx, s) })
	g.Node("second", func(ctx context.Context, s *notes) error {
		if second.Add(1) == 1 { // of the former holder
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	})
	g.Edge(graph.Start, "first")
	g.Edge("first", "second")
	a1, a2 := compile(t, g, graph.Options{Store: former}), compile(t, g, graph.Options{Store: successor})
	th := graph.ID("t")
	ctx, cancel := context.WithCancel(t.Context())
	run := going(func() (*notes, error) { return a1.Run(ctx, th, nil) })
	<-b.entered
	clock.advance(time.Minute)
	taken := going(func() (*notes, error) { return a2.Resume(t.Context(), th) })
	<-reached        // it has loaded the thread
	close(b.release) // and now the former holder gets on
	<-committed
	release()
	if e := <-taken; e.err != nil || !slices.Equal(e.out.Log.Slice(), []string{"released"}) {
		t.Fatalf("%v", e.err)
	}
	cancel()
	if e := <-run; !errors.Is(e.err, graph.ErrStale) {
		t.Errorf("the former holder ended with %v", e.err)
	}
	if first.Load() != 1 {
		t.Errorf("a committed node ran %d times", first.Load())
	}
}

// A cancel from another process is noticed with the next renewal, while a node runs. // E26
func TestCancelComesWithARenewal(t *testing.T) {
	t.Parallel()
	mem := new(checkpoint.Memory)
	b := newStuck()
	app := compile(t, fan(map[string]func(context.Context, *notes) error{"a": b.node}), graph.Options{Store: mem, Lease: 300 * time.Millisecond})
	th := graph.ID("t")
	run := going(func() (*notes, error) { return app.Run(t.Context(), th, nil) })
	<-b.entered
	l, err := mem.Load(t.Context(), key(th), checkpoint.Active, "")
	if err != nil {
		t.Fatal(err)
	}
	// As another process does it: through the store alone.
	if _, err := mem.Post(t.Context(), checkpoint.Command{Key: key(th), Kind: checkpoint.CommandCancel, Body: []byte(`{"run":"` + l.Head.Run + `","by":"boss"}`)}); err != nil {
		t.Fatal(err)
	}
	wantErr(t, (<-run).err, graph.ErrCancelled)
}
