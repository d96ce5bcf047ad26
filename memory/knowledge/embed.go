package knowledge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/memory/internal/audited"
	"github.com/holdfast-go/holdfast/memory/search"
)

// batch is how many texts an embedder gets at once.
const batch = 64

// embed makes the vectors of parts; none without an embedder.
func (s *Store) embed(ctx context.Context, parts []part) (out [][]float32, err error) {
	if s.o.Embedder == nil {
		return nil, nil
	}
	for some := range slices.Chunk(parts, batch) {
		texts := make([]string, len(some))
		for i, p := range some {
			texts[i] = p.Title + "\n" + p.Text
		}
		vectors, err := s.embedTexts(ctx, texts)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrEmbedder, err)
		}
		out = append(out, vectors...)
		if n := slices.IndexFunc(out, func(v []float32) bool { return len(v) != len(out[0]) }); n >= 0 {
			return nil, fmt.Errorf("%w: it made vectors of %d and of %d numbers", ErrEmbedder, len(out[0]), len(out[n]))
		}
	}
	return out, nil
}

// embedTexts asks the embedder. A chunk without a vector of its own would never be found by meaning, and nobody would know.
func (s *Store) embedTexts(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	defer caught(&err)
	vectors, err = s.o.Embedder.EmbedDocuments(ctx, texts)
	switch {
	case err != nil:
		return nil, err
	case len(vectors) != len(texts):
		return nil, fmt.Errorf("it made %d vectors of %d texts", len(vectors), len(texts))
	case !slices.ContainsFunc(vectors, func(v []float32) bool { return !usable(v) }):
		return vectors, nil
	}
	return nil, errUnusable
}

// embedQuery asks the embedder, which has half of the time and two seconds at most: the words are to be searched too.
func (s *Store) embedQuery(ctx context.Context, text string) (v []float32, err error) {
	defer caught(&err)
	most := 2 * time.Second
	if end, ok := ctx.Deadline(); ok {
		most = min(most, time.Until(end)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	v, err = s.o.Embedder.EmbedQuery(ctx, text)
	if err == nil && !usable(v) {
		err = errUnusable
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

var errUnusable = errors.New("a vector is empty, only zeros, or holds what is no number")

// usable reports whether a vector has a direction.
func usable(v []float32) bool {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return sum > 0 && !math.IsInf(sum, 1)
}

// caught makes an error of a panic of the embedder.
func caught(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("it panicked: %v\n%s", r, debug.Stack())
	}
}

// Embed makes the vectors that the chunks of a tenant do not have yet in Options.Space, and returns how many it made: after an embedder was added,
// or changed for another. Each version of a document is a transaction of its own, and has one turn; until it is done the others are found by words.
func (s *Store) Embed(ctx context.Context, tenant string) (n int, err error) {
	acc := access(ctx, tenant, "Embed")
	if err := s.audit.Begin(ctx, acc); err != nil {
		return 0, err
	}
	defer audited.End(ctx, s.audit, acc, &n, &err, nil)
	if s.o.Embedder == nil {
		return 0, fmt.Errorf("%w: there is no Embedder", ErrOptions)
	}
	err = s.write(ctx, tenant, func(ctx context.Context) error {
		var bare []VersionRow
		err := s.back.View(ctx, tenant, func(tx Tx) (err error) {
			bare, err = tx.Versions(ctx, Select{Without: s.o.Space})
			return err
		})
		for _, v := range bare {
			if err != nil {
				return err
			}
			var made int
			made, err = s.embedVersion(ctx, tenant, v)
			n += made
		}
		return err
	})
	return n, err
}

// embedVersion embeds a version that had no vectors, unless it has them by now, or is gone.
func (s *Store) embedVersion(ctx context.Context, tenant string, v VersionRow) (int, error) {
	var parts []part
	err := s.back.View(ctx, tenant, func(tx Tx) (err error) {
		parts = nil
		if _, there, err := s.bare(ctx, tx, v, false); err != nil || !there {
			return err
		}
		parts, err = partsOf(ctx, tx, v)
		return err
	})
	if err != nil || len(parts) == 0 {
		return 0, err
	}
	vectors, err := s.embed(ctx, parts)
	if err != nil {
		return 0, err
	}
	kept := 0
	err = s.back.Update(ctx, tenant, func(tx Tx) (err error) {
		kept, err = s.keep(ctx, tx, v, vectors)
		return err
	})
	if err != nil {
		return 0, err
	}
	return kept, nil
}

// bare returns the row of a version that still has its place, and no vectors in the space.
func (s *Store) bare(ctx context.Context, tx Tx, was VersionRow, text bool) (v VersionRow, there bool, err error) {
	rows, err := tx.Versions(ctx, Select{Documents: []string{was.Document}, Without: s.o.Space, Text: text})
	for _, v := range rows {
		if v.Version == was.Version && v.Hash == was.Hash && v.Shelf == was.Shelf && v.First == was.First && v.Count == was.Count {
			return v, true, err
		}
	}
	return v, false, err
}

// partsOf returns the chunks of a version in order.
func partsOf(ctx context.Context, tx Tx, v VersionRow) ([]part, error) {
	var places []search.Place
	for i := range uint32(v.Count) {
		places = append(places, search.Place{Shelf: v.Shelf, No: v.First + i})
	}
	rows, err := tx.Chunks(ctx, places, time.Time{})
	if err != nil {
		return nil, err
	}
	if len(rows) != v.Count {
		return nil, fmt.Errorf("%w: document %q has %d chunks of %d", ErrCorrupt, v.Document, len(rows), v.Count)
	}
	parts := make([]part, len(rows))
	for _, c := range rows {
		if parts[c.No-v.First], err = c.part(); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// keep stores the vectors of a version, and returns how many: none if it is gone, or another was faster.
func (s *Store) keep(ctx context.Context, tx Tx, was VersionRow, vectors [][]float32) (int, error) {
	v, there, err := s.bare(ctx, tx, was, true)
	if err != nil || !there {
		return 0, err
	}
	fresh, old := map[uint32][]float32{}, map[uint32][]float32{}
	for i, vector := range vectors {
		fresh[v.First+uint32(i)], old[v.First+uint32(i)] = vector, nil
	}
	if v.Space != "" {
		if err := tx.PutVectors(ctx, v.Shelf, v.Space, old); err != nil {
			return 0, err
		}
	}
	if err := tx.PutVectors(ctx, v.Shelf, s.o.Space, fresh); err != nil {
		return 0, err
	}
	v.Space = s.o.Space
	return len(vectors), tx.PutVersions(ctx, v)
}
