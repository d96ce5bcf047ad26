package graph_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/state"
)

// ten has ten fields, as E51 asks.
type ten struct {
	A state.Last[string]      `json:"a"`
	B state.Last[int]         `json:"b"`
	C state.List[string]      `json:"c"`
	D state.List[int]         `json:"d"`
	E state.Map[string, int]  `json:"e"`
	F state.Set[string]       `json:"f"`
	G state.Sum[int]          `json:"g"`
	H state.Sum[float64]      `json:"h"`
	I state.Last[bool]        `json:"i"`
	J state.Ephemeral[string] `json:"j"`
}

func count(ctx context.Context, s *ten) error { s.G.Add(1); return nil }

func loop(t testing.TB, o graph.Options, fn func(context.Context, *ten) error) *graph.App[ten] {
	g := graph.New[ten]("loop")
	g.Node("a", fn)
	g.Edge(graph.Start, "a")
	g.Edge("a", "a")
	app, err := g.Compile(o)
	if err != nil {
		t.Fatal(err)
	}
	return app
}

// BenchmarkE51 measures a superstep without a store against a direct call of the node, beside what a goroutine costs. // E51
func BenchmarkE51(b *testing.B) {
	app := loop(b, graph.Options{}, count)
	var direct, step, spawn []float64
	const n = 20_000
	schema, err := state.Of[ten]()
	if err != nil {
		b.Fatal(err)
	}
	view := schema.View(schema.Empty())
	for range max(5, b.N) {
		step = append(step, perOp(n, func(n int) {
			app.With(graph.RunOptions{StepLimit: n}).Run(b.Context(), graph.ID("x"), nil)
		}))
		direct = append(direct, perOp(n, func(n int) {
			for range n {
				count(b.Context(), view)
			}
		}))
		spawn = append(spawn, perOp(n, func(n int) {
			c := make(chan int)
			for range n {
				go func() { c <- 1 }()
				<-c
			}
		}))
	}
	allocs := testing.AllocsPerRun(5, func() {
		app.With(graph.RunOptions{StepLimit: 1000}).Run(b.Context(), graph.ID("x"), nil)
	}) / 1000
	tick, report := laps(b, 20)
	watched := loop(b, graph.Options{}, func(ctx context.Context, s *ten) error { tick(); return count(ctx, s) })
	watched.With(graph.RunOptions{StepLimit: 5 * n}).Run(b.Context(), graph.ID("x"), nil)
	report()
	b.ReportMetric(median(step)-median(direct), "ns/superstep")
	b.ReportMetric(median(direct), "ns/node")
	b.ReportMetric(median(spawn), "ns/goroutine")
	b.ReportMetric(allocs, "allocs/superstep")
	b.ReportMetric(0, "ns/op")
}

func perOp(n int, f func(n int)) float64 {
	start := time.Now()
	f(n)
	return float64(time.Since(start)) / float64(n)
}

func median(x []float64) float64 { return percentile(x, 50) }

func percentile(x []float64, percent int) float64 {
	s := slices.Sorted(slices.Values(x))
	return s[len(s)*percent/100]
}

// laps times what lies between calls of tick, a batch of them at a time so that the clock costs next to nothing, in a run of its
// own beside the one that the means are from. What report reports is the spread of the means of batches: p50-ns and p99-ns.
func laps(b *testing.B, batch int) (tick, report func()) {
	took := make([]float64, 0, 1<<17)
	var last time.Time
	n := 0
	tick = func() {
		if n++; n%batch > 0 && batch > 1 {
			return
		}
		now := time.Now()
		if !last.IsZero() && len(took) < cap(took) {
			took = append(took, float64(now.Sub(last))/float64(batch))
		}
		last = now
	}
	return tick, func() {
		b.ReportMetric(percentile(took, 50), "p50-ns")
		b.ReportMetric(percentile(took, 99), "p99-ns")
	}
}

// line is the size of a message with its metadata. What tiny elements cost is in docs/decisions.md and in BenchmarkE56.
var line = strings.Repeat("a line of the growing list. ", 36)

// BenchmarkE52 runs a growing list on the memory store; the mean cost of a superstep must be flat. // E52
func BenchmarkE52(b *testing.B) {
	app := func(store checkpoint.Store) *graph.App[ten] {
		return loop(b, graph.Options{Store: store}, func(ctx context.Context, s *ten) error {
			s.C.Append(line)
			s.G.Add(1)
			return nil
		})
	}
	var base, baseBytes float64
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var ns, bytes []float64
			for range b.N {
				rounds := max(1, 20_000/n)
				var size int64
				ns = append(ns, perOp(n*rounds, func(int) {
					for i := range rounds {
						store := new(checkpoint.Memory)
						app(store).With(graph.RunOptions{StepLimit: n}).Run(b.Context(), graph.ID("x"), nil)
						if i == 0 {
							size = stored(b, store)
						}
					}
				}))
				bytes = append(bytes, float64(size)/float64(n))
			}
			if n == 100 {
				base, baseBytes = median(ns), median(bytes)
			}
			tick, report := laps(b, 1) // each by itself: a mean would hide the ones with a snapshot
			for range max(1, 1000/n) {
				loop(b, graph.Options{Store: new(checkpoint.Memory)}, func(ctx context.Context, s *ten) error {
					tick()
					s.C.Append(line)
					s.G.Add(1)
					return nil
				}).With(graph.RunOptions{StepLimit: n}).Run(b.Context(), graph.ID("x"), nil)
			}
			report()
			b.ReportMetric(median(ns), "ns/superstep")
			b.ReportMetric(median(ns)/base, "x-of-100")
			b.ReportMetric(median(bytes), "bytes/superstep")
			b.ReportMetric(median(bytes)/baseBytes, "bytes-of-100")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func stored(t testing.TB, s checkpoint.Store) (n int64) {
	recs, err := s.Read(context.Background(), checkpoint.Query{Chain: checkpoint.Chain{Key: checkpoint.Key{Tenant: graph.SingleTenant, Thread: "x"}}, To: -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range recs {
		n += int64(len(r.Body)) + checkpoint.Overhead
	}
	return n
}
