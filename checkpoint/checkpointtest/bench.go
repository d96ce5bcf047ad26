package checkpointtest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// Bench measures appends of one record: by one writer, and on 64 threads at once. It reports appends a second and the
// median and 99th percentile of their time.
func Bench(b *testing.B, open func(b *testing.B) checkpoint.Store) {
	for _, writers := range []int{1, 64} {
		for _, size := range []int{300, 2 << 10, 16 << 10} {
			b.Run(fmt.Sprintf("writers=%d/bytes=%d", writers, size), func(b *testing.B) {
				benchAppend(b, open(b), writers, size)
			})
		}
	}
}

func benchAppend(b *testing.B, s checkpoint.Store, writers, size int) {
	body := make([]byte, size)
	tenant := "bench-" + random()
	took := make([][]time.Duration, writers)
	run := func(w int, n int) error {
		key, nonce := checkpoint.Key{Tenant: tenant, Thread: fmt.Sprint("thread-", w)}, checkpoint.NewNonce()
		if _, err := s.Acquire(b.Context(), &checkpoint.Acquire{Key: key, Nonce: nonce, TTL: time.Hour}); err != nil {
			return err
		}
		for i := range int64(n) {
			a := checkpoint.Append{Key: key, Nonce: nonce, Records: []checkpoint.Record{{
				Pos: i, Ord: 1<<32 | i, By: nonce.Writer(), Step: i, Kind: checkpoint.KindEntry, Body: body,
			}}}
			start := time.Now()
			if _, err := s.Append(b.Context(), &a); err != nil {
				return err
			}
			took[w] = append(took[w], time.Since(start))
		}
		return nil
	}
	b.SetBytes(int64(size))
	b.ResetTimer()
	var wg sync.WaitGroup
	for w := range writers {
		n := b.N / writers
		if w < b.N%writers {
			n++
		}
		wg.Go(func() {
			if err := run(w, n); err != nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	all := slices.Concat(took...)
	slices.Sort(all)
	if len(all) == 0 {
		return
	}
	b.ReportMetric(float64(len(all))/b.Elapsed().Seconds(), "appends/s")
	b.ReportMetric(float64(all[len(all)/2].Microseconds()), "p50-us")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-us")
}
