package search

import (
	"cmp"
	"math"
	"slices"
)

// BM25 (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009): k1 is how soon further times of a term in a text count
// no more, b how much a text is held against its length.
const (
	k1 = 0.9
	b  = 0.4
)

// besideShares are what the terms of the next documents of a group give, and of those behind these; groupShare is of the score of the
// group as one text.
var besideShares = [...]float64{0.5, 0.25}

const groupShare = 0.5

// minCoverage is how much of what was asked a hit has, with its share of what is beside it. A name that half of all documents have
// is less beside one rare word.
const minCoverage = 0.12

// A speaker counts speakerShare of what the name tells as a word that only speakers have, and that as one of two speakers at most:
// who has the floor once does not outweigh what is said.
const (
	speakerShare = 2.0
	maxSpeaker   = math.Ln2
)

// idf is how much a term tells that some of all texts have.
func idf(having, all int) float64 {
	return math.Log(1 + (float64(all-having)+0.5)/(float64(having)+0.5))
}

// rarity is how much a term tells of what was asked. It goes as idf does in many documents; of few it does not think that what all of
// them have is worth nothing, as if ordinaryDocs others had not a word of it.
func rarity(having, all int) float64 {
	return math.Log(1 + float64(all+ordinaryDocs)/float64(having+1))
}

const ordinaryDocs = 100

// A measure scores terms in texts of one sort.
type measure struct {
	all     int
	average float64 // terms of a text
}

func newMeasure(all int, terms float64) measure {
	return measure{all, max(terms/float64(max(all, 1)), 1)}
}

// saturation is what a term counts for that is in a text so many times.
func (m measure) saturation(times, length float64) float64 {
	return times * (k1 + 1) / (times + k1*(1-b+b*length/m.average))
}

// A ranking scores the documents of a corpus for one question: own is what each document itself has, covered how much of asked, group
// what each group has. The next ranking of the corpus takes its memory.
type ranking struct {
	*corpus
	text, whole measure // of documents and of groups
	terms       []ranked
	asked       float64 // what all terms tell
}

// A ranked term tells something about the documents that have it.
type ranked struct {
	asked
	tells    float64 // with its weight
	speaks   float64 // as who speaks
	postings []docTimes
}

func (c *corpus) ranking(q question) *ranking {
	r := &ranking{corpus: c, text: newMeasure(len(c.docs), c.total), whole: newMeasure(len(c.groups), c.total)}
	c.own, c.covered, c.bounds = zeros(c.own, len(c.docs)), zeros(c.covered, len(c.docs)), zeros(c.bounds, len(c.docs))
	c.group, c.times = zeros(c.group, len(c.groups)), zeros(c.times, len(c.groups))
	onlyAlso := !slices.ContainsFunc(q, func(a asked) bool { return !a.also })
	for _, a := range q {
		t := c.rankedTerm(a)
		covers := a.weight * rarity(len(t.postings), len(c.docs))
		if !a.also || onlyAlso {
			r.asked += covers
		}
		for _, p := range t.postings {
			r.own[p.doc] += r.value(t, p)
			r.covered[p.doc] += covers
		}
		r.addToGroups(t)
		r.terms = append(r.terms, t)
	}
	return r
}

func (c *corpus) rankedTerm(a asked) ranked {
	t := ranked{asked: a, postings: c.postings[a.term]}
	speaking := 0
	for _, p := range t.postings {
		if p.speaks {
			speaking++
		}
	}
	t.tells = a.weight * idf(len(t.postings), len(c.docs))
	if termWeight(a.term) == 1 {
		t.speaks = a.weight * speakerShare * min(idf(speaking, len(c.docs)), maxSpeaker)
	}
	return t
}

// value is what a document has by one term.
func (r *ranking) value(t ranked, p docTimes) float64 {
	length := float64(r.docs[p.doc].length)
	value := t.tells * r.text.saturation(float64(p.times), length)
	if p.speaks {
		value += t.speaks * r.text.saturation(1, length)
	}
	return value
}

// addToGroups gives groups what they have by one term.
func (r *ranking) addToGroups(t ranked) {
	having := 0
	for _, p := range t.postings {
		g := r.docs[p.doc].group
		if r.times[g] == 0 {
			having++
		}
		r.times[g] += float64(p.times)
	}
	tells := groupShare * t.weight * idf(having, r.whole.all)
	for _, p := range t.postings {
		if g := r.docs[p.doc].group; r.times[g] > 0 {
			r.group[g] += tells * r.whole.saturation(r.times[g], r.groups[g])
			r.times[g] = 0
		}
	}
}

// A candidate is a document that may be a hit, with a score that its own cannot be above.
type candidate struct {
	doc   int
	bound float64
}

// best returns the best hits. What a document has from beside is costly to tell, so that it is asked only of documents which could
// be among the best if they had all that is beside them.
func (r *ranking) best(limit int) []Hit {
	first := newTop(limit, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.bound, a.bound), cmp.Compare(a.doc, b.doc)) })
	for doc := range r.docs {
		if r.own[doc] > 0 && r.reach(doc, r.covered) >= minCoverage*r.asked {
			r.bounds[doc] = r.bound(doc)
			first.add(candidate{doc, r.bounds[doc]})
		}
	}
	hits := newTop(limit, better)
	for _, c := range first.sorted() {
		hits.add(r.hit(c.doc))
		r.bounds[c.doc] = 0
	}
	for doc, bound := range r.bounds {
		if bound > 0 && bound >= hits.least().Score {
			hits.add(r.hit(doc))
		}
	}
	return hits.sorted()
}

// bound is at least the score of a document; rounded up, since sums in another order may differ.
func (r *ranking) bound(doc int) float64 {
	return (r.reach(doc, r.own) + r.group[r.docs[doc].group]) * (1 + 1e-9)
}

// reach is what a document has and its share of what those beside it have.
func (r *ranking) reach(doc int, of []float64) float64 {
	sum := of[doc]
	for i, share := range besideShares {
		for _, other := range [2]int{doc - i - 1, doc + i + 1} {
			if r.together(doc, other) {
				sum += share * of[other]
			}
		}
	}
	return sum
}

func (r *ranking) hit(doc int) Hit {
	d := r.docs[doc]
	h := Hit{Shelf: r.shelves[d.shelf], No: d.no, Own: r.own[doc], Group: r.group[d.group]}
	h.Coverage = min(r.covered[doc]/r.asked, 1)
	for _, t := range r.terms {
		own, beside := r.around(t, doc)
		h.Beside += max(beside-own, 0)
	}
	h.Score = h.Own + h.Beside + h.Group
	return h
}

// around returns what a document has by one term, and the most that one beside it gives.
func (r *ranking) around(t ranked, doc int) (own, beside float64) {
	at, _ := slices.BinarySearchFunc(t.postings, doc-len(besideShares), compareDoc)
	for _, p := range t.postings[at:] {
		distance := int(p.doc) - doc
		switch {
		case distance > len(besideShares):
			return own, beside
		case distance == 0:
			own = r.value(t, p)
		case r.together(doc, int(p.doc)):
			beside = max(beside, besideShares[max(distance, -distance)-1]*r.value(t, p))
		}
	}
	return own, beside
}

func compareDoc(p docTimes, doc int) int { return cmp.Compare(int(p.doc), doc) }

// matches returns the terms of the question that a hit has, the heaviest first.
func (r *ranking) matches(h Hit) []Match {
	doc, _ := slices.BinarySearchFunc(r.docs, h, r.compare)
	var ms []Match
	for _, t := range r.terms {
		if at, ok := slices.BinarySearchFunc(t.postings, doc, compareDoc); ok {
			ms = append(ms, Match{t.term, r.value(t, t.postings[at])})
		}
	}
	slices.SortFunc(ms, func(a, b Match) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Term, b.Term)) })
	return ms
}

func (r *ranking) compare(d document, h Hit) int {
	return cmp.Or(cmp.Compare(r.shelves[d.shelf], h.Shelf), cmp.Compare(d.no, h.No))
}
