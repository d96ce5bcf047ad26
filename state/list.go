package state

import (
	"unsafe"

	"fmt"
	"iter"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/holdfast-go/holdfast/internal/jsonschema"
)

// List is a list that tasks append to, in task order. The zero value is ready to use. Elements with pointers, slices or maps
// are copied when they are read, by their own Clone method if they have one.
type List[T any] struct {
	header
	c      *codec[T]
	base   *listBase[T] // nil: never written
	w, cut *listWrite[T]
}

// A listBase is the prefix of an array that later heads go on filling. Appending takes the next places if nobody took them
// before, so a step costs what it appends, and heads that were left behind stay as they are.
type listBase[T any] struct {
	vs   []T
	used *atomic.Int64 // places of the array that are taken
}

type listWrite[T any] struct {
	vs       []T
	replaced bool
}

func (f *List[T]) codec() *codec[T] {
	if f.c == nil {
		return codecFor[T]()
	}
	return f.c
}

// parts returns the committed elements that the view still sees, and those that were written.
func (f *List[T]) parts() (base, own []T) {
	if f.base != nil {
		base = f.base.vs
	}
	if f.w == nil {
		return base, nil
	}
	if f.w.replaced {
		return nil, f.w.vs
	}
	return base, f.w.vs
}

// Len returns the number of elements.
func (f *List[T]) Len() int {
	base, own := f.parts()
	return len(base) + len(own)
}

// At returns element i. It panics if there is none.
func (f *List[T]) At(i int) T {
	base, own := f.parts()
	if i < len(base) {
		return f.codec().copy(&base[i])
	}
	return f.codec().copy(&own[i-len(base)])
}

// Last returns the last element, if there is one.
func (f *List[T]) Last() (v T, ok bool) {
	if n := f.Len(); n > 0 {
		return f.At(n - 1), true
	}
	return v, false
}

// All iterates over the elements that are there when the iteration begins.
func (f *List[T]) All() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		c := f.codec()
		base, own := f.parts()
		for i := range base {
			if !yield(i, c.copy(&base[i])) {
				return
			}
		}
		for i := range own {
			if !yield(len(base)+i, c.copy(&own[i])) {
				return
			}
		}
	}
}

// Slice returns the elements in a slice of the caller's own.
func (f *List[T]) Slice() []T {
	base, own := f.parts()
	out := slices.Concat(base, own)
	if c := f.codec(); !c.flat {
		for i := range out {
			out[i] = c.copy(&out[i])
		}
	}
	return out
}

// Append adds elements at the end. Without any it is no write.
func (f *List[T]) Append(vs ...T) {
	if len(vs) == 0 {
		return
	}
	if f.w == nil {
		f.w = new(listWrite[T])
	}
	f.w.vs, f.written = append(f.w.vs, vs...), true
}

// Replace puts vs in the place of all elements, those that other tasks append in this superstep included.
func (f *List[T]) Replace(vs ...T) {
	f.w, f.written = &listWrite[T]{vs: slices.Clone(vs), replaced: true}, true
}

func (f *List[T]) cast(p unsafe.Pointer) field         { return (*List[T])(p) }
func (f *List[T]) kind() string                        { return kindList }
func (f *List[T]) elem() reflect.Type                  { return reflect.TypeFor[T]() }
func (f *List[T]) schema() (*jsonschema.Schema, error) { return arrayOf(f.elem()) }
func (f *List[T]) single() bool                        { return false }
func (f *List[T]) persisted() bool                     { return true }
func (f *List[T]) mistakes() []string                  { return codecFor[T]().errs }
func (f *List[T]) attach()                             { f.c = codecFor[T]() }
func (f *List[T]) present() bool                       { return f.base != nil }

// settle keeps the writes apart from the committed elements: to join them would cost the length of the list.
func (f *List[T]) settle() {
	if w := f.w; w != nil {
		f.w = &listWrite[T]{vs: slices.Clip(w.vs), replaced: w.replaced}
	}
	f.cut = nil
	f.reset()
}

func (f *List[T]) freeze() *fault {
	cut := &listWrite[T]{vs: slices.Clip(f.w.vs), replaced: f.w.replaced}
	if !f.c.flat {
		cut.vs = make([]T, len(f.w.vs))
	}
	for i := range f.w.vs {
		v, bad := f.c.cut(&f.w.vs[i])
		if bad != nil {
			return bad.under(fmt.Sprintf("[%d]", i))
		}
		if !f.c.flat {
			cut.vs[i] = v
		}
	}
	f.cut = cut
	return f.seal(modeOf(cut.replaced))
}

func (f *List[T]) fold(from field) error {
	cut := from.(*List[T]).cut
	var b listBase[T]
	if f.base != nil && !cut.replaced {
		b = *f.base
	}
	n, m := len(b.vs), len(b.vs)+len(cut.vs)
	if b.used == nil || m > cap(b.vs) || !b.used.CompareAndSwap(int64(n), int64(m)) {
		room := 2 * m
		if m > 4096 {
			room = m + m/4
		}
		b.vs = append(make([]T, 0, max(room, 4)), b.vs...)
		b.used = new(atomic.Int64)
		b.used.Store(int64(m))
	}
	b.vs = append(b.vs, cut.vs...)
	f.base = &b
	return nil
}

func (f *List[T]) encode(b []byte) ([]byte, error) {
	if !f.cut.replaced {
		return f.appendAll(b, f.cut.vs)
	}
	b, err := f.appendAll(append(b, `{"r":`...), f.cut.vs)
	return append(b, '}'), err
}

func (f *List[T]) appendAll(b []byte, vs []T) ([]byte, error) {
	b = append(b, '[')
	for i := range vs {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = f.c.append(b, &vs[i]); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

func (f *List[T]) decode(data []byte) error {
	cut := new(listWrite[T])
	if value, ok := replacing(data); ok {
		data, cut.replaced = value, true
	}
	var err error
	if cut.vs, err = f.c.decodeAll(data); err != nil {
		return err
	}
	f.cut = cut
	f.seal(modeOf(cut.replaced))
	return nil
}

func (f *List[T]) json(b []byte) ([]byte, error) { return f.appendAll(b, f.base.vs) }

func (f *List[T]) parse(data []byte) (func(), error) {
	vs, err := readAll(f.codec(), data)
	return func() { f.Append(vs...) }, err
}

// readAll reads an array that a person or another program wrote.
func readAll[T any](c *codec[T], data []byte) (vs []T, err error) {
	in, err := array(data)
	if err != nil {
		return nil, err
	}
	r := newStrictReader()
	vs = make([]T, count(in))
	i := 0
	for one := range values(in) {
		if err := c.read(r, one, &vs[i]); err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		i++
	}
	return vs, nil
}

func arrayOf(t reflect.Type) (*jsonschema.Schema, error) {
	s, err := jsonschema.For(t)
	if err != nil {
		return nil, err
	}
	return jsonschema.Array(s), nil
}
