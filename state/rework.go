package state

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// kindDrop is the kind of a step's write that says: the field and its value are gone.
const kindDrop = "drop"

// A Rework changes the fields of a stored state for a program whose state has others. The state itself stays as it is: what has
// changed is a superstep's writes. It has one owner; it is not safe for concurrent use.
type Rework struct {
	was map[string]*rawField
	now map[string]*rawField // values are replaced, never changed in place
}

// Rework begins a change of r's fields. r must not change meanwhile. It costs what r has fields.
func (r *Raw) Rework() *Rework { return &Rework{r.fields, maps.Clone(r.fields)} }

// Rename gives a field another durable name. A field that was never written is no error; one that would take the place of another
// value is.
func (w *Rework) Rename(old, name string) error {
	f, ok := w.now[old]
	switch {
	case !ok || old == name:
		return nil
	case w.holds(name):
		return fmt.Errorf("state: field %s cannot be renamed to %s, which holds a value", old, name)
	}
	delete(w.now, old)
	w.now[name] = f
	return nil
}

// Drop removes a field and its value. A field that was never written is no error.
func (w *Rework) Drop(name string) { delete(w.now, name) }

func (w *Rework) holds(name string) bool {
	f, ok := w.now[name]
	return ok && !f.value.empty()
}

// Convert makes fields of one state struct out of those of another. Old and New list only the fields in question: fn reads through
// old what is stored of Old's fields, which are gone afterwards, and writes New's fields through new. What no struct lists stays as
// it is. It returns the durable names of Old's fields. The error is fn's, a *FieldError if what is stored does not fit Old, a *ValueError,
// or that New would take the place of a value that Old does not list. After an error w is as before.
func Convert[Old, New any](w *Rework, fn func(old *Old, new *New) error) ([]string, error) {
	from, err := Of[Old]()
	if err != nil {
		return nil, err
	}
	to, err := Of[New]()
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(from.byName))
	part := NewRaw()
	for _, n := range names {
		if f, ok := w.now[n]; ok {
			part.fields[n] = f
		}
	}
	head, err := from.Restore(part)
	if err != nil {
		return names, err
	}
	view := to.View(to.Empty())
	if err := fn(from.View(head), view); err != nil {
		return names, err
	}
	made, err := to.raw(view)
	if err != nil {
		return names, err
	}
	for n := range made.fields {
		if w.holds(n) && part.fields[n] == nil {
			return names, fmt.Errorf("state: field %s holds a value; list it in the old struct to replace it", n)
		}
	}
	for _, n := range names {
		delete(w.now, n)
	}
	maps.Copy(w.now, made.fields)
	return names, nil
}

// raw folds what v wrote onto an empty state.
func (sc *Schema[S]) raw(v *S) (*Raw, error) {
	ws, err := sc.Encode(v)
	if err != nil {
		return nil, err
	}
	_, folded, err := sc.Commit(sc.Empty(), []Part[S]{{"conversion", v}})
	if err != nil {
		return nil, err
	}
	r := NewRaw()
	return r, r.Apply([][]Write{ws}, folded)
}

// Writes returns the change as a superstep's writes, for [Raw.Apply]: those of its one task, and those of the step. They hold what
// has changed. A step forgets ephemeral fields; those that are there are written again, since this step is none of the program's.
func (w *Rework) Writes() (own, folded []Write) {
	moved := w.moved()
	renamed := slices.Collect(maps.Values(moved))
	for name, f := range w.was {
		if w.now[name] != f && !slices.Contains(renamed, name) {
			folded = append(folded, Write{name, kindDrop, []byte("null")})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.now)) {
		f, old := w.now[name], moved[name]
		switch {
		case old != "":
			folded = append(folded, Write{name, kindRename, appendString(nil, old)})
		case w.was[name] == f && f.kind != kindEphemeral:
		case f.kind == kindFold:
			folded = append(folded, Write{name, kindFold, f.value.json(nil)})
		default:
			own = append(own, f.writes(name)...)
		}
	}
	slices.SortFunc(folded, func(a, b Write) int {
		return cmp.Or(strings.Compare(a.Field, b.Field), strings.Compare(a.Kind, b.Kind))
	})
	return own, folded
}

// moved finds what has only another name: new name to stored name. Where either name is that of another field too, before or
// afterwards, the value is written anew instead.
func (w *Rework) moved() map[string]string {
	moved := map[string]string{}
	for old, f := range w.was {
		if w.now[old] != nil || f.kind == kindEphemeral {
			continue
		}
		for name, g := range w.now {
			if g == f && w.was[name] == nil {
				moved[name] = old
			}
		}
	}
	return moved
}
