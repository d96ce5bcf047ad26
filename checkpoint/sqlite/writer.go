package sqlite

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

const (
	sqlBegin     = "begin immediate"
	sqlBeginRead = "begin"
	sqlCommit    = "commit"
	sqlRollback  = "rollback"

	maxGroup      = 256     // requests that share a commit
	maxGroupBytes = 8 << 20 // what they write together; a larger request goes alone
)

// A request is one write that waits for the writer.
type request struct {
	run   func(*conn) error
	whole func(*conn) (done bool, err error) // does without a transaction around it what run does, or nothing; may be nil
	size  int
	first bool // goes before the others: a renewal must not wait behind a large append
	state atomic.Int32
	err   error
	done  chan struct{}
}

const (
	queued    int32 = iota
	taken           // the writer has it
	abandoned       // its caller is gone, before the writer took it: it never happens
)

// A writer is the one goroutine of a process that writes to a file.
type writer struct {
	c      *conn
	wal    *checkpointer
	wake   chan struct{} // has room for one; a full channel means that the writer will look
	ended  chan struct{}
	alarm  alarm
	mu     sync.Mutex
	urgent []*request
	queue  []*request
	stop   bool
}

func newWriter(c *conn, wal *checkpointer) *writer {
	w := &writer{c: c, wal: wal, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	go w.loop()
	return w
}

// do queues a request and waits for its outcome, at most until the context ends or, if that has no deadline, the timeout.
func (w *writer) do(ctx context.Context, timeout time.Duration, r *request) error {
	r.done = make(chan struct{})
	w.mu.Lock()
	if r.first {
		w.urgent = append(w.urgent, r)
	} else {
		w.queue = append(w.queue, r)
	}
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
	var expired <-chan struct{}
	if _, ok := ctx.Deadline(); !ok {
		t := w.alarm.set(timeout)
		defer w.alarm.clear(t)
		expired = t.over
	}
	var why error
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		why = context.Cause(ctx)
	case <-expired:
		why = context.DeadlineExceeded
	}
	if r.state.CompareAndSwap(queued, abandoned) {
		return late(why) // it did not happen and never will
	}
	select {
	case <-r.done:
		return r.err
	default:
		return late(why) // it is happening: the outcome is unknown
	}
}

// close waits until the queue is empty.
func (w *writer) close() error {
	w.mu.Lock()
	w.stop = true
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
	<-w.ended
	w.alarm.stop()
	return w.c.close()
}

func (w *writer) loop() {
	defer close(w.ended)
	var group []*request
	for range w.wake {
		for {
			var stop bool
			group, stop = w.take(group[:0])
			if len(group) == 0 {
				if stop {
					return
				}
				break
			}
			w.commit(group)
		}
	}
}

// take fills a group from the queues, renewals first. It skips what was abandoned.
func (w *writer) take(group []*request) (_ []*request, stop bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	bytes := 0
	for _, q := range []*[]*request{&w.urgent, &w.queue} {
		n := 0
		for _, r := range *q {
			if len(group) == maxGroup || len(group) > 0 && bytes+r.size > maxGroupBytes {
				break
			}
			n++
			if r.state.CompareAndSwap(queued, taken) {
				group, bytes = append(group, r), bytes+r.size
			}
		}
		rest := copy(*q, (*q)[n:])
		clear((*q)[rest:])
		*q = (*q)[:rest]
	}
	return group, w.stop
}

// commit runs a group in one transaction. If the database refuses any of it, each is run alone, so that nobody pays for
// another's request.
func (w *writer) commit(group []*request) {
	err := w.store(group)
	if err != nil && len(group) > 1 {
		for i := range group {
			if err := w.store(group[i : i+1]); err != nil {
				group[i].err = err
			}
		}
	} else if err != nil {
		group[0].err = err
	}
	bytes := 0
	for _, r := range group {
		bytes += r.size
		close(r.done)
	}
	clear(group)
	w.wal.wrote(w.c, bytes)
}

// store returns an error if nothing of the group was stored. A request's own verdict is in its err.
func (w *writer) store(group []*request) error {
	if r := group[0]; len(group) == 1 && r.whole != nil {
		var done bool
		err := w.patiently(func() (err error) {
			done, err = r.whole(w.c)
			return err
		})
		if r.err = err; done || err != nil {
			return err
		}
	}
	return w.together(group)
}

// together stores a group in one transaction.
func (w *writer) together(group []*request) error {
	ctx := context.Background()
	if err := w.begin(ctx); err != nil {
		return err
	}
	for _, r := range group {
		if r.err = r.run(w.c); isDB(r.err) {
			w.c.exec(ctx, sqlRollback) // fails if SQLite has rolled back by itself
			return r.err
		}
	}
	if _, err := w.c.exec(ctx, sqlCommit); err != nil {
		w.c.exec(ctx, sqlRollback)
		return err
	}
	return nil
}

// begin starts a transaction that writes.
func (w *writer) begin(ctx context.Context) error {
	return w.patiently(func() error {
		_, err := w.c.exec(ctx, sqlBegin)
		return err
	})
}

// patiently waits for other processes as long as a request may wait. It tries often: SQLite's own handler sleeps up to
// 100 ms between two tries, and a process that writes all the time would starve the others.
func (w *writer) patiently(f func() error) error {
	start := time.Now()
	for try := 0; ; try++ {
		err := f()
		if !busy(err) || time.Since(start) > w.wal.o.OpTimeout {
			return err
		}
		time.Sleep(pause(try))
	}
}

// pause grows to about 2 ms.
func pause(try int) time.Duration {
	most := time.Duration(min(try+1, 20)) * 100 * time.Microsecond
	return most/2 + rand.N(most)
}

func isDB(err error) bool {
	if err == nil {
		return false
	}
	_, ok := errors.AsType[*dbError](err)
	return ok
}
