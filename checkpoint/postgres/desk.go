package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

const (
	questionColumns = `q.tenant, q.thread, q.id, q.branch, q.ns, q.run, q.task, q.state, q.asked, q.deadline, q.shown, q.not_by,
		q.body, q.answer, q.answered_by, q.answered, coalesce(q.state = 0 and q.deadline <= clock_timestamp(), false)`
	sqlPending = `select ` + questionColumns + ` from hf_question q where q.tenant = $1 and q.thread = $2 and q.branch = ` + branchOf + ` and q.state <> 2
		order by q.asked, q.id`
	sqlQuestion = `select ` + questionColumns + ` from hf_question q where q.tenant = $1 and q.thread = $2 and q.id = any($3::text[])`
	sqlAsk      = `insert into hf_question(tenant, thread, id, branch, ns, run, task, state, asked, deadline, shown, not_by, body, answer, answered_by, answered)
		values ($1, $2, $3, $4, $5, $6, $7, 0, clock_timestamp(), $8, $9, $10, $11, '', '', null)
		on conflict (tenant, thread, id) do update set branch = excluded.branch, ns = excluded.ns, run = excluded.run, task = excluded.task,
			state = 0, asked = excluded.asked, deadline = excluded.deadline, shown = excluded.shown, not_by = excluded.not_by,
			body = excluded.body, answer = '', answered_by = '', answered = null`
	sqlPark = `update hf_thread set released = case when inbox = $4 then nonce else released end, lease_until = case when inbox = $4 then null else lease_until end,
		holder = case when inbox = $4 then null else holder end, nonce = case when inbox = $4 then null else nonce end
		where tenant = $1 and thread = $2 and nonce = $3 returning inbox, nonce is null`

	// What Question.Accepts says, decided under the lock. The answer that is refused is explained afterwards.
	sqlAccepts = `select hf_must(exists (select 1 from hf_question q join hf_thread t using (tenant, thread)
		where q.tenant = $1 and q.thread = $2 and q.id = $3 and q.state = 0 and q.branch = t.active
		and (q.deadline is null or q.deadline > clock_timestamp()) and ($4::bytea = '' or q.shown = $4)
		and (q.not_by = '' or q.not_by <> $5 and $5 <> '')), '` + codeUnfit + `')`
	sqlAnswer = `update hf_question set state = 1, answer = $4, answered_by = $5, answered = clock_timestamp() where tenant = $1 and thread = $2 and id = $3`
	sqlBump   = `update hf_thread set inbox = inbox + 1 where tenant = $1 and thread = $2 returning inbox`

	sqlInbox = `select n, kind, request, at, body from hf_inbox where tenant = $1 and thread = $2 order by n`
	sqlPost  = `with old as materialized (select n from hf_inbox where tenant = $1 and thread = $2 and request = $3 and request <> ''),
		t as (update hf_thread set inbox = inbox + 1 where tenant = $1 and thread = $2 and not exists (select 1 from old) returning inbox),
		i as (insert into hf_inbox(tenant, thread, n, kind, request, at, body) select $1, $2, t.inbox, $4, $3, clock_timestamp(), $5 from t)
		select n from old union all select inbox from t`
)

// scanQuestion reads questionColumns.
func scanQuestion(r row, to *[]checkpoint.Question) error {
	var v checkpoint.Question
	var ns []byte
	var state int16
	err := r.Scan(&v.Tenant, &v.Thread, &v.ID, &v.Branch, &ns, &v.Run, &v.Task, &state, stamp{&v.Asked}, stamp{&v.Deadline}, &v.Shown, &v.NotBy,
		&v.Body, &v.Answer, &v.AnsweredBy, stamp{&v.AnsweredAt}, &v.Expired)
	v.Namespace, v.State = checkpoint.Namespace(ns), checkpoint.QuestionState(state)
	*to = append(*to, v)
	return err
}

// park queues the status of an append, the questions it asks, and the release.
func (b *batch) park(a *checkpoint.Append, ack *checkpoint.Ack) {
	b.status(a.Key, a.Park.Status, a.Park.Error)
	for i := range a.Park.Questions {
		q := &a.Park.Questions[i]
		b.add(sqlAsk, a.Tenant, a.Thread, q.ID, q.Branch, []byte(q.Namespace), q.Run, q.Task, orNull(q.Deadline), bytesOf(q.Shown), q.NotBy, bytesOf(q.Body))
	}
	b.rows(func(r row) error { return r.Scan(&ack.Inbox, &ack.Released) }, sqlPark, a.Tenant, a.Thread, a.Nonce[:], a.Seen)
}

// errAgain is the verdict that what refused a write is gone.
var errAgain = errors.New("postgres: again")

// Answer implements checkpoint.Desk.
func (s *Store) Answer(ctx context.Context, key checkpoint.Key, replies []checkpoint.Reply) (n int64, err error) {
	if err := checkpoint.ValidReplies(key, replies); err != nil {
		return 0, err
	}
	for i := range replies {
		if len(replies[i].Value) > maxBody {
			return 0, fmt.Errorf("%w: answer to question %s", checkpoint.ErrTooLarge, replies[i].Question)
		}
	}
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	for {
		err := s.writeOnce(ctx, key.Tenant, func(b *batch) {
			b.add(sqlLockThread, key.Tenant, key.Thread, []byte{})
			for i := range replies {
				r := &replies[i]
				b.add(sqlAccepts, key.Tenant, key.Thread, r.Question, bytesOf(r.Shown), r.By)
				b.add(sqlAnswer, key.Tenant, key.Thread, r.Question, bytesOf(r.Value), r.By)
			}
			b.rows(func(r row) error { return r.Scan(&n) }, sqlBump, key.Tenant, key.Thread)
		})
		if !refused(err) {
			return n, err
		}
		if err := s.whyNoAnswer(ctx, key, replies); err != errAgain {
			return 0, err
		}
	}
}

// whyNoAnswer explains a refusal. It returns errAgain if what refused the answers is gone.
func (s *Store) whyNoAnswer(ctx context.Context, key checkpoint.Key, replies []checkpoint.Reply) error {
	ids := make([]string, len(replies))
	for i := range replies {
		ids[i] = replies[i].Question
	}
	var head checkpoint.Head
	var found []checkpoint.Question
	var now time.Time
	err := s.readAsOfOneMoment(ctx, key.Tenant, func(b *batch) {
		found = nil
		b.head(key, &head)
		b.rows(func(r row) error { return scanQuestion(r, &found) }, sqlQuestion, key.Tenant, key.Thread, ids)
		b.rows(func(r row) error { return r.Scan(stamp{&now}) }, `select clock_timestamp()`)
	})
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for i := range replies {
		q := checkpoint.Question{ID: ids[i], State: checkpoint.Closed}
		for j := range found {
			if found[j].ID == ids[i] && !seen[ids[i]] {
				q = found[j]
			}
		}
		seen[ids[i]] = true
		if err := q.Accepts(&replies[i], head.Active, now); err != nil {
			return err
		}
	}
	return errAgain
}

// Post implements checkpoint.Desk.
func (s *Store) Post(ctx context.Context, c checkpoint.Command) (n int64, err error) {
	if err := c.Valid(); err != nil {
		return 0, err
	}
	if len(c.Body) > maxBody {
		return 0, fmt.Errorf("%w: a command of %d bytes", checkpoint.ErrTooLarge, len(c.Body))
	}
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	send := s.writeOnce
	if c.Request != "" {
		send = s.write
	}
	for {
		err := send(ctx, c.Tenant, func(b *batch) {
			n = 0
			b.rows(func(r row) error { return r.Scan(&n) }, sqlPost, c.Tenant, c.Thread, c.Request, int16(c.Kind), bytesOf(c.Body))
		})
		switch {
		case code(err) == codeUnique: // the same request at the same moment; now it is there
		case err != nil:
			return 0, err
		case n == 0:
			return 0, checkpoint.ErrNoThread
		default:
			return n, nil
		}
	}
}

// Inbox implements checkpoint.Desk.
func (s *Store) Inbox(ctx context.Context, key checkpoint.Key) (out []checkpoint.Command, err error) {
	if err := key.Valid(); err != nil {
		return nil, err
	}
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	err = s.read(ctx, key.Tenant, func(b *batch) { b.inbox(key, &out) })
	return out, err
}

func (b *batch) inbox(key checkpoint.Key, out *[]checkpoint.Command) {
	*out = nil
	b.rows(func(r row) error {
		v := checkpoint.Command{Key: key}
		var kind int16
		err := r.Scan(&v.N, &kind, &v.Request, stamp{&v.At}, &v.Body)
		v.Kind = checkpoint.CommandKind(kind)
		*out = append(*out, v)
		return err
	}, sqlInbox, key.Tenant, key.Thread)
}
