package persist

import (
	"hash/maphash"
	"iter"
	mathbits "math/bits"
)

var seed = maphash.MakeSeed()

// A Map is an immutable hash map. The zero value is empty.
type Map[K comparable, V any] struct {
	root *node[K, V]
	n    int
	hash func(K) uint64 // nil in use; tests make keys collide
}

// node is a branch: bits says which of the 16 slots are there, kids has them in slot order.
type node[K comparable, V any] struct {
	edit *Edit
	bits uint16
	kids []kid[K, V]
}

type kid[K comparable, V any] struct { // one of the two is set
	node *node[K, V]
	leaf *leaf[K, V]
}

// leaf is immutable.
type leaf[K comparable, V any] struct {
	hash uint64
	key  K
	val  V
	next *leaf[K, V] // another key with the same 64 bits
}

// WithHash returns an empty map that uses hash, for tests of collisions.
func WithHash[K comparable, V any](hash func(K) uint64) Map[K, V] { return Map[K, V]{hash: hash} }

func (m Map[K, V]) sum(k K) uint64 {
	if m.hash != nil {
		return m.hash(k)
	}
	return maphash.Comparable(seed, k)
}

// Len returns the number of keys.
func (m Map[K, V]) Len() int { return m.n }

// Get returns the value of k.
func (m Map[K, V]) Get(k K) (v V, ok bool) {
	h := m.sum(k)
	n := m.root
	for shift := uint(0); n != nil; shift += bits {
		i, ok := n.find(h, shift)
		if !ok {
			return v, false
		}
		if l := n.kids[i].leaf; l != nil {
			return l.get(h, k)
		}
		n = n.kids[i].node
	}
	return v, false
}

// Put returns a map in which k has the value v.
func (m Map[K, V]) Put(e *Edit, k K, v V) Map[K, V] {
	l := &leaf[K, V]{hash: m.sum(k), key: k, val: v}
	if m.root == nil {
		m.root = &node[K, V]{edit: e}
	}
	root, added := m.root.put(e, l, 0)
	m.root = root
	if added {
		m.n++
	}
	return m
}

// Delete returns a map without k, and whether k was there.
func (m Map[K, V]) Delete(e *Edit, k K) (Map[K, V], bool) {
	if _, ok := m.Get(k); !ok {
		return m, false
	}
	m.root = m.root.remove(e, m.sum(k), k, 0)
	m.n--
	return m, true
}

// All iterates over the map, in no order that means anything.
func (m Map[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) { m.root.all(yield) }
}

// find returns the index in kids of h's slot, or where it would be.
func (n *node[K, V]) find(h uint64, shift uint) (int, bool) {
	bit := uint16(1) << (h >> shift & mask)
	return mathbits.OnesCount16(n.bits & (bit - 1)), n.bits&bit != 0
}

// own returns n for changing in place, a copy with room for extra kids if it is not e's.
func (n *node[K, V]) own(e *Edit, extra int) *node[K, V] {
	if e != nil && n.edit == e {
		return n
	}
	kids := make([]kid[K, V], len(n.kids), len(n.kids)+extra)
	copy(kids, n.kids)
	return &node[K, V]{edit: e, bits: n.bits, kids: kids}
}

func (n *node[K, V]) put(e *Edit, l *leaf[K, V], shift uint) (*node[K, V], bool) {
	i, ok := n.find(l.hash, shift)
	if !ok {
		n = n.own(e, 1)
		n.bits |= 1 << (l.hash >> shift & mask)
		n.kids = append(n.kids, kid[K, V]{})
		copy(n.kids[i+1:], n.kids[i:])
		n.kids[i] = kid[K, V]{leaf: l}
		return n, true
	}
	old, added := n.kids[i], true
	switch {
	case old.node != nil:
		old.node, added = old.node.put(e, l, shift+bits)
	case old.leaf.hash == l.hash:
		old.leaf, added = old.leaf.put(l)
	default:
		old.node, old.leaf = fork(e, old.leaf, l, shift+bits), nil
	}
	n = n.own(e, 0)
	n.kids[i] = old
	return n, added
}

// fork returns a branch that holds two leaves of different hashes.
func fork[K comparable, V any](e *Edit, a, b *leaf[K, V], shift uint) *node[K, V] {
	i, j := a.hash>>shift&mask, b.hash>>shift&mask
	n := &node[K, V]{edit: e, bits: 1<<i | 1<<j}
	switch {
	case i == j:
		n.kids = []kid[K, V]{{node: fork(e, a, b, shift+bits)}}
	case i < j:
		n.kids = []kid[K, V]{{leaf: a}, {leaf: b}}
	default:
		n.kids = []kid[K, V]{{leaf: b}, {leaf: a}}
	}
	return n
}

// remove returns n without k, which is there; nil if nothing is left.
func (n *node[K, V]) remove(e *Edit, h uint64, k K, shift uint) *node[K, V] {
	i, _ := n.find(h, shift)
	old := n.kids[i]
	if old.leaf != nil {
		old.leaf = old.leaf.remove(k)
	} else {
		old.node = old.node.remove(e, h, k, shift+bits)
		if c := old.node; c != nil && len(c.kids) == 1 && c.kids[0].leaf != nil {
			old = c.kids[0] // a branch with one leaf is that leaf
		}
	}
	if old.leaf == nil && old.node == nil {
		if len(n.kids) == 1 {
			return nil
		}
		n = n.own(e, 0)
		n.bits &^= 1 << (h >> shift & mask)
		n.kids = append(n.kids[:i], n.kids[i+1:]...)
		return n
	}
	n = n.own(e, 0)
	n.kids[i] = old
	return n
}

func (n *node[K, V]) all(yield func(K, V) bool) bool {
	if n == nil {
		return true
	}
	for _, c := range n.kids {
		if c.node != nil && !c.node.all(yield) {
			return false
		}
		for l := c.leaf; l != nil; l = l.next {
			if !yield(l.key, l.val) {
				return false
			}
		}
	}
	return true
}

func (l *leaf[K, V]) get(h uint64, k K) (v V, ok bool) {
	for ; l != nil; l = l.next {
		if l.hash == h && l.key == k {
			return l.val, true
		}
	}
	return v, false
}

func (l *leaf[K, V]) put(add *leaf[K, V]) (*leaf[K, V], bool) {
	rest := l.remove(add.key)
	_, had := l.get(add.hash, add.key)
	add.next = rest
	return add, !had
}

// remove returns the chain without k, copying what comes before it.
func (l *leaf[K, V]) remove(k K) *leaf[K, V] {
	if l == nil || l.key == k {
		if l == nil {
			return nil
		}
		return l.next
	}
	c := *l
	c.next = l.next.remove(k)
	return &c
}
