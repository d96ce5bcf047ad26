package state

import (
	"unsafe"

	"bytes"
	"fmt"
	"reflect"
	"runtime/debug"

	"github.com/holdfast-go/holdfast/internal/jsonschema"
)

const kindFold = "fold"

// A Reducer folds one write into what is there. Its zero value is used, so implementations are empty structs. Both arguments
// belong to it.
type Reducer[T any] interface{ Reduce(acc, write T) (T, error) }

// Fold folds writes with a reducer of the user's, chosen by type: state.Fold[float64, Max]. The log keeps the folded value,
// so that old states do not depend on the reducer. The zero value is ready to use.
type Fold[T any, R Reducer[T]] struct {
	header
	c      *codec[T]
	base   *T
	w, cut *foldWrite[T]
}

type foldWrite[T any] struct {
	start *T // replaces what is there
	vs    []T
}

func (f *Fold[T, R]) codec() *codec[T] {
	if f.c == nil {
		return codecFor[T]()
	}
	return f.c
}

// Get returns the folded value, this view's writes included. A write that the reducer refuses is passed over here, and fails
// the superstep at its end. It costs a call of the reducer for each write of the view.
func (f *Fold[T, R]) Get() (v T) {
	c := f.codec()
	from, w := f.base, f.w
	if w != nil && w.start != nil {
		from = w.start
	}
	if from != nil {
		v = c.copy(from)
	}
	if w == nil {
		return v
	}
	var r R
	for i := range w.vs {
		var before T
		if !c.flat {
			before = c.copy(&v)
		} else {
			before = v
		}
		next, err := r.Reduce(v, c.copy(&w.vs[i]))
		if err != nil {
			next = before
		}
		v = next
	}
	return v
}

// Put writes w.
func (f *Fold[T, R]) Put(w T) {
	if f.w == nil {
		f.w = new(foldWrite[T])
	}
	f.w.vs, f.written = append(f.w.vs, w), true
}

// Replace puts v in the place of the folded value, and of what other tasks write in this superstep. The reducer does not see it.
func (f *Fold[T, R]) Replace(v T) { f.w, f.written = &foldWrite[T]{start: &v}, true }

func (f *Fold[T, R]) cast(p unsafe.Pointer) field         { return (*Fold[T, R])(p) }
func (f *Fold[T, R]) kind() string                        { return kindFold }
func (f *Fold[T, R]) elem() reflect.Type                  { return reflect.TypeFor[T]() }
func (f *Fold[T, R]) schema() (*jsonschema.Schema, error) { return jsonschema.For(f.elem()) }
func (f *Fold[T, R]) single() bool                        { return false }
func (f *Fold[T, R]) persisted() bool                     { return true }
func (f *Fold[T, R]) mistakes() []string                  { return codecFor[T]().errs }
func (f *Fold[T, R]) attach()                             { f.c = codecFor[T]() }
func (f *Fold[T, R]) present() bool                       { return f.base != nil }

func (f *Fold[T, R]) settle() {
	if f.w != nil {
		v := f.Get()
		f.base = &v
	}
	f.w, f.cut = nil, nil
	f.reset()
}

func (f *Fold[T, R]) freeze() *fault {
	cut := &foldWrite[T]{vs: make([]T, len(f.w.vs))}
	if f.w.start != nil {
		v, bad := f.c.cut(f.w.start)
		if bad != nil {
			return bad
		}
		cut.start = &v
	}
	for i := range f.w.vs {
		v, bad := f.c.cut(&f.w.vs[i])
		if bad != nil {
			return bad
		}
		cut.vs[i] = v
	}
	f.cut = cut
	return f.seal(modeOf(cut.start != nil))
}

// A reducerPanic keeps the stack of a reducer's panic.
type reducerPanic struct {
	value string
	stack string
}

func (e *reducerPanic) Error() string { return "the reducer panicked: " + e.value }

func (f *Fold[T, R]) fold(from field) error {
	cut := from.(*Fold[T, R]).cut
	at := f.base
	if cut.start != nil {
		at = cut.start
	}
	var v T
	if at != nil {
		v = f.c.copy(at)
	}
	if len(cut.vs) > 0 {
		var err error
		if v, err = f.reduce(v, cut.vs); err != nil {
			return err
		}
	}
	out, bad := f.c.cut(&v) // what the reducer returned may share memory with what it keeps
	if bad != nil {
		return fmt.Errorf("the reducer returned a value that cannot be stored: %w", bad)
	}
	f.base = &out
	return nil
}

// reduce runs the reducer on a goroutine of its own, so that a Goexit in it ends that one and not the caller.
func (f *Fold[T, R]) reduce(v T, ws []T) (_ T, err error) {
	done := make(chan struct{})
	err = &reducerPanic{value: "it called runtime.Goexit"}
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				err = &reducerPanic{fmt.Sprint(p), string(debug.Stack())}
			}
		}()
		var r R
		for i := range ws {
			next, failed := r.Reduce(v, f.c.copy(&ws[i]))
			if failed != nil {
				err = failed
				return
			}
			v = next
		}
		err = nil
	}()
	<-done
	return v, err
}

func (f *Fold[T, R]) encode(b []byte) (_ []byte, err error) {
	if f.cut.start != nil {
		if b, err = f.c.append(append(b, `{"r":`...), f.cut.start); err != nil {
			return b, err
		}
		b = append(b, `,"w":`...)
	}
	b = append(b, '[')
	for i := range f.cut.vs {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = f.c.append(b, &f.cut.vs[i]); err != nil {
			return b, err
		}
	}
	b = append(b, ']')
	if f.cut.start != nil {
		b = append(b, '}')
	}
	return b, nil
}

func (f *Fold[T, R]) decode(data []byte) error {
	cut := new(foldWrite[T])
	f.cut = cut
	f.seal(wrote)
	if bytes.HasPrefix(data, []byte(`{"r":`)) {
		f.seal(replaced)
		end := skip(data, 5)
		cut.start = new(T)
		if err := f.c.decode(data[5:end], cut.start); err != nil {
			return err
		}
		if data[end] == '}' {
			return nil
		}
		rest, ok := bytes.CutPrefix(data[end:len(data)-1], []byte(`,"w":`))
		if !ok {
			return errForm
		}
		data = rest
	}
	var err error
	cut.vs, err = f.c.decodeAll(data)
	return err
}

func (f *Fold[T, R]) json(b []byte) ([]byte, error) { return f.c.append(b, f.base) }

func (f *Fold[T, R]) parse(data []byte) (func(), error) {
	v := new(T)
	err := f.codec().read(newStrictReader(), data, v)
	return func() { f.Put(*v) }, err
}
