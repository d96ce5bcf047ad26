package state

import (
	"encoding/json"
	"reflect"
)

// A Write is what one task wrote to one field. A snapshot uses the same form: it is a write onto an empty state.
type Write struct {
	Field string          // the field's durable name: its json name, "group.field" in a group
	Kind  string          // says how to fold Data without the program, such as "list" or "sum.int64"
	Data  json.RawMessage // compact JSON; the package comment has the form of each kind
}

// Info describes one field of a state.
type Info struct {
	Name      string       // the durable name
	Kind      string       // as in Write
	Aliases   []string     // earlier names, whose stored values are still read
	Elem      reflect.Type // the type argument: of the values for Map, of the keys for Set
	Hidden    bool         // kept out of JSON and JSONSchema by the tag `state:"hidden"`
	Persisted bool         // false for Untracked
}

// A Schema is what is known about the state struct S. It is immutable and safe for concurrent use.
type Schema[S any] struct{ fields []Info }

// A Head is a committed state. It is immutable and safe for concurrent readers.
type Head[S any] struct{ s S }

// A Part is what one task of a superstep wrote.
type Part[S any] struct {
	Task string // names the task in errors
	View *S     // a frozen view
}

// Of inspects S. The error joins every mistake it finds; each names a Go field and says what to do.
func Of[S any]() (*Schema[S], error) { panic("state: not built yet") }

// Fields lists the fields in the order of their declaration.
func (sc *Schema[S]) Fields() []Info { panic("state: not built yet") }

// JSONSchema describes the one JSON form of S, without hidden and unpersisted fields.
func (sc *Schema[S]) JSONSchema() json.RawMessage { panic("state: not built yet") }

// Empty returns the state in which nothing was ever written.
func (sc *Schema[S]) Empty() *Head[S] { panic("state: not built yet") }

// View returns a task's own view of h. It costs one allocation.
func (sc *Schema[S]) View(h *Head[S]) *S { panic("state: not built yet") }

// Sub returns a view that reads what v reads, v's writes included, and has no writes of its own.
func (sc *Schema[S]) Sub(v *S) *S { panic("state: not built yet") }

// Wrote returns the name of a field that was written through v, or "" if there is none. It does not allocate.
func (sc *Schema[S]) Wrote(v *S) string { panic("state: not built yet") }

// Freeze fixes what v wrote: it checks the values and copies what the task might still change. What is written through v
// later is not committed. A second call changes nothing. The error is a *ValueError.
func (sc *Schema[S]) Freeze(v *S) error { panic("state: not built yet") }

// Encode freezes v and returns the writes of its persisted fields in the order of their declaration.
func (sc *Schema[S]) Encode(v *S) ([]Write, error) { panic("state: not built yet") }

// Decode returns a frozen view that holds ws, for Commit. Fields it does not know are skipped. The error is a *FieldError.
func (sc *Schema[S]) Decode(ws []Write) (*S, error) { panic("state: not built yet") }

// Commit folds the frozen views of parts into h, in their order. The writes that it returns belong to the step, not to a
// task: the folded values of Fold fields, and renames of fields that were stored under an alias. Give them to [Raw.Apply] as
// they are. h stays as it is, also after an error, which is a *ConflictError or a *ReduceError.
func (sc *Schema[S]) Commit(h *Head[S], parts []Part[S]) (*Head[S], []Write, error) {
	panic("state: not built yet")
}

// Restore decodes a stored state. The error is a *FieldError.
func (sc *Schema[S]) Restore(r *Raw) (*Head[S], error) { panic("state: not built yet") }

// Unknown lists the fields that r holds and S does not have, in name order.
func (sc *Schema[S]) Unknown(r *Raw) []string { panic("state: not built yet") }

// JSON returns h in the one JSON form: an object of the fields that were ever written, in name order, hidden ones left out.
func (sc *Schema[S]) JSON(h *Head[S]) ([]byte, error) { panic("state: not built yet") }

// Merge writes the fields of the JSON object b, in the one JSON form, through v. Unknown names are an error, and then nothing
// is written.
func (sc *Schema[S]) Merge(v *S, b []byte) error { panic("state: not built yet") }
