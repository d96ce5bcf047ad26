package graph_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/record"
)

// A pattern of writes, as threads have them.
type pattern struct {
	name  string
	steps int
	write func(i int, s *ten)
}

var patterns = []pattern{
	{"list of 100 B", 10_000, func(i int, s *ten) { s.C.Append(strings.Repeat("x", 100)); s.A.Set("working"); s.G.Add(1) }},
	{"list of 1 KB", 1_000, func(i int, s *ten) { s.C.Append(strings.Repeat("x", 1024)) }},
	{"1 MB once, 1 KB each step", 500, func(i int, s *ten) {
		if i == 0 {
			s.C.Append(strings.Repeat("x", 1<<20))
		}
		s.A.Set(strings.Repeat("y", 1024))
	}},
	{"100 KB each step", 100, func(i int, s *ten) { s.A.Set(strings.Repeat("y", 100<<10)); s.D.Append(i) }},
	{"map of 1,000 keys", 10_000, func(i int, s *ten) { s.E.Put(fmt.Sprint("key", i%1000), i) }},
	{"one counter", 10_000, func(i int, s *ten) { s.G.Add(1) }},
}

// BenchmarkE56 measures, over every entry of a thread, what a load of it reads against its state, and what is stored against
// what was written. // E56 C6
func BenchmarkE56(b *testing.B) {
	for _, p := range patterns {
		b.Run(p.name, func(b *testing.B) {
			for range b.N {
				read, stored := measureLog(b, p)
				b.ReportMetric(read, "read-16KiB/state")
				b.ReportMetric(stored, "stored/written")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

func measureLog(t testing.TB, p pattern) (read, overhead float64) {
	store, i := new(checkpoint.Memory), 0
	app := loop(t, graph.Options{Store: store}, func(_ context.Context, s *ten) error {
		p.write(i, s)
		i++
		return nil
	})
	app.With(graph.RunOptions{StepLimit: p.steps}).Run(t.Context(), graph.ID("x"), nil)
	recs, err := store.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: checkpoint.Key{Tenant: graph.SingleTenant, Thread: "x"}}, To: -1})
	if err != nil {
		t.Fatal(err)
	}
	size := func(r checkpoint.Record) int64 { return int64(len(r.Body)) + checkpoint.Overhead }
	sums := make([]int64, len(recs)+1)
	var written int64
	log := record.NewThread()
	for k, r := range recs {
		sums[k+1] = sums[k] + size(r)
		if r.Kind != checkpoint.KindSnapshot {
			written += size(r)
		}
		if err := log.Apply(r); err != nil {
			t.Fatal(err)
		}
		closed := k+1 < len(recs) && recs[k+1].Kind == checkpoint.KindSnapshot // then the snapshot is read in the entry's place
		if r.Kind == checkpoint.KindEntry && !closed || r.Kind == checkpoint.KindSnapshot {
			read = max(read, float64(sums[k+1]-sums[r.Base]-record.Slack)/float64(max(1, log.State.Size())))
		}
	}
	return read, float64(sums[len(recs)]) / float64(written)
}
