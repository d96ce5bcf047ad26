package working

// A want is what a part of the prompt asks for.
type want struct {
	least int // it has a right to
	need  int // all that it could use, at least least
	limit int // its cap
}

// shares gives out what is left of a limit beside the hard zone. Each part first gets its least, then, in the order given,
// what it needs up to its cap; at the end what is left over goes to those in that order who need more. A part with a cap of
// 0 gets no more than its least. // T5: caps are enforced, and what one part leaves over serves another.
func shares(left int, wants []want) []int {
	given := make([]int, len(wants))
	give := func(i, upTo int) {
		n := max(min(upTo-given[i], left), 0)
		given[i] += n
		left -= n
	}
	for i, w := range wants {
		give(i, w.least)
	}
	for i, w := range wants {
		give(i, min(w.need, w.limit))
	}
	for i, w := range wants {
		if w.limit > 0 {
			give(i, w.need)
		}
	}
	return given
}
