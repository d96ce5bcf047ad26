package search

import (
	"cmp"
	"maps"
	"slices"
	"unicode/utf8"
)

// What terms of a query weigh.
const (
	textWeight  = 1.0
	alsoWeight  = 0.5  // of Query.Also
	runeWeight  = 0.5  // of one Chinese character, beside the pairs that it is in
	looseWeight = 0.25 // of a pair with a character such as 的: it says where words meet by chance
)

// A question is what is looked for: one aspect of a query.
type question []asked

// An asked term is one of a question.
type asked struct {
	term   string
	weight float64
	also   bool // it is not in the text
}

// newQuestions returns a question for each aspect of a query, and all terms of them.
func newQuestions(q Query) (questions []question, terms []string) {
	for _, text := range Aspects(q.Text) {
		asked := newQuestion(text, q.Also)
		questions = append(questions, asked)
		for _, a := range asked {
			terms = append(terms, a.term)
		}
	}
	return questions, distinct(terms)
}

func newQuestion(text string, also []string) question {
	terms := map[string]asked{}
	for _, t := range Terms(text) {
		terms[t] = asked{t, termWeight(t), false}
	}
	for _, a := range also {
		for _, t := range Terms(a) {
			if _, ok := terms[t]; !ok {
				terms[t] = asked{t, alsoWeight * termWeight(t), true}
			}
		}
	}
	q := question(slices.Collect(maps.Values(terms)))
	slices.SortFunc(q, func(a, b asked) int { return cmp.Compare(a.term, b.term) }) // sums of floats depend on their order
	return q
}

func termWeight(term string) float64 {
	r, size := utf8.DecodeRuneInString(term)
	last, _ := utf8.DecodeLastRuneInString(term)
	switch {
	case !cjk(r):
		return 1
	case size == len(term):
		return runeWeight
	case emptyRune(r) || emptyRune(last):
		return looseWeight
	}
	return 1
}
