package tokens

import "math"

// weights are tokens for one of each class.
var weights = [classes]float64{
	word: 0.97, bare: 0.03, long: 0.07, endless: 0.25, upper: 0.15, rare: 0.75, digits: 1.03, gap: 1.05, blank: 1, shift: 1.05,
	line: 0.8, ending: 0.1, tie: 0, knot: 0.8, mark: 0.95, syntax: 0.15, marks: 0.95, again: 0.45, rule: 0.15,
	cjk: 1.01, accent: 0.9, abroad: 0.4, foreign: 1, other: 1,
}

// Estimate returns about how many tokens a text has. It never fails: bytes that are no UTF-8 count one each.
func Estimate(text string) int {
	n := 0.0
	for c, times := range count(text) {
		n += weights[c] * float64(times)
	}
	return int(math.Ceil(n))
}
