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
	sqlPark     = `update hf_thread set released = case when inbox = $4 then nonce else released end, lease_until = case when inbox = $4 then null else lease_until end,
		holder = case when inbox = $4 then null else holder end, nonce = case when inbox = $4 then null else nonce end
		where tenant = $1 and thread = $2 and nonce = $3 returning inbox, nonce is null`

	// What Question.Accepts says, decided under the lock: a row that has changed since is looked at again. The answer that is
	// refused is explained afterwards.
	sqlAnswer = `a as (update hf_question q set state = 1, answer = (?::bytea[])[v.i], answered_by = v.by, answered = clock_timestamp()
		from t, unnest(?::text[], ?::text[]) with ordinality as v(id, by, i)
		where q.tenant = $1 and q.thread = $2 and q.id = v.id and q.state = 0 and q.branch = t.active
		and (q.deadline is null or q.deadline > clock_timestamp()) and ((?::bytea[])[v.i] = '' or q.shown = (?::bytea[])[v.i])
		and (q.not_by = '' or q.not_by <> v.by and v.by <> '') returning 1), n as (select ?::bigint as replies)`
	sqlAnswered = `select hf_must((select count(*) from t) = 1, '` + codeRefused + `'),
		hf_must((select count(*) from a) = (select replies from n), '` + codeUnfit + `')`
	sqlBump = `update hf_thread set inbox = inbox + 1 where tenant = $1 and thread = $2 returning inbox`

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
	err := r.Scan(&v.Tenant, &v.Thread, &v.ID, &v.Branch, &ns, &v.Run, &v.Task, octet[checkpoint.QuestionState]{&v.State}, stamp{&v.Asked}, stamp{&v.Deadline}, &v.Shown, &v.NotBy,
		&v.Body, &v.Answer, &v.AnsweredBy, stamp{&v.AnsweredAt}, &v.Expired)
	v.Namespace = checkpoint.Namespace(ns)
	*to = append(*to, v)
	return err
}

// park queues the status of an append and the release.
func (b *batch) park(a *checkpoint.Append, ack *checkpoint.Ack) {
	why := []byte{}
	if a.Park.Error != "" {
		why = nil // it is there already
	}
	b.status(a.Key, a.Park.Status, why)
	b.rows(func(r row) error { return r.Scan(&ack.Inbox, &ack.Released) }, sqlPark, a.Tenant, a.Thread, a.Nonce[:], a.Seen)
}

// errAgain is the verdict that what refused a write is gone.
var errAgain = errors.New("postgres: again")

// Answer implements checkpoint.Desk.
func (s *Store) Answer(ctx context.Context, key checkpoint.Key, replies []checkpoint.Reply) (n int64, err error) {
	if err := checkpoint.ValidReplies(key, replies); err != nil {
		return 0, err
	}
	l, err := answers(key, replies)
	if err != nil {
		return 0, err
	}
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	for {
		err := s.writeOnce(ctx, key.Tenant, func(b *batch) {
			b.add(l.text(sqlAnswered), l.args...)
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

// answers is the statement that locks, looks and answers. A question that is named twice counts once, so that it is refused.
func answers(key checkpoint.Key, replies []checkpoint.Reply) (*locker, error) {
	var ids, by []string
	var shown, values [][]byte
	size := 0
	for i := range replies {
		r := &replies[i]
		ids, by, shown, values = append(ids, r.Question), append(by, r.By), append(shown, bytesOf(r.Shown)), append(values, bytesOf(r.Value))
		size += len(r.Value) + len(r.Shown) + checkpoint.Overhead
	}
	if size > maxBody {
		return nil, fmt.Errorf("%w: answers of %d bytes, Postgres takes %d", checkpoint.ErrTooLarge, size, maxBody)
	}
	l := lock(key, ``)
	l.part(sqlAnswer, values, ids, by, shown, shown, len(replies))
	return l, nil
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
		err := r.Scan(&v.N, octet[checkpoint.CommandKind]{&v.Kind}, &v.Request, stamp{&v.At}, &v.Body)
		*out = append(*out, v)
		return err
	}, sqlInbox, key.Tenant, key.Thread)
}
