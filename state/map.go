package state

import (
	"unsafe"

	"bytes"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/internal/jsonschema"
	"github.com/holdfast-go/holdfast/internal/persist"
)

// Map merges by key: of two tasks that put one key in a superstep, the later in task order wins. The zero value is ready to
// use. Reading or writing a key costs the logarithm of the length; values with pointers, slices or maps are copied when they
// are read, by their own Clone method if they have one.
type Map[K comparable, V any] struct {
	table[K, V, persist.Map[K, V]]
}

// Len returns the number of keys.
func (f *Map[K, V]) Len() int { return f.len() }

// Get returns the value of k and whether k is there.
func (f *Map[K, V]) Get(k K) (V, bool) { return f.get(k) }

// Put sets the value of k.
func (f *Map[K, V]) Put(k K, v V) { f.do(tableOp[K, V]{key: k, val: v}) }

// Delete removes k and reports whether it was there. If it was not, nothing is written.
func (f *Map[K, V]) Delete(k K) bool { return f.drop(k) }

// Clear removes all keys, those that other tasks put in this superstep included.
func (f *Map[K, V]) Clear() { f.replace() }

// Replace puts m in the place of all keys, those that other tasks put in this superstep included.
func (f *Map[K, V]) Replace(m map[K]V) {
	var ops []tableOp[K, V]
	for k, v := range m {
		ops = append(ops, tableOp[K, V]{key: k, val: v})
	}
	kc, _ := f.codecs()
	f.replace()
	for _, op := range inOrder(kc, ops, keysAreStrings[K]()) {
		f.do(op)
	}
}

// All iterates over the keys that are there when the iteration begins, in the order of their JSON: strings by their bytes,
// integers by value. Sorting costs n log n, and encoding of the keys unless they are strings.
func (f *Map[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		kc, vc := f.codecs()
		for _, op := range sorted(kc, f.view(), keysAreStrings[K]()) {
			if !yield(op.key, vc.copy(&op.val)) {
				return
			}
		}
	}
}

const (
	kindMap   = "map"       // keys are strings
	kindPairs = "map.pairs" // keys are anything else
)

func (f *Map[K, V]) cast(p unsafe.Pointer) field { return (*Map[K, V])(p) }
func (f *Map[K, V]) kind() string {
	if keysAreStrings[K]() {
		return kindMap
	}
	return kindPairs
}

// keysAreStrings reports whether the JSON of a K is always a string of the same bytes.
func keysAreStrings[K comparable]() bool {
	t := reflect.TypeFor[K]()
	return t.Kind() == reflect.String && !encodes(t)
}

func (f *Map[K, V]) elem() reflect.Type { return reflect.TypeFor[V]() }

func (f *Map[K, V]) schema() (*jsonschema.Schema, error) {
	if f.kind() == kindPairs {
		return jsonschema.Array(jsonschema.Array(new(jsonschema.Schema))), nil // of pairs; their types differ
	}
	v, err := jsonschema.For(f.elem())
	if err != nil {
		return nil, err
	}
	return jsonschema.Map(v), nil
}

func (f *Map[K, V]) mistakes() []string {
	return slices.Concat(keyMistakes(reflect.TypeFor[K](), ""), codecFor[K]().errs, codecFor[V]().errs)
}

func (f *Map[K, V]) fold(from field) error {
	f.join(from.(*Map[K, V]).cut)
	return nil
}

func sorted[K comparable, V any](kc *codec[K], m persist.Map[K, V], byText bool) []tableOp[K, V] {
	ops := make([]tableOp[K, V], 0, m.Len())
	for k, v := range m.All() {
		ops = append(ops, tableOp[K, V]{key: k, val: v})
	}
	return inOrder(kc, ops, byText)
}

// inOrder sorts ops by key: by its text, for keys that are strings, or by its JSON. Keys that cannot be encoded come first;
// they are refused when the view is frozen.
func inOrder[K comparable, V any](kc *codec[K], ops []tableOp[K, V], byText bool) []tableOp[K, V] {
	if byText {
		slices.SortFunc(ops, func(a, b tableOp[K, V]) int {
			return strings.Compare(reflect.ValueOf(&a.key).Elem().String(), reflect.ValueOf(&b.key).Elem().String())
		})
		return ops
	}
	type encoded struct {
		text []byte
		op   tableOp[K, V]
	}
	all := make([]encoded, len(ops))
	for i := range ops {
		text, _ := kc.append(nil, &ops[i].key)
		all[i] = encoded{text, ops[i]}
	}
	slices.SortFunc(all, func(a, b encoded) int { return compareKeys(a.text, b.text) })
	for i := range all {
		ops[i] = all[i].op
	}
	return ops
}

// json writes an object, or an array of pairs.
func (f *Map[K, V]) json(b []byte) (_ []byte, err error) {
	object := f.kind() == kindMap
	open, after, shut, end := "[", ",", "]", byte(']')
	b = append(b, '[')
	if object {
		open, after, shut, end = "", ":", "", '}'
		b[len(b)-1] = '{'
	}
	for i, op := range sorted(f.kc, *f.base, object) {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = f.kc.append(append(b, open...), &op.key); err != nil {
			return b, err
		}
		if b, err = f.vc.append(append(b, after...), &op.val); err != nil {
			return b, err
		}
		b = append(b, shut...)
	}
	return append(b, end), nil
}

func (f *Map[K, V]) parse(data []byte) (func(), error) {
	kc, vc := f.codecs()
	r := newStrictReader()
	var ops []tableOp[K, V]
	one := func(k, v []byte) error {
		var op tableOp[K, V]
		if err := kc.read(r, k, &op.key); err != nil {
			return fmt.Errorf("[%s]: %w", k, err)
		}
		if err := vc.read(r, v, &op.val); err != nil {
			return fmt.Errorf("[%s]: %w", k, err)
		}
		ops = append(ops, op)
		return nil
	}
	if err := f.entries(data, one); err != nil {
		return nil, err
	}
	return func() {
		for _, op := range ops {
			f.do(op)
		}
	}, nil
}

// entries calls fn for each key and value of the JSON form.
func (f *Map[K, V]) entries(data []byte, fn func(k, v []byte) error) error {
	if f.kind() == kindMap {
		if !bytes.HasPrefix(data, []byte("{")) {
			return fmt.Errorf("%w: want an object, have %.20s", errForm, data)
		}
		for k, v := range members(data) {
			if err := fn(k, v); err != nil {
				return err
			}
		}
		return nil
	}
	in, err := array(data)
	if err != nil {
		return err
	}
	for one := range values(in) {
		k, v, err := pair(one)
		if err == nil && v == nil {
			err = fmt.Errorf("%w: want [key,value], have %.20s", errForm, one)
		}
		if err == nil {
			err = fn(k, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
