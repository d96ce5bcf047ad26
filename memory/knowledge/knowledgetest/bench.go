package knowledgetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/holdfast-go/holdfast/memory/knowledge"
)

// Bench measures a store made by open: an index of some chunks, the swap of one document among them, questions, and a graph. It reports milliseconds.
func Bench(b *testing.B, chunks int, open func(b *testing.B, o knowledge.Options) *knowledge.Store) {
	tenant := "tenant-" + uuid.NewString()
	s := open(b, knowledge.Options{})
	r, err := knowledge.NewReader(tenant, "staff")
	if err != nil {
		b.Fatal(err)
	}
	docs := library(chunks)
	took := time.Duration(0)
	b.Run("index", func(b *testing.B) { // once, however often it is asked for
		if took == 0 {
			start := time.Now()
			if err := s.Index(b.Context(), tenant, docs...); err != nil {
				b.Fatal(err)
			}
			took = time.Since(start)
		}
		b.ReportMetric(float64(took.Milliseconds()), "ms")
		b.ReportMetric(float64(chunks)/took.Seconds(), "chunks/s")
		b.ReportMetric(0, "ns/op")
	})
	b.Run("swap", func(b *testing.B) {
		took := times{}
		for i := 0; b.Loop(); i++ {
			d := docs[i%len(docs)]
			d.Version = uuid.NewString()
			took.measure(b, func() error { return s.Index(b.Context(), tenant, d) })
		}
		took.report(b)
	})
	b.Run("retrieve", func(b *testing.B) {
		rnd, took := rand.New(rand.NewPCG(1, 2)), times{}
		for b.Loop() {
			q := knowledge.Query{Text: fmt.Sprintf("How long may the %s be kept with the %s, and who signs for %s?", word(rnd), word(rnd), word(rnd))}
			took.measure(b, func() error { _, err := s.Retrieve(b.Context(), r, q); return err })
		}
		took.report(b)
	})
	var rs []knowledge.Relation
	for i := 1; i <= 10_000; i++ {
		rs = append(rs, depends(fmt.Sprintf("s%d s%d", i, (i-1)/6))...)
	}
	b.Run("relate", func(b *testing.B) {
		took := times{}
		for b.Loop() {
			took.measure(b, func() error { return s.Relate(b.Context(), tenant, docs[0].ID, rs...) })
		}
		took.report(b)
	})
	b.Run("paths", func(b *testing.B) {
		rnd, took := rand.New(rand.NewPCG(1, 2)), times{}
		for b.Loop() {
			node := fmt.Sprintf("s%d", 100+rnd.IntN(1000)) // some 10 to 50 nodes depend on it
			took.measure(b, func() error { _, err := s.Paths(b.Context(), r, node, true, 4); return err })
		}
		took.report(b)
	})
}

// times are how long calls took.
type times []time.Duration

func (t *times) measure(b *testing.B, f func() error) {
	start := time.Now()
	if err := f(); err != nil {
		b.Fatal(err)
	}
	*t = append(*t, time.Since(start))
}

func (t times) report(b *testing.B) {
	slices.Sort(t)
	ms := func(share float64) float64 { return float64(t[int(share*float64(len(t)-1))].Microseconds()) / 1000 }
	b.ReportMetric(ms(0.5), "p50-ms")
	b.ReportMetric(ms(0.99), "p99-ms")
}

// word is one of some thousands, few of which are frequent.
func word(r *rand.Rand) string {
	n := int(3000 * r.Float64() * r.Float64() * r.Float64())
	if n%3 == 0 {
		return fmt.Sprintf("规则%c%c", rune(0x4e00+n%500), rune(0x4e00+n/3))
	}
	return fmt.Sprintf("thing%c%c", 'a'+rune(n%26), 'a'+rune(n/26%26))
}

// library is documents of 50 chunks of about 100 tokens.
func library(chunks int) (out []knowledge.Document) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range (chunks + 49) / 50 {
		var b strings.Builder
		for j := range min(50, chunks-50*i) {
			fmt.Fprintf(&b, "## Part %d %s\n\n", j, word(r))
			for range 4 {
				fmt.Fprintf(&b, "The %s may be kept with the %s for %d days by the %s team. %s由%s保管%d天。", word(r), word(r), r.IntN(90), word(r), word(r), word(r), r.IntN(90))
			}
			b.WriteString("\n\n")
		}
		out = append(out, knowledge.Document{ID: fmt.Sprintf("d%04d", i), Version: "1", Title: "Rules", Text: b.String(), Roles: []string{"staff"}})
	}
	return out
}
