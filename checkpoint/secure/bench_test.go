package secure_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/secure"
)

// plainAnd is every way to wrap a store, the bare one first.
var plainAnd = append([]wrapping{{"plain", func(_ testing.TB, s checkpoint.Store, _ secure.Keyring) checkpoint.Store { return s }}}, kinds...)

var bodySizes = []int{300, 2 << 10, 16 << 10, 1 << 20}

// BenchmarkAppend is one append of one record to the memory store: what a wrapper adds is the difference to plain.
func BenchmarkAppend(b *testing.B) {
	for _, size := range bodySizes {
		for _, kind := range plainAnd {
			b.Run(fmt.Sprintf("bytes=%d/%s", size, kind.name), func(b *testing.B) {
				s := kind.wrap(b, new(checkpoint.Memory), ring("k1"))
				w := start(b, s, thread)
				a := &checkpoint.Append{Key: thread, Nonce: w.nonce, Records: []checkpoint.Record{w.record("", checkpoint.KindSnapshot, "")}}
				r := &a.Records[0]
				r.Body = make([]byte, size)
				took := make([]time.Duration, 0, b.N)
				b.ReportAllocs()
				b.SetBytes(int64(size))
				for i := 0; b.Loop(); i++ {
					began := time.Now()
					w.do(a)
					took = append(took, time.Since(began))
					if r.Pos, r.Base, r.Ord = r.Pos+1, r.Pos+1, r.Ord+1; i%128 == 0 { // so that the memory stays small
						must[int64](b)(s.Trim(b.Context(), checkpoint.Chain{Key: thread}, r.Pos-1))
					}
				}
				percentiles(b, took)
			})
		}
	}
}

// BenchmarkLoad is one load of 16 records.
func BenchmarkLoad(b *testing.B) {
	for _, size := range bodySizes {
		for _, kind := range plainAnd {
			b.Run(fmt.Sprintf("bytes=%d/%s", size, kind.name), func(b *testing.B) {
				s := kind.wrap(b, new(checkpoint.Memory), ring("k1"))
				w := start(b, s, thread)
				for range 15 {
					w.append(w.record("", checkpoint.KindEntry, string(make([]byte, size))))
				}
				took := make([]time.Duration, 0, b.N)
				b.ReportAllocs()
				b.SetBytes(int64(15 * size))
				for b.Loop() {
					began := time.Now()
					must[*checkpoint.Loaded](b)(s.Load(b.Context(), thread, 0, ""))
					took = append(took, time.Since(began))
				}
				percentiles(b, took)
			})
		}
	}
}

func percentiles(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	if n := len(took); n > 0 {
		b.ReportMetric(float64(took[n/2].Nanoseconds()), "p50-ns")
		b.ReportMetric(float64(took[n*99/100].Nanoseconds()), "p99-ns")
	}
}
