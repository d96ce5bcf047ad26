package state

import (
	"reflect"
	"unsafe"

	"github.com/holdfast-go/holdfast/internal/jsonschema"
)

type noCopy struct{} // makes go vet report a state that is passed by value

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// A mode is what the frozen writes of one task do to a field.
type mode uint8

const (
	untouched mode = iota
	wrote          // added to what is there
	replaced       // put something in the place of what is there
)

// A header begins every field, so that the schema sees what happened to a field without a call. A late writer, one that goes
// on after its view was frozen, touches none of what Commit reads.
type header struct {
	_       noCopy
	written bool // through this view
	sealed  bool // frozen
	cutMode mode // what the frozen writes do
}

func (h *header) reset() { h.written, h.sealed, h.cutMode = false, false, untouched }

func (h *header) seal(m mode) *fault {
	h.sealed, h.cutMode = true, m
	return nil
}

func modeOf(replaces bool) mode {
	if replaces {
		return replaced
	}
	return wrote
}

// A field is what the schema asks of a field type. A field has three layers: what is committed, which it shares with other
// views; what its view wrote; and what of that was frozen, which no later write through the view can reach.
type field interface {
	kind() string
	cast(p unsafe.Pointer) field // the field of the receiver's type at p
	elem() reflect.Type
	schema() (*jsonschema.Schema, error) // of the JSON form
	single() bool                        // one writer a superstep
	persisted() bool                     // has bytes
	mistakes() []string                  // of the type arguments
	attach()                             // finds the codecs, so that views need not look them up

	settle()               // makes what the view wrote what it was given; nothing is copied that can be shared
	freeze() *fault        // what the view wrote, which is something
	fold(from field) error // the frozen writes of from, a field of the same type, into what is committed

	encode(b []byte) ([]byte, error) // the frozen writes
	decode(data []byte) error        // to frozen writes; data is compact
	present() bool                   // was ever written and not expired
	json(b []byte) ([]byte, error)   // what is committed, in the JSON form
	parse(data []byte) (func(), error)
}
