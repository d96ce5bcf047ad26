package search_test

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/memory/search"
)

func vector(r *rand.Rand, dims int) []float32 {
	v := make([]float32, dims)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

// Nearest is the cosine with each vector of what is there and has not expired (R84), in the space and shelves that are asked for.
func TestNearest(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	rows := search.NewMap()
	type point struct {
		search.Place
		v []float32
	}
	var want []point
	q := vector(r, 8)
	for _, shelf := range []string{"a", "b", "unseen"} {
		vectors := map[uint32][]float32{}
		for no := uint32(1); no <= 1100; no += 1 + r.Uint32N(4) {
			d := search.Doc{No: no, Text: "text"}
			if no%5 == 0 {
				d.Expires = day
			}
			add(t, rows, shelf, d)
			vectors[no] = vector(r, 8)
			if no%7 == 0 {
				if err := search.Remove(t.Context(), rows, shelf, d); err != nil {
					t.Fatal(err)
				}
			}
			if no%5 != 0 && no%7 != 0 && no%11 != 0 && shelf != "unseen" {
				want = append(want, point{search.Place{Shelf: shelf, No: no}, vectors[no]})
			}
		}
		save(t, rows, shelf, "m", vectors)
		for no := range vectors {
			if vectors[no] = nil; no%11 != 0 {
				delete(vectors, no)
			}
		}
		save(t, rows, shelf, "m", vectors)
	}
	save(t, rows, "a", "other", map[uint32][]float32{1: q})
	slices.SortFunc(want, func(a, b point) int { return cmp.Compare(cosine(q, b.v), cosine(q, a.v)) })
	hits, err := search.Nearest(t.Context(), rows, []string{"b", "a", "a"}, "m", q, day, 20)
	if err != nil || len(hits) != 20 {
		t.Fatalf("%d hits (%v)", len(hits), err)
	}
	for i, h := range hits {
		if (search.Place{Shelf: h.Shelf, No: h.No}) != want[i].Place || math.Abs(h.Score-cosine(q, want[i].v)) > 1e-6 {
			t.Errorf("hit %d is %+v, want %+v", i, h, want[i])
		}
	}
	if hits, err := search.Nearest(t.Context(), rows, []string{"a"}, "m", vector(r, 9), day, 20); err != nil || len(hits) != 0 {
		t.Errorf("of another length: %v (%v)", hits, err)
	}
}

func save(t *testing.T, rows search.Rows, shelf, space string, vectors map[uint32][]float32) {
	t.Helper()
	if err := search.SaveVectors(t.Context(), rows, shelf, space, vectors); err != nil {
		t.Fatal(err)
	}
}

func TestVectorsThatAreNone(t *testing.T) {
	t.Parallel()
	rows := search.NewMap()
	save(t, rows, "s", "m", map[uint32][]float32{1: {1, 2}})
	nan := float32(math.NaN())
	for _, v := range [][]float32{{}, {0, 0}, {nan, 1}, {float32(math.Inf(1)), 1}, make([]float32, 1<<16), {1, 2, 3}} {
		if err := search.SaveVectors(t.Context(), rows, "s", "m", map[uint32][]float32{2: v}); !errors.Is(err, search.ErrVector) {
			t.Errorf("a vector of %d: %v", len(v), err)
		}
	}
	if _, err := search.Nearest(t.Context(), rows, []string{"s"}, "m", []float32{0, 0}, time.Time{}, 1); !errors.Is(err, search.ErrVector) {
		t.Errorf("a query without direction: %v", err)
	}
}

// T14: lists are joined by rank: how large the scores of one are, or below zero, changes nothing.
func TestFuse(t *testing.T) {
	t.Parallel()
	hits := func(scale float64, nos ...uint32) (hits []search.Hit) {
		for i, no := range nos {
			hits = append(hits, search.Hit{Shelf: "s", No: no, Score: scale * float64(10-i)})
		}
		return hits
	}
	want := []uint32{2, 1, 3, 4}
	for _, scale := range []float64{1, 1000, -1} {
		fused := search.Fuse(hits(scale, 1, 2), hits(0.01, 2, 3, 4), nil)
		var got []uint32
		for _, f := range fused {
			got = append(got, f.No)
		}
		if !slices.Equal(got, want) || !slices.Equal(fused[0].Ranks, []int{2, 1, 0}) || !near(fused[0].Score, 1.0/62+1.0/61) {
			t.Errorf("scale %v: %+v", scale, fused)
		}
	}
	if fused := search.Fuse(); len(fused) != 0 {
		t.Errorf("of nothing: %v", fused)
	}
	if fused := search.Fuse(hits(1, 9), hits(1, 8)); fused[0].No != 8 { // equal: by number
		t.Errorf("equal ones: %+v", fused)
	}
}
