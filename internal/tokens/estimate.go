package tokens

import "math"

// weights are tokens for one of each class.
var weights = [classes]float64{
	word: 1.02, bare: 0.15, long: 0.06, longer: 0.15, upper: 0.25, rare: 0.6, digits: 1, gap: 1, blank: 1, line: 0.9, tie: 0.8,
	mark: 1, marks: 0.7, again: 0.3, han: 0.75, stranger: 3, kana: 0.75, hangul: 0.75, stop: 1, accent: 1, abroad: 0.5,
	picture: 0.75, other: 1,
}

// Estimate returns about how many tokens a text has. It never fails: bytes that are no UTF-8 count one each.
func Estimate(text string) int {
	n := 0.0
	for c, times := range count(text) {
		n += weights[c] * float64(times)
	}
	return int(math.Ceil(n))
}
