package search_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/memory/search"
)

// A shelfDoc is a document as the reference keeps it.
type shelfDoc struct {
	shelf string
	search.Doc
	times  map[string]float64
	length float64
}

func newShelfDoc(shelf string, d search.Doc) shelfDoc {
	x := shelfDoc{shelf: shelf, Doc: d, times: map[string]float64{}}
	text := d.Text
	if !d.At.IsZero() {
		text += "\n" + d.At.UTC().Format("2 January 2006") + "\n" + d.At.UTC().Format("2006年1月2日")
	}
	for _, t := range search.Terms(text) {
		x.times[t]++
		x.length++
	}
	return x
}

// A reference searches by the formulas alone, over texts that have no speakers, for questions of one aspect in words that have no
// Chinese.
type reference struct {
	docs   []shelfDoc
	having map[string]int // documents that have a term
	total  float64        // terms of all
	groups map[string]shelfDoc
}

func newReference(all map[search.Place]shelfDoc, now time.Time) reference {
	r := reference{having: map[string]int{}, groups: map[string]shelfDoc{}}
	for _, d := range all {
		if d.Expires.IsZero() || d.Expires.After(now) {
			r.docs = append(r.docs, d)
		}
	}
	slices.SortFunc(r.docs, func(a, b shelfDoc) int { return cmp.Or(cmp.Compare(a.shelf, b.shelf), cmp.Compare(a.No, b.No)) })
	for _, d := range r.docs {
		r.total += d.length
		g, ok := r.groups[d.group()]
		if !ok {
			g.times = map[string]float64{}
		}
		for t, times := range d.times {
			r.having[t]++
			g.times[t] += times
		}
		g.length += d.length
		r.groups[d.group()] = g
	}
	return r
}

func (d shelfDoc) group() string {
	if d.Group == "" {
		return fmt.Sprintf("alone %s %d", d.shelf, d.No)
	}
	return d.Group
}

func idf(having, all int) float64 {
	return math.Log(1 + (float64(all-having)+0.5)/(float64(having)+0.5))
}

func bm25(times, length, average float64) float64 {
	return times * 1.9 / (times + 0.9*(0.6+0.4*length/average))
}

func (r reference) value(d shelfDoc, term string) float64 {
	return idf(r.having[term], len(r.docs)) * bm25(d.times[term], d.length, r.total/float64(len(r.docs)))
}

func (r reference) groupValue(group shelfDoc, term string) float64 {
	having := 0
	for _, g := range r.groups {
		if g.times[term] > 0 {
			having++
		}
	}
	return 0.5 * idf(having, len(r.groups)) * bm25(group.times[term], group.length, r.total/float64(len(r.groups)))
}

// beside returns the documents around one that are of its group.
func (r reference) beside(i, distance int) (near []shelfDoc) {
	for _, j := range []int{i - distance, i + distance} {
		if j >= 0 && j < len(r.docs) && r.docs[j].group() == r.docs[i].group() && r.docs[j].shelf == r.docs[i].shelf {
			near = append(near, r.docs[j])
		}
	}
	return near
}

func (r reference) search(text string, limit int) []search.Hit {
	terms := search.Terms(text)
	slices.Sort(terms)
	terms = slices.Compact(terms)
	var hits []search.Hit
	for i := range r.docs {
		if h, ok := r.hit(i, terms); ok {
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, func(a, b search.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(limit, len(hits))]
}

func (r reference) hit(i int, terms []string) (search.Hit, bool) {
	d := r.docs[i]
	h := search.Hit{Shelf: d.shelf, No: d.No}
	var asked, covered, reach float64
	for _, t := range terms {
		tells := math.Log(1 + float64(len(r.docs)+100)/float64(r.having[t]+1))
		asked += tells
		own, beside := r.value(d, t), 0.0
		if d.times[t] > 0 {
			covered += tells
		}
		for distance, share := range map[int]float64{1: 0.5, 2: 0.25} {
			for _, n := range r.beside(i, distance) {
				beside = max(beside, share*r.value(n, t))
				if n.times[t] > 0 {
					reach += share * tells
				}
			}
		}
		h.Own += own
		h.Beside += max(0, beside-own)
		h.Group += r.groupValue(r.groups[d.group()], t)
	}
	h.Coverage = covered / asked
	h.Score = h.Own + h.Beside + h.Group
	return h, h.Own > 0 && covered+reach >= 0.12*asked
}

// A world is an index and what should be in it.
type world struct {
	rows *search.Map
	docs map[search.Place]shelfDoc
	next map[string]uint32
}

var words = strings.Fields("apple pear plum cherry lemon melon grape peach mango fig stop start fast slow red green blue deploy rollback cache")

func sentence(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(words[int(float64(len(words))*math.Pow(r.Float64(), 2))] + " ")
	}
	return b.String()
}

func (w *world) add(t *testing.T, r *rand.Rand, shelf string) {
	var docs []search.Doc
	for range 1 + r.IntN(30) {
		w.next[shelf] += 1 + uint32(r.IntN(3))
		d := search.Doc{No: w.next[shelf], Text: sentence(r, r.IntN(12))}
		if g := r.IntN(6); g > 0 {
			d.Group = fmt.Sprint("group ", g)
		}
		if r.IntN(4) == 0 {
			d.At = day.AddDate(0, 0, r.IntN(100))
		}
		if r.IntN(5) == 0 {
			d.Expires = day.Add(time.Duration(r.IntN(5)-2) * time.Hour)
		}
		docs = append(docs, d)
		w.docs[search.Place{Shelf: shelf, No: d.No}] = newShelfDoc(shelf, d)
	}
	add(t, w.rows, shelf, docs...)
}

func (w *world) remove(t *testing.T, r *rand.Rand, share float64) {
	t.Helper()
	for p, d := range w.docs {
		if r.Float64() < share {
			if err := search.Remove(t.Context(), w.rows, p.Shelf, d.Doc); err != nil {
				t.Fatal(err)
			}
			delete(w.docs, p)
		}
	}
}

func (w *world) in(shelves ...string) map[search.Place]shelfDoc {
	some := maps.Clone(w.docs)
	maps.DeleteFunc(some, func(p search.Place, _ shelfDoc) bool { return !slices.Contains(shelves, p.Shelf) })
	return some
}

// A search finds and scores what the formulas say, whatever was added and removed before, in one block and across several, and
// documents in other shelves move no score (R88, capability 7).
func TestSearchIsTheFormula(t *testing.T) {
	t.Parallel()
	rounds := 60
	if testing.Short() {
		rounds = 12
	}
	for seed := range rounds {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		w := &world{search.NewMap(), map[search.Place]shelfDoc{}, map[string]uint32{"b": 1000}} // b has two blocks
		for range 6 {
			for _, shelf := range []string{"a", "b", "c"} {
				w.add(t, r, shelf)
			}
			w.remove(t, r, 0.3)
			shelves := [][]string{{"a"}, {"b"}, {"a", "b"}, {"b", "a", "b", "none"}, {"c"}}[r.IntN(5)]
			ref := newReference(w.in(shelves...), day)
			for range 3 {
				compareHits(t, w.rows, ref, sentence(r, 1+r.IntN(6))+[]string{"", "nowhere", "8 May"}[r.IntN(3)], shelves)
			}
		}
	}
}

func compareHits(t *testing.T, rows search.Rows, ref reference, q string, shelves []string) {
	t.Helper()
	want := ref.search(q, 7)
	got, err := search.Search(t.Context(), rows, shelves, search.Query{Text: q, Now: day, Limit: 7})
	if err != nil || len(got) != len(want) {
		t.Fatalf("%q in %v: %d hits, want %d (%v)", q, shelves, len(got), len(want), err)
	}
	for i, g := range got {
		w := want[i]
		if !near(g.Score, w.Score) || g.No != w.No && !tied(want, g) && i < len(want)-1 {
			t.Fatalf("%q in %v: hit %d is %+v, want %+v", q, shelves, i, g, w)
		}
		if g.No == w.No && !(near(g.Own, w.Own) && near(g.Beside, w.Beside) && near(g.Group, w.Group) && near(g.Coverage, w.Coverage)) {
			t.Fatalf("%q in %v: hit %d is %+v, want %+v", q, shelves, i, g, w)
		}
		if i > 0 && got[i-1].Score < g.Score {
			t.Fatalf("%q: out of order: %+v", q, got)
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// tied reports whether a hit may stand in the place of another of the same score, but for the last bits of a sum.
func tied(want []search.Hit, g search.Hit) bool {
	return slices.ContainsFunc(want, func(w search.Hit) bool { return w.Shelf == g.Shelf && w.No == g.No && near(w.Score, g.Score) })
}
