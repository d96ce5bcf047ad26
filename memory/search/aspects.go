package search

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const (
	maxJoined = 3   // Chinese characters on each side of a conjunction that are taken for what it joins
	maxAsked  = 120 // characters of a text that is taken for a question; a longer one tells something
)

// Aspects returns the questions that a text asks. What "和", "与", "及", "或", "、", "and" or "or" joins is asked one after the
// other: "上海和北京的人口" asks "上海的人口" and "北京的人口". Any other text is one question.
func Aspects(text string) []string {
	rs := []rune(norm.NFKC.String(text))
	if len(rs) > maxAsked {
		return []string{text}
	}
	for i := range rs {
		n := conjunction(rs, i)
		if n == 0 {
			continue
		}
		from, to := joinedBefore(rs, i), joinedBehind(rs, i+n)
		if left, right := rs[from:i], rs[i+n:to]; says(left) && says(right) {
			return []string{replaced(rs, from, to, left), replaced(rs, from, to, right)}
		}
	}
	return []string{text}
}

func replaced(rs []rune, from, to int, by []rune) string {
	return string(rs[:from]) + string(by) + string(rs[to:])
}

func says(rs []rune) bool { return len(Terms(string(rs))) > 0 }

// emptyJoins are words that have the character of a conjunction in them.
var emptyJoins = set(`共和 和平 和解 和谐 和睦 和约 温和 缓和 饱和 总和 参与 与其 与会 给与 及时 及格 普及 涉及 提及 埃及 危及 波及 及其 或许 或者`)

// conjunction returns how many characters at a place are one: " and " with its spaces.
func conjunction(rs []rune, at int) int {
	if at == 0 || at == len(rs)-1 {
		return 0
	}
	if strings.ContainsRune("和与及或、", rs[at]) {
		if emptyJoins[string(rs[at-1:at+1])] || emptyJoins[string(rs[at:at+2])] {
			return 0
		}
		return 1
	}
	for _, word := range []string{" and ", " or "} {
		if n := len(word); len(rs)-at > n && strings.EqualFold(string(rs[at:at+n]), word) {
			return n
		}
	}
	return 0
}

// joinedBefore returns where that begins which a conjunction joins, before it: a word, a number with the character behind it, or
// Chinese characters.
func joinedBefore(rs []rune, end int) int {
	from := end
	for from > 0 && end-from < maxJoined && cjk(rs[from-1]) && !emptyRune(rs[from-1]) {
		from--
	}
	if from < end && end-from > 1 {
		return from
	}
	for from > 0 && alphanumeric(rs[from-1]) {
		from--
	}
	return from
}

func joinedBehind(rs []rune, from int) int {
	to := from
	for to < len(rs) && alphanumeric(rs[to]) {
		to++
	}
	if to > from {
		if to < len(rs) && cjk(rs[to]) && !emptyRune(rs[to]) && unicode.IsDigit(rs[to-1]) {
			to++
		}
		return to
	}
	for to < len(rs) && to-from < maxJoined && cjk(rs[to]) && !emptyRune(rs[to]) {
		to++
	}
	return to
}
