package main

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/internal/tokens"
	"github.com/holdfast-go/holdfast/memory/search"
)

// A question and what answers it.
type question struct {
	text     string
	category string
	gold     [][]uint32 // numbers of documents, by aspect
}

// A haystack is what one owner has, with questions about it.
type haystack struct {
	docs      []search.Doc
	questions []question
}

// A set is haystacks of one kind.
type set struct {
	name       string
	about      string
	categories []string // those of a total come before total, others behind it
	haystacks  []haystack
}

const total = "all of these"

// ask asks every question of a set, and returns the scores by category.
func (s set) ask(ctx context.Context, e engine) (map[string][]score, error) {
	scores := map[string][]score{}
	for _, h := range s.haystacks {
		rows, err := e.index(ctx, h.docs)
		if err != nil {
			return nil, err
		}
		for _, q := range h.questions {
			start := time.Now()
			found, err := e.find(ctx, rows, q.text)
			if err != nil {
				return nil, err
			}
			took := time.Since(start)
			sc := judge(found, q.gold)
			sc.took, sc.tokens = took, h.tokens(found)
			scores[q.category] = append(scores[q.category], sc)
		}
	}
	for _, c := range s.categories {
		if c == total {
			break
		}
		scores[total] = append(scores[total], scores[c]...)
	}
	return scores, nil
}

func (h haystack) tokens(found []uint32) float64 {
	n := 0
	for _, no := range found {
		n += tokens.Estimate(h.docs[no-1].Text)
	}
	return float64(n)
}
