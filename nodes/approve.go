package nodes

import (
	"context"

	"github.com/holdfast-go/holdfast/memory/pin"
	"github.com/holdfast-go/holdfast/message"
)

// Approve is the node that asks about a call and runs nothing, for graphs in which no call of a step runs before all are
// decided. A call that nobody has to decide about passes. The decision holds for this call with these arguments; CallTools
// does not ask again.
func (k *Kit) Approve(ctx context.Context, t *Turn, c message.Call) error {
	w, err := k.job(ctx, t, c)
	if err != nil {
		return err
	}
	if w.refused() == nil { // CallTools answers what is refused
		d, asked, err := w.decide(ctx)
		if err != nil {
			return err
		}
		if asked {
			t.Decisions.Put(decisionKey(w.call), d)
		}
	}
	t.Passed.Add(c.ID)
	return nil
}

// NeedsDecision reports whether a person has to decide about a call before it may run, and nobody has yet. It asks nobody.
func (k *Kit) NeedsDecision(ctx context.Context, t *Turn, c message.Call) bool {
	w, err := k.job(ctx, t, c)
	if err != nil || w.refused() != nil {
		return false
	}
	if _, done := t.Decisions.Get(decisionKey(w.call)); done {
		return false
	}
	v, _ := w.tool.judge(w.context(ctx, w.call, ""), t, w.call)
	return v.Decision == pin.Ask
}
