package graph

import (
	"encoding/json"

	"github.com/holdfast-go/holdfast/internal/record"
	"github.com/holdfast-go/holdfast/state"
)

// bareOps are the ops of a state whose program is not there. Heads are *state.Raw, views *bareView.
type bareOps struct{}

// A bareView is what somebody writes to a state without the program.
type bareView struct {
	raw            *state.Raw
	writes, folded record.Writes
}

func (bareOps) empty() any                             { return state.NewRaw() }
func (bareOps) view(head any) any                      { return &bareView{raw: head.(*state.Raw)} }
func (bareOps) sub(view any) any                       { return view }
func (bareOps) wrote(any) string                       { return "" }
func (bareOps) wroteUnstored(any) string               { return "" }
func (bareOps) freeze(any) error                       { return nil }
func (bareOps) encode(view any) (record.Writes, error) { return view.(*bareView).writes, nil }
func (bareOps) decode(ws record.Writes) (any, error)   { return &bareView{writes: ws}, nil }
func (bareOps) recycle(any)                            {}
func (bareOps) stored(head any) any                    { return head }
func (bareOps) restore(raw *state.Raw) (any, error)    { return raw.Clone(), nil }
func (bareOps) unknown(*state.Raw) []string            { return nil }
func (bareOps) json(head any) ([]byte, error)          { return head.(*state.Raw).JSON() }
func (bareOps) fields() []state.Info                   { return nil }
func (bareOps) schema() json.RawMessage                { return json.RawMessage(`{"type":"object"}`) }

// commit folds what needs no reducer of the program; the caller sees to it that nothing else is there (reduces).
func (bareOps) commit(head any, parts []part) (any, record.Writes, error) {
	list := make([][]state.Write, len(parts))
	for i, p := range parts {
		list[i] = p.view.(*bareView).writes
	}
	next := head.(*state.Raw).Clone()
	return next, nil, next.Apply(list, nil)
}

func (bareOps) merge(view any, doc []byte) (err error) {
	v := view.(*bareView)
	v.writes, v.folded, err = v.raw.Merge(doc)
	return err
}

// kindFold is the kind of what a reducer of the program folds, as package state documents it.
const kindFold = "fold"

// reduces reports whether a finished task of the open superstep has written what only the program can fold.
func reduces(log *record.Thread) bool {
	for _, t := range log.Next {
		res := log.Results[t.ID]
		if res == nil || res.Fail != "" {
			continue
		}
		for _, w := range res.Writes {
			if w.Kind == kindFold {
				return true
			}
		}
	}
	return false
}
