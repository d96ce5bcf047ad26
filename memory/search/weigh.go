package search

import (
	"context"
	"time"
)

// Weigh returns what each term tells of what was asked among the documents of the shelves, as the Coverage of a Hit counts it. It is highest for a
// term that none of them has. It costs what a Search for the terms does.
func Weigh(ctx context.Context, rows Rows, shelves, terms []string, now time.Time) (map[string]float64, error) {
	terms = distinct(terms)
	c, err := readCorpus(ctx, rows, distinct(shelves), terms, now)
	if err != nil {
		return nil, err
	}
	weights := make(map[string]float64, len(terms))
	for _, t := range terms {
		weights[t] = rarity(len(c.postings[t]), len(c.docs))
	}
	return weights, nil
}
