package compact

import (
	"cmp"
	"errors"
	"fmt"
)

// ErrOptions is returned by New for options that contradict each other, or without a counter or a store of results.
var ErrOptions = errors.New("compact: the options cannot be met")

// Options say when a history is compacted, and to what. Zero fields mean their defaults. All sizes are tokens by the
// compactor's counter; the margin of the counter is not added, so leave it free in Budget.
type Options struct {
	Budget     int        // what history and summary may have together; default 8,000
	Trigger    float64    // share of Budget above which Compact sets to work; default 0.8
	Target     float64    // share of Budget that it aims for; default 0.5
	SummaryCap int        // hard limit of the summary, whatever a Summarizer returns; default 400
	Rounds     int        // how many of the latest rounds stay word for word if they fit under the trigger; default 3
	ResultCap  int        // limit of one tool result that the model has not answered yet; default a quarter of Budget, at most 2,000
	ExcerptCap int        // limit of an excerpt; default 300
	ChunkCap   int        // limit of what a Summarizer is told at once, the summary so far included; default 4,000
	Attempts   int        // failures of the Summarizer after which one Compact goes on without it; default 2
	Summarizer Summarizer // default none: the summary is what the rules of Facts find
}

// least is the smallest cap that an excerpt or a summary can keep its reference in.
const least = 64

func (o Options) withDefaults() Options {
	o.Budget = cmp.Or(o.Budget, 8000)
	o.Trigger = cmp.Or(o.Trigger, 0.8)
	o.Target = cmp.Or(o.Target, 0.5)
	o.SummaryCap = cmp.Or(o.SummaryCap, 400)
	o.Rounds = cmp.Or(o.Rounds, 3)
	o.ResultCap = cmp.Or(o.ResultCap, min(2000, o.Budget/4))
	o.ExcerptCap = cmp.Or(o.ExcerptCap, min(300, o.ResultCap))
	o.ChunkCap = cmp.Or(o.ChunkCap, 4000)
	o.Attempts = cmp.Or(o.Attempts, 2)
	return o
}

func (o Options) validate() error {
	var errs []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	ordered := 0 < o.Target && o.Target < o.Trigger && o.Trigger <= 1 // false for NaN too
	refuse(!ordered, "want 0 < Target < Trigger <= 1, got Target %v and Trigger %v", o.Target, o.Trigger)
	refuse(o.SummaryCap < least, "SummaryCap is %d, at least %d", o.SummaryCap, least)
	refuse(o.target() <= o.SummaryCap, "Target leaves %d tokens, which the summary's %d would fill", o.target(), o.SummaryCap)
	refuse(o.ExcerptCap < least, "ExcerptCap is %d, at least %d", o.ExcerptCap, least)
	refuse(o.ResultCap < o.ExcerptCap, "ResultCap is %d, below the ExcerptCap of %d", o.ResultCap, o.ExcerptCap)
	refuse(o.ChunkCap < 2*o.SummaryCap, "ChunkCap is %d, at least twice the SummaryCap of %d", o.ChunkCap, o.SummaryCap)
	refuse(o.Rounds < 1, "Rounds is %d, at least 1", o.Rounds)
	refuse(o.Attempts < 1, "Attempts is %d, at least 1", o.Attempts)
	return errors.Join(errs...)
}

func (o Options) trigger() int { return int(o.Trigger * float64(o.Budget)) }
func (o Options) target() int  { return int(o.Target * float64(o.Budget)) }
