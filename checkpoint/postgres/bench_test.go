package postgres_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/checkpointtest"
	"github.com/holdfast-go/holdfast/checkpoint/postgres"
	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/jackc/pgx/v5/pgxpool"
)

func BenchmarkStore(b *testing.B) {
	checkpointtest.Bench(b, func(b *testing.B) checkpoint.Store { return open(b, postgres.Options{}) })
}

const (
	sliceCount = 21
	sliceFor   = 120 * time.Millisecond
	manyAtOnce = 64
)

// BenchmarkRatio compares Store.Append with a bare prepared insert and commit of the same bytes under the same key, on the
// same server: by one writer on one connection, and by 64 writers, whose bare inserts have 16 connections. // E54
//
// Slices of all, and of the disk alone, are interleaved, so that a busy disk meets all of them; ratios are the medians of
// slices that were neighbours. One iteration is the whole measurement: run it with -benchtime=1x.
func BenchmarkRatio(b *testing.B) {
	for _, secure := range []bool{false, true} {
		for _, size := range []int{300, 2 << 10, 16 << 10} {
			name := fmt.Sprintf("ON/bytes=%d", size)
			if secure {
				name = fmt.Sprintf("ROWSECURITY/bytes=%d", size)
			}
			b.Run(name, func(b *testing.B) {
				for range b.N {
					ratio(b, secure, size)
				}
			})
		}
	}
}

func ratio(b *testing.B, secure bool, size int) {
	body := make([]byte, size)
	for i := range body {
		body[i] = byte(i * 7)
	}
	role, o := testserver.Postgres(b).URL(), postgres.Options{}
	if secure {
		role, o = secured(b)
	} else {
		o.Schema = fresh()
		dropAtEnd(b, o.Schema)
	}
	disk := newSyncer(b, body)
	bare, bareMany := newBare(b, 1, 1, body), newBare(b, manyAtOnce, 16, body)
	one := newLoad(b, openAt(b, role+"&pool_max_conns=1", o), 0, 1, body)
	many := newLoad(b, openAt(b, role, o), 1, manyAtOnce, body)
	var ratios, group, rates, ours, barely, together []float64
	for i := range sliceCount {
		disk.slice()
		var x, y, z, w float64
		if i%2 == 0 { // what one leaves to the disk must meet the other
			x, y = bare.slice(), one.slice()
			z, w = bareMany.slice(), many.slice()
		} else {
			y, x = one.slice(), bare.slice()
			w, z = many.slice(), bareMany.slice()
		}
		ratios, group = append(ratios, y/x), append(group, w/z)
		rates, ours, barely, together = append(rates, x), append(ours, y), append(barely, z), append(together, w)
	}
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(median(group), "group-ratio")
	b.ReportMetric(median(rates), "bare/s")
	b.ReportMetric(median(ours), "append/s")
	b.ReportMetric(median(barely), "bare64/s")
	b.ReportMetric(median(together), "append64/s")
	b.ReportMetric(micros(disk.took, 50), "fsync-p50-us")
	b.ReportMetric(micros(slices.Concat(bare.took...), 50), "bare-p50-us")
	b.ReportMetric(micros(slices.Concat(bare.took...), 99), "bare-p99-us")
	b.ReportMetric(micros(slices.Concat(one.took...), 50), "p50-us")
	b.ReportMetric(micros(slices.Concat(one.took...), 99), "p99-us")
	b.ReportMetric(micros(slices.Concat(many.took...), 99), "p99-64-us")
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

func micros(v []time.Duration, percent int) float64 {
	v = slices.Sorted(slices.Values(v))
	return float64(v[len(v)*percent/100].Nanoseconds()) / 1000
}

// A crew writes with several goroutines for a slice of time.
type crew struct {
	b     *testing.B
	n     []int64 // what each has written
	took  [][]time.Duration
	write func(w int, n int64) error
}

func newCrew(b *testing.B, writers int) *crew {
	return &crew{b: b, n: make([]int64, writers), took: make([][]time.Duration, writers)}
}

// slice returns the rate.
func (c *crew) slice() float64 {
	var wg sync.WaitGroup
	total := -sum(c.n)
	start := time.Now()
	for w := range c.n {
		wg.Go(func() {
			for time.Since(start) < sliceFor {
				began := time.Now()
				if err := c.write(w, c.n[w]); err != nil {
					c.b.Error(err)
					return
				}
				c.took[w] = append(c.took[w], time.Since(began))
				c.n[w]++
			}
		})
	}
	wg.Wait()
	return float64(total+sum(c.n)) / time.Since(start).Seconds()
}

func sum(v []int64) (s int64) {
	for _, n := range v {
		s += n
	}
	return s
}

const bareInsert = `insert into %s.bare values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now(), $11)`

// newBare is the least that Postgres can do: one prepared insert, each in its own transaction.
func newBare(b *testing.B, writers, conns int, body []byte) *crew {
	schema := fresh()
	dropAtEnd(b, schema)
	pg := testserver.Postgres(b)
	admin := connect(b, pg.URL())
	mustExec(b, admin, strings.ReplaceAll(`create schema S; create table S.bare(tenant text collate "C" not null, thread text collate "C" not null,
		branch int not null, ns bytea not null, pos bigint not null, ord bigint not null, by bigint not null, base bigint not null, step bigint not null,
		kind smallint not null, at timestamptz not null, body bytea not null, primary key (tenant, thread, branch, ns, pos));
		alter table S.bare alter column body set storage external`, "S", schema))
	pool := must(pgxpool.New(b.Context(), fmt.Sprint(pg.URL(), "&pool_max_conns=", conns)))
	b.Cleanup(pool.Close)
	text, c := fmt.Sprintf(bareInsert, schema), newCrew(b, writers)
	c.write = func(w int, n int64) error {
		_, err := pool.Exec(context.Background(), text, "bench", fmt.Sprint("thread-", w), 0, []byte("ns"), n, 1<<32|n, int64(12345), int64(0), n, int16('E'), body)
		return err
	}
	return c
}

// newLoad is writers on as many threads of one store.
func newLoad(b *testing.B, s *postgres.Store, first, writers int, body []byte) *crew {
	nonces := make([]checkpoint.Nonce, writers)
	key := func(w int) checkpoint.Key {
		return checkpoint.Key{Tenant: "bench", Thread: fmt.Sprint("thread-", first+w)}
	}
	for w := range writers {
		nonces[w] = checkpoint.NewNonce()
		if _, err := s.Acquire(b.Context(), &checkpoint.Acquire{Key: key(w), Nonce: nonces[w], TTL: time.Hour}); err != nil {
			b.Fatal(err)
		}
	}
	c := newCrew(b, writers)
	c.write = func(w int, n int64) error {
		_, err := s.Append(context.Background(), &checkpoint.Append{Key: key(w), Nonce: nonces[w], Records: []checkpoint.Record{{
			Namespace: "ns", Pos: n, Ord: 1<<32 | n, By: nonces[w].Writer(), Step: n, Kind: checkpoint.KindEntry, Body: body,
		}}})
		return err
	}
	return c
}

// A syncer is the disk alone.
type syncer struct {
	b    *testing.B
	f    *os.File
	body []byte
	took []time.Duration
}

func newSyncer(b *testing.B, body []byte) *syncer {
	f := must(os.Create(filepath.Join(b.TempDir(), "sync")))
	b.Cleanup(func() { f.Close() })
	return &syncer{b: b, f: f, body: append(make([]byte, 4096), body...)}
}

func (x *syncer) slice() {
	for range 20 {
		start := time.Now()
		if _, err := x.f.WriteAt(x.body, 0); err != nil {
			x.b.Fatal(err)
		}
		if err := x.f.Sync(); err != nil {
			x.b.Fatal(err)
		}
		x.took = append(x.took, time.Since(start))
	}
}
