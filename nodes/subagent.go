package nodes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory/pin"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
)

// SubAgentOptions of a sub-agent. The zero value lets it be called without asking.
type SubAgentOptions struct {
	Policy   Policy
	FourEyes bool          // as in ToolOptions
	Within   time.Duration // as in ToolOptions
}

// A task is what a sub-agent is called with.
type task struct {
	Task string `json:"task" description:"what to do, with all that has to be known for it: nothing else of this conversation is seen"`
}

// SubAgent makes a tool of a graph, such as another Agent. It sees its task, its own tools, and the memory of the same
// user, in a conversation of its own; nothing else of the conversation that it works for. What the user has forbidden there
// holds here; what the task says is a model's word, and neither forbids nor permits anything. Only its reply returns, and what
// its models have used is added to Spent.
//
// Its steps are recorded like those of the thread, and its questions are questions of the thread: after a pause or a crash
// it goes on where it was, and the model that has called it is not asked again. It has no time-out of its own, since it may
// wait for people. If it fails, the model reads why.
func SubAgent[S any, P Embeds[S]](name, description string, app *graph.App[S], o SubAgentOptions) Tool {
	t := NewTool(name, description, func(ctx context.Context, a task) (string, error) {
		return delegate[S, P](ctx, name, app, a.Task)
	}, ToolOptions[task, string]{ReadOnly: true, Policy: o.Policy, FourEyes: o.FourEyes, Within: o.Within})
	t.inline = true
	if app == nil {
		t.err = errors.Join(t.err, errors.New("it has no graph"))
	}
	return t
}

// delegate runs the graph, or goes on with it.
func delegate[S any, P Embeds[S]](ctx context.Context, name string, app *graph.App[S], what string) (string, error) {
	in, _ := Current(ctx)
	t, ok := TurnOf(ctx)
	if !ok {
		return "", ErrNoTurn
	}
	if strings.TrimSpace(what) == "" {
		return "", errors.New("the task is empty; say what is to be done")
	}
	inherited := append([]pin.Pin{}, pins(t)...)
	out, err := graph.Call(ctx, name, app, func(s *S) {
		child := P(s).embedsTurn()
		begin(child, in.Scope, plainID(in.Conversation+"/"+in.Call.ID), message.User(what))
		child.Inherited.Set(inherited) // also if there are none: it says that this is a sub-agent
	})
	if err != nil {
		return "", delegated(err)
	}
	child := P(out).embedsTurn()
	t.Spent.add(&child.Spent)
	reply := Reply(child).Text()
	if reply == "" {
		return "", errors.New("it ended without a reply")
	}
	if child.Status.Get() == Truncated {
		reply += "\n(The reply was cut: it had reached its limit of output.)"
	}
	return reply, nil
}

// delegated makes errors of the stores fatal: they are no reply of the sub-agent, which goes on where it was when the run
// is resumed.
func delegated(err error) error {
	if graph.Waits(err) {
		return err
	}
	if errors.Is(err, checkpoint.ErrUnavailable) || errors.Is(err, session.ErrUnavailable) {
		return Fatal(err)
	}
	return fmt.Errorf("the sub-agent failed: %w", err)
}

// add counts what another thread or child has used.
func (s *Spent) add(o *Spent) {
	s.Calls.Add(o.Calls.Get())
	s.Input.Add(o.Input.Get())
	s.Cached.Add(o.Cached.Get())
	s.Output.Add(o.Output.Get())
	s.Reasoning.Add(o.Reasoning.Get())
}
