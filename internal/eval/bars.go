package main

import (
	"fmt"
	"math"
)

// A bar is a figure of a search by words that must be kept.
type bar struct {
	set, category, figure string
	of                    func(score) float64
	least                 float64 // in percent
}

var bars = []bar{
	{"LoCoMo", total, "recall@10", func(s score) float64 { return s.recall10 }, 72},
	{"LoCoMo", "multi-hop", "recall@10", func(s score) float64 { return s.recall10 }, 40},
	{"RGB zh_refine", total, "hit@10", func(s score) float64 { return s.hit10 }, 98},
	{"RGB zh_int", total, "every aspect@10", func(s score) float64 { return s.aspects10 }, 60},
	{mirror, "English", "recall@5", func(s score) float64 { return s.recall5 }, 97},
	{mirror, chinese, "recall@5", func(s score) float64 { return s.recall5 }, 97},
}

// below returns what a set does not keep.
func below(set string, scores map[string][]score) []string {
	var missed []string
	for _, b := range bars {
		if have := 100 * mean(scores[b.category], b.of); b.set == set && have < b.least {
			missed = append(missed, fmt.Sprintf("%s, %s: %s is %.1f, below %.0f", b.set, b.category, b.figure, have, b.least))
		}
	}
	if set == mirror {
		recall := func(s score) float64 { return s.recall5 }
		if apart := 100 * math.Abs(mean(scores["English"], recall)-mean(scores[chinese], recall)); apart > 3 {
			missed = append(missed, fmt.Sprintf("%s: the languages are %.1f points apart, more than 3", mirror, apart))
		}
	}
	return missed
}
