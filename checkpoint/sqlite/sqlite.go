package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// A Durability says what a crash of the machine may take. A crash of the process takes nothing.
type Durability uint8

// The durabilities, by the name of SQLite's pragma synchronous.
const (
	Full   Durability = iota // every commit waits for the disk: nothing is lost
	Normal                   // the disk is awaited twice a second: the last second may be lost
)

// Options of a store. The zero value is ready for production.
type Options struct {
	Synchronous Durability       // default Full
	OpTimeout   time.Duration    // how long a call may take whose context has no deadline; default 10 s
	BusyTimeout time.Duration    // how long Open waits for another process; default 10 s. Calls wait until they end
	Readers     int              // connections for reading; default 4
	MaxBytes    int64            // how large the file may grow; 0: as the disk allows. Beyond it writes are ErrFull
	Now         func() time.Time // the store's clock; default time.Now
}

func (o Options) withDefaults() Options {
	o.OpTimeout = cmp.Or(o.OpTimeout, 10*time.Second)
	o.BusyTimeout = cmp.Or(o.BusyTimeout, 10*time.Second)
	o.Readers = cmp.Or(o.Readers, 4)
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

func (o Options) validate() error {
	switch {
	case o.Synchronous > Normal:
		return fmt.Errorf("sqlite: durability %d is unknown", o.Synchronous)
	case o.OpTimeout < 0, o.BusyTimeout < 0, o.Readers < 0, o.MaxBytes < 0:
		return errors.New("sqlite: an option is negative")
	}
	return nil
}

// A Store keeps threads in one SQLite file. It is safe for concurrent use.
type Store struct {
	file *file
	o    Options

	// life is held for reading by every call, so that Close waits for the calls under way.
	life   sync.RWMutex
	closed bool
}

var _ checkpoint.Store = (*Store)(nil)

// Open opens the database at path and makes it if it is not there, readable only by its owner. A database of an older
// release is brought up to date; one of a newer release is checkpoint.ErrNewerFormat; a file that is no database is
// checkpoint.ErrCorrupt, and one of another program also ErrForeign, and both are left as they are.
func Open(path string, o Options) (*Store, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	f, err := shared.open(path, o)
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %s: %w", path, err)
	}
	return &Store{file: f, o: o}, nil
}

// Info names the durability.
func (s *Store) Info() checkpoint.Info {
	i := checkpoint.Info{Name: "sqlite", Durability: "SQLite FULL", Shared: true, Local: true}
	if s.o.Synchronous == Normal {
		i.Durability, i.LossWindow = "SQLite NORMAL", time.Second
	}
	return i
}

// Close waits for the calls under way. The last store of a path closes the file.
func (s *Store) Close() error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return shared.close(s.file)
}

// now is in whole milliseconds, as the file keeps it.
func (s *Store) now() time.Time { return s.o.Now().UTC().Truncate(time.Millisecond) }

// write has the writer run f inside a transaction. f decides before it writes: an error of its own undoes nothing. size
// is about how many bytes it writes.
func write[T any](ctx context.Context, s *Store, size int, f func(*conn) (T, error)) (T, error) {
	return enqueue(ctx, s, &request{size: size}, nil, f)
}

// enqueue is write for a request that may be urgent, and that whole may do in one statement if it is alone. Where whole
// stores nothing and says so, f is run.
func enqueue[T any](ctx context.Context, s *Store, r *request, whole func(*conn) (T, bool, error), f func(*conn) (T, error)) (zero T, err error) {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed {
		return zero, checkpoint.ErrClosed
	}
	if err := context.Cause(ctx); err != nil {
		return zero, late(err)
	}
	var out T
	r.run = func(c *conn) (err error) {
		out, err = f(c)
		return err
	}
	if whole != nil {
		r.whole = func(c *conn) (done bool, err error) {
			out, done, err = whole(c)
			return done, err
		}
	}
	if err := s.file.writer.do(ctx, s.o.OpTimeout, r); err != nil {
		return zero, err // f may be running still: out must not be read
	}
	return out, nil
}

// read runs f on a connection for reading. All that f reads is as of one moment.
func read[T any](ctx context.Context, s *Store, f func(context.Context, *conn) (T, error)) (zero T, err error) {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed {
		return zero, checkpoint.ErrClosed
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.o.OpTimeout)
		defer cancel()
	}
	if err := context.Cause(ctx); err != nil {
		return zero, late(err)
	}
	var out T
	err = s.file.readers.do(ctx, func(ctx context.Context, c *conn) (err error) {
		out, err = f(ctx, c)
		return err
	})
	if err != nil {
		return zero, err
	}
	return out, nil
}
