package modeltest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A model runs a spec as docs/spec.md says, one task at a time, on plain values. It knows no log, no store and no crash.
type model struct {
	s         *spec
	committed *plain
	step      int64
	open      []*mtask // the superstep, in task order
	deferred  []int    // nodes that wait until nothing else is scheduled
	joins     [][]bool
	answers   map[string]int // by prompt
	effects   map[string]int // what Once has recorded
	mended    map[string]bool
	yielding  map[string]bool

	entries []string       // what was committed: the tasks and the state of each superstep
	runs    map[string]int // how often each task's node was started
}

type mtask struct {
	node  int
	arg   *argument
	key   string
	done  *mresult
	cause error    // a handler has the word, also when the task is run again (E20)
	asked []string // prompts
}

type mresult struct {
	writes     []write
	to         []int
	sends      []sending
	redirected bool // a handler chose targets: joins do not count (E20)
}

// An outcome is what a call ended with.
type outcome struct {
	Kind      string // "completed", "failed", "interrupted", "limit"
	Questions []string
	Failed    []string // keys
	Conflict  string
}

func newModel(s *spec) *model {
	m := &model{s: s, committed: newPlain(), answers: map[string]int{}, effects: map[string]int{}, mended: map[string]bool{}, yielding: map[string]bool{}, runs: map[string]int{}}
	for _, j := range s.Joins {
		m.joins = append(m.joins, make([]bool, len(j.From)))
	}
	return m
}

// input starts the run: the input's writes, then the edges and routes of Start.
func (m *model) input() {
	e := newModelEnv(m, &mtask{key: "0/start/"}, 1)
	perform(m.s, e, m.s.Input, 0)
	r := &mresult{writes: e.writes}
	if err := m.leave(r, e, &m.s.Start, -1, nil); err != nil {
		panic(err)
	}
	next, c := m.committed.foldIn([][]write{r.writes})
	if c != nil {
		panic("one writer cannot conflict")
	}
	m.commit(next, []*mtask{{node: -1, done: r}})
}

// call is one call of Run or Resume.
func (m *model) call() outcome {
	for ran := 0; ; ran++ {
		switch {
		case len(m.open) == 0:
			return outcome{Kind: "completed"}
		case ran == m.s.Limit: // E22
			return outcome{Kind: "limit"}
		}
		if o := m.superstep(); o != nil {
			return *o
		}
	}
}

// superstep runs every task that has no result and whose questions all have answers (E17, E33), then commits (E16).
func (m *model) superstep() *outcome {
	o := &outcome{Kind: "failed"}
	for _, t := range m.open {
		if t.done == nil && !slices.ContainsFunc(t.asked, m.unanswered) {
			if !m.execute(t) {
				o.Failed = append(o.Failed, t.key)
			}
		}
	}
	for _, t := range m.open {
		if t.done != nil {
			continue
		}
		for _, q := range t.asked {
			if m.unanswered(q) {
				o.Questions = append(o.Questions, q)
			}
		}
	}
	slices.Sort(o.Questions)
	switch {
	case len(o.Questions) > 0:
		o.Kind = "interrupted"
		return o
	case len(o.Failed) > 0:
		return o
	}
	writes := make([][]write, len(m.open))
	for i, t := range m.open {
		writes[i] = t.done.writes
	}
	next, c := m.committed.foldIn(writes)
	if c == nil {
		m.commit(next, m.open)
		return nil
	}
	o.Conflict = fieldNames[c.field]
	for i, k := range c.tasks { // only those run again (E4); all but the first leave the field alone then
		o.Failed = append(o.Failed, m.open[k].key)
		m.open[k].done, m.open[k].cause = nil, nil
		if i > 0 {
			m.yielding[m.open[k].key] = true
		}
	}
	return o
}

func (m *model) unanswered(prompt string) bool { _, ok := m.answers[prompt]; return !ok }

// execute runs a task to a result, to questions, or to failure (false).
func (m *model) execute(t *mtask) bool {
	n := &m.s.Nodes[t.node]
	t.asked = nil
	err := t.cause
	for a := 1; a <= n.Attempts && t.cause == nil; a++ {
		m.runs[t.key]++
		e := newModelEnv(m, t, a)
		r := &mresult{}
		if err = protect(func() error { return m.node(r, e, n, t) }); err == nil {
			r.writes, t.done = e.writes, r
			return true
		}
		if len(t.asked) > 0 {
			return true
		}
		if strings.HasPrefix(err.Error(), "panic: ") {
			break
		}
	}
	if n.Handler == nil {
		return false
	}
	t.cause = err
	e := newModelEnv(m, t, 1)
	r := &mresult{}
	herr := n.Handler.run(m.s, e, err)
	if herr == nil && len(n.Handler.Goto.Targets) > 0 {
		r.redirected = true
		r.add(n.Handler.Goto.choose(m.s, e.read(), t.key, t.node, 90))
	} else if herr == nil {
		herr = m.leave(r, e, &n.Out, t.node, nil)
	}
	if herr == nil {
		r.writes, t.done = e.writes, r
	}
	return herr == nil || len(t.asked) > 0
}

func (m *model) node(r *mresult, e *modelEnv, n *nodeSpec, t *mtask) error {
	if err := n.run(m.s, e, t.arg); err != nil {
		return err
	}
	if n.Branch {
		r.add(n.Goto.choose(m.s, e.read(), t.key, t.node, 80))
	}
	return m.leave(r, e, &n.Out, t.node, &n.Fail)
}

// leave adds edges, and what routes say: all of them count (E13), beside a branch's own choice (E14).
func (m *model) leave(r *mresult, e *modelEnv, out *exits, from int, fail *failSpec) error {
	r.to = append(r.to, out.Edges...)
	for i := range out.Routes {
		if fail != nil {
			if err := fail.fail(e, inRoute); err != nil {
				return fmt.Errorf("route: %w", err)
			}
		}
		r.add(out.Routes[i].choose(m.s, e.read(), e.t.key, from, i))
	}
	return nil
}

func (r *mresult) add(c choice) {
	r.to = append(r.to, c.to...)
	r.sends = append(r.sends, c.sends...)
}

// commit makes a superstep part of the thread and schedules the next one.
func (m *model) commit(next *plain, ran []*mtask) {
	m.committed = next
	line := fmt.Sprint(m.step)
	for _, t := range ran {
		if t.node >= 0 {
			line += " " + name(t.node) + t.arg.text()
		}
	}
	m.entries = append(m.entries, line+" "+next.json())
	m.step++
	m.open = nil
	pulled := map[int]bool{}
	for _, t := range ran {
		for _, to := range t.done.to {
			pulled[to] = to != end
		}
		if !t.done.redirected {
			m.arrive(t.node)
		}
	}
	for i, j := range m.s.Joins { // E13: once all have run, then it is armed again
		if !slices.Contains(m.joins[i], false) {
			clear(m.joins[i])
			pulled[j.To] = true
		}
	}
	m.schedule(pulled)
	for _, t := range ran {
		for _, s := range t.done.sends {
			m.open = append(m.open, m.task(s.to, &s.arg)) // E5: by the sender's place and index
		}
	}
	if len(m.open) == 0 {
		m.schedule(nil)
	}
}

func (m *model) arrive(node int) {
	for i, j := range m.s.Joins {
		for k, from := range j.From {
			if from == node {
				m.joins[i][k] = true
			}
		}
	}
}

// schedule opens pulled tasks by node name; deferred ones wait. With none to pull it opens the deferred ones.
func (m *model) schedule(pulled map[int]bool) {
	var ready []int
	if pulled == nil {
		ready, m.deferred = m.deferred, nil
	}
	for i, yes := range pulled {
		switch {
		case !yes:
		case !m.s.Nodes[i].Deferred:
			ready = append(ready, i)
		case !slices.Contains(m.deferred, i):
			m.deferred = append(m.deferred, i)
		}
	}
	slices.SortFunc(ready, func(a, b int) int { return strings.Compare(name(a), name(b)) })
	for _, i := range ready {
		m.open = append(m.open, m.task(i, nil))
	}
}

func (m *model) task(node int, arg *argument) *mtask {
	return &mtask{node: node, arg: arg, key: taskKey(m.step, name(node), arg.text())}
}

var errSuspended = errors.New("suspended")

// A modelEnv is a task's view in the model.
type modelEnv struct {
	m      *model
	t      *mtask
	n      int
	view   *plain
	writes []write
}

func newModelEnv(m *model, t *mtask, n int) *modelEnv {
	return &modelEnv{m: m, t: t, n: n, view: m.committed.clone()}
}

func (e *modelEnv) key() string    { return e.t.key }
func (e *modelEnv) attempt() int   { return e.n }
func (e *modelEnv) read() *plain   { return e.view }
func (e *modelEnv) mended() bool   { return e.m.mended[e.t.key] }
func (e *modelEnv) yielding() bool { return e.m.yielding[e.t.key] }

func (e *modelEnv) do(w write) {
	if e.view.apply(w) {
		e.writes = append(e.writes, w)
	}
}

func (e *modelEnv) ask(_ string, _ int, prompt string) (int, error) {
	if a, ok := e.m.answers[prompt]; ok {
		return a, nil
	}
	e.t.asked = append(e.t.asked, prompt)
	return 0, errSuspended
}

func (e *modelEnv) once(label string, ordinal int, fn func() (int, error)) (int, error) { // E23
	id := fmt.Sprint(e.t.key, label, ordinal)
	if v, ok := e.m.effects[id]; ok {
		return v, nil
	}
	v, err := fn()
	if err != nil {
		return 0, err
	}
	e.m.effects[id] = v
	return v, nil
}

// protect turns a panic into an error that reads as the engine's does.
func protect(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}
