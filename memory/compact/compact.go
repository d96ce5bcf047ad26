package compact

import (
	"context"
	"fmt"
	"slices"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

// A Compactor keeps histories below a budget. It holds nothing of a conversation and is safe for concurrent use.
type Compactor struct {
	counter working.Counter
	results memory.Results
	options Options
}

// New returns a compactor, or ErrOptions.
func New(c working.Counter, results memory.Results, o Options) (*Compactor, error) {
	if c == nil || results == nil {
		return nil, fmt.Errorf("%w: it needs a counter and a store of results", ErrOptions)
	}
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	return &Compactor{c, results, o}, nil
}

// Compact brings history and summary below the budget in layers: excerpts of tool results first, then the oldest rounds
// into the summary, then excerpts of what else is long. It does nothing below the trigger. The state that it is given stays
// as it is.
//
// Kept word for word are system messages, the latest user message, groups with open calls, and the latest rounds as far
// as they fit; a history is cut only between its groups. A text is stored in full before it is replaced or taken out, so an
// error or a crash loses nothing, and doing it again stores the same results under the same ids. With an error, such as
// that of an ended context, the state has what was done until then and is as good as any: call again to go on from there.
//
// Call it after the reply, since a Summarizer takes its time. Before a call, where there is none, use a compactor without a
// Summarizer: it only counts, searches and stores.
func (c *Compactor) Compact(ctx context.Context, s memory.Scope, conversation string, st State) (State, Report, error) {
	if err := s.Valid(); err != nil {
		return st, Report{Stop: Failed}, err
	}
	r := c.start(s, conversation, st)
	r.report.Before = r.total()
	err := r.compact(ctx)
	if err != nil {
		r.report.Stop = Failed
	}
	r.report.After, r.report.SummaryTokens = r.total(), c.counter.Count(r.summary.Text)
	return State{r.left(), r.summary}, r.report, err
}

// TrimResults is the first layer alone, for use between two steps: results that the model has not answered are cut to
// ResultCap, older ones to ExcerptCap, whatever the size of the history. The history that it is given stays as it is.
func (c *Compactor) TrimResults(ctx context.Context, s memory.Scope, conversation string, history []message.Message) ([]message.Message, []Excerpted, error) {
	if err := s.Valid(); err != nil {
		return history, nil, err
	}
	r := c.start(s, conversation, State{History: history})
	err := r.trimResults(ctx)
	return r.history, r.report.Excerpts, err
}

// A run is one compaction. Messages keep their places in history until it ends; gone says which were taken out.
type run struct {
	*Compactor
	keeper  keeper
	history []message.Message
	sizes   []int
	gone    []bool
	summary working.Summary
	report  Report
}

func (c *Compactor) start(s memory.Scope, conversation string, st State) *run {
	r := &run{Compactor: c, keeper: keeper{c.results, s, conversation}, history: slices.Clone(st.History), summary: st.Summary}
	r.summary.Covers = slices.Clone(st.Summary.Covers)
	r.gone = make([]bool, len(r.history))
	r.sizes = make([]int, len(r.history))
	for i, m := range r.history {
		r.sizes[i] = working.CountMessage(c.counter, m)
	}
	return r
}

func (r *run) compact(ctx context.Context) error {
	r.report.Stop = Below
	if r.total() <= r.options.trigger() {
		return nil
	}
	r.report.Stop = Done
	if err := r.trimResults(ctx); err != nil {
		return err
	}
	if r.total() > r.options.target() {
		if err := r.trimLong(ctx); err != nil {
			return err
		}
		if err := r.evict(ctx); err != nil {
			return err
		}
	}
	if err := r.squeeze(ctx); err != nil {
		return err
	}
	if r.total() > r.options.Budget {
		r.report.Stop = Held
	}
	return nil
}

func (r *run) total() int {
	n := r.counter.Count(r.summary.Text)
	for i, size := range r.sizes {
		if !r.gone[i] {
			n += size
		}
	}
	return n
}

func (r *run) left() []message.Message {
	var left []message.Message
	for i, m := range r.history {
		if !r.gone[i] {
			left = append(left, m)
		}
	}
	return left
}
