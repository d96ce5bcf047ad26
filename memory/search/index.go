package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// An entry is a document as terms.
type entry struct {
	Doc
	key    Key // of its columns
	off    int
	length int // terms, those of its date too
	times  map[string]int
	speaks map[string]bool // terms that name who speaks
}

func newEntry(shelf string, d Doc) entry {
	terms := append(Terms(d.Text), dateTerms(d.At)...)
	e := entry{
		Doc: d, key: Key{Shelf: shelf, Block: int(d.No / blockSize)}, off: int(d.No % blockSize), length: len(terms),
		times: map[string]int{}, speaks: map[string]bool{},
	}
	for _, t := range terms {
		e.times[t]++
	}
	for _, t := range speaker(d.Text) {
		e.speaks[t] = true
	}
	return e
}

// An edit is what one call makes of an index: rows are loaded once and saved once.
type edit struct {
	entries  []entry
	columns  map[Key]*columns
	postings map[Key][]posting
}

// Add puts documents into a shelf. It loads and saves a row for each of their terms in each block, so many at once are cheaper than
// one after the other.
func Add(ctx context.Context, rows Rows, shelf string, docs ...Doc) error {
	return change(ctx, rows, shelf, docs, (*edit).add)
}

// Remove takes documents out of a shelf: not a byte that their texts made is left in its rows. They must be as they were added,
// otherwise they are an [ErrDoc]. One that is not there is removed already. Vectors are removed by [SaveVectors].
func Remove(ctx context.Context, rows Rows, shelf string, docs ...Doc) error {
	return change(ctx, rows, shelf, docs, (*edit).remove)
}

func change(ctx context.Context, rows Rows, shelf string, docs []Doc, one func(*edit, entry) error) error {
	if len(docs) == 0 {
		return nil
	}
	e, err := load(ctx, rows, shelf, docs)
	if err != nil {
		return err
	}
	for _, d := range e.entries {
		if err := one(e, d); err != nil {
			return fmt.Errorf("%w: number %d of shelf %q", err, d.No, shelf)
		}
	}
	return rows.Save(ctx, e.rows())
}

func load(ctx context.Context, rows Rows, shelf string, docs []Doc) (*edit, error) {
	e := &edit{columns: map[Key]*columns{}, postings: map[Key][]posting{}}
	for _, d := range docs {
		d := newEntry(shelf, d)
		e.entries = append(e.entries, d)
		e.columns[d.key] = nil
		for t := range d.times {
			e.postings[Key{shelf, t, d.key.Block}] = nil
		}
	}
	keys := make([]Key, 0, len(e.columns)+len(e.postings))
	for k := range e.columns {
		keys = append(keys, k)
	}
	for k := range e.postings {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b Key) int { return cmp.Or(cmp.Compare(a.Term, b.Term), cmp.Compare(a.Block, b.Block)) })
	stored, err := rows.Load(ctx, keys)
	if err != nil {
		return nil, err
	}
	for k := range e.columns {
		c, err := readColumns(stored[k])
		if err != nil {
			return nil, rowError(err, k)
		}
		e.columns[k] = &c
	}
	for k := range e.postings {
		if e.postings[k], err = readPostings(stored[k]); err != nil {
			return nil, rowError(err, k)
		}
	}
	return e, nil
}

func (e *edit) rows() map[Key][]byte {
	rows := make(map[Key][]byte, len(e.columns)+len(e.postings))
	for k, c := range e.columns {
		rows[k] = c.row()
	}
	for k, ps := range e.postings {
		rows[k] = postingsRow(ps)
	}
	return rows
}

func (d entry) posting(term string) posting { return newPosting(d.off, d.times[term], d.speaks[term]) }

func (e *edit) add(d entry) error {
	c := e.columns[d.key]
	if d.No == 0 || c.has(d.off) {
		return ErrDoc
	}
	c.add(d.off, d.length, d.Doc)
	for t := range d.times {
		k := Key{d.key.Shelf, t, d.key.Block}
		i, _ := find(e.postings[k], d.off)
		e.postings[k] = slices.Insert(e.postings[k], i, d.posting(t))
	}
	return nil
}

func (e *edit) remove(d entry) error {
	c := e.columns[d.key]
	if !c.has(d.off) {
		return nil
	}
	if c.lengths[d.off] != storedLength(d.length) {
		return ErrDoc
	}
	c.remove(d.off)
	for t := range d.times {
		k := Key{d.key.Shelf, t, d.key.Block}
		i, ok := find(e.postings[k], d.off)
		if !ok || e.postings[k][i] != d.posting(t) {
			return ErrDoc
		}
		e.postings[k] = slices.Delete(e.postings[k], i, i+1)
	}
	return nil
}

func find(ps []posting, off int) (int, bool) {
	return slices.BinarySearchFunc(ps, off, func(p posting, off int) int { return cmp.Compare(p.off(), off) })
}
