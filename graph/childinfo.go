package graph

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/record"
	"github.com/holdfast-go/holdfast/state"
)

// A ChildInfo is a child graph of a thread, at the same moment as the thread.
type ChildInfo struct {
	Path   []string        `json:"path"`            // names of the calls that lead to it, as in events and questions
	In     []string        `json:"in"`              // what it is known by: its namespace in the thread's log
	Graph  string          `json:"graph"`           // its name, version and fingerprint
	Entry  int64           `json:"entry"`           // position of its last entry
	Next   []TaskInfo      `json:"next,omitzero"`   // scheduled in it
	Reason string          `json:"reason,omitzero"` // why it stopped, if it did
	Error  string          `json:"error,omitzero"`
	State  json.RawMessage `json:"state"`

	raw *state.Raw
}

// ChildState is the state of a child graph, as its own type.
func ChildState[C any](c ChildInfo) (*C, error) {
	schema, err := state.Of[C]()
	if err != nil {
		return nil, err
	}
	head, err := schema.Restore(c.raw)
	if err != nil {
		return nil, err
	}
	return schema.View(head), nil
}

// Children lists every child graph of which the thread's branch still has records, also of calls that have ended. It is one read for each.
func (a *App[S]) Children(ctx context.Context, thread Thread) ([]ChildInfo, error) {
	return a.c.allChildren(ctx, thread)
}

// ChildHistory is History of one child graph, which ChildInfo.In names. Fork goes to one of its entries with ForkOptions.Child.
func (a *App[S]) ChildHistory(ctx context.Context, thread Thread, in []string) iter.Seq2[EntryInfo, error] {
	return a.c.historyIn(ctx, thread, checkpoint.NamespaceOf(in...))
}

// A childChain is a child graph's chain, folded up to some moment.
type childChain struct {
	ns  checkpoint.Namespace
	log *record.Thread
}

// needed reports whether a chain belongs to something that its parent has scheduled, or is kept for the thread. A parent that is not
// needed itself has no log.
func needed(in []string, parent *record.Thread) bool {
	if parent == nil {
		return false
	}
	task, called := strings.CutPrefix(in[len(in)-1], "t")
	task, _, _ = strings.Cut(task, "/")
	return !called || slices.ContainsFunc(parent.Next, func(t record.Task) bool { return t.ID == task })
}

// childrenAt folds the child graphs that belong to what was scheduled, or are kept for the thread, up to a place in the order of the
// thread; 0 is now. The root's fold is given. They come in the order of their namespaces, parents first.
func (c *core) childrenAt(ctx context.Context, root checkpoint.Chain, at *record.Thread, ord int64) (out []childChain, err error) {
	chains, err := c.store.Chains(ctx, root.Key, root.Branch)
	if err != nil {
		return nil, err
	}
	logs := map[checkpoint.Namespace]*record.Thread{"": at}
	for _, last := range chains {
		in, err := last.Namespace.Segments()
		if err != nil {
			return nil, err
		}
		if len(in) == 0 || !needed(in, logs[checkpoint.NamespaceOf(in[:len(in)-1]...)]) {
			continue
		}
		chain := root
		chain.Namespace = last.Namespace
		log, err := c.foldUntil(ctx, chain, ord)
		if err != nil {
			return nil, err
		}
		if log != nil {
			logs[last.Namespace] = log
			out = append(out, childChain{last.Namespace, log})
		}
	}
	return out, nil
}

// foldUntil folds a chain up to a place in the order of the thread. A chain that begins later is nil.
func (c *core) foldUntil(ctx context.Context, chain checkpoint.Chain, ord int64) (*record.Thread, error) {
	last, err := c.store.Read(ctx, checkpoint.Query{Chain: chain, To: -1, MaxOrd: ord, Limit: 1, Newest: true, NoBody: true})
	if err != nil || len(last) == 0 {
		return nil, err
	}
	recs, err := c.store.Read(ctx, checkpoint.Query{Chain: chain, From: last[0].Base, To: last[0].Pos})
	if err != nil {
		return nil, err
	}
	if len(recs) == 0 || recs[0].Pos != last[0].Base {
		return nil, fmt.Errorf("%w: child %q of thread %s", checkpoint.ErrPruned, chain.Namespace, chain.Thread)
	}
	return record.Fold(recs)
}

// childrenOf describes the child graphs of a thread at the moment of a fold; with questions that is now. It reads nothing where there
// can be none.
func (c *core) childrenOf(ctx context.Context, root checkpoint.Chain, log *record.Thread, qs []checkpoint.Question) ([]ChildInfo, error) {
	if len(log.Next) == 0 && !c.plan.remembers() && !c.bare() {
		return nil, nil
	}
	ord := momentOf(log)
	if qs != nil {
		ord = 0
	}
	chains, err := c.childrenAt(ctx, root, log, ord)
	if err != nil {
		return nil, err
	}
	return c.plan.describe(log, chains, qs)
}

// remembers reports whether a mounted graph has a memory of the thread.
func (p *plan) remembers() bool {
	return slices.ContainsFunc(p.nodes, func(n *node) bool {
		return n.mount != nil && (n.mount.memory == PerThread || n.mount.plan.remembers())
	})
}

func (c *core) allChildren(ctx context.Context, th Thread) ([]ChildInfo, error) {
	if c.store == nil {
		return nil, ErrNoStore
	}
	l, err := c.loadOf(ctx, th)
	if err != nil {
		return nil, err
	}
	if l.Head.Epoch == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNoThread, th)
	}
	root := checkpoint.Chain{Key: th.key(), Branch: l.Branch}
	chains, err := c.store.Chains(ctx, root.Key, root.Branch)
	if err != nil {
		return nil, err
	}
	var all []childChain
	for _, last := range chains {
		if root.Namespace = last.Namespace; root.Namespace == "" {
			continue
		}
		log, err := c.foldUntil(ctx, root, 0)
		if err != nil {
			return nil, err
		}
		if log != nil {
			all = append(all, childChain{last.Namespace, log})
		}
	}
	return c.plan.describe(l.log, all, l.Questions)
}

// describe makes child graphs readable. Their paths come from the tasks that call them, where those are still scheduled.
func (p *plan) describe(root *record.Thread, chains []childChain, qs []checkpoint.Question) (out []ChildInfo, err error) {
	type parent struct {
		path []string
		log  *record.Thread
		plan *plan
	}
	known := map[checkpoint.Namespace]parent{"": {nil, root, p}}
	for _, ch := range chains {
		in, err := ch.ns.Segments()
		if err != nil {
			return nil, err
		}
		up := known[checkpoint.NamespaceOf(in[:len(in)-1]...)]
		path, mounted := up.plan.callPath(in[len(in)-1], up.log, ch.log)
		me := parent{append(slices.Clip(up.path), path...), ch.log, mounted}
		known[ch.ns] = me
		if mounted != nil { // what it cannot migrate is shown as it is
			mounted.fit(&loaded{Loaded: &checkpoint.Loaded{}, log: ch.log}, ch.ns)
		}
		i := ChildInfo{Path: me.path, In: in, Graph: graphText(ch.log.Graph), Entry: ch.log.EntryPos, raw: ch.log.State}
		var hide []string
		if mounted != nil {
			hide = hidden(mounted.ops)
		}
		if i.State, err = ch.log.State.JSON(hide...); err != nil {
			return nil, err
		}
		if ch.log.Pause != nil {
			i.Reason, i.Error = ch.log.Pause.Reason, ch.log.Pause.Error
		}
		i.Next = tasksOf(ch.log, waitingIn(ch.ns, qs))
		out = append(out, i)
	}
	return out, nil
}

// callPath says what a call is named, and which graph it runs if that is mounted.
func (p *plan) callPath(segment string, up, child *record.Thread) (path []string, mounted *plan) {
	if name, ok := strings.CutPrefix(segment, "m"); ok {
		if n := p.byName(name); n != nil && n.mount != nil {
			mounted = n.mount.plan
		}
		return []string{name}, mounted
	}
	task, call, called := strings.Cut(strings.TrimPrefix(segment, "t"), "/")
	if call, _, _ = strings.Cut(call, "/"); call != "" {
		path = []string{call}
	}
	name := child.Graph.Name // the task is done: which node it was of is in an entry
	if up != nil {
		for _, t := range up.Next {
			if t.ID == task {
				name = t.Node
			}
		}
	}
	if n := p.byName(name); n != nil && n.mount != nil && !called {
		mounted = n.mount.plan
	}
	return append([]string{name}, path...), mounted
}

// byName is node for a plan that may be unknown.
func (p *plan) byName(name string) *node {
	if p == nil {
		return nil
	}
	return p.node(name)
}

// tasksOf lists what is scheduled. What waits is named by the segments of namespaces.
func tasksOf(log *record.Thread, waiting map[string]bool) (out []TaskInfo) {
	for _, t := range log.Next {
		i := TaskInfo{ID: t.ID, Node: t.Node, Arg: t.Arg, Deferred: t.Deferred, Waiting: waiting[perCall(t.ID, "", 0)] || waiting[perThread(t.Node)]}
		if r := log.Results[t.ID]; r != nil {
			i.Done, i.Error = r.Fail == "", r.Fail
		}
		out = append(out, i)
	}
	return out
}

// waitingIn are the tasks of one graph in which questions wait, their own or those of graphs that they call: the segments of
// namespaces below it.
func waitingIn(ns checkpoint.Namespace, qs []checkpoint.Question) map[string]bool {
	out := map[string]bool{}
	for _, q := range qs {
		rest, ok := strings.CutPrefix(string(q.Namespace), string(ns))
		in, err := checkpoint.Namespace(rest).Segments()
		switch {
		case q.State != checkpoint.Open || !ok || err != nil:
		case len(in) == 0:
			out[perCall(q.Task, "", 0)] = true
		default:
			segment, _, _ := strings.Cut(in[0], "/")
			out[segment] = true
		}
	}
	return out
}
