package graph

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/crashpoint"
)

// open makes the run's journal, behind the last record of the loaded chain.
func (r *run) open(l *loaded, nonce checkpoint.Nonce, epoch int64) {
	r.chain.Branch, r.branch = l.Branch, ""
	r.epoch.Store(epoch)
	if l.Branch > 0 && int(l.Branch) <= len(l.Branches) {
		r.branch = l.Branches[l.Branch-1].Name
	}
	r.journal = &journal{store: r.c.store, chain: r.chain, nonce: nonce, patience: r.c.opts.StorePatience, place: place{l.log.Pos, epoch << 32, l.log.Base}}
	r.journal.good = r.journal.place
	r.takeRows(l.Questions)
	held.Store(nonce, r) // from here on others may find it
	r.journal.looked(l.Head.Inbox, 0)
}

// acquire takes the thread and begins to renew the lease.
func (c *core) acquire(r *run, a *checkpoint.Acquire) error {
	at := time.Now()
	crashpoint.Hit("acquire")
	err := persist(r.ctx, c.opts.StorePatience, weigh(a.Records), func(ctx context.Context) error {
		h, err := c.store.Acquire(ctx, a)
		if err == nil {
			r.stored, r.local = h.LeaseUntil.Add(-a.TTL), at
			r.journal.news(h.Inbox)
			if a.Mode != checkpoint.Free {
				r.epoch.Store(h.Epoch)
				r.journal.ord = h.Epoch << 32
				r.journal.good.ord = r.journal.ord
			}
		}
		return err
	})
	if dup, ok := errors.AsType[*checkpoint.DuplicateError](err); ok && dup.Run.ID == r.id {
		return fmt.Errorf("%w: the run was started, and another process has taken it over", checkpoint.ErrStale)
	} else if ok {
		return &DuplicateError{dup.Run.ID, dup.Run.Status}
	}
	if err == nil {
		crashpoint.Hit("acquired")
		c.keeper.keep(r, at)
	}
	return err
}

// weigh is how many bytes records move.
func weigh(rs []checkpoint.Record) (n int) {
	for i := range rs {
		n += len(rs[i].Body)
	}
	return n
}

// weight is about how many bytes a load of the thread moves.
func (r *run) weight() int {
	r.logMu.Lock()
	defer r.logMu.Unlock()
	if r.log == nil {
		return 0
	}
	return 2 * int(r.log.State.Size())
}
