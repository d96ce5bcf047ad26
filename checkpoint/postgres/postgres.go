package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A Durability says what a crash of the server may take.
type Durability uint8

// The durabilities, by the name of the server's setting synchronous_commit.
const (
	On  Durability = iota // every commit waits for the disk: nothing is lost
	Off                   // a crash may take the last moments, by default up to 0.6 s; never a gap in what is left
)

// Options of a store. The zero value is ready for production.
type Options struct {
	// Schema holds the tables; default "holdfast". Open makes it if it is not there.
	Schema string

	// SynchronousCommit is the durability; default On. On leaves alone what a server is set to that waits for replicas.
	SynchronousCommit Durability

	// Pooler is for a pooler that gives a connection to each transaction (PgBouncer in transaction mode): no prepared
	// statement has a name, and nothing is set for a session. A statement is planned each time, which costs about a third.
	Pooler bool

	// RowSecurity has the database itself keep tenants apart, as a second net. The role must not own the tables; Migrate
	// prepares them. A write costs some percent more, and there are no lists over all tenants.
	RowSecurity bool

	// OpTimeout is how long a call may take whose context has no deadline; default 10 s.
	OpTimeout time.Duration
}

var schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

func (o Options) withDefaults() Options {
	o.Schema = cmp.Or(o.Schema, "holdfast")
	o.OpTimeout = cmp.Or(o.OpTimeout, 10*time.Second)
	return o
}

func (o Options) validate() error {
	switch {
	case o.SynchronousCommit > Off:
		return fmt.Errorf("postgres: durability %d is unknown", o.SynchronousCommit)
	case o.OpTimeout < 0:
		return errors.New("postgres: OpTimeout is negative")
	case !schemaName.MatchString(o.Schema) || strings.HasPrefix(o.Schema, "pg_"):
		return fmt.Errorf("postgres: schema %q: use small letters, digits and _", o.Schema)
	}
	return nil
}

// A Store keeps threads in the tables of one schema. It is safe for concurrent use.
type Store struct {
	o        Options
	info     checkpoint.Info
	pool     *pgxpool.Pool
	renewals *pgxpool.Pool // one connection, which no slow write blocks
	group    *group
	acked    acked
	texts    sync.Map // statement as it is in the source -> with the schema
	settings []setting

	mu     sync.Mutex // of closed, and of calls growing
	closed bool
	calls  sync.WaitGroup // under way
	ended  sync.Once
}

var _ checkpoint.Store = (*Store)(nil)

// Open connects to a database and brings its tables up to date. The url is pgx's: pool_max_conns in it sets the size of the
// pool, by default 4 or the number of processors if that is larger; renewals of leases have one connection more.
//
// A schema of a newer release is checkpoint.ErrNewerFormat. A server that cannot be reached is checkpoint.ErrUnavailable.
// Where the context has no deadline Open gives up after a minute.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	ctx, cancel := within(ctx, time.Minute)
	defer cancel()
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	s := &Store{o: o, acked: acked{m: map[checkpoint.Lease]place{}}}
	if err := s.prepare(ctx, cfg); err != nil {
		return nil, fmt.Errorf("postgres: open: %w", opening(ctx, err))
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, fmt.Errorf("postgres: open: %w", opening(ctx, err))
	}
	if err := s.pool.Ping(ctx); err != nil {
		s.pool.Close()
		return nil, fmt.Errorf("postgres: open: %w", opening(ctx, err))
	}
	one := cfg.Copy()
	one.MaxConns, one.MinConns, one.MinIdleConns = 1, 0, 0
	if s.renewals, err = pgxpool.NewWithConfig(ctx, one); err != nil {
		s.pool.Close()
		return nil, fmt.Errorf("postgres: open: %w", opening(ctx, err))
	}
	s.group = newGroup(s)
	return s, nil
}

// prepare looks at the server, migrates, and completes the configuration of the pools.
func (s *Store) prepare(ctx context.Context, cfg *pgxpool.Config) error {
	conn, server, err := look(ctx, cfg)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := s.configure(cfg, server); err != nil {
		return err
	}
	if !s.o.RowSecurity {
		if err := migrate(ctx, conn, s.o.Schema); err != nil {
			return err
		}
	}
	return s.checkRole(ctx, conn)
}

// Migrate brings the tables up to date, as Open does, and switches row-level security on or off as the options say. It is
// for the owner of the tables, where the program's own role is another one.
func Migrate(ctx context.Context, url string, o Options) error {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return err
	}
	ctx, cancel := within(ctx, time.Minute)
	defer cancel()
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	conn, _, err := look(ctx, cfg)
	if err != nil {
		return fmt.Errorf("postgres: migrate: %w", opening(ctx, err))
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := migrate(ctx, conn, o.Schema); err != nil {
		return fmt.Errorf("postgres: migrate: %w", opening(ctx, err))
	}
	return opening(ctx, setRowSecurity(ctx, conn, o))
}

// Info names the durability that the server gives.
func (s *Store) Info() checkpoint.Info { return s.info }

// Close waits for the calls under way and closes the connections. Calls that come meanwhile are ErrClosed at once.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.calls.Wait()
	s.ended.Do(func() {
		s.group.close()
		s.pool.Close()
		s.renewals.Close()
	})
	return nil
}

// enter begins a call: leave ends it, and the context has a deadline.
func (s *Store) enter(ctx context.Context) (_ context.Context, leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, checkpoint.ErrClosed
	}
	if ctx.Err() != nil {
		return nil, nil, late(context.Cause(ctx))
	}
	s.calls.Add(1)
	ctx, cancel := within(ctx, s.o.OpTimeout)
	return ctx, func() {
		cancel()
		s.calls.Done()
	}, nil
}

// within gives a context a deadline if it has none.
func within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d)
}

// sql puts the schema before each name of ours.
func (s *Store) sql(text string) string {
	if known, ok := s.texts.Load(text); ok {
		return known.(string)
	}
	full := s.qualify(text)
	s.texts.Store(text, full)
	return full
}

func (s *Store) qualify(text string) string {
	return strings.ReplaceAll(text, "hf_", pgx.Identifier{s.o.Schema}.Sanitize()+".hf_")
}
