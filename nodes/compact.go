package nodes

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory/compact"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

// Compact is the body of compact. Between two steps it cuts long results to excerpts, reads the session state anew if a tool has
// confirmed something, and, after a provider has refused the prompt as too long, sums up old rounds by rule. After the reply it
// brings the history below its budget, with the Summarizer if there is one.
//
// What cannot be compacted now is logged, and the next call makes do with cuts: that fails no turn. Its errors are those of the
// session store when the state is read.
func (k *Kit) Compact(ctx context.Context, t *Turn) error {
	if t.Changed.Get() > 0 {
		state, err := k.c.Session.State(k.as(ctx, t), t.Scope.Get(), t.Conversation.Get())
		if err != nil {
			return err
		}
		t.Session.Set(state)
		t.Changed.Replace(0)
	}
	before := compact.State{History: t.Messages.Slice(), Summary: t.Summary.Get()}
	after, err := k.shorten(ctx, t, before)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		k.c.Logger.Warn("nodes: the history could not be compacted", "err", err)
	}
	replace(t, before, after)
	if o := t.Overflow.Get(); o.Again {
		o.Again = false
		t.Overflow.Set(o)
	}
	return nil
}

func (k *Kit) shorten(ctx context.Context, t *Turn, st compact.State) (compact.State, error) {
	scope, conversation := t.Scope.Get(), t.Conversation.Get()
	ctx = k.as(ctx, t)
	switch {
	case t.Overflow.Get().Again:
		c, err := k.tight(st)
		if err != nil {
			return st, err
		}
		st, report, err := c.Compact(ctx, scope, conversation, st)
		k.note(t, report.Excerpts)
		return st, err
	case t.Status.Get() == Working:
		history, excerpts, err := k.trimmer.TrimResults(ctx, scope, conversation, st.History)
		k.note(t, excerpts)
		if history != nil {
			st.History = history
		}
		return st, err
	}
	st, report, err := k.compactor.Compact(ctx, scope, conversation, st)
	k.note(t, report.Excerpts)
	for _, f := range report.Failures {
		k.c.Logger.Warn("nodes: the summarizer failed; rules have summed up", "err", f)
	}
	return st, err
}

// tight is a compactor for a history that a provider finds too long: down to half of what it is. The least budget is that of the
// shortest excerpts.
func (k *Kit) tight(st compact.State) (*compact.Compactor, error) {
	o := k.c.Compact
	o.Summarizer = nil
	size := working.CountMessages(k.c.Counter, st.History) + k.c.Counter.Count(st.Summary.Text)
	o.Budget = max(min(o.Budget, size), 512)
	o.Trigger, o.Target, o.Rounds = 0.5, 0.4, 1
	o.ResultCap, o.ExcerptCap, o.SummaryCap = o.Budget/4, min(o.Budget/8, 300), min(o.Budget/4, 400)
	o.ChunkCap = 0 // of a Summarizer
	return compact.New(k.c.Counter, k.c.Session, o)
}

func (k *Kit) note(t *Turn, excerpts []compact.Excerpted) {
	for _, e := range excerpts {
		t.Stored.Put(e.Message, e.Result)
	}
}

// replace writes what compaction has changed, and nothing else: the log keeps what is written.
func replace(t *Turn, before, after compact.State) {
	stays := make(map[string]message.Message, len(after.History))
	for _, m := range after.History {
		stays[m.ID] = m
	}
	for _, m := range before.History {
		now, ok := stays[m.ID]
		switch {
		case !ok:
			t.Messages.Remove(m.ID)
			t.Stored.Delete(m.ID)
			for _, r := range m.Results() {
				t.Stored.Delete(r.CallID)
			}
		case !same(m, now):
			t.Messages.Put(now)
		}
	}
	if after.Summary.Text != before.Summary.Text || !slices.Equal(after.Summary.Covers, before.Summary.Covers) {
		t.Summary.Set(after.Summary)
	}
}

// same reports whether compaction has left a message alone. It replaces texts, and nothing else.
func same(a, b message.Message) bool {
	return a.Text() == b.Text() && len(a.Parts) == len(b.Parts)
}

// goOn is the branch of the standard agent: it compacts, and says what comes next.
func (k *Kit) goOn(ctx context.Context, t *Turn) (graph.Next, error) {
	if err := k.Compact(ctx, t); err != nil {
		return graph.Next{}, err
	}
	if t.Status.Get() != Working {
		return graph.To(graph.End), nil
	}
	next := t.jump()
	t.Jumps.Clear()
	switch next {
	case "":
		return graph.To(NodeAssemble), nil
	case graph.End:
		t.end()
		return graph.To(NodeWriteBack), nil
	}
	return graph.To(next), nil
}

// jump is where the tools of the last step lead: the first of them, in the order of the calls, that leads anywhere.
func (t *Turn) jump() string {
	for _, m := range t.Messages.Backward() {
		if calls := m.Calls(); len(calls) > 0 {
			for _, c := range calls {
				if next, ok := t.Jumps.Get(c.ID); ok {
					return next
				}
			}
			return ""
		}
	}
	return ""
}

// end makes the results of the last step the answer.
func (t *Turn) end() {
	var texts []string
	for _, m := range lastTurn(t) {
		switch {
		case len(m.Calls()) > 0:
			texts = nil
		case m.Role == message.RoleTool:
			texts = append(texts, m.Text())
		}
	}
	t.Messages.Append(message.Assistant(cmp.Or(strings.TrimSpace(strings.Join(texts, "\n")), "-")))
	t.Status.Set(Ended)
}
