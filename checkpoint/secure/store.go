package secure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// A store puts a guard between the runtime and another store. What both kinds share is here.
type store struct {
	inner checkpoint.Store
	guard guard
	ring  *ring
	label string // in Info
}

// Info is that of the store below; Durability also says what this one adds.
func (s *store) Info() checkpoint.Info {
	i := s.inner.Info()
	i.Durability += ", " + s.label
	return i
}

// Close closes the store below.
func (s *store) Close() error { return s.inner.Close() }

// Load implements checkpoint.Log. It opens all it returns: one row that is refused refuses all.
func (s *store) Load(ctx context.Context, key checkpoint.Key, branch int32, ns checkpoint.Namespace) (*checkpoint.Loaded, error) {
	l, err := s.inner.Load(ctx, key, branch, ns)
	if err != nil {
		return nil, err
	}
	if n := len(l.Records); n > 0 {
		tail := &l.Records[n-1]
		if first := &l.Records[0]; first.Pos != tail.Base {
			at := row{key: key, record: first}
			return nil, at.refuse(fmt.Errorf("%w: a load has to begin at %d", ErrTampered, tail.Base))
		}
		stored := tail.Body
		if err := s.openRecords(ctx, checkpoint.Chain{Key: key, Branch: l.Branch, Namespace: ns}, l.Records); err != nil {
			return nil, err
		}
		s.guard.loaded(l, tail, stored)
	} else {
		s.guard.loaded(l, nil, nil)
	}
	for i := range l.Questions {
		if err := s.openQuestion(&l.Questions[i]); err != nil {
			return nil, err
		}
	}
	if err := s.openCommands(l.Inbox); err != nil {
		return nil, err
	}
	return l, nil
}

// Read implements checkpoint.Log. Without bodies only the places are checked, and they are not proved.
func (s *store) Read(ctx context.Context, q checkpoint.Query) ([]checkpoint.Record, error) {
	records, err := s.inner.Read(ctx, q)
	if err != nil || len(records) == 0 {
		return records, err
	}
	if q.Branch == checkpoint.Active {
		q.Branch = records[0].Branch
	}
	if q.NoBody {
		return records, places(q.Chain, records)
	}
	if err := s.openRecords(ctx, q.Chain, records); err != nil {
		return nil, err
	}
	return records, nil
}

// Chains implements checkpoint.Log. What it returns has no bodies and is not proved.
func (s *store) Chains(ctx context.Context, key checkpoint.Key, branch int32) ([]checkpoint.Record, error) {
	return s.inner.Chains(ctx, key, branch)
}

// Append implements checkpoint.Log. Bodies are copied once.
func (s *store) Append(ctx context.Context, a *checkpoint.Append) (checkpoint.Ack, error) {
	if err := a.Valid(); err != nil {
		return checkpoint.Ack{}, err
	}
	b := *a
	b.Records = slices.Clone(a.Records)
	wrote, err := s.guard.sealRecords(ctx, a.Key, a.Records[0].Ord>>32, b.Records)
	if err != nil {
		return checkpoint.Ack{}, err
	}
	if a.Park != nil {
		b.Park = s.sealPark(a.Key, a.Park)
	}
	ack, err := s.inner.Append(ctx, &b)
	if err == nil {
		wrote()
	}
	return ack, err
}

// sealPark seals what the end of a run carries.
func (s *store) sealPark(key checkpoint.Key, p *checkpoint.Park) *checkpoint.Park {
	out := *p
	out.Error = s.sealText(errorRow(key, p.Status), p.Error)
	out.Questions = slices.Clone(p.Questions)
	for i := range out.Questions {
		q := &out.Questions[i]
		q.Body = append(appendPart(make([]byte, 0, len(q.Shown)+len(q.Body)+10), q.Shown), q.Body...)
		q.Shown = s.hide(key, "", q.Shown)
		at := questionRow(key, q)
		q.Body = s.guard.seal(&at, q.Body)
	}
	return &out
}

// Trim implements checkpoint.Log.
func (s *store) Trim(ctx context.Context, c checkpoint.Chain, below int64) (int64, error) {
	return s.inner.Trim(ctx, c, below)
}

// Delete implements checkpoint.Log.
func (s *store) Delete(ctx context.Context, key checkpoint.Key) error {
	s.guard.deleted(key)
	return s.inner.Delete(ctx, key)
}

// Acquire implements checkpoint.Leaser.
func (s *store) Acquire(ctx context.Context, a *checkpoint.Acquire) (checkpoint.Head, error) {
	if err := a.Valid(); err != nil {
		return checkpoint.Head{}, err
	}
	b, wrote := *a, func() {}
	if len(a.Records) > 0 {
		var err error
		b.Records = slices.Clone(a.Records)
		if wrote, err = s.guard.sealRecords(ctx, a.Key, a.Epoch, b.Records); err != nil {
			return checkpoint.Head{}, err
		}
	}
	head, err := s.inner.Acquire(ctx, &b)
	if err == nil {
		s.guard.acquired(a, &head)
		wrote()
	}
	if dup, ok := errors.AsType[*checkpoint.DuplicateError](err); ok {
		run := dup.Run
		if bad := s.openRun(&run); bad != nil {
			return checkpoint.Head{}, bad
		}
		return checkpoint.Head{}, &checkpoint.DuplicateError{Run: run}
	}
	return head, err
}

// Renew implements checkpoint.Leaser.
func (s *store) Renew(ctx context.Context, leases []checkpoint.Lease, ttl time.Duration) ([]checkpoint.Renewal, error) {
	return s.inner.Renew(ctx, leases, ttl)
}

// Release implements checkpoint.Leaser.
func (s *store) Release(ctx context.Context, l checkpoint.Lease, seen int64) (bool, error) {
	return s.inner.Release(ctx, l, seen)
}

// Threads implements checkpoint.Directory. Nothing of a head is sealed.
func (s *store) Threads(ctx context.Context, f checkpoint.ThreadFilter) ([]checkpoint.Head, error) {
	return s.inner.Threads(ctx, f)
}

// Runs implements checkpoint.Directory. A row that is refused refuses the page.
func (s *store) Runs(ctx context.Context, f checkpoint.RunFilter) ([]checkpoint.Run, error) {
	runs, err := s.inner.Runs(ctx, f)
	for i := range runs {
		if err == nil {
			err = s.openRun(&runs[i])
		}
	}
	if err != nil {
		return nil, err
	}
	return runs, nil
}

// Questions implements checkpoint.Directory. A row that is refused refuses the page.
func (s *store) Questions(ctx context.Context, f checkpoint.QuestionFilter) ([]checkpoint.Question, error) {
	qs, err := s.inner.Questions(ctx, f)
	for i := range qs {
		if err == nil {
			err = s.openQuestion(&qs[i])
		}
	}
	if err != nil {
		return nil, err
	}
	return qs, nil
}
