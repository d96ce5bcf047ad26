package graph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph/internal/host"
	"github.com/holdfast-go/holdfast/internal/jsonschema"
)

// A Question waits for a person.
type Question struct {
	ID      string          `json:"id"` // answers go by it; it stays the same while its task is repeated
	Name    string          `json:"name"`
	Node    string          `json:"node"`
	Path    []string        `json:"path,omitzero"` // of the child graph that asks
	Task    string          `json:"task"`
	Prompt  json.RawMessage `json:"prompt"`            // what was asked, as JSON
	Schema  json.RawMessage `json:"schema"`            // JSON Schema of an answer
	Shown   []byte          `json:"shown"`             // hash of prompt and schema: an answer is bound to what was shown
	NotBy   string          `json:"not_by,omitzero"`   // who must not answer
	Refused string          `json:"refused,omitzero"`  // why the last answer was not taken
	Asked   time.Time       `json:"asked,omitzero"`    // the store's clock
	Expires time.Time       `json:"deadline,omitzero"` // by the store's clock; zero: never
	Default json.RawMessage `json:"default,omitzero"`  // the answer if nobody has answered by then; nil: the task gets ErrExpired
	Expired bool            `json:"expired,omitzero"`  // nobody can answer it any more; its task goes on when the thread is next taken up
}

// Text is the prompt when it is a string, and its JSON otherwise.
func (q Question) Text() string {
	var s string
	if json.Unmarshal(q.Prompt, &s) == nil {
		return s
	}
	return string(q.Prompt)
}

// Waits reports whether a node's error says nothing but that questions wait: those of Ask, and of a child graph. Code between
// Ask and the node, such as a wrapper that turns errors into results, has to pass such an error on.
func Waits(err error) bool { return onlySuspends(err) }

// PromptOf decodes the prompt of a question into the type that was asked with.
func PromptOf[Q any](q Question) (Q, error) { return decodeValue[Q](q.Prompt) }

// AskOptions of one question.
type AskOptions[A any] struct {
	Check func(A) error // refuses an answer with a reason; the question is then open again and shows the reason
	NotBy string        // who must not answer: the asker, where four eyes are required. An answer then needs a name (Command.By)

	// Past its deadline nobody can answer the question, by the store's clock. Resume, Recover or Serve then goes on with
	// Default as the answer; without one, Ask returns an *ExpiredError. Nothing happens before one of them is called.
	Within   time.Duration // from when it is first asked, in whole milliseconds; 0: see Deadline
	Deadline time.Time     // instead of Within; zero: never
	Default  *A            // nil: none. It must pass Check
}

// Ask suspends the task until a person has answered, and returns the answer on resume. The error it returns while it
// waits must be returned by the node, alone or joined with those of other questions. Code before Ask may run again on
// resume; put effects into Once.
//
// A question is known by its task, its name, and how often the task has asked under that name. The prompt is any value
// that the state could hold; nil, false, 0 and "" are answers. What a question was first asked with holds: deadline and
// default do not move when its task runs again.
func Ask[A, Q any](ctx context.Context, name string, prompt Q, opts ...AskOptions[A]) (answer A, err error) {
	h := host.From(ctx)
	if h == nil {
		return answer, ErrNoRun
	}
	var o AskOptions[A]
	switch len(opts) {
	case 0:
	case 1:
		o = opts[0]
	default:
		return answer, fmt.Errorf("question %s: one AskOptions at most", name)
	}
	q, err := newQuestion[A](name, prompt)
	if err == nil {
		err = o.apply(q)
	}
	if err != nil {
		return answer, fmt.Errorf("question %s: %w", name, err)
	}
	raw, err := h.Ask(q)
	if err != nil {
		return answer, err
	}
	answer, err = decodeValue[A](raw)
	if err == nil && o.Check != nil {
		err = o.Check(answer)
	}
	if err == nil {
		return answer, nil
	}
	var none A
	if q.Lapsed { // nobody can give another answer
		return none, fmt.Errorf("question %s: the default is refused: %w", name, err)
	}
	return none, h.Refuse(q, err)
}

// apply checks the options and puts them into the question.
func (o *AskOptions[A]) apply(q *host.Question) error {
	switch {
	case len(o.NotBy) > checkpoint.MaxKeyBytes || !validText(o.NotBy):
		return fmt.Errorf("NotBy is not valid UTF-8 without control characters, or longer than %d bytes", checkpoint.MaxKeyBytes)
	case o.Within != 0 && !o.Deadline.IsZero():
		return errors.New("it has Within and Deadline; one of them is enough")
	case o.Within < 0 || o.Within != 0 && o.Within < time.Millisecond:
		return errors.New("Within is shorter than a millisecond")
	case o.Default != nil && o.Within == 0 && o.Deadline.IsZero():
		return errors.New("a Default needs Within or Deadline")
	}
	q.NotBy, q.Within, q.Deadline = o.NotBy, o.Within, o.Deadline
	if o.Default == nil {
		return nil
	}
	if o.Check != nil {
		if err := o.Check(*o.Default); err != nil {
			return fmt.Errorf("its own check refuses the default: %w", err)
		}
	}
	var err error
	if q.Default, err = encodeValue(*o.Default); err != nil {
		return fmt.Errorf("default: %w", err)
	}
	return nil
}

func newQuestion[A, Q any](name string, prompt Q) (*host.Question, error) {
	if name == "" || !validName(name) {
		return nil, fmt.Errorf("a question needs a name of valid UTF-8 without control characters")
	}
	p, err := encodeValue(prompt)
	if err != nil {
		return nil, err
	}
	schema, err := schemaOf[A]()
	if err != nil {
		return nil, err
	}
	return &host.Question{Name: name, Prompt: p, Schema: schema}, nil
}

func schemaOf[A any]() (json.RawMessage, error) {
	if _, err := codecOf[A](); err != nil {
		return nil, err
	}
	s, err := jsonschema.For(reflect.TypeFor[A]())
	if err != nil {
		return nil, err
	}
	return s.MarshalJSON()
}

// A Command is what Resume is called with: an answer, a write, a goto, or the entry that is expected to be the head.
type Command struct {
	answer *answer
	write  func(view any) error
	goTo   *Next
	at     *int64
	force  bool // take the thread although nothing can run
	sweep  bool // nobody asks for it: go on only with what waits for nobody, and start what is queued
	err    error
}

type answer struct {
	id    string // empty: the one open question
	shown []byte
	value json.RawMessage
	by    string
}

// Answer answers a question as it was shown: if the question has changed since, the answer is refused.
func Answer[A any](q Question, value A) Command {
	c := AnswerID(q.ID, value)
	if c.answer != nil {
		c.answer.shown = q.Shown
	}
	return c
}

// AnswerID answers the question with that id.
func AnswerID[A any](id string, value A) Command {
	raw, err := encodeValue(value)
	if err != nil {
		return Command{err: fmt.Errorf("answer to %s: %w", id, err)}
	}
	return Command{answer: &answer{id: id, value: raw}}
}

// AnswerOnly answers the one open question. If there is none or more than one it is refused with an *AmbiguousError.
func AnswerOnly[A any](value A) Command { return AnswerID("", value) }

// AnswerJSON answers the question with that id with a JSON document; an empty id is the one open question.
func AnswerJSON(id string, doc json.RawMessage) Command {
	if !json.Valid(doc) {
		return Command{err: fmt.Errorf("answer to %s: not a JSON document", id)}
	}
	return Command{answer: &answer{id: id, value: doc}}
}

// By says who gives the answer.
func (c Command) By(name string) Command {
	if c.answer != nil {
		a := *c.answer
		a.by = name
		c.answer = &a
	}
	return c
}

// Update writes to the state before the run goes on.
func Update[S any](write func(*S)) Command {
	return Command{write: func(view any) error {
		v, ok := view.(*S)
		if !ok {
			return fmt.Errorf("graph.Update of %T on a graph over %T", (*S)(nil), view)
		}
		write(v)
		return nil
	}}
}

// Goto runs nodes in the next superstep, beside what is open. A breakpoint before them does not stop this call.
func Goto(n Next) Command { return Command{goTo: &n} }

// AtEntry says which entry must be the head of the thread: otherwise Resume is ErrNotHead and changes nothing.
func AtEntry(entry int64) Command { return Command{at: &entry} }
