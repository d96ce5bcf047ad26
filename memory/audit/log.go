package audit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/memory"
)

// A Log notes accesses. Make it with NewMemory, or open one of memory/audit/sqlite or memory/audit/postgres. It is safe for concurrent use,
// and several processes may write to one at once.
type Log struct {
	back Backend
	o    Options

	// life is held for reading by every call, so that Close waits for the calls under way.
	life   sync.RWMutex
	closed bool

	groups groups
}

var _ memory.Auditor = (*Log)(nil)

// New returns a log over a back end, which it closes. It is for those who write a back end. On ErrOptions nothing is closed.
func New(b Backend, o Options) (*Log, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	return &Log{back: b, o: o}, nil
}

// Compact writes the files of the log anew, without what was deleted. It costs as much as copying it. On SQLite writers wait for it; on Postgres
// it is VACUUM FULL: all calls wait, and only the owner of the tables may.
func (l *Log) Compact(ctx context.Context) error {
	return l.within(ctx, 60*l.o.OpTimeout, l.back.Compact)
}

// Close waits for the calls under way. Later ones are ErrClosed.
func (l *Log) Close() error {
	l.life.Lock()
	defer l.life.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	l.groups.wait()
	return l.back.Close()
}

// about is a call of a tenant.
func (l *Log) about(ctx context.Context, tenant string, timeout time.Duration, f func(context.Context) error) error {
	if err := checkTenant(tenant); err != nil {
		return err
	}
	return l.within(ctx, timeout, f)
}

// within runs f unless the log is closed, with a deadline.
func (l *Log) within(ctx context.Context, timeout time.Duration, f func(context.Context) error) error {
	l.life.RLock()
	defer l.life.RUnlock()
	if l.closed {
		return ErrClosed
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, context.Cause(ctx))
	}
	err := f(ctx)
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) && !errors.Is(err, ErrUnavailable) {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}
