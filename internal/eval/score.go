package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// A score is how well one question was answered.
type score struct {
	recall5, recall10 float64 // share of the gold documents in the first 5 and 10
	hit1, hit10       float64 // 1: one of them is the first, or in the first 10
	aspects10         float64 // 1: one of each aspect is
	ndcg10            float64
	tokens            float64 // of what was found
	took              time.Duration
}

// judge scores a list of documents.
func judge(found []uint32, gold [][]uint32) score {
	all := slices.Concat(gold...)
	slices.Sort(all)
	all = slices.Compact(all)
	s := score{aspects10: 1}
	for i, no := range found[:min(len(found), 10)] {
		if _, ok := slices.BinarySearch(all, no); !ok {
			continue
		}
		if i < 5 {
			s.recall5 += 1 / float64(len(all))
		}
		s.recall10 += 1 / float64(len(all))
		s.hit10 = 1
		if i == 0 {
			s.hit1 = 1
		}
		s.ndcg10 += gain(i)
	}
	ideal := 0.0
	for i := range min(len(all), 10) {
		ideal += gain(i)
	}
	if ideal > 0 {
		s.ndcg10 /= ideal
	}
	for _, aspect := range gold {
		if !slices.ContainsFunc(found[:min(len(found), 10)], func(no uint32) bool { return slices.Contains(aspect, no) }) {
			s.aspects10 = 0
		}
	}
	return s
}

func gain(rank int) float64 { return 1 / math.Log2(float64(rank+2)) }

func mean(scores []score, of func(score) float64) float64 {
	sum := 0.0
	for _, s := range scores {
		sum += of(s)
	}
	return sum / float64(max(len(scores), 1))
}

// interval is where 95% of the means of samples with replacement lie (bootstrap, 1,000 samples, the same ones every time).
func interval(scores []score, of func(score) float64) (low, high float64) {
	r := rand.New(rand.NewPCG(1, 2))
	means := make([]float64, 1000)
	for i := range means {
		for range scores {
			means[i] += of(scores[r.IntN(len(scores))]) / float64(len(scores))
		}
	}
	slices.Sort(means)
	return means[25], means[974]
}

// percentile of how long the questions took.
func percentile(scores []score, p float64) time.Duration {
	took := make([]time.Duration, len(scores))
	for i, s := range scores {
		took[i] = s.took
	}
	slices.Sort(took)
	return took[min(int(p*float64(len(took))), len(took)-1)]
}
