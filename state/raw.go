package state

// A Raw is a state folded without the program that wrote it. It has one owner; it is not safe for concurrent use.
type Raw struct{}

// NewRaw returns an empty state.
func NewRaw() *Raw { return &Raw{} }

// Apply folds one superstep: the writes of its tasks in task order, and what Commit returned beside the head. The result is
// the same as Commit's. Fields of a kind that this release does not know are kept as the sequence of their writes. After an
// error r is as before.
func (r *Raw) Apply(parts [][]Write, folded []Write) error { panic("state: not built yet") }

// Size returns the sum of the lengths of Snapshot's data, in bytes. It costs nothing.
func (r *Raw) Size() int64 { panic("state: not built yet") }

// Snapshot returns the whole state as writes onto an empty one, in field name order. Equal states have equal snapshots.
func (r *Raw) Snapshot() []Write { panic("state: not built yet") }

// Restore fills r, which must be empty, from a snapshot.
func (r *Raw) Restore(ws []Write) error { panic("state: not built yet") }

// JSON returns the state in the one JSON form, without the fields named by hide.
func (r *Raw) JSON(hide ...string) ([]byte, error) { panic("state: not built yet") }

// Clone returns a copy that shares nothing that changes.
func (r *Raw) Clone() *Raw { panic("state: not built yet") }
