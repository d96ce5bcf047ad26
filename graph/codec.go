package graph

import (
	"encoding/json"
	"fmt"

	"github.com/holdfast-go/holdfast/state"
)

// A codec encodes values that are not in the state under the rules of the state: send arguments, results of Once,
// answers. It is a state of one field, so that there is one set of rules (E10).
type codec[T any] struct{ schema *state.Schema[box[T]] }

type box[T any] struct {
	V state.Last[T] `json:"value"`
}

func codecOf[T any]() (*codec[T], error) {
	s, err := state.Of[box[T]]()
	if err != nil {
		return nil, err
	}
	return &codec[T]{s}, nil
}

func (c *codec[T]) encode(v T) (json.RawMessage, error) {
	view := c.schema.View(c.schema.Empty())
	view.V.Set(v)
	ws, err := c.schema.Encode(view)
	if err != nil {
		return nil, err
	}
	return ws[0].Data, nil
}

func (c *codec[T]) decode(raw json.RawMessage) (v T, err error) {
	view, err := c.schema.Decode([]state.Write{{Field: "value", Kind: c.schema.Fields()[0].Kind, Data: raw}})
	if err != nil {
		return v, err
	}
	head, _, err := c.schema.Commit(c.schema.Empty(), []state.Part[box[T]]{{View: view}})
	if err != nil {
		return v, err
	}
	return c.schema.View(head).V.Get(), nil
}

// encodeValue encodes one value of a type that is not known before.
func encodeValue[T any](v T) (json.RawMessage, error) {
	c, err := codecOf[T]()
	if err != nil {
		return nil, fmt.Errorf("type %T cannot be stored: %w", v, err)
	}
	return c.encode(v)
}

func decodeValue[T any](raw json.RawMessage) (T, error) {
	c, err := codecOf[T]()
	if err != nil {
		var zero T
		return zero, err
	}
	return c.decode(raw)
}
