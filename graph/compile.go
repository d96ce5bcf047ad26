package graph

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/internal/record"
	"github.com/holdfast-go/holdfast/state"
)

// A plan is a compiled graph: immutable, without any type of the user, shared by all runs.
type plan struct {
	id      record.Graph
	ops     ops
	nodes   []*node // by name
	index   map[string]*node
	joins   []*join
	start   *node // a pseudo node with the edges and routes of Start
	aliases map[string]string

	migrations map[int]migrator // by the version that they begin with
}

// Compile checks the graph and makes an App of it. All mistakes are reported at once. Later changes of the builder do
// not touch the App.
func (g *Graph[S]) Compile(o Options) (*App[S], error) {
	errs := slices.Clone(g.errs)
	schema, err := state.Of[S]()
	if err != nil {
		errs = append(errs, err)
	}
	p := &plan{index: map[string]*node{}, aliases: maps.Clone(g.aliases)}
	errs = append(errs, g.wire(p, &o)...)
	errs = append(errs, g.wireMigrations(p)...)
	errs = append(errs, o.check(p)...)
	if len(errs) > 0 {
		return nil, fmt.Errorf("graph %s: %w", g.name, errors.Join(errs...))
	}
	p.ops = typed[S]{schema}
	o.BreakBefore, o.BreakAfter = slices.Clone(o.BreakBefore), slices.Clone(o.BreakAfter)
	p.id = record.Graph{Name: g.name, Version: g.version, Fingerprint: p.fingerprint(g.name, g.version, schema.Fields())}
	return newApp[S](p, o), nil
}

// wire copies the builder's parts into the plan and checks every name.
func (g *Graph[S]) wire(p *plan, o *Options) (errs []error) {
	mistake := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for _, n := range g.nodes {
		c := *n
		c.policy = g.policies[n.name].or(o.Policy).or(defaultPolicy)
		p.nodes = append(p.nodes, &c)
		p.index[n.name] = &c
	}
	slices.SortStableFunc(p.nodes, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	p.start = &node{name: Start}
	source := func(what, name string) *node {
		if name == Start {
			return p.start
		}
		n := p.index[name]
		if n == nil {
			mistake("%s: there is no node %q", what, name)
		}
		return n
	}
	target := func(what, name string, plain bool) {
		switch n := p.index[name]; {
		case name == End:
		case n == nil:
			mistake("%s: there is no node %q", what, name)
		case plain && n.arg != nil:
			mistake("%s: node %s takes an argument of type %s: send to it with the sender that Each returned", what, name, n.argType)
		}
	}
	for _, e := range g.edges {
		what := fmt.Sprintf("edge %s -> %s", e[0], e[1])
		target(what, e[1], true)
		if n := source(what, e[0]); n != nil && !slices.Contains(n.edges, e[1]) {
			n.edges = append(n.edges, e[1])
		}
	}
	for _, r := range g.routes {
		what := "route of " + r.from
		for _, t := range r.targets {
			target(what, t, false)
		}
		if n := source(what, r.from); n != nil {
			n.routes = append(n.routes, r)
		}
	}
	for i, j := range g.joins {
		what := fmt.Sprintf("join %s -> %s", strings.Join(j.from, " + "), j.to)
		target(what, j.to, true)
		seen := map[string]bool{}
		for _, from := range j.from {
			if from == Start || seen[from] {
				mistake("%s: %s cannot be a source here", what, from)
				continue
			}
			seen[from] = true
			if n := source(what, from); n != nil {
				n.joins = append(n.joins, i)
			}
		}
	}
	p.joins = slices.Clone(g.joins)
	for _, n := range p.nodes {
		for _, t := range n.targets {
			target("branch "+n.name, t, false)
		}
		if n.policy.Deferred && n.arg != nil {
			mistake("node %s takes an argument and cannot be deferred", n.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.policies)) {
		if p.index[name] == nil {
			mistake("policy: there is no node %q", name)
		}
	}
	for _, old := range slices.Sorted(maps.Keys(g.aliases)) {
		to := g.aliases[old]
		if p.index[to] == nil || p.index[old] != nil {
			mistake("alias %q -> %q: the second must be a node and the first must not", old, to)
		}
		if p.keeps(to) {
			mistake("alias %q -> %q: what is mounted per thread keeps its memory under the name of its node", old, to)
		}
	}
	g.wireHandlers(p, mistake, target)
	g.wireCaches(p, mistake)
	if len(p.start.edges) == 0 && len(p.start.routes) == 0 {
		mistake("no entry: add g.Edge(graph.Start, ...)")
	} else {
		for _, name := range p.unreachable() {
			mistake("node %s is unreachable", name)
		}
	}
	return errs
}

func (g *Graph[S]) wireHandlers(p *plan, mistake func(string, ...any), target func(string, string, bool)) {
	for _, h := range g.handlers {
		for _, t := range h.targets {
			target("handler of "+h.node, t, false)
		}
		if h.node == All {
			continue
		}
		if n := p.index[h.node]; n != nil {
			n.handler = h
		} else {
			mistake("handler: there is no node %q", h.node)
		}
	}
	for _, h := range g.handlers {
		for _, n := range p.nodes {
			if h.node == All && n.handler == nil {
				n.handler = h
			}
		}
	}
}

// unreachable lists the nodes that no way from Start leads to, by name.
func (p *plan) unreachable() (names []string) {
	seen := map[string]bool{}
	var visit func(n *node)
	follow := func(targets []string) {
		for _, t := range targets {
			if n := p.index[t]; n != nil && !seen[t] {
				seen[t] = true
				visit(n)
			}
		}
	}
	visit = func(n *node) {
		follow(n.edges)
		follow(n.targets)
		for _, r := range n.routes {
			follow(r.targets)
		}
		for _, j := range n.joins {
			follow([]string{p.joins[j].to})
		}
		if n.handler != nil {
			follow(n.handler.targets)
		}
	}
	visit(p.start)
	for _, n := range p.nodes {
		if !seen[n.name] {
			names = append(names, n.name)
		}
	}
	return names
}

// fingerprint hashes what decides whether a thread fits: nodes, arguments, edges, joins, declared targets, fields.
func (p *plan) fingerprint(name string, version int, fields []state.Info) string {
	h := sha256.New()
	fmt.Fprintf(h, "graph %q %d\n", name, version)
	for _, n := range append([]*node{p.start}, p.nodes...) {
		fmt.Fprintf(h, "node %q branch=%t arg=%t deferred=%t targets=%q edges=%q\n", n.name, n.branch, n.arg != nil, n.policy.Deferred, n.targets, n.edges)
		for _, r := range n.routes {
			fmt.Fprintf(h, "route %q\n", r.targets)
		}
		if n.handler != nil {
			fmt.Fprintf(h, "handler %q\n", n.handler.targets)
		}
		if n.mount != nil {
			fmt.Fprintf(h, "mount %q %q %s\n", n.mount.memory, n.mount.plan.id.Name, n.mount.plan.id.Fingerprint)
		}
	}
	for _, j := range p.joins {
		fmt.Fprintf(h, "join %q %q\n", j.from, j.to)
	}
	for _, f := range fields {
		if f.Persisted {
			fmt.Fprintf(h, "field %q %q\n", f.Name, f.Kind)
		}
	}
	io.WriteString(h, "end\n")
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func validName(name string) bool { return len(name) <= 128 && validText(name) }

func validText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// node finds a node by its present or former name.
func (p *plan) node(name string) *node {
	if n := p.index[name]; n != nil {
		return n
	}
	return p.index[p.aliases[name]]
}
