package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"time"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

// A Tool is a Go function that a model may call. Make it with NewTool, NewRawTool, SubAgent, or take those of an MCP server
// from nodes/mcp.
type Tool struct {
	spec     working.Tool
	readOnly bool
	actions  []string
	policy   Policy
	fourEyes bool
	within   time.Duration
	timeout  time.Duration
	unknown  graph.OnUnknown
	inline   bool // it has no effect of its own to record: a sub-agent, whose steps are recorded themselves
	err      error

	valid func(args json.RawMessage) error                                          // the arguments fit
	asks  func(ctx context.Context, args json.RawMessage) (reason string, ask bool) // may be nil
	run   func(ctx context.Context, args json.RawMessage) (value json.RawMessage, parts []message.Part, err error)
	facts func(ctx context.Context, src session.Source, args, value json.RawMessage) ([]session.Change, error) // may be nil
	then  func(ctx context.Context, t *Turn, args, value json.RawMessage) (string, error)                      // may be nil
	wraps []around
}

// Name is what the model calls it by.
func (t Tool) Name() string { return t.spec.Name }

// Spec is what the model is told about it.
func (t Tool) Spec() working.Tool { return t.spec }

// NewTool makes a tool of a function. The schema of its arguments is that of A, a struct: tags json, description and enum
// count, and a field with omitzero or omitempty may be missing. Arguments that do not fit are answered with what is wrong;
// fn never sees them.
//
// An error of fn is what the model reads as the result, see Fatal for another way. A tool with an effect passes the key
// that Current gives it to whatever it calls: after a crash it may run again, under the same key. fn must return when ctx
// ends: one that does not is left behind, and its result is that nobody knows whether it took effect.
//
// Mistakes, such as a name that providers do not take, are reported by New.
func NewTool[A, R any](name, description string, fn func(ctx context.Context, a A) (R, error), o ToolOptions[A, R]) Tool {
	schema, valid, err := argumentsOf[A]()
	return newTool(working.Tool{Name: name, Description: description, Schema: schema}, valid, fn, o, err)
}

// NewRawTool makes a tool whose arguments are known by a JSON Schema alone, such as one of another program. The schema must
// be of an object. Arguments are checked against it as far as all of it is understood; otherwise fn has to.
func NewRawTool(
	spec working.Tool, fn func(ctx context.Context, args json.RawMessage) ([]message.Part, error),
	o ToolOptions[json.RawMessage, []message.Part],
) Tool {
	schema, valid, err := argumentsBy(spec.Schema)
	spec.Schema = schema
	return newTool(spec, valid, fn, o, err)
}

func newTool[A, R any](
	spec working.Tool, valid func(json.RawMessage) error, fn func(context.Context, A) (R, error), o ToolOptions[A, R], err error,
) Tool {
	t := Tool{
		spec: spec, readOnly: o.ReadOnly, actions: o.Actions, policy: o.Policy, fourEyes: o.FourEyes, within: o.Within,
		timeout: orTime(o.Timeout, 2*time.Minute), unknown: o.OnUnknown, valid: valid,
		err: errors.Join(err, o.check(spec.Name, fn == nil)),
	}
	t.run = func(ctx context.Context, args json.RawMessage) (json.RawMessage, []message.Part, error) {
		a, err := decode[A](args)
		if err != nil {
			return nil, nil, err
		}
		r, err := fn(ctx, a)
		if err != nil {
			return nil, nil, err
		}
		return shown(r, o.Text)
	}
	if o.AskIf != nil {
		t.asks = o.asks
	}
	if o.Facts != nil {
		t.facts = o.facts
	}
	if o.Then != nil {
		t.then = o.then
	}
	return t
}

func (o ToolOptions[A, R]) asks(ctx context.Context, args json.RawMessage) (string, bool) {
	a, err := decode[A](args)
	if err != nil {
		return err.Error(), true
	}
	return o.AskIf(ctx, a)
}

func (o ToolOptions[A, R]) facts(ctx context.Context, src session.Source, args, value json.RawMessage) ([]session.Change, error) {
	a, r, err := decodeBoth[A, R](args, value)
	if err != nil {
		return nil, err
	}
	return o.Facts(ctx, src, a, r), nil
}

func (o ToolOptions[A, R]) then(ctx context.Context, t *Turn, args, value json.RawMessage) (string, error) {
	a, r, err := decodeBoth[A, R](args, value)
	if err != nil {
		return "", err
	}
	return o.Then(ctx, t, a, r)
}

// toolName is what all providers take.
var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func (o ToolOptions[A, R]) check(name string, noFunc bool) error {
	var errs []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	refuse(!toolName.MatchString(name), "its name is not 1 to 64 of a-z, A-Z, 0-9, _ and -")
	refuse(noFunc, "it has no function")
	refuse(o.Policy != Allow && o.Policy != Ask && o.Policy != Deny, "Policy %q is none of Allow, Ask and Deny", o.Policy)
	refuse(o.Timeout < 0, "Timeout is below zero")
	refuse(o.Within != 0 && o.Within < time.Millisecond, "Within is shorter than a millisecond")
	if err := hasJSON(reflect.TypeFor[R]()); err != nil {
		errs = append(errs, fmt.Errorf("its result: %w", err))
	}
	return errors.Join(errs...)
}

// A Policy says whether a tool may be called.
type Policy string

// The policies. What a pin or AskIf says can only make them stricter.
const (
	Allow Policy = ""     // without asking
	Ask   Policy = "ask"  // a person decides about each call
	Deny  Policy = "deny" // never; the model is told
)

// ToolOptions of a tool with arguments A and result R.
type ToolOptions[A, R any] struct {
	Actions  []string // what it does, for the gate of pins: see pin.Tool
	ReadOnly bool     // it changes nothing: it is not recorded before its task has ended, and may run twice after a crash

	Policy   Policy
	AskIf    func(ctx context.Context, a A) (reason string, ask bool) // asks a person about some calls; the reason is shown
	FourEyes bool                                                     // of what Policy or AskIf asks: the user of the conversation must not be the one who decides
	Within   time.Duration                                            // how long a decision may take before it is a rejection; 0: for ever

	Timeout   time.Duration   // of one call; default 2 minutes
	OnUnknown graph.OnUnknown // what if a process died in the middle of the effect; default graph.Again, under the same key

	// Text is how the model reads a result. By default that is R itself if it is a string or parts, else its JSON.
	Text func(r R) string

	// Facts are what a result confirms. They are written with it.
	Facts func(ctx context.Context, src session.Source, a A, r R) []session.Change

	// Then writes to the state. next is a node to go to instead of the model, graph.End to end the turn, "" to go on.
	Then func(ctx context.Context, t *Turn, a A, r R) (next string, err error)
}
