package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/holdfast-go/holdfast/internal/jsonschema"
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
	Aliases   []string     // earlier durable names, whose stored values are still read
	Elem      reflect.Type // the type argument: of the values for Map, of the keys for Set
	Hidden    bool         // kept out of JSON and JSONSchema by the tag `state:"hidden"`
	Persisted bool         // false for Untracked
}

// A Schema is what is known about the state struct S. It is immutable and safe for concurrent use.
type Schema[S any] struct {
	slots  []slot
	byName map[string]int // durable names and aliases to slots
	sorted []int          // the slots that JSON shows, by name
	empty  *Head[S]
	schema json.RawMessage

	fleeting []int     // the slots of Ephemeral fields
	spare    sync.Pool // of *Head[S]
}

// A Head is a committed state. It is immutable and safe for concurrent readers.
type Head[S any] struct {
	s       S
	renames []Write // of fields that were stored under an alias; the next commit returns them
}

// A Part is what one task of a superstep wrote.
type Part[S any] struct {
	Task string // names the task in errors
	View *S     // a frozen view
}

func newSchema[S any](slots []slot) *Schema[S] {
	sc := &Schema[S]{slots: slots, byName: map[string]int{}, empty: new(Head[S])}
	for i := range slots {
		s := &slots[i]
		sc.byName[s.Name] = i
		for _, a := range s.Aliases {
			sc.byName[a] = i
		}
		if s.Persisted && !s.Hidden {
			sc.sorted = append(sc.sorted, i)
		}
		if s.Kind == kindEphemeral {
			sc.fleeting = append(sc.fleeting, i)
		}
		sc.at(&sc.empty.s, i).attach()
	}
	slices.SortFunc(sc.sorted, func(i, j int) int { return strings.Compare(slots[i].Name, slots[j].Name) })
	return sc
}

// at returns field i of v. The offset is that of a field of S with the slot's type, so the address is inside *v.
func (sc *Schema[S]) at(v *S, i int) field {
	s := &sc.slots[i]
	return s.cast(unsafe.Add(unsafe.Pointer(v), s.offset))
}

// header returns the header of field i of v.
func (sc *Schema[S]) header(v *S, i int) *header {
	return (*header)(unsafe.Add(unsafe.Pointer(v), sc.slots[i].offset)) // every field begins with it
}

// Fields lists the fields in the order of their declaration.
func (sc *Schema[S]) Fields() []Info {
	out := make([]Info, len(sc.slots))
	for i := range sc.slots {
		out[i] = sc.slots[i].Info
		out[i].Aliases = slices.Clone(out[i].Aliases)
	}
	return out
}

// JSONSchema describes the one JSON form of S, without hidden and unpersisted fields.
func (sc *Schema[S]) JSONSchema() json.RawMessage { return slices.Clone(sc.schema) }

// describe makes the JSON schema, the fields in the order of their declaration.
func (sc *Schema[S]) describe() error {
	var props []jsonschema.Property
	var errs []error
	for i := range sc.slots {
		s := &sc.slots[i]
		if s.Hidden || !s.Persisted {
			continue
		}
		js, err := sc.at(&sc.empty.s, i).schema()
		if err != nil {
			errs = append(errs, fmt.Errorf("state: field %s (%s): %w", s.Name, s.goName, err))
			continue
		}
		props = append(props, jsonschema.Property{Name: s.Name, Schema: js})
	}
	b, err := jsonschema.Object(props).MarshalJSON()
	sc.schema = b
	return errors.Join(append(errs, err)...)
}

// Empty returns the state in which nothing was ever written.
func (sc *Schema[S]) Empty() *Head[S] { return sc.empty }

// View returns a task's own view of h. It costs one allocation.
func (sc *Schema[S]) View(h *Head[S]) *S {
	v := new(S)
	*v = h.s
	return v
}

// Sub returns a view that reads what v reads, v's writes included, and has no writes of its own. It costs as much as v's
// writes to fields with keys.
func (sc *Schema[S]) Sub(v *S) *S {
	sub := new(S)
	*sub = *v
	for i := range sc.slots {
		sc.at(sub, i).settle()
	}
	return sub
}

// Wrote returns the name of a field that was written through v, or "" if there is none. It does not allocate.
func (sc *Schema[S]) Wrote(v *S) string {
	for i := range sc.slots {
		if sc.header(v, i).written {
			return sc.slots[i].Name
		}
	}
	return ""
}

// WroteUnstored returns the name of an Untracked field that was written through v, or "" if there is none: what Encode makes of
// v does not have it. It does not allocate.
func (sc *Schema[S]) WroteUnstored(v *S) string {
	for i := range sc.slots {
		if sc.header(v, i).written && !sc.slots[i].Persisted {
			return sc.slots[i].Name
		}
	}
	return ""
}

// Freeze fixes what v wrote: it checks the values and copies what the task might still change. What is written through v
// later is not committed. Call it once, on the goroutine of the task, when its function has returned; a second call changes
// nothing. The error joins a *ValueError for each field with a bad value, and then v must not be committed.
func (sc *Schema[S]) Freeze(v *S) error {
	var errs []error
	for i := range sc.slots {
		h := sc.header(v, i)
		switch {
		case h.sealed:
		case !h.written:
			h.sealed = true
		default:
			if bad := sc.at(v, i).freeze(); bad != nil {
				errs = append(errs, sc.valueError(i, bad))
			}
		}
	}
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}

func (sc *Schema[S]) valueError(i int, bad *fault) error {
	return &ValueError{Field: sc.slots[i].Name, Go: sc.slots[i].goName, Path: bad.path, Err: bad.err}
}

// Encode freezes v and returns the writes of its persisted fields in the order of their declaration.
func (sc *Schema[S]) Encode(v *S) ([]Write, error) {
	if err := sc.Freeze(v); err != nil {
		return nil, err
	}
	var ws []Write
	for i := range sc.slots {
		if !sc.slots[i].Persisted || sc.header(v, i).cutMode == untouched {
			continue
		}
		data, err := sc.at(v, i).encode(nil)
		if err != nil {
			return nil, sc.valueError(i, &fault{"", err})
		}
		ws = append(ws, Write{sc.slots[i].Name, sc.slots[i].Kind, data})
	}
	return ws, nil
}

// Decode returns a frozen view that holds ws, for Commit. Fields it does not know are skipped. The error is a *FieldError.
func (sc *Schema[S]) Decode(ws []Write) (*S, error) {
	v := sc.View(sc.empty)
	for _, w := range ws {
		i, ok := sc.byName[w.Field]
		if !ok {
			continue
		}
		f := sc.at(v, i)
		if sc.header(v, i).cutMode != untouched {
			return nil, sc.fieldError(i, fmt.Errorf("%w: written twice by one task", ErrCorrupt))
		}
		data, err := compact(w.Data)
		if err != nil {
			return nil, sc.fieldError(i, err)
		}
		if err := sc.decode(f, i, Write{w.Field, w.Kind, data}); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// decode decodes a write whose data is compact: what a Raw holds is.
func (sc *Schema[S]) decode(f field, i int, w Write) error {
	if w.Kind != sc.slots[i].Kind {
		return sc.fieldError(i, fmt.Errorf("it was stored as %s and is %s now", w.Kind, sc.slots[i].Kind))
	}
	if err := f.decode(w.Data); err != nil {
		return sc.fieldError(i, err)
	}
	return nil
}

func (sc *Schema[S]) fieldError(i int, err error) error {
	return &FieldError{Field: sc.slots[i].Name, Go: sc.slots[i].goName, Err: err}
}

// Restore decodes a stored state. The error is a *FieldError: the field's kind has changed and r holds a value of it, or a
// value does not fit its type.
func (sc *Schema[S]) Restore(r *Raw) (*Head[S], error) {
	h := &Head[S]{s: sc.empty.s}
	for i := range sc.slots {
		s := &sc.slots[i]
		name, err := s.stored(r)
		if err != nil {
			return nil, sc.fieldError(i, err)
		}
		for _, a := range s.Aliases {
			h.renames = append(h.renames, Write{s.Name, kindRename, appendString(nil, a)})
		}
		if name == "" {
			continue
		}
		v := sc.View(sc.empty)
		g := sc.at(v, i)
		if err := sc.decode(g, i, r.fields[name].write(name)); err != nil {
			return nil, err
		}
		if err := sc.at(&h.s, i).fold(g); err != nil {
			return nil, sc.fieldError(i, err)
		}
	}
	return h, nil
}

// Stored returns h as it is after it was stored and restored: without what is not persisted.
func (sc *Schema[S]) Stored(h *Head[S]) *Head[S] {
	out := &Head[S]{s: h.s}
	for i := range sc.slots {
		if !sc.slots[i].Persisted {
			sc.at(&out.s, i).(interface{ forget() }).forget()
		}
	}
	return out
}

// stored returns the name under which r has the field, "" if it has no value of it.
func (s *slot) stored(r *Raw) (name string, err error) {
	for _, n := range append([]string{s.Name}, s.Aliases...) {
		f, ok := r.fields[n]
		switch {
		case !ok || f.kind != s.Kind && f.value.empty():
		case name != "" && f.value.empty():
		case name != "" && !r.fields[name].value.empty():
			return "", fmt.Errorf("it is stored both as %s and as %s, its alias: fold one of them away before you go on", name, n)
		default:
			name = n
		}
	}
	return name, nil
}

// Unknown lists the fields that r holds and S does not have, in name order.
func (sc *Schema[S]) Unknown(r *Raw) []string {
	var out []string
	for name, f := range r.fields {
		if _, ok := sc.byName[name]; !ok && !f.value.empty() {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// JSON returns h in the one JSON form: an object of the fields that were ever written, in name order, hidden ones left out.
func (sc *Schema[S]) JSON(h *Head[S]) ([]byte, error) {
	b := []byte{'{'}
	for _, i := range sc.sorted {
		f := sc.at(&h.s, i)
		if !f.present() {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		var err error
		if b, err = f.json(append(b, sc.slots[i].quoted...)); err != nil {
			return nil, sc.valueError(i, &fault{"", err})
		}
	}
	return append(b, '}'), nil
}
