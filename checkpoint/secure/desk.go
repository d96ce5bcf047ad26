package secure

import (
	"context"
	"errors"
	"slices"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// Answer implements checkpoint.Desk.
func (s *store) Answer(ctx context.Context, key checkpoint.Key, replies []checkpoint.Reply) (int64, error) {
	if err := checkpoint.ValidReplies(key, replies); err != nil {
		return 0, err
	}
	out := slices.Clone(replies)
	for i := range out {
		out[i].Value = s.sealReply(key, &replies[i])
		out[i].Shown = s.hide(key, "", replies[i].Shown)
	}
	n, err := s.inner.Answer(ctx, key, out)
	if errors.Is(err, checkpoint.ErrChanged) && (s.ring.adopt || len(s.ring.secrets) > 1) {
		// The question may have been asked under an older key. Nothing was stored.
		again, bad := s.hideAsAsked(ctx, key, replies, out)
		if bad != nil {
			return 0, bad
		}
		if again {
			n, err = s.inner.Answer(ctx, key, out)
		}
	}
	return n, s.openLost(key, err)
}

// hideAsAsked replaces each Shown by its form under the key that the question was asked under. It reports whether any has
// changed by that.
func (s *store) hideAsAsked(ctx context.Context, key checkpoint.Key, replies, out []checkpoint.Reply) (changed bool, err error) {
	_, form := s.guard.forms()
	err = eachQuestion(ctx, s.inner, key, checkpoint.Open, func(q *checkpoint.Question) error {
		n := slices.IndexFunc(replies, func(r checkpoint.Reply) bool { return r.Question == q.ID })
		if n < 0 || len(replies[n].Shown) == 0 {
			return nil
		}
		id, _, _, ok := cutHeader(q.Body)
		switch {
		case !sealed(q.Body, form) && s.ring.adopt:
			out[n].Shown, changed = replies[n].Shown, true // from before the store was adopted
		case sealed(q.Body, form) && ok && s.ring.secrets[id] != nil && id != s.ring.current:
			out[n].Shown, changed = s.hide(key, id, replies[n].Shown), true
		}
		return nil
	})
	return changed, err
}

// openLost opens the answer that was quicker.
func (s *store) openLost(key checkpoint.Key, err error) error {
	lost, ok := errors.AsType[*checkpoint.NotPendingError](err)
	if !ok || len(lost.Answer) == 0 && lost.State != checkpoint.Answered {
		return err
	}
	open := *lost
	at := answerRow(key, lost.Question, lost.By)
	var bad error
	if _, open.Answer, bad = s.openReply(&at, lost.Answer); bad != nil {
		return bad
	}
	return &open
}

// Post implements checkpoint.Desk.
func (s *store) Post(ctx context.Context, c checkpoint.Command) (int64, error) {
	if err := c.Valid(); err != nil {
		return 0, err
	}
	at := commandRow(&c)
	c.Body = s.guard.seal(&at, c.Body)
	return s.inner.Post(ctx, c)
}

// Inbox implements checkpoint.Desk.
func (s *store) Inbox(ctx context.Context, key checkpoint.Key) ([]checkpoint.Command, error) {
	cs, err := s.inner.Inbox(ctx, key)
	if err == nil {
		err = s.openCommands(cs)
	}
	if err != nil {
		return nil, err
	}
	return cs, nil
}
