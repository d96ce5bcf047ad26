package graph

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/crashpoint"
)

// open makes the run's journal, behind the last record of the loaded chain.
func (r *run) open(l *loaded, nonce checkpoint.Nonce, epoch int64) {
	r.chain.Branch = l.Branch
	r.journal = &journal{store: r.c.store, chain: r.chain, nonce: nonce, patience: r.c.opts.StorePatience, pos: l.log.Pos, ord: epoch << 32, base: l.log.Base}
	held.Store(nonce, r)
	r.takeRows(l.Questions)
	r.journal.looked(l.Head.Inbox, 0)
}

// acquire takes the thread and begins to renew the lease.
func (c *core) acquire(r *run, a *checkpoint.Acquire) error {
	at := time.Now()
	crashpoint.Hit("acquire")
	err := persist(r.ctx, c.opts.StorePatience, func(ctx context.Context) error {
		h, err := c.store.Acquire(ctx, a)
		if err == nil {
			r.journal.news(h.Inbox)
			if a.Mode != checkpoint.Free {
				r.journal.ord = h.Epoch << 32
			}
		}
		return err
	})
	if dup, ok := errors.AsType[*checkpoint.DuplicateError](err); ok {
		return &DuplicateError{dup.Run.ID, dup.Run.Status}
	}
	if err == nil {
		crashpoint.Hit("acquired")
		c.keeper.keep(r, at)
	}
	return err
}
