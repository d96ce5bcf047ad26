package graph

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/holdfast-go/holdfast/internal/record"
	"github.com/holdfast-go/holdfast/state"
)

// A Migration changes a thread that one version of a graph has written into what the next version goes on with: its state, and what
// is scheduled, recorded and asked in its open superstep. Its methods note mistakes and go on; a migration with mistakes is refused
// as a whole, with all of them. What a thread does not have is no mistake: the same migration is for every thread.
type Migration struct {
	keeps  func(node string) bool
	fields *state.Rework
	next   []record.Task
	joins  []record.Join
	done   map[string]*record.Result // of the open superstep, by task id; replaced, never changed in place
	spoilt map[string]string         // task id to a converted field that its result writes
	step   int64                     // of the last entry
	fresh  int                       // index of the next task that is scheduled
	errs   []error
}

func (m *Migration) mistake(format string, args ...any) {
	m.errs = append(m.errs, fmt.Errorf(format, args...))
}

// RenameField gives a field of the state another durable name, also where recorded results write it. Groups have dots in their
// names: "group.field". The tag `state:"alias=old"` does the same without a version.
func (m *Migration) RenameField(old, name string) {
	if err := m.fields.Rename(old, name); err != nil {
		m.errs = append(m.errs, err)
	}
	m.results(func(r *record.Result) bool {
		at := slices.IndexFunc(r.Writes, func(w state.Write) bool { return w.Field == old })
		if at < 0 || old == name {
			return false
		}
		if slices.ContainsFunc(r.Writes, func(w state.Write) bool { return w.Field == name }) {
			m.mistake("the result of node %s (task %s) writes both %s and %s", r.Node, r.ID, old, name)
		}
		r.Writes = slices.Clone(r.Writes)
		r.Writes[at].Field = name
		return true
	})
}

// DropField removes a field and its value from the state, and what recorded results write to it. Without it a field that the
// graph does not know is carried on and listed as unknown.
func (m *Migration) DropField(name string) {
	m.fields.Drop(name)
	m.results(func(r *record.Result) bool {
		n := len(r.Writes)
		r.Writes = slices.DeleteFunc(slices.Clone(r.Writes), func(w state.Write) bool { return w.Field == name })
		return len(r.Writes) != n
	})
}

// Convert makes fields of the state out of others, for a field of another kind or type, one made of two, or two made of one.
// Old and New are structs like a state, with the fields in question alone, as they were and as they become. What is stored of Old's
// fields is read through old, and is gone afterwards; what is to be stored is written through new. In a thread where they were never
// written they are zero, and a field that New does not write stays as if never written.
//
// A recorded result of an open task that writes one of Old's fields cannot be converted, since it is a change and not a value: the
// migration is refused, unless Rerun takes the result back.
func Convert[Old, New any](m *Migration, fn func(old *Old, new *New) error) {
	names, err := state.Convert(m.fields, fn)
	if err != nil {
		m.errs = append(m.errs, err)
	}
	for id, r := range m.done {
		for _, w := range r.Writes {
			if slices.Contains(names, w.Field) {
				m.spoilt[id] = w.Field
			}
		}
	}
}

// RenameNode hands what is for one node to another: scheduled tasks with their ids, answers, effects and questions, targets and
// sends of recorded results, half-filled joins. It serves a node with another name, and one whose work another node does now; two
// tasks that would run that node without an argument become one. Alias does the former without a version. A graph that is mounted per
// thread keeps its memory under the name of its node, so such a node cannot be renamed.
func (m *Migration) RenameNode(old, name string) {
	if m.keeps(name) && old != name {
		m.mistake("node %s cannot be renamed to %s, which is mounted per thread: its memory goes by its name", old, name)
	}
	swap := func(s string) string {
		if s == old {
			return name
		}
		return s
	}
	var next []record.Task
	for _, t := range m.next {
		if t.Node == old && old != name && t.Arg == nil && !m.finished(t.ID) && m.pulls(name) {
			continue // it is going to run anyway
		}
		t.Node = swap(t.Node)
		next = append(next, t)
	}
	m.next = next
	for i, j := range m.joins {
		m.joins[i] = record.Join{To: swap(j.To), From: unique(j.From, swap), Have: unique(j.Have, swap)}
	}
	m.results(func(r *record.Result) bool {
		if r.Node != old && !slices.Contains(r.To, old) && !slices.ContainsFunc(r.Sends, func(s record.Send) bool { return s.Node == old }) {
			return false
		}
		r.Node, r.To, r.Sends = swap(r.Node), unique(r.To, swap), slices.Clone(r.Sends)
		for i := range r.Sends {
			r.Sends[i].Node = swap(r.Sends[i].Node)
		}
		return true
	})
}

// finished reports whether a task of the open superstep has a result that counts.
func (m *Migration) finished(task string) bool {
	r := m.done[task]
	return r != nil && r.Fail == ""
}

// pulls reports whether a node is going to run without an argument.
func (m *Migration) pulls(node string) bool {
	return slices.ContainsFunc(m.next, func(t record.Task) bool { return t.Node == node && t.Arg == nil && !m.finished(t.ID) })
}

// unique maps names and leaves each once.
func unique(names []string, to func(string) string) (out []string) {
	for _, n := range names {
		if n = to(n); !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// DropNode takes back whatever is for a node: its tasks are gone from the open superstep, what they have finished there too, and their
// questions are closed; results of other nodes do not lead to it. A half-filled join no longer waits for it, and fires if nothing
// else is missing. If nothing is left to run the run has completed. To keep results, hand them to another node with RenameNode.
//
// Results that were recorded in the open superstep have chosen their way under the version before, edges included: they do not follow
// an edge that takes the place of a join with the dropped node. Rerun lets them choose again.
func (m *Migration) DropNode(name string) {
	m.next = slices.DeleteFunc(slices.Clone(m.next), func(t record.Task) bool { return t.Node == name })
	m.results(func(r *record.Result) bool {
		to, sends := len(r.To), len(r.Sends)
		r.To = slices.DeleteFunc(slices.Clone(r.To), func(s string) bool { return s == name })
		r.Sends = slices.DeleteFunc(slices.Clone(r.Sends), func(s record.Send) bool { return s.Node == name })
		return len(r.To) != to || len(r.Sends) != sends
	})
	var joins []record.Join
	for _, j := range m.joins {
		if j.To == name {
			continue
		}
		if slices.Contains(j.From, name) {
			gone := func(s string) bool { return s == name }
			j.From, j.Have = slices.DeleteFunc(slices.Clone(j.From), gone), slices.DeleteFunc(slices.Clone(j.Have), gone)
			if len(j.Have) == len(j.From) {
				m.schedule(j.To)
			}
			if len(j.From) < 2 || len(j.Have) == len(j.From) || len(j.Have) == 0 {
				continue // what is left of it is an edge, or has fired, or is not begun
			}
		}
		joins = append(joins, j)
	}
	m.joins = joins
}

func (m *Migration) schedule(node string) {
	if node == End || m.pulls(node) {
		return
	}
	m.next = append(m.next, record.Task{ID: strconv.FormatInt(m.step, 10) + "." + strconv.Itoa(m.fresh), Node: node})
	m.fresh++
}

// ConvertArgs converts what was sent to a node (by its name of that moment) and waits there, or stands in recorded results.
func ConvertArgs[Old, New any](m *Migration, node string, fn func(Old) (New, error)) {
	convert := func(raw json.RawMessage) json.RawMessage {
		old, err := decodeValue[Old](raw)
		if err != nil {
			m.mistake("an argument of node %s is no %T: %w", node, *new(Old), err)
			return raw
		}
		made, err := fn(old)
		if err == nil {
			raw, err = encodeValue(made)
		}
		if err != nil {
			m.mistake("an argument of node %s: %w", node, err)
		}
		return raw
	}
	for i, t := range m.next {
		if t.Node == node && t.Arg != nil {
			m.next[i].Arg = convert(t.Arg)
		}
	}
	m.results(func(r *record.Result) bool {
		r.Sends = slices.Clone(r.Sends)
		changed := false
		for i, s := range r.Sends {
			if s.Node == node {
				r.Sends[i].Arg, changed = convert(s.Arg), true
			}
		}
		return changed
	})
}

// Rerun takes back what tasks of a node have finished in the open superstep: they run again when the thread goes on. Their effects
// of Once stay recorded and are not repeated.
func (m *Migration) Rerun(node string) {
	for id, r := range m.done {
		if r.Node == node && r.Fail == "" && node != Start { // an input cannot be run again
			delete(m.done, id)
			delete(m.spoilt, id)
		}
	}
}

// results changes recorded results: change gets a copy, and reports whether it has changed it.
func (m *Migration) results(change func(r *record.Result) bool) {
	for id, r := range m.done {
		c := *r
		if change(&c) {
			m.done[id] = &c
		}
	}
}

// err is what is wrong with the migration so far.
func (m *Migration) err() error {
	for _, t := range m.next {
		if field, ok := m.spoilt[t.ID]; ok {
			node := m.done[t.ID].Node
			if node == Start {
				m.mistake("the queued input writes field %s, which is converted; App.CancelRun removes it", field)
				continue
			}
			m.mistake("the result of node %s (task %s) writes field %s, which is converted; m.Rerun(%q) takes it back, and it runs again", node, t.ID, field, node)
		}
	}
	return errors.Join(m.errs...)
}
