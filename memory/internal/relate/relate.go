// Package relate says what a new sentence does to an old one about the same user.
//
// A sentence is read as words of a small lexicon and words that it does not know. Some words are left out because they change
// nothing; negations are counted; numbers, dates, names and environments have a class. A copula ("is", 是, 改成) parts what a sentence
// is about from what it says of it. Two sentences are the same if all that is left is the same, and the new one supersedes the old if they
// are about the same and differ in what they say, or in a negation alone.
package relate

import "slices"

// A Relation is between an old and a new sentence.
type Relation int

// The relations. In doubt two sentences are Apart: both stay.
const (
	Apart      Relation = iota // about different things, or both can be true
	Same                       // they say the same
	Supersedes                 // they are about the same thing and cannot both be current: the new one holds
)

func (r Relation) String() string { return [...]string{"apart", "same", "supersedes"}[r] }

// MaxBytes is how long a sentence may be that is compared. Longer ones are Apart, unless they are equal.
const MaxBytes = 600

// Compare says what a new sentence does to an old one, by their words alone, in Chinese and English. Negations, numbers, names,
// dates and environments make sentences different even where nearly all words are equal. It takes some tens of microseconds.
func Compare(old, new string) Relation {
	if old == new {
		return Same
	}
	if len(old) > MaxBytes || len(new) > MaxBytes {
		return Apart
	}
	a, b := read(old), read(new)
	if a.asks || b.asks {
		return Apart
	}
	if r := a.relation(b); r != Apart {
		return r
	}
	for _, c := range clauses(new) {
		if s := read(c); !s.asks && a.relation(s) == Supersedes {
			return Supersedes
		}
	}
	return Apart
}

// relation is that of two sentences of one clause.
func (a sentence) relation(b sentence) Relation {
	switch {
	case len(a.words) == 0 || len(b.words) == 0:
		return Apart
	case a.swapped(b):
		return Supersedes
	case equal(a.words, b.words):
		return a.turned(b)
	case a.negative != b.negative:
		return Apart
	case a.revised(b):
		return Supersedes
	}
	return Apart
}

// turned compares sentences that differ in nothing but a negation.
func (a sentence) turned(b sentence) Relation {
	if a.negative == b.negative {
		if a.bids != b.bids && (a.past || b.past) {
			return Apart // 重启了生产 is no order
		}
		return Same
	}
	if a.negative && a.bids && b.past && !b.bids || b.negative && b.bids && a.past && !a.bids {
		return Apart // that something happened takes no prohibition back
	}
	return Supersedes
}

// swapped reports whether both say what comes first, and say it the other way round.
func (a sentence) swapped(b sentence) bool {
	return a.orders && b.orders && a.negative == b.negative && !alike(a.words, b.words) && alike(sorted(a.words), sorted(b.words)) &&
		!equal(a.words, b.words)
}

func sorted(ws []word) []word {
	ws = slices.Clone(ws)
	slices.SortFunc(ws, func(x, y word) int {
		if x.text < y.text {
			return -1
		} else if x.text > y.text {
			return 1
		}
		return 0
	})
	return ws
}

// equal reports whether words are the same. Those that the lexicon knows may stand in another order; the others may not, since "A needs B"
// is not "B needs A".
func equal(a, b []word) bool {
	if len(a) != len(b) {
		return false
	}
	if alike(a, b) {
		return true
	}
	fixed := func(ws []word) (out []word) {
		for _, w := range ws {
			if w.class != known {
				out = append(out, w)
			}
		}
		return out
	}
	return alike(fixed(a), fixed(b)) && alike(sorted(a), sorted(b)) && !slices.ContainsFunc(a, func(w word) bool { return w.text == "ORDER" })
}

// revised reports whether two sentences are about the same and say different things that cannot both be.
func (a sentence) revised(b sentence) bool {
	for _, p := range parted(a, b) {
		if equal(p.topic, p.other) && !equal(p.old, p.new) && p.exclusive(a, b) {
			return true
		}
	}
	return a.replaced(b)
}

// A parting is two sentences cut into what they are about and what they say of it.
type parting struct{ topic, old, other, new []word }

// parted are the ways to part two sentences at their copulas, or one of them where that of the other stands.
func parted(a, b sentence) (out []parting) {
	switch {
	case a.copula >= 0 && b.copula >= 0:
		return []parting{{a.words[:a.copula], a.words[a.copula:], b.words[:b.copula], b.words[b.copula:]}}
	case b.copula > 0 && b.copula <= len(a.words):
		return []parting{{a.words[:b.copula], a.words[b.copula:], b.words[:b.copula], b.words[b.copula:]}}
	case a.copula > 0 && a.copula <= len(b.words):
		return []parting{{a.words[:a.copula], a.words[a.copula:], b.words[:a.copula], b.words[a.copula:]}}
	}
	return nil
}

// exclusive reports whether what two sentences say about their topic cannot both be.
func (p parting) exclusive(a, b sentence) bool {
	if len(p.old) == 0 || len(p.new) == 0 {
		return false
	}
	x, y := classes(p.old), classes(p.new)
	if x|y != 0 {
		if x&y == 0 || x&y == identifier && len(p.topic) == 0 || !measured(p.old, p.new) {
			return false
		}
		if len(p.topic) == 0 || several(p.topic) {
			return x&y&(role|environment) != 0 && b.changes
		}
		return x == name || attribute(p.topic) || a.owned || b.owned || typed(p.old) && typed(p.new)
	}
	if len(p.topic) == 0 || several(p.topic) {
		return false
	}
	head := p.topic[len(p.topic)-1]
	return attribute(p.topic) || (a.owned || b.owned) && head.class != person || b.changes
}

// replaced reports whether sentences without a copula differ in one value, in a place that holds one.
func (a sentence) replaced(b sentence) bool {
	if a.copula >= 0 && b.copula >= 0 {
		return false
	}
	n := 0
	for n < len(a.words) && n < len(b.words) && a.words[n].text == b.words[n].text {
		n++
	}
	m := 0
	for m < len(a.words)-n && m < len(b.words)-n && a.words[len(a.words)-1-m].text == b.words[len(b.words)-1-m].text {
		m++
	}
	old, new := a.words[n:len(a.words)-m], b.words[n:len(b.words)-m]
	around := slices.Concat(a.words[:n], a.words[len(a.words)-m:])
	if len(old) == 0 || len(new) == 0 || !typed(old) || !typed(new) || !measured(old, new) {
		return false
	}
	switch x := classes(old); {
	case x != classes(new):
		return false
	case x&environment != 0:
		return has(around, "DEFAULT")
	case x&(language|channel|format|length) != 0:
		return (a.only || b.only || has(around, "REPLY") || has(around, "CONTACT") || has(around, "DEFAULT")) && (!a.adds || a.only) && (!b.adds || b.only)
	case x&date != 0:
		return (a.recurs && b.recurs || slices.ContainsFunc(around, func(w word) bool { return w.class == event })) && content(around)
	case x&number != 0:
		return (!a.adds && !b.adds || has(around, "HAVE")) && content(around) && (kinds(old) != "" || kinds(around) != "" || attribute(around))
	}
	return false
}

func has(ws []word, text string) bool {
	return slices.ContainsFunc(ws, func(w word) bool { return w.text == text })
}

// content reports whether words are about something.
func content(ws []word) bool {
	return slices.ContainsFunc(ws, func(w word) bool { return w.class != unit && w.text != "HAVE" })
}
