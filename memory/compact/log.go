package compact

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	levelWord = regexp.MustCompile(`\b(?i:fatal|panic|critical|error|warn|warning|info|debug|trace)\b|错误|警告|致命`)
	timestamp = regexp.MustCompile(`\d{4}[-/]\d{2}[-/]\d{2}[T ]\d{2}:\d{2}(?::\d{2})?|\b\d{2}:\d{2}:\d{2}\b`)
	codeWord  = regexp.MustCompile(`\b[A-Z][A-Z0-9]*[-_]?\d{2,6}\b|\b(?:ERR|SQLSTATE|E)_[A-Z0-9_]+\b|\b[A-Z]\w*(?:Exception|Error)\b|` +
		`\b(?i:status|code|http|sqlstate)["']?[ =:]+["']?\d{3,6}\b`)
	variable = regexp.MustCompile(`0x[0-9a-fA-F]+|\b[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]{4,})*\b|\d+(?:[.:T-]\d+)*|"[^"]*"`)
)

// levels are the names under which lines are counted, the worst first.
var levels = []string{"FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"}

var levelNames = map[string]int{
	"fatal": 0, "panic": 0, "critical": 0, "致命": 0, "error": 1, "错误": 1, "warn": 2, "warning": 2, "警告": 2, "info": 3, "debug": 4, "trace": 5,
}

// maxPatterns bounds the patterns and codes that are told apart; the lines of others are only counted.
const maxPatterns = 1000

// A logDigest is what one pass over the lines of a log finds.
type logDigest struct {
	lines, marked     int // marked: lines with a level or a time
	from, to          string
	byLevel           [6]int
	codes             tally
	patterns          tally
	firstBad, lastBad asked // number 0: none
	asked             best
}

// digestLog returns false for a text that is no log: fewer than 8 lines, or less than a third with a level or a time.
func digestLog(text string, q question) ([]point, bool) {
	d := logDigest{asked: best{question: q}}
	for line := range lines(text) {
		d.see(line)
		if d.lines == 100 && d.marked < 10 {
			return nil, false // do not spend more on it
		}
	}
	if d.lines < 8 || 3*d.marked < d.lines {
		return nil, false
	}
	return d.points(), true
}

func (d *logDigest) see(line string) {
	d.lines++
	start := clip(line, sampleBytes) // a log says what matters at the beginning of a line
	at := timestamp.FindString(start)
	level := -1
	if word := levelWord.FindString(start); word != "" {
		level = levelNames[strings.ToLower(word)]
		d.byLevel[level]++
	}
	if at != "" {
		d.to = at
		if d.from == "" {
			d.from = at
		}
	}
	if at != "" || level >= 0 {
		d.marked++
	}
	for _, code := range codeWord.FindAllString(start, 4) {
		d.codes.add(code, code)
	}
	if level == 0 || level == 1 {
		d.lastBad = asked{1, d.lines, short(line, sampleBytes)}
		if d.firstBad.number == 0 {
			d.firstBad = d.lastBad
		}
	}
	d.patterns.add(variable.ReplaceAllLiteralString(start, "#"), start)
	d.asked.see(d.lines, line)
}

func (d *logDigest) points() []point {
	points := []point{{0, "levels: " + d.levels()}}
	if d.from != "" {
		points = append(points, point{0, "time: " + d.from + " to " + d.to})
	}
	if codes := d.codes.top(12); len(codes) > 0 {
		points = append(points, point{1, "codes: " + join(codes)})
	}
	if d.firstBad.number > 0 {
		points = append(points, point{2, fmt.Sprintf("first error, line %d: %s", d.firstBad.number, d.firstBad.text)})
	}
	if d.lastBad.number > d.firstBad.number {
		points = append(points, point{3, fmt.Sprintf("last error, line %d: %s", d.lastBad.number, d.lastBad.text)})
	}
	points = append(points, d.asked.points(2)...)
	for i, p := range d.patterns.top(20) {
		points = append(points, point{4 + i, fmt.Sprintf("x%d: %s", p.n, short(p.sample, sampleBytes/2))})
	}
	return points
}

func (d *logDigest) levels() string {
	var counts []string
	for i, n := range d.byLevel {
		if n > 0 {
			counts = append(counts, fmt.Sprintf("%s %d", levels[i], n))
		}
	}
	if len(counts) == 0 {
		return "none"
	}
	return strings.Join(counts, ", ")
}

// A tally counts things by key and keeps a sample of each, the first.
type tally struct {
	at    map[string]int // index in found
	found []counted
	rest  int // what came when maxPatterns were known
}

type counted struct {
	sample string
	n      int
}

func (t *tally) add(key, sample string) {
	if at, ok := t.at[key]; ok {
		t.found[at].n++
		return
	}
	if len(t.found) == maxPatterns {
		t.rest++
		return
	}
	if t.at == nil {
		t.at = map[string]int{}
	}
	t.at[strings.Clone(key)] = len(t.found)
	t.found = append(t.found, counted{sample, 1})
}

// top returns the most frequent, the earlier of equals.
func (t *tally) top(n int) []counted {
	sorted := slices.Clone(t.found)
	slices.SortStableFunc(sorted, func(a, b counted) int { return b.n - a.n })
	return sorted[:min(n, len(sorted))]
}

func join(found []counted) string {
	var texts []string
	for _, c := range found {
		texts = append(texts, fmt.Sprintf("%s x%d", short(c.sample, 60), c.n))
	}
	return strings.Join(texts, ", ")
}
