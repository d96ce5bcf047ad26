// Package persist has immutable collections. An operation returns a new collection and leaves the old one as it was, at the
// cost of a path from the root: two allocations a level, one level for each factor of 16.
//
// Operations that make many changes pass one *Edit: nodes that were made under an edit are changed in place by the same edit.
// A collection under edit has one owner; it may be shared when the edit is dropped. A nil edit never changes anything in place.
package persist

// An Edit marks the nodes that one series of changes made and may change again.
type Edit struct{ _ byte } // not empty: each has an address of its own

const (
	bits = 4 // of the hash or of the index, used up by one level
	wide = 1 << bits
	mask = wide - 1
)
