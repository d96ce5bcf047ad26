package knowledge

// A Point says what a floor does to questions of which it is known whether the documents answer them.
type Point struct {
	Floor   float64 // of Options
	Refused float64 // share of the questions that have an answer
	Wrong   float64 // share of those that have none and are answered
}

// Curve is what floors from 0.05 to 1 do, by the Coverage of answers to questions that the documents answer, and to others. It is for choosing
// Options.Floor for documents of one's own: retrieve with a floor near 0, and see where both shares are bearable.
func Curve(answerable, others []float64) (out []Point) {
	for i := 1; i <= 20; i++ {
		p := Point{Floor: float64(i) / 20}
		p.Refused = 1 - over(answerable, p.Floor)
		p.Wrong = over(others, p.Floor)
		out = append(out, p)
	}
	return out
}

// over is the share of coverages that reach a floor.
func over(coverages []float64, floor float64) float64 {
	n := 0
	for _, c := range coverages {
		if c >= floor {
			n++
		}
	}
	return float64(n) / float64(max(len(coverages), 1))
}
