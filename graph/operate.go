package graph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// Answer records answers and goes no further: whoever resumes, recovers or serves the thread next goes on with them. All of the
// commands are answers; they are checked as Resume checks them, and one that does not fit changes nothing. It is one read and one write.
func (a *App[S]) Answer(ctx context.Context, thread Thread, answers ...Command) error {
	return a.c.answerOnly(ctx, thread, a.ro, answers)
}

// Answer is App.Answer.
func (v *View) Answer(ctx context.Context, thread Thread, answers ...Command) error {
	return v.c.answerOnly(ctx, thread, v.ro, answers)
}

// StateAt is State as of an entry; -1 is the head.
func (v *View) StateAt(ctx context.Context, thread Thread, entry int64) (*ThreadInfo, error) {
	st, log, err := v.c.stateAt(ctx, thread, entry)
	if err != nil {
		return nil, err
	}
	head, err := v.c.restore(thread, log)
	if err != nil {
		return nil, err
	}
	st.JSON, err = v.c.plan.ops.json(head)
	return st, err
}

// Children is App.Children.
func (v *View) Children(ctx context.Context, thread Thread) ([]ChildInfo, error) {
	return v.c.allChildren(ctx, thread)
}

// ChildHistory is App.ChildHistory.
func (v *View) ChildHistory(ctx context.Context, thread Thread, in []string) iter.Seq2[EntryInfo, error] {
	return v.c.historyIn(ctx, thread, checkpoint.NamespaceOf(in...))
}

// RetainAll is App.RetainAll. Of a bare View it is for the threads of all graphs.
func (v *View) RetainAll(ctx context.Context, keep Retention) (Removed, error) {
	return v.c.retainAll(ctx, keep)
}

// Recover is App.Recover.
func (v *View) Recover(ctx context.Context) ([]Recovered, error) { return v.c.recover(ctx, v.ro) }

// DOT is App.DOT.
func (v *View) DOT() string { return v.c.plan.dot() }

// Store is the store that the graph was compiled with, or nil.
func (v *View) Store() checkpoint.Store { return v.c.store }

// Close is App.Close.
func (v *View) Close(ctx context.Context) error { return v.c.close(ctx) }

// A ThreadQuestion is a question and the thread that it belongs to.
type ThreadQuestion struct {
	Thread Thread   `json:"thread"`
	Run    string   `json:"run"`
	In     []string `json:"in,omitzero"` // the child graph that asks, as ChildInfo.In; empty: the thread's own
	Question
	Answer     json.RawMessage          `json:"answer,omitzero"` // of one that has an answer: what, who and when
	AnsweredBy string                   `json:"answered_by,omitzero"`
	AnsweredAt time.Time                `json:"answered_at,omitzero"`
	State      checkpoint.QuestionState `json:"-"`
}

// Questions lists questions of many threads, as the filter says, oldest first, a page at a time. Cursor gives the next one's After.
func (v *View) Questions(ctx context.Context, f checkpoint.QuestionFilter) ([]ThreadQuestion, error) {
	if v.c.store == nil {
		return nil, ErrNoStore
	}
	rows, err := v.c.store.Questions(ctx, f)
	if err != nil {
		return nil, err
	}
	out := make([]ThreadQuestion, len(rows))
	for i := range rows {
		if out[i], err = threadQuestion(&rows[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Cursor is the place of the question in the list: the After of the next page.
func (q *ThreadQuestion) Cursor() checkpoint.QuestionCursor {
	return checkpoint.QuestionCursor{Asked: q.Asked, Key: q.Thread.key(), ID: q.ID}
}

func threadQuestion(row *checkpoint.Question) (ThreadQuestion, error) {
	q, err := publicQuestion(row)
	if err != nil {
		return ThreadQuestion{}, err
	}
	in, err := row.Namespace.Segments()
	out := ThreadQuestion{
		Thread: Thread{Tenant: row.Tenant, ID: row.Key.Thread}, Run: row.Run, In: in, Question: q,
		AnsweredBy: row.AnsweredBy, AnsweredAt: row.AnsweredAt, State: row.State,
	}
	if len(row.Answer) > 0 { // no answer is empty on some stores, and nil on others
		out.Answer = row.Answer
	}
	return out, err
}

// answerOnly records answers.
func (c *core) answerOnly(ctx context.Context, th Thread, ro RunOptions, cmds []Command) error {
	if c.store == nil {
		return ErrNoStore
	}
	if err := c.checkCall(th, ro); err != nil {
		return err
	}
	for _, cmd := range cmds {
		if cmd.err != nil {
			return cmd.err
		}
		if cmd.answer == nil {
			return errors.New("graph: Answer takes answers only; Resume takes the rest")
		}
	}
	l, err := c.load(ctx, th.key())
	switch {
	case err != nil:
		return err
	case l.Head.Epoch == 0:
		return fmt.Errorf("%w: %s", ErrNoThread, th)
	}
	if err := activeOnly(th, l.Loaded); err != nil {
		return fmt.Errorf("%w (%w)", ErrNotPending, err)
	}
	given, err := replies(cmds, l.Questions, ro.By)
	if late, ok := errors.AsType[*checkpoint.NotPendingError](err); ok {
		return c.dormant(ctx, l.Loaded, late.Question, c.whoWas(ctx, th.key(), err))
	}
	if err != nil || len(given) == 0 {
		return err
	}
	r := c.newRun(ctx, th, ro)
	defer r.cancel(nil)
	return c.answer(ctx, r, given, l.Questions)
}

// AnswerShown is Answer with a JSON document: it answers the question as it was shown.
func AnswerShown(q Question, doc json.RawMessage) Command {
	c := AnswerJSON(q.ID, doc)
	if c.answer != nil {
		c.answer.shown = q.Shown
	}
	return c
}
