package longterm

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/memory/search"
)

// A home is what is kept in memory for one scope.
type home struct {
	mu     sync.RWMutex
	erased bool // for good
	rows
}

type rows struct {
	index   *search.Map
	items   map[string]Row
	ids     []string                   // of items, sorted
	by      map[string]map[string]bool // ids of items by what they are selected by, see handles
	shelves map[string]Shelf
	jobs    map[string]JobRow
	open    map[string]bool // ids of jobs that are not done
}

func newHome() *home { return &home{rows: newRows()} }

func newRows() rows {
	return rows{
		index: search.NewMap(), items: map[string]Row{}, by: map[string]map[string]bool{},
		shelves: map[string]Shelf{}, jobs: map[string]JobRow{}, open: map[string]bool{},
	}
}

// handles are what a row can be selected by without looking at all of them.
func (r Row) handles() []string {
	var out []string
	for kind, value := range map[string]string{"key": r.Key, "hash": r.Hash, "replaces": r.Replaces} {
		if value != "" {
			out = append(out, kind+" "+value)
		}
	}
	if r.No > 0 {
		out = append(out, placeHandle(search.Place{Shelf: r.Shelf, No: r.No}))
	}
	for _, id := range r.Depends {
		out = append(out, "depends "+id)
	}
	return out
}

func placeHandle(p search.Place) string { return fmt.Sprintf("place %d %s", p.No, p.Shelf) }

// put stores an item.
func (r *rows) put(row Row) {
	if old, ok := r.items[row.ID]; ok {
		r.drop(old)
	}
	r.items[row.ID] = row
	if i, found := slices.BinarySearch(r.ids, row.ID); !found {
		r.ids = slices.Insert(r.ids, i, row.ID)
	}
	for _, h := range row.handles() {
		if r.by[h] == nil {
			r.by[h] = map[string]bool{}
		}
		r.by[h][row.ID] = true
	}
}

// drop removes the handles of an item.
func (r *rows) drop(row Row) {
	for _, h := range row.handles() {
		if delete(r.by[h], row.ID); len(r.by[h]) == 0 {
			delete(r.by, h)
		}
	}
}

// remove undoes the first put of an item.
func (r *rows) remove(id string) {
	r.drop(r.items[id])
	delete(r.items, id)
	if i, found := slices.BinarySearch(r.ids, id); found {
		r.ids = slices.Delete(r.ids, i, i+1)
	}
}

// candidates are ids of items among which those of a selection are, sorted.
func (r *rows) candidates(s Select) []string {
	var handles []string
	switch {
	case s.IDs != nil:
		return sorted(s.IDs)
	case s.Places != nil:
		for _, p := range s.Places {
			handles = append(handles, placeHandle(p))
		}
	case s.Keys != nil:
		handles = handlesOf("key", s.Keys)
	case s.Hashes != nil:
		handles = handlesOf("hash", s.Hashes)
	case s.Replaces != nil:
		handles = handlesOf("replaces", s.Replaces)
	case s.Depends != nil:
		handles = handlesOf("depends", s.Depends)
	default:
		i, found := slices.BinarySearch(r.ids, s.After)
		if found {
			i++
		}
		return r.ids[i:]
	}
	var ids []string
	for _, h := range handles {
		ids = slices.AppendSeq(ids, maps.Keys(r.by[h]))
	}
	return sorted(ids)
}

func handlesOf(kind string, values []string) (handles []string) {
	for _, v := range values {
		handles = append(handles, kind+" "+v)
	}
	return handles
}

func sorted(ids []string) []string {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// has reports whether a selection has a row.
func (s Select) has(r Row) bool {
	within := func(list []string, v string) bool { return list == nil || v != "" && slices.Contains(list, v) }
	return slices.Contains(s.Namespaces, r.Namespace) && r.Label <= s.Label && within(s.IDs, r.ID) && within(s.Keys, r.Key) &&
		within(s.Hashes, r.Hash) && within(s.Replaces, r.Replaces) && r.ID > s.After &&
		(s.Places == nil || r.No > 0 && slices.Contains(s.Places, search.Place{Shelf: r.Shelf, No: r.No})) &&
		(s.Depends == nil || slices.ContainsFunc(r.Depends, func(id string) bool { return slices.Contains(s.Depends, id) })) &&
		(s.Kinds == nil || slices.Contains(s.Kinds, r.Kind)) && (s.States == nil || slices.Contains(s.States, r.State)) &&
		(s.AsOf.IsZero() || !r.From.After(s.AsOf) && (r.Until.IsZero() || r.Until.After(s.AsOf)))
}

// A memoryTx works on a home that is locked. What it changes but the index is in place at once, and undone if it fails.
type memoryTx struct {
	*search.Map
	home *home
	now  time.Time
	undo []func()
}

var _ Tx = (*memoryTx)(nil)

func (tx *memoryTx) Now() time.Time { return tx.now }

func (tx *memoryTx) Items(ctx context.Context, s Select) ([]Row, error) {
	var out []Row
	for _, id := range tx.home.candidates(s) {
		if r, ok := tx.home.items[id]; ok && s.has(r) {
			out = append(out, r)
			if s.Limit > 0 && len(out) == s.Limit && !s.Newest {
				break
			}
		}
	}
	if s.Newest {
		slices.SortFunc(out, func(a, b Row) int { return cmp.Or(b.From.Compare(a.From), cmp.Compare(b.ID, a.ID)) })
		if s.Limit > 0 {
			out = out[:min(len(out), s.Limit)]
		}
	}
	for i := range out {
		out[i] = out[i].clone()
	}
	return out, ctx.Err()
}

func (r Row) clone() Row {
	r.Body, r.Depends = slices.Clone(r.Body), slices.Clone(r.Depends)
	return r
}

func (tx *memoryTx) Put(ctx context.Context, rows ...Row) error {
	for _, row := range rows {
		old, ok := tx.home.items[row.ID]
		tx.home.put(row.clone())
		if ok {
			tx.undo = append(tx.undo, func() { tx.home.put(old) })
		} else {
			tx.undo = append(tx.undo, func() { tx.home.remove(row.ID) })
		}
	}
	return ctx.Err()
}

func (tx *memoryTx) Shelves(ctx context.Context) ([]Shelf, error) {
	return slices.Collect(maps.Values(tx.home.shelves)), ctx.Err()
}

func (tx *memoryTx) PutShelf(ctx context.Context, s Shelf) error {
	put(tx, tx.home.shelves, s.Name, s)
	return ctx.Err()
}

// put sets a value of a map, and notes how to undo that.
func put[V any](tx *memoryTx, m map[string]V, key string, v V) {
	old, ok := m[key]
	m[key] = v
	tx.undo = append(tx.undo, func() {
		if delete(m, key); ok {
			m[key] = old
		}
	})
}

func (tx *memoryTx) PutVectors(ctx context.Context, shelf, space string, vectors map[uint32][]float32) error {
	return search.SaveVectors(ctx, tx.Map, shelf, space, vectors)
}

func (tx *memoryTx) Nearest(ctx context.Context, shelves []string, space string, v []float32, limit int) ([]search.Hit, error) {
	return search.Nearest(ctx, tx.Map, shelves, space, v, tx.now, limit)
}

func (tx *memoryTx) Jobs(ctx context.Context, s SelectJobs) ([]JobRow, error) {
	var ids []string
	switch {
	case s.IDs != nil:
		ids = sorted(s.IDs)
	case s.Open:
		ids = slices.Sorted(maps.Keys(tx.home.open))
	default:
		ids = slices.Sorted(maps.Keys(tx.home.jobs))
	}
	var out []JobRow
	for _, id := range ids {
		j, ok := tx.home.jobs[id]
		if !ok || id <= s.After || s.Open && j.State == Done {
			continue
		}
		if out = append(out, j.clone()); len(out) == s.Limit {
			break
		}
	}
	return out, ctx.Err()
}

func (tx *memoryTx) PutJob(ctx context.Context, j JobRow) error {
	tx.setJob(j.ID, j.clone(), true)
	return ctx.Err()
}

// setJob stores a job, or removes it, and notes how to undo that.
func (tx *memoryTx) setJob(id string, j JobRow, there bool) {
	h := tx.home
	old, was := h.jobs[id]
	set := func(j JobRow, there bool) {
		delete(h.jobs, id)
		delete(h.open, id)
		if there {
			h.jobs[id] = j
		}
		if there && j.State != Done {
			h.open[id] = true
		}
	}
	set(j, there)
	tx.undo = append(tx.undo, func() { set(old, was) })
}

func (tx *memoryTx) DeleteJobs(ctx context.Context, before time.Time) error {
	for _, id := range slices.Sorted(maps.Keys(tx.home.jobs)) {
		if j := tx.home.jobs[id]; !j.Done.IsZero() && j.Done.Before(before) {
			tx.setJob(id, JobRow{}, false)
		}
	}
	return ctx.Err()
}
