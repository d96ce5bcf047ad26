package sqlite

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

const (
	questionColumns = `q.tenant, q.thread, q.id, q.branch, q.ns, q.run, q.task, q.state, q.asked, q.deadline, q.shown, q.not_by,
		q.body, q.answer, q.answered_by, q.answered`
	sqlPending = `select ` + questionColumns + ` from hf_question q where q.tenant = ? and q.thread = ? and q.branch = ? and q.state <> 2
		order by q.asked, q.id`
	sqlQuestion = `select ` + questionColumns + ` from hf_question q where q.tenant = ? and q.thread = ? and q.id = ?`
	sqlAsk      = `insert or replace into hf_question(tenant, thread, id, branch, ns, run, task, state, asked, deadline, shown, not_by,
		body, answer, answered_by, answered) values (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, x'', '', 0)`
	sqlAnswer = `update hf_question set state = 1, answer = ?, answered_by = ?, answered = ? where tenant = ? and thread = ? and id = ?`
	sqlBump   = `update hf_thread set inbox = inbox + 1 where tenant = ? and thread = ? returning inbox`
	sqlInbox  = `select n, kind, request, at, body from hf_inbox where tenant = ? and thread = ? order by n`
	sqlPost   = `insert into hf_inbox(tenant, thread, n, kind, request, at, body) values (?, ?, ?, ?, ?, ?, ?)`
)

// scanQuestion reads questionColumns.
func scanQuestion(r *row, now time.Time) checkpoint.Question {
	q := checkpoint.Question{
		Key: checkpoint.Key{Tenant: r.text(), Thread: r.text()}, ID: r.text(), Branch: r.int32(),
		Namespace: checkpoint.Namespace(r.blob()), Run: r.text(), Task: r.text(), State: checkpoint.QuestionState(r.byte()),
		Asked: r.time(), Deadline: r.time(), Shown: r.blob(), NotBy: r.text(), Body: r.blob(),
		Answer: r.blob(), AnsweredBy: r.text(), AnsweredAt: r.time(),
	}
	q.Expired = q.State == checkpoint.Open && !q.Deadline.IsZero() && !now.Before(q.Deadline)
	return q
}

// park writes the status of an append and the questions it asks.
func park(c *conn, a *checkpoint.Append, run string, now time.Time) error {
	steps := status(a.Key, run, a.Park.Status, a.Park.Error, now)
	for i := range a.Park.Questions {
		q := &a.Park.Questions[i]
		steps = append(steps, step{sqlAsk, []value{a.Tenant, a.Thread, q.ID, q.Branch, []byte(q.Namespace), q.Run, q.Task, now, q.Deadline,
			q.Shown, q.NotBy, q.Body}})
	}
	return c.all(steps)
}

// Answer implements checkpoint.Desk.
func (s *Store) Answer(ctx context.Context, key checkpoint.Key, replies []checkpoint.Reply) (int64, error) {
	if err := checkpoint.ValidReplies(key, replies); err != nil {
		return 0, err
	}
	size := 0
	for i := range replies {
		if size += len(replies[i].Value); size > maxBody {
			return 0, fmt.Errorf("%w: answer to question %s", checkpoint.ErrTooLarge, replies[i].Question)
		}
	}
	return write(ctx, s, size, func(c *conn) (int64, error) { return answer(c, key, replies, s.now()) })
}

func answer(c *conn, key checkpoint.Key, replies []checkpoint.Reply, now time.Time) (n int64, err error) {
	t, err := head(bg, c, key, now)
	if err != nil {
		return 0, err
	}
	for i := range replies {
		r := &replies[i]
		if slices.ContainsFunc(replies[:i], func(o checkpoint.Reply) bool { return o.Question == r.Question }) {
			return 0, &checkpoint.NotPendingError{Question: r.Question}
		}
		q := checkpoint.Question{ID: r.Question, State: checkpoint.Closed}
		err := c.query(bg, sqlQuestion, func(row *row) { q = scanQuestion(row, now) }, key.Tenant, key.Thread, r.Question)
		if err != nil {
			return 0, err
		}
		if err := q.Accepts(r, t.Active, now); err != nil {
			return 0, err
		}
	}
	for i := range replies {
		r := &replies[i]
		if _, err := c.exec(bg, sqlAnswer, r.Value, r.By, now, key.Tenant, key.Thread, r.Question); err != nil {
			return 0, err
		}
	}
	return bump(c, key)
}

// bump counts the inbox number up; 0 means that the thread is not there.
func bump(c *conn, key checkpoint.Key) (n int64, err error) {
	err = c.query(bg, sqlBump, func(r *row) { n = r.int() }, key.Tenant, key.Thread)
	return n, err
}

// Post implements checkpoint.Desk.
func (s *Store) Post(ctx context.Context, cmd checkpoint.Command) (int64, error) {
	if err := cmd.Valid(); err != nil {
		return 0, err
	}
	if len(cmd.Body) > maxBody {
		return 0, fmt.Errorf("%w: a command of %d bytes", checkpoint.ErrTooLarge, len(cmd.Body))
	}
	return write(ctx, s, len(cmd.Body), func(c *conn) (int64, error) { return post(c, &cmd, s.now()) })
}

func post(c *conn, cmd *checkpoint.Command, now time.Time) (n int64, err error) {
	if cmd.Request != "" {
		err := c.query(bg, `select n from hf_inbox where tenant = ? and thread = ? and request = ? and request <> ''`,
			func(r *row) { n = r.int() }, cmd.Tenant, cmd.Thread, cmd.Request)
		if err != nil || n > 0 {
			return n, err
		}
	}
	switch n, err = bump(c, cmd.Key); {
	case err != nil:
		return 0, err
	case n == 0:
		return 0, checkpoint.ErrNoThread
	}
	_, err = c.exec(bg, sqlPost, cmd.Tenant, cmd.Thread, n, int(cmd.Kind), cmd.Request, now, cmd.Body)
	return n, err
}

// Inbox implements checkpoint.Desk.
func (s *Store) Inbox(ctx context.Context, key checkpoint.Key) ([]checkpoint.Command, error) {
	if err := key.Valid(); err != nil {
		return nil, err
	}
	return read(ctx, s, func(ctx context.Context, c *conn) ([]checkpoint.Command, error) { return inbox(ctx, c, key) })
}

func inbox(ctx context.Context, c *conn, key checkpoint.Key) (out []checkpoint.Command, err error) {
	err = c.query(ctx, sqlInbox, func(r *row) {
		out = append(out, checkpoint.Command{Key: key, N: r.int(), Kind: checkpoint.CommandKind(r.byte()), Request: r.text(), At: r.time(), Body: r.blob()})
	}, key.Tenant, key.Thread)
	return out, err
}
