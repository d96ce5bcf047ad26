package search

import (
	"context"
	"slices"
	"time"
)

const defaultLimit = 10

// A Query says what to look for.
type Query struct {
	Text  string    // what was asked; see Aspects for several things at once
	Also  []string  // what the question may be about besides, such as what "it" stands for; weighs half
	Now   time.Time // what has expired by then is not found
	Limit int       // hits at most; default 10
}

// A Hit is a document that was found, and why. Its scores compare with those of other hits for the same aspect.
type Hit struct {
	Shelf    string
	No       uint32
	Aspect   int     // of the question that it was found for, in the order of Aspects
	Score    float64 // higher is better
	Coverage float64 // how much of the aspect it has, 0 to 1, rare terms counting more; what it has of Query.Also counts in addition
	Own      float64 // of the score, what the document itself has
	Beside   float64 // what its neighbours give
	Group    float64 // what its group gives
	Terms    []Match // terms of the query that it has, the heaviest first
}

// A Match is a term of a query in a document.
type Match struct {
	Term  string
	Score float64
}

// Search returns the documents of the shelves that fit best, the best first; of equal ones, that which is first by shelf and number.
// The aspects of a question have their turns: the best for the first, the best for the second, and so on. What has nearly nothing
// of what was asked is no hit. It reads the columns of the shelves and the postings of the terms of the query: of 100,000
// documents, some 10 ms in memory.
func Search(ctx context.Context, rows Rows, shelves []string, q Query) ([]Hit, error) {
	questions, names := newQuestions(q)
	if len(names) == 0 {
		return nil, ctx.Err()
	}
	c, err := readCorpus(ctx, rows, distinct(shelves), names, q.Now)
	if err != nil {
		return nil, err
	}
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	found := make([][]Hit, len(questions))
	for i, asked := range questions {
		r := c.ranking(asked)
		found[i] = r.best(q.Limit)
		for n := range found[i] {
			h := &found[i][n]
			h.Aspect, h.Terms = i, r.matches(*h)
		}
	}
	rooms.Put(c.room)
	return inTurns(found, q.Limit), nil
}

// inTurns returns the first of each list, then the second of each, and so on, each document once.
func inTurns(lists [][]Hit, limit int) []Hit {
	if len(lists) == 1 {
		return lists[0]
	}
	var hits []Hit
	taken := map[Place]bool{}
	for rank := 0; rank < limit; rank++ {
		for _, list := range lists {
			if rank >= len(list) || len(hits) == limit {
				continue
			}
			if p := (Place{list[rank].Shelf, list[rank].No}); !taken[p] {
				taken[p] = true
				hits = append(hits, list[rank])
			}
		}
	}
	return hits
}

func distinct(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}
