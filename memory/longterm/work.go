package longterm

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/holdfast-go/holdfast/memory"

	"github.com/holdfast-go/holdfast/memory/search"
)

// Work extracts what the outbox has, of all users, until the context ends, which is no error, or the store is closed, which is
// ErrClosed. It has one job at a time; call it several times for more. Several processes may work on one store: a job is held
// by one for Options.Lease, and what a worker that came too late has found is not stored. A store that does not answer is asked
// again.
func (s *Store) Work(ctx context.Context) error {
	return s.working(ctx, func(ctx context.Context) error {
		for wait := time.Duration(0); ; {
			worked, err := s.one(ctx)
			if ctx.Err() != nil {
				return nil
			}
			switch {
			case errors.Is(err, ErrClosed):
				return err
			case err != nil:
				wait = min(max(2*wait, 100*time.Millisecond), 10*time.Second)
				s.o.Logger.WarnContext(ctx, "longterm: the outbox cannot be worked on; it is tried again", "error", err, "wait", wait)
			case worked:
				wait = 0
				continue
			default:
				wait = s.idle(ctx)
			}
			s.rest(ctx, wait)
		}
	})
}

// Drain works until nothing is due, and returns how many jobs were done. What has failed and is due later is left.
func (s *Store) Drain(ctx context.Context) (n int, err error) {
	err = s.working(ctx, func(ctx context.Context) error {
		for {
			job, err := s.claim(ctx)
			if job == nil || err != nil {
				return err
			}
			done, err := s.do(ctx, *job)
			if err != nil {
				return err
			}
			if done {
				n++
			}
		}
	})
	return n, err
}

// working runs f as a worker, which ends when the store is closed.
func (s *Store) working(ctx context.Context, f func(context.Context) error) error {
	if s.o.Rules == nil && s.o.Extractor == nil && s.o.Embedder == nil {
		return ErrNoExtractor
	}
	s.life.RLock()
	if s.closed {
		s.life.RUnlock()
		return ErrClosed
	}
	s.workers.Add(1)
	s.life.RUnlock()
	defer s.workers.Done()
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-s.closing:
			cancel(ErrClosed)
		case <-inner.Done():
		}
	}()
	err := f(inner)
	closed := errors.Is(context.Cause(inner), ErrClosed)
	cancel(nil)
	<-ended
	if closed && ctx.Err() == nil {
		return ErrClosed
	}
	return err
}

// one works on one job, if one is due.
func (s *Store) one(ctx context.Context) (bool, error) {
	job, err := s.claim(ctx)
	if job == nil || err != nil {
		return false, err
	}
	_, err = s.do(ctx, *job)
	return true, err
}

// idle is how long a worker waits that found nothing. Jobs of this process wake it; others it looks for.
func (s *Store) idle(ctx context.Context) time.Duration {
	const look = time.Second
	wait := look
	err := s.call(ctx, func(ctx context.Context) error {
		due, now, err := s.back.Next(ctx)
		if err == nil && !due.IsZero() {
			wait = min(max(due.Sub(now), time.Millisecond), look)
		}
		return err
	})
	if err != nil {
		return look
	}
	return wait
}

func (s *Store) rest(ctx context.Context, wait time.Duration) {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.news:
	case <-ctx.Done():
	}
}

func (s *Store) claim(ctx context.Context) (job *JobRow, err error) {
	err = s.call(ctx, func(ctx context.Context) error {
		rows, err := s.back.Claim(ctx, uuid.NewString(), s.o.Lease, 1)
		if len(rows) > 0 {
			job = &rows[0]
		}
		return err
	})
	return job, err
}

// do works on a job that is held, and reports whether it is done.
func (s *Store) do(ctx context.Context, row JobRow) (done bool, err error) {
	acc, err := s.jobAccess(ctx, row)
	if err != nil {
		return false, err
	}
	defer func() { s.jobEnded(ctx, acc, &done, &err) }()
	return s.doJob(ctx, row, &acc)
}

func (s *Store) doJob(ctx context.Context, row JobRow, acc *memory.Access) (bool, error) {
	j, known, err := s.begin(ctx, row)
	if j == nil || err != nil {
		return false, err
	}
	if len(j.Items) > 0 {
		acc.Items = append(acc.Items, j.Items...)
		return s.doVectors(ctx, row, j)
	}
	work, cancel := context.WithTimeout(ctx, s.o.Lease)
	defer cancel()
	drafts, err := s.extractAll(work, j, known)
	if err != nil {
		return false, s.fail(ctx, row, err)
	}
	ps := s.prepareAll(j, drafts)
	var vectors map[string][]float32
	if len(ps) > 0 {
		vectors = s.vectorsOf(work, ps)
	}
	return s.held(ctx, row, func(ctx context.Context, u *unit, j *task) (err error) {
		u.known = vectors
		u.disown(j, ps)
		out, err := u.outcomes(ctx, ps)
		if err != nil {
			return err
		}
		j.Outcomes = append(j.Outcomes, out...)
		acc.Items = append([]string{row.ID}, outcomeIDs(out)...) // once, also where the transaction is tried again
		j.finish(u.now)
		if err := u.putJob(ctx, j, JobRow{}); err != nil {
			return err
		}
		return u.sweep(ctx)
	})
}

// begin counts an attempt, and returns the job and what the user has that may be about the same; nil if it has failed too often.
func (s *Store) begin(ctx context.Context, row JobRow) (begun *task, known []Item, err error) {
	_, err = s.held(ctx, row, func(ctx context.Context, u *unit, j *task) error {
		begun, known = nil, nil
		if j.Attempts >= s.o.Attempts {
			j.State = Parked
			if j.Fault == "" {
				j.Fault = "the process ended during the last attempt"
			}
			return u.putJob(ctx, j, JobRow{})
		}
		j.Attempts++
		if err := u.putJob(ctx, j, row); err != nil {
			return err
		}
		begun = j
		known, err = u.about(ctx, j)
		return err
	})
	return begun, known, err
}

// about are the items that have words in common with what a job's texts say.
func (u *unit) about(ctx context.Context, j *task) ([]Item, error) {
	if len(j.Texts) == 0 {
		return nil, nil
	}
	shelves, err := u.visible(ctx, "")
	if err != nil || len(shelves) == 0 {
		return nil, err
	}
	var text strings.Builder
	for _, t := range j.Texts {
		text.WriteString(middle(t.Text, 1<<10) + "\n")
	}
	hits, err := search.Search(ctx, u.index, shelves, search.Query{Text: middle(text.String(), maxQuery), Now: u.now, Limit: nearby})
	if err != nil {
		return nil, err
	}
	found, err := u.at(ctx, hits)
	if err != nil {
		return nil, err
	}
	var known []Item
	for _, r := range found {
		if !r.planted() {
			known = append(known, r.shown())
		}
	}
	return known, nil
}

// errLost is returned when somebody else has a job by now, or it is gone.
var errLost = errors.New("the job is no longer held")

// held runs f in an update with a job, if it is held still, and reports whether it was.
func (s *Store) held(ctx context.Context, row JobRow, f func(context.Context, *unit, *task) error) (bool, error) {
	j, err := taskOf(row)
	if err != nil {
		return false, err
	}
	err = s.update(ctx, row.Scope, j.Agent, func(ctx context.Context, u *unit) error {
		rows, err := u.tx.Jobs(ctx, SelectJobs{IDs: []string{row.ID}})
		if err != nil {
			return err
		}
		if len(rows) == 0 || rows[0].Holder != row.Holder {
			return errLost
		}
		j, err := taskOf(rows[0])
		if err != nil {
			return err
		}
		return f(ctx, u, j)
	})
	if errors.Is(err, errLost) || errors.Is(err, memory.ErrErased) {
		s.o.Logger.InfoContext(ctx, "longterm: a job was lost to another worker, or removed", "job", row.ID)
		return false, nil
	}
	return err == nil, err
}

// fail records that an attempt failed.
func (s *Store) fail(ctx context.Context, row JobRow, cause error) error {
	if ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), s.release(context.WithoutCancel(ctx), row))
	}
	_, err := s.held(ctx, row, func(ctx context.Context, u *unit, j *task) error {
		j.Fault, j.State = fault(cause, j.Texts), Failing
		j.Due = u.now.Add(s.o.backoff(j.Attempts))
		if j.Attempts >= s.o.Attempts {
			j.State = Parked
		}
		s.o.Logger.WarnContext(ctx, "longterm: an extraction failed", "job", j.ID, "attempt", j.Attempts, "state", j.State, "fault", j.Fault)
		return u.putJob(ctx, j, JobRow{})
	})
	return err
}

// release gives a job back whose worker is told to stop: that is no fault of the job. Where it cannot the lease ends it.
func (s *Store) release(ctx context.Context, row JobRow) error {
	_, err := s.held(ctx, row, func(ctx context.Context, u *unit, j *task) error {
		j.Attempts--
		return u.putJob(ctx, j, JobRow{})
	})
	if errors.Is(err, ErrClosed) {
		return nil
	}
	return err
}

func (o Options) backoff(attempts int) time.Duration {
	const longest = time.Hour
	d := o.Backoff
	for range attempts - 1 {
		if d = 2 * d; d >= longest {
			return longest
		}
	}
	return d
}
