package graph

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph/internal/host"
	"github.com/holdfast-go/holdfast/internal/record"
)

// waits reports whether a question can still be answered: it was open, and its deadline had not passed, when the store was
// last asked.
func waits(q *checkpoint.Question) bool { return q.State == checkpoint.Open && !q.Expired }

// now is the store's clock, as far as the acquisition has told: a lease ends by it.
func (r *run) now() time.Time { return r.root.stored.Add(time.Since(r.root.local)) }

// due says when a question expires. One that was asked before keeps its deadline: to refuse an answer gives no more time.
func (r *run) due(q *host.Question, shown []byte) {
	r.root.answerMu.Lock()
	row := r.root.answers[q.ID]
	r.root.answerMu.Unlock()
	switch {
	case row != nil && bytes.Equal(row.Shown, shown):
		q.Deadline = row.Deadline
	case q.Within > 0:
		q.Deadline = r.now().Add(q.Within)
	}
	q.Deadline = q.Deadline.UTC().Truncate(time.Millisecond)
}

// lapsed returns the question if its deadline has passed and nobody had answered what is shown now.
func (r *run) lapsed(id string, shown []byte) *checkpoint.Question {
	r.root.answerMu.Lock()
	defer r.root.answerMu.Unlock()
	q := r.root.answers[id]
	if q == nil || q.State != checkpoint.Open || !q.Expired || !bytes.Equal(q.Shown, shown) {
		return nil
	}
	return q
}

// lapse gives the task the default that the question was asked with, or the error that says that there is none. The lock is
// held.
func (c *call) lapse(q *host.Question, row *checkpoint.Question) (json.RawMessage, error) {
	p, err := publicQuestion(row)
	if err != nil {
		return nil, err
	}
	c.own().used = append(c.used, record.Used{Question: q.ID, At: row.Deadline.UTC(), Value: p.Default, Lapsed: true})
	if p.Default == nil {
		c.own().late = append(c.late, q.ID)
		return nil, &ExpiredError{p}
	}
	q.Lapsed = true
	return p.Default, nil
}

// lateQuestions are those that failed their tasks by expiring. They are closed with the failure, so that nobody takes the
// thread up for them again, and Resume asks them anew.
func (r *run) lateQuestions() (ids []string) {
	for _, t := range r.current {
		if t.phase == phaseEnd && t.err != nil && !t.asked() && !t.waiting {
			ids = append(ids, t.late...)
		}
	}
	return sorted(ids)
}
