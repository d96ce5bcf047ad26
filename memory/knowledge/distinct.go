package knowledge

import (
	"slices"
	"strings"
)

// alike is the share of common words from which two chunks say the same, unless what makes the difference differs: numbers and negations.
const alike = 0.9

var negations = strings.Fields(`不 无 未 非 禁 勿 别 没 not no never without except unless cannot none don't can't won't isn't doesn't`)

// telling reports whether a word makes the difference.
func telling(t token) bool {
	return t.is(number) || slices.Contains(negations, strings.ToLower(t.text))
}

// distinct leaves out what says the same as one that was found before it.
func distinct(found []candidate) (out []candidate) {
	for _, c := range found {
		same := func(b candidate) bool {
			return b.rules == c.rules && slices.Equal(b.wording.tells, c.wording.tells) && overlap(b.wording.said, c.wording.said) >= alike
		}
		if !slices.ContainsFunc(out, same) {
			out = append(out, c)
		}
	}
	return out
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
