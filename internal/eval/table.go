package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// mark stands on a line of its own before and behind the tables.
const mark = "<!-- eval -->"

// A column is one figure of a table.
type column struct {
	title string
	of    func([]score) string
}

func percent(title string, of func(score) float64) column {
	return column{title, func(s []score) string { return fmt.Sprintf("%.1f", 100*mean(s, of)) }}
}

var columns = []column{
	{"questions", func(s []score) string { return fmt.Sprint(len(s)) }},
	percent("hit@1", func(s score) float64 { return s.hit1 }),
	percent("recall@5", func(s score) float64 { return s.recall5 }),
	percent("recall@10", func(s score) float64 { return s.recall10 }),
	{"95%", func(s []score) string {
		low, high := interval(s, func(s score) float64 { return s.recall10 })
		return fmt.Sprintf("%.1f to %.1f", 100*low, 100*high)
	}},
	percent("hit@10", func(s score) float64 { return s.hit10 }),
	percent("every aspect@10", func(s score) float64 { return s.aspects10 }),
	percent("NDCG@10", func(s score) float64 { return s.ndcg10 }),
	{"tokens", func(s []score) string { return fmt.Sprintf("%.0f", mean(s, func(s score) float64 { return s.tokens })) }},
	{"p50", func(s []score) string { return millis(percentile(s, 0.5)) }},
	{"p99", func(s []score) string { return millis(percentile(s, 0.99)) }},
}

func millis(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

// table has a row for each category. Columns of a set without gold are empty.
func (s set) table(scores map[string][]score, by string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s, %s.** %s\n\n| |", s.name, by, s.about)
	for _, c := range columns {
		fmt.Fprintf(&b, " %s |", c.title)
	}
	b.WriteString("\n|" + strings.Repeat("---|", len(columns)+1) + "\n")
	for _, category := range s.categories {
		if n := len(scores[category]); n == 0 || category == total && n == len(scores[s.categories[0]]) {
			continue // nothing is in it, or all that is in the only other
		}
		fmt.Fprintf(&b, "| %s |", category)
		for i, c := range columns {
			if figure := c.of(scores[category]); i == 0 || i >= len(columns)-3 || s.gold() {
				fmt.Fprintf(&b, " %s |", figure)
			} else {
				b.WriteString(" |")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (s set) gold() bool {
	for _, h := range s.haystacks {
		for _, q := range h.questions {
			return len(q.gold) > 0
		}
	}
	return false
}

// write puts the tables between the two marks of a file.
func write(file, tables string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	parts := strings.Split(string(raw), mark)
	if len(parts) != 3 {
		return errors.New(file + " needs two lines " + mark + ", for the tables to stand between")
	}
	return os.WriteFile(file, []byte(parts[0]+mark+"\n\n"+tables+"\n"+mark+parts[2]), 0o644)
}
