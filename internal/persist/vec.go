package persist

import "iter"

// A Vec is an immutable array. The zero value is empty.
type Vec[T any] struct {
	root  *vnode[T]
	n     int
	shift uint // of the root; 0 is a leaf
}

type vnode[T any] struct {
	edit *Edit
	kids []*vnode[T] // of a branch
	vals []T         // of a leaf
}

// Len returns the number of elements.
func (v Vec[T]) Len() int { return v.n }

// At returns element i, which must exist.
func (v Vec[T]) At(i int) T {
	n := v.root
	for s := v.shift; s > 0; s -= bits {
		n = n.kids[i>>s&mask]
	}
	return n.vals[i&mask]
}

// Set returns an array in which element i, which must exist, is x.
func (v Vec[T]) Set(e *Edit, i int, x T) Vec[T] {
	v.root = v.root.set(e, v.shift, i, x)
	return v
}

// Append returns an array with x at its end.
func (v Vec[T]) Append(e *Edit, x T) Vec[T] {
	if v.root != nil && v.n == wide<<v.shift {
		v.root, v.shift = &vnode[T]{edit: e, kids: []*vnode[T]{v.root}}, v.shift+bits
	}
	v.root = v.root.set(e, v.shift, v.n, x)
	v.n++
	return v
}

// Pop returns an array without the last element, which must exist.
func (v Vec[T]) Pop(e *Edit) Vec[T] {
	var zero T // the slot stays, to be used again; the element must not
	v = v.Set(e, v.n-1, zero)
	v.n--
	return v
}

func (n *vnode[T]) set(e *Edit, shift uint, i int, x T) *vnode[T] {
	n = n.own(e)
	j := i >> shift & mask
	if shift == 0 {
		if j == len(n.vals) {
			n.vals = append(n.vals, x)
		} else {
			n.vals[j] = x
		}
		return n
	}
	if j == len(n.kids) {
		n.kids = append(n.kids, nil)
	}
	n.kids[j] = n.kids[j].set(e, shift-bits, i, x)
	return n
}

func (n *vnode[T]) own(e *Edit) *vnode[T] {
	switch {
	case n == nil:
		return &vnode[T]{edit: e}
	case e != nil && n.edit == e:
		return n
	}
	c := &vnode[T]{edit: e}
	if n.kids != nil {
		c.kids = append(make([]*vnode[T], 0, min(len(n.kids)+1, wide)), n.kids...)
	} else {
		c.vals = append(make([]T, 0, min(len(n.vals)+1, wide)), n.vals...)
	}
	return c
}

// All iterates over the elements.
func (v Vec[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		left := v.n // what was popped has left its slots
		v.root.all(func(x T) bool { left--; return left >= 0 && yield(x) })
	}
}

func (n *vnode[T]) all(yield func(T) bool) bool {
	if n == nil {
		return true
	}
	for _, c := range n.kids {
		if !c.all(yield) {
			return false
		}
	}
	for _, x := range n.vals {
		if !yield(x) {
			return false
		}
	}
	return true
}
