package nodes

import (
	"context"
	"encoding/json"

	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

// A Model answers requests. It is safe for concurrent use.
//
// Generate returns an error unless the whole answer arrived: a stream that was cut, cancelled, or ended by an error is never a
// success. With an error, Answer.Message holds the text and reasoning that had arrived, marked Partial, without calls. The error
// is a *ModelError, or that of the context.
//
// stream gets the parts of the answer as they arrive, in order, on the caller's goroutine or one that has ended before Generate
// returns; it may be nil. The message of a successful Answer is what was streamed, put together; each call has an id, a name and
// its arguments exactly as the model wrote them, in the order in which the calls began.
type Model interface {
	Generate(ctx context.Context, r Request, stream func(Delta)) (Answer, error)
}

// A Request is one call of a model.
type Request struct {
	Messages []message.Message // valid; never written to
	Tools    []working.Tool
	NoCalls  bool    // the model must answer without calling a tool; Tools are still told, so that a provider's cache holds
	Output   *Output // the form of the answer; nil: text
}

// An Output is the form that an answer must have. Make it with OutputOf.
type Output struct {
	Name   string          // for the provider
	Schema json.RawMessage // JSON Schema

	check func(doc []byte) error
}

// A Delta is a part of an answer that has just arrived. One of Text, Reasoning and Call is set.
type Delta struct {
	Text      string     `json:"text,omitzero"`
	Reasoning string     `json:"reasoning,omitzero"`
	Call      *CallDelta `json:"call,omitzero"`
}

// A CallDelta is a part of a call.
type CallDelta struct {
	Index int    `json:"index"`       // of the call in the answer
	ID    string `json:"id,omitzero"` // of the provider; in events there is none, since the call gets an id of its own
	Name  string `json:"name,omitzero"`
	Args  string `json:"args,omitzero"` // what was added to the arguments
}

// An Answer is what a model said.
type Answer struct {
	Message message.Message // of the assistant, with a random id
	Stop    Stop
	Usage   Usage
	Model   string // that answered, as the provider calls it
}

// A Stop says why a model stopped.
type Stop string

// The reasons to stop of a complete answer.
const (
	StopEnd    Stop = "end"    // it had said what it wanted, or called tools
	StopLength Stop = "length" // it reached its limit of output tokens: the text ends in the middle
)

// A Usage is what a provider has counted.
type Usage struct {
	Input     int `json:"input"`     // tokens of the request, cached ones among them
	Cached    int `json:"cached"`    // of Input, those that the provider had in its cache
	Output    int `json:"output"`    // tokens of the answer, reasoning among them
	Reasoning int `json:"reasoning"` // of Output
}

// A ModelFunc is a function as a Model.
type ModelFunc func(ctx context.Context, r Request, stream func(Delta)) (Answer, error)

// Generate calls f.
func (f ModelFunc) Generate(ctx context.Context, r Request, stream func(Delta)) (Answer, error) {
	return f(ctx, r, stream)
}

// WrapModel returns a model that calls around with the next one, for logs, limits, caches, or changes of requests and answers.
func WrapModel(next Model, around func(ctx context.Context, r Request, stream func(Delta), next Model) (Answer, error)) Model {
	return ModelFunc(func(ctx context.Context, r Request, stream func(Delta)) (Answer, error) {
		return around(ctx, r, stream, next)
	})
}
