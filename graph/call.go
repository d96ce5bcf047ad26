package graph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph/internal/host"
	"github.com/holdfast-go/holdfast/internal/record"
)

// A call is one attempt of a task. It is the context that the node gets, and serves what the node asks of it.
type call struct {
	context.Context
	t *task
	n int

	// The result, read by the task when the attempt has returned in time.
	view       any
	writes     record.Writes
	to         []string
	sends      []send
	redirected bool // a handler chose targets: joins do not count

	beat chan struct{} // signs of life, if there is an idle time-out

	mu     sync.Mutex
	stale  bool
	*calls // what few nodes need: noCalls until there is something
}

// noCalls are those of an attempt that has none. It is shared, and never written to.
var noCalls calls

// own returns the calls to be written to. The lock is held, unless the attempt has not begun. Whoever comes late writes where nobody
// reads.
func (c *call) own() *calls {
	if c.stale {
		return &calls{names: newNames()}
	}
	if c.calls == &noCalls {
		c.calls = new(calls)
	}
	return c.calls
}

// begin makes c the n-th attempt of a task.
func (c *call) begin(t *task, n int, ctx context.Context) {
	c.t, c.n, c.Context, c.calls = t, n, ctx, &noCalls
}

// calls are the questions and effects of one attempt. Most have none.
type calls struct {
	asked []*host.Question
	used  []record.Used
	late  []string // questions that had expired without a default
	names *names
	up    []string // targets of the parent that an Escape named

	slot   *checkpoint.CacheKey // where the result belongs in the cache
	cached bool                 // the result came from there

	// What child graphs have left that did not come to their ends.
	held    bool     // one waits
	paused  bool     // one waits for something else than an answer
	drained bool     // one was drained
	breaks  []string // nodes at which one stopped
	beside  error    // what failed in one beside its questions
}

// names counts how often each name came.
type names struct {
	calls map[string]int
	asks  map[string]int
	onces map[string]int
	busy  map[string]bool // names of onces that run now
}

func newNames() *names {
	return &names{map[string]int{}, map[string]int{}, map[string]int{}, map[string]bool{}}
}

// named returns the counters. The lock is held.
func (c *call) named() *names {
	own := c.own()
	if own.names == nil {
		own.names = newNames()
	}
	return own.names
}

// Value serves the host and passes everything else on to the caller's context.
func (c *call) Value(key any) any {
	if key == host.Key {
		return c
	}
	return c.Context.Value(key)
}

// seal makes every later call ErrStale: the attempt has returned, or was abandoned.
func (c *call) seal() {
	c.mu.Lock()
	c.stale = true
	c.mu.Unlock()
}

func (c *call) alive() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.live()
}

// live is alive with the lock held.
func (c *call) live() error {
	if c.stale || c.t.fate.Load() == fateLeft {
		return fmt.Errorf("%w: node %s has returned or was abandoned", ErrStale, c.t.node.name)
	}
	if up := c.t.r.up; up != nil {
		return up.alive()
	}
	return nil
}

// suspended reports whether err says nothing but that questions wait.
func (c *call) suspended(err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return (len(c.asked) > 0 || c.held) && onlySuspends(err)
}

// hid reports whether a question was asked and the node's error does not show it.
func (c *call) hid(err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, shown := errors.AsType[*host.Suspend](err)
	if !shown {
		_, shown = errors.AsType[*childStop](err)
	}
	return (len(c.asked) > 0 || c.held) && !shown
}

// onlySuspends walks a tree of joined errors: every leaf must be a question.
func onlySuspends(err error) bool {
	for err != nil {
		switch err.(type) {
		case *host.Suspend, *childStop:
			return true
		}
		switch u := err.(type) {
		case interface{ Unwrap() []error }:
			list := u.Unwrap()
			for _, e := range list {
				if !onlySuspends(e) {
					return false
				}
			}
			return len(list) > 0
		case interface{ Unwrap() error }:
			err = u.Unwrap()
		default:
			return false
		}
	}
	return false
}

// Ask returns the recorded answer to the next question of that name, or suspends.
func (c *call) Ask(q *host.Question) (json.RawMessage, error) {
	if err := c.Heartbeat(); err != nil {
		return nil, err
	}
	r := c.t.r
	if r.journal == nil {
		return nil, ErrNoStore
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.live(); err != nil {
		return nil, err
	}
	n := c.named()
	q.N = n.asks[q.Name]
	n.asks[q.Name]++
	q.ID = questionID(r.chain, c.t.id(), q.Name, q.N)
	c.at(q)
	shown := shownHash(q.Prompt, q.Schema)
	if a := r.answerTo(q.ID, shown); a != nil {
		c.own().used = append(c.used, record.Used{Question: q.ID, By: a.AnsweredBy, At: a.AnsweredAt.UTC(), Value: a.Answer})
		return a.Answer, nil
	}
	if row := r.lapsed(q.ID, shown); row != nil {
		return c.lapse(q, row)
	}
	r.due(q, shown)
	c.own().asked = append(c.asked, q)
	return nil, &host.Suspend{Question: *q}
}

// Refuse takes an answer back: the question is asked again, with the reason.
func (c *call) Refuse(q *host.Question, reason error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.live(); err != nil {
		return err
	}
	for i, u := range c.used {
		if u.Question == q.ID {
			c.own().used = append(c.used[:i:i], c.used[i+1:]...)
			break
		}
	}
	c.t.r.refuse(q.ID, reason)
	c.t.r.due(q, shownHash(q.Prompt, q.Schema))
	c.own().asked = append(c.asked, q)
	return &host.Suspend{Question: *q}
}

// OnceBegin claims the next ordinal of a name.
func (c *call) OnceBegin(name string, intent bool) (*host.Once, error) {
	if err := c.Heartbeat(); err != nil {
		return nil, err
	}
	r := c.t.r
	if r.journal != nil {
		if err := r.mine(); err != nil { // an effect is no longer this run's if the thread is not
			return nil, err
		}
	}
	c.mu.Lock()
	names := c.named()
	if names.busy[name] {
		c.mu.Unlock()
		return nil, ErrOnceBusy
	}
	n := names.onces[name]
	names.onces[name]++
	names.busy[name] = true
	c.mu.Unlock()

	o := &host.Once{Name: name, N: n, Key: onceKey(r.chain, c.t.id(), name, n), Intent: intent}
	rec, err := c.recorded(record.OnceID{Task: c.t.id(), Name: name, N: n})
	if err != nil {
		c.release(name)
		return nil, err
	}
	if rec != nil {
		o.Recorded, o.Unknown, o.Tries = rec.Result, rec.Begun && rec.Result == nil, rec.Tries
	}
	if o.Recorded != nil {
		c.release(name)
		c.t.note("effect reused", "name", name, "ordinal", n)
		return o, nil
	}
	if !o.Unknown {
		if err := c.OnceAgain(o); err != nil {
			c.release(name)
			return nil, err
		}
	}
	return o, nil
}

// recorded returns what is recorded of an effect. What a fork takes over is recorded in its own branch first.
func (c *call) recorded(id record.OnceID) (*record.Once, error) {
	rec, reused := c.t.r.once(id)
	if rec == nil || !reused {
		return rec, nil
	}
	return rec, c.t.r.recordOnce(c, rec)
}

// OnceAgain records that the effect begins, once more if it has begun before.
func (c *call) OnceAgain(o *host.Once) error {
	if !o.Intent {
		return nil
	}
	o.Tries++
	return c.t.r.recordOnce(c, &record.Once{Task: c.t.id(), Name: o.Name, N: o.N, Begun: true, Tries: o.Tries})
}

func (c *call) release(name string) {
	c.mu.Lock()
	delete(c.named().busy, name)
	c.mu.Unlock()
}

// OnceEnd records the result of an effect.
func (c *call) OnceEnd(o *host.Once, result json.RawMessage, err error) error {
	defer c.release(o.Name)
	if err != nil {
		c.mu.Lock()
		c.named().onces[o.Name]-- // the next call of that name is the same effect, under the same key
		c.mu.Unlock()
		if !o.Intent || errors.Is(err, host.ErrUnknown) {
			return nil
		}
		// It has returned, so its outcome is known: no person needs to be asked about it.
		return c.t.r.recordOnce(c, &record.Once{Task: c.t.id(), Name: o.Name, N: o.N, Tries: o.Tries})
	}
	if err := c.alive(); err != nil {
		return err
	}
	err = c.t.r.recordOnce(c, &record.Once{Task: c.t.id(), Name: o.Name, N: o.N, Result: result})
	if err == nil {
		c.t.note("effect recorded", "name", o.Name, "ordinal", o.N)
	}
	return err
}

// Emit publishes a custom event.
func (c *call) Emit(name string, data json.RawMessage) error {
	if err := c.Heartbeat(); err != nil {
		return err
	}
	if !c.t.node.policy.Silent {
		c.t.r.custom(c, name, data)
	}
	return nil
}

// Listening reports whether an emitted event would be seen.
func (c *call) Listening() bool { return !c.t.node.policy.Silent && c.t.r.bus.listening() }

// Heartbeat is a sign of life.
func (c *call) Heartbeat() error {
	if c.beat != nil {
		select {
		case c.beat <- struct{}{}:
		default:
		}
	}
	if up := c.t.r.up; up != nil {
		if err := up.Heartbeat(); err != nil {
			return err
		}
	}
	return c.alive()
}

// Info describes the task.
func (c *call) Info() host.Info {
	r := c.t.r
	return host.Info{
		Tenant: r.key.Tenant, Thread: r.key.Thread, Branch: r.branch, Run: r.root.id, Graph: r.plan.id.Name, Node: c.t.node.name,
		Task: c.t.id(), Step: c.t.runs, Attempt: c.n, By: r.starter, Key: onceKey(r.chain, c.t.id(), "", 0), Path: r.path,
	}
}

// StepsLeft is how many supersteps this call may still run.
func (c *call) StepsLeft() int { return c.t.left }

// Draining reports whether the run is asked to stop.
func (c *call) Draining() bool { return c.t.r.draining() }
