package graphtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/graph/internal/host"
	"github.com/holdfast-go/holdfast/internal/jsonschema"
)

// onceID is a place in a task: a name and how often the task came by it.
type onceID struct {
	name string
	n    int
}

// A task is what the executions of one task share.
type task struct {
	t testing.TB
	o Options

	mu      sync.Mutex
	answers []Reply
	given   map[onceID]Reply // answers that were taken
	kept    map[onceID]json.RawMessage
	begun   map[onceID]int // how often
	refused map[onceID]string
}

// A call is one execution. It implements host.Host.
type call struct {
	task    *task
	attempt int

	mu    sync.Mutex
	asks  map[string]int
	onces map[string]int
	busy  map[string]bool
	seen  Record
}

func (k *task) script(answers []Reply) {
	k.t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, a := range answers {
		if a.err != nil {
			k.t.Error(a.err)
			continue
		}
		k.answers = append(k.answers, a)
	}
}

// answerTo returns the scripted answer to a question, and remembers that it was taken.
func (k *task) answerTo(q *host.Question) (Reply, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	id := onceID{q.Name, q.N}
	if a, ok := k.given[id]; ok {
		return a, true
	}
	for i, a := range k.answers {
		if a.name != q.Name {
			continue
		}
		k.answers = append(k.answers[:i:i], k.answers[i+1:]...)
		if a.late {
			k.given[id] = a
			return a, true
		}
		if err := fits(q.Schema, a.value); err != nil {
			k.t.Errorf("graphtest: the scripted answer %s does not fit question %s: %v", a.value, q.Name, err)
			return Reply{}, false
		}
		k.given[id] = a
		delete(k.refused, id)
		return a, true
	}
	return Reply{}, false
}

func fits(schema, value json.RawMessage) error {
	s, err := jsonschema.Parse(schema)
	if err != nil {
		return err
	}
	return s.Validate(value)
}

func (k *task) refuse(q *host.Question, reason error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refused == nil {
		k.refused = map[onceID]string{}
	}
	id := onceID{q.Name, q.N}
	delete(k.given, id)
	k.refused[id] = reason.Error()
}

func (k *task) reason(q *host.Question) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.refused[onceID{q.Name, q.N}]
}

// Ask returns the scripted answer, or suspends.
func (c *call) Ask(q *host.Question) (json.RawMessage, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.Heartbeats++
	if c.asks == nil {
		c.asks = map[string]int{}
	}
	q.N = c.asks[q.Name]
	c.asks[q.Name]++
	q.ID = fmt.Sprintf("%s.%d", q.Name, q.N)
	a, ok := c.task.answerTo(q)
	switch {
	case !ok:
		return nil, c.suspend(q)
	case a.late && q.Default == nil:
		return nil, &graph.ExpiredError{Question: c.question(q)}
	case a.late:
		q.Lapsed = true
		return q.Default, nil
	}
	return a.value, nil
}

// Refuse opens the question again with the reason.
func (c *call) Refuse(q *host.Question, reason error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.task.refuse(q, reason)
	return c.suspend(q)
}

// suspend notes an open question. The lock is held.
func (c *call) suspend(q *host.Question) error {
	c.seen.Asked = append(c.seen.Asked, c.question(q))
	return &host.Suspend{Question: *q}
}

func (c *call) question(q *host.Question) graph.Question {
	i := c.task.o.Info
	return graph.Question{
		ID: q.ID, Name: q.Name, Node: i.Node, Task: i.Task, Prompt: q.Prompt, Schema: q.Schema, NotBy: q.NotBy, Refused: c.task.reason(q),
		Expires: q.Deadline, Default: q.Default,
	}
}

// OnceBegin claims the next ordinal of the name.
func (c *call) OnceBegin(name string, intent bool) (*host.Once, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.Heartbeats++
	if c.busy[name] {
		return nil, graph.ErrOnceBusy
	}
	if c.onces == nil {
		c.onces, c.busy = map[string]int{}, map[string]bool{}
	}
	id := onceID{name, c.onces[name]}
	c.onces[name]++
	k := c.task
	k.mu.Lock()
	defer k.mu.Unlock()
	o := &host.Once{Name: name, N: id.n, Key: fmt.Sprintf("%s/%s/%d", k.o.Info.Key, name, id.n), Recorded: k.kept[id], Intent: intent}
	o.Unknown, o.Tries = o.Recorded == nil && k.begun[id] > 0, k.begun[id]
	if o.Recorded == nil {
		c.busy[name] = true
		if !o.Unknown {
			k.begin(o)
		}
	}
	return o, nil
}

// begin notes that an effect with an intent begins. The lock is held.
func (k *task) begin(o *host.Once) {
	if o.Intent {
		o.Tries++
		k.begun[onceID{o.Name, o.N}] = o.Tries
	}
}

// OnceAgain notes that an effect begins once more.
func (c *call) OnceAgain(o *host.Once) error {
	c.task.mu.Lock()
	defer c.task.mu.Unlock()
	c.task.begin(o)
	return nil
}

// OnceEnd records the result.
func (c *call) OnceEnd(o *host.Once, result json.RawMessage, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.busy, o.Name)
	if err != nil {
		c.onces[o.Name]-- // the next call of that name is the same effect, under the same key
		if !errors.Is(err, host.ErrUnknown) {
			c.task.mu.Lock()
			defer c.task.mu.Unlock()
			delete(c.task.begun, onceID{o.Name, o.N})
		}
		return nil
	}
	c.seen.Onces = append(c.seen.Onces, o.Name)
	k := c.task
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept[onceID{o.Name, o.N}] = result
	return nil
}

// Emit records a custom event.
func (c *call) Emit(name string, data json.RawMessage) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.Heartbeats++
	c.seen.Emitted = append(c.seen.Emitted, Emitted{name, data})
	return nil
}

// Listening is true: every event is recorded.
func (c *call) Listening() bool { return true }

// Heartbeat counts.
func (c *call) Heartbeat() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.Heartbeats++
	return nil
}

// Info is that of the options.
func (c *call) Info() host.Info {
	i := c.task.o.Info
	return host.Info{
		Tenant: i.Thread.Tenant, Thread: i.Thread.ID, Branch: i.Thread.Branch, Run: i.Run, Graph: i.Graph, Node: i.Node, Task: i.Task,
		Step: i.Step, Attempt: c.attempt, Key: i.Key, By: i.By,
	}
}

// StepsLeft is that of the options.
func (c *call) StepsLeft() int {
	if n := c.task.o.StepsLeft; n != 0 {
		return max(0, n)
	}
	return 999
}

// Draining is that of the options.
func (c *call) Draining() bool { return c.task.o.Draining }
