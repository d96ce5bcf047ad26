package graph

import (
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/record"
)

// The reasons of a settle record.
const (
	settledByCancel = "cancel"
	settledByInput  = "input"
)

// settle ends a cancelled run: finished tasks are folded, the rest is abandoned by name, questions are closed.
func (r *run) settle() bool {
	if r.journal == nil || r.up != nil { // what a child has written is abandoned with the task that called it
		return r.finish(checkpoint.Cancelled, ErrCancelled)
	}
	if err := r.reload(); err != nil {
		return r.crash(err)
	}
	for _, t := range r.current { // what finished without a record of its own is part of the settle record
		if t.phase == phaseEnd && t.err == nil && !t.waiting && !t.recorded {
			r.keep(t)
		}
	}
	order, reason := r.order(), settledByCancel
	if order.Input {
		reason = settledByInput
	}
	var items []item
	if order.Back {
		var err error
		if items, err = r.goBack(); err != nil {
			return r.crash(err)
		}
	}
	r.logMu.Lock()
	x, head := settlement(r.plan, r.log, r.head, reason)
	x.By = order.By
	x.Questions = openIDs(r)
	err := r.log.ApplySettle(x)
	r.logMu.Unlock()
	if err != nil {
		return r.crash(err)
	}
	items = append(items, item{kind: checkpoint.KindSettle, step: r.step, body: x}) // the last one: the journal stays in its chain
	b, err := r.addWith(x.Questions, &checkpoint.Park{Status: checkpoint.Cancelled}, items...)
	if err == nil {
		err = r.write(b, true)
	}
	if err != nil {
		return r.crash(r.wrote(err))
	}
	r.head = head
	why := &pause{status: checkpoint.Cancelled, err: ErrCancelled}
	if b.ack.Released {
		return r.finish(why.status, why.err)
	}
	return r.releaseLate(why)
}

func openIDs(r *run) (ids []string) {
	r.answerMu.Lock()
	defer r.answerMu.Unlock()
	for id, q := range r.answers {
		if q.State != checkpoint.Closed {
			ids = append(ids, id)
		}
	}
	return sorted(ids)
}

// settlement closes the open superstep of a thread. If what finished cannot be folded together, it is abandoned as well:
// a settle record must always be possible.
func settlement(p *plan, log *record.Thread, head any, reason string) (*record.Settle, any) {
	x := &record.Settle{Run: log.Run, Reason: reason, Graph: p.signature(log)}
	var parts []part
	for _, t := range log.Next {
		res := log.Results[t.ID]
		if res == nil || res.Fail != "" {
			why := "not finished"
			if res != nil {
				why = res.Fail
			}
			x.Abandoned = append(x.Abandoned, record.Abandoned{ID: t.ID, Node: t.Node, Why: why})
			continue
		}
		view, err := p.ops.decode(res.Writes)
		if err != nil {
			x.Abandoned = append(x.Abandoned, record.Abandoned{ID: t.ID, Node: t.Node, Why: err.Error()})
			continue
		}
		parts = append(parts, part{t.Node, view})
		x.Tasks = append(x.Tasks, record.Done{ID: t.ID, Node: t.Node, Ref: true})
	}
	next, folded, err := p.ops.commit(head, parts)
	if err != nil {
		for _, d := range x.Tasks {
			x.Abandoned = append(x.Abandoned, record.Abandoned{ID: d.ID, Node: d.Node, Why: fmt.Sprintf("cannot be folded: %v", err)})
		}
		x.Tasks = nil
		next, folded, err = p.ops.commit(head, nil)
		if err != nil { // folding nothing cannot fail
			panic(err)
		}
	}
	x.Folded = folded
	return x, next
}

// isRetryable tells whether a store's error is worth another try of the same call.
func isRetryable(err error) bool { return errors.Is(err, checkpoint.ErrUnavailable) }
