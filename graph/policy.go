package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"
)

// A Policy says how a node is run. Zero fields take the graph's default (Options.Policy), then the default named here.
type Policy struct {
	Attempts    int              // how often in all; default 1
	Backoff     time.Duration    // wait before the second attempt, doubled for each further one, with jitter; default 100 ms
	MaxBackoff  time.Duration    // longest wait; default 10 s
	Retry       func(error) bool // which errors are worth another attempt; default Retryable
	Timeout     time.Duration    // of one attempt; default none
	IdleTimeout time.Duration    // without Heartbeat, Emit, Once or Ask; default none
	Grace       time.Duration    // how long a node may take to return once its context has ended; default 1 s

	Deferred bool // run only when nothing else is scheduled
	Silent   bool // keep its tasks and what it emits out of streams
}

func (p Policy) or(d Policy) Policy {
	p.Attempts = cmp.Or(p.Attempts, d.Attempts)
	p.Backoff = cmp.Or(p.Backoff, d.Backoff)
	p.MaxBackoff = cmp.Or(p.MaxBackoff, d.MaxBackoff)
	if p.Retry == nil {
		p.Retry = d.Retry
	}
	p.Timeout = cmp.Or(p.Timeout, d.Timeout)
	p.IdleTimeout = cmp.Or(p.IdleTimeout, d.IdleTimeout)
	p.Grace = cmp.Or(p.Grace, d.Grace)
	return p
}

var defaultPolicy = Policy{Attempts: 1, Backoff: 100 * time.Millisecond, MaxBackoff: 10 * time.Second, Retry: Retryable, Grace: time.Second}

func (p Policy) validate() error {
	if p.Attempts < 0 || p.Backoff < 0 || p.MaxBackoff < 0 || p.Timeout < 0 || p.IdleTimeout < 0 || p.Grace < 0 {
		return errors.New("a policy has no negative numbers")
	}
	return nil
}

// Retryable is the default predicate: an error is tried again unless it says otherwise by a method Retryable() bool, or
// is a panic.
func Retryable(err error) bool {
	if r, ok := errors.AsType[interface {
		error
		Retryable() bool
	}](err); ok {
		return r.Retryable()
	}
	_, isPanic := errors.AsType[*PanicError](err)
	return !isPanic && !errors.Is(err, context.Canceled)
}

// again asks the predicate, which is the user's code and may panic.
func (p *Policy) again(n int, err error) (again bool, wait time.Duration, perr error) {
	defer func() {
		if v := recover(); v != nil {
			perr = &PanicError{Value: fmt.Sprint(v), Stack: debug.Stack()}
		}
	}()
	return p.Retry(err), p.wait(n, err), nil
}

// wait returns how long to wait after attempt n (1, 2, ...) failed with err. An error with RetryAfter() time.Duration is
// taken at its word.
func (p *Policy) wait(n int, err error) time.Duration {
	if r, ok := errors.AsType[interface {
		error
		RetryAfter() time.Duration
	}](err); ok && r.RetryAfter() > 0 {
		return r.RetryAfter()
	}
	d := p.Backoff
	for i := 1; i < n && d < p.MaxBackoff; i++ {
		d *= 2
	}
	d = min(d, p.MaxBackoff)
	return d/2 + rand.N(d/2+1) // half fixed, half jitter: never at once, never all together
}
