package working

// A Counter counts the tokens of a text. It is safe for concurrent use and never fails: what it cannot count exactly it
// estimates.
type Counter interface {
	Count(text string) int

	// Margin is the share by which a sum of counts may be too low, such as 0.05: the assembler leaves it free.
	Margin() float64

	// Name says in a manifest how tokens were counted, such as "estimate" or "o200k".
	Name() string
}
