package graph

import (
	"errors"
	"slices"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/record"
)

// A retelling makes the events of a chain again out of its records, with the numbers that they had live: the branch, the
// position of the record, and the place behind it. An input has the number 0 for itself: there its run begins.
type retelling struct {
	c      *core
	thread Thread
	states bool // somebody wants to see states: they are copied
	hide   map[string]bool
	log    *record.Thread
	// questions finds what a pause has asked. nil: what the log has of it is enough.
	questions func([]record.Asked) ([]Question, error)
}

func newRetelling(c *core, th Thread, states bool) *retelling {
	return &retelling{c: c, thread: th, states: states, hide: hiddenSet(c.plan.ops), log: record.NewThread()}
}

// tell folds the next record and returns its events.
func (t *retelling) tell(rec checkpoint.Record) (evs []Event, err error) {
	first := seqAt(rec.Branch, rec.Pos)
	failed := t.log.Pause != nil && t.log.Pause.Reason == record.ReasonFailed
	switch rec.Kind {
	case checkpoint.KindEntry:
		evs, err = t.entry(rec)
	case checkpoint.KindInput:
		first++
		evs = []Event{{Kind: RunStarted}}
		err = t.log.Apply(rec)
	case checkpoint.KindPause:
		if err = t.log.Apply(rec); err == nil {
			evs, err = t.paused(t.log.Pause)
		}
	case checkpoint.KindSettle:
		evs, err = t.settled(rec, failed)
	default:
		err = t.log.Apply(rec)
	}
	for i := range evs {
		evs[i].Seq, evs[i].Thread, evs[i].Run, evs[i].FromLog = first+int64(i), t.thread, t.log.Run, true
	}
	return evs, err
}

// skip folds a record whose events nobody wants.
func (t *retelling) skip(rec checkpoint.Record) error { return t.log.Apply(rec) }

// entry makes the events of a superstep. One that leads nowhere is the end of the run.
func (t *retelling) entry(rec checkpoint.Record) (evs []Event, err error) {
	var body record.Entry
	if err := record.Decode(rec, &body); err != nil {
		return nil, err
	}
	merged, err := t.log.Merged(&body)
	if err != nil {
		return nil, err
	}
	if err := t.log.Apply(rec); err != nil {
		return nil, err
	}
	step := rec.Step - t.log.Start
	for _, d := range merged.Tasks {
		if n := t.c.plan.node(d.Node); n == nil || !n.policy.Silent {
			evs = append(evs, Event{Kind: TaskUpdated, Step: step, Node: d.Node, Task: d.ID, Attempt: max(1, d.Attempt), Cached: d.Cached, Data: updateData(d.Writes, t.hide)})
		}
	}
	values := Event{Kind: StateValues, Step: step, ops: t.c.plan.ops}
	if t.states {
		values.raw = t.log.State.Clone()
	}
	e := Event{Kind: EntryCommitted, Step: step}
	for _, next := range t.log.Next {
		if !slices.Contains(e.Next, next.Node) {
			e.Next = append(e.Next, next.Node)
		}
	}
	evs = append(evs, values, e)
	if len(t.log.Next) == 0 {
		evs = append(evs, Event{Kind: RunCompleted, Step: step})
	}
	return evs, nil
}

// paused makes the events of a run that has stopped.
func (t *retelling) paused(p *record.Pause) (evs []Event, err error) {
	e := Event{Step: t.log.EntryStep - t.log.Start, Error: p.Error}
	switch p.Reason {
	case record.ReasonQuestion:
		return t.asked(e, p)
	case record.ReasonBreak:
		if p.Begun { // inside a child graph, perhaps beside a failure
			return t.asked(e, p)
		}
		e.Kind = RunInterrupted
	case record.ReasonDrain:
		e.Kind = RunDrained
	case record.ReasonLimit, record.ReasonStopped:
		e.Kind = RunStopped
	case record.ReasonFailed:
		e.Kind = RunFailed
	case record.ReasonDone:
		e.Kind = RunCompleted
	default:
		if p.Reason != record.ReasonEdit || len(t.log.Next) > 0 {
			return nil, nil
		}
		e.Kind = RunCompleted // the edit has left nothing to do
	}
	return []Event{e}, nil
}

// asked makes the events of a run that waits for answers.
func (t *retelling) asked(e Event, p *record.Pause) (evs []Event, err error) {
	in := &Interrupted{Thread: t.thread, Run: p.Run, Breaks: p.Breaks}
	if in.Questions, err = t.find(p.Questions); err != nil {
		return nil, err
	}
	if p.Error != "" {
		in.Err = errors.New(p.Error)
	}
	for i := range in.Questions {
		q := &in.Questions[i]
		evs = append(evs, Event{Kind: QuestionAsked, Step: e.Step, Path: q.Path, Node: q.Node, Task: q.Task, Question: q})
	}
	e.Kind, e.Error = RunInterrupted, in.Error()
	return append(evs, e), nil
}

func (t *retelling) find(list []record.Asked) (out []Question, err error) {
	if t.questions != nil {
		return t.questions(list)
	}
	for _, a := range list {
		out = append(out, bareQuestion(a))
	}
	return out, nil
}

// settled makes the event of a run that was cancelled. One that had failed has ended before: the input that follows has closed it.
func (t *retelling) settled(rec checkpoint.Record, failed bool) ([]Event, error) {
	var x record.Settle
	if err := record.Decode(rec, &x); err != nil {
		return nil, err
	}
	if err := t.log.Apply(rec); err != nil || failed && x.Reason == settledByInput {
		return nil, err
	}
	return []Event{{Kind: RunCancelled, Step: rec.Step - t.log.Start - 1, Error: ErrCancelled.Error()}}, nil
}
