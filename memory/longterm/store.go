package longterm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/internal/audited"
	"github.com/holdfast-go/holdfast/memory/search"
)

// A Store keeps the memories of users. Make it with NewMemory, or open one of memory/longterm/sqlite or
// memory/longterm/postgres. It is safe for concurrent use.
//
// Every method takes a scope and sees nothing of another: what belongs to somebody else looks as if it were not there. So does
// what lies in a namespace or under a label that the agent may not see. The zero scope is memory.ErrScope, the zero agent
// memory.ErrAgent. Where the context has no deadline a call takes at most Options.OpTimeout; a call that runs out of time is
// ErrUnavailable. All methods may be repeated.
type Store struct {
	back  Backend
	o     Options
	audit *audited.Log

	// life is held for reading by every call, so that Close waits for the calls under way.
	life    sync.RWMutex
	closed  bool
	workers sync.WaitGroup
	closing chan struct{} // closed when Close begins, so that workers end

	news  chan struct{} // tells a waiting worker that there is a job
	blind atomic.Bool   // the embedder failed at the last search
}

// New returns a store over a back end, which it closes. It is for those who write a back end. On ErrOptions nothing is closed.
func New(b Backend, o Options) (*Store, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	return &Store{back: b, o: o, audit: audits(o), closing: make(chan struct{}), news: make(chan struct{}, 1)}, nil
}

// Erase removes all rows of a scope for good: every later write of it is memory.ErrErased, so that nothing that is under way brings it
// back, no job either, until Readmit. Of the scope its Hash is left, and when. On SQLite it ends with Compact;
// elsewhere that is for you to call. Where the context has no deadline it takes at most sixty times Options.OpTimeout.
func (s *Store) Erase(ctx context.Context, sc memory.Scope) (err error) {
	acc := access(sc, memory.AgentOf(ctx), "Erase", "")
	if err := s.audit.Begin(ctx, acc); err != nil {
		return err
	}
	defer s.audit.Ended(ctx, acc, &err)
	if err := sc.Valid(); err != nil {
		return err
	}
	return s.within(ctx, 60*s.o.OpTimeout, func(ctx context.Context) error { return s.back.Erase(ctx, sc) })
}

// Readmit lets a user in again whose scope was erased. There is nothing of it.
func (s *Store) Readmit(ctx context.Context, sc memory.Scope) (err error) {
	acc := access(sc, memory.AgentOf(ctx), "Readmit", "")
	if err := s.audit.Begin(ctx, acc); err != nil {
		return err
	}
	defer s.audit.Ended(ctx, acc, &err)
	if err := sc.Valid(); err != nil {
		return err
	}
	return s.within(ctx, s.o.OpTimeout, func(ctx context.Context) error { return s.back.Readmit(ctx, sc) })
}

// Count returns how many rows of all kinds a scope has: after Erase none.
func (s *Store) Count(ctx context.Context, sc memory.Scope) (n int, err error) {
	defer audited.Read(ctx, s.audit, access(sc, memory.AgentOf(ctx), "Count", ""), &n, &err, nil)
	if err := sc.Valid(); err != nil {
		return 0, err
	}
	err = s.within(ctx, s.o.OpTimeout, func(ctx context.Context) (err error) {
		n, err = s.back.Count(ctx, sc)
		return err
	})
	return n, err
}

// Compact writes the files of the store anew, without what was deleted: databases keep of it for a while what no query finds. It
// costs as much as copying the memories of all users, and as much space meanwhile. On SQLite writers wait for it. On Postgres it is
// VACUUM FULL: all calls wait, only the owner of the tables may, and the log of the server (pg_wal) has what was written until it is
// recycled. Where the context has no deadline it takes at most sixty times Options.OpTimeout.
func (s *Store) Compact(ctx context.Context) error {
	return s.within(ctx, 60*s.o.OpTimeout, s.back.Compact)
}

// Close ends the workers and waits for the calls under way. Later ones are ErrClosed.
func (s *Store) Close() error {
	s.life.Lock()
	if s.closed {
		s.life.Unlock()
		return nil
	}
	s.closed = true
	s.life.Unlock()
	close(s.closing)
	s.workers.Wait()
	return s.back.Close()
}

// call is within the usual time.
func (s *Store) call(ctx context.Context, f func(context.Context) error) error {
	return s.within(ctx, s.o.OpTimeout, f)
}

// within runs f unless the store is closed, with a deadline.
func (s *Store) within(ctx context.Context, timeout time.Duration, f func(context.Context) error) error {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed {
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
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) && !errors.Is(err, ErrUnavailable):
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	case errors.Is(err, search.ErrFormat) && !errors.Is(err, ErrCorrupt):
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}

// view is a call that reads as an agent.
func (s *Store) view(ctx context.Context, sc memory.Scope, a memory.Agent, f func(context.Context, *unit) error) error {
	if err := errors.Join(sc.Valid(), a.Valid()); err != nil {
		return err
	}
	return s.call(ctx, func(ctx context.Context) error {
		return s.back.View(ctx, sc, func(tx Tx) error { return f(ctx, s.unit(tx, sc, a)) })
	})
}

// update is a call that writes as an agent.
func (s *Store) update(ctx context.Context, sc memory.Scope, a memory.Agent, f func(context.Context, *unit) error) error {
	if err := errors.Join(sc.Valid(), a.Valid()); err != nil {
		return err
	}
	return s.call(ctx, func(ctx context.Context) error { return s.inUpdate(ctx, sc, a, f) })
}

// inUpdate is an update within a call.
func (s *Store) inUpdate(ctx context.Context, sc memory.Scope, a memory.Agent, f func(context.Context, *unit) error) error {
	var queued bool
	err := s.back.Update(ctx, sc, func(tx Tx) error {
		u := s.unit(tx, sc, a)
		if err := f(ctx, u); err != nil {
			return err
		}
		if err := u.flush(ctx); err != nil {
			return err
		}
		queued = u.queued
		return nil
	})
	if err == nil && queued {
		s.tell()
	}
	return err
}

// tell wakes a worker of this process.
func (s *Store) tell() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// goodName is for what becomes part of a key.
func goodName(s string) bool {
	return s != "" && len(s) <= memory.MaxName && utf8.ValidString(s) && !containsControl(s)
}

func containsControl(s string) bool {
	for _, r := range s {
		if unicode.IsControl(r) {
			return true
		}
	}
	return false
}
