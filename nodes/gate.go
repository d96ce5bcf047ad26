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

// gated is what policy and pins say to a call.
func (t Tool) gated(turn *Turn, c message.Call) pin.Verdict {
	if t.policy == Deny {
		return pin.Verdict{Decision: pin.Block, Reason: t.spec.Name + " may not be called."}
	}
	v := pin.Gate(pins(turn), c, pin.Tool{Name: t.spec.Name, Actions: t.actions, ReadOnly: t.readOnly})
	if t.policy == Ask {
		v.Decision = max(v.Decision, pin.Ask)
	}
	return v
}

// judge is all that is said to a call before anybody is asked: AskIf too. Pinned says that only a pin asks.
func (t Tool) judge(ctx context.Context, turn *Turn, c message.Call) (v pin.Verdict, pinned bool) {
	v = t.gated(turn, c)
	pinned = v.Decision == pin.Ask && t.policy != Ask
	if t.asks == nil || v.Decision == pin.Block {
		return v, pinned
	}
	if reason, ask := t.asks(ctx, json.RawMessage(c.Args)); ask {
		v.Decision, pinned = pin.Ask, false
		v.Reason = strings.TrimSpace(validText(reason) + "\n" + v.Reason)
	}
	return v, pinned
}

// A cause is why a person has to decide about a call.
type cause struct {
	Reason string `json:"reason,omitzero"`
	Pinned bool   `json:"pinned,omitzero"` // a pin of the user asks, and nobody else does: it is the user's word that is missing
}

// errNotAsked keeps a call that nobody has to decide about from being recorded as one.
var errNotAsked = errors.New("nobody has to decide")

// decide returns what a person has decided about a call, and whether anybody had to. The error of a question that waits is
// the node's.
//
// That a person has to decide is recorded before the question: an AskIf, an Adapt or a release that would not ask any more
// cannot let a call run that was rejected meanwhile. Nor can one that would ask by now take back what was done.
func (w *job) decide(ctx context.Context) (Decision, bool, error) {
	t, tool, c := w.turn, w.tool, w.call
	if d, ok := t.Decisions.Get(decisionKey(c)); ok {
		return d, true, nil
	}
	ctx = w.context(ctx, c, "")
	why, err := graph.Once(ctx, "approval", func(ctx context.Context, _ string) (cause, error) {
		v, pinned := tool.judge(ctx, t, c)
		if v.Decision != pin.Ask {
			return cause{}, errNotAsked
		}
		if done, err := w.recorded(ctx); done || err != nil {
			return cause{}, cmp.Or(err, errNotAsked)
		}
		return cause{v.Reason, pinned}, nil
	})
	if errors.Is(err, errNotAsked) {
		return Decision{}, false, nil
	}
	if err != nil {
		return Decision{}, false, err
	}
	prompt := Approval{Call: c, Args: json.RawMessage(c.Args), About: tool.spec.Description, Reason: why.Reason,
		ReadOnly: tool.readOnly && !tool.inline} // what a sub-agent will do is not known
	d, err := graph.Ask(ctx, ApproveQuestion, prompt, tool.asking(t, c, why.Pinned))
	return d, err == nil, err
}

// asking are the terms of the question about a call. Four eyes are for what the tool's author asks about: a pin waits for the word
// of the user who has said it.
func (t Tool) asking(turn *Turn, c message.Call, pinned bool) graph.AskOptions[Decision] {
	o := graph.AskOptions[Decision]{Within: t.within, Check: func(d Decision) error { return t.takes(turn, c, d) }}
	if t.within > 0 {
		d := Reject("nobody decided in time")
		o.Default = &d
	}
	if t.fourEyes && !pinned {
		o.NotBy = turn.Scope.Get().User()
	}
	return o
}

// takes returns an error for a decision that makes no sense, or lets run what may not.
func (t Tool) takes(turn *Turn, c message.Call, d Decision) error {
	switch d.Action {
	case ActionApprove, ActionReject:
		return nil
	case ActionRespond:
		if strings.TrimSpace(d.Text) == "" {
			return errors.New("a response needs a text for the model")
		}
		return nil
	case ActionEdit:
		c.Args = string(d.Args)
		if err := t.valid(d.Args); err != nil {
			return fmt.Errorf("the arguments do not fit %s: %w", t.spec.Name, err)
		}
		if v := t.gated(turn, c); v.Decision == pin.Block { // whoever wants it
			return errors.New(v.Reason)
		}
		return nil
	}
	return fmt.Errorf("the action %q is none of approve, edit, reject and respond", d.Action)
}

// decisionKey binds a decision to the call as it was shown.
func decisionKey(c message.Call) string { return c.ID + " " + pin.Hash(c) }
