package compact

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// A question knows the words that lines are searched for, in lower case: Latin words and numbers of three letters or more,
// and pairs of Chinese characters.
type question []string

// maxWords bounds the work for each line.
const maxWords = 24

func newQuestion(text string) question {
	var q question
	for _, word := range strings.FieldsFunc(strings.ToLower(clip(text, 4000)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
	}) {
		for _, term := range terms(word) {
			if len(q) < maxWords && !common[term] && !slices.Contains(q, term) {
				q = append(q, term)
			}
		}
	}
	return q
}

func terms(word string) []string {
	if !strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		if len(word) < 3 {
			return nil
		}
		return []string{word}
	}
	var pairs []string
	runes := []rune(word)
	for i := 0; i+1 < len(runes); i++ {
		pairs = append(pairs, string(runes[i:i+2]))
	}
	return pairs
}

// common are words of questions that say nothing about the answer.
var common = set(`the and for are was were what when where which who why how can could you please show tell give find with from that this
	there have has had does did not any all its it's about into then than them they our your 什么 怎么 为什 一下 看看 请问 帮我 我看 查一 的是 是什
	有没 没有 可以 能不 不能 这个 那个 哪些 多少 吗的`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// hits says how many words of the question a line has.
func (q question) hits(line string) int {
	if len(q) == 0 {
		return 0
	}
	line = strings.ToLower(line)
	n := 0
	for _, word := range q {
		if strings.Contains(line, word) {
			n++
		}
	}
	return n
}

// An asked line is one that has words of the question.
type asked struct {
	hits, number int
	text         string
}

// A best list keeps the lines with the most words of the question, the earlier of equals.
type best struct {
	question question
	lines    []asked
}

// maxAsked is how many lines an excerpt shows for a question.
const maxAsked = 5

func (b *best) see(number int, line string) {
	hits := b.question.hits(line)
	if hits == 0 || len(b.lines) == maxAsked && hits <= b.lines[maxAsked-1].hits {
		return
	}
	at, _ := slices.BinarySearchFunc(b.lines, hits, func(a asked, hits int) int {
		if a.hits >= hits {
			return -1
		}
		return 1
	})
	b.lines = slices.Insert(b.lines, at, asked{hits, number, short(line, sampleBytes)})
	b.lines = b.lines[:min(len(b.lines), maxAsked)]
}

// points returns the lines in the order of the text.
func (b *best) points(rank int) []point {
	slices.SortFunc(b.lines, func(a, b asked) int { return a.number - b.number })
	var points []point
	for _, a := range b.lines {
		points = append(points, point{rank, fmt.Sprintf("line %d: %s", a.number, a.text)})
	}
	return points
}

// sampleBytes is how much of a line an excerpt shows.
const sampleBytes = 240

func byRank(points []point) []int {
	order := make([]int, len(points))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return points[a].rank - points[b].rank })
	return order
}
