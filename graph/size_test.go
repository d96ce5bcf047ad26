package graph_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/record"
	"github.com/holdfast-go/holdfast/state"
)

type sizes struct {
	List state.List[string]     `json:"list"`
	Big  state.Last[string]     `json:"big"`
	Map  state.Map[int, string] `json:"map"`
	N    state.Sum[int]         `json:"n"`
}

func text(n int) string { return strings.Repeat("x", n) }

// measured runs a pattern of n supersteps and checks at every entry what a load reads, and at the end what is stored. // E56
func measured(t *testing.T, n int, o graph.RunOptions, input func(*sizes), write func(i int, s *sizes)) {
	store := new(checkpoint.Memory)
	g := graph.New[sizes]("sizes")
	g.Node("a", func(ctx context.Context, s *sizes) error { write(s.N.Get(), s); s.N.Add(1); return nil })
	g.Edge(graph.Start, "a")
	g.Route("a", func(ctx context.Context, s *sizes) (graph.Next, error) {
		if s.N.Get()%n == 0 {
			return graph.To(graph.End), nil
		}
		return graph.To("a"), nil
	}, "a", graph.End)
	app := compile(t, g, graph.Options{Store: store, StepLimit: n}).With(o)
	th := graph.ID("t")
	if _, err := app.Run(t.Context(), th, input); err != nil {
		t.Fatal(err)
	}
	checkSizes(t, store, th)
}

// checkSizes folds a thread's log entry by entry. The bars are twice the live state and 16 KiB for a load of any entry, and
// twice what was written for what is stored.
func checkSizes(t *testing.T, store checkpoint.Store, th graph.Thread) {
	t.Helper()
	recs, err := store.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: key(th)}, To: -1})
	if err != nil {
		t.Fatal(err)
	}
	log := record.NewThread()
	var stored, written, worst int64
	ends := make([]int64, len(recs)+1) // bytes up to each position
	for i, r := range recs {
		size := int64(len(r.Body)) + checkpoint.Overhead
		stored += size
		if r.Kind != checkpoint.KindSnapshot {
			written += size
		}
		ends[i+1] = ends[i] + size
		if err := log.Apply(r); err != nil {
			t.Fatal(err)
		}
		last := i+1 == len(recs)
		if entry := r.Kind == checkpoint.KindEntry || r.Kind == checkpoint.KindInput; !entry && r.Kind != checkpoint.KindSnapshot || entry && !last && recs[i+1].Kind == checkpoint.KindSnapshot {
			continue // read together with the snapshot that closes it
		}
		read := ends[i+1] - ends[r.Base]
		bar := 2*log.State.Size() + record.Slack + 1024 // the control state and the names beside the values
		worst = max(worst, read*100/bar)
		if read > bar {
			t.Fatalf("entry at %d (%c): a load reads %d bytes of a state of %d", r.Pos, r.Kind, read, log.State.Size())
		}
	}
	t.Logf("state %d, stored %d, written %d, worst read %d%% of its bar", log.State.Size(), stored, written, worst)
	if stored > 2*written {
		t.Fatalf("stored %d, written %d", stored, written)
	}
}

// What a load reads and what is stored stay in proportion, whatever is written in whatever order. // E56 // E8 // report 207
func TestBytesReadAndStored(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		n     int
		input func(*sizes)
		write func(int, *sizes)
	}{
		"list of 100 B":          {1500, nil, func(i int, s *sizes) { s.List.Append(text(100)) }},
		"list of 1 KB":           {500, nil, func(i int, s *sizes) { s.List.Append(text(1000)) }},
		"1 MB once, 1 KB each":   {500, func(s *sizes) { s.Big.Set(text(1 << 20)) }, func(i int, s *sizes) { s.Map.Put(0, text(1000)) }},
		"100 KB each and a list": {100, nil, func(i int, s *sizes) { s.Big.Set(text(100_000)); s.List.Append(text(100)) }},
		"map of 300 keys":        {1500, nil, func(i int, s *sizes) { s.Map.Put(i%300, text(50)) }},
		"grows and is cleared": {400, nil, func(i int, s *sizes) {
			s.List.Append(text(2000))
			if i%50 == 49 {
				s.List.Replace()
			}
		}},
		"grows and loses its keys": {600, nil, func(i int, s *sizes) { s.Map.Put(i, text(1000)); s.Map.Delete(i - 10) }},
		"nothing":                  {2000, nil, func(int, *sizes) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			measured(t, c.n, graph.RunOptions{}, c.input, c.write)
		})
	}
}

// The same across runs: short ones, ones that route to the end at once, ones that fail, ones that are cancelled. // E56
func TestBytesReadAcrossRuns(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"end", "a", "fail", "ask"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			store := new(checkpoint.Memory)
			g := graph.New[sizes]("runs")
			g.Node("a", func(ctx context.Context, s *sizes) error { s.N.Add(1); return nil })
			g.Node("fail", func(ctx context.Context, s *sizes) error { return fmt.Errorf("no") })
			g.Node("ask", func(ctx context.Context, s *sizes) error { _, err := graph.Ask[bool](ctx, "q", "?"); return err })
			g.Route(graph.Start, func(ctx context.Context, s *sizes) (graph.Next, error) {
				if way == "end" {
					return graph.To(graph.End), nil
				}
				return graph.To(way), nil
			}, "a", "fail", "ask", graph.End)
			app := compile(t, g, graph.Options{Store: store})
			th := graph.ID("t")
			for range 300 {
				_, err := app.Run(t.Context(), th, func(s *sizes) { s.Big.Set(text(1000)) })
				if (err != nil) != (way == "fail" || way == "ask") {
					t.Fatal(err)
				}
				if way == "ask" {
					if err := app.Cancel(t.Context(), th); err != nil {
						t.Fatal(err)
					}
				}
			}
			checkSizes(t, store, th)
			if st, err := app.State(t.Context(), th); err != nil || st.State.Big.Get() != text(1000) {
				t.Fatal(err)
			}
		})
	}
}
