// Package faultstore wraps a store for tests: it counts calls and makes chosen ones fail, block, or be the last one before
// the process is taken for dead.
package faultstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// A Call is one call of the store.
type Call struct {
	Name    string // "Append", "Acquire", ...
	N       int    // number among all calls, from 1
	Nth     int    // number among the calls of that name, from 1
	Append  *checkpoint.Append
	Acquire *checkpoint.Acquire
	Answers []checkpoint.Reply
	Post    *checkpoint.Command
	Err     error // what the store returned; set only after the call
}

// A Store passes calls on to another one. It is safe for concurrent use. Before and After must be set before first use
// and be safe for concurrent use; Info and Close are neither counted nor shown to them.
type Store struct {
	inner checkpoint.Store

	Before func(*Call) error // nil lets the call through; an error is returned instead of the call
	After  func(*Call) error // returns what the caller gets as the error of the call: Call.Err, or another one

	mu    sync.Mutex
	n     int
	names map[string]int
	plans []*plan
	down  bool
	fatal string // name of the call that a crash was planned for
}

// New returns a store that behaves like inner until told otherwise.
func New(inner checkpoint.Store) *Store { return &Store{inner: inner, names: map[string]int{}} }

// A Fault says what becomes of a chosen call.
type Fault int

// The faults. All of them return ErrUnavailable.
const (
	FailBefore  Fault = iota + 1 // not executed
	FailAfter                    // executed
	CrashBefore                  // not executed, and every later call fails for ever
	CrashAfter                   // executed, and every later call fails for ever
)

type plan struct {
	name    string
	nth     int
	fault   Fault
	reached chan struct{} // closed when a blocked call has come
	release chan struct{}
}

// At plans a fault for the nth call (from 1) of that name; an empty name counts all calls.
func (s *Store) At(name string, nth int, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plans = append(s.plans, &plan{name: name, nth: nth, fault: f})
}

// Block holds the nth call (from 1) of that name before it is executed, until release is called or the call's context
// ends; then it is ErrUnavailable and not executed. An empty name counts all calls. reached is closed when the call has
// come. release may be called more than once.
func (s *Store) Block(name string, nth int) (reached <-chan struct{}, release func()) {
	p := &plan{name: name, nth: nth, reached: make(chan struct{}), release: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plans = append(s.plans, p)
	return p.reached, sync.OnceFunc(func() { close(p.release) })
}

// Crash makes every call from now on fail with ErrUnavailable and change nothing, as if the process were dead.
func (s *Store) Crash() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = true
}

// Down reports whether a crash has happened.
func (s *Store) Down() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.down
}

// Fatal is the name of the call that met a planned crash; "" before that.
func (s *Store) Fatal() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fatal
}

// Calls is how many calls of that name have come; an empty name counts all.
func (s *Store) Calls(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name == "" {
		return s.n
	}
	return s.names[name]
}

// begin counts a call and finds what is planned for it.
func (s *Store) begin(c *Call) (todo []*plan, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	s.names[c.Name]++
	c.N, c.Nth = s.n, s.names[c.Name]
	if s.down {
		return nil, failed(c, "after the crash")
	}
	for _, p := range s.plans {
		if p.name == "" && p.nth == c.N || p.name == c.Name && p.nth == c.Nth {
			todo = append(todo, p)
		}
	}
	for _, p := range todo {
		if p.fault == CrashBefore {
			s.down = true
		}
		if p.fault == CrashBefore || p.fault == CrashAfter {
			s.fatal = c.Name
		}
	}
	return todo, nil
}

func failed(c *Call, how string) error {
	return fmt.Errorf("%w: fault in call %d, %s %d, %s", checkpoint.ErrUnavailable, c.N, c.Name, c.Nth, how)
}

// do runs one call with what is planned for it.
func (s *Store) do(ctx context.Context, c *Call, call func() error) error {
	todo, err := s.begin(c)
	if err != nil {
		return err
	}
	for _, p := range todo {
		if p.fault == FailBefore || p.fault == CrashBefore {
			return failed(c, "before")
		}
		if p.release == nil {
			continue
		}
		close(p.reached)
		select {
		case <-p.release:
		case <-ctx.Done():
			return failed(c, "blocked until its context ended")
		}
	}
	if s.Before != nil {
		if err := s.Before(c); err != nil {
			return err
		}
	}
	if s.Down() { // it crashed while this call was held
		return failed(c, "after the crash")
	}
	c.Err = call()
	if s.After != nil {
		c.Err = s.After(c)
	}
	for _, p := range todo {
		switch p.fault {
		case CrashAfter:
			s.Crash()
			return failed(c, "after")
		case FailAfter:
			return failed(c, "after")
		}
	}
	return c.Err
}

// result runs a call that returns a value; a fault leaves the zero value.
func result[T any](ctx context.Context, s *Store, c *Call, call func() (T, error)) (out T, err error) {
	err = s.do(ctx, c, func() (err error) {
		out, err = call()
		return err
	})
	if err != nil {
		var none T
		return none, err
	}
	return out, nil
}

// Info is that of the inner store.
func (s *Store) Info() checkpoint.Info { return s.inner.Info() }

// Close closes the inner store.
func (s *Store) Close() error { return s.inner.Close() }

// Load implements checkpoint.Log.
func (s *Store) Load(ctx context.Context, key checkpoint.Key, branch int32, ns checkpoint.Namespace) (*checkpoint.Loaded, error) {
	return result(ctx, s, &Call{Name: "Load"}, func() (*checkpoint.Loaded, error) { return s.inner.Load(ctx, key, branch, ns) })
}

// Read implements checkpoint.Log.
func (s *Store) Read(ctx context.Context, q checkpoint.Query) ([]checkpoint.Record, error) {
	return result(ctx, s, &Call{Name: "Read"}, func() ([]checkpoint.Record, error) { return s.inner.Read(ctx, q) })
}

// Chains implements checkpoint.Log.
func (s *Store) Chains(ctx context.Context, key checkpoint.Key, branch int32) ([]checkpoint.Record, error) {
	return result(ctx, s, &Call{Name: "Chains"}, func() ([]checkpoint.Record, error) { return s.inner.Chains(ctx, key, branch) })
}

// Append implements checkpoint.Log.
func (s *Store) Append(ctx context.Context, a *checkpoint.Append) (checkpoint.Ack, error) {
	return result(ctx, s, &Call{Name: "Append", Append: a}, func() (checkpoint.Ack, error) { return s.inner.Append(ctx, a) })
}

// Trim implements checkpoint.Log.
func (s *Store) Trim(ctx context.Context, c checkpoint.Chain, below int64) (int64, error) {
	return result(ctx, s, &Call{Name: "Trim"}, func() (int64, error) { return s.inner.Trim(ctx, c, below) })
}

// Delete implements checkpoint.Log.
func (s *Store) Delete(ctx context.Context, key checkpoint.Key) error {
	return s.do(ctx, &Call{Name: "Delete"}, func() error { return s.inner.Delete(ctx, key) })
}

// Acquire implements checkpoint.Leaser.
func (s *Store) Acquire(ctx context.Context, a *checkpoint.Acquire) (checkpoint.Head, error) {
	return result(ctx, s, &Call{Name: "Acquire", Acquire: a}, func() (checkpoint.Head, error) { return s.inner.Acquire(ctx, a) })
}

// Renew implements checkpoint.Leaser.
func (s *Store) Renew(ctx context.Context, leases []checkpoint.Lease, ttl time.Duration) ([]checkpoint.Renewal, error) {
	return result(ctx, s, &Call{Name: "Renew"}, func() ([]checkpoint.Renewal, error) { return s.inner.Renew(ctx, leases, ttl) })
}

// Release implements checkpoint.Leaser.
func (s *Store) Release(ctx context.Context, l checkpoint.Lease, seen int64) (bool, error) {
	return result(ctx, s, &Call{Name: "Release"}, func() (bool, error) { return s.inner.Release(ctx, l, seen) })
}

// Answer implements checkpoint.Desk.
func (s *Store) Answer(ctx context.Context, key checkpoint.Key, replies []checkpoint.Reply) (int64, error) {
	return result(ctx, s, &Call{Name: "Answer", Answers: replies}, func() (int64, error) { return s.inner.Answer(ctx, key, replies) })
}

// Post implements checkpoint.Desk.
func (s *Store) Post(ctx context.Context, c checkpoint.Command) (int64, error) {
	return result(ctx, s, &Call{Name: "Post", Post: &c}, func() (int64, error) { return s.inner.Post(ctx, c) })
}

// Inbox implements checkpoint.Desk.
func (s *Store) Inbox(ctx context.Context, key checkpoint.Key) ([]checkpoint.Command, error) {
	return result(ctx, s, &Call{Name: "Inbox"}, func() ([]checkpoint.Command, error) { return s.inner.Inbox(ctx, key) })
}

// CacheGet implements checkpoint.Cache, if the inner store does.
func (s *Store) CacheGet(ctx context.Context, k checkpoint.CacheKey) ([]byte, error) {
	return result(ctx, s, &Call{Name: "CacheGet"}, func() ([]byte, error) {
		if c, ok := s.inner.(checkpoint.Cache); ok {
			return c.CacheGet(ctx, k)
		}
		return nil, errors.ErrUnsupported
	})
}

// CachePut implements checkpoint.Cache, if the inner store does.
func (s *Store) CachePut(ctx context.Context, k checkpoint.CacheKey, body []byte, ttl time.Duration) error {
	return s.do(ctx, &Call{Name: "CachePut"}, func() error {
		if c, ok := s.inner.(checkpoint.Cache); ok {
			return c.CachePut(ctx, k, body, ttl)
		}
		return errors.ErrUnsupported
	})
}

// CacheClear implements checkpoint.Cache, if the inner store does.
func (s *Store) CacheClear(ctx context.Context, tenant string) error {
	return s.do(ctx, &Call{Name: "CacheClear"}, func() error {
		if c, ok := s.inner.(checkpoint.Cache); ok {
			return c.CacheClear(ctx, tenant)
		}
		return errors.ErrUnsupported
	})
}

// Threads implements checkpoint.Directory.
func (s *Store) Threads(ctx context.Context, f checkpoint.ThreadFilter) ([]checkpoint.Head, error) {
	return result(ctx, s, &Call{Name: "Threads"}, func() ([]checkpoint.Head, error) { return s.inner.Threads(ctx, f) })
}

// Runs implements checkpoint.Directory.
func (s *Store) Runs(ctx context.Context, f checkpoint.RunFilter) ([]checkpoint.Run, error) {
	return result(ctx, s, &Call{Name: "Runs"}, func() ([]checkpoint.Run, error) { return s.inner.Runs(ctx, f) })
}

// Questions implements checkpoint.Directory.
func (s *Store) Questions(ctx context.Context, f checkpoint.QuestionFilter) ([]checkpoint.Question, error) {
	return result(ctx, s, &Call{Name: "Questions"}, func() ([]checkpoint.Question, error) { return s.inner.Questions(ctx, f) })
}
