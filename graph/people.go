package graph

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph/internal/host"
	"github.com/holdfast-go/holdfast/internal/jsonschema"
	"github.com/holdfast-go/holdfast/internal/record"
)

// A questionBody is what a question row holds for whoever answers it; the store does not look into it.
type questionBody struct {
	Name    string          `json:"name"`
	Node    string          `json:"node"`
	Path    []string        `json:"path,omitzero"`
	Prompt  json.RawMessage `json:"prompt"`
	Schema  json.RawMessage `json:"schema"`
	Refused string          `json:"refused,omitzero"`
	Default json.RawMessage `json:"default,omitzero"` // the answer once the deadline has passed
}

// publicQuestion reads a row.
func publicQuestion(q *checkpoint.Question) (Question, error) {
	var b questionBody
	if err := record.Decode(checkpoint.Record{Kind: 'q', Branch: q.Branch, Body: q.Body}, &b); err != nil {
		return Question{}, fmt.Errorf("question %s: %w", q.ID, err)
	}
	return Question{
		ID: q.ID, Name: b.Name, Node: b.Node, Path: b.Path, Task: q.Task, Prompt: b.Prompt, Schema: b.Schema, Shown: q.Shown, NotBy: q.NotBy,
		Refused: b.Refused, Asked: q.Asked, Expires: q.Deadline, Default: b.Default, Expired: q.Expired,
	}, nil
}

// publicQuestions reads the rows that are open, in task order as far as tasks are given.
func publicQuestions(rows []checkpoint.Question) (out []Question, err error) {
	for i := range rows {
		if rows[i].State != checkpoint.Open {
			continue
		}
		q, err := publicQuestion(&rows[i])
		if err != nil {
			return nil, err
		}
		out = append(out, q)
	}
	return out, nil
}

// questions lists what the open superstep waits for: what its tasks just asked, and what is open from before.
func (r *run) questions() (out []Question) {
	r.root.answerMu.Lock()
	defer r.root.answerMu.Unlock()
	for _, t := range r.current {
		switch {
		case t.waiting:
			out = append(out, r.openOf(t, nil)...)
		case t.asked():
			for _, q := range t.out.asked {
				out = append(out, r.asked(q))
			}
			if t.out.held {
				out = append(out, r.openOf(t, t.out.asked)...)
			}
		}
	}
	sortQuestions(out)
	return out
}

// openOf lists what was open before of a task and the graphs that it calls, but for what was asked anew. The lock is held.
func (r *run) openOf(t *task, anew []*host.Question) (out []Question) {
	for _, q := range r.root.answers {
		own, below := r.relates(q, t)
		if !own && !below || !waits(q) || slices.ContainsFunc(anew, func(a *host.Question) bool { return a.ID == q.ID }) {
			continue
		}
		if p, err := publicQuestion(q); err == nil {
			out = append(out, p)
		}
	}
	return out
}

func (r *run) asked(q *host.Question) Question {
	r = r.root
	p := Question{
		ID: q.ID, Name: q.Name, Node: q.Node, Path: q.Path, Task: q.Task, Prompt: q.Prompt, Schema: q.Schema, Shown: shownHash(q.Prompt, q.Schema), NotBy: q.NotBy,
		Expires: q.Deadline, Default: q.Default,
	}
	if why := r.refused[q.ID]; why != nil {
		p.Refused = why.Error()
	}
	return p
}

// questionRows are the rows of what was just asked; the pause lists every open question.
func (r *run) questionRows(p *record.Pause) (rows []checkpoint.Question) {
	for _, q := range r.questions() {
		p.Questions = append(p.Questions, record.Asked{ID: q.ID, Task: q.Task, Name: q.Name, Shown: q.Shown, Refused: q.Refused})
	}
	r.root.answerMu.Lock()
	defer r.root.answerMu.Unlock()
	for _, t := range r.current {
		if t.waiting || !t.asked() {
			continue
		}
		for _, hq := range t.out.asked {
			q := r.asked(hq)
			body, err := record.Encode(&questionBody{q.Name, q.Node, q.Path, q.Prompt, q.Schema, q.Refused, q.Default})
			if err != nil { // both are JSON that was checked when it was asked
				panic(err)
			}
			rows = append(rows, checkpoint.Question{
				Key: r.key, ID: q.ID, Branch: r.chain.Branch, Namespace: hq.Namespace, Run: r.root.id, Task: q.Task, Deadline: q.Expires, Shown: q.Shown, NotBy: q.NotBy, Body: body,
			})
		}
	}
	return rows
}

// takeRows notes what the store knows of questions.
func (r *run) takeRows(rows []checkpoint.Question) {
	r.answerMu.Lock()
	defer r.answerMu.Unlock()
	r.answers = map[string]*checkpoint.Question{}
	for i := range rows {
		r.answers[rows[i].ID] = &rows[i]
	}
	r.refused = nil
}

// replies checks the answers of a call against the open questions. Nothing is changed when one of them does not fit.
func replies(cmds []Command, rows []checkpoint.Question, by string) ([]checkpoint.Reply, error) {
	all, err := publicQuestions(rows)
	if err != nil {
		return nil, err
	}
	sortQuestions(all)
	var open, late []Question
	for _, q := range all {
		if q.Expired {
			late = append(late, q)
		} else {
			open = append(open, q)
		}
	}
	var out []checkpoint.Reply
	given := map[string]bool{}
	for _, c := range cmds {
		if c.answer == nil {
			continue
		}
		if i := slices.IndexFunc(late, func(q Question) bool { return q.ID == c.answer.id }); i >= 0 {
			return nil, &ExpiredError{late[i]}
		}
		q, err := pick(c.answer.id, open, rows)
		if err != nil {
			return nil, err
		}
		if given[q.ID] {
			return nil, &BadAnswerError{*q, fmt.Errorf("it is answered twice in one call")}
		}
		given[q.ID] = true
		if err := fits(q, c.answer.value); err != nil {
			return nil, &BadAnswerError{*q, err}
		}
		who := c.answer.by
		if who == "" {
			who = by
		}
		shown := c.answer.shown
		out = append(out, checkpoint.Reply{Question: q.ID, Shown: shown, Value: c.answer.value, By: who})
	}
	return out, nil
}

// pick finds the question that an answer is for.
func pick(id string, open []Question, rows []checkpoint.Question) (*Question, error) {
	if id == "" {
		if len(open) != 1 {
			return nil, &AmbiguousError{open}
		}
		return &open[0], nil
	}
	for i := range open {
		if open[i].ID == id {
			return &open[i], nil
		}
	}
	e := &checkpoint.NotPendingError{Question: id, State: checkpoint.Closed}
	for _, q := range rows {
		if q.ID == id {
			e.State, e.By, e.At, e.Answer = q.State, q.AnsweredBy, q.AnsweredAt, q.Answer
		}
	}
	return nil, e
}

func fits(q *Question, value json.RawMessage) error {
	s, err := jsonschema.Parse(q.Schema)
	if err != nil {
		return fmt.Errorf("the question's schema cannot be read: %w", err)
	}
	return s.Validate(value)
}
