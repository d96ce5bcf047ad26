package knowledge

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/memory/search"
)

// What is left of a coverage where the chunk has something else than what was asked for.
const (
	otherForm  = 0.5 // no time for "how long"
	otherThing = 0.5 // nothing about cancelling for "how do I cancel"
	lessThings = 0.9 // not all of what is asked
	otherName  = 0.6 // E504 for E502
	otherWord  = 0.2 // a word that no document has, of a question about the thing in the heading
)

// A wording is a chunk as coverage looks at it.
type wording struct {
	terms map[string]bool
	title map[string]bool
	under string          // the last heading, small
	head  map[string]bool // of the last heading, if it names a thing
	said  map[string]bool // the words of the text
	tells []string        // those that make a difference, in order
	all   class           // of the whole
	units []class         // of each two sentences or rows that follow each other, with the headings
}

func (p part) wording() wording {
	w := wording{terms: termSet(p.searched()), title: termSet(p.Title), said: map[string]bool{}}
	title := classes(scan(p.Title))
	last := p.Title[strings.LastIndex(p.Title, headings)+1:]
	w.under = strings.ToLower(strings.TrimSpace(last))
	for _, t := range scan(last) {
		if t.class&^(number|whole) == 0 && (wide(firstOf(t.text)) || letter(firstOf(t.text))) {
			w.head = termSet(last)
		}
	}
	var before, head class
	for line := range strings.Lines(p.Text) {
		row := strings.HasPrefix(strings.TrimSpace(line), "|")
		if !row {
			head = 0
		}
		for _, s := range sentences(line) {
			tokens := scan(s)
			w.listen(tokens)
			c := classes(tokens) | title
			w.units, w.all = append(w.units, c|before|head), w.all|c
			if before = c; row && head == 0 {
				head = c
			}
		}
	}
	return w
}

// listen notes the words of a sentence. Of Chinese they are pairs.
func (w *wording) listen(s []token) {
	before := ""
	for _, t := range s {
		r, _ := utf8.DecodeRuneInString(t.text)
		switch {
		case wide(r):
			w.said[before+t.text], before = true, lastRune(t.text)
		case letter(r), unicode.IsDigit(r):
			w.said[strings.ToLower(t.text)], before = true, ""
		default:
			before = ""
		}
		if telling(t) {
			w.tells = append(w.tells, strings.ToLower(t.text))
		}
	}
}

// classes are those of all tokens, and the forms that they answer.
func classes(s []token) (all class) {
	for i, t := range s {
		all |= t.class &^ function
		near := class(0)
		for _, n := range s[max(i-2, 0):min(i+3, len(s))] {
			near |= n.class
		}
		for _, a := range answers {
			if t.is(a.by) && near&a.beside == a.beside {
				all |= a.form
			}
		}
	}
	return all
}

// answers say what has the form that is asked for.
var answers = []struct{ form, by, beside class }{
	{askAmount, number, 0},
	{askMoney, unitMoney, number},
	{askSpan, unitSpan, number},
	{askDate, day, 0},
	{askDate, unitSpan, number},
	{askPerson, person, 0},
	{askWeight, unitWeight, number},
	{askShare, unitShare, number},
}

func termSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, t := range search.Terms(text) {
		set[t] = true
	}
	return set
}

// coverage is how much of an aspect a chunk has: the share of what its terms tell, by the weights of search.Weigh, less where no sentence has what is
// asked of its things, or where it has another name than the one that is asked for.
func (a aspect) coverage(w wording, tells map[string]float64) float64 {
	var all, has float64
	missing, meant := false, a.names(w)
	for _, name := range slices.Sorted(maps.Keys(a.terms)) { // sums of floats depend on their order
		t := a.terms[name]
		counts := t.counts * tells[name]
		if meant && tells[name] == tells[nowhere] && !named(name) {
			counts *= otherWord
		}
		all += counts
		switch {
		case w.terms[name]:
			has += counts
		case t.class&w.all != 0:
			has += counts / 2
		case t.counts == 1 && named(name):
			missing = true
		}
	}
	if all == 0 {
		return 0
	}
	c := has / all
	if missing {
		c *= otherName
	}
	return c * a.fit(w)
}

// names reports whether a question has all of the heading of a chunk, which names a thing. Then a word that no document has is no other thing.
func (a aspect) names(w wording) bool {
	for t := range w.head {
		if _, ok := a.terms[t]; !ok {
			return false
		}
	}
	return len(w.head) > 0
}

// fit is what two sentences of a chunk, the best, leave of a coverage: whether they have the form that is asked for, and what is asked of the things.
func (a aspect) fit(w wording) (best float64) {
	wants := slices.DeleteFunc(slices.Clone(a.wants), func(x want) bool { // what is in the headings is a thing itself
		return !slices.ContainsFunc(x.terms, func(t string) bool { return !w.title[t] })
	})
	for _, unit := range w.units {
		met, unmet, must := 0, 0, true
		for _, x := range wants {
			switch {
			case x.class&unit != 0:
				met++
			case !x.soft:
				unmet++
				must = must && !x.must
			}
		}
		fit := 1.0
		switch {
		case !must, met == 0 && unmet > 0:
			fit = otherThing
		case unmet > 0:
			fit = lessThings
		}
		if a.form != 0 && a.form&unit == 0 {
			fit *= otherForm
		}
		best = max(best, fit)
	}
	return best
}

// named reports whether a term is the name of one thing, such as E504 or payment-api: with a letter, and a digit or a mark.
func named(term string) bool {
	return strings.ContainsFunc(term, func(r rune) bool { return r < 0x80 && unicode.IsLetter(r) }) &&
		strings.ContainsFunc(term, func(r rune) bool { return r < 0x80 && !unicode.IsLetter(r) })
}
