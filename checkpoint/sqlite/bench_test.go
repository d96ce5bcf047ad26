package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/checkpointtest"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
)

func BenchmarkStore(b *testing.B) {
	checkpointtest.Bench(b, func(b *testing.B) checkpoint.Store { return open(b, sqlite.Options{}) })
}

const (
	sliceCount = 21
	sliceFor   = 120 * time.Millisecond

	// warmBytes are written first, by both, in one commit: a WAL that has its size costs less to sync than one that grows.
	warmBytes = 6 << 20
)

// BenchmarkRatio compares Store.Append with a bare prepared insert and commit of the same bytes under the same key, on a
// file of its own with the same durability. // E54
//
// Slices of both, and of the disk alone, are interleaved, so that a busy disk meets all of them; ratios are the medians of
// slices that were neighbours. One iteration is the whole measurement: run it with -benchtime=1x.
func BenchmarkRatio(b *testing.B) {
	for _, d := range []struct {
		name string
		sqlite.Durability
	}{{"FULL", sqlite.Full}, {"NORMAL", sqlite.Normal}} {
		for _, size := range []int{300, 2 << 10, 16 << 10} {
			b.Run(fmt.Sprintf("%s/bytes=%d", d.name, size), func(b *testing.B) {
				for range b.N {
					ratio(b, d.name, d.Durability, size)
				}
			})
		}
	}
}

func ratio(b *testing.B, pragma string, d sqlite.Durability, size int) {
	body := make([]byte, size)
	for i := range body {
		body[i] = byte(i * 7)
	}
	bare, disk := newBare(b, pragma, body), newSyncer(b, body)
	one, many := newLoad(b, open(b, sqlite.Options{Synchronous: d}), 1, body), newLoad(b, open(b, sqlite.Options{Synchronous: d}), 64, body)
	var ratios, group, rates, ours, together []float64
	for i := range sliceCount {
		disk.slice()
		var x, y float64
		if i%2 == 0 { // what many leaves to the disk must meet both
			x, y = bare.slice(), one.slice()
		} else {
			y, x = one.slice(), bare.slice()
		}
		z := many.slice()
		ratios, group = append(ratios, y/x), append(group, z/x)
		rates, ours, together = append(rates, x), append(ours, y), append(together, z)
	}
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(median(group), "group-ratio")
	b.ReportMetric(median(rates), "bare/s")
	b.ReportMetric(median(ours), "append/s")
	b.ReportMetric(median(together), "append64/s")
	b.ReportMetric(micros(disk.took, 50), "fsync-p50-us")
	b.ReportMetric(micros(bare.took, 50), "bare-p50-us")
	b.ReportMetric(micros(bare.took, 99), "bare-p99-us")
	b.ReportMetric(micros(one.took[0], 50), "p50-us")
	b.ReportMetric(micros(one.took[0], 99), "p99-us")
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

// A bare is the least that SQLite can do: database/sql, one prepared insert, each in its own transaction.
type bare struct {
	b    *testing.B
	ins  *sql.Stmt
	body []byte
	n    int64
	took []time.Duration
}

func newBare(b *testing.B, pragma string, body []byte) *bare {
	db, err := sql.Open("sqlite", filepath.Join(b.TempDir(), "bare.db")+"?_pragma=journal_mode(wal)&_pragma=synchronous("+pragma+")")
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	b.Cleanup(func() { db.Close() })
	for _, text := range []string{
		`create table r(tenant text not null, thread text not null, branch integer not null, ns blob not null, pos integer not null,
			ord integer not null, by integer not null, base integer not null, step integer not null, kind integer not null,
			at integer not null, body blob not null)`,
		`create unique index i on r(tenant, thread, branch, ns, pos)`,
	} {
		if _, err := db.Exec(text); err != nil {
			b.Fatal(err)
		}
	}
	ins, err := db.Prepare(`insert into r values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		b.Fatal(err)
	}
	x := &bare{b: b, ins: ins, body: body}
	tx, err := db.Begin()
	if err != nil {
		b.Fatal(err)
	}
	for range warmBytes / len(body) {
		x.insert(tx.Stmt(ins))
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
	return x
}

func (x *bare) insert(ins *sql.Stmt) {
	now := time.Now().UnixMilli()
	if _, err := ins.Exec("bench", "thread-0", 0, []byte("ns"), x.n, 1<<32|x.n, int64(12345), int64(0), x.n, 'E', now, x.body); err != nil {
		x.b.Fatal(err)
	}
	x.n++
}

func (x *bare) slice() float64 {
	n, start := x.n, time.Now()
	for time.Since(start) < sliceFor {
		began := time.Now()
		x.insert(x.ins)
		x.took = append(x.took, time.Since(began))
	}
	return float64(x.n-n) / time.Since(start).Seconds()
}

// A load is writers on as many threads of one store.
type load struct {
	b     *testing.B
	s     *sqlite.Store
	body  []byte
	nonce []checkpoint.Nonce
	n     []int64
	took  [][]time.Duration
}

func newLoad(b *testing.B, s *sqlite.Store, writers int, body []byte) *load {
	x := &load{b: b, s: s, body: body, nonce: make([]checkpoint.Nonce, writers), n: make([]int64, writers), took: make([][]time.Duration, writers)}
	for w := range writers {
		x.nonce[w] = checkpoint.NewNonce()
		if _, err := s.Acquire(b.Context(), &checkpoint.Acquire{Key: x.key(w), Nonce: x.nonce[w], TTL: time.Hour}); err != nil {
			b.Fatal(err)
		}
	}
	a := checkpoint.Append{Key: x.key(0), Nonce: x.nonce[0]}
	for n := range int64(warmBytes / len(body)) {
		a.Records = append(a.Records, x.record(0, n))
	}
	if _, err := s.Append(b.Context(), &a); err != nil {
		b.Fatal(err)
	}
	x.n[0] = int64(len(a.Records))
	return x
}

func (x *load) record(w int, n int64) checkpoint.Record {
	return checkpoint.Record{
		Namespace: "ns", Pos: n, Ord: 1<<32 | n, By: x.nonce[w].Writer(), Step: n, Kind: checkpoint.KindEntry, Body: x.body,
	}
}

func (x *load) key(w int) checkpoint.Key {
	return checkpoint.Key{Tenant: "bench", Thread: fmt.Sprint("thread-", w)}
}

func (x *load) slice() float64 {
	var wg sync.WaitGroup
	var total int64
	for _, n := range x.n {
		total -= n
	}
	start := time.Now()
	for w := 1; w < len(x.n); w++ {
		wg.Go(func() { x.write(w, start) })
	}
	x.write(0, start)
	wg.Wait()
	for _, n := range x.n {
		total += n
	}
	return float64(total) / time.Since(start).Seconds()
}

func (x *load) write(w int, start time.Time) {
	key, ctx := x.key(w), context.Background()
	for time.Since(start) < sliceFor {
		n, began := x.n[w], time.Now()
		a := checkpoint.Append{Key: key, Nonce: x.nonce[w], Records: []checkpoint.Record{x.record(w, n)}}
		if _, err := x.s.Append(ctx, &a); err != nil {
			x.b.Error(err)
			return
		}
		x.took[w] = append(x.took[w], time.Since(began))
		x.n[w]++
	}
}

// A syncer is the disk alone.
type syncer struct {
	b    *testing.B
	f    *os.File
	body []byte
	took []time.Duration
}

func newSyncer(b *testing.B, body []byte) *syncer {
	f, err := os.Create(filepath.Join(b.TempDir(), "sync"))
	if err != nil {
		b.Fatal(err)
	}
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
