package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/record"
)

// A loaded thread: what the store said, folded.
type loaded struct {
	*checkpoint.Loaded
	log    *record.Thread
	head   any   // the state, if it need not be decoded; else nil
	move   *move // a migration that log has in it and the store has not; nil if there is none
	misfit error // why the thread cannot be migrated
}

func (c *core) load(ctx context.Context, key checkpoint.Key) (*loaded, error) {
	l, err := c.store.Load(ctx, key, checkpoint.Active, "")
	if err != nil {
		return nil, err
	}
	return c.plan.folded(l, "")
}

// loadToRun loads a thread for a new run of it.
func (c *core) loadToRun(ctx context.Context, key checkpoint.Key) (*loaded, error) {
	l, err := c.store.Load(ctx, key, checkpoint.Active, "")
	if err != nil {
		return nil, err
	}
	if k := c.warm.take(key, l); k != nil {
		return &loaded{Loaded: l, log: k.log, head: k.head}, nil
	}
	return c.plan.folded(l, "")
}

// folded folds what a store has said of a chain of this graph, and migrates it if an earlier version has written it.
func (p *plan) folded(l *checkpoint.Loaded, ns checkpoint.Namespace) (*loaded, error) {
	log, err := record.Fold(l.Records)
	if err != nil {
		return nil, err
	}
	out := &loaded{Loaded: l, log: log}
	p.fit(out, ns)
	return out, nil
}

// refuse says why a thread cannot be migrated; nil: it need not be, or is.
func (l *loaded) refuse(th Thread) error {
	if l.misfit == nil {
		return nil
	}
	return &IncompatibleError{Thread: th, Written: l.written(), Reasons: []string{l.misfit.Error()}}
}

// written names the graph that has written the thread.
func (l *loaded) written() string {
	if l.move != nil {
		return graphText(l.move.from)
	}
	return graphText(l.log.Graph)
}

// restore decodes a thread's state into the program's types.
func (c *core) restore(th Thread, log *record.Thread) (any, error) {
	return c.plan.restore(th, log)
}

func graphText(g record.Graph) string {
	return fmt.Sprintf("graph %s version %d (%s)", g.Name, g.Version, g.Fingerprint)
}

// compatible checks that this graph can continue what is scheduled.
func (c *core) compatible(th Thread, l *loaded) error { return l.fits(th, c.plan) }

// fits checks the same for the graph of any chain.
func (l *loaded) fits(th Thread, p *plan) error {
	if err := l.refuse(th); err != nil {
		return err
	}
	if reasons := p.misfits(l.log); len(reasons) > 0 {
		return &IncompatibleError{th, l.written(), reasons}
	}
	return nil
}

// misfits lists what keeps a graph from continuing what is scheduled.
func (p *plan) misfits(log *record.Thread) (reasons []string) {
	if len(log.Next) > 0 && log.Graph.Name != p.id.Name {
		reasons = append(reasons, fmt.Sprintf("it belongs to graph %q, this is %q", log.Graph.Name, p.id.Name))
	}
	for _, t := range log.Next {
		switch n := p.node(t.Node); {
		case n == nil:
			reasons = append(reasons, fmt.Sprintf("node %q is scheduled and this graph has none of that name; add it, or g.Alias(%q, newName)", t.Node, t.Node))
		case (n.arg != nil) != (t.Arg != nil):
			reasons = append(reasons, fmt.Sprintf("node %q is scheduled with argument=%t and this graph's takes argument=%t", t.Node, t.Arg != nil, n.arg != nil))
		}
	}
	for _, t := range log.Next {
		if res := log.Results[t.ID]; res != nil && res.Fail == "" {
			reasons = append(reasons, p.lacking(res)...)
		}
	}
	for _, j := range log.Joins {
		if !slices.ContainsFunc(p.joins, func(own *join) bool { return p.sameJoin(own, j) }) {
			reasons = append(reasons, fmt.Sprintf("the join %s -> %s is half filled and this graph has none like it", strings.Join(j.From, " + "), j.To))
		}
	}
	if _, err := p.ops.restore(log.State); err != nil {
		reasons = append(reasons, err.Error())
	}
	return reasons
}

// lacking lists what a recorded result leads to and this graph has not.
func (p *plan) lacking(res *record.Result) (reasons []string) {
	for _, to := range res.To {
		if n := p.node(to); to != End && (n == nil || n.arg != nil) {
			reasons = append(reasons, fmt.Sprintf("the result of node %q goes to %q, and this graph has no such node without an argument; add it, or g.Alias(%q, newName)", res.Node, to, to))
		}
	}
	for _, s := range res.Sends {
		if n := p.node(s.Node); n == nil || n.arg == nil {
			reasons = append(reasons, fmt.Sprintf("the result of node %q sends to %q, and this graph has no such node with an argument; add it, or g.Alias(%q, newName)", res.Node, s.Node, s.Node))
		}
	}
	return reasons
}

// present is the name of today of a recorded target.
func (p *plan) present(name string) string {
	if n := p.node(name); n != nil {
		return n.name
	}
	return name
}

// rebuild makes the open superstep's tasks from the log.
func (r *run) rebuild(l *loaded) {
	p := r.plan
	r.log = l.log
	if r.id != l.log.Run { // others may read it once the thread is held
		r.id = l.log.Run
	}
	r.step, r.startStep = l.log.EntryStep+1, l.log.Start
	if r.up == nil {
		r.starter = l.log.By
	}
	r.skipBreak = began(l.log) && r.shown(l.log)
	if r.ro.Durability == "" {
		r.mode = cmp.Or(Durability(l.log.Mode), r.mode)
	}
	r.current, r.deferred = nil, nil
	for _, s := range l.log.Next {
		step, index := splitTask(s.ID)
		n := p.node(s.Node)
		if n == nil { // only for a cancel: everything else has checked that the graph fits
			n = &node{name: s.Node}
		}
		t := &task{r: r, node: n, step: step, index: index, arg: s.Arg, time: s.Time, deferred: s.Deferred}
		t.name.Store(&s.ID)
		if s.Deferred {
			r.deferred = append(r.deferred, t)
			continue
		}
		r.current = append(r.current, t)
	}
	r.undefer()
	for _, t := range r.current {
		res := l.log.Results[t.id()]
		switch {
		case res != nil && res.Fail == "":
			t.phase, t.recorded = phaseEnd, true
		case res != nil && res.Handler:
			t.phase, t.marker, t.err, t.cause = phaseHandler, true, errors.New(res.Fail), errors.New(res.Fail)
			t.attempt = res.Attempt
			t.waiting = r.waitsFor(t)
		default:
			t.waiting = r.waitsFor(t)
		}
		if p := l.log.Pause; p != nil && slices.Contains(p.Held, t.id()) { // it is not only people that it waits for
			t.waiting = false
		}
	}
	r.joins = nil
	for _, j := range l.log.Joins {
		for i, pj := range p.joins {
			if p.sameJoin(pj, j) {
				for _, have := range j.Have {
					r.arrive(i, p.node(have).name)
				}
			}
		}
	}
}

// sameJoin reports whether a stored join is a join of this graph, under present or former names.
func (p *plan) sameJoin(j *join, stored record.Join) bool {
	same := func(name, old string) bool {
		n := p.node(old)
		return n != nil && n.name == name || name == End && old == End
	}
	return same(j.to, stored.To) && slices.EqualFunc(j.from, stored.From, same)
}

// began reports whether breakpoints before the open superstep have had their say.
func began(log *record.Thread) bool {
	if log.Pause != nil {
		return log.Pause.Begun || log.Pause.Reason == record.ReasonBreak
	}
	return log.Step > log.EntryStep
}

// decodeResults makes recorded results usable for the fold.
func (r *run) decodeResults() error {
	for _, t := range r.current {
		if !t.recorded {
			continue
		}
		res := r.log.Results[t.id()]
		view, err := r.plan.ops.decode(res.Writes)
		if err != nil {
			return &IncompatibleError{Thread: r.thread, Written: graphText(r.log.Graph), Reasons: []string{fmt.Sprintf("result of node %s: %v", t.node.name, err)}}
		}
		c := &t.first
		c.begin(t, 0, nil)
		c.view, c.writes, c.redirected = view, res.Writes, res.Instead
		if len(res.Answers)+len(res.Escape) > 0 {
			c.own().used, c.own().up = res.Answers, res.Escape
		}
		for _, to := range res.To {
			c.to = append(c.to, r.plan.present(to))
		}
		for _, s := range res.Sends {
			c.sends = append(c.sends, send{r.plan.present(s.Node), s.Arg, s.Time})
		}
		if res.Cached {
			c.own().cached = true
		}
		t.out, t.handled, t.attempt = c, res.Handled, res.Attempt
	}
	return nil
}
