// Package prose finds what a person said in a text, as against what was pasted into it.
package prose

import (
	"regexp"
	"strings"
)

// A Span is bytes of a text.
type Span struct{ Start, End int }

// pasted matches lines that a person pastes and does not say: quoted mail, prompts of a shell, logs, stack traces.
var pasted = regexp.MustCompile(`^\s*(>|\$ |# \w+ -|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|\[(INFO|WARN|WARNING|ERROR|DEBUG|FATAL|TRACE)\]` +
	`|(INFO|ERROR|DEBUG|FATAL|TRACE|WARN)\b|at [\w.$]+\(|Traceback )`)

// Lines returns the lines that are a person's own words, and those behind a fence that is not closed: they may be code, or not.
func Lines(text string) (own, open []Span) {
	fenced := false
	for start := 0; start < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i
		}
		line := text[start:end]
		switch {
		case isFence(line):
			fenced, open = !fenced, nil
		case fenced:
			open = append(open, Span{start, end})
		case !pasted.MatchString(line[:min(len(line), 80)]):
			own = append(own, Span{start, end})
		}
		start = end + 1
	}
	if !fenced {
		open = nil
	}
	return own, open
}

func isFence(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "```") && !strings.Contains(line[3:], "```") || strings.HasPrefix(line, "~~~")
}
