package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/memory/search"
)

// A confidence says from what was found whether it answers a question: higher is surer.
type confidence func(found []search.Hit) float64

// coverage is the confidence that needs no reader: how much of a question the best of its hits has.
func coverage(found []search.Hit) float64 {
	best := 0.0
	for _, h := range found {
		best = max(best, h.Coverage)
	}
	return best
}

// A trial is the confidence in what was found for a question with its answers there, and without them.
type trial struct{ with, without float64 }

// refusal is the table of the set that has enough questions for one.
func refusal(ctx context.Context, sets []set) (string, error) {
	for _, s := range sets {
		if s.name != "RGB zh_refine" {
			continue
		}
		trials, err := s.refusals(ctx, coverage)
		return "**" + s.name + ", with the answers taken out.** How far words alone tell that an answer is not there.\n\n" + refusalTable(trials), err
	}
	return "", nil
}

// refusals asks every question of a set with its gold in the index, and without it.
func (s set) refusals(ctx context.Context, sure confidence) ([]trial, error) {
	var trials []trial
	for _, h := range s.haystacks {
		rows, err := engine{}.index(ctx, h.docs)
		if err != nil {
			return nil, err
		}
		for _, q := range h.questions {
			t, err := h.trial(ctx, rows, q, sure)
			if err != nil {
				return nil, err
			}
			trials = append(trials, t)
		}
	}
	return trials, nil
}

func (h haystack) trial(ctx context.Context, rows *search.Map, q question, sure confidence) (trial, error) {
	asked := search.Query{Text: q.text, Now: time.Now(), Limit: limit}
	with, err := search.Search(ctx, rows, []string{shelf}, asked)
	if err != nil {
		return trial{}, err
	}
	less := rows.Begin() // never committed
	for _, gold := range q.gold {
		for _, no := range gold {
			if err := search.Remove(ctx, less, shelf, h.docs[no-1]); err != nil {
				return trial{}, err
			}
		}
	}
	without, err := search.Search(ctx, less, []string{shelf}, asked)
	return trial{sure(with), sure(without)}, err
}

// refusalTable says for each floor of confidence what share of questions is answered though the answer is not there, and what share is
// refused though it is.
func refusalTable(trials []trial) string {
	var b strings.Builder
	b.WriteString("| refused below a coverage of | answered without the answer | refused with the answer |\n|---|---|---|\n")
	for floor := 0.1; floor < 0.95; floor += 0.1 {
		wrong, refused := 0, 0
		for _, t := range trials {
			if t.without >= floor {
				wrong++
			}
			if t.with < floor {
				refused++
			}
		}
		n := float64(max(len(trials), 1)) / 100
		fmt.Fprintf(&b, "| %.1f | %.1f%% | %.1f%% |\n", floor, float64(wrong)/n, float64(refused)/n)
	}
	return b.String()
}
