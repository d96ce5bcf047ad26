package state

import (
	"maps"
	"slices"
	"strings"
)

// A rawValue is the folded value of one field.
type rawValue interface {
	apply(w rawWrite)
	empty() bool          // holds nothing that a change of its kind would lose
	size() int64          // of data
	data(b []byte) []byte // as a write onto an empty field
	json(b []byte) []byte // in the JSON form
	clone() rawValue
}

const (
	kindLast      = "last"
	kindEphemeral = "ephemeral"
	kindList      = "list"
)

// knownKind reports whether this release can fold the kind.
func knownKind(kind string) bool {
	switch kind {
	case kindLast, kindEphemeral, kindFold, kindList, kindKeyed, kindMap, kindPairs, kindSet:
		return true
	}
	return sums[kind] != nil
}

// newRawValue returns an empty field of a kind, a *rawSequence if the kind is unknown.
func newRawValue(kind string) rawValue {
	switch kind {
	case kindLast, kindEphemeral:
		return &rawOne{}
	case kindFold:
		return &rawOne{fold: true}
	case kindList:
		return &rawList{}
	case kindKeyed, kindMap, kindPairs, kindSet:
		return &rawTable{kind: kind, at: map[string]int{}}
	}
	if sums[kind] != nil {
		return &rawOne{}
	}
	return &rawSequence{}
}

// rawOne holds one value, which is never changed in place.
type rawOne struct {
	value []byte
	fold  bool
}

func (v *rawOne) apply(w rawWrite)     { v.value = w.value }
func (v *rawOne) empty() bool          { return v.value == nil }
func (v *rawOne) json(b []byte) []byte { return append(b, v.value...) }
func (v *rawOne) clone() rawValue      { c := *v; return &c }

func (v *rawOne) size() int64 {
	if v.fold {
		return int64(len(v.value) + len(`{"r":}`))
	}
	return int64(len(v.value))
}

func (v *rawOne) data(b []byte) []byte {
	if v.fold {
		return append(append(append(b, `{"r":`...), v.value...), '}')
	}
	return append(b, v.value...)
}

// rawList holds the elements as they stand between the brackets, in chunks: a long list is never copied to make room.
type rawList struct {
	chunks [][]byte
	bytes  int
}

// listChunk is the length from which a chunk is not made longer.
const listChunk = 16 << 10

func (v *rawList) empty() bool          { return v.bytes == 0 }
func (v *rawList) size() int64          { return int64(v.bytes + 2) }
func (v *rawList) json(b []byte) []byte { return v.data(b) }

func (v *rawList) data(b []byte) []byte {
	b = append(slices.Grow(b, v.bytes+2), '[')
	for _, c := range v.chunks {
		b = append(b, c...)
	}
	return append(b, ']')
}

func (v *rawList) clone() rawValue {
	c := &rawList{slices.Clone(v.chunks), v.bytes}
	if n := len(c.chunks); n > 0 {
		c.chunks[n-1] = slices.Clip(c.chunks[n-1])
	}
	return c
}

func (v *rawList) apply(w rawWrite) {
	if w.replaces {
		v.chunks, v.bytes = nil, 0
	}
	if len(w.value) == 0 {
		return
	}
	need := len(w.value) + 1
	n := len(v.chunks)
	if n == 0 || len(v.chunks[n-1]) >= listChunk && len(v.chunks[n-1])+need > cap(v.chunks[n-1]) {
		v.chunks = append(v.chunks, nil)
		n++
	}
	last := v.chunks[n-1]
	if v.bytes > 0 {
		last = append(last, ',')
		v.bytes++
	}
	v.chunks[n-1] = append(last, w.value...)
	v.bytes += len(w.value)
}

// rawSequence holds the writes of a kind that this release does not know.
type rawSequence struct {
	writes [][]byte
	bytes  int64
}

func (v *rawSequence) empty() bool          { return len(v.writes) == 0 }
func (v *rawSequence) size() int64          { return v.bytes }
func (v *rawSequence) data(b []byte) []byte { return v.json(b) }
func (v *rawSequence) clone() rawValue      { return &rawSequence{slices.Clip(v.writes), v.bytes} }

func (v *rawSequence) apply(w rawWrite) {
	v.writes = append(v.writes, w.value)
	v.bytes += int64(len(w.value))
}

func (v *rawSequence) json(b []byte) []byte {
	b = append(b, '[')
	for i, w := range v.writes {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, w...)
	}
	return append(b, ']')
}

// rawTable holds entries by key: of a keyed in order, with holes; of the other kinds in any order.
type rawTable struct {
	kind    string
	at      map[string]int
	entries []rawEntry
	bytes   int64 // of the entries in data, without commas
	scratch []byte
}

type rawEntry struct {
	key   string
	value []byte
	gone  bool
}

func (v *rawTable) empty() bool { return len(v.at) == 0 }
func (v *rawTable) size() int64 { return v.bytes + int64(2+max(0, len(v.at)-1)) }

func (v *rawTable) clone() rawValue {
	c := *v
	c.at, c.entries, c.scratch = maps.Clone(v.at), slices.Clone(v.entries), nil
	return &c
}

// cost returns the length of an entry in data.
func (v *rawTable) cost(e rawEntry) int64 {
	v.scratch = v.entry(v.scratch[:0], e)
	return int64(len(v.scratch) + len(e.value))
}

// entry appends e as data has it, without its value.
func (v *rawTable) entry(b []byte, e rawEntry) []byte {
	switch v.kind {
	case kindSet:
		return append(b, e.key...)
	case kindPairs:
		b = append(append(b, '['), e.key...)
	default:
		b = appendString(append(b, '['), e.key)
	}
	return append(b, ",]"...)
}

func (v *rawTable) apply(w rawWrite) {
	if w.replaces {
		v.at, v.entries, v.bytes = map[string]int{}, nil, 0
	}
	for _, op := range w.ops {
		i, ok := v.at[op.key]
		if ok {
			v.bytes -= v.cost(v.entries[i])
		}
		if op.remove {
			if ok {
				v.remove(op.key, i)
			}
			continue
		}
		e := rawEntry{key: op.key, value: op.value}
		if ok {
			v.entries[i] = e
		} else {
			v.at[op.key] = len(v.entries)
			v.entries = append(v.entries, e)
		}
		v.bytes += v.cost(e)
	}
}

func (v *rawTable) remove(key string, i int) {
	delete(v.at, key)
	v.entries[i] = rawEntry{gone: true}
	if len(v.entries) <= 2*len(v.at)+16 {
		return
	}
	v.entries = slices.DeleteFunc(v.entries, func(e rawEntry) bool { return e.gone })
	for j, e := range v.entries {
		v.at[e.key] = j
	}
}

// live returns the entries in the order of the kind.
func (v *rawTable) live() []rawEntry {
	out := make([]rawEntry, 0, len(v.at))
	for _, e := range v.entries {
		if !e.gone {
			out = append(out, e)
		}
	}
	switch v.kind {
	case kindMap:
		slices.SortFunc(out, func(a, b rawEntry) int { return strings.Compare(a.key, b.key) })
	case kindPairs, kindSet:
		slices.SortFunc(out, func(a, b rawEntry) int { return compareKeys([]byte(a.key), []byte(b.key)) })
	}
	return out
}

func (v *rawTable) data(b []byte) []byte {
	b = append(b, '[')
	for i, e := range v.live() {
		if i > 0 {
			b = append(b, ',')
		}
		b = v.entry(b, e)
		if v.kind != kindSet {
			b = append(append(b[:len(b)-1], e.value...), ']')
		}
	}
	return append(b, ']')
}

func (v *rawTable) json(b []byte) []byte {
	if v.kind == kindSet || v.kind == kindPairs {
		return v.data(b)
	}
	open, end := byte('{'), byte('}')
	if v.kind == kindKeyed {
		open, end = '[', ']'
	}
	b = append(b, open)
	for i, e := range v.live() {
		if i > 0 {
			b = append(b, ',')
		}
		if v.kind == kindMap {
			b = append(appendString(b, e.key), ':')
		}
		b = append(b, e.value...)
	}
	return append(b, end)
}
