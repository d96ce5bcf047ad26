package compact

import "context"

// A Request asks for the next summary.
type Request struct {
	Previous  string // what the Summarizer returned last; "" at first. Facts found by rule are kept beside it
	Text      string // what was said since, with who said it; never empty
	MaxTokens int    // how long the new summary may be: what is longer is cut
}

// A Summarizer writes summaries, usually with a model. What it returns replaces Previous, so it has to carry on what still
// holds. Its text is treated as data: role tags and orders are taken out, and it is cut to its size. An error, an empty text
// or one that is no shorter than what it was made of is a failure; after Options.Attempts of them a compaction goes on
// without it. It should return when the context ends.
type Summarizer interface {
	Summarize(ctx context.Context, r Request) (string, error)
}

// SummarizerFunc is a function as a Summarizer.
type SummarizerFunc func(ctx context.Context, r Request) (string, error)

// Summarize calls f.
func (f SummarizerFunc) Summarize(ctx context.Context, r Request) (string, error) { return f(ctx, r) }
