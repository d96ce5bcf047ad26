package working

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// fusion is the constant of reciprocal rank fusion: an item at rank r of its source scores 1 / (fusion + r), r from 1.
// 60 is the value of Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
// Learning Methods", SIGIR 2009.
const fusion = 60

// A ranked item has its place among those of all sources.
type ranked struct {
	Item
	section Section
	score   float64
	tokens  int    // of all of it, as it would be told
	self    *Item  // stands for it
	rival   *Item  // the document or preference about the same subject
	why     Reason // it is left out, if set
}

// rank orders the items of all sources together, best first. Scores of two sources cannot be compared, so only the ranks
// within the sources count; equal ranks are in the order of the profile, then of the names of sources. An item that came
// twice, of equal origin and text, is left out the second time, and what it would have scored goes to the first. A
// preference stands right behind the document that overrules it.
func (a *Assembler) rank(items []Item) []ranked {
	all := make([]ranked, 0, len(items))
	places := map[Source]int{}
	for _, i := range slices.SortedStableFunc(slices.Values(items), func(x, y Item) int { return cmp.Compare(y.Score, x.Score) }) {
		places[i.Source]++
		r := ranked{Item: i, section: cmp.Or(i.Source.section(), SectionKnowledge), self: &i, score: 1 / float64(fusion+places[i.Source])}
		if !a.profile.Uses(i.Source) {
			r.why = NotUsed
		}
		all = append(all, r)
	}
	a.sort(all)
	dropTwins(all)
	a.sort(all) // the first of two twins may have risen
	return besideRivals(all)
}

func (a *Assembler) sort(all []ranked) {
	slices.SortStableFunc(all, func(x, y ranked) int {
		return cmp.Or(
			cmp.Compare(y.score, x.score),
			cmp.Compare(slices.Index(a.profile.Order, x.section), slices.Index(a.profile.Order, y.section)),
			cmp.Compare(x.Source, y.Source),
		)
	})
}

// dropTwins leaves out what came before, from the same origin. Of items without one, only those of one source can be the same: a document
// is not the preference that repeats its words.
func dropTwins(all []ranked) {
	first := map[[2]string]*ranked{}
	for i := range all {
		r := &all[i]
		key := [2]string{r.Origin, normal(r.Text)}
		if r.Origin == "" {
			key[0] = "\x00" + string(r.Source)
		}
		switch twin := first[key]; {
		case r.why != "":
		case twin == nil:
			first[key] = r
		default:
			twin.score += r.score
			r.why = Duplicate
		}
	}
}

// normal is a text without what makes no difference to a reader: case, spaces, full-width forms of ASCII.
func normal(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '！' && r <= '～':
			r -= '！' - '!'
		case unicode.IsSpace(r):
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// besideRivals tells each document and preference which one it meets about a subject, the best of them. A document that
// stands behind a preference it overrules moves in front of it: with the preference alone the model would follow that.
func besideRivals(all []ranked) []ranked {
	documents, preferences := map[string]int{}, map[string]int{}
	for i, r := range all {
		if of := r.rivals(documents, preferences); of != nil {
			if _, ok := of[r.Subject]; !ok {
				of[r.Subject] = i
			}
		}
	}
	for i := range all {
		if at, ok := all[i].rivals(preferences, documents)[all[i].Subject]; ok {
			all[i].rival = all[at].self
		}
	}
	placed := make([]ranked, 0, len(all))
	done := make([]bool, len(all))
	put := func(i int) {
		if !done[i] {
			done[i], placed = true, append(placed, all[i])
		}
	}
	for i, r := range all {
		if r.rival != nil && r.Source == LongTerm {
			put(documents[r.Subject])
		}
		put(i)
	}
	return placed
}

// rivals picks the first of two for a document, the second for a preference, and nothing for what meets nobody.
func (r ranked) rivals(ofDocument, ofPreference map[string]int) map[string]int {
	switch {
	case r.why != "" || r.Subject == "":
		return nil
	case r.Source == Knowledge:
		return ofDocument
	case r.Source == LongTerm && r.Kind == preference:
		return ofPreference
	}
	return nil
}

func (w *assembly) itemWrap(r ranked) func(string) string {
	return func(text string) string { return w.words.label(r) + "\n" + quote(text) }
}

// needRecalled is what the items of a section take that are not left out already.
func (w *assembly) needRecalled(section Section) (n int) {
	for _, r := range w.recalled {
		if r.section == section && r.why == "" {
			n += r.tokens
		}
	}
	return n
}

// fillRecalled tells items, the best first, each from the share of its section and then from what is spare. One that has no
// room does not keep out smaller ones behind it. // T4
func (w *assembly) fillRecalled(s *softZone, spare int) {
	told := map[*Item]bool{}
	most := map[Section]int{}
	for section, share := range s.share {
		most[section] = share + spare
	}
	for _, r := range w.recalled {
		e := Entry{Section: r.section, Source: r.Source, ID: r.ID, Tokens: r.tokens, Outcome: Dropped, Reason: r.why}
		if r.why == "" && r.Source == LongTerm && r.rival != nil && !told[r.rival] {
			e.Reason = NoDocument
		}
		if e.Reason != "" {
			s.entries = append(s.entries, e)
			continue
		}
		limit := longest(r.tokens, s.share[r.section]+spare, most[r.section])
		n := w.add(s, e, r.Text, limit, w.why(r.section, most[r.section]), w.itemWrap(r))
		told[r.self] = n > 0
		fromShare := min(n, s.share[r.section])
		s.share[r.section] -= fromShare
		spare -= n - fromShare
	}
}

// longest is the most tokens that an item may take. One that is longer than all that its section had is shortened to half of
// what is left. The others are told whole or not at all: parts of them would keep out those that are short.
func longest(tokens, left, most int) int {
	switch {
	case tokens <= left:
		return tokens
	case tokens > most && left/2 >= shortest:
		return left / 2
	}
	return 0
}
