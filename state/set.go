package state

import (
	"unsafe"

	"encoding/json"
	"iter"
	"reflect"
	"slices"

	"github.com/holdfast-go/holdfast/internal/jsonschema"
	"github.com/holdfast-go/holdfast/internal/persist"
)

// Set is a set of keys. If two tasks add and remove one key in a superstep, the later in task order wins. The zero value is
// ready to use. Reading or writing a key costs the logarithm of the length.
type Set[K comparable] struct {
	table[K, struct{}, persist.Map[K, struct{}]]
}

// Len returns the number of keys.
func (f *Set[K]) Len() int { return f.len() }

// Has reports whether k is in the set.
func (f *Set[K]) Has(k K) bool {
	_, ok := f.lookup(k)
	return ok
}

// Add adds keys. Adding a key that is there is a write: it beats a removal by an earlier task. Without keys it is no write.
func (f *Set[K]) Add(ks ...K) {
	for _, k := range ks {
		f.do(tableOp[K, struct{}]{key: k})
	}
}

// Remove removes k and reports whether it was there. If it was not, nothing is written.
func (f *Set[K]) Remove(k K) bool { return f.drop(k) }

// Clear removes all keys, those that other tasks add in this superstep included.
func (f *Set[K]) Clear() { f.replace() }

// All iterates over the keys that are there when the iteration begins, in the order of their JSON: integers by value,
// others by their bytes.
func (f *Set[K]) All() iter.Seq[K] {
	return func(yield func(K) bool) {
		kc, _ := f.codecs()
		for _, op := range sorted(kc, f.view(), false) {
			if !yield(op.key) {
				return
			}
		}
	}
}

const kindSet = "set"

func (f *Set[K]) cast(p unsafe.Pointer) field         { return (*Set[K])(p) }
func (f *Set[K]) kind() string                        { return kindSet }
func (f *Set[K]) elem() reflect.Type                  { return reflect.TypeFor[K]() }
func (f *Set[K]) schema() (*jsonschema.Schema, error) { return arrayOf(f.elem()) }
func (f *Set[K]) mistakes() []string {
	return slices.Concat(keyMistakes(reflect.TypeFor[K](), ""), codecFor[K]().errs)
}

func (f *Set[K]) fold(from field) error {
	f.join(from.(*Set[K]).cut)
	return nil
}

// encode writes [added], {"d":[removed],"a":[added]} or {"r":[all]}: what counts of a key is its last op.
func (f *Set[K]) encode(b []byte) (_ []byte, err error) {
	var add, remove []K
	last := make(map[K]bool, len(f.cut.ops))
	for i := len(f.cut.ops) - 1; i >= 0; i-- {
		op := &f.cut.ops[i]
		if last[op.key] {
			continue
		}
		last[op.key] = true
		if op.remove {
			remove = append(remove, op.key)
		} else {
			add = append(add, op.key)
		}
	}
	slices.Reverse(add)
	slices.Reverse(remove)
	switch {
	case f.cut.replaced:
		b, err = f.appendKeys(append(b, `{"r":`...), add)
		return append(b, '}'), err
	case len(remove) == 0:
		return f.appendKeys(b, add)
	}
	if b, err = f.appendKeys(append(b, `{"d":`...), remove); err != nil {
		return b, err
	}
	b, err = f.appendKeys(append(b, `,"a":`...), add)
	return append(b, '}'), err
}

func (f *Set[K]) appendKeys(b []byte, ks []K) (_ []byte, err error) {
	b = append(b, '[')
	for i := range ks {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = f.kc.append(b, &ks[i]); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

// setWrite is the data of a write to a set.
type setWrite struct {
	Replaced bool `json:"-"`
	R, D, A  json.RawMessage
}

func parseSet(data []byte) (w setWrite, err error) {
	if data[0] == '[' {
		return setWrite{A: data}, nil
	}
	if value, ok := replacing(data); ok {
		return setWrite{Replaced: true, A: value}, nil
	}
	w = setWrite{}
	if err := json.Unmarshal(data, &w); err != nil {
		return w, err
	}
	if w.R != nil || w.D == nil || w.A == nil {
		return w, errForm
	}
	return w, nil
}

func (f *Set[K]) decode(data []byte) error {
	cut := new(tableWrite[K, struct{}, persist.Map[K, struct{}]])
	f.cut = cut
	w, err := parseSet(data)
	if err != nil {
		return err
	}
	cut.replaced = w.Replaced
	f.seal(modeOf(w.Replaced))
	for i, part := range [][]byte{w.D, w.A} {
		if part == nil {
			continue
		}
		ks, err := f.kc.decodeAll(part)
		if err != nil {
			return err
		}
		cut.ops = slices.Grow(cut.ops, len(ks))
		for _, k := range ks {
			cut.ops = append(cut.ops, tableOp[K, struct{}]{key: k, remove: i == 0})
		}
	}
	return nil
}

func (f *Set[K]) json(b []byte) ([]byte, error) {
	ops := sorted(f.kc, *f.base, false)
	ks := make([]K, len(ops))
	for i := range ops {
		ks[i] = ops[i].key
	}
	return f.appendKeys(b, ks)
}

func (f *Set[K]) parse(data []byte) (func(), error) {
	kc, _ := f.codecs()
	ks, err := readAll(kc, data)
	return func() { f.Add(ks...) }, err
}
