package graph

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/record"
)

// A caching says under which key a node's results are kept, and for how long.
type caching struct {
	node    string
	argType string // of a node that takes an argument
	ttl     time.Duration
	key     func(ctx context.Context, view, arg any) (string, error)
}

// Cache keeps the results of a node for a while: a task of it whose key is that of an earlier one, of whatever thread of the
// tenant, takes that one's writes and routing instead of running. The key is made of what the node and its routes read; what they
// read beside it is as it was then. It must not write; an error of it fails the attempt.
//
// Only results of committed supersteps are kept, and none of a task that failed, waited, was cancelled or was handled, or that used Ask, Once, Call
// or an Untracked field: an answer and an effect belong to one task. A changed graph (its fingerprint) or another node begins
// anew, and so does what no longer fits. What the node emitted is not emitted again. Entries, EntryInfo and events mark what came
// from the cache; in a thread's log it is a result like any other, so that going on, forking and history never ask the cache.
//
// Options.Cache says where. Each task reads once, each result writes once, after its superstep and before the next; a cache
// that does not answer within two seconds is done without.
func (g *Graph[S]) Cache(node string, ttl time.Duration, key func(ctx context.Context, s *S) (string, error)) {
	if key == nil {
		g.mistake("cache of %s: a key function is needed", node)
	}
	g.caches = append(g.caches, &caching{node: node, ttl: ttl, key: func(ctx context.Context, view, _ any) (string, error) { return key(ctx, view.(*S)) }})
}

// CacheEach is Graph.Cache for a node that takes an argument. The key has to tell arguments apart.
func CacheEach[S, T any](g *Graph[S], node string, ttl time.Duration, key func(ctx context.Context, s *S, arg T) (string, error)) {
	if key == nil {
		g.mistake("cache of %s: a key function is needed", node)
	}
	g.caches = append(g.caches, &caching{
		node: node, argType: fmt.Sprintf("%T", *new(T)), ttl: ttl,
		key: func(ctx context.Context, view, arg any) (string, error) { return key(ctx, view.(*S), arg.(T)) },
	})
}

// wireCaches gives nodes their caches.
func (g *Graph[S]) wireCaches(p *plan, mistake func(string, ...any)) {
	for _, c := range g.caches {
		switch n := p.index[c.node]; {
		case n == nil:
			mistake("cache: there is no node %q", c.node)
		case n.cache != nil:
			mistake("cache of %s: it has one already", c.node)
		case n.mount != nil:
			mistake("cache of %s: it is a graph; cache nodes of it", c.node)
		case n.argType != c.argType:
			mistake("cache of %s: the node takes an argument of type %q, its key %q; use Graph.Cache without, CacheEach with one", c.node, n.argType, c.argType)
		case c.ttl < time.Millisecond:
			mistake("cache of %s: it needs a time to live of at least a millisecond", c.node)
		default:
			n.cache = c
		}
	}
}

// cacheOf is where results are kept.
func cacheOf(o *Options) checkpoint.Cache {
	if o.Cache != nil {
		return o.Cache
	}
	if c, ok := o.Store.(checkpoint.Cache); ok {
		return c
	}
	return new(checkpoint.Memory)
}

// cacheTime is how long a task waits for a cache.
const cacheTime = 2 * time.Second

// recall takes the result of an earlier task, if there is one that fits. Otherwise it notes where this one's belongs.
func (c *call) recall(arg any) (hit bool, err error) {
	t, p := c.t, c.t.r.plan
	view := p.ops.view(t.head)
	name, err := t.node.cache.key(c, view, arg)
	if err != nil {
		return false, fmt.Errorf("cache key: %w", err)
	}
	if f := p.ops.wrote(view); f != "" {
		return false, &RouteError{t.node.name, "", "the key of its cache wrote field " + f + "; only nodes write"}
	}
	k := checkpoint.CacheKey{Tenant: cmp.Or(t.r.key.Tenant, SingleTenant), Hash: hashParts("holdfast.cache.1", p.id.Name, p.id.Fingerprint, t.node.name, name)}
	c.own().slot = &k
	var body []byte
	err = within(c, cacheTime, func(ctx context.Context) (err error) {
		body, err = t.r.c.cache.CacheGet(ctx, k)
		return err
	})
	if err != nil {
		t.note("cache", "err", err)
	}
	return body != nil && err == nil && c.accept(body), nil
}

// accept takes a result from the cache. One that this graph could not have made is as good as none.
func (c *call) accept(body []byte) bool {
	t, p := c.t, c.t.r.plan
	var d record.Done
	if record.Decode(checkpoint.Record{Kind: checkpoint.KindResult, Body: body}, &d) != nil || d.Node != t.node.name {
		return false
	}
	view, err := p.ops.decode(d.Writes)
	if err != nil || p.leads(t.node, &d) != nil {
		return false
	}
	c.view, c.writes, c.to, c.own().cached = view, d.Writes, d.To, true
	for _, s := range d.Sends {
		c.sends = append(c.sends, send{s.Node, s.Arg, s.Time})
	}
	return true
}

// leads returns an error unless the targets of a result are among those of the node.
func (p *plan) leads(n *node, d *record.Done) error {
	declared := slices.Concat(n.edges, n.targets)
	for _, r := range n.routes {
		declared = append(declared, r.targets...)
	}
	for _, to := range d.To {
		if err := p.checkTarget(n.name, to, declared); err != nil {
			return err
		}
		if m := p.index[to]; m != nil && m.arg != nil {
			return &RouteError{n.name, to, "the node takes an argument"}
		}
	}
	for _, s := range d.Sends {
		if err := p.checkTarget(n.name, s.Node, declared); err != nil {
			return err
		}
		m := p.index[s.Node]
		if m == nil || m.arg == nil {
			return &RouteError{n.name, s.Node, "the node takes no argument"}
		}
		if _, err := m.arg(s.Arg); err != nil {
			return err
		}
	}
	return nil
}

// ownOnly forgets the place in the cache of a result that is not made of what its key tells: what it wrote is not all stored, or
// it was made to return.
func (c *call) ownOnly(view any) {
	if c.t.ctx.Err() != nil || c.t.r.plan.ops.wroteUnstored(view) != "" {
		c.own().slot = nil
	}
}

// keepable reports whether the result of a task of a committed superstep goes into the cache.
func (t *task) keepable() bool {
	c := t.out
	return c.slot != nil && !c.cached && c.names == nil && len(c.up) == 0
}

// remember puts the results of a committed superstep into the cache. Nothing depends on it, so an error is logged.
func (r *run) remember(ran []*task) {
	if slices.ContainsFunc(ran, (*task).keepable) {
		r.rememberAll(ran)
	}
}

func (r *run) rememberAll(ran []*task) {
	var puts sync.WaitGroup
	for _, t := range ran {
		if t.keepable() {
			puts.Go(func() { r.rememberOne(t) })
		}
	}
	puts.Wait()
}

func (r *run) rememberOne(t *task) {
	d := t.result()
	body, err := record.Encode(&record.Done{Node: d.Node, Writes: d.Writes, To: d.To, Sends: d.Sends})
	if err == nil {
		err = within(detached(r.ctx), cacheTime, func(ctx context.Context) error {
			return r.c.cache.CachePut(ctx, *t.out.slot, body, t.node.cache.ttl)
		})
	}
	if err != nil {
		t.note("cache", "err", err)
	}
}
