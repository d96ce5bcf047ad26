package graph

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/record"
)

// A Snapshot is a thread at one moment.
type Snapshot[S any] struct {
	ThreadInfo
	State *S // belongs to the caller
}

// A ThreadInfo is all of a thread but the typed state.
type ThreadInfo struct {
	Thread    Thread            `json:"thread"`
	Entry     int64             `json:"entry"` // position of the entry that the state is of
	Step      int64             `json:"step"`  // in the run
	Run       string            `json:"run"`
	Status    checkpoint.Status `json:"status"`
	Owner     string            `json:"owner,omitzero"`
	Meta      map[string]string `json:"meta,omitzero"`
	Next      []TaskInfo        `json:"next,omitzero"` // scheduled
	Questions []Question        `json:"questions,omitzero"`
	Joins     []JoinInfo        `json:"joins,omitzero"`  // half filled
	Reason    string            `json:"reason,omitzero"` // why the run stopped, if it did
	Error     string            `json:"error,omitzero"`
	Branches  []BranchInfo      `json:"branches,omitzero"` // of a thread that has more than one
	Children  []ChildInfo       `json:"children,omitzero"` // child graphs that are called now, or that the thread remembers
	Unknown   []string          `json:"unknown,omitzero"`  // stored fields that this program does not know
	JSON      json.RawMessage   `json:"state,omitzero"`    // of a View: the state
}

// A TaskInfo is a scheduled task and what is known of it.
type TaskInfo struct {
	ID       string          `json:"id"`
	Node     string          `json:"node"`
	Arg      json.RawMessage `json:"arg,omitzero"`
	Deferred bool            `json:"deferred,omitzero"`
	Done     bool            `json:"done,omitzero"`    // its result is recorded
	Error    string          `json:"error,omitzero"`   // it failed
	Waiting  bool            `json:"waiting,omitzero"` // for an answer
}

// A JoinInfo is a join that some of its sources have reached.
type JoinInfo struct {
	To      string   `json:"to"`
	Have    []string `json:"have"`
	Missing []string `json:"missing"`
}

// An EntryInfo is one entry of a thread's history.
type EntryInfo struct {
	Pos    int64           `json:"pos"`  // its id in the branch
	Step   int64           `json:"step"` // in the chain; it never restarts
	Kind   checkpoint.Kind `json:"kind"` // I, E, D, X or F
	At     time.Time       `json:"at"`   // the store's clock
	Run    string          `json:"run"`
	By     string          `json:"by,omitzero"`
	Graph  string          `json:"graph"`
	Tasks  []string        `json:"tasks,omitzero"`  // nodes that ran, in task order
	Cached []string        `json:"cached,omitzero"` // ids of the tasks among them whose results came from the cache
	Next   []string        `json:"next,omitzero"`   // nodes that come next
	Gone   []string        `json:"gone,omitzero"`   // nodes abandoned by a settle entry
	From   *Origin         `json:"from,omitzero"`   // of the first entry of a branch or a copy
}

// An Origin is the entry that a branch or a copy began with.
type Origin struct {
	Thread string `json:"thread,omitzero"` // of a copy
	Branch string `json:"branch"`
	Entry  int64  `json:"entry"`
	Reason string `json:"reason"` // fork, edit, copy or rollback
}

// stateAt reads and folds a thread up to an entry.
func (c *core) stateAt(ctx context.Context, th Thread, entry int64) (*ThreadInfo, *record.Thread, error) {
	if c.store == nil {
		return nil, nil, ErrNoStore
	}
	if err := c.checkCall(th, RunOptions{}); err != nil {
		return nil, nil, err
	}
	l, err := c.loadOf(ctx, th)
	if err != nil {
		return nil, nil, err
	}
	if l.Head.Epoch == 0 {
		return nil, nil, fmt.Errorf("%w: %s", ErrNoThread, th)
	}
	if l.log.Pos < 0 {
		return nil, nil, fmt.Errorf("%w: branch %q of thread %s", checkpoint.ErrPruned, th.Branch, th)
	}
	log := l.log
	head := entry < 0 || entry == log.EntryPos
	if !head {
		if log, err = c.foldTo(ctx, checkpoint.Chain{Key: th.key(), Branch: l.Branch}, entry); err != nil {
			return nil, nil, err
		}
	}
	if !head {
		l = &loaded{Loaded: l.Loaded, log: log}
		c.plan.fit(l, "")
	}
	if err := l.refuse(th); err != nil {
		return nil, nil, err
	}
	st, err := c.describe(th, l, log, head)
	if err != nil {
		return nil, nil, err
	}
	var open []checkpoint.Question
	if head {
		open = append([]checkpoint.Question{}, l.Questions...)
	}
	st.Children, err = c.childrenOf(ctx, checkpoint.Chain{Key: th.key(), Branch: l.Branch}, log, open)
	return st, log, err
}

// foldTo folds a chain up to one entry.
func (c *core) foldTo(ctx context.Context, chain checkpoint.Chain, entry int64) (*record.Thread, error) {
	at, err := c.store.Read(ctx, checkpoint.Query{Chain: chain, From: entry, To: entry + 1, NoBody: true})
	if err != nil {
		return nil, err
	}
	if len(at) == 0 || at[0].Pos > entry {
		first, err := c.store.Read(ctx, checkpoint.Query{Chain: chain, To: -1, Limit: 1, NoBody: true})
		if err != nil {
			return nil, err
		}
		if len(first) > 0 && entry < first[0].Pos {
			return nil, fmt.Errorf("%w: entry %d of thread %s", checkpoint.ErrPruned, entry, chain.Thread)
		}
	}
	if len(at) == 0 || at[0].Pos != entry || !isEntry(at[0].Kind) {
		return nil, fmt.Errorf("graph: position %d is no entry of thread %s", entry, chain.Thread)
	}
	from, to := at[0].Base, entry
	if len(at) > 1 && at[1].Kind == checkpoint.KindSnapshot {
		// The entry with which reading became too dear: the snapshot that closes it says the same for less.
		from, to = at[1].Pos, at[1].Pos
	}
	q := checkpoint.Query{Chain: chain, From: from, To: to}
	if at[0].Kind == checkpoint.KindSeal { // with what its write carried of tasks that were open; that acquisition wrote nothing else
		q.To, q.MaxOrd = -1, at[0].Ord|(1<<32-1)
	}
	recs, err := c.store.Read(ctx, q)
	if err != nil {
		return nil, err
	}
	if len(recs) == 0 || recs[0].Pos != from {
		return nil, checkpoint.ErrPruned
	}
	return record.Fold(recs)
}

func isEntry(k checkpoint.Kind) bool {
	switch k {
	case checkpoint.KindInput, checkpoint.KindEntry, checkpoint.KindEdit, checkpoint.KindSettle, checkpoint.KindSeal:
		return true
	}
	return false
}

func (c *core) describe(th Thread, l *loaded, log *record.Thread, head bool) (*ThreadInfo, error) {
	st := &ThreadInfo{
		Thread: th, Entry: log.EntryPos, Step: log.EntryStep - log.Start, Run: log.Run, Status: l.Head.Status, Owner: l.Head.Owner, Meta: l.Head.Meta,
		Unknown: c.plan.ops.unknown(log.State),
	}
	var waiting map[string]bool
	if head {
		qs, err := publicQuestions(l.Questions)
		if err != nil {
			return nil, err
		}
		sortQuestions(qs)
		st.Questions, waiting = qs, waitingIn("", l.Questions)
	}
	st.Next = tasksOf(log, waiting)
	for _, j := range log.Joins {
		i := JoinInfo{To: j.To, Have: j.Have}
		for _, from := range j.From {
			if !slices.Contains(j.Have, from) {
				i.Missing = append(i.Missing, from)
			}
		}
		st.Joins = append(st.Joins, i)
	}
	if log.Pause != nil {
		st.Reason, st.Error = log.Pause.Reason, log.Pause.Error
	}
	if len(l.Branches) > 0 {
		st.Branches = branches(l.Loaded)
	}
	if l.Branch != l.Head.Active { // the head's status is that of the active branch
		st.Status = dormantStatus(l.log)
	}
	return st, nil
}

// dormantStatus is what the log says of a run of a branch that is not active.
func dormantStatus(log *record.Thread) checkpoint.Status {
	switch {
	case log.Pause != nil && log.Pause.Reason == record.ReasonFailed:
		return checkpoint.Failed
	case len(log.Next) > 0:
		return checkpoint.Interrupted
	}
	return checkpoint.Completed
}

// history reads entries from the tail, a page at a time.
func (c *core) history(ctx context.Context, th Thread) iter.Seq2[EntryInfo, error] {
	return c.historyIn(ctx, th, "")
}

func (c *core) historyIn(ctx context.Context, th Thread, ns checkpoint.Namespace) iter.Seq2[EntryInfo, error] {
	return func(yield func(EntryInfo, error) bool) {
		if c.store == nil {
			yield(EntryInfo{}, ErrNoStore)
			return
		}
		l, err := c.loadOf(ctx, th)
		if err == nil && l.Head.Epoch == 0 {
			err = fmt.Errorf("%w: %s", ErrNoThread, th)
		}
		if err != nil {
			yield(EntryInfo{}, err)
			return
		}
		for rec, err := range c.backward(ctx, checkpoint.Query{Chain: checkpoint.Chain{Key: th.key(), Branch: l.Branch, Namespace: ns}, To: -1}) {
			var e EntryInfo
			if err == nil && isEntry(rec.Kind) {
				e, err = entryInfo(rec)
			}
			if err != nil {
				yield(EntryInfo{}, err)
				return
			}
			if isEntry(rec.Kind) && !yield(e, nil) {
				return
			}
		}
	}
}

func entryInfo(rec checkpoint.Record) (EntryInfo, error) {
	e := EntryInfo{Pos: rec.Pos, Step: rec.Step, Kind: rec.Kind, At: rec.At}
	var b struct {
		Run       string
		By        string
		Graph     record.Graph       `json:"g"`
		Tasks     []record.Done      `json:"t"`
		Next      []record.Task      `json:"next"`
		Abandoned []record.Abandoned `json:"gone"`
		Origin    *record.Origin
	}
	if err := record.Decode(rec, &b); err != nil {
		return e, err
	}
	e.Run, e.By, e.Graph = b.Run, b.By, graphText(b.Graph)
	if o := b.Origin; o != nil {
		e.From = &Origin{o.Thread, o.Branch, o.Entry, o.Reason}
	}
	for _, t := range b.Tasks {
		e.Tasks = append(e.Tasks, t.Node)
		if t.Cached {
			e.Cached = append(e.Cached, t.ID)
		}
	}
	for _, t := range b.Next {
		e.Next = append(e.Next, t.Node)
	}
	for _, t := range b.Abandoned {
		e.Gone = append(e.Gone, t.Node)
	}
	return e, nil
}
