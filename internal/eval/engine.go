package main

import (
	"context"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/search"
)

const (
	shelf  = "eval"
	space  = "eval"
	depth  = 50   // of each way before they are joined
	cosine = 0.35 // least of a vector; the default of longterm.Options
	limit  = 10
)

// An engine searches by words, and by vectors if it has an embedder.
type engine struct{ embedder memory.Embedder }

func (e engine) name() string {
	if e.embedder == nil {
		return "words alone"
	}
	return "words and vectors"
}

func (e engine) index(ctx context.Context, docs []search.Doc) (*search.Map, error) {
	rows := search.NewMap()
	for batch := range slices.Chunk(docs, 1000) {
		if err := search.Add(ctx, rows, shelf, batch...); err != nil {
			return nil, err
		}
	}
	if e.embedder == nil {
		return rows, nil
	}
	for batch := range slices.Chunk(docs, 64) {
		texts := make([]string, len(batch))
		for i, d := range batch {
			texts[i] = d.Text
		}
		vectors, err := e.embedder.EmbedDocuments(ctx, texts)
		if err != nil {
			return nil, err
		}
		byNo := map[uint32][]float32{}
		for i, d := range batch {
			byNo[d.No] = vectors[i]
		}
		if err := search.SaveVectors(ctx, rows, shelf, space, byNo); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// find returns the numbers of the documents that fit, the best first.
func (e engine) find(ctx context.Context, rows search.Rows, text string) ([]uint32, error) {
	now := time.Now()
	if e.embedder == nil {
		hits, err := search.Search(ctx, rows, []string{shelf}, search.Query{Text: text, Now: now, Limit: limit})
		return numbers(hits), err
	}
	words, err := search.Search(ctx, rows, []string{shelf}, search.Query{Text: text, Now: now, Limit: depth})
	if err != nil {
		return nil, err
	}
	v, err := e.embedder.EmbedQuery(ctx, text)
	if err != nil {
		return nil, err
	}
	near, err := search.Nearest(ctx, rows, []string{shelf}, space, v, now, depth)
	if err != nil {
		return nil, err
	}
	near = slices.DeleteFunc(near, func(h search.Hit) bool { return h.Score < cosine })
	var nos []uint32
	for _, f := range search.Fuse(words, near) {
		nos = append(nos, f.No)
	}
	return nos[:min(len(nos), limit)], nil
}

func numbers(hits []search.Hit) []uint32 {
	nos := make([]uint32, len(hits))
	for i, h := range hits {
		nos[i] = h.No
	}
	return nos
}
