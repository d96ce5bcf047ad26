package compact

import (
	"fmt"
	"slices"
)

// edge is how many lines of each end of a text are candidates for an excerpt: more than a prompt could hold of short lines.
const edge = 200

// digestPlain keeps a text's beginning and end, the outermost lines first, and what was asked for.
func digestPlain(text string, q question) []point {
	top, bottom := ends{}, ends{}
	asked := best{question: q}
	n := 0
	for line := range lines(text) {
		n++
		asked.see(n, line)
		if n <= edge {
			top = append(top, line)
			continue
		}
		bottom = append(bottom, line)
		if len(bottom) >= 2*edge {
			bottom = bottom[:copy(bottom, bottom[len(bottom)-edge:])]
		}
	}
	bottom = bottom[max(0, len(bottom)-edge):]
	if len(bottom) == 0 { // of few lines the later half is the end
		half := (len(top) + 1) / 2
		top, bottom = top[:half], slices.Clone(top[half:])
	}
	return slices.Concat(top.points(false), []point{{0, "…"}}, asked.points(1), bottom.points(true))
}

type ends []string

// points ranks lines by their distance from the end of the text they are near to. Blank lines are nothing.
func (e ends) points(last bool) []point {
	var points []point
	for i, line := range e {
		rank := i
		if last {
			rank = len(e) - 1 - i
		}
		if line = short(line, lineBytes/2); line != "" {
			points = append(points, point{rank + 2, line})
		}
	}
	return points
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
