package working

// A memo counts each text of one assembly once, and always the same, even if the counter learns in between: else what had
// room when the hard zone was measured could have none at the end.
type memo struct {
	Counter
	counts map[string]int
}

func (m memo) Count(text string) int {
	n, ok := m.counts[text]
	if !ok {
		n = m.Counter.Count(text)
		m.counts[text] = n
	}
	return n
}
