package graph

import (
	"context"
	"iter"
	"slices"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/record"
	"github.com/holdfast-go/holdfast/state"
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
		found, err := c.replay(ctx, r, g.from, g.to)
		if err != nil {
			c.log(r, "stream: the log could not be read", "err", err)
		}
		for _, e := range found {
			if rd.wants(e.Kind) {
				evs = append(evs, e)
			}
		}
	}
	if len(evs) < g.durable { // without a log, or with one that has lost the end of the run
		g.live = g.to
	}
	if g.live > 0 {
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
func (c *core) replay(ctx context.Context, r *run, from, to int64) ([]Event, error) {
	first, last := from>>seqBits, to>>seqBits
	heads, err := c.store.Read(ctx, checkpoint.Query{Chain: r.chain, From: first, To: last, NoBody: true})
	if err != nil || len(heads) == 0 {
		return nil, err
	}
	recs, err := c.store.Read(ctx, checkpoint.Query{Chain: r.chain, From: heads[0].Base, To: last})
	if err != nil {
		return nil, err
	}
	var evs []Event
	log := record.NewThread()
	for _, rec := range recs {
		if rec.Kind == checkpoint.KindEntry {
			e, err := entryEvents(c, log, rec)
			if err != nil {
				return nil, err
			}
			for i := range e {
				if e[i].Seq >= from && e[i].Seq <= to {
					e[i].Thread, e[i].Run, e[i].ops, e[i].FromLog = r.thread, log.Run, c.plan.ops, true
					evs = append(evs, e[i])
				}
			}
			continue
		}
		if err := log.Apply(rec); err != nil {
			return nil, err
		}
	}
	return evs, nil
}

// entryEvents folds an entry and makes the same events, with the same numbers, as were told when it was committed.
func entryEvents(c *core, log *record.Thread, rec checkpoint.Record) ([]Event, error) {
	var body record.Entry
	if err := record.Decode(rec, &body); err != nil {
		return nil, err
	}
	merged, err := log.Merged(&body)
	if err != nil {
		return nil, err
	}
	if err := log.Apply(rec); err != nil {
		return nil, err
	}
	hide := map[string]bool{}
	for _, n := range hidden(c.plan.ops) {
		hide[n] = true
	}
	step := rec.Step - log.Start
	var evs []Event
	for _, d := range merged.Tasks {
		if n := c.plan.node(d.Node); n == nil || !n.policy.Silent {
			evs = append(evs, Event{Kind: TaskUpdated, Step: step, Node: d.Node, Task: d.ID, Attempt: max(1, d.Attempt), Cached: d.Cached, Data: updateData(d.Writes, hide)})
		}
	}
	evs = append(evs, Event{Kind: StateValues, Step: step, raw: cloneRaw(log.State)})
	e := Event{Kind: EntryCommitted, Step: step}
	for _, t := range log.Next {
		if !slices.Contains(e.Next, t.Node) {
			e.Next = append(e.Next, t.Node)
		}
	}
	evs = append(evs, e)
	for i := range evs {
		evs[i].Seq = rec.Pos<<seqBits + int64(i)
	}
	return evs, nil
}

func cloneRaw(r *state.Raw) *state.Raw { return r.Clone() }
