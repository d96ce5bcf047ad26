package graph

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// Options of a compiled graph. The zero value works: no store, and the defaults named here.
type Options struct {
	Store          checkpoint.Store // where threads are kept; nil: nowhere, and what needs a store is ErrNoStore
	Cache          checkpoint.Cache // where results of Graph.Cache are kept; default: in Store, or in the memory of this App if that is no cache
	MaxConcurrency int              // tasks of one superstep at a time; default 64
	StepLimit      int              // supersteps of one call of Run or Resume; default 1,000
	Policy         Policy           // defaults of all nodes
	FailFast       bool             // a failing task cancels its siblings; default: they run to their end
	Durability     Durability       // default Sync
	BreakBefore    []string         // stop before these nodes; All for every node
	BreakAfter     []string         // stop after these nodes; All for every node
	Lease          time.Duration    // how long a thread stays held when its process vanishes; default 15 s
	Grace          time.Duration    // how long running nodes may take to return once a run's context has ended; default 5 s
	StorePatience  time.Duration    // how long a run repeats a write that a store does not take; default 30 s
	Retention      Retention        // applied to the branch of each run when it ends or pauses; zero: nothing is removed. It costs reads
	Logger         *slog.Logger     // nil: nothing is logged. No state content is ever logged
	Tracer         Tracer           // is told of runs, supersteps and tasks while they happen; nil: nothing, at no cost
	OnEvent        func(Event)      // receives the events of every run, those of one run in order; it must be quick, and safe for concurrent runs
	Clock          Clock            // default: the real one. For back-offs and time-outs of nodes
}

// RunOptions are for the calls made through App.With. Zero fields take the App's options.
type RunOptions struct {
	By          string            // who starts it; recorded with the run and with answers
	Owner       string            // user that a thread created by this call belongs to; never changed later. Run on a thread of another owner is ErrOwner
	Request     string            // id of the request: a second Run with the same one is ErrDuplicate
	OnBusy      BusyPolicy        // what Run does on a thread with unfinished business; default Reject
	Meta        map[string]string // recorded with the run; filterable
	StepLimit   int
	Durability  Durability
	BreakBefore []string
	BreakAfter  []string
	Kinds       []EventKind // events that Stream yields; default: all but StateValues
	Detach      bool        // leaving a stream, or the end of its context, leaves the run to the App instead of stopping it
}

// Durability says when a superstep is written.
type Durability string

// The durabilities. Input, Ask, Once, answers and cancel are synchronous in all of them.
const (
	Sync   Durability = "sync"  // before the next superstep starts
	Async  Durability = "async" // beside the next supersteps, at most 64 entries or 8 MB behind
	AtExit Durability = "exit"  // at the end, a pause, or every 8 MB
)

// A Clock tells the time and wakes up. It is for tests; graphtest has one that is moved by hand.
type Clock interface {
	Now() time.Time
	// After returns a channel that receives once d has passed, and a function that gives up waiting.
	After(d time.Duration) (<-chan time.Time, func())
}

type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }
func (realClock) After(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

func (o Options) withDefaults() Options {
	o.MaxConcurrency = cmp.Or(o.MaxConcurrency, 64)
	o.StepLimit = cmp.Or(o.StepLimit, 1000)
	o.Durability = cmp.Or(o.Durability, Sync)
	o.Lease = cmp.Or(o.Lease, 15*time.Second)
	o.Grace = cmp.Or(o.Grace, 5*time.Second)
	o.StorePatience = cmp.Or(o.StorePatience, 30*time.Second)
	if o.Clock == nil {
		o.Clock = realClock{}
	}
	return o
}

func (o *Options) check(p *plan) (errs []error) {
	if o.MaxConcurrency < 0 || o.StepLimit < 0 || o.Lease < 0 || o.Grace < 0 || o.StorePatience < 0 {
		errs = append(errs, fmt.Errorf("options have no negative numbers"))
	}
	if o.Policy.Deferred || o.Policy.Silent {
		errs = append(errs, fmt.Errorf("options: Deferred and Silent are said of a node, not of all"))
	}
	if err := o.Policy.validate(); err != nil {
		errs = append(errs, fmt.Errorf("options: %w", err))
	}
	if err := o.Durability.validate(); err != nil {
		errs = append(errs, err)
	}
	if o.Retention != (Retention{}) {
		if err := o.Retention.check(); err != nil {
			errs = append(errs, err)
		}
	}
	for _, list := range [][]string{o.BreakBefore, o.BreakAfter} {
		errs = append(errs, p.checkBreaks(list)...)
	}
	return errs
}

func (d Durability) validate() error {
	switch d {
	case "", Sync, Async, AtExit:
		return nil
	}
	return fmt.Errorf("unknown durability %q: use graph.Sync, graph.Async or graph.AtExit", string(d))
}

func (p *plan) checkBreaks(list []string) (errs []error) {
	for _, name := range list {
		if !p.breakable(name) {
			errs = append(errs, fmt.Errorf("breakpoint: there is no node %q", name))
		}
	}
	return errs
}

// breakable reports whether a breakpoint names a node, also one inside a mounted graph: "research/plan". What a node calls by itself
// is not known before it does, so that it may be called anything.
func (p *plan) breakable(name string) bool {
	if name == All || p.index[name] != nil {
		return true
	}
	outer, inner, ok := strings.Cut(name, "/")
	n := p.index[outer]
	return ok && n != nil && (n.mount == nil || n.mount.plan.breakable(inner))
}

// detached keeps the values of a context and drops its end.
func detached(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }
