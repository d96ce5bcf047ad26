package longterm

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/holdfast-go/holdfast/memory"
)

// extractAll asks the extractors that have not seen a job.
func (s *Store) extractAll(ctx context.Context, j *task, known []Item) ([]Draft, error) {
	var all []Draft
	if s.o.Rules != nil && !j.Ruled {
		drafts, err := extract(ctx, s.o.Rules, j.Texts, nil)
		if err != nil {
			return nil, err
		}
		all = drafts
	}
	if s.o.Extractor == nil {
		return all, nil
	}
	drafts, err := extract(ctx, s.o.Extractor, j.Texts, known)
	return append(all, drafts...), err
}

// extract calls an extractor. A panic is its error.
func extract(ctx context.Context, e Extractor, texts []Text, known []Item) (drafts []Draft, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &PanicError{Value: fmt.Sprint(r), Stack: debug.Stack()}
		}
	}()
	return e.Extract(ctx, append([]Text(nil), texts...), known)
}

// disown drops drafts whose source was taken out of the job while it was worked on: it was forgotten.
func (u *unit) disown(j *task, ps []*prepared) {
	for _, p := range ps {
		if p.dropped == "" && textOf(j.Texts, p.Source) == nil {
			p.dropped = NoSource
		}
	}
}

// outcomes decides on the drafts of an extractor, each of which stands alone: one that cannot be kept is dropped.
func (u *unit) outcomes(ctx context.Context, ps []*prepared) ([]Outcome, error) {
	var out []Outcome
	for _, p := range ps {
		c := *p // a transaction may be tried again
		o, err := u.decide(ctx, &c)
		switch {
		case errors.Is(err, errDepends):
			o.Fate, o.Reason = Dropped, Malformed
		case errors.Is(err, ErrTooLarge):
			o.Fate, o.Reason = Dropped, OverLimit
		case err != nil:
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// prepareAll prepares the drafts of an extractor, with what it may not say for itself: who said it, and that it was said.
func (s *Store) prepareAll(j *task, drafts []Draft) []*prepared {
	var ps []*prepared
	for _, d := range drafts {
		ps = append(ps, s.prepareDraft(j.Scope, j.Agent, j.Texts, d))
	}
	return ps
}

func (s *Store) prepareDraft(sc memory.Scope, a memory.Agent, texts []Text, d Draft) *prepared {
	drop := func(why Reason) *prepared {
		return &prepared{Draft: d, hash: hash(sc, d.Namespace, d), dropped: why}
	}
	t := textOf(texts, d.Source)
	if t == nil {
		return drop(NoSource)
	}
	if d.Words == "" {
		d.Words = d.Text
	}
	span, ok := SpanOf(t.Text, d.Words)
	d.Source = t.Source
	if !ok {
		return drop(Invented)
	}
	if d.Origin != Inferred {
		d.Origin = t.Origin
	}
	p, err := s.prepare(sc, a, d)
	switch {
	case errors.Is(err, ErrTooLarge):
		p = drop(OverLimit)
	case err != nil:
		s.o.Logger.Warn("longterm: an extractor made a draft that cannot be kept", "fault", fault(err, texts))
		p = drop(Malformed)
	}
	if len(t.Text) < maxToolText { // of a longer one the middle may be gone, and what stands behind it elsewhere
		p.span = span
	}
	return p
}

func textOf(texts []Text, src Source) *Text {
	for i := range texts {
		if texts[i].Source.same(src) {
			return &texts[i]
		}
	}
	return nil
}
