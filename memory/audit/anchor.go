package audit

import (
	"context"
	"time"
)

// An Anchor says how far a chain had come. Keep it where nobody can write who can write to the log, such as a mail or another machine. It has
// nothing of any access.
type Anchor struct {
	Tenant string    `json:"tenant"`
	N      int64     `json:"n"`    // of the last entry; 0: there was none
	Hash   string    `json:"hash"` // of the last entry
	At     time.Time `json:"at"`   // when it was taken, by the log's clock
}

// Anchor returns where the chain of a tenant ends now.
func (l *Log) Anchor(ctx context.Context, tenant string) (a Anchor, err error) {
	err = l.about(ctx, tenant, l.o.OpTimeout, func(ctx context.Context) error {
		return l.back.View(ctx, tenant, func(tx Tx) error {
			h, err := tx.Head(ctx)
			a = Anchor{tenant, h.N, h.Hash, tx.Now()}
			return err
		})
	})
	return a, err
}
