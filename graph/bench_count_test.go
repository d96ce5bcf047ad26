package graph_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

// BenchmarkE53 counts the calls of the store for a run of one-task supersteps: one write each and one for the start. // E53
func BenchmarkE53(b *testing.B) {
	const steps = 1000
	for range b.N {
		store := faultstore.New(new(checkpoint.Memory))
		if _, err := compile(b, countTo(steps), graph.Options{Store: store}).Run(b.Context(), graph.ID("1"), nil); err != nil {
			b.Fatal(err)
		}
		n := writesOf(store)
		b.ReportMetric(steps, "steps")
		b.ReportMetric(float64(n.writes), "writes")
		b.ReportMetric(float64(n.reads), "reads")
		b.ReportMetric(float64(n.writes-steps), "writes-beyond-steps")
		b.ReportMetric(0, "ns/op")
	}
}
