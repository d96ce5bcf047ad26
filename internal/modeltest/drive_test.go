package modeltest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
	"github.com/holdfast-go/holdfast/state"
)

// newStore is a memory store whose clock stands still, so that equal runs have equal times.
func newStore() *checkpoint.Memory {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	return &checkpoint.Memory{Now: func() time.Time { return at }}
}

// A driver does what the world does to a thread: it gives the input, answers, mends, and calls again.
type driver struct {
	s     *spec
	w     *world
	rng   *rand.Rand
	store checkpoint.Store // of a life: may be dead
	app   *graph.App[State]
	m     *model // nil: outcomes are not compared
	log   *reading
}

func (d *driver) input(st *State) {
	perform(d.s, &liveEnv{s: st, w: d.w, k: "0/start/"}, d.s.Input, 0)
}

// outcome reads a call's error.
func (d *driver) outcome(err error) (o outcome, bad error) {
	waits, _ := errors.AsType[*graph.Interrupted](err)
	clash, _ := errors.AsType[*state.ConflictError](err)
	switch {
	case err == nil:
		o.Kind = "completed"
	case waits != nil:
		o.Kind = "interrupted"
		for _, q := range waits.Questions {
			o.Questions = append(o.Questions, q.Text())
		}
		slices.Sort(o.Questions)
		o.Failed = failures(err)
	case clash != nil:
		o.Kind, o.Conflict = "failed", clash.Field
		o.Failed, bad = d.clash(clash)
	case errors.Is(err, graph.ErrStepLimit):
		o.Kind = "limit"
	default:
		if o.Kind, o.Failed = "failed", failures(err); len(o.Failed) == 0 && !errors.Is(err, graph.ErrCrashLoop) {
			bad = err
		}
	}
	return o, bad
}

// clash finds the tasks of a conflict and makes all but the first of them yield.
func (d *driver) clash(c *state.ConflictError) (keys []string, err error) {
	st, err := d.app.State(context.Background(), thread)
	if err != nil {
		return nil, err
	}
	for i, k := range c.Tasks {
		t := st.Next[k]
		if t.Node != c.Names[i] {
			return nil, fmt.Errorf("task %d of the conflict is %s, and %s in the thread's state", k, c.Names[i], t.Node)
		}
		key := taskKey(st.Step+1, t.Node, string(t.Arg))
		if keys = append(keys, key); i > 0 {
			d.w.note(d.w.yielding, key)
		}
	}
	return keys, nil
}

// mend repairs the hard failures that were seen, or leaves them for now.
func (d *driver) mend() {
	if d.rng.IntN(3) == 0 {
		return
	}
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	for k := range d.w.failing {
		d.w.mended[k] = true
		if d.m != nil {
			d.m.mended[k] = true
		}
	}
	clear(d.w.failing)
}

// pick chooses which of some questions are answered now, and in which order (E33).
func (d *driver) pick(prompts []string) (chosen []string) {
	all := d.rng.IntN(2) == 0
	for _, i := range d.rng.Perm(len(prompts)) {
		if all || d.rng.IntN(2) == 0 {
			chosen = append(chosen, prompts[i])
		}
	}
	return chosen
}

// replies are the commands that answer open questions.
func (d *driver) replies(open []graph.Question) (cmds []graph.Command) {
	var prompts []string
	for _, q := range open {
		prompts = append(prompts, q.Text())
	}
	slices.Sort(prompts)
	for _, p := range d.pick(prompts) {
		i := slices.IndexFunc(open, func(q graph.Question) bool { return q.Text() == p })
		cmds = append(cmds, graph.Answer(open[i], answerTo(p)))
		if d.m != nil {
			d.m.answers[p] = answerTo(p)
		}
	}
	return cmds
}

// lockstep runs engine and model side by side, without any crash, and compares after each call.
func lockstep(s *spec, store checkpoint.Store, mode graph.Durability) (*driver, error) {
	d := &driver{s: s, w: newWorld(), rng: rand.New(rand.NewPCG(s.Seed, 1)), store: store, m: newModel(s)}
	d.app = compile(s, d.w, store, mode)
	defer d.app.Close(context.Background())
	d.m.input()
	ctx := context.Background()
	_, err := d.app.Run(ctx, thread, d.input)
	for range 1000 {
		want := d.m.call()
		slices.Sort(want.Failed)
		got, bad := d.outcome(err)
		if bad != nil {
			return d, bad
		}
		slices.Sort(got.Failed)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			return d, fmt.Errorf("outcome:\n%+v\nthe model's is\n%+v\nthe error is %v", got, want, err)
		}
		if got.Kind == "completed" {
			return d, d.compare(d.m, store)
		}
		d.mend()
		var open []graph.Question
		if waits, ok := errors.AsType[*graph.Interrupted](err); ok {
			open = waits.Questions
		}
		_, err = d.app.Resume(ctx, thread, d.replies(open)...)
	}
	return d, errors.New("it does not end")
}

// compare compares a finished thread with what the model has done.
func (d *driver) compare(m *model, store checkpoint.Store) error {
	if len(d.w.wrong) > 0 {
		return errors.New(strings.Join(d.w.wrong, "\n"))
	}
	log, err := readLog(store)
	if err != nil {
		return err
	}
	d.log = log
	for i := range max(len(log.entries), len(m.entries)) {
		if i >= len(log.entries) || i >= len(m.entries) || log.entries[i] != m.entries[i] {
			return fmt.Errorf("superstep %d:\n%s\nthe model's is\n%s", i, at(log.entries, i), at(m.entries, i))
		}
	}
	if log.state != m.committed.json() {
		return fmt.Errorf("state:\n%s\nthe model's is\n%s", log.state, m.committed.json())
	}
	if d.m == nil {
		return leftovers(store)
	}
	for k := range m.runs { // E17: what has a result is not run again
		if d.w.runs[k] != m.runs[k] {
			return fmt.Errorf("the node of task %s was started %d times, in the model %d", k, d.w.runs[k], m.runs[k])
		}
	}
	return leftovers(store)
}

// leftovers reports questions that are open or unused after the end.
func leftovers(store checkpoint.Store) error {
	for _, st := range []checkpoint.QuestionState{checkpoint.Open, checkpoint.Answered} {
		qs, err := store.Questions(context.Background(), checkpoint.QuestionFilter{State: st})
		if err != nil {
			return err
		}
		if len(qs) > 0 {
			return fmt.Errorf("%d questions in state %v are left after the end; the first: %s", len(qs), st, qs[0].Body)
		}
	}
	return nil
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "(nothing)"
}

var errDead = errors.New("the process is dead")

// finish drives a thread from whatever state it is in to its end. It returns errDead if the store dies.
func (d *driver) finish(dead func() bool) error {
	ctx := context.Background()
	if _, err := d.app.Recover(ctx); err != nil && !dead() { // E61: it is enough, or people are needed
		return err
	}
	for range 1000 {
		st, err := d.app.State(ctx, thread)
		switch {
		case dead():
			return errDead
		case errors.Is(err, graph.ErrNoThread):
			_, err = d.app.Run(ctx, thread, d.input)
		case err != nil:
			return err
		case st.Status == checkpoint.Completed:
			return nil
		default:
			d.mend()
			_, err = d.app.Resume(ctx, thread, d.replies(st.Questions)...)
		}
		if dead() {
			return errDead
		}
		if _, bad := d.outcome(err); bad != nil && !dead() {
			return bad
		}
	}
	return errors.New("it does not end")
}

// A mortal store fails for ever from its n-th call on, which is executed or not.
type mortal struct {
	*faultstore.Store
	gone atomic.Bool
}

func newMortal(inner checkpoint.Store, n int, executed bool) *mortal {
	m := &mortal{Store: faultstore.New(inner)}
	m.Before = func(c *faultstore.Call) error {
		if c.N >= n && !executed || c.N > n {
			m.gone.Store(true)
		}
		if m.gone.Load() {
			return checkpoint.ErrClosed // known to the engine as final, so that it does not wait for better times
		}
		return nil
	}
	m.After = func(c *faultstore.Call) error {
		if c.N == n {
			m.gone.Store(true)
			return checkpoint.ErrClosed
		}
		return c.Err
	}
	return m
}

// killed runs a thread through processes that die at random calls of the store. It returns how many died.
func killed(s *spec, store checkpoint.Store, mode graph.Durability, m *model, round uint64) (int, error) {
	d := &driver{s: s, w: newWorld(), rng: rand.New(rand.NewPCG(s.Seed, round))}
	for life := 0; ; life++ {
		n := 1 + d.rng.IntN(15)
		if life > 40 {
			n = 1 << 30
		}
		mo := newMortal(store, n, d.rng.IntN(2) == 0)
		d.store, d.app = mo, compile(s, d.w, mo, mode)
		err := d.finish(mo.gone.Load)
		d.app.Close(context.Background())
		if err == nil {
			return life, d.compare(m, store)
		}
		if err != errDead {
			return life, fmt.Errorf("life %d: %w", life, err)
		}
	}
}

// A tape keeps the writes that a store has done, each of them atomic.
type tape struct {
	mu    sync.Mutex
	calls []faultstore.Call
}

func (t *tape) record(inner checkpoint.Store) *faultstore.Store {
	s := faultstore.New(inner)
	s.After = func(c *faultstore.Call) error {
		if c.Err == nil && (c.Append != nil || c.Acquire != nil || c.Answers != nil) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.calls = append(t.calls, *c)
		}
		return c.Err
	}
	return s
}

// play does the first n writes again on a fresh store.
func (t *tape) play(n int) (checkpoint.Store, error) {
	store := newStore()
	ctx := context.Background()
	for _, c := range t.calls[:n] {
		var err error
		switch {
		case c.Append != nil:
			_, err = store.Append(ctx, c.Append)
		case c.Acquire != nil:
			_, err = store.Acquire(ctx, c.Acquire)
		default:
			_, err = store.Answer(ctx, threadKey, c.Answers)
		}
		if err != nil {
			return nil, fmt.Errorf("playing write %d of %d: %w", c.N, n, err)
		}
	}
	return store, nil
}

// cut resumes a thread from a prefix of its writes, in a new process that knows only what the log says and what has
// happened outside.
func cut(s *spec, t *tape, n int, m *model, before *world) error {
	store, err := t.play(n)
	if err != nil {
		return err
	}
	d := &driver{s: s, w: newWorld(), rng: rand.New(rand.NewPCG(s.Seed, uint64(n))), store: store}
	d.w.keys, d.w.args = before.keys, before.args
	if err := recordedEffects(store, d.w); err != nil {
		return err
	}
	d.app = compile(s, d.w, store, graph.Sync)
	defer d.app.Close(context.Background())
	if err := d.finish(func() bool { return false }); err != nil {
		return err
	}
	return d.compare(m, store)
}
