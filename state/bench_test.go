package state_test

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/state"
)

// ten is a state of ten small fields, as in E51.
type ten struct {
	A state.Last[string]     `json:"a"`
	B state.Last[int]        `json:"b"`
	C state.Last[bool]       `json:"c"`
	D state.Last[float64]    `json:"d"`
	E state.Last[string]     `json:"e"`
	F state.Sum[int]         `json:"f"`
	G state.Sum[int]         `json:"g"`
	H state.List[string]     `json:"h"`
	I state.List[string]     `json:"i"`
	J state.Map[string, int] `json:"j"`
}

var sink *ten // keeps views on the heap, where an engine's are

func BenchmarkView(b *testing.B) {
	sc := schema[ten](b)
	h := sc.Empty()
	b.ReportAllocs()
	for b.Loop() {
		sink = sc.View(h)
	}
}

func BenchmarkFreeze(b *testing.B) {
	sc := schema[ten](b)
	views := make([]*ten, 1024)
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if i%len(views) == 0 {
			b.StopTimer()
			for j := range views {
				views[j] = sc.View(sc.Empty())
				views[j].F.Add(1)
			}
			b.StartTimer()
		}
		if err := sc.Freeze(views[i%len(views)]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCommit folds one part that wrote one field.
func BenchmarkCommit(b *testing.B) {
	sc := schema[ten](b)
	for name, write := range map[string]func(*ten){
		"Sum":  func(s *ten) { s.F.Add(1) },
		"Last": func(s *ten) { s.A.Set("x") },
		"List": func(s *ten) { s.H.Append("x") },
		"Map":  func(s *ten) { s.J.Put("x", 1) },
	} {
		b.Run(name, func(b *testing.B) {
			h := sc.Empty()
			v := sc.View(h)
			write(v)
			if err := sc.Freeze(v); err != nil {
				b.Fatal(err)
			}
			parts := []state.Part[ten]{{Task: "t", View: v}}
			b.ReportAllocs()
			for b.Loop() {
				next, _, err := sc.Commit(h, parts)
				if err != nil {
					b.Fatal(err)
				}
				h = next
			}
		})
	}
}

// BenchmarkSuperstep is E51's share of this package: a view, one write, freeze, commit.
func BenchmarkSuperstep(b *testing.B) {
	sc := schema[ten](b)
	h := sc.Empty()
	b.ReportAllocs()
	for b.Loop() {
		v := sc.View(h)
		v.F.Add(1)
		if err := sc.Freeze(v); err != nil {
			b.Fatal(err)
		}
		next, _, err := sc.Commit(h, []state.Part[ten]{{Task: "t", View: v}})
		if err != nil {
			b.Fatal(err)
		}
		sc.Recycle(h)
		h = next
	}
}

type large struct {
	L state.List[int]        `json:"l"`
	M state.Map[string, int] `json:"m"`
	K state.Keyed[entry]     `json:"k"`
}

type entry struct {
	ID string `json:"id"`
	N  int    `json:"n"`
}

func (e entry) Key() string { return e.ID }

// supersteps is how many supersteps one measurement has.
const supersteps = 1000

// run folds n supersteps, typed and raw, with the snapshots that the log's rule asks for, and returns their mean time.
func run(tb testing.TB, sc *state.Schema[large], h *state.Head[large], raw *state.Raw, write func(*large, int)) (mean time.Duration) {
	read := raw.Size()
	start := time.Now()
	for i := range supersteps {
		v := sc.View(h)
		write(v, i)
		ws, err := sc.Encode(v)
		if err != nil {
			tb.Fatal(err)
		}
		next, folded, err := sc.Commit(h, []state.Part[large]{{Task: "t", View: v}})
		if err != nil {
			tb.Fatal(err)
		}
		h = next
		if err := raw.Apply([][]state.Write{ws}, folded); err != nil {
			tb.Fatal(err)
		}
		for _, w := range ws {
			read += int64(len(w.Data)) + 64
		}
		if read > 2*raw.Size()+16<<10 {
			raw.Snapshot()
			read = raw.Size()
		}
	}
	return time.Since(start) / supersteps
}

// E8
func BenchmarkE8(b *testing.B) {
	sc := schema[large](b)
	sizes := []int{10, 10_000, 1_000_000}
	keys := make([]string, sizes[2])
	for i := range keys {
		keys[i] = fmt.Sprintf("key-%07d", i*7919%sizes[2])
	}
	fields := map[string]struct{ fill, step func(*large, int, int) }{
		"List": {func(s *large, n, i int) { s.L.Append(i) }, func(s *large, n, i int) { s.L.Append(i) }},
		"Map": {func(s *large, n, i int) { s.M.Put(keys[i], i) }, func(s *large, n, i int) {
			k := keys[i*31%n]
			x, _ := s.M.Get(k)
			s.M.Put(k, x+1)
		}},
		"Keyed": {func(s *large, n, i int) { s.K.Put(entry{keys[i], i}) }, func(s *large, n, i int) {
			x, _ := s.K.Get(keys[i*31%n])
			x.N++
			s.K.Put(x)
		}},
	}
	for name, f := range fields {
		b.Run(name, func(b *testing.B) {
			var ours, bare [3]float64
			for i := range ours {
				ours[i], bare[i] = math.Inf(1), math.Inf(1)
			}
			for range b.N {
				for i, n := range sizes {
					m := map[string]int{}
					for j := range n {
						m[keys[j]] = j
					}
					for range 3 { // the best of three, taken in turn
						h, raw := filled(b, sc, n, func(s *large, i int) { f.fill(s, n, i) })
						runtime.GC()
						start := time.Now()
						for j := range supersteps {
							k := keys[j*31%n]
							m[k] = m[k] + 1
						}
						bare[i] = min(bare[i], float64(time.Since(start))/supersteps)
						d := run(b, sc, h, raw, func(s *large, j int) { f.step(s, n, j) })
						ours[i] = min(ours[i], float64(d))
					}
				}
			}
			for i, n := range sizes {
				b.ReportMetric(ours[i], fmt.Sprintf("ns/step@%d", n))
				b.ReportMetric(bare[i], fmt.Sprintf("ns/map@%d", n))
			}
			b.ReportMetric(ours[1]/ours[0], "growth@10k")
			b.ReportMetric(ours[2]/ours[0], "growth@1M")
			b.ReportMetric(bare[2]/bare[0], "growth-map@1M")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// filled returns a state of n elements.
func filled(tb testing.TB, sc *state.Schema[large], n int, fill func(*large, int)) (*state.Head[large], *state.Raw) {
	v := sc.View(sc.Empty())
	for i := range n {
		fill(v, i)
	}
	ws, err := sc.Encode(v)
	if err != nil {
		tb.Fatal(err)
	}
	h, folded, err := sc.Commit(sc.Empty(), []state.Part[large]{{Task: "t", View: v}})
	if err != nil {
		tb.Fatal(err)
	}
	raw := state.NewRaw()
	if err := raw.Apply([][]state.Write{ws}, folded); err != nil {
		tb.Fatal(err)
	}
	return h, raw
}
