package graph

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/record"
)

// A Retention says which entries of a thread may go. Each branch counts for itself. With KeepLast alone everything else goes; with
// a rule by age or size an entry goes when one of the rules says so.
//
// An entry that stays can be read and forked as before. What it is read from stays with it, so that a little more is kept than
// was said: at most twice the state and 16 KiB in each chain. Heads, open questions and unfinished work always stay.
type Retention struct {
	KeepLast  int           // entries that always stay, the newest ones; default 1
	OlderThan time.Duration // entries older than this go, by the store's times and the App's Clock; 0: no rule
	MaxBytes  int64         // the oldest go until no more than this is stored in the branch; 0: no rule. It reads what it weighs
}

// Removed is what a retention has removed.
type Removed struct {
	Threads int   `json:"threads"` // threads of which something was removed
	Records int64 `json:"records"` // entries, results, snapshots and the like
}

func (k Retention) check() error {
	if k == (Retention{}) || k.KeepLast < 0 || k.OlderThan < 0 || k.MaxBytes < 0 {
		return errors.New("graph: a retention needs a rule, and its numbers are not negative")
	}
	return nil
}

// retain removes what may go from one thread: from all its branches, or from the one that is named. It needs no lease, since nobody
// reads below a base that he has not loaded.
func (c *core) retain(ctx context.Context, th Thread, keep Retention) (out Removed, err error) {
	if c.store == nil {
		return out, ErrNoStore
	}
	if err := errors.Join(c.checkCall(th, RunOptions{}), keep.check()); err != nil {
		return out, err
	}
	l, err := c.store.Load(ctx, th.key(), checkpoint.Active, noChain)
	if err == nil && l.Head.Epoch == 0 {
		err = fmt.Errorf("%w: %s", ErrNoThread, th)
	}
	if err != nil {
		return out, err
	}
	first, last := int32(0), l.Head.Branches-1
	if th.Branch != "" {
		if first, err = branchNumber(th, l); err != nil {
			return out, err
		}
		last = first
	}
	for n := first; n <= last; n++ {
		removed, err := c.retainBranch(ctx, th.key(), n, keep)
		if out.Records += removed; err != nil {
			return out, err
		}
	}
	if out.Records > 0 {
		out.Threads = 1
	}
	return out, nil
}

// retainAll goes through all threads of the graph, a page at a time.
func (c *core) retainAll(ctx context.Context, keep Retention) (out Removed, err error) {
	if c.store == nil {
		return out, ErrNoStore
	}
	if err := keep.check(); err != nil {
		return out, err
	}
	f := checkpoint.ThreadFilter{Graph: c.plan.id.Name}
	for {
		heads, err := c.store.Threads(ctx, f)
		if err != nil || len(heads) == 0 {
			return out, err
		}
		for i := range heads {
			f.After = heads[i].Key
			one, err := c.retain(ctx, Thread{Tenant: f.After.Tenant, ID: f.After.Thread}, keep)
			if err != nil && !errors.Is(err, ErrNoThread) { // it was deleted meanwhile
				return out, err
			}
			out.Threads += one.Threads
			out.Records += one.Records
		}
	}
}

// retainBranch trims the chains of one branch.
func (c *core) retainBranch(ctx context.Context, key checkpoint.Key, branch int32, keep Retention) (removed int64, err error) {
	below, err := c.keepFrom(ctx, checkpoint.Chain{Key: key, Branch: branch}, keep)
	if err != nil || below <= 0 {
		return 0, err
	}
	return c.trimBranch(ctx, key, branch, below)
}

// trimBranch removes the records of the root's chain below a base, and those of other chains that no entry from there on is read from.
func (c *core) trimBranch(ctx context.Context, key checkpoint.Key, branch int32, below int64) (removed int64, err error) {
	root := checkpoint.Chain{Key: key, Branch: branch}
	at, err := c.store.Read(ctx, checkpoint.Query{Chain: root, From: below, To: below})
	if err != nil || len(at) == 0 { // somebody else has removed it
		return 0, err
	}
	base, err := record.Fold(at)
	if err != nil {
		return 0, err
	}
	children, err := c.childrenAt(ctx, root, base, at[0].Ord)
	if err != nil {
		return 0, err
	}
	chains, err := c.store.Chains(ctx, key, branch)
	if err != nil {
		return 0, err
	}
	ended := func(ch checkpoint.Record) bool { // a call that had ended before
		return ch.Ord < at[0].Ord && !slices.ContainsFunc(children, func(c childChain) bool { return c.ns == ch.Namespace })
	}
	for _, ch := range chains {
		chain := checkpoint.Chain{Key: key, Branch: branch, Namespace: ch.Namespace}
		to := below
		if ch.Namespace != "" && ended(ch) {
			to = ch.Pos + 1
		} else if ch.Namespace != "" {
			last, err := c.store.Read(ctx, checkpoint.Query{Chain: chain, To: -1, MaxOrd: at[0].Ord, Limit: 1, Newest: true, NoBody: true})
			if err != nil {
				return removed, err
			}
			if len(last) == 0 {
				continue
			}
			to = last[0].Base
		}
		n, err := c.store.Trim(ctx, chain, to)
		if removed += n; err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// keepFrom is the base of the oldest entry that stays. It reads from the tail down to where the rules are decided.
func (c *core) keepFrom(ctx context.Context, chain checkpoint.Chain, keep Retention) (int64, error) {
	k := keeping{keep: max(keep.KeepLast, 1), bySize: keep.MaxBytes > 0, byAge: keep.OlderThan > 0}
	if k.byAge {
		k.youngest = c.opts.Clock.Now().Add(-keep.OlderThan)
	}
	k.room = keep.MaxBytes
	for rec, err := range c.backward(ctx, checkpoint.Query{Chain: chain, To: -1, NoBody: !k.bySize}) {
		if err != nil {
			return 0, err
		}
		k.see(&rec)
		if k.decided() {
			break
		}
	}
	return k.from(), nil
}

// keeping walks over a chain from its tail and finds for each rule the base from which it keeps.
type keeping struct {
	keep          int // entries to be kept still
	byAge, bySize bool
	youngest      time.Time // what is older goes
	room          int64     // bytes left

	last, age, size mark
}

// A mark is the base from which a rule keeps. A rule that keeps nothing has none.
type mark struct {
	base  int64
	found bool
}

func (k *keeping) see(r *checkpoint.Record) {
	k.room -= int64(len(r.Body)) + checkpoint.Overhead
	if r.Base == r.Pos && k.room >= 0 {
		k.size = mark{r.Pos, true}
	}
	if !isEntry(r.Kind) {
		return
	}
	if k.keep > 0 {
		k.keep--
		k.last = mark{r.Base, true}
	}
	if k.byAge && !r.At.Before(k.youngest) {
		k.age = mark{r.Base, true}
	} else {
		k.byAge = k.byAge && !r.At.Before(k.youngest)
	}
}

// decided reports whether no older record can change the outcome.
func (k *keeping) decided() bool { return k.keep == 0 && !k.byAge && (!k.bySize || k.room < 0) }

// from is the highest base that a rule allows, but not above what always stays.
func (k *keeping) from() int64 {
	if !k.last.found {
		return 0
	}
	from, ruled := int64(0), false
	for _, rule := range []struct {
		on bool
		mark
	}{{!k.youngest.IsZero(), k.age}, {k.bySize, k.size}} {
		if rule.on {
			ruled = true
			if !rule.found {
				return k.last.base
			}
			from = max(from, rule.base)
		}
	}
	if !ruled {
		return k.last.base
	}
	return min(from, k.last.base)
}

// backward iterates over the records of a chain from its tail, a page at a time.
func (c *core) backward(ctx context.Context, q checkpoint.Query) iter.Seq2[checkpoint.Record, error] {
	return func(yield func(checkpoint.Record, error) bool) {
		q.Limit, q.Newest = 200, true
		for {
			recs, err := c.store.Read(ctx, q)
			if err != nil {
				yield(checkpoint.Record{}, err)
				return
			}
			for _, rec := range slices.Backward(recs) {
				if !yield(rec, nil) {
					return
				}
			}
			if len(recs) == 0 || recs[0].Pos == 0 {
				return
			}
			q.To = recs[0].Pos - 1
		}
	}
}

// tidy applies the App's retention to the thread of a run that has ended or paused. Nothing depends on it, so an error is logged.
func (r *run) tidy() {
	if r.journal == nil || r.c.opts.Retention == (Retention{}) || r.status == checkpoint.Running {
		return
	}
	ctx, cancel := context.WithTimeout(detached(r.ctx), r.c.opts.StorePatience)
	defer cancel()
	if _, err := r.c.retainBranch(ctx, r.key, r.chain.Branch, r.c.opts.Retention); err != nil {
		r.note("retention", "err", err)
	}
}
