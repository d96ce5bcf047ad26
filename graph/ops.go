package graph

import (
	"encoding/json"

	"github.com/holdfast-go/holdfast/internal/record"
	"github.com/holdfast-go/holdfast/state"
)

// ops is what the engine does with a state whose type it does not know. Heads and views are *state.Head[S] and *S.
type ops interface {
	empty() any
	view(head any) any
	sub(view any) any
	wrote(view any) string
	wroteUnstored(view any) string
	freeze(view any) error
	encode(view any) (record.Writes, error)
	decode(ws record.Writes) (any, error)
	commit(head any, parts []part) (any, record.Writes, error)
	recycle(head any)
	restore(raw *state.Raw) (any, error)
	stored(head any) any
	unknown(raw *state.Raw) []string
	json(head any) ([]byte, error)
	merge(view any, doc []byte) error
	fields() []state.Info
	schema() json.RawMessage
}

// A part is one task's contribution to a superstep.
type part struct {
	task string
	view any
}

// typed is ops for one S.
type typed[S any] struct{ s *state.Schema[S] }

func (t typed[S]) empty() any            { return t.s.Empty() }
func (t typed[S]) view(head any) any     { return t.s.View(head.(*state.Head[S])) }
func (t typed[S]) sub(view any) any      { return t.s.Sub(view.(*S)) }
func (t typed[S]) wrote(view any) string { return t.s.Wrote(view.(*S)) }
func (t typed[S]) wroteUnstored(view any) string {
	return t.s.WroteUnstored(view.(*S))
}
func (t typed[S]) freeze(view any) error { return t.s.Freeze(view.(*S)) }

func (t typed[S]) encode(view any) (record.Writes, error) {
	ws, err := t.s.Encode(view.(*S))
	return ws, err
}

func (t typed[S]) decode(ws record.Writes) (any, error) {
	v, err := t.s.Decode(ws)
	return v, err
}

func (t typed[S]) commit(head any, parts []part) (any, record.Writes, error) {
	var one [1]state.Part[S]
	list := one[:0]
	for _, p := range parts {
		list = append(list, state.Part[S]{Task: p.task, View: p.view.(*S)})
	}
	next, folded, err := t.s.Commit(head.(*state.Head[S]), list)
	if err != nil {
		return nil, nil, err
	}
	return next, folded, nil
}

func (t typed[S]) recycle(head any) { t.s.Recycle(head.(*state.Head[S])) }

func (t typed[S]) restore(raw *state.Raw) (any, error) {
	h, err := t.s.Restore(raw)
	return h, err
}

func (t typed[S]) stored(head any) any              { return t.s.Stored(head.(*state.Head[S])) }
func (t typed[S]) unknown(raw *state.Raw) []string  { return t.s.Unknown(raw) }
func (t typed[S]) json(head any) ([]byte, error)    { return t.s.JSON(head.(*state.Head[S])) }
func (t typed[S]) merge(view any, doc []byte) error { return t.s.Merge(view.(*S), doc) }
func (t typed[S]) fields() []state.Info             { return t.s.Fields() }
func (t typed[S]) schema() json.RawMessage          { return t.s.JSONSchema() }
