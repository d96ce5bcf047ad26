package redis

import (
	"context"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// pageRows is the length of a page for which no limit is given.
const pageRows = 100

func limitOf(n int) int {
	if n <= 0 {
		return pageRows
	}
	return n
}

// threadsFrom begins a walk over threads behind a cursor.
func (s *Store) threadsFrom(set, tenant string, after checkpoint.Key, inclusive bool) *walk {
	w := &walk{s: s, set: set, from: "-", to: "+"}
	if tenant != "" {
		w.from, w.to = "["+tenant+"\x00", "("+tenant+"\x01"
	}
	switch {
	case after == checkpoint.Key{} || tenant != "" && after.Tenant < tenant:
	case tenant != "" && after.Tenant > tenant:
		w.from = w.to // nothing is behind it
	case inclusive:
		w.from = "[" + member(after)
	default:
		w.from = "(" + member(after)
	}
	return w
}

// A look is a thread as a list sees it.
type look struct {
	checkpoint.Head
	pending, commands, behind bool
}

// look reads the heads of candidates in one round trip.
func (s *Store) look(ctx context.Context, cs []candidate) ([]look, error) {
	tasks := make([]task, len(cs))
	for i, c := range cs {
		key, _ := keyOf(c.member)
		tasks[i] = task{keys: s.keys(key)}
	}
	out := make([]look, len(cs))
	for i, r := range evalAll(ctx, s.client, scriptHead, tasks) {
		key, _ := keyOf(cs[i].member)
		now := r.int()
		out[i] = look{r.head(key, now), r.int() == 1, r.int() == 1, r.int() == 1}
		if r.err != nil {
			return nil, r.err
		}
	}
	return out, nil
}

// belongs reports whether a thread has to be in a set.
func (l *look) belongs(set string) bool {
	if l.Epoch == 0 {
		return false
	}
	switch set {
	case "l":
		return l.Held() || l.Status == checkpoint.Running || l.behind
	case "w":
		return l.Status == checkpoint.Interrupted || l.pending || l.behind
	case "i":
		return l.commands
	}
	return true
}

// each walks over the threads of a set that belong to it, in order, until f says no.
func (w *walk) each(ctx context.Context, page int, f func(look) (bool, error)) error {
	defer w.prune(ctx)
	for {
		cs, err := w.next(ctx, page)
		if err != nil {
			return err
		}
		looks, err := w.s.look(ctx, cs)
		if err != nil {
			return err
		}
		for i := range looks {
			if !looks[i].belongs(w.set) {
				w.doubt(cs[i])
				continue
			}
			if more, err := f(looks[i]); err != nil || !more {
				return err
			}
		}
		if len(cs) < page {
			return nil
		}
	}
}

// setOf is the smallest set that has all threads of a filter.
func setOf(f *checkpoint.ThreadFilter) string {
	switch {
	case f.HasInbox:
		return "i"
	case f.Held || f.Expired || f.Status == checkpoint.Running:
		return "l"
	case f.Status == checkpoint.Interrupted:
		return "w"
	}
	return "a"
}

// Threads implements checkpoint.Directory. It looks at every candidate on the way: at all threads of the tenant, or at those
// that run, wait, or have commands if the filter says so.
func (s *Store) Threads(ctx context.Context, f checkpoint.ThreadFilter) ([]checkpoint.Head, error) {
	return do(ctx, s, func(ctx context.Context) (out []checkpoint.Head, err error) {
		limit := limitOf(f.Limit)
		w := s.threadsFrom(setOf(&f), f.Tenant, f.After, false)
		err = w.each(ctx, min(max(limit, 16), 1000), func(l look) (bool, error) {
			switch {
			case f.Status != 0 && l.Status != f.Status, f.Owner != "" && l.Owner != f.Owner, f.Graph != "" && l.Graph != f.Graph,
				f.Held && !l.Held(), f.Expired && !l.Expired, f.HasInbox && !l.commands, !hasMeta(l.Meta, f.Meta):
			default:
				out = append(out, l.Head)
			}
			return len(out) < limit, nil
		})
		return out, err
	})
}

// Runs implements checkpoint.Directory.
func (s *Store) Runs(ctx context.Context, f checkpoint.RunFilter) ([]checkpoint.Run, error) {
	return do(ctx, s, func(ctx context.Context) (out []checkpoint.Run, err error) {
		limit := limitOf(f.Limit)
		add := func(key checkpoint.Key) (bool, error) {
			after := ""
			if key == f.After.Key {
				after = f.After.Run
			}
			rs, err := s.runsOf(ctx, key, after, &f, limit-len(out))
			out = append(out, rs...)
			return len(out) < limit, err
		}
		if f.Tenant != "" && f.Thread != "" {
			if key := (checkpoint.Key{Tenant: f.Tenant, Thread: f.Thread}); compareKeys(key, f.After.Key) >= 0 {
				_, err = add(key)
			}
			return out, err
		}
		set := setOf(&checkpoint.ThreadFilter{Status: f.Status})
		w := s.threadsFrom(set, f.Tenant, f.After.Key, true)
		err = w.each(ctx, min(max(limit, 16), 1000), func(l look) (bool, error) {
			if f.Thread != "" && l.Thread != f.Thread {
				return true, nil
			}
			return add(l.Key)
		})
		return out, err
	})
}

// runsOf lists runs of one thread behind an id.
func (s *Store) runsOf(ctx context.Context, key checkpoint.Key, after string, f *checkpoint.RunFilter, limit int) (out []checkpoint.Run, err error) {
	var ids []string
	for r := s.eval(ctx, scriptRuns, key); r.more() || r.err != nil; {
		if r.err != nil {
			return nil, r.err
		}
		if id := r.text(); id > after {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for page := range slices.Chunk(ids, pageRows) {
		args := make([]value, len(page))
		for i, id := range page {
			args[i] = id
		}
		for r := s.eval(ctx, scriptRuns, key, args...); r.more() || r.err != nil; {
			id, row, outcome := r.text(), r.text(), r.text()
			if r.err != nil {
				return nil, r.err
			}
			if row == "" {
				continue // deleted meanwhile
			}
			run, err := decodeRun(key, id, row, outcome)
			if err != nil {
				return nil, err
			}
			if f.Status != 0 && run.Status != f.Status || !hasMeta(run.Meta, f.Meta) {
				continue
			}
			if out = append(out, run); len(out) == limit {
				return out, nil
			}
		}
	}
	return out, nil
}

// Questions implements checkpoint.Directory. Open and answered questions come from the index by age. Closed ones of no
// particular thread are not in it: all threads are walked over.
func (s *Store) Questions(ctx context.Context, f checkpoint.QuestionFilter) ([]checkpoint.Question, error) {
	return do(ctx, s, func(ctx context.Context) ([]checkpoint.Question, error) {
		if f.Tenant != "" && f.Thread != "" || f.State == checkpoint.Closed {
			return s.questionsByThread(ctx, &f)
		}
		return s.questionsByAge(ctx, &f)
	})
}

func wanted(f *checkpoint.QuestionFilter, q *checkpoint.Question, active int32) bool {
	after := checkpoint.Question{Asked: f.After.Asked, Key: f.After.Key, ID: f.After.ID}
	return q.Branch == active && q.State == f.State && (!f.Expired || q.Expired) && (f.Thread == "" || q.Thread == f.Thread) &&
		compareQuestions(*q, after) > 0
}

func (s *Store) questionsByThread(ctx context.Context, f *checkpoint.QuestionFilter) (out []checkpoint.Question, err error) {
	which := "p"
	if f.State == checkpoint.Closed {
		which = "a"
	}
	add := func(key checkpoint.Key) error {
		r := s.eval(ctx, scriptQuestions, key, which)
		now, _, active := r.int(), r.int(), r.int32()
		qs, err := readQuestions(r, key, now)
		for i := range qs {
			if wanted(f, &qs[i], active) {
				out = append(out, qs[i])
			}
		}
		return err
	}
	if f.Thread != "" && f.Tenant != "" {
		err = add(checkpoint.Key{Tenant: f.Tenant, Thread: f.Thread})
	} else {
		err = s.threadsFrom("a", f.Tenant, checkpoint.Key{}, false).each(ctx, 1000, func(l look) (bool, error) { return true, add(l.Key) })
	}
	slices.SortFunc(out, compareQuestions)
	return out[:min(len(out), limitOf(f.Limit))], err
}

func (s *Store) questionsByAge(ctx context.Context, f *checkpoint.QuestionFilter) ([]checkpoint.Question, error) {
	_, out, err := s.byAge(ctx, f)
	return out, err
}

// byAge also returns the walk, which knows what did not belong.
func (s *Store) byAge(ctx context.Context, f *checkpoint.QuestionFilter) (w *walk, out []checkpoint.Question, err error) {
	limit := limitOf(f.Limit)
	w = &walk{s: s, set: "q", after: candidate{score: -1}}
	if f.After != (checkpoint.QuestionCursor{}) {
		// All rows of a question sort after its id and a NUL, and this is behind each of them.
		w.after = candidate{score: millis(f.After.Asked), member: member(f.After.Key) + "\x00" + f.After.ID + "\x01"}
	}
	defer w.prune(ctx)
	for page := min(max(limit, 16), 1000); len(out) < limit; {
		cs, err := w.next(ctx, page)
		if err != nil {
			return w, nil, err
		}
		ours := slices.DeleteFunc(slices.Clone(cs), func(c candidate) bool { return f.Tenant != "" && !strings.HasPrefix(c.member, f.Tenant+"\x00") })
		tasks := make([]task, len(ours))
		for i, c := range ours {
			key, id := keyOf(c.member)
			tasks[i] = task{s.keys(key), []value{"i", id}}
		}
		for i, r := range evalAll(ctx, s.client, scriptQuestions, tasks) {
			key, id := keyOf(ours[i].member)
			now, _, active := r.int(), r.int(), r.int32()
			r.text()
			row, answer := r.text(), r.text()
			if r.err != nil {
				return w, nil, r.err
			}
			var q checkpoint.Question
			if row != "" {
				if q, err = decodeQuestion(key, id, row, answer, now); err != nil {
					return w, nil, err
				}
			}
			if row == "" || q.State == checkpoint.Closed || millis(q.Asked) != ours[i].score {
				w.doubt(ours[i])
				continue
			}
			if wanted(f, &q, active) && len(out) < limit {
				out = append(out, q)
			}
		}
		if len(cs) < page {
			break
		}
	}
	return w, out, nil
}
