package graph

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/record"
)

// advance tells what the log has, up to an event. It returns how many records it has read.
func (w *watcher) advance(upto int64) (n int, err error) {
	for {
		if w.log == nil {
			if err := w.seek(); err != nil {
				return n, err
			}
		}
		to := posIn(w.chain.Branch, upto)
		if w.next > to {
			return n, nil
		}
		recs, err := w.read(checkpoint.Query{From: w.next, To: to, Limit: watchPage})
		if err != nil {
			return n, err
		}
		if len(recs) > 0 && recs[0].Pos > w.next { // retention was faster
			w.log = nil
			continue
		}
		if err := w.nest(recs); err != nil {
			return n, err
		}
		for i := range recs {
			if err := w.tell(recs[i], upto); err != nil || w.over {
				return n, err
			}
		}
		if len(recs) > 0 {
			w.ord = recs[len(recs)-1].Ord
		}
		if n += len(recs); len(recs) < watchPage {
			return n, nil
		}
	}
}

// nest finds out whether a reader who wants only what is in the log misses events all the same: those of child graphs are live.
// It asks once for each page.
func (w *watcher) nest(recs []checkpoint.Record) error {
	if len(recs) == 0 || w.nested || w.missing || wantsLive(w.o.Kinds) || !slices.ContainsFunc(w.o.Kinds, EventKind.Durable) {
		return nil
	}
	for i := range recs {
		if recs[i].Pos <= posIn(w.chain.Branch, w.last) {
			w.ord = recs[i].Ord
		}
	}
	return w.patiently(func() error {
		chains, err := w.c.store.Chains(w.ctx, w.chain.Key, w.chain.Branch)
		w.nested = slices.ContainsFunc(chains, func(last checkpoint.Record) bool { return last.Namespace != "" && last.Ord > w.ord })
		return err
	})
}

// seek begins to read at the base from which the last event can be understood.
func (w *watcher) seek() error {
	from := posIn(w.chain.Branch, w.last)
	at, err := w.read(checkpoint.Query{From: from, To: -1, Limit: 1, NoBody: true})
	if err == nil && len(at) == 0 {
		if at, err = w.read(checkpoint.Query{To: -1, Limit: 1, Newest: true, NoBody: true}); len(at) > 0 {
			w.last = seqAt(w.chain.Branch, at[0].Pos+1) - 1 // the store has lost what was told behind it
		}
	}
	if err != nil {
		return err
	}
	w.log, w.next = newRetelling(w.c, w.thread, slices.Contains(w.o.Kinds, StateValues)), 0
	w.log.questions = w.questions
	if len(at) > 0 {
		w.next = at[0].Base
		w.trimmed = w.trimmed || at[0].Pos > from
	}
	return nil
}

// tell tells the events of one record, up to an event.
func (w *watcher) tell(rec checkpoint.Record, upto int64) error {
	w.next = rec.Pos + 1
	if rec.Pos < posIn(w.chain.Branch, w.last) {
		return w.log.skip(rec)
	}
	evs, err := w.log.tell(rec)
	if err != nil {
		return err
	}
	w.seen = w.seen || w.start >= 0 && rec.Pos >= w.start || w.log.log.Run == w.until
	w.begun = w.begun || w.seen
	if w.over = w.seen && w.log.log.Run != w.until; w.over {
		return nil
	}
	to := int64(0)
	if upto < math.MaxInt64 {
		to = upto
	}
	for _, e := range evs {
		switch {
		case e.Seq <= w.last || e.Seq > upto:
			continue
		case !w.seen && w.o.After == 0: // of a run before the one that is queued
			w.last = e.Seq
			continue
		}
		if err := w.gap(e.Seq-1, to); err != nil {
			return err
		}
		w.last = e.Seq
		if wanted(w.o.Kinds, e.Kind) && !w.yield(e, nil) {
			return errLeft
		}
	}
	return nil
}

// gap tells that live events are missing, which may have happened behind the last event and up to a number, and that more of
// them are missing up to another one, or for as long as the log is followed (0). It tells so once.
func (w *watcher) gap(upto, to int64) error {
	if w.last >= upto || !w.trimmed && (w.missing || !w.nested && !wantsLive(w.o.Kinds)) {
		return nil
	}
	e := Event{Kind: EventsDropped, Seq: upto, From: w.last + 1, To: to, Thread: w.thread, Run: w.until}
	if w.trimmed {
		e.To = upto
	} else {
		w.missing = true
	}
	w.trimmed, w.last = false, upto
	if !w.yield(e, nil) {
		return errLeft
	}
	return nil
}

// wantsLive reports whether a choice of kinds includes one that is not in the log.
func wantsLive(kinds []EventKind) bool {
	return len(kinds) == 0 || slices.ContainsFunc(kinds, func(k EventKind) bool {
		return !k.Durable() && !k.final() && k != RunStarted && k != EventsDropped
	})
}

// load reads the thread, without records.
func (w *watcher) load() (l *checkpoint.Loaded, err error) {
	err = w.patiently(func() error {
		l, err = w.c.store.Load(w.ctx, w.thread.key(), checkpoint.Active, noChain)
		return err
	})
	if err == nil && l.Head.Epoch == 0 {
		err = fmt.Errorf("%w: %s", ErrNoThread, w.thread)
	}
	return l, err
}

// read reads records of the chain.
func (w *watcher) read(q checkpoint.Query) (recs []checkpoint.Record, err error) {
	q.Chain = w.chain
	err = w.patiently(func() error {
		recs, err = w.c.store.Read(w.ctx, q)
		return err
	})
	return recs, err
}

// patiently repeats a read while the store is away, as long as a run would.
func (w *watcher) patiently(call func() error) error {
	start := time.Now()
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		err := call()
		switch {
		case w.ctx.Err() != nil:
			return context.Cause(w.ctx)
		case !isRetryable(err) || time.Since(start) > w.c.opts.StorePatience:
			return err
		}
		if err := sleep(w.ctx, realClock{}, wait); err != nil {
			return err
		}
	}
}

// questions finds the rows of what a pause has asked. Of one whose row is gone only the name is left.
func (w *watcher) questions(list []record.Asked) (out []Question, err error) {
	for _, find := range []func() error{w.openQuestions, w.closedQuestions} {
		if slices.ContainsFunc(list, func(a record.Asked) bool { return w.rows[a.ID] == nil }) {
			if err := w.patiently(find); err != nil {
				return nil, err
			}
		}
	}
	for _, a := range list {
		q := bareQuestion(a)
		if row := w.rows[a.ID]; row != nil {
			if q, err = publicQuestion(row); err != nil {
				return nil, err
			}
			q.Refused = a.Refused
		}
		out = append(out, q)
	}
	return out, nil
}

func bareQuestion(a record.Asked) Question {
	return Question{ID: a.ID, Name: a.Name, Task: a.Task, Shown: a.Shown, Refused: a.Refused}
}

func (w *watcher) openQuestions() error {
	l, err := w.c.store.Load(w.ctx, w.chain.Key, w.chain.Branch, noChain)
	if err == nil {
		w.keep(l.Questions)
	}
	return err
}

func (w *watcher) closedQuestions() error {
	f := checkpoint.QuestionFilter{Tenant: w.thread.Tenant, Thread: w.thread.ID, State: checkpoint.Closed}
	for {
		rows, err := w.c.store.Questions(w.ctx, f)
		if err != nil || len(rows) == 0 {
			return err
		}
		w.keep(rows)
		last := &rows[len(rows)-1]
		f.After = checkpoint.QuestionCursor{Asked: last.Asked, Key: last.Key, ID: last.ID}
	}
}

func (w *watcher) keep(rows []checkpoint.Question) {
	for i := range rows {
		w.rows[rows[i].ID] = &rows[i]
	}
}
