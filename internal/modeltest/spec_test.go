package modeltest_test

import (
	"pgregory.net/rapid"

	"github.com/holdfast-go/holdfast/graph"
)

// A spec is a random graph. Nodes are known by their index; end is the index of graph.End.
type spec struct {
	Nodes    []nodeSpec
	Start    exits
	Joins    []joinSpec
	Input    []op
	Visits   int // when so many tasks have run, routes lead forward only and send nothing
	Limit    int // supersteps of a call
	Parallel int
	Pad      int // bytes added to some values, so that snapshots come
	Seed     uint64
}

const end = -1

type nodeSpec struct {
	Each     bool         `json:",omitzero"`
	Branch   bool         `json:",omitzero"`
	Deferred bool         `json:",omitzero"`
	Ops      []op         `json:",omitzero"` // the second half runs after Once and Ask
	Out      exits        `json:",omitzero"`
	Goto     routeSpec    `json:",omitzero"` // of a branch
	Fail     failSpec     `json:",omitzero"`
	Handler  *handlerSpec `json:",omitzero"`
	Asks     int          `json:",omitzero"`
	Gather   bool         `json:",omitzero"` // ask all questions before returning
	SameName bool         `json:",omitzero"` // questions under one name: told apart by ordinals
	Onces    int          `json:",omitzero"`
	AskFirst bool         `json:",omitzero"`
	Attempts int
}

// exits are the ways out of a node that it does not choose itself.
type exits struct {
	Edges  []int       `json:",omitzero"`
	Routes []routeSpec `json:",omitzero"`
}

type routeSpec struct {
	Targets []int `json:",omitzero"`
}

type joinSpec struct {
	From []int
	To   int
}

type op struct{ Field, Verb, Key, Val int }

// The modes of failure.
const (
	failNever = iota
	failFlaky // the first Times attempts fail
	failHard  // until it is mended
	failAlways
	failModes
)

// The places of failure.
const (
	atBegin = iota
	inOnce
	atEnd
	inRoute
	failPlaces
)

type failSpec struct {
	Mode, Place, Times int
	Mod                uint64 // one task in so many fails
	Panic              bool
}

type handlerSpec struct {
	Ops  []op
	Goto routeSpec // empty: it returns the zero Next
	Ask  bool
}

// nodeNames sort in another order than they are declared in.
var nodeNames = []string{"m", "b10", "Z", "b9", "é", "a", "k"}

func name(i int) string {
	if i == end {
		return graph.End
	}
	return nodeNames[i]
}

var specs = rapid.Custom(func(t *rapid.T) *spec {
	d := drawer{t}
	s := &spec{
		Nodes: make([]nodeSpec, 2+d.n(6)), Visits: 4 + d.n(10), Limit: 50, Parallel: 1 + d.n(4), Seed: rapid.Uint64().Draw(t, "seed"),
	}
	if d.one(2) {
		s.Limit = 1 + d.n(9)
	}
	if d.one(3) {
		s.Pad = 1000 + d.n(2000)
	}
	s.Input = d.ops(4)
	for i := range s.Nodes {
		s.Nodes[i].Each = i > 0 && d.one(4)
	}
	for i := range s.Nodes {
		d.node(s, i)
	}
	for range d.n(3) {
		d.join(s)
	}
	s.Start = d.exits(s, -1)
	s.reach()
	return s
})

// A drawer draws parts of a spec.
type drawer struct{ t *rapid.T }

// n draws from 0 to n-1.
func (d drawer) n(n int) int { return rapid.IntRange(0, n-1).Draw(d.t, "n") }

// one is true once in k times.
func (d drawer) one(k int) bool { return d.n(k) == k-1 }

func (d drawer) ops(most int) (ops []op) {
	for range d.n(most + 1) {
		o := op{Field: d.n(fVisits), Key: d.n(4), Val: d.n(9)}
		if o.Field == fLast || o.Field == fEph { // rarer: two writers are a conflict
			o.Field = d.n(fVisits)
		}
		switch d.n(8) {
		case 5, 6:
			o.Verb = vRemove
		case 7:
			o.Verb = vReplace
		}
		ops = append(ops, o)
	}
	return ops
}

func (d drawer) node(s *spec, i int) {
	n := &s.Nodes[i]
	n.Ops = d.ops(5)
	n.Deferred = !n.Each && d.one(7)
	n.Out = d.exits(s, i)
	if !n.Each && d.one(4) {
		n.Branch = true
		n.Goto = d.route(s)
	}
	n.Attempts = 1
	if d.one(3) {
		n.Fail = failSpec{Mode: 1 + d.n(failModes-1), Place: d.n(failPlaces), Times: 1 + d.n(2), Mod: uint64(1 + d.n(3)), Panic: d.one(3)}
		switch n.Fail.Mode {
		case failFlaky:
			n.Attempts, n.Fail.Panic = n.Fail.Times+1, false // a panic is not tried again (E18)
		case failHard:
			n.Attempts = 1 + d.n(2)
		case failAlways:
			n.Attempts = 1 + d.n(2)
			n.Handler = &handlerSpec{Ops: d.ops(3), Ask: d.one(4)}
			if d.one(2) {
				n.Handler.Goto = d.route(s)
			}
		}
		hopeless := n.Handler != nil && len(n.Handler.Goto.Targets) == 0 // the route would fail behind the handler as well
		if n.Fail.Place == inRoute && (len(n.Out.Routes) == 0 || hopeless) {
			n.Fail.Place = atEnd
		}
	}
	if d.one(4) {
		n.Asks, n.Gather, n.SameName = 1+d.n(3), d.one(2), d.one(3)
	}
	if d.one(3) || n.Fail.Place == inOnce {
		n.Onces = 1 + d.n(2)
	}
	n.AskFirst = d.one(2)
}

// exits draws plain edges, which lead forward only, and routes, which lead anywhere. A plain edge cannot lead to a node
// that takes an argument.
func (d drawer) exits(s *spec, from int) (e exits) {
	for range d.n(3) {
		to := from + 1 + d.n(len(s.Nodes)-from)
		if to == len(s.Nodes) {
			to = end
		}
		if to == end || !s.Nodes[to].Each {
			e.Edges = append(e.Edges, to)
		}
	}
	for range d.n(3) {
		e.Routes = append(e.Routes, d.route(s))
	}
	return e
}

func (d drawer) route(s *spec) (r routeSpec) {
	for range 1 + d.n(3) {
		r.Targets = append(r.Targets, d.n(len(s.Nodes)+1)-1)
	}
	return r
}

func (d drawer) join(s *spec) {
	to := d.n(len(s.Nodes))
	if to < 2 || s.Nodes[to].Each {
		return
	}
	a := d.n(to)
	b := d.n(to)
	if a == b {
		return
	}
	s.Joins = append(s.Joins, joinSpec{[]int{a, b}, to})
}

// reach makes every node reachable, by a route of Start to those that are not.
func (s *spec) reach() {
	seen := map[int]bool{}
	var visit func(list []int)
	visit = func(list []int) {
		for _, i := range list {
			if i == end || seen[i] {
				continue
			}
			seen[i] = true
			n := &s.Nodes[i]
			visit(n.Out.all())
			visit(n.Goto.Targets)
			if n.Handler != nil {
				visit(n.Handler.Goto.Targets)
			}
			for _, j := range s.Joins {
				if j.From[0] == i || j.From[1] == i {
					visit([]int{j.To})
				}
			}
		}
	}
	visit(s.Start.all())
	var r routeSpec
	for i := range s.Nodes {
		if !seen[i] {
			r.Targets = append(r.Targets, i)
			visit([]int{i})
		}
	}
	if len(r.Targets) > 0 || len(s.Start.all()) == 0 {
		r.Targets = append(r.Targets, end)
		s.Start.Routes = append(s.Start.Routes, r)
	}
}

func (e exits) all() (list []int) {
	list = append(list, e.Edges...)
	for _, r := range e.Routes {
		list = append(list, r.Targets...)
	}
	return list
}
