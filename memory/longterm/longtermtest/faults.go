package longtermtest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/search"
)

// A faulty back end fails at the n-th thing that is asked of it or of one of its transactions, once or from then on.
type faulty struct {
	longterm.Backend
	at    int  // the n-th; 0: never
	after bool // it does what it was asked, and says that it failed
	dies  bool // all that is asked after it fails too
	seen  int
}

func (b *faulty) do(f func() error) error {
	b.seen++
	switch {
	case b.at == 0 || b.seen < b.at || b.seen > b.at && !b.dies:
		return f()
	case b.seen == b.at && b.after:
		if err := f(); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: fault %d", longterm.ErrUnavailable, b.at)
}

func (b *faulty) View(ctx context.Context, sc memory.Scope, f func(longterm.Tx) error) error {
	return b.do(func() error {
		return b.Backend.View(ctx, sc, func(tx longterm.Tx) error { return f(&faultyTx{tx, b}) })
	})
}

func (b *faulty) Update(ctx context.Context, sc memory.Scope, f func(longterm.Tx) error) error {
	return b.do(func() error {
		return b.Backend.Update(ctx, sc, func(tx longterm.Tx) error { return f(&faultyTx{tx, b}) })
	})
}

func (b *faulty) Claim(ctx context.Context, holder string, lease time.Duration, limit int) (rows []longterm.JobRow, err error) {
	err = b.do(func() (err error) {
		rows, err = b.Backend.Claim(ctx, holder, lease, limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

func (b *faulty) Close() error { return nil } // it goes on under another store

// A faultyTx is a transaction whose writes may fail.
type faultyTx struct {
	longterm.Tx
	b *faulty
}

func (tx *faultyTx) Items(ctx context.Context, s longterm.Select) (rows []longterm.Row, err error) {
	err = tx.b.do(func() (err error) {
		rows, err = tx.Tx.Items(ctx, s)
		return err
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

func (tx *faultyTx) Put(ctx context.Context, rows ...longterm.Row) error {
	return tx.b.do(func() error { return tx.Tx.Put(ctx, rows...) })
}

func (tx *faultyTx) Save(ctx context.Context, rows map[search.Key][]byte) error {
	return tx.b.do(func() error { return tx.Tx.Save(ctx, rows) })
}

func (tx *faultyTx) PutShelf(ctx context.Context, s longterm.Shelf) error {
	return tx.b.do(func() error { return tx.Tx.PutShelf(ctx, s) })
}

func (tx *faultyTx) PutVectors(ctx context.Context, shelf, space string, vectors map[uint32][]float32) error {
	return tx.b.do(func() error { return tx.Tx.PutVectors(ctx, shelf, space, vectors) })
}

func (tx *faultyTx) PutJob(ctx context.Context, j longterm.JobRow) error {
	return tx.b.do(func() error { return tx.Tx.PutJob(ctx, j) })
}

func (tx *faultyTx) DeleteJobs(ctx context.Context, before time.Time) error {
	return tx.b.do(func() error { return tx.Tx.DeleteJobs(ctx, before) })
}

// Faults lets a back end fail at each point of the way from an exchange to its facts: before or after it has done what it was
// asked, once or for good, as when the process dies. Whatever the point, when all is repeated no fact is lost and none is
// doubled (R80, R87). open returns one back end, whose transactions must be undone by an error.
func Faults(t *testing.T, open func(t *testing.T) longterm.Backend) {
	t.Helper()
	inner := open(t)
	step := 1
	if testing.Short() {
		step = 13
	}
	for _, mode := range []faulty{{}, {after: true}, {dies: true}, {after: true, dies: true}} {
		points := 0
		for n := 1; ; n += step {
			b := &faulty{Backend: inner, at: n, after: mode.after, dies: mode.dies}
			if !oneFault(t, inner, b) {
				break
			}
			points = n
		}
		if points < 20 {
			t.Errorf("%d points; want 20 or more", points)
		}
		t.Logf("done before it failed %t, dies %t: %d points", mode.after, mode.dies, points)
	}
}

// oneFault goes the way over a back end that fails, then over one that does not, and reports whether it has failed.
func oneFault(t *testing.T, inner longterm.Backend, b *faulty) bool {
	t.Helper()
	o := WorkOptions()
	o.Lease, o.Embedder, o.Space = 5*time.Millisecond, &senses{}, "senses"
	sc, err := memory.NewScope("tenant-"+uuid.NewString(), "user")
	if err != nil {
		t.Fatal(err)
	}
	a, err := memory.NewAgent("writer", memory.Public, ns)
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{"a-0", "a-1", "a-2"}
	acknowledged := way(t, b, o, sc, a, ids)
	failed := b.seen >= b.at
	if !failed {
		return false
	}
	s := newStore(t, &faulty{Backend: inner}, o)
	Check(t, s, sc, a, acknowledged) // without being told again what was acknowledged
	way(t, &faulty{Backend: inner}, o, sc, a, ids)
	Check(t, s, sc, a, ids)
	e := &env{T: t, store: s, scope: sc, agent: a}
	for _, i := range e.list(longterm.Page{Limit: 1000}) {
		if got := e.texts(longterm.Query{Text: i.Text, Limit: 50}); !slices.Contains(got, i.Text) {
			t.Fatalf("point %d: %q finds %q", b.at, i.Text, got)
		}
	}
	if n, err := s.Embed(t.Context(), sc); err != nil || n != 0 {
		t.Fatalf("point %d: %d vectors are missing (%v)", b.at, n, err)
	}
	return true
}

func newStore(t *testing.T, b longterm.Backend, o longterm.Options) *longterm.Store {
	t.Helper()
	s, err := longterm.New(b, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// way remembers and works off, and returns what was acknowledged.
func way(t *testing.T, b longterm.Backend, o longterm.Options, sc memory.Scope, a memory.Agent, ids []string) (acknowledged []string) {
	t.Helper()
	s := newStore(t, b, o)
	for _, id := range ids {
		if err := s.Remember(t.Context(), sc, a, exchange(id, work2(id))); err == nil {
			acknowledged = append(acknowledged, id)
		}
		if _, err := s.Drain(t.Context()); err != nil {
			t.Logf("drain: %v", err)
		}
	}
	return acknowledged
}
