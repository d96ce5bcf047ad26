package state

import (
	"unsafe"

	"errors"
	"fmt"
	"iter"
	"reflect"

	"github.com/holdfast-go/holdfast/internal/jsonschema"
	"github.com/holdfast-go/holdfast/internal/persist"
)

// Keyed is an ordered list of values with keys: a value whose key is there takes the old one's place, others come at the end,
// in task order. Of two tasks that write one key in a superstep, the later in task order wins. The zero value is ready to use.
// Reading or writing a key costs the logarithm of the length; values with pointers, slices or maps are copied when they are
// read, by their own Clone method if they have one. An empty key is refused.
type Keyed[T interface{ Key() string }] struct {
	table[string, T, persist.Ordered[T]]
}

// Len returns the number of values.
func (f *Keyed[T]) Len() int { return f.len() }

// Get returns the value with the key and whether there is one.
func (f *Keyed[T]) Get(key string) (T, bool) { return f.get(key) }

// Has reports whether there is a value with the key.
func (f *Keyed[T]) Has(key string) bool {
	_, ok := f.lookup(key)
	return ok
}

// Last returns the last value, if there is one.
func (f *Keyed[T]) Last() (v T, ok bool) {
	_, v, ok = f.view().Last()
	if ok {
		_, vc := f.codecs()
		v = vc.copy(&v)
	}
	return v, ok
}

// All iterates over the keys and values that are there when the iteration begins, in order.
func (f *Keyed[T]) All() iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		_, vc := f.codecs()
		for k, v := range f.view().All() {
			if !yield(k, vc.copy(&v)) {
				return
			}
		}
	}
}

// Backward iterates as All does, from the last to the first: whoever needs the end alone copies no more than that.
func (f *Keyed[T]) Backward() iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		_, vc := f.codecs()
		for k, v := range f.view().Backward() {
			if !yield(k, vc.copy(&v)) {
				return
			}
		}
	}
}

// Slice returns the values in order, in a slice of the caller's own.
func (f *Keyed[T]) Slice() []T {
	var out []T
	if n := f.Len(); n > 0 {
		out = make([]T, 0, n)
	}
	for _, v := range f.All() {
		out = append(out, v)
	}
	return out
}

// Put puts v in the place of the value with its key, or at the end.
func (f *Keyed[T]) Put(v T) { f.do(tableOp[string, T]{key: v.Key(), val: v}) }

// Append puts each of vs as Put does. Without any it is no write.
func (f *Keyed[T]) Append(vs ...T) {
	for _, v := range vs {
		f.Put(v)
	}
}

// Remove removes the value with the key and reports whether there was one. If there was none, nothing is written.
func (f *Keyed[T]) Remove(key string) bool { return f.drop(key) }

// Replace puts vs in the place of all values, those that other tasks put in this superstep included.
func (f *Keyed[T]) Replace(vs ...T) {
	f.replace()
	f.Append(vs...)
}

const kindKeyed = "keyed"

func (f *Keyed[T]) cast(p unsafe.Pointer) field         { return (*Keyed[T])(p) }
func (f *Keyed[T]) kind() string                        { return kindKeyed }
func (f *Keyed[T]) elem() reflect.Type                  { return reflect.TypeFor[T]() }
func (f *Keyed[T]) schema() (*jsonschema.Schema, error) { return arrayOf(f.elem()) }
func (f *Keyed[T]) mistakes() []string                  { return codecFor[T]().errs }

var errNoKey = errors.New("the key is empty; values would replace each other")

// freeze also checks that the values have the keys under which they were put.
func (f *Keyed[T]) freeze() *fault {
	for i := range f.w.ops {
		op := &f.w.ops[i]
		switch {
		case op.remove:
		case op.key == "":
			return &fault{`[""]`, errNoKey}
		case op.val.Key() != op.key:
			return &fault{fmt.Sprintf("[%q]", op.key), fmt.Errorf("the key became %q after the value was put", op.val.Key())}
		}
	}
	return f.table.freeze()
}

func (f *Keyed[T]) fold(from field) error {
	f.join(from.(*Keyed[T]).cut)
	return nil
}

func (f *Keyed[T]) json(b []byte) (_ []byte, err error) {
	b = append(b, '[')
	first := true
	for _, v := range (*f.base).All() {
		if !first {
			b = append(b, ',')
		}
		first = false
		if b, err = f.vc.append(b, &v); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

func (f *Keyed[T]) parse(data []byte) (func(), error) {
	_, vc := f.codecs()
	vs, err := readAll(vc, data)
	if err != nil {
		return nil, err
	}
	for i, v := range vs {
		if r := reflect.ValueOf(&v).Elem(); r.Kind() == reflect.Pointer && r.IsNil() {
			return nil, fmt.Errorf("[%d]: null has no key", i)
		}
		if v.Key() == "" {
			return nil, fmt.Errorf("[%d]: %w", i, errNoKey)
		}
	}
	return func() { f.Append(vs...) }, nil
}
