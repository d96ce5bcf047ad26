package graph

import (
	"context"
	"iter"
	"slices"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// stream runs what begin prepares and yields its events. Leaving the loop stops the run resumably before the loop
// returns, unless it is detached. The run's error is the last thing that is yielded.
func (c *core) stream(ctx context.Context, ro RunOptions, begin func(context.Context) (*run, error)) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		own := ctx
		if ro.Detach { // the App owns the run: it outlives the reader and the reader's context
			own = detached(ctx)
		}
		r, err := begin(own)
		if err != nil {
			yield(Event{}, err)
			return
		}
		rd := newReader(ro.Kinds)
		r.bus.watch(rd)
		r.start()
		defer func() { // also when the loop body panics
			r.bus.leave(rd)
			if !ro.Detach {
				r.cancel(ErrStopped)
				<-r.done
			}
		}()
		reading := context.Background() // a run that ends with ctx says so itself
		if ro.Detach {
			reading = ctx
		}
		for {
			evs, missed, ended := rd.take(reading)
			if missed != nil {
				evs = c.recall(r, rd, missed)
			}
			for _, e := range evs {
				if !yield(e, nil) {
					return
				}
			}
			if ended {
				if ro.Detach && ctx.Err() != nil {
					yield(Event{}, context.Cause(ctx))
				} else if err := r.wait(); err != nil {
					yield(Event{}, err)
				}
				return
			}
		}
	}
}

// recall reads the durable events of a gap from the log, and says which live ones are gone.
func (c *core) recall(r *run, rd *reader, g *gap) []Event {
	var evs []Event
	if c.store != nil && r.journal.sync() == nil {
		ctx, cancel := context.WithTimeout(context.Background(), c.opts.StorePatience)
		defer cancel()
		found, err := c.replay(ctx, r, g.from, g.to, slices.Contains(rd.kinds, StateValues))
		if err != nil {
			r.note("stream: the log could not be read", "err", err)
		}
		for _, e := range found {
			if wanted(rd.kinds, e.Kind) {
				evs = append(evs, e)
			}
		}
	}
	if len(evs) < g.durable { // without a log, or with one that has lost the end of the run
		g.live = g.to
	}
	if g.live > 0 {
		r.note("events dropped", "from", g.from, "to", g.to)
		d := Event{Kind: EventsDropped, Seq: g.live, From: g.from, To: g.to, Thread: r.thread, Run: r.id}
		at := slices.IndexFunc(evs, func(e Event) bool { return e.Seq > g.live })
		if at < 0 {
			at = len(evs)
		}
		evs = slices.Insert(evs, at, d)
	}
	return evs
}

// replay makes the durable events with numbers from..to out of the log.
func (c *core) replay(ctx context.Context, r *run, from, to int64, states bool) ([]Event, error) {
	first, last := posIn(r.chain.Branch, from), posIn(r.chain.Branch, to)
	heads, err := c.store.Read(ctx, checkpoint.Query{Chain: r.chain, From: first, To: last, NoBody: true})
	if err != nil || len(heads) == 0 {
		return nil, err
	}
	recs, err := c.store.Read(ctx, checkpoint.Query{Chain: r.chain, From: heads[0].Base, To: last})
	if err != nil {
		return nil, err
	}
	var evs []Event
	log := newRetelling(c, r.thread, states)
	for _, rec := range recs {
		told, err := log.tell(rec)
		if err != nil {
			return nil, err
		}
		for _, e := range told {
			if e.Seq >= from && e.Seq <= to && e.Kind.Durable() {
				evs = append(evs, e)
			}
		}
	}
	return evs, nil
}
