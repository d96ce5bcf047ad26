// Package state holds the field types of a graph's state. A state is a struct; each field's type says how the writes of
// parallel tasks merge.
package state
