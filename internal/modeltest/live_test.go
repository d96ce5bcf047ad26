package modeltest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/state"
)

// State has every kind of field that is stored.
type State struct {
	Last   state.Last[string]          `json:"last"`
	List   state.List[string]          `json:"list"`
	Keyed  state.Keyed[item]           `json:"keyed"`
	Map    state.Map[string, int]      `json:"map"`
	Pairs  state.Map[int, string]      `json:"pairs"`
	Set    state.Set[string]           `json:"set"`
	Sum    state.Sum[int]              `json:"sum"`
	Fold   state.Fold[uint64, reducer] `json:"fold"`
	Eph    state.Ephemeral[string]     `json:"eph"`
	Visits state.Sum[int]              `json:"visits"`
}

type reducer struct{}

func (reducer) Reduce(acc, w uint64) (uint64, error) { return reduce(acc, w), nil }

// do is plain.apply on the engine's view.
func (s *State) do(w write) {
	switch w.field {
	case fLast:
		s.Last.Set(w.text)
	case fList:
		switch w.verb {
		case vPut:
			s.List.Append(w.text)
		case vRemove:
			s.List.Append(w.text, w.key)
		default:
			s.List.Replace(w.text)
		}
	case fKeyed:
		switch w.verb {
		case vPut:
			s.Keyed.Put(item{w.key, w.text})
		case vRemove:
			s.Keyed.Remove(w.key)
		default:
			s.Keyed.Replace(item{w.key, w.text})
		}
	case fMap:
		doMap(&s.Map, w, w.key, w.n)
	case fPairs:
		doMap(&s.Pairs, w, w.n%5, w.text)
	case fSet:
		switch w.verb {
		case vPut:
			s.Set.Add(w.key)
		case vRemove:
			s.Set.Remove(w.key)
		default:
			s.Set.Clear()
		}
	case fSum:
		if w.verb == vReplace {
			s.Sum.Replace(w.n)
		} else {
			s.Sum.Add(w.n)
		}
	case fFold:
		if w.verb == vReplace {
			s.Fold.Replace(uint64(w.n))
		} else {
			s.Fold.Put(uint64(w.n))
		}
	case fEph:
		s.Eph.Set(w.text)
	case fVisits:
		s.Visits.Add(1)
	}
}

func doMap[K comparable, V any](m *state.Map[K, V], w write, k K, v V) {
	switch {
	case w.verb == vPut:
		m.Put(k, v)
	case w.verb == vRemove:
		m.Delete(k)
	case w.n%2 == 1:
		m.Clear()
	default:
		m.Replace(map[K]V{k: v})
	}
}

// plain reads all fields.
func (s *State) plain() *plain {
	p := newPlain()
	p.last, p.hasLast = s.Last.Get(), s.Last.Has()
	p.eph, p.hasEph = s.Eph.Get()
	p.list, p.keyed = s.List.Slice(), s.Keyed.Slice()
	maps.Insert(p.mapped, s.Map.All())
	maps.Insert(p.pairs, s.Pairs.All())
	for k := range s.Set.All() {
		p.set[k] = true
	}
	p.sum, p.fold, p.visits = s.Sum.Get(), s.Fold.Get(), s.Visits.Get()
	return p
}

// A world is what lies outside of the process: it survives every crash.
type world struct {
	mu       sync.Mutex
	mended   map[string]bool
	yielding map[string]bool
	failing  map[string]bool // hard failures that were seen
	runs     map[string]int
	settled  map[string]bool      // effects whose Once has returned, or whose record is in the log
	keys     map[string]string    // idempotency keys
	args     map[string]*argument // by task id: routes and handlers are not given them
	wrong    []string
}

func newWorld() *world {
	return &world{
		mended: map[string]bool{}, yielding: map[string]bool{}, failing: map[string]bool{}, runs: map[string]int{},
		settled: map[string]bool{}, keys: map[string]string{}, args: map[string]*argument{},
	}
}

func (w *world) is(m map[string]bool, k string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return m[k]
}

func (w *world) note(m map[string]bool, k string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m[k] = true
}

// effect notes that an effect happens.
func (w *world) effect(id, key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.settled[id] { // E23
		w.wrong = append(w.wrong, "effect "+id+" happens again although it was recorded")
	}
	if old := w.keys[id]; old != "" && old != key { // E23
		w.wrong = append(w.wrong, "effect "+id+" has another idempotency key than before")
	}
	w.keys[id] = key
}

// A liveEnv is a task's view in the engine.
type liveEnv struct {
	ctx  context.Context
	s    *State
	w    *world
	k    string
	info graph.RunInfo
}

func newLiveEnv(ctx context.Context, s *State, w *world, arg *argument) *liveEnv {
	info, ok := graph.Info(ctx)
	if !ok {
		panic("a node without facts")
	}
	return &liveEnv{ctx, s, w, taskKey(info.Step, info.Node, arg.text()), info}
}

func (e *liveEnv) key() string    { return e.k }
func (e *liveEnv) attempt() int   { return e.info.Attempt }
func (e *liveEnv) read() *plain   { return e.s.plain() }
func (e *liveEnv) do(w write)     { e.s.do(w) }
func (e *liveEnv) yielding() bool { return e.w.is(e.w.yielding, e.k) }

func (e *liveEnv) mended() bool {
	if e.w.is(e.w.mended, e.k) {
		return true
	}
	e.w.note(e.w.failing, e.k)
	return false
}

func (e *liveEnv) ask(label string, _ int, prompt string) (int, error) {
	return graph.Ask[int](e.ctx, label, prompt)
}

func (e *liveEnv) once(label string, ordinal int, fn func() (int, error)) (int, error) {
	id := fmt.Sprint(e.info.Task, "/", label, "/", ordinal)
	v, err := graph.Once(e.ctx, label, func(_ context.Context, key string) (int, error) {
		e.w.effect(id, key)
		return fn()
	})
	if err == nil {
		e.w.note(e.w.settled, id)
	}
	return v, err
}

func argOf(ctx context.Context, w *world) *argument {
	info, _ := graph.Info(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.args[info.Task]
}

// build makes the graph that a spec describes.
func build(s *spec, w *world) *graph.Graph[State] {
	g := graph.New[State]("random")
	senders := map[int]graph.Sender[argument]{}
	next := func(c choice) graph.Next {
		var to []string
		for _, i := range c.to {
			to = append(to, name(i))
		}
		n := graph.To(to...)
		for _, s := range c.sends {
			n = n.And(senders[s.to].Send(s.arg))
		}
		return n
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		body := func(ctx context.Context, st *State, arg *argument) error {
			e := newLiveEnv(ctx, st, w, arg)
			w.mu.Lock()
			w.runs[e.k]++
			w.args[e.info.Task] = arg
			w.mu.Unlock()
			return n.run(s, e, arg)
		}
		switch {
		case n.Each:
			senders[i] = graph.Each(g, name(i), func(ctx context.Context, st *State, arg argument) error { return body(ctx, st, &arg) })
		case n.Branch:
			g.Branch(name(i), func(ctx context.Context, st *State) (graph.Next, error) {
				if err := body(ctx, st, nil); err != nil {
					return graph.Next{}, err
				}
				return next(n.Goto.choose(s, st.plain(), newLiveEnv(ctx, st, w, nil).k, i, 80)), nil
			}, targets(n.Goto)...)
		default:
			g.Node(name(i), func(ctx context.Context, st *State) error { return body(ctx, st, nil) })
		}
		g.Policy(name(i), graph.Policy{Attempts: n.Attempts, Backoff: time.Nanosecond, MaxBackoff: time.Nanosecond, Deferred: n.Deferred})
		if n.Handler != nil {
			buildHandler(g, s, w, i, next)
		}
	}
	for i := range s.Nodes {
		buildExits(g, s, w, name(i), i, &s.Nodes[i].Out, &s.Nodes[i].Fail, next)
	}
	buildExits(g, s, w, graph.Start, -1, &s.Start, nil, next)
	for _, j := range s.Joins {
		g.Join([]string{name(j.From[0]), name(j.From[1])}, name(j.To))
	}
	return g
}

func buildHandler(g *graph.Graph[State], s *spec, w *world, i int, next func(choice) graph.Next) {
	h := s.Nodes[i].Handler
	g.Handle(name(i), func(ctx context.Context, st *State, cause error) (graph.Next, error) {
		e := newLiveEnv(ctx, st, w, argOf(ctx, w))
		if err := h.run(s, e, cause); err != nil || len(h.Goto.Targets) == 0 {
			return graph.Next{}, err
		}
		return next(h.Goto.choose(s, st.plain(), e.k, i, 90)), nil
	}, targets(h.Goto)...)
}

func buildExits(g *graph.Graph[State], s *spec, w *world, from string, i int, out *exits, fail *failSpec, next func(choice) graph.Next) {
	for _, to := range out.Edges {
		g.Edge(from, name(to))
	}
	for k := range out.Routes {
		r := &out.Routes[k]
		g.Route(from, func(ctx context.Context, st *State) (graph.Next, error) {
			e := &liveEnv{k: "0/start/"}
			if i >= 0 {
				e = newLiveEnv(ctx, st, w, argOf(ctx, w))
				if err := fail.fail(e, inRoute); err != nil {
					return graph.Next{}, err
				}
			}
			return next(r.choose(s, st.plain(), e.k, i, k)), nil
		}, targets(*r)...)
	}
}

// targets are the declared targets of a route: those it knows, and the end for when it finds no other way.
func targets(r routeSpec) (names []string) {
	for _, i := range r.Targets {
		names = append(names, name(i))
	}
	if len(names) > 0 {
		names = append(names, graph.End)
	}
	return names
}

const patience = 10 * time.Second

func compile(s *spec, w *world, store checkpoint.Store, d graph.Durability) *graph.App[State] {
	app, err := build(s, w).Compile(graph.Options{Store: store, MaxConcurrency: s.Parallel, StepLimit: s.Limit, Durability: d, StorePatience: patience})
	if err != nil {
		panic(err)
	}
	return app
}

// failures collects the planned failures of an error.
func failures(err error) (keys []string) {
	switch u := err.(type) {
	case *scriptError:
		return []string{u.key}
	case *graph.NodeError:
		if p, ok := errors.AsType[*graph.PanicError](u.Err); ok {
			return []string{p.Value[len("planned in "):]}
		}
		return failures(u.Err)
	case *graph.Interrupted:
		return failures(u.Err)
	case interface{ Unwrap() []error }:
		for _, e := range u.Unwrap() {
			keys = append(keys, failures(e)...)
		}
	case interface{ Unwrap() error }:
		return failures(u.Unwrap())
	}
	slices.Sort(keys)
	return keys
}
