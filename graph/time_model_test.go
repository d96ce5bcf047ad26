package graph_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// The program of the property test: a, then b, which may ask, then c. What it writes can be folded in any combination.
func timeApp(t testing.TB, store checkpoint.Store) *graph.App[notes] {
	g := graph.New[notes]("time")
	g.Node("a", func(_ context.Context, s *notes) error {
		s.Log.Append("a " + s.Value.Get())
		s.Said.Put("pad", pad(s.Total.Get()))
		return nil
	})
	g.Node("b", func(ctx context.Context, s *notes) error {
		said := "nothing"
		if asks(s.Value.Get()) {
			yes, err := graph.Ask[string](ctx, "q", "?")
			if err != nil {
				return err
			}
			said = yes
		}
		s.Log.Append("b " + said)
		s.Said.Put("b", said)
		return nil
	})
	g.Node("c", func(_ context.Context, s *notes) error { s.Total.Add(1); return nil })
	g.Edge(graph.Start, "a")
	g.Edge("a", "b")
	g.Edge("b", "c")
	g.Edge("c", graph.End)
	return compile(t, g, graph.Options{Store: store})
}

// pad is large enough for snapshots to come.
func pad(n int) string { return strings.Repeat(fmt.Sprint(n%10), 9000) }

func asks(value string) bool { return strings.HasPrefix(value, "?") }

// The model: every entry is a full copy of everything.
type (
	mState struct {
		log   []string
		value string
		total int
		said  map[string]string
	}
	mEffect func(*mState) // what a task wrote
	mTask   struct {
		node string
		done mEffect
	}
	mEntry struct {
		pos   int64
		state mState
		tasks []mTask
		may   bool // go: a retention allowed it
	}
	mBranch struct {
		name    string
		entries []mEntry
		state   mState
		tasks   []mTask
		over    bool
		records map[int64]string
	}
	mThread struct {
		id       graph.Thread
		branches []*mBranch
		active   int
	}
)

func (s mState) clone() mState {
	s.log, s.said = slices.Clone(s.log), maps.Clone(s.said)
	if s.said == nil {
		s.said = map[string]string{}
	}
	return s
}

func (s mState) String() string {
	return fmt.Sprintf("%q %q %d %v", s.log, s.value, s.total, s.said)
}

func plainNotes(n *notes) string {
	said := map[string]string{}
	for k, v := range n.Said.All() {
		said[k] = v
	}
	s := mState{log: append([]string{}, n.Log.Slice()...), value: n.Value.Get(), total: n.Total.Get(), said: said}
	return s.String()
}

var succ = map[string]string{graph.Start: "a", "a": "b", "b": "c"}

// run is what a node writes, seen from a state. answer is for b.
func (s mState) run(node, answer string) mEffect {
	switch node {
	case "a":
		line, p := "a "+s.value, pad(s.total)
		return func(s *mState) { s.log, s.said["pad"] = append(s.log, line), p }
	case "b":
		if !asks(s.value) {
			answer = "nothing"
		}
		return func(s *mState) { s.log, s.said["b"] = append(s.log, "b "+answer), answer }
	}
	return func(s *mState) { s.total++ }
}

// entry notes a full copy.
func (b *mBranch) entry() {
	b.entries = append(b.entries, mEntry{pos: -1, state: b.state.clone(), tasks: slices.Clone(b.tasks)})
	b.over = len(b.tasks) == 0
}

// commit folds the open superstep.
func (b *mBranch) commit() {
	b.state = b.state.clone()
	var next []string
	for _, t := range b.tasks {
		t.done(&b.state)
		if n := succ[t.node]; n != "" && !slices.Contains(next, n) {
			next = append(next, n)
		}
	}
	slices.Sort(next)
	b.tasks = nil
	for _, n := range next {
		b.tasks = append(b.tasks, mTask{node: n})
	}
	b.entry()
}

func (b *mBranch) begin(value string) {
	b.state = b.state.clone()
	b.state.value = value
	b.tasks = []mTask{{node: "a"}}
	b.entry()
}

// advance runs until the end, or until an answer is missing. It reports whether one is.
func (b *mBranch) advance(answer string) (waits bool) {
	b.tasks = slices.Clone(b.tasks)
	for len(b.tasks) > 0 {
		for i, t := range b.tasks {
			switch {
			case t.done != nil:
			case t.node == "b" && asks(b.state.value) && answer == "":
				waits = true
			default:
				b.tasks[i].done = b.state.run(t.node, answer)
			}
		}
		if waits {
			return true
		}
		answer = ""
		b.commit()
	}
	return false
}

// edit is an edit at the head. It reports whether it is ambiguous.
func (b *mBranch) edit(as, line string) (ambiguous bool) {
	write := func(s *mState) { s.log, s.said["edit"] = append(s.log, line), line }
	b.tasks = slices.Clone(b.tasks)
	var open []int
	for i, t := range b.tasks {
		if t.node == as {
			open = append(open, i)
		}
	}
	switch len(open) {
	default:
		return true
	case 1:
		b.tasks[open[0]].done = write
		if !slices.ContainsFunc(b.tasks, func(t mTask) bool { return t.done == nil }) {
			b.commit()
		}
	case 0:
		b.state = b.state.clone()
		write(&b.state)
		if n := succ[as]; n != "" && !slices.ContainsFunc(b.tasks, func(t mTask) bool { return t.node == n && t.done == nil }) {
			b.tasks = append(b.tasks, mTask{node: n})
		}
		b.entry()
	}
	return false
}

// branch begins a new branch with an entry, or with the head (entry nil), open results included.
func branchOf(name string, state mState, tasks []mTask) *mBranch {
	b := &mBranch{name: name, state: state.clone(), tasks: slices.Clone(tasks), records: map[int64]string{}}
	b.entry()
	return b
}

func (t *mThread) at(b *mBranch) graph.Thread {
	return graph.Thread{Tenant: t.id.Tenant, ID: t.id.ID, Branch: b.name}
}

func (t *mThread) head() *mBranch { return t.branches[t.active] }

// keep allows everything but the newest entries to go.
func (b *mBranch) keep(last int) {
	for i := range b.entries[:max(0, len(b.entries)-last)] {
		b.entries[i].may = true
	}
}
