package persist

import "iter"

// An Ordered is an immutable map of strings that keeps the order in which its keys came. The zero value is empty.
type Ordered[V any] struct {
	at   Map[string, int] // the place of a key in list
	list Vec[*item[V]]    // nil where a key was removed; never at the end
}

type item[V any] struct {
	key string
	val V
}

// Len returns the number of keys.
func (o Ordered[V]) Len() int { return o.at.Len() }

// Get returns the value of k.
func (o Ordered[V]) Get(k string) (v V, ok bool) {
	i, ok := o.at.Get(k)
	if !ok {
		return v, false
	}
	return o.list.At(i).val, true
}

// Put returns a map in which k has the value v: in its old place, or at the end.
func (o Ordered[V]) Put(e *Edit, k string, v V) Ordered[V] {
	x := &item[V]{k, v}
	if i, ok := o.at.Get(k); ok {
		o.list = o.list.Set(e, i, x)
		return o
	}
	o.at = o.at.Put(e, k, o.list.Len())
	o.list = o.list.Append(e, x)
	return o
}

// Delete returns a map without k, and whether k was there.
func (o Ordered[V]) Delete(e *Edit, k string) (Ordered[V], bool) {
	i, ok := o.at.Get(k)
	if !ok {
		return o, false
	}
	o.at, _ = o.at.Delete(e, k)
	o.list = o.list.Set(e, i, nil)
	for n := o.list.Len(); n > 0 && o.list.At(n-1) == nil; n-- {
		o.list = o.list.Pop(e)
	}
	if o.list.Len() > 2*o.at.Len()+wide { // more holes than keys: each removal has paid for one step of this
		o = o.compact()
	}
	return o, true
}

func (o Ordered[V]) compact() Ordered[V] {
	var c Ordered[V]
	e := new(Edit)
	for k, v := range o.All() {
		c = c.Put(e, k, v)
	}
	return c
}

// Last returns the last key and its value, if there is one.
func (o Ordered[V]) Last() (k string, v V, ok bool) {
	if n := o.list.Len(); n > 0 {
		x := o.list.At(n - 1)
		return x.key, x.val, true
	}
	return k, v, false
}

// All iterates over the keys in order.
func (o Ordered[V]) All() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for x := range o.list.All() {
			if x != nil && !yield(x.key, x.val) {
				return
			}
		}
	}
}

// Backward iterates over the keys from the last to the first. Each step costs the logarithm of the length.
func (o Ordered[V]) Backward() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for i := o.list.Len() - 1; i >= 0; i-- {
			if x := o.list.At(i); x != nil && !yield(x.key, x.val) {
				return
			}
		}
	}
}
