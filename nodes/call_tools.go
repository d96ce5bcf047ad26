package nodes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory/pin"
	"github.com/holdfast-go/holdfast/message"
)

// CallTools is the node that runs one call of a model: gate, decision, effect, result. It is the body of a node with an
// argument, so that the calls of a step run in parallel and each result is recorded on its own.
//
// Whatever becomes of the call it has one result, which is in the session store before it is in Messages, unless the run
// waits or has ended: an unknown tool, arguments that do not fit, a denial, an error and a time-out are results that the
// model reads. Only a Fatal error and one of the stores fail the run; when it is resumed, what was recorded does not happen
// again.
func (k *Kit) CallTools(ctx context.Context, t *Turn, c message.Call) error {
	w, err := k.job(ctx, t, c)
	if err != nil {
		return err
	}
	e, err := w.outcome(ctx)
	if err != nil {
		return err
	}
	return w.settle(ctx, e)
}

// A job is one call on its way to a result.
type job struct {
	kit   *Kit
	turn  *Turn
	role  Role
	tool  Tool
	known bool         // the role has the tool
	call  message.Call // as it runs: with the arguments of a person who has edited it
	note  string       // what the model is told before the result
	done  *effect      // what is recorded of it, once somebody has looked
}

func (k *Kit) job(ctx context.Context, t *Turn, c message.Call) (*job, error) {
	r, err := k.role(ctx, t)
	if err != nil {
		return nil, err
	}
	c.Args = argsOf(c)
	w := &job{kit: k, turn: t, role: r, call: c}
	w.tool, w.known = r.tool(c.Name)
	if w.known && w.tool.run == nil && w.tool.err == nil {
		w.tool.err = errors.New("make it with NewTool")
	}
	if w.tool.err != nil { // New has refused it: it comes from Adapt
		return nil, fmt.Errorf("nodes: Adapt: tool %q: %w", c.Name, w.tool.err)
	}
	return w, nil
}

// argsOf are the arguments of a call: some models write nothing where there are none.
func argsOf(c message.Call) string {
	if strings.TrimSpace(c.Args) == "" {
		return "{}"
	}
	return c.Args
}

// context tells functions of the tool's author what they are called for.
func (w *job) context(ctx context.Context, c message.Call, key string) context.Context {
	if placeOf(ctx).turn != w.turn { // the node is not of AddEach
		ctx = context.WithValue(ctx, placeKey{}, place{turn: w.turn})
	}
	in := Invocation{Call: c, Key: key, Scope: w.turn.Scope.Get(), Conversation: conversationOf(ctx, w.turn), Role: w.role.Name}
	if !w.turn.Inherited.Has() {
		in.Said, _ = lastOfUser(w.turn)
	}
	return calling(w.kit.as(ctx, w.turn), in)
}

// refused is the result of a call that can in no way run, else nil.
func (w *job) refused() *effect {
	if !w.known {
		return failed(message.StatusError, "There is no tool %q. There are: %s.", w.call.Name, strings.Join(w.role.toolNames(), ", "))
	}
	if err := w.tool.valid(json.RawMessage(w.call.Args)); err != nil {
		return failed(message.StatusError, "The arguments do not fit, and nothing was done: %v.", err)
	}
	if v := w.tool.gated(w.turn, w.call); v.Decision == pin.Block {
		return failed(message.StatusDenied, "%s", v.Reason)
	}
	return nil
}

func (r Role) toolNames() (names []string) {
	for _, t := range r.Tools {
		names = append(names, t.Name())
	}
	return names
}

// outcome decides about the call and runs it if it may.
func (w *job) outcome(ctx context.Context) (*effect, error) {
	if e := w.refused(); e != nil {
		if done, err := w.recorded(ctx); done || err != nil {
			return w.done, err
		}
		return e, nil
	}
	d, asked, err := w.decide(ctx)
	if err != nil {
		return nil, err
	}
	if asked {
		if e := w.decided(d); e != nil {
			return e, nil
		}
	}
	return w.perform(ctx)
}

// decided does what a person says. Nil lets the call run.
func (w *job) decided(d Decision) *effect {
	if err := w.tool.takes(w.turn, w.call, d); err != nil { // the tool has changed since
		return failed(message.StatusDenied, "What was decided about this call cannot be done: %v.", err)
	}
	switch d.Action {
	case ActionReject:
		return failed(message.StatusDenied, "Rejected: %s", cmp.Or(d.Text, "no reason was given"))
	case ActionRespond:
		return &effect{Text: d.Text}
	case ActionEdit:
		w.call.Args = string(d.Args)
		w.note = fmt.Sprintf("It ran with other arguments, as a person decided: %s", d.Args)
	}
	return nil
}

// logPanic tells where a tool has panicked: the model reads only that it has.
func (w *job) logPanic(err error) {
	if p, ok := errors.AsType[*graph.PanicError](err); ok {
		w.kit.c.Logger.Error("a tool panicked", "tool", w.tool.Name(), "stack", string(p.Stack))
	}
}
