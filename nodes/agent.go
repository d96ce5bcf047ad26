package nodes

import (
	"context"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

// Names of the nodes in the standard agent.
const (
	NodeLoadWorkingState   = "load_working_state"
	NodeLoadLongTermMemory = "load_long_term_memory"
	NodeRetrieveKnowledge  = "retrieve_knowledge"
	NodeAssemble           = "assemble"
	NodeCallModel          = "call_model"
	NodeApprove            = "approve"
	NodeCallTools          = "call_tools"
	NodeCompact            = "compact"
	NodeWriteBack          = "write_back"
)

// Agent returns the standard agent as a graph, ready to compile or to be added to. targets are nodes of your own to which tools may
// lead (ToolOptions.Then); add them, with an edge back to NodeAssemble or NodeWriteBack.
//
//	load_working_state [-> load_long_term_memory, retrieve_knowledge] -> assemble -> call_model
//	call_model -> call_tools, once for each call -> compact -> assemble
//	call_model -> write_back [-> compact]
func Agent[S any, P Embeds[S]](name string, k *Kit, targets ...string) *graph.Graph[S] {
	g := graph.New[S](name)
	Add[S, P](g, NodeLoadWorkingState, k.LoadWorkingState)
	Add[S, P](g, NodeLoadLongTermMemory, k.LoadLongTermMemory)
	Add[S, P](g, NodeRetrieveKnowledge, k.RetrieveKnowledge)
	Add[S, P](g, NodeAssemble, k.Assemble)
	Add[S, P](g, NodeCallModel, k.CallModel)
	approve := AddEach[S, message.Call, P](g, NodeApprove, k.Approve)
	calls := AddEach[S, message.Call, P](g, NodeCallTools, k.CallTools)
	AddBranch[S, P](g, NodeCompact, k.goOn, append([]string{NodeAssemble, NodeWriteBack, graph.End}, targets...)...)
	Add[S, P](g, NodeWriteBack, k.WriteBack)

	g.Edge(graph.Start, NodeLoadWorkingState)
	AddRoute[S, P](g, NodeLoadWorkingState, k.afterLoad, NodeLoadLongTermMemory, NodeRetrieveKnowledge, NodeAssemble)
	g.Edge(NodeLoadLongTermMemory, NodeAssemble)
	g.Edge(NodeRetrieveKnowledge, NodeAssemble)
	g.Edge(NodeAssemble, NodeCallModel)
	AddRoute[S, P](g, NodeCallModel, k.afterModel(approve, calls), NodeAssemble, NodeCompact, NodeApprove, NodeCallTools, NodeWriteBack)
	AddRoute[S, P](g, NodeApprove, afterApproval(calls), NodeCallTools)
	g.Edge(NodeCallTools, NodeCompact)
	AddRoute[S, P](g, NodeWriteBack, k.afterReply, NodeCompact, graph.End)

	for _, node := range []string{NodeLoadWorkingState, NodeCallTools, NodeCompact, NodeWriteBack} { // each may be run again: ids and Once see to it
		g.Policy(node, graph.Policy{Attempts: 3, Backoff: 200 * time.Millisecond, Retry: passes})
	}
	return g
}

// passes reports whether an error may be gone at the next attempt: not if it is about the message itself.
func passes(err error) bool {
	return graph.Retryable(err) && !unfit(err)
}

// afterLoad leaves out the superstep in which nothing would be recalled.
func (k *Kit) afterLoad(context.Context, *Turn) (graph.Next, error) {
	var next graph.Next
	if k.c.LongTerm != nil {
		next = graph.To(NodeLoadLongTermMemory)
	}
	if k.c.Knowledge != nil {
		next = next.And(graph.To(NodeRetrieveKnowledge))
	}
	if k.c.LongTerm == nil && k.c.Knowledge == nil {
		next = graph.To(NodeAssemble)
	}
	return next, nil
}

// afterModel says what an answer leads to.
func (k *Kit) afterModel(approve, calls graph.Sender[message.Call]) func(context.Context, *Turn) (graph.Next, error) {
	return func(ctx context.Context, t *Turn) (graph.Next, error) {
		m, _ := t.Messages.Last()
		open := OpenCalls(t)
		switch {
		case t.Overflow.Get().Again:
			return graph.To(NodeCompact), nil
		case m.Partial:
			return graph.To(NodeAssemble), nil
		case len(open) == 0:
			return graph.To(NodeWriteBack), nil
		case k.c.ApproveFirst && k.anyAsks(ctx, t, open):
			return approve.Send(open...), nil
		}
		return calls.Send(open...), nil
	}
}

// afterApproval sends on the one call that a task of approve was about: the decisions of its siblings are not in its view.
func afterApproval(calls graph.Sender[message.Call]) func(context.Context, *Turn) (graph.Next, error) {
	return func(_ context.Context, t *Turn) (graph.Next, error) {
		return calls.Send(slices.DeleteFunc(OpenCalls(t), func(c message.Call) bool { return !t.Passed.Has(c.ID) })...), nil
	}
}

func (k *Kit) anyAsks(ctx context.Context, t *Turn, open []message.Call) bool {
	for _, c := range open {
		if k.NeedsDecision(ctx, t, c) {
			return true
		}
	}
	return false
}

// afterReply compacts only when it is time.
func (k *Kit) afterReply(_ context.Context, t *Turn) (graph.Next, error) {
	if k.due(t) {
		return graph.To(NodeCompact), nil
	}
	return graph.To(graph.End), nil
}

// due reports whether it is time to compact. The last prompt was counted with all of the history, and rules and state beside it: where
// that is little enough, nothing is counted again.
func (k *Kit) due(t *Turn) bool {
	told := t.Report.Get().Compaction
	if told.Needed {
		return true
	}
	last, _ := t.Messages.Last()
	if told.Tokens > 0 && float64(told.Tokens+working.CountMessage(k.c.Counter, last)) <= k.compactAt {
		return false
	}
	return float64(working.CountMessages(k.c.Counter, t.Messages.Slice())+k.c.Counter.Count(t.Summary.Get().Text)) > k.compactAt
}

// OpenCalls are the calls of the last message that have no result yet: what to send to call_tools.
func OpenCalls(t *Turn) []message.Call { return message.Open(lastTurn(t)) }
