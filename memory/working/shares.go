package working

// A want is what a part of the prompt asks for.
type want struct {
	least int // it has a right to
	need  int // all that it could use, at least least
	limit int // its cap
}

// shares gives out what is left of a limit beside the hard zone: each part first gets its least, then, in the order given,
// what it needs up to its cap. // T5
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
	return given
}
