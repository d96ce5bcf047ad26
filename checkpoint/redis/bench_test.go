package redis_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/checkpointtest"
	"github.com/holdfast-go/holdfast/checkpoint/redis"
	"github.com/holdfast-go/holdfast/internal/testserver"
	goredis "github.com/redis/go-redis/v9"
)

func BenchmarkStore(b *testing.B) {
	server := testserver.NewRedis(b, testserver.RedisConfig{Fsync: "always"})
	checkpointtest.Bench(b, func(b *testing.B) checkpoint.Store { return open(b, server, redis.Options{Prefix: prefix()}) })
}

const (
	sliceCount = 21
	sliceFor   = 120 * time.Millisecond
)

// BenchmarkRatio compares Store.Append with a SET of the same bytes through the same client library on the same server, with
// one connection and with 64 writers. // E54
//
// Slices of both are interleaved, so that a busy machine meets both; ratios are the medians of slices that were neighbours.
// One iteration is the whole measurement: run it with -benchtime=1x.
func BenchmarkRatio(b *testing.B) {
	for _, fsync := range []string{"always", "everysec", ""} {
		for _, size := range []int{300, 2 << 10, 16 << 10} {
			b.Run(fmt.Sprintf("aof=%s/bytes=%d", map[bool]string{true: "none", false: fsync}[fsync == ""], size), func(b *testing.B) {
				for range b.N {
					ratio(b, fsync, size)
				}
			})
		}
	}
}

func ratio(b *testing.B, fsync string, size int) {
	server := testserver.NewRedis(b, testserver.RedisConfig{Fsync: fsync})
	s := open(b, server, redis.Options{})
	body := make([]byte, size)
	for i := range body {
		body[i] = byte(i * 7)
	}
	bare1, bare64 := newLoad(b, 1, setter(b, server, body)), newLoad(b, 64, setter(b, server, body))
	one, many := newLoad(b, 1, appender(b, s, "one", body)), newLoad(b, 64, appender(b, s, "many", body))
	var ratios, group, rates, ours, together []float64
	for i := range sliceCount {
		loads := []*load{bare1, one, bare64, many}
		if i%2 == 1 {
			slices.Reverse(loads)
		}
		rate := map[*load]float64{}
		for _, l := range loads {
			rate[l] = l.slice()
		}
		ratios, group = append(ratios, rate[one]/rate[bare1]), append(group, rate[many]/rate[bare64])
		rates, ours, together = append(rates, rate[bare1]), append(ours, rate[one]), append(together, rate[many])
	}
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(median(group), "ratio64")
	b.ReportMetric(median(rates), "set/s")
	b.ReportMetric(median(ours), "append/s")
	b.ReportMetric(median(together), "append64/s")
	b.ReportMetric(micros(bare1.all(), 50), "set-p50-us")
	b.ReportMetric(micros(bare1.all(), 99), "set-p99-us")
	b.ReportMetric(micros(one.all(), 50), "p50-us")
	b.ReportMetric(micros(one.all(), 99), "p99-us")
	b.ReportMetric(micros(many.all(), 99), "p99-64-us")
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

func micros(v []time.Duration, percent int) float64 {
	v = slices.Sorted(slices.Values(v))
	return float64(v[len(v)*percent/100].Nanoseconds()) / 1000
}

// setter writes a key of its own with each call.
func setter(b *testing.B, server *testserver.Redis, body []byte) func(w int) func(n int64) error {
	opt, err := goredis.ParseURL(server.URL())
	must(b, err)
	opt.Protocol, opt.MaxRetries, opt.ContextTimeoutEnabled = 2, -1, true
	c := goredis.NewClient(opt)
	b.Cleanup(func() { c.Close() })
	stem := prefix()
	return func(w int) func(n int64) error {
		return func(n int64) error {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			return c.Set(ctx, fmt.Sprintf("%s:%d:%d", stem, w, n), body, 0).Err()
		}
	}
}

// appender writes the next record of a thread of its own with each call.
func appender(b *testing.B, s *redis.Store, stem string, body []byte) func(w int) func(n int64) error {
	return func(w int) func(n int64) error {
		key, nonce := checkpoint.Key{Tenant: "bench", Thread: fmt.Sprint(stem, w)}, checkpoint.NewNonce()
		_, err := s.Acquire(b.Context(), &checkpoint.Acquire{Key: key, Nonce: nonce, TTL: time.Hour})
		must(b, err)
		return func(n int64) error {
			_, err := s.Append(context.Background(), &checkpoint.Append{Key: key, Nonce: nonce, Records: []checkpoint.Record{{
				Namespace: "ns", Pos: n, Ord: 1<<32 | n, By: nonce.Writer(), Step: n, Kind: checkpoint.KindEntry, Body: body,
			}}})
			return err
		}
	}
}

// A load is writers that each write one thing after the other.
type load struct {
	b     *testing.B
	write []func(n int64) error
	n     []int64
	took  [][]time.Duration
}

func newLoad(b *testing.B, writers int, writer func(w int) func(n int64) error) *load {
	l := &load{b: b, n: make([]int64, writers), took: make([][]time.Duration, writers)}
	for w := range writers {
		l.write = append(l.write, writer(w))
	}
	return l
}

func (l *load) all() []time.Duration { return slices.Concat(l.took...) }

// slice writes for a moment and returns the rate.
func (l *load) slice() float64 {
	var wg sync.WaitGroup
	total, start := int64(0), time.Now()
	for _, n := range l.n {
		total -= n
	}
	for w := range l.n {
		wg.Go(func() {
			for time.Since(start) < sliceFor {
				began := time.Now()
				if err := l.write[w](l.n[w]); err != nil {
					l.b.Error(err)
					return
				}
				l.took[w] = append(l.took[w], time.Since(began))
				l.n[w]++
			}
		})
	}
	wg.Wait()
	for _, n := range l.n {
		total += n
	}
	return float64(total) / time.Since(start).Seconds()
}
