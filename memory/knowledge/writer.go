package knowledge

import (
	"context"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/memory/search"
)

// A writer gathers what an update changes, so that each row of the index is read and written once.
type writer struct {
	tx      Tx
	shelves map[string]*shelved
	order   []string     // of shelves
	rows    []VersionRow // to be stored
	gone    []VersionRow // whose chunks go
}

// A shelved is what comes into one shelf.
type shelved struct {
	Shelf
	docs    []search.Doc
	rows    []ChunkRow
	vectors map[string]map[uint32][]float32 // by space
}

func newWriter(tx Tx) *writer { return &writer{tx: tx, shelves: map[string]*shelved{}} }

// add makes the row of a version and, unless it is over before it came, its chunks. It returns all versions of the document.
func (w *writer) add(ctx context.Context, all []VersionRow, d draft) ([]VersionRow, error) {
	v := d.row(all, w.tx.Now())
	if !v.over(w.tx.Now()) {
		if err := w.place(ctx, &v, d); err != nil {
			return nil, err
		}
	}
	all = append(all, v)
	for i := range all {
		all[i].Until = all[i].end(all)
	}
	return all, nil
}

// place gives chunks their numbers.
func (w *writer) place(ctx context.Context, v *VersionRow, d draft) error {
	s, err := w.shelf(ctx, v.Shelf, d.Roles)
	if err != nil {
		return err
	}
	v.First, v.Count = s.Next, len(d.parts)
	for i, p := range d.parts {
		row := ChunkRow{search.Place{Shelf: v.Shelf, No: s.Next}, v.Document, v.Version, p.encode()}
		s.rows, s.docs = append(s.rows, row), append(s.docs, row.doc(p))
		if d.vectors != nil {
			v.Space = d.space
			s.vector(v.Space, s.Next, d.vectors[i])
		}
		s.Next++
	}
	return nil
}

func (w *writer) shelf(ctx context.Context, name string, roles []string) (*shelved, error) {
	if s := w.shelves[name]; s != nil {
		return s, nil
	}
	got, err := w.tx.Shelf(ctx, name)
	if err != nil {
		return nil, err
	}
	if len(got.Roles) == 0 {
		got = Shelf{Name: name, Roles: roles, Next: 1}
	}
	s := &shelved{Shelf: got, vectors: map[string]map[uint32][]float32{}}
	w.shelves[name], w.order = s, append(w.order, name)
	return s, nil
}

func (s *shelved) vector(space string, no uint32, v []float32) {
	if s.vectors[space] == nil {
		s.vectors[space] = map[uint32][]float32{}
	}
	s.vectors[space][no] = v
}

// put stores the versions of a document, and empties those that are over.
func (w *writer) put(all []VersionRow) {
	for _, v := range all {
		if v.over(w.tx.Now()) {
			v = w.empty(v)
		}
		w.rows = append(w.rows, v)
	}
}

// empty leaves nothing of a version but that it was there.
func (w *writer) empty(v VersionRow) VersionRow {
	w.gone = append(w.gone, v)
	v.Count, v.First, v.Space, v.Text = 0, 0, "", nil
	return v
}

// flush writes. It also empties the versions of all other documents whose end has come since the last time.
func (w *writer) flush(ctx context.Context, but []string) error {
	ended, err := w.tx.Versions(ctx, Select{Ended: w.tx.Now()})
	if err != nil {
		return err
	}
	for _, v := range ended {
		if !slices.Contains(but, v.Document) {
			w.rows = append(w.rows, w.empty(v))
		}
	}
	for _, name := range w.order {
		if err := w.shelves[name].fill(ctx, w.tx); err != nil {
			return err
		}
	}
	if err := w.remove(ctx); err != nil || len(w.rows) == 0 {
		return err
	}
	return w.tx.PutVersions(ctx, w.rows...)
}

func (s *shelved) fill(ctx context.Context, tx Tx) error {
	if err := tx.PutShelf(ctx, s.Shelf); err != nil {
		return err
	}
	if err := tx.PutChunks(ctx, s.rows...); err != nil {
		return err
	}
	for space, vectors := range s.vectors {
		if err := tx.PutVectors(ctx, s.Name, space, vectors); err != nil {
			return err
		}
	}
	return search.Add(ctx, tx, s.Name, s.docs...)
}

// remove takes the chunks of what is gone out of the index.
func (w *writer) remove(ctx context.Context) error {
	places := map[string][]search.Place{}
	vectors := map[[2]string]map[uint32][]float32{}
	for _, v := range w.gone {
		for i := range uint32(v.Count) {
			p := search.Place{Shelf: v.Shelf, No: v.First + i}
			places[p.Shelf] = append(places[p.Shelf], p)
			if at := [2]string{v.Shelf, v.Space}; v.Space != "" {
				if vectors[at] == nil {
					vectors[at] = map[uint32][]float32{}
				}
				vectors[at][p.No] = nil
			}
		}
	}
	for at, vs := range vectors {
		if err := w.tx.PutVectors(ctx, at[0], at[1], vs); err != nil {
			return err
		}
	}
	for shelf, ps := range places {
		if err := w.removeFrom(ctx, shelf, ps); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) removeFrom(ctx context.Context, shelf string, places []search.Place) error {
	rows, err := w.tx.Chunks(ctx, places, time.Time{})
	if err != nil {
		return err
	}
	docs := make([]search.Doc, len(rows))
	for i, c := range rows {
		p, err := c.part()
		if err != nil {
			return err
		}
		docs[i] = c.doc(p)
	}
	if err := search.Remove(ctx, w.tx, shelf, docs...); err != nil {
		return err
	}
	return w.tx.DeleteChunks(ctx, places)
}
