package modeltest_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
)

// The fields of the state, in the order of their declaration.
const (
	fLast = iota
	fList
	fKeyed
	fMap
	fPairs
	fSet
	fSum
	fFold
	fEph
	fVisits
	fields
)

var fieldNames = [fields]string{"last", "list", "keyed", "map", "pairs", "set", "sum", "fold", "eph", "visits"}

// The verbs of a write.
const (
	vPut = iota
	vRemove
	vReplace
	verbs
)

// A write is one call of a field's method.
type write struct {
	field, verb int
	key, text   string
	n           int
}

// exclusive reports whether two tasks that do this in one superstep are a conflict.
func (w write) exclusive() bool {
	return w.field == fLast || w.field == fEph || w.replaces()
}

func (w write) replaces() bool {
	return w.verb == vReplace && w.field != fLast && w.field != fEph && w.field != fVisits
}

type item struct {
	K string `json:"k"`
	V string `json:"v"`
}

func (i item) Key() string { return i.K }

// A plain is a state as plain Go values: the model's own, and what a node reads through the engine's view.
type plain struct {
	last, eph       string
	hasLast, hasEph bool
	list            []string
	keyed           []item
	mapped          map[string]int
	pairs           map[int]string
	set             map[string]bool
	sum, visits     int
	fold            uint64
	shown           [fields]bool
}

func newPlain() *plain {
	return &plain{mapped: map[string]int{}, pairs: map[int]string{}, set: map[string]bool{}}
}

func (p *plain) clone() *plain {
	c := *p
	c.list, c.keyed = slices.Clone(p.list), slices.Clone(p.keyed)
	c.mapped, c.pairs, c.set = maps.Clone(p.mapped), maps.Clone(p.pairs), maps.Clone(p.set)
	return &c
}

// digest is a number made of everything that can be read.
func (p *plain) digest() uint64 {
	return hash(fmt.Sprint(p.last, p.hasLast, p.eph, p.hasEph, p.list, p.keyed, p.mapped, p.pairs, p.set, p.sum, p.visits, p.fold))
}

func hash(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	return x ^ x>>33
}

// reduce is the reducer of the fold: it depends on the order.
func reduce(acc, w uint64) uint64 { return acc*1000003 + w + 1 }

// apply does one write. It reports false if that is no write at all (E2: removing what is absent is a no-op).
func (p *plain) apply(w write) bool {
	switch w.field {
	case fLast:
		p.last, p.hasLast = w.text, true
	case fList:
		switch w.verb {
		case vPut:
			p.list = append(p.list, w.text)
		case vRemove:
			p.list = append(p.list, w.text, w.key)
		default:
			p.list = []string{w.text}
		}
	case fKeyed:
		if !p.applyKeyed(w) {
			return false
		}
	case fMap:
		if !applyMap(&p.mapped, w, w.key, w.n) {
			return false
		}
	case fPairs:
		if !applyMap(&p.pairs, w, w.n%5, w.text) {
			return false
		}
	case fSet:
		if w.n = 1; !applyMap(&p.set, w, w.key, true) {
			return false
		}
	case fSum:
		if w.verb == vReplace {
			p.sum = 0
		}
		p.sum += w.n
	case fFold:
		if w.verb == vReplace {
			p.fold = uint64(w.n)
		} else {
			p.fold = reduce(p.fold, uint64(w.n))
		}
	case fEph:
		p.eph, p.hasEph = w.text, true
	case fVisits:
		p.visits++
	}
	p.shown[w.field] = true
	return true
}

func (p *plain) applyKeyed(w write) bool {
	i := slices.IndexFunc(p.keyed, func(i item) bool { return i.K == w.key })
	switch {
	case w.verb == vReplace:
		p.keyed = []item{{w.key, w.text}}
	case w.verb == vRemove && i < 0:
		return false
	case w.verb == vRemove:
		p.keyed = slices.Delete(slices.Clone(p.keyed), i, i+1)
	case i >= 0:
		p.keyed = slices.Clone(p.keyed)
		p.keyed[i].V = w.text
	default:
		p.keyed = append(p.keyed, item{w.key, w.text})
	}
	return true
}

// applyMap puts, deletes, or replaces: with nothing if w.n is odd.
func applyMap[K comparable, V any](m *map[K]V, w write, k K, v V) bool {
	_, there := (*m)[k]
	switch {
	case w.verb == vReplace && w.n%2 == 1:
		*m = map[K]V{}
	case w.verb == vReplace:
		*m = map[K]V{k: v}
	case w.verb == vRemove && !there:
		return false
	case w.verb == vRemove:
		delete(*m, k)
	default:
		(*m)[k] = v
	}
	return true
}

// json is the one JSON form of a state: the fields that were ever written, in name order.
func (p *plain) json() string {
	pairs := [][]any{}
	for _, k := range slices.Sorted(maps.Keys(p.pairs)) {
		pairs = append(pairs, []any{k, p.pairs[k]})
	}
	values := [fields]any{
		p.last, orEmpty(p.list), orEmpty(p.keyed), p.mapped, pairs, orEmpty(slices.Sorted(maps.Keys(p.set))), p.sum, p.fold, p.eph, p.visits,
	}
	doc := map[string]any{}
	for f, v := range values {
		if p.shown[f] {
			doc[fieldNames[f]] = v
		}
	}
	b, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// A conflict is a set of tasks that cannot be folded together (E4).
type conflict struct {
	field int
	tasks []int
}

// fold merges the writes of a superstep's tasks in task order. It leaves p as it is.
func (p *plain) foldIn(tasks [][]write) (*plain, *conflict) {
	next := p.clone()
	next.eph, next.hasEph, next.shown[fEph] = "", false, false // E2: gone after the next superstep
	for f := range fields {
		var writers, replacers []int
		for i, ws := range tasks {
			if slices.ContainsFunc(ws, func(w write) bool { return w.field == f }) {
				writers = append(writers, i)
			}
			if slices.ContainsFunc(ws, func(w write) bool { return w.field == f && w.replaces() }) {
				replacers = append(replacers, i)
			}
		}
		if (f == fLast || f == fEph) && len(writers) > 1 {
			return nil, &conflict{f, writers}
		}
		if len(replacers) > 1 {
			return nil, &conflict{f, replacers}
		}
		if len(replacers) == 1 { // E2: it beats the other writes of the step
			writers = replacers
		}
		for _, i := range writers {
			for _, w := range tasks[i] {
				if w.field == f {
					next.apply(w)
				}
			}
		}
	}
	return next, nil
}
