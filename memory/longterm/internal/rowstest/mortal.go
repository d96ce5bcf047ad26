package rowstest

import (
	"context"
	"os"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/search"
)

// Mortal is a back end whose process is killed (SIGKILL) instead of the n-th thing that is asked of it or of one of its transactions.
func Mortal(b longterm.Backend, n int64) longterm.Backend { return &mortal{Backend: b, n: n} }

type mortal struct {
	longterm.Backend
	n    int64
	seen atomic.Int64
}

func (m *mortal) step() {
	if m.seen.Add(1) != m.n {
		return
	}
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		p.Kill()
	}
	select {} // it takes a moment
}

func (m *mortal) View(ctx context.Context, sc memory.Scope, f func(longterm.Tx) error) error {
	m.step()
	return m.Backend.View(ctx, sc, func(tx longterm.Tx) error { return f(&mortalTx{tx, m}) })
}

func (m *mortal) Update(ctx context.Context, sc memory.Scope, f func(longterm.Tx) error) error {
	m.step()
	err := m.Backend.Update(ctx, sc, func(tx longterm.Tx) error {
		err := f(&mortalTx{tx, m})
		m.step() // before the commit
		return err
	})
	m.step() // behind it
	return err
}

func (m *mortal) Claim(ctx context.Context, holder string, lease time.Duration, limit int) ([]longterm.JobRow, error) {
	m.step()
	rows, err := m.Backend.Claim(ctx, holder, lease, limit)
	m.step()
	return rows, err
}

type mortalTx struct {
	longterm.Tx
	m *mortal
}

func (x *mortalTx) Items(ctx context.Context, s longterm.Select) ([]longterm.Row, error) {
	x.m.step()
	return x.Tx.Items(ctx, s)
}

func (x *mortalTx) Put(ctx context.Context, rows ...longterm.Row) error {
	x.m.step()
	return x.Tx.Put(ctx, rows...)
}

func (x *mortalTx) Save(ctx context.Context, rows map[search.Key][]byte) error {
	x.m.step()
	return x.Tx.Save(ctx, rows)
}

func (x *mortalTx) PutShelf(ctx context.Context, s longterm.Shelf) error {
	x.m.step()
	return x.Tx.PutShelf(ctx, s)
}

func (x *mortalTx) PutJob(ctx context.Context, j longterm.JobRow) error {
	x.m.step()
	return x.Tx.PutJob(ctx, j)
}
