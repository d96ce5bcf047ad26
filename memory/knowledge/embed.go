package knowledge

import (
	"context"
	"fmt"
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
		vectors, err := s.o.Embedder.EmbedDocuments(ctx, texts)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrEmbedder, err)
		}
		if len(vectors) != len(texts) {
			return nil, fmt.Errorf("%w: it made %d vectors of %d texts", ErrEmbedder, len(vectors), len(texts))
		}
		out = append(out, vectors...)
	}
	return out, nil
}

// Embed makes the vectors that the chunks of a tenant do not have yet in Options.Space, and returns how many it made: after an embedder was added,
// or changed for another. Each document is a transaction of its own; until it is done the others are found by words.
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
		for {
			some, err := s.embedSome(ctx, tenant)
			if err != nil || some == 0 {
				return err
			}
			n += some
		}
	})
	return n, err
}

// embedSome embeds the first version that has no vectors.
func (s *Store) embedSome(ctx context.Context, tenant string) (int, error) {
	var rows []VersionRow
	var parts []part
	err := s.back.View(ctx, tenant, func(tx Tx) (err error) {
		rows, err = tx.Versions(ctx, Select{Without: s.o.Space, Limit: 1})
		if err != nil || len(rows) == 0 {
			return err
		}
		parts, err = partsOf(ctx, tx, rows[0])
		return err
	})
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	vectors, err := s.embed(ctx, parts)
	if err != nil {
		return 0, err
	}
	return len(vectors), s.back.Update(ctx, tenant, func(tx Tx) error { return s.keep(ctx, tx, rows[0], vectors) })
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

// keep stores the vectors of a version, unless it is gone or has changed its place.
func (s *Store) keep(ctx context.Context, tx Tx, was VersionRow, vectors [][]float32) error {
	rows, err := tx.Versions(ctx, Select{Documents: []string{was.Document}, Without: s.o.Space, Text: true})
	if err != nil {
		return err
	}
	for _, v := range rows {
		if v.Version != was.Version || v.Shelf != was.Shelf || v.First != was.First || v.Count != was.Count {
			continue
		}
		fresh, old := map[uint32][]float32{}, map[uint32][]float32{}
		for i, vector := range vectors {
			fresh[v.First+uint32(i)], old[v.First+uint32(i)] = vector, nil
		}
		if v.Space != "" {
			if err := tx.PutVectors(ctx, v.Shelf, v.Space, old); err != nil {
				return err
			}
		}
		if err := tx.PutVectors(ctx, v.Shelf, s.o.Space, fresh); err != nil {
			return err
		}
		v.Space = s.o.Space
		return tx.PutVersions(ctx, v)
	}
	return nil
}
