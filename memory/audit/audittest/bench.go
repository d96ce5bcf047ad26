package audittest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/audit"
)

// Bench measures Record: by one caller, and by 64 at once on one tenant. It reports the median and 99th percentile of its time, and beside them those of a
// bare commit of one row of the same size by one caller, in the same run; nil: there is no such thing.
func Bench(b *testing.B, open func(b *testing.B) *audit.Log, bare func(b *testing.B, row []byte) error) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint("callers=", callers), func(b *testing.B) {
			l := open(b)
			a := memory.Access{
				Tenant: Tenant(), User: "ann", Agent: "support", Box: "longterm", Verb: "Search", Conversation: "chat-1", Result: memory.AccessOK,
				Items: []string{"0006463f5f9f8-0001-0123456789ab", "0006463f5f9f8-0002-0123456789ab", "0006463f5f9f8-0003-0123456789ab"},
			}
			report(b, "", measure(b, callers, func() error { return l.Record(b.Context(), a) }))
			if bare != nil {
				b.StopTimer()
				row := make([]byte, 600)
				report(b, "bare-", measure(b, 1, func() error { return bare(b, row) }))
			}
		})
	}
}

// measure calls f b.N times in all, and returns how long each took, sorted.
func measure(b *testing.B, callers int, f func() error) []time.Duration {
	took := make([][]time.Duration, callers)
	var wg sync.WaitGroup
	for c := range callers {
		n := b.N / callers
		if c < b.N%callers {
			n++
		}
		wg.Go(func() {
			for range n {
				start := time.Now()
				if err := f(); err != nil {
					b.Error(err)
					return
				}
				took[c] = append(took[c], time.Since(start))
			}
		})
	}
	wg.Wait()
	all := slices.Concat(took...)
	slices.Sort(all)
	return all
}

func report(b *testing.B, what string, all []time.Duration) {
	if len(all) == 0 {
		return
	}
	b.ReportMetric(float64(all[len(all)/2].Microseconds()), what+"p50-us")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), what+"p99-us")
}
