package redis

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha1"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
)

func readQuestions(r *reply, key checkpoint.Key, now int64) (out []checkpoint.Question, err error) {
	for r.more() {
		q, err := decodeQuestion(key, r.text(), r.text(), r.text(), now)
		if err = cmp.Or(r.err, err); err != nil {
			return nil, err
		}
		out = append(out, q)
	}
	return out, r.err
}

func readInbox(r *reply, key checkpoint.Key) (out []checkpoint.Command, err error) {
	for r.more() {
		c, err := decodeCommand(key, r.int(), r.text())
		if err = cmp.Or(r.err, err); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, r.err
}

func compareKeys(a, b checkpoint.Key) int {
	return cmp.Or(strings.Compare(a.Tenant, b.Tenant), strings.Compare(a.Thread, b.Thread))
}

func compareQuestions(a, b checkpoint.Question) int {
	return cmp.Or(a.Asked.Compare(b.Asked), compareKeys(a.Key, b.Key), strings.Compare(a.ID, b.ID))
}

// token is the random part of one call: by it a script knows a call that is sent again.
func token() []byte {
	b := make([]byte, tokenSize)
	rand.Read(b) // never fails (crypto/rand)
	return b
}

// Answer implements checkpoint.Desk. It judges the questions here, by the rule that all stores share, and writes if they
// are still what was judged; otherwise it judges again.
func (s *Store) Answer(ctx context.Context, key checkpoint.Key, replies []checkpoint.Reply) (int64, error) {
	if err := checkpoint.ValidReplies(key, replies); err != nil {
		return 0, err
	}
	for i := range replies {
		if err := s.fitsBulk(len(replies[i].Value), "answer to question "+replies[i].Question); err != nil {
			return 0, err
		}
	}
	return do(ctx, s, func(ctx context.Context) (int64, error) {
		for tok := token(); ; {
			args, err := s.judge(ctx, key, replies, tok)
			if err != nil {
				return 0, err
			}
			r := s.eval(ctx, scriptAnswer, key, args...)
			if inbox := r.int(); r.err != nil || inbox >= 0 {
				return inbox, r.err
			}
		}
	})
}

// judge reads the questions and returns the arguments of the write that answers them.
func (s *Store) judge(ctx context.Context, key checkpoint.Key, replies []checkpoint.Reply, tok []byte) ([]value, error) {
	ask := []value{"i"}
	for i := range replies {
		ask = append(ask, replies[i].Question)
	}
	r := s.eval(ctx, scriptQuestions, key, ask...)
	now, _, active := r.int(), r.int(), r.int32()
	args := []value{active, int64(0), s.o.TTL.Milliseconds()}
	deadline := int64(0)
	for i := range replies {
		reply := &replies[i]
		if slices.ContainsFunc(replies[:i], func(o checkpoint.Reply) bool { return o.Question == reply.Question }) {
			return nil, &checkpoint.NotPendingError{Question: reply.Question}
		}
		id, row, answer := r.text(), r.text(), r.text()
		if r.err != nil {
			return nil, r.err
		}
		q := checkpoint.Question{ID: reply.Question, State: checkpoint.Closed}
		var err error
		if row != "" {
			if q, err = decodeQuestion(key, id, row, answer, now); err != nil {
				return nil, err
			}
		}
		if err := q.Accepts(reply, active, fromMillis(now)); err != nil {
			return nil, err
		}
		if d := millis(q.Deadline); d != 0 && (deadline == 0 || d < deadline) {
			deadline = d
		}
		b, err := encodeAnswer(reply, now, tok)
		if err != nil {
			return nil, err
		}
		sum := sha1.Sum([]byte(row)) // as the script computes it; nobody gains by a collision with his own question
		args = append(args, id, hex.EncodeToString(sum[:]), b)
	}
	args[1] = deadline
	return args, nil
}

// Post implements checkpoint.Desk. It announces the thread to the list of those with commands first.
func (s *Store) Post(ctx context.Context, c checkpoint.Command) (int64, error) {
	if err := c.Valid(); err != nil {
		return 0, err
	}
	if err := s.fitsBulk(len(c.Body), "a command"); err != nil {
		return 0, err
	}
	return do(ctx, s, func(ctx context.Context) (int64, error) {
		_, valid, err := s.announce(ctx, c.Key, "i")
		if err != nil {
			return 0, err
		}
		r := s.eval(ctx, scriptPost, c.Key, valid, s.o.TTL.Milliseconds(), c.Request, token(), []byte{byte(c.Kind)}, c.Body)
		switch n := r.int(); {
		case r.err != nil:
			return 0, r.err
		case n == 0:
			return 0, checkpoint.ErrNoThread
		case n == -2:
			return 0, errExpiring
		case n < 0:
			return 0, errLate
		default:
			return n, nil
		}
	})
}

// Inbox implements checkpoint.Desk.
func (s *Store) Inbox(ctx context.Context, key checkpoint.Key) ([]checkpoint.Command, error) {
	if err := key.Valid(); err != nil {
		return nil, err
	}
	return do(ctx, s, func(ctx context.Context) ([]checkpoint.Command, error) {
		return readInbox(s.eval(ctx, scriptInbox, key), key)
	})
}
