package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

var _ checkpoint.Compacter = (*Store)(nil)

// Compact implements checkpoint.Compacter, for all that is in the file. A reader in the way at the end is waited for: until it is done
// the log has what was deleted.
func (s *Store) Compact(ctx context.Context) error {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed {
		return checkpoint.ErrClosed
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 60*s.file.o.OpTimeout)
		defer cancel()
	}
	c, err := openConn(dsn(s.file.path))
	if err != nil {
		return err
	}
	err = patience(ctx, func() error {
		_, err := c.exec(ctx, "vacuum")
		return err
	})
	if err == nil {
		err = patience(ctx, func() error {
			free := false
			err := c.query(ctx, "pragma wal_checkpoint(truncate)", func(r *row) { free = r.int() == 0 })
			if err == nil && !free {
				err = errInTheWay
			}
			return err
		})
	}
	return errors.Join(err, c.close())
}

var errInTheWay = errors.New("sqlite: somebody reads what was deleted")

// patience repeats f while others are in its way, until the context ends.
func patience(ctx context.Context, f func() error) error {
	for try := 0; ; try++ {
		err := f()
		if !busy(err) && err != errInTheWay {
			return err
		}
		t := time.NewTimer(pause(try))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return fmt.Errorf("%w: %w", late(context.Cause(ctx)), err)
		}
	}
}
