package search_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/memory/search"
)

// A vocabulary draws words as texts have them: the n-th is 1/n as frequent as the first (Zipf).
type vocabulary struct {
	r *rand.Rand
	z *rand.Zipf
	w []string
}

func newVocabulary(seed uint64, chinese bool) vocabulary {
	r := rand.New(rand.NewPCG(seed, 1))
	v := vocabulary{r: r, w: make([]string, 20_000)}
	for i := range v.w {
		if chinese {
			v.w[i] = string([]rune{'一' + rune(r.IntN(3000)), '一' + rune(r.IntN(3000))})
		} else {
			v.w[i] = fmt.Sprintf("%c%cw%d ", 'b'+rune(r.IntN(20)), 'a'+rune(r.IntN(20)), i)
		}
	}
	v.z = rand.NewZipf(r, 1.05, 8, uint64(len(v.w)-1))
	return v
}

func (v vocabulary) text(words int) string {
	var b strings.Builder
	for range words {
		b.WriteString(v.w[v.z.Uint64()])
	}
	return b.String()
}

// BenchmarkSearch has 100,000 documents of one owner, half of them Chinese, in 5,000 groups, and queries of 4 to 16 words.
func BenchmarkSearch(b *testing.B) {
	rows, queries := corpus(b, 100_000)
	took := make([]time.Duration, 0, b.N)
	for b.Loop() {
		q := queries[len(took)%len(queries)]
		start := time.Now()
		if _, err := search.Search(b.Context(), rows, []string{"s"}, search.Query{Text: q, Now: day}); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
	b.ReportMetric(float64(took[int(math.Ceil(0.99*float64(len(took))))-1].Microseconds()), "p99-us")
}

func corpus(b *testing.B, n int) (*search.Map, []string) {
	rows := search.NewMap()
	zh, en := newVocabulary(1, true), newVocabulary(2, false)
	var docs []search.Doc
	for i := range n {
		d := search.Doc{No: uint32(i + 1), Group: fmt.Sprint("c-", i/20), At: day.Add(time.Duration(i) * time.Minute)}
		if i%2 == 0 {
			d.Text = "用户：" + zh.text(8+zh.r.IntN(12))
		} else {
			d.Text = "user: " + en.text(8+en.r.IntN(12))
		}
		if docs = append(docs, d); len(docs) == 1000 || i == n-1 {
			if err := search.Add(b.Context(), rows, "s", docs...); err != nil {
				b.Fatal(err)
			}
			docs = docs[:0]
		}
	}
	var queries []string
	for i := range 200 {
		queries = append(queries, []vocabulary{zh, en}[i%2].text(4+i/2%13))
	}
	return rows, queries
}

// BenchmarkAdd adds batches of 1,000 documents.
func BenchmarkAdd(b *testing.B) {
	v, rows, no := newVocabulary(2, false), search.NewMap(), uint32(0)
	for b.Loop() {
		docs := make([]search.Doc, 1000)
		for i := range docs {
			no++
			docs[i] = search.Doc{No: no, Text: v.text(15), Group: fmt.Sprint(no / 20), At: day}
		}
		if err := search.Add(b.Context(), rows, "s", docs...); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(no), "us/doc")
}

// BenchmarkNearest looks at all vectors of 128 dimensions.
func BenchmarkNearest(b *testing.B) {
	for _, n := range []int{100, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			rows, r := search.NewMap(), rand.New(rand.NewPCG(1, 1))
			vectors := map[uint32][]float32{}
			var docs []search.Doc
			for i := range n {
				docs = append(docs, search.Doc{No: uint32(i + 1)})
				vectors[uint32(i+1)] = vector(r, 128)
			}
			if err := search.Add(b.Context(), rows, "s", docs...); err != nil {
				b.Fatal(err)
			}
			if err := search.SaveVectors(b.Context(), rows, "s", "m", vectors); err != nil {
				b.Fatal(err)
			}
			q := vector(r, 128)
			for b.Loop() {
				if _, err := search.Nearest(b.Context(), rows, []string{"s"}, "m", q, day, 10); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
