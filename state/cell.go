package state

import (
	"reflect"

	"github.com/holdfast-go/holdfast/internal/jsonschema"
)

// A cell is a field with one value. Its values are never changed in place, so that heads, views and frozen writes may share
// them.
type cell[T any] struct {
	header
	c      *codec[T]
	base   *T
	w, cut *T
}

func (f *cell[T]) codec() *codec[T] {
	if f.c == nil {
		return codecFor[T]() // of a state that no schema made
	}
	return f.c
}

func (f *cell[T]) now() *T {
	if f.w != nil {
		return f.w
	}
	return f.base
}

func (f *cell[T]) set(v *T) { f.w, f.written = v, true }

func (f *cell[T]) get() (v T, ok bool) {
	if p := f.now(); p != nil {
		return f.codec().copy(p), true
	}
	return v, false
}

func (f *cell[T]) elem() reflect.Type                  { return reflect.TypeFor[T]() }
func (f *cell[T]) schema() (*jsonschema.Schema, error) { return jsonschema.For(f.elem()) }
func (f *cell[T]) single() bool                        { return true }
func (f *cell[T]) persisted() bool                     { return true }
func (f *cell[T]) mistakes() []string                  { return codecFor[T]().errs }
func (f *cell[T]) attach()                             { f.c = codecFor[T]() }
func (f *cell[T]) present() bool                       { return f.base != nil }

func (f *cell[T]) settle() {
	f.base, f.w, f.cut = f.now(), nil, nil
	f.reset()
}

func (f *cell[T]) freeze() *fault {
	cut := f.w
	if f.c.flat {
		if bad := f.c.check(cut); bad != nil {
			return bad
		}
	} else {
		v, bad := f.c.cut(cut)
		if bad != nil {
			return bad
		}
		cut = &v
	}
	f.cut = cut
	return f.seal(wrote)
}

func (f *cell[T]) encode(b []byte) ([]byte, error) { return f.c.append(b, f.cut) }

func (f *cell[T]) decode(data []byte) error {
	f.cut = new(T)
	f.seal(wrote)
	return f.c.decode(data, f.cut)
}

func (f *cell[T]) json(b []byte) ([]byte, error) { return f.c.append(b, f.base) }

func (f *cell[T]) parse(data []byte) (func(), error) {
	v := new(T)
	err := f.codec().read(newStrictReader(), data, v)
	return func() { f.set(v) }, err
}
