package graphcli

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// The lines of an export, in their order. A body is JSON as docs/log-format.md describes it, without its version byte; one that is
// not JSON of a known version is in raw.

type threadLine struct {
	Type     string            `json:"type"` // thread
	Tenant   string            `json:"tenant"`
	Thread   string            `json:"thread"`
	Epoch    int64             `json:"epoch"`
	Status   checkpoint.Status `json:"status"`
	Graph    string            `json:"graph"`
	Owner    string            `json:"owner,omitzero"`
	Meta     map[string]string `json:"meta,omitzero"`
	Run      string            `json:"run"`
	Active   int32             `json:"active"`
	Branches []branchLine      `json:"branches,omitzero"`
	Created  *time.Time        `json:"created,omitzero"`
	Updated  *time.Time        `json:"updated,omitzero"`
}

type branchLine struct {
	N      int32  `json:"n"`
	Name   string `json:"name"`
	Origin int32  `json:"origin"`
	Ord    int64  `json:"ord"`
	Reason string `json:"reason"`
}

type runLine struct {
	Type string `json:"type"` // run
	runRow
}

type questionLine struct {
	Type       string     `json:"type"` // question
	ID         string     `json:"id"`
	Branch     int32      `json:"branch"`
	Namespace  []string   `json:"namespace,omitzero"`
	Run        string     `json:"run"`
	Task       string     `json:"task"`
	State      string     `json:"state"`
	Asked      *time.Time `json:"asked,omitzero"`
	Deadline   *time.Time `json:"deadline,omitzero"`
	NotBy      string     `json:"not_by,omitzero"`
	Shown      []byte     `json:"shown,omitzero"`
	Answer     *body      `json:"answer,omitzero"`
	AnsweredBy string     `json:"answered_by,omitzero"`
	AnsweredAt *time.Time `json:"answered_at,omitzero"`
	Body       body       `json:"body"`
}

type commandLine struct {
	Type    string     `json:"type"` // command
	N       int64      `json:"n"`
	Kind    string     `json:"kind"`
	Request string     `json:"request,omitzero"`
	At      *time.Time `json:"at,omitzero"`
	Body    body       `json:"body"`
}

type recordLine struct {
	Type      string          `json:"type"` // record
	Branch    int32           `json:"branch"`
	Namespace []string        `json:"namespace,omitzero"`
	Pos       int64           `json:"pos"`
	Ord       int64           `json:"ord"`
	By        string          `json:"by"` // a number that is too large for some readers of JSON
	Base      int64           `json:"base"`
	Step      int64           `json:"step"`
	Kind      checkpoint.Kind `json:"kind"`
	At        *time.Time      `json:"at,omitzero"`
	Body      body            `json:"body"`
}

// A body is stored bytes: JSON as it is, with the version before it, or what else is there.
type body struct {
	Version int             `json:"version,omitzero"`
	JSON    json.RawMessage `json:"json,omitzero"`
	Raw     []byte          `json:"raw,omitzero"`
}

func newBody(b []byte) body {
	switch {
	case len(b) > 1 && b[0] < ' ' && json.Valid(b[1:]):
		return body{Version: int(b[0]), JSON: b[1:]}
	case json.Valid(b):
		return body{JSON: b}
	}
	return body{Raw: b}
}

func export(c *call) func() error {
	c.threadFlags(false)
	return func() error {
		s, err := c.store()
		if err != nil {
			return err
		}
		l, err := headOf(c.ctx, s, checkpoint.Key{Tenant: c.tenant, Thread: c.args[0]})
		if err != nil {
			return err
		}
		if err := c.emit(newThreadLine(l)); err != nil {
			return err
		}
		for _, part := range []func(checkpoint.Store, *checkpoint.Loaded) error{c.exportRuns, c.exportQuestions, c.exportInbox, c.exportRecords} {
			if err := part(s, l); err != nil {
				return err
			}
		}
		return nil
	}
}

func newThreadLine(l *checkpoint.Loaded) threadLine {
	h := &l.Head
	t := threadLine{
		Type: "thread", Tenant: h.Tenant, Thread: h.Thread, Epoch: h.Epoch, Status: h.Status, Graph: h.Graph, Owner: h.Owner, Meta: h.Meta, Run: h.Run,
		Active: h.Active, Created: stamp(h.Created), Updated: stamp(h.Updated),
	}
	for _, b := range l.Branches {
		t.Branches = append(t.Branches, branchLine(b))
	}
	return t
}

func (c *call) exportRuns(s checkpoint.Store, l *checkpoint.Loaded) error {
	f := checkpoint.RunFilter{Tenant: l.Head.Tenant, Thread: l.Head.Thread}
	for {
		rows, err := s.Runs(c.ctx, f)
		if err != nil || len(rows) == 0 {
			return err
		}
		for i := range rows {
			f.After = checkpoint.RunCursor{Key: rows[i].Key, Run: rows[i].ID}
			if err := c.emit(runLine{"run", newRunRow(&rows[i])}); err != nil {
				return err
			}
		}
	}
}

// exportQuestions prints the questions of all branches that are open or answered, and the closed ones of the active branch, which
// are all that a store lists.
func (c *call) exportQuestions(s checkpoint.Store, l *checkpoint.Loaded) error {
	for branch := range l.Head.Branches {
		other, err := s.Load(c.ctx, l.Head.Key, branch, noChain)
		if err != nil {
			return err
		}
		for i := range other.Questions {
			if err := c.exportQuestion(&other.Questions[i]); err != nil {
				return err
			}
		}
	}
	f := checkpoint.QuestionFilter{Tenant: l.Head.Tenant, Thread: l.Head.Thread, State: checkpoint.Closed}
	for {
		rows, err := s.Questions(c.ctx, f)
		if err != nil || len(rows) == 0 {
			return err
		}
		for i := range rows {
			f.After = checkpoint.QuestionCursor{Asked: rows[i].Asked, Key: rows[i].Key, ID: rows[i].ID}
			if err := c.exportQuestion(&rows[i]); err != nil {
				return err
			}
		}
	}
}

func (c *call) exportQuestion(q *checkpoint.Question) error {
	ns, err := q.Namespace.Segments()
	if err != nil {
		return err
	}
	line := questionLine{
		Type: "question", ID: q.ID, Branch: q.Branch, Namespace: ns, Run: q.Run, Task: q.Task, State: stateName(q.State), Asked: stamp(q.Asked),
		Deadline: stamp(q.Deadline), NotBy: q.NotBy, Shown: q.Shown, AnsweredBy: q.AnsweredBy, AnsweredAt: stamp(q.AnsweredAt), Body: newBody(q.Body),
	}
	if len(q.Answer) > 0 {
		a := newBody(q.Answer)
		line.Answer = &a
	}
	return c.emit(line)
}

func (c *call) exportInbox(s checkpoint.Store, l *checkpoint.Loaded) error {
	cmds, err := s.Inbox(c.ctx, l.Head.Key)
	for i := range cmds {
		if err != nil {
			break
		}
		m := &cmds[i]
		err = c.emit(commandLine{"command", m.N, string(rune(m.Kind)), m.Request, stamp(m.At), newBody(m.Body)})
	}
	return err
}

func (c *call) exportRecords(s checkpoint.Store, l *checkpoint.Loaded) error {
	return eachChain(c.ctx, s, l, func(chain checkpoint.Chain) error {
		ns, err := chain.Namespace.Segments()
		if err != nil {
			return err
		}
		return eachRecord(c.ctx, s, chain, func(r *checkpoint.Record) error {
			return c.emit(recordLine{
				"record", r.Branch, ns, r.Pos, r.Ord, strconv.FormatInt(r.By, 10), r.Base, r.Step, r.Kind, stamp(r.At), newBody(r.Body),
			})
		})
	})
}
