package sqlite

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	walBytes  = 4 << 20         // written since the last checkpoint, before one is due
	walBound  = 3 << 20         // in the WAL, before the writer itself folds the rest so that the WAL starts anew
	syncEvery = time.Second / 2 // with Normal: a checkpoint is what awaits the disk
	pageBytes = 4096
	sqlFold   = "pragma wal_checkpoint(passive)"
)

// A checkpointer folds the WAL into the database beside the writer, on a connection of its own: PASSIVE waits for nobody
// and keeps nobody waiting. What was written meanwhile the writer folds itself, which is little: only then does the WAL start
// anew. A WAL that grows costs more with every commit, because the disk must then also keep its new size.
type checkpointer struct {
	c     *conn
	o     Options
	due   chan struct{}
	stop  chan struct{}
	ended chan struct{}
	dirty atomic.Bool
	full  atomic.Bool // the WAL has outgrown walBound, and most of it is folded
	bytes int         // since a checkpoint was last asked for; the writer's
}

func newCheckpointer(path string, o Options) (*checkpointer, error) {
	c, err := openConn(dsn(path))
	if err != nil {
		return nil, err
	}
	k := &checkpointer{c: c, o: o, due: make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan struct{})}
	go k.loop()
	return k, nil
}

// wrote is called by the writer after each commit, between two transactions.
func (k *checkpointer) wrote(w *conn, bytes int) {
	if k.full.Swap(false) {
		// Nothing is added meanwhile, so this reaches the end of the WAL, and the next commit starts it anew.
		fold(w)
	}
	k.dirty.Store(true)
	if k.bytes += bytes + 2*pageBytes; k.bytes < walBytes {
		return
	}
	k.bytes = 0
	select {
	case k.due <- struct{}{}:
	default:
	}
}

func (k *checkpointer) loop() {
	defer close(k.ended)
	var tick <-chan time.Time
	if k.o.Synchronous == Normal {
		t := time.NewTicker(syncEvery)
		defer t.Stop()
		tick = t.C
	}
	for {
		select {
		case <-k.stop:
			return
		case <-k.due:
		case <-tick:
		}
		if !k.dirty.Swap(false) {
			continue
		}
		switch bytes, ok := fold(k.c); {
		case !ok:
			k.dirty.Store(true) // the next tick tries again
		case bytes > walBound:
			k.full.Store(true)
		}
	}
}

// fold returns the size of the WAL. If it is not ok, another process was at it, or the disk failed: nothing is lost then, the
// next checkpoint does what this one did not.
func fold(c *conn) (bytes int64, ok bool) {
	err := c.query(context.Background(), sqlFold, func(r *row) {
		ok = r.int() == 0
		bytes = r.int() * pageBytes
	})
	return bytes, ok && err == nil
}

func (k *checkpointer) close() error {
	close(k.stop)
	<-k.ended
	return k.c.close()
}
