package redis

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// Load implements checkpoint.Log: one script, so all of it is as of one moment.
func (s *Store) Load(ctx context.Context, key checkpoint.Key, branch int32, ns checkpoint.Namespace) (*checkpoint.Loaded, error) {
	if err := key.Valid(); err != nil {
		return nil, err
	}
	return do(ctx, s, func(ctx context.Context) (*checkpoint.Loaded, error) {
		return loaded(s.eval(ctx, scriptLoad, key, branch, string(ns)), key, branch, ns)
	})
}

func loaded(r *reply, key checkpoint.Key, branch int32, ns checkpoint.Namespace) (l *checkpoint.Loaded, err error) {
	now := r.int()
	l = &checkpoint.Loaded{Head: checkpoint.Head{Key: key}, Branch: max(branch, 0)}
	if !r.more() {
		return l, r.err
	}
	l.Head = r.head(key, now)
	l.Branch = r.int32()
	lo, records, questions, inbox, branches := r.int(), r.list(), r.list(), r.list(), r.list()
	if r.err != nil {
		return nil, r.err
	}
	if l.Records, err = readRecords(records, l.Branch, ns, lo); err != nil {
		return nil, err
	}
	all, err := readQuestions(questions, key, now)
	if err != nil {
		return nil, err
	}
	for _, q := range all {
		if q.Branch == l.Branch && q.State != checkpoint.Closed {
			l.Questions = append(l.Questions, q)
		}
	}
	slices.SortFunc(l.Questions, compareQuestions)
	if l.Inbox, err = readInbox(inbox, key); err != nil {
		return nil, err
	}
	for n := int32(1); branches.more(); n++ {
		var row branchRow
		branches.json(&row)
		l.Branches = append(l.Branches, checkpoint.Branch{N: n, Name: row.Name, Origin: row.Origin, Ord: row.Ord, Reason: row.Reason})
	}
	if branches.err != nil {
		return nil, branches.err
	}
	return l, nil
}

// readRecords reads the rest of a list as the records of a chain from a position.
func readRecords(r *reply, branch int32, ns checkpoint.Namespace, pos int64) (out []checkpoint.Record, err error) {
	for ; r.more(); pos++ {
		rec, err := decodeRecord(branch, ns, pos, r.text())
		if err != nil {
			return nil, err
		}
		out = append(out, rec)
	}
	return out, r.err
}

// Read implements checkpoint.Log. A long answer comes in several round trips of at most 1,000 records or about 8 MB. When the
// thread was deleted or its chain trimmed in between, it starts over: an answer has no gap, and is of one thread.
func (s *Store) Read(ctx context.Context, q checkpoint.Query) ([]checkpoint.Record, error) {
	if err := q.Key.Valid(); err != nil {
		return nil, err
	}
	ord := ""
	if q.MaxOrd > 0 {
		ord = eight(q.MaxOrd)
	}
	return do(ctx, s, func(ctx context.Context) ([]checkpoint.Record, error) {
		for {
			first, err := s.readPage(ctx, &q, q.Branch, max(q.From, 0), max(q.To, -1), ord, max(q.Limit, 0))
			if err != nil {
				return nil, err
			}
			out, whole, err := s.readRest(ctx, &q, first)
			if err != nil || whole {
				return out, err
			}
		}
	})
}

// A page is a part of what Read returns.
type page struct {
	branch  int32
	lo, hi  int64 // what is to be read from here on, of which these are the first records
	created int64 // of the thread
	records []checkpoint.Record
}

// readRest reads what the first page has bounded. It is not whole if that is no longer there.
func (s *Store) readRest(ctx context.Context, q *checkpoint.Query, first page) (out []checkpoint.Record, whole bool, err error) {
	out = first.records
	for next := first.lo + int64(len(out)); next <= first.hi && len(out) > 0; next = first.lo + int64(len(out)) {
		p, err := s.readPage(ctx, q, first.branch, next, first.hi, "", 0)
		if err != nil || p.created != first.created || p.lo != next || p.hi != first.hi {
			return nil, false, err
		}
		out = append(out, p.records...)
	}
	return out, true, nil
}

func (s *Store) readPage(ctx context.Context, q *checkpoint.Query, branch int32, from, to int64, ord string, limit int) (p page, err error) {
	r := s.eval(ctx, scriptRead, q.Key, branch, string(q.Namespace), from, to, ord, limit, flag(q.Newest), flag(q.NoBody))
	p = page{branch: r.int32(), lo: r.int(), hi: r.int(), created: r.int()}
	p.records, err = readRecords(r, p.branch, q.Namespace, p.lo)
	return p, err
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Chains implements checkpoint.Log.
func (s *Store) Chains(ctx context.Context, key checkpoint.Key, branch int32) ([]checkpoint.Record, error) {
	if err := key.Valid(); err != nil {
		return nil, err
	}
	return do(ctx, s, func(ctx context.Context) (out []checkpoint.Record, err error) {
		r := s.eval(ctx, scriptChains, key, branch)
		for branch := r.int32(); r.more(); {
			ns := checkpoint.Namespace(strings.TrimPrefix(r.text(), chainField(branch, "")))
			f := strings.SplitN(r.text(), " ", 3) // first position, last position, header of the last record
			if r.err != nil || len(f) != 3 {
				return nil, fmt.Errorf("%w: chain %q: %w", checkpoint.ErrCorrupt, ns, r.err)
			}
			pos, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%w: chain %q: %w", checkpoint.ErrCorrupt, ns, err)
			}
			rec, err := decodeRecord(branch, ns, pos, f[2])
			if err != nil {
				return nil, err
			}
			out = append(out, rec)
		}
		slices.SortFunc(out, func(a, b checkpoint.Record) int { return strings.Compare(string(a.Namespace), string(b.Namespace)) })
		return out, r.err
	})
}

// hasMeta reports whether each wanted key has its value.
func hasMeta(have, want map[string]string) bool {
	for k, v := range want {
		if got, ok := have[k]; !ok || got != v {
			return false
		}
	}
	return true
}
