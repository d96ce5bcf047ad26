package graphtest

import (
	"encoding/json"
	"fmt"

	"github.com/holdfast-go/holdfast/state"
)

// A Reply is a scripted answer. It is made by Answer and AnswerJSON.
type Reply struct {
	name  string
	value json.RawMessage
	err   error
	late  bool // nobody answers before the deadline
}

// Answer scripts the answer to a question by name. Several under one name answer the question's occurrences in turn; one
// that the question's own check refuses is used up, and the next takes its place when the task runs again.
func Answer[A any](name string, value A) Reply {
	raw, err := encode(value)
	if err != nil {
		err = fmt.Errorf("answer to %s: %w", name, err)
	}
	return Reply{name: name, value: raw, err: err}
}

// Expire scripts that nobody answers a question before its deadline: Ask returns its default, or the *graph.ExpiredError.
func Expire(name string) Reply { return Reply{name: name, late: true} }

// AnswerJSON is Answer with a JSON document, as a server or a command line would send it.
func AnswerJSON(name string, doc json.RawMessage) Reply {
	r := Reply{name: name, value: doc}
	if !json.Valid(doc) {
		r.err = fmt.Errorf("answer to %s: not a JSON document", name)
	}
	return r
}

// holder is a state of one field: answers are encoded under the rules of the state, as the engine does it.
type holder[A any] struct {
	V state.Last[A] `json:"value"`
}

func encode[A any](value A) (json.RawMessage, error) {
	s, err := state.Of[holder[A]]()
	if err != nil {
		return nil, err
	}
	view := s.View(s.Empty())
	view.V.Set(value)
	ws, err := s.Encode(view)
	if err != nil {
		return nil, err
	}
	return ws[0].Data, nil
}
