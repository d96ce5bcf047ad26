package state

import "iter"

type noCopy struct{} // makes go vet report a state that is passed by value

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// Last keeps the last value that was set. One task sets it in a superstep; two are a conflict.
type Last[T any] struct{ _ noCopy }

func (f *Last[T]) Get() (v T) { return }
func (f *Last[T]) Has() bool  { return false }
func (f *Last[T]) Set(v T)    {}

// List is a list that tasks append to.
type List[T any] struct{ _ noCopy }

func (f *List[T]) Len() int               { return 0 }
func (f *List[T]) At(i int) (v T)         { return }
func (f *List[T]) Last() (v T, ok bool)   { return }
func (f *List[T]) All() iter.Seq2[int, T] { return nil }
func (f *List[T]) Slice() []T             { return nil }
func (f *List[T]) Append(vs ...T)         {}
func (f *List[T]) Replace(vs ...T)        {}

// Keyed is an ordered list of values with keys: a value with a key that is there replaces the old one in its place.
type Keyed[T interface{ Key() string }] struct{ _ noCopy }

func (f *Keyed[T]) Len() int                      { return 0 }
func (f *Keyed[T]) Get(key string) (v T, ok bool) { return }
func (f *Keyed[T]) Has(key string) bool           { return false }
func (f *Keyed[T]) Last() (v T, ok bool)          { return }
func (f *Keyed[T]) All() iter.Seq2[string, T]     { return nil }
func (f *Keyed[T]) Slice() []T                    { return nil }
func (f *Keyed[T]) Put(v T)                       {}
func (f *Keyed[T]) Append(vs ...T)                {}
func (f *Keyed[T]) Remove(key string) bool        { return false }
func (f *Keyed[T]) Replace(vs ...T)               {}

// Map merges by key.
type Map[K comparable, V any] struct{ _ noCopy }

func (f *Map[K, V]) Len() int               { return 0 }
func (f *Map[K, V]) Get(k K) (v V, ok bool) { return }
func (f *Map[K, V]) All() iter.Seq2[K, V]   { return nil }
func (f *Map[K, V]) Put(k K, v V)           {}
func (f *Map[K, V]) Delete(k K) bool        { return false }
func (f *Map[K, V]) Replace(m map[K]V)      {}
func (f *Map[K, V]) Clear()                 {}

// Set is a set of keys.
type Set[K comparable] struct{ _ noCopy }

func (f *Set[K]) Len() int         { return 0 }
func (f *Set[K]) Has(k K) bool     { return false }
func (f *Set[K]) All() iter.Seq[K] { return nil }
func (f *Set[K]) Add(ks ...K)      {}
func (f *Set[K]) Remove(k K) bool  { return false }
func (f *Set[K]) Clear()           {}

// Number is what Sum can add.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Sum adds up what tasks add.
type Sum[N Number] struct{ _ noCopy }

func (f *Sum[N]) Get() (n N)  { return }
func (f *Sum[N]) Add(n N)     {}
func (f *Sum[N]) Replace(n N) {}

// A Reducer folds one write into what is there. Implementations are empty structs.
type Reducer[T any] interface{ Reduce(acc, write T) (T, error) }

// Fold folds writes with a reducer of the user's, chosen by type.
type Fold[T any, R Reducer[T]] struct{ _ noCopy }

func (f *Fold[T, R]) Get() (v T)  { return }
func (f *Fold[T, R]) Put(w T)     {}
func (f *Fold[T, R]) Replace(v T) {}

// Ephemeral keeps a value for the next superstep only.
type Ephemeral[T any] struct{ _ noCopy }

func (f *Ephemeral[T]) Get() (v T, ok bool) { return }
func (f *Ephemeral[T]) Set(v T)             {}

// Untracked keeps a value in memory only.
type Untracked[T any] struct{ _ noCopy }

func (f *Untracked[T]) Get() (v T) { return }
func (f *Untracked[T]) Set(v T)    {}
