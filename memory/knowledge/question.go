package knowledge

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/memory/search"
)

// An Aspect is a part of a question that can be answered apart, such as both halves of "how long, and what does it cost?".
type Aspect struct {
	Text     string  `json:"text"`
	Coverage float64 `json:"coverage"`       // by the best chunk for it, 0 to 1
	Chunk    string  `json:"chunk,omitzero"` // the id of the one among those of the answer that covers it; empty: none does
}

// An aspect is one while its question is looked up.
type aspect struct {
	text  string
	about string          // the text without the words that ask
	terms map[string]term // what it is about
	form  class           // of its answer: any of these; 0: it has none
	wants []want          // what is asked of its things

	stands bool // it has a word for what was named before
}

// sift takes out of the terms pairs of Chinese characters that are no word, such as the middle one of 格式发出: no document has it, and some have the
// pairs before and behind it.
func (a aspect) sift(tells map[string]float64) {
	known := func(pair []rune) bool { w, ok := tells[string(pair)]; return ok && w < tells[nowhere] }
	rs := []rune(a.about)
	for i := 1; i+2 < len(rs); i++ {
		if !known(rs[i:i+2]) && known(rs[i-1:i+1]) && known(rs[i+1:i+3]) {
			delete(a.terms, string(rs[i:i+2]))
		}
	}
}

// nowhere is a term that no document has.
const nowhere = "\x01"

// A term of an aspect.
type term struct {
	counts float64 // 0 to 1
	class  class   // another word of it does as well
}

// A want is a concept in a question.
type want struct {
	class class
	terms []string // as it was asked
	must  bool     // nothing else will do: how often
	soft  bool     // it may be none
}

// most aspects of a question; what is behind them is part of the last.
const maxAspects = 6

const (
	hint   = 0.05 // what a word counts that is common in any text
	little = 0.2  // what a character counts beside the pair that it is in, and a word such as "year"
	shared = 0.5  // what a term of another part of a list counts: of "limits for hotels and meals" both have limits
)

// aspects cuts a question. also is what "it" may stand for.
func aspects(text string, also []string) (out []aspect) {
	before := aspect{terms: terms(scan(strings.Join(also, "\n")))}
	for _, s := range asking(scan(text)) {
		for _, q := range parts(s) {
			of := q.aspects(text)
			if len(out) > 0 && before.form == 0 && of[0].bare() { // "is there a limit, and how much is it?"
				last := &out[len(out)-1]
				last.text, last.form, last.wants = last.text+" "+of[0].text, of[0].form, append(last.wants, of[0].wants...)
				before = *last
				continue
			}
			for i := range of {
				of[i].follow(before)
			}
			before = of[0]
			out = append(out, slices.DeleteFunc(of, func(a aspect) bool { return len(a.terms) == 0 })...)
		}
	}
	return atMost(out, maxAspects)
}

// bare reports whether an aspect says nothing of its own about what it is about.
func (a aspect) bare() bool {
	all := 0.0
	for _, t := range a.terms {
		all += t.counts
	}
	return all < shared || len(a.terms) == len(a.wants) && len(a.wants) > 0 && a.form != 0
}

// follow takes over what the question before was about.
func (a *aspect) follow(before aspect) {
	switch {
	case a.bare():
		raise(a.terms, before.terms, 1)
		if len(a.wants) == 0 {
			a.wants = before.wants
		}
	case a.stands:
		raise(a.terms, before.terms, shared)
	}
}

// atMost joins the last of too many.
func atMost(as []aspect, n int) []aspect {
	if len(as) <= n {
		return as
	}
	last := &as[n-1]
	last.terms = maps.Clone(last.terms)
	for _, a := range as[n:] {
		last.text += " " + a.text
		raise(last.terms, a.terms, 1)
	}
	return as[:n]
}

// raise adds terms that count a share of what they do.
func raise(terms, more map[string]term, share float64) {
	for t, m := range more {
		terms[t] = term{max(terms[t].counts, m.counts*share), terms[t].class | m.class}
	}
}

// ends reports whether a token ends a sentence.
func (t token) ends() bool { return len(t.text) <= 3 && strings.Contains("\n.?!;。？！；", t.text) }

func (t token) comma() bool { return t.text == "," || t.text == "，" }

// asking are the sentences that ask; all of them if none does.
func asking(text []token) [][]token {
	var all, ask [][]token
	start := 0
	for i, t := range text {
		if !t.ends() && i+1 < len(text) {
			continue
		}
		s := text[start : i+1]
		start = i + 1
		if len(terms(s)) == 0 && !askedIn(s) {
			continue
		}
		if all = append(all, s); askedIn(s) {
			ask = append(ask, s)
		}
	}
	if len(ask) == 0 {
		return all
	}
	return ask
}

// askedIn reports whether a sentence asks.
func askedIn(s []token) bool {
	last := s[len(s)-1].text
	return last == "?" || last == "？" || asked(s)
}

// asked reports whether a part of a sentence has a word that asks.
func asked(s []token) bool { return has(s, forms|asks) || len(s) > 0 && s[0].is(begins) }

// A question stands alone: a list of things of which one thing is asked.
type question [][]token

func (q question) all() (out []token) {
	for _, s := range q {
		out = append(out, s...)
	}
	return out
}

// parts cuts a sentence where both sides ask, and into lists where "and" joins things.
func parts(s []token) (out []question) {
	var now question
	begin, start := 0, 0 // of the last thing of the list, and of what comes next
	var mark token
	for i := 0; i <= len(s); i++ {
		if i < len(s) && !s[i].is(joins) && !s[i].comma() {
			continue
		}
		piece := s[start:i]
		switch {
		case now == nil:
			now = question{piece}
		case asked(now.all()) && asked(piece):
			out, now, begin = append(out, now), question{piece}, start
		case mark.comma() || len(terms(piece)) == 0 || len(terms(now[len(now)-1])) == 0:
			now[len(now)-1] = s[begin:i]
		default:
			now, begin = append(now, piece), start
		}
		if start = i + 1; i < len(s) {
			mark = s[i]
		}
	}
	return append(out, now)
}

// aspects are one for each thing of the list, of which the others give the context.
func (q question) aspects(text string) (out []aspect) {
	form, wants := wanted(q.all())
	for i, s := range q {
		a := aspect{text: excerpt(text, s), about: about(s), terms: terms(s), form: form, wants: wants, stands: has(s, stands)}
		for j, other := range q {
			if j != i {
				raise(a.terms, terms(other), shared)
			}
		}
		out = append(out, a)
	}
	return out
}

func has(s []token, c class) bool {
	for _, t := range s {
		if t.is(c) {
			return true
		}
	}
	return false
}

// wanted are the forms that a question asks for, and what it asks of its things.
func wanted(s []token) (form class, wants []want) {
	for _, t := range s {
		form |= t.class & forms
		if c := t.concepts(); c != 0 {
			wants = append(wants, want{c, search.Terms(t.text), t.is(forms), t.is(doubtful)})
		}
	}
	if form != askAmount {
		form &^= askAmount // the others say more
	}
	return form, wants
}

// terms are what tokens are about: all but the words that ask.
func terms(s []token) map[string]term {
	out := map[string]term{}
	for _, t := range search.Terms(about(s)) {
		out[t] = term{counts: 1}
	}
	for i, t := range s {
		for _, w := range search.Terms(t.text) {
			if x, ok := out[w]; ok && !t.is(function) {
				out[w] = x.of(t)
			}
		}
		if i > 0 {
			w := lastRune(s[i-1].text) + firstRune(t.text)
			switch x := out[w]; {
			case (s[i-1].known() || t.known()) && x.counts > little:
				out[w] = term{counts: little}
			case t.is(doubtful) && x.counts > shared:
				out[w] = term{counts: shared}
			}
		}
	}
	for t := range out {
		if r := []rune(t); len(r) == 2 && wide(r[0]) && wide(r[1]) {
			for _, one := range r {
				if x, ok := out[string(one)]; ok {
					out[string(one)] = term{min(x.counts, little), x.class}
				}
			}
		}
	}
	return out
}

// of is a term that a token of the lexicon has.
func (x term) of(t token) term {
	r, _ := utf8.DecodeRuneInString(t.text)
	switch {
	case t.concepts() != 0:
		x.counts = min(x.counts, shared)
	case t.is(common):
		x.counts = min(x.counts, hint)
	case t.is(measure) && !unicode.IsDigit(r):
		x.counts = min(x.counts, little)
	}
	return term{x.counts, x.class | t.concepts()}
}

func firstRune(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}

func lastRune(s string) string {
	_, n := utf8.DecodeLastRuneInString(s)
	return s[len(s)-n:]
}

// about is a text without the words that ask.
func about(s []token) string {
	var b strings.Builder
	at := 0
	for _, t := range s {
		if t.from != at {
			b.WriteByte(' ')
		}
		if !t.is(function) {
			b.WriteString(t.text)
			at = t.to
		}
	}
	return b.String()
}

// excerpt is where tokens stand in a text.
func excerpt(text string, s []token) string {
	if len(s) == 0 {
		return ""
	}
	return strings.Trim(text[s[0].from:s[len(s)-1].to], " ,，")
}
