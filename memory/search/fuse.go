package search

import (
	"cmp"
	"slices"
)

// A Place is a document in its shelf.
type Place struct {
	Shelf string
	No    uint32
}

func (p Place) compare(q Place) int {
	return cmp.Or(cmp.Compare(p.Shelf, q.Shelf), cmp.Compare(p.No, q.No))
}

// A Fused hit is one that was found in one or several ways.
type Fused struct {
	Place
	Score float64 // sum over the ways of 1 / (60 + rank)
	Ranks []int   // its rank in each way, from 1; 0: not found that way
}

// Fuse joins lists of hits by rank, the best first: reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009). Of equal
// ones, that comes first which is first by shelf and number.
func Fuse(ways ...[]Hit) []Fused {
	at := map[Place]int{}
	var all []Fused
	for way, hits := range ways {
		for i, h := range hits {
			p := Place{h.Shelf, h.No}
			n, ok := at[p]
			if !ok {
				n = len(all)
				at[p], all = n, append(all, Fused{Place: p, Ranks: make([]int, len(ways))})
			}
			if f := &all[n]; f.Ranks[way] == 0 {
				f.Ranks[way] = i + 1
				f.Score += 1 / float64(60+i+1)
			}
		}
	}
	slices.SortFunc(all, func(a, b Fused) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), a.Place.compare(b.Place))
	})
	return all
}
