package state

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// A Raw is a state folded without the program that wrote it. It has one owner; it is not safe for concurrent use.
type Raw struct {
	fields map[string]*rawField
	size   int64
}

type rawField struct {
	kind  string
	value rawValue
}

// kindRename is the kind of a step's write that says: from now on the field that was named by the data has this name.
const kindRename = "rename"

// NewRaw returns an empty state.
func NewRaw() *Raw { return &Raw{fields: map[string]*rawField{}} }

// write returns the field as a write onto an empty state. It is not for kinds that are kept as a sequence.
func (f *rawField) write(name string) Write { return Write{name, f.kind, f.value.data(nil)} }

// writes is write for every kind.
func (f *rawField) writes(name string) (ws []Write) {
	seq, ok := f.value.(*rawSequence)
	if !ok {
		return []Write{f.write(name)}
	}
	for _, data := range seq.writes {
		ws = append(ws, Write{name, f.kind, slices.Clone(data)})
	}
	return ws
}

// Apply folds one superstep: the writes of its tasks in task order, and what Commit returned beside the head. The result is
// the same as Commit's. Fields of a kind that this release does not know are kept as the sequence of their writes. After an
// error, which is an ErrCorrupt, an ErrIncompatible or an ErrConflict, r is as before. It costs what was written, not what is
// there.
func (r *Raw) Apply(parts [][]Write, folded []Write) error {
	s := rawStep{raw: r}
	for _, w := range folded {
		if err := s.reshape(w); err != nil {
			return err
		}
	}
	for p, ws := range parts {
		for _, w := range ws {
			if err := s.add(p, w); err != nil {
				return err
			}
		}
	}
	for _, w := range folded {
		if err := s.addFolded(w); err != nil {
			return err
		}
	}
	if err := s.check(); err != nil {
		return err
	}
	s.run()
	return nil
}

// Size returns the sum of the lengths of Snapshot's data, in bytes. It costs nothing.
func (r *Raw) Size() int64 { return r.size }

func (r *Raw) names() []string { return slices.Sorted(maps.Keys(r.fields)) }

// Snapshot returns the whole state as writes onto an empty one, in field name order. Equal states have equal snapshots. A field
// of a kind that this release does not know has several writes.
func (r *Raw) Snapshot() []Write {
	var ws []Write
	for _, name := range r.names() {
		ws = append(ws, r.fields[name].writes(name)...)
	}
	return ws
}

// Restore fills r, which must be empty, from a snapshot. After an error r is as before.
func (r *Raw) Restore(ws []Write) error {
	if len(r.fields) > 0 {
		return fmt.Errorf("state: restore onto a state that is not empty")
	}
	var own, folded []Write
	for _, w := range ws {
		value, ok := replacing(w.Data)
		switch {
		case w.Kind == kindRename || w.Kind == kindDrop:
			return fmt.Errorf("state: field %s: %w: a %s in a snapshot", w.Field, ErrCorrupt, w.Kind)
		case w.Kind == kindFold && !(ok && json.Valid(w.Data)):
			return fmt.Errorf("state: field %s: %w: %w", w.Field, ErrCorrupt, errForm)
		case w.Kind == kindFold:
			folded = append(folded, Write{w.Field, w.Kind, value})
		default:
			own = append(own, w)
		}
	}
	return r.Apply([][]Write{own}, folded)
}

// JSON returns the state in the one JSON form, without the fields named by hide. A field of a kind that this release does not
// know is an array of what was written to it.
func (r *Raw) JSON(hide ...string) ([]byte, error) {
	b := make([]byte, 1, r.size+64)
	b[0] = '{'
	for _, name := range r.names() {
		if slices.Contains(hide, name) {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(appendString(b, name), ':')
		b = r.fields[name].value.json(b)
	}
	return append(b, '}'), nil
}

// Clone returns a copy: what is folded into one of the two does not change the other.
func (r *Raw) Clone() *Raw {
	c := &Raw{fields: make(map[string]*rawField, len(r.fields)), size: r.size}
	for name, f := range r.fields {
		c.fields[name] = &rawField{f.kind, f.value.clone()}
	}
	return c
}
