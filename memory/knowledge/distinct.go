package knowledge

import (
	"slices"
	"strings"
)

// alike is the share of common words from which two chunks say the same, unless what makes the difference differs: numbers, negations, names such
// as payment-api, and the heading.
const alike = 0.9

var negations = strings.Fields(`不 无 未 非 禁 勿 别 没 not no never without except unless cannot none don't can't won't isn't doesn't`)

// telling reports whether a word makes the difference.
func telling(t token) bool {
	return t.is(number) || named(t.text) || slices.Contains(negations, strings.ToLower(t.text))
}

// distinct leaves out what says the same as one that was found before it, and covers nothing better.
func (l *lookup) distinct(found []candidate) (out []candidate) {
	for _, c := range found {
		if !slices.ContainsFunc(out, func(b candidate) bool { return l.repeats(c, b) }) {
			out = append(out, c)
		}
	}
	return out
}

func (l *lookup) repeats(c, before candidate) bool {
	for a := range c.covers {
		if c.covers[a] > before.covers[a] {
			return false
		}
	}
	return c.rules == before.rules && (l.sure(before) || !l.sure(c)) && c.wording.under == before.wording.under &&
		slices.Equal(c.wording.tells, before.wording.tells) && overlap(c.wording.said, before.wording.said) >= alike
}

// overlap is the Jaccard index.
func overlap(a, b map[string]bool) float64 {
	both := 0
	for t := range a {
		if b[t] {
			both++
		}
	}
	if all := len(a) + len(b) - both; all > 0 {
		return float64(both) / float64(all)
	}
	return 1
}
