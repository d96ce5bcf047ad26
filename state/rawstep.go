package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// A rawStep is one superstep on its way into a Raw. All that can fail comes before the first change.
type rawStep struct {
	raw     *Raw
	fields  []*rawPending // in the order of their first write
	renames [][2]string   // new name, old name
	drops   []string
}

// A rawPending is what the step does to one field.
type rawPending struct {
	name   string
	kind   string
	writes []rawWrite
	old    *rawField // nil if there is none, or one without a value
}

// A rawWrite is one decoded write.
type rawWrite struct {
	part     int
	replaces bool
	folded   bool
	value    []byte  // of kinds that are not tables
	ops      []rawOp // of tables
}

type rawOp struct {
	key    string
	value  []byte
	remove bool
}

func corrupt(field string, err error) error {
	return fmt.Errorf("state: field %s: %w: %w", field, ErrCorrupt, err)
}

// reshape notes a rename or a drop, which come before what is written.
func (s *rawStep) reshape(w Write) error {
	switch w.Kind {
	case kindRename:
		return s.rename(w)
	case kindDrop:
		if string(w.Data) != "null" || !utf8.ValidString(w.Field) {
			return corrupt(w.Field, errForm)
		}
		s.drops = append(s.drops, w.Field)
	}
	return nil
}

func (s *rawStep) rename(w Write) error {
	data, err := compact(w.Data)
	if err != nil {
		return corrupt(w.Field, err)
	}
	old, err := unquote(data)
	if err != nil {
		return corrupt(w.Field, err)
	}
	f, ok := s.raw.fields[old]
	g, has := s.raw.fields[w.Field]
	if ok && has && !f.value.empty() && !g.value.empty() || old == w.Field {
		return corrupt(w.Field, fmt.Errorf("renamed from %s, which is there too", old))
	}
	s.renames = append(s.renames, [2]string{w.Field, old})
	return nil
}

// pending returns what the step does to the field, which may still be stored, or written by a task, under an old name.
func (s *rawStep) pending(name, kind string) (*rawPending, error) {
	old := s.raw.fields[name]
	for _, r := range s.renames {
		if r[1] == name {
			name, old = r[0], s.raw.fields[r[0]]
		}
		if r[0] == name && (old == nil || old.value.empty()) && s.raw.fields[r[1]] != nil {
			old = s.raw.fields[r[1]]
		}
	}
	if slices.Contains(s.drops, name) {
		old = nil
	}
	for _, p := range s.fields {
		if p.name == name {
			if p.kind != kind {
				return nil, incompatible(name, p.kind, kind)
			}
			return p, nil
		}
	}
	if old != nil && old.kind != kind {
		if !old.value.empty() {
			return nil, incompatible(name, old.kind, kind)
		}
		old = nil
	}
	p := &rawPending{name: name, kind: kind, old: old}
	s.fields = append(s.fields, p)
	return p, nil
}

func incompatible(name, old, kind string) error {
	return fmt.Errorf("state: field %s: %w: it holds a %s, and a %s is written to it", name, ErrIncompatible, old, kind)
}

func (s *rawStep) add(part int, w Write) error {
	if !utf8.ValidString(w.Field) || w.Kind == kindRename || w.Kind == kindDrop {
		return corrupt(w.Field, errForm)
	}
	p, err := s.pending(w.Field, w.Kind)
	if err != nil {
		return err
	}
	d, err := parseRaw(w.Kind, w.Data)
	if err != nil {
		return corrupt(w.Field, err)
	}
	d.part = part
	p.writes = append(p.writes, d)
	return nil
}

// addFolded adds a write that belongs to the step.
func (s *rawStep) addFolded(w Write) error {
	if w.Kind == kindRename || w.Kind == kindDrop {
		return nil
	}
	if w.Kind != kindFold {
		return s.add(-1, w) // a later release may have reasons; its kinds are kept in sequence
	}
	p, err := s.pending(w.Field, w.Kind)
	if err != nil {
		return err
	}
	data, err := compact(w.Data)
	if err != nil {
		return corrupt(w.Field, err)
	}
	p.writes = append(p.writes, rawWrite{part: -1, folded: true, value: data})
	return nil
}

// parseRaw decodes the data of a write.
func parseRaw(kind string, raw json.RawMessage) (w rawWrite, err error) {
	if !knownKind(kind) {
		if !json.Valid(raw) {
			return w, errForm
		}
		return rawWrite{value: bytes.Clone(raw)}, wellFormed(raw)
	}
	data, err := compact(raw)
	if err != nil {
		return w, err
	}
	switch kind {
	case kindLast, kindEphemeral:
		w.value = data
	case kindFold: // the step brings the folded value
		w.replaces = data[0] == '{'
	case kindSet:
		return parseRawSet(data)
	case kindList:
		w.value, w.replaces = replacingOr(data)
		w.value, err = array(w.value)
	case kindKeyed, kindMap, kindPairs:
		data, w.replaces = replacingOr(data)
		w.ops, err = parseOps(kind, data)
	default: // a sum
		w.value, w.replaces = replacingOr(data)
		w.value, err = sums[kind](nil, w.value)
	}
	return w, err
}

func replacingOr(data []byte) ([]byte, bool) {
	if value, ok := replacing(data); ok {
		return value, true
	}
	return data, false
}

func parseOps(kind string, data []byte) ([]rawOp, error) {
	in, err := array(data)
	if err != nil {
		return nil, err
	}
	ops := make([]rawOp, 0, count(in))
	for one := range values(in) {
		k, v, err := pair(one)
		if err != nil {
			return nil, err
		}
		op := rawOp{value: v, remove: v == nil}
		if op.key, err = tableKey(kind, k); err != nil {
			return nil, err
		}
		ops = append(ops, op)
	}
	return ops, nil
}

// tableKey returns what identifies a key: its text if keys of the kind are strings, else its JSON with strings as we write them.
func tableKey(kind string, k []byte) (string, error) {
	if kind == kindKeyed || kind == kindMap {
		return unquote(k)
	}
	if k[0] == '"' {
		s, err := unquote(k)
		return string(appendString(nil, s)), err
	}
	return string(k), nil
}

func parseRawSet(data []byte) (w rawWrite, err error) {
	set, err := parseSet(data)
	if err != nil {
		return w, err
	}
	w.replaces = set.Replaced
	for i, part := range [][]byte{set.D, set.A} {
		if part == nil {
			continue
		}
		in, err := array(part)
		if err != nil {
			return w, err
		}
		w.ops = slices.Grow(w.ops, count(in))
		for k := range values(in) {
			key, err := tableKey(kindSet, k)
			if err != nil {
				return w, err
			}
			w.ops = append(w.ops, rawOp{key: key, remove: i == 0})
		}
	}
	return w, nil
}

// check finds what Commit would have refused, and settles what replaces what.
func (s *rawStep) check() error {
	for _, p := range s.fields {
		if !knownKind(p.kind) {
			continue
		}
		if err := p.settle(); err != nil {
			return err
		}
	}
	return nil
}

// settle leaves in writes what is to be folded.
func (p *rawPending) settle() error {
	only := -1
	for i, w := range p.writes {
		if i > 0 && p.writes[i-1].part == w.part {
			return corrupt(p.name, errors.New("written twice by one task"))
		}
		if !w.replaces {
			continue
		}
		if only >= 0 {
			return fmt.Errorf("state: field %s: %w", p.name, ErrConflict)
		}
		only = i
	}
	switch {
	case p.kind == kindFold:
		last := p.writes[len(p.writes)-1]
		if !last.folded {
			return corrupt(p.name, errors.New("its folded value is missing"))
		}
		p.writes = []rawWrite{last}
	case (p.kind == kindLast || p.kind == kindEphemeral) && len(p.writes) > 1:
		return fmt.Errorf("state: field %s: %w", p.name, ErrConflict)
	case only >= 0:
		p.writes = p.writes[only : only+1]
	}
	if sums[p.kind] != nil {
		return p.addUp()
	}
	return nil
}

// addUp leaves one write, of the sum.
func (p *rawPending) addUp() error {
	sum := []byte("0")
	if p.old != nil {
		sum = p.old.value.(*rawOne).value
	}
	for _, w := range p.writes {
		if w.replaces {
			sum = w.value
			continue
		}
		var err error
		if sum, err = sums[p.kind](sum, w.value); err != nil {
			return corrupt(p.name, err)
		}
	}
	p.writes = []rawWrite{{value: sum}}
	return nil
}

// run makes the changes.
func (s *rawStep) run() {
	r := s.raw
	for _, n := range s.renames {
		f, g := r.fields[n[1]], r.fields[n[0]]
		if f == nil {
			continue
		}
		delete(r.fields, n[1])
		if g != nil && f.value.empty() { // one of the two is empty
			f, g = g, f
		}
		r.fields[n[0]] = f
		if g != nil {
			r.size -= g.value.size()
		}
	}
	for name, f := range r.fields {
		if f.kind == kindEphemeral || slices.Contains(s.drops, name) {
			r.size -= f.value.size()
			delete(r.fields, name)
		}
	}
	for _, p := range s.fields {
		f := r.fields[p.name]
		if f != nil && f.kind != p.kind { // without a value
			r.size -= f.value.size()
			f = nil
		}
		if f == nil {
			f = &rawField{p.kind, newRawValue(p.kind)}
			r.fields[p.name] = f
		} else {
			r.size -= f.value.size()
		}
		for _, w := range p.writes {
			f.value.apply(w)
		}
		r.size += f.value.size()
	}
}
