package longterm_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/longterm"
)

// words of facts and questions, the first far more common than the last.
func vocabulary(r *rand.Rand, n int) []string {
	out := make([]string, n)
	for i := range out {
		for range 2 + r.IntN(3) {
			out[i] += string(rune('a'+r.IntN(26))) + string("aeiou"[r.IntN(5)])
		}
	}
	return out
}

func sentence(r *rand.Rand, words []string, n int) string {
	text := ""
	for range n {
		text += words[int(float64(len(words))*r.Float64()*r.Float64()*r.Float64())] + " "
	}
	return text
}

// BenchmarkSearch searches what one user has, over the memory back end.
func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{2_000, 20_000} {
		s, err := longterm.NewMemory(longterm.Options{})
		if err != nil {
			b.Fatal(err)
		}
		sc, _ := memory.NewScope("acme", "ann")
		a, _ := memory.NewAgent("reader", memory.Secret, ns)
		r := rand.New(rand.NewPCG(1, 2))
		words := vocabulary(r, 20_000)
		start := time.Now()
		for from := 0; from < n; from += 500 {
			var ds []longterm.Draft
			for i := range 500 {
				ds = append(ds, fact(fmt.Sprintf("%d %s", from+i, sentence(r, words, 12)), fmt.Sprint(from+i)))
			}
			if _, err := s.Add(b.Context(), sc, a, ds...); err != nil {
				b.Fatal(err)
			}
		}
		add := time.Since(start) / time.Duration(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				q := longterm.Query{Text: sentence(r, words, 4+r.IntN(13)), Profile: 3}
				start := time.Now()
				if _, err := s.Search(b.Context(), sc, a, q); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
			b.ReportMetric(float64(add.Microseconds()), "add-us")
		})
	}
}
