package state

import (
	"reflect"
	"unsafe"
)

// Last keeps the last value that was set. One task may set it in a superstep; two are a *ConflictError. The zero value is
// ready to use.
type Last[T any] struct{ cell[T] }

// Get returns the value, or the zero value if none was set. A T with pointers, slices or maps is copied, by its own Clone
// method if it has one.
func (f *Last[T]) Get() T {
	v, _ := f.get()
	return v
}

// Has reports whether a value was ever set. The zero value counts.
func (f *Last[T]) Has() bool { return f.now() != nil }

// Set sets the value. It is a write even if the value is the same as before.
func (f *Last[T]) Set(v T) { f.set(&v) }

func (f *Last[T]) cast(p unsafe.Pointer) field { return (*Last[T])(p) }
func (f *Last[T]) kind() string                { return kindLast }
func (f *Last[T]) fold(from field) error {
	f.base = from.(*Last[T]).cut
	return nil
}

// Ephemeral keeps a value for one superstep: what a task sets is read in the next superstep and gone after it. One task may
// set it in a superstep. The zero value is ready to use.
type Ephemeral[T any] struct{ cell[T] }

// Get returns the value and whether there is one. It copies as Last.Get does.
func (f *Ephemeral[T]) Get() (T, bool) { return f.get() }

// Set sets the value.
func (f *Ephemeral[T]) Set(v T) { f.set(&v) }

func (f *Ephemeral[T]) cast(p unsafe.Pointer) field { return (*Ephemeral[T])(p) }
func (f *Ephemeral[T]) kind() string                { return kindEphemeral }
func (f *Ephemeral[T]) expire()                     { f.base = nil }
func (f *Ephemeral[T]) fold(from field) error {
	f.base = from.(*Ephemeral[T]).cut
	return nil
}

// Untracked keeps a value in memory, of any type. It is never stored and never in JSON, and a thread that is loaded again
// begins without it. The value is handed out as it is, not as a copy: what its pointers lead to is shared by all tasks. One
// task may set it in a superstep. The zero value is ready to use.
type Untracked[T any] struct{ cell[T] }

// Get returns the value, or the zero value if none was set.
func (f *Untracked[T]) Get() (v T) {
	if p := f.now(); p != nil {
		return *p
	}
	return v
}

// Set sets the value.
func (f *Untracked[T]) Set(v T) { f.set(&v) }

func (f *Untracked[T]) cast(p unsafe.Pointer) field { return (*Untracked[T])(p) }
func (f *Untracked[T]) kind() string                { return "untracked" }
func (f *Untracked[T]) elem() reflect.Type          { return reflect.TypeFor[T]() }
func (f *Untracked[T]) persisted() bool             { return false }
func (f *Untracked[T]) mistakes() []string          { return nil }
func (f *Untracked[T]) attach()                     {}
func (f *Untracked[T]) forget()                     { f.base = nil }
func (f *Untracked[T]) freeze() *fault {
	f.cut = f.w
	return f.seal(wrote)
}
func (f *Untracked[T]) fold(from field) error {
	f.base = from.(*Untracked[T]).cut
	return nil
}
