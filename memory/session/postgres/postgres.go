package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/memory/session/internal/rows"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Options of a store. The zero value is ready for production.
type Options struct {
	Session session.Options // fields and limits
	Schema  string          // holds the tables; default "holdfast". Open makes it if it is not there

	// Pooler is for a pooler that gives a connection to each transaction (PgBouncer in transaction mode): no statement is
	// prepared, and nothing is set for a session.
	Pooler bool
}

var schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// Open connects to a database and brings its tables up to date. The url is pgx's: pool_max_conns in it sets the size of the
// pool.
//
// A schema of a newer release is session.ErrNewerFormat. A server that cannot be reached is session.ErrUnavailable. Where the
// context has no deadline Open gives up after a minute.
func Open(ctx context.Context, url string, o Options) (*session.Store, error) {
	o.Schema = cmp.Or(o.Schema, "holdfast")
	if !schemaName.MatchString(o.Schema) || strings.HasPrefix(o.Schema, "pg_") {
		return nil, fmt.Errorf("%w: schema %q: use small letters, digits and _", session.ErrOptions, o.Schema)
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Minute)
		defer cancel()
	}
	db, err := open(ctx, url, o)
	if err != nil {
		return nil, fmt.Errorf("postgres: open: %w", err)
	}
	s, err := session.New(rows.New(db), o.Session)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

type database struct {
	pool   *pgxpool.Pool
	schema string // quoted
}

func open(ctx context.Context, url string, o Options) (*database, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	if o.Pooler {
		cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, failure(ctx, err)
	}
	d := &database{pool, pgx.Identifier{o.Schema}.Sanitize()}
	if err := d.suits(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if err := d.migrate(ctx, o.Schema); err != nil {
		return nil, errors.Join(failure(ctx, err), d.Close())
	}
	return d, nil
}

// suits refuses a database that would change what it is given.
func (d *database) suits(ctx context.Context) error {
	var encoding string
	if err := d.pool.QueryRow(ctx, `select current_setting('server_encoding')`).Scan(&encoding); err != nil {
		return failure(ctx, err)
	}
	if encoding != "UTF8" {
		return fmt.Errorf("%w: the encoding of the database is %s, UTF8 is needed", session.ErrOptions, encoding)
	}
	return nil
}

// Close implements rows.DB.
func (d *database) Close() error {
	d.pool.Close()
	return nil
}

// Read implements rows.DB.
func (d *database) Read(ctx context.Context, f func(rows.Run) error) error {
	return d.within(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, f)
}

// Write implements rows.DB. What a statement waited for it must look at again afterwards, which only this level does.
func (d *database) Write(ctx context.Context, f func(rows.Run) error) error {
	return d.within(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, f)
}

// Remove implements rows.DB. Who is in the middle of writing what is removed makes it collide and look again.
func (d *database) Remove(ctx context.Context, f func(rows.Run) error) error {
	return d.within(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, f)
}

// tries is how often a transaction is begun that collides with others.
const tries = 5

func (d *database) within(ctx context.Context, o pgx.TxOptions, f func(rows.Run) error) (err error) {
	for range tries {
		err = d.once(ctx, o, f)
		if !collided(err) {
			return err
		}
	}
	return err
}

func (d *database) once(ctx context.Context, o pgx.TxOptions, f func(rows.Run) error) error {
	tx, err := d.pool.BeginTx(ctx, o)
	if err != nil {
		return failure(ctx, err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) // does nothing after a commit
	if err := f(runner{d, tx}.run); err != nil {
		return err
	}
	return failure(ctx, tx.Commit(ctx))
}

// clock is the server's, so that all machines have the same.
const clock = `(extract(epoch from clock_timestamp()) * 1000000)::bigint`

// text puts the schema before each name of ours.
func (d *database) text(s string) string {
	return rows.WithClock(strings.ReplaceAll(s, "hfs_", d.schema+".hfs_"), clock)
}

// A runner runs statements in a transaction, all of a call in one round trip.
type runner struct {
	d  *database
	tx pgx.Tx
}

func (r runner) run(ctx context.Context, stmts ...rows.Stmt) error {
	var b pgx.Batch
	for _, s := range stmts {
		b.Queue(r.d.text(s.Text), s.Args...)
	}
	results := r.tx.SendBatch(ctx, &b)
	for _, s := range stmts {
		if err := r.one(results, s); err != nil {
			results.Close() // the first error says why
			return failure(ctx, err)
		}
	}
	return failure(ctx, results.Close())
}

func (r runner) one(results pgx.BatchResults, s rows.Stmt) error {
	if s.Each == nil {
		_, err := results.Exec()
		return err
	}
	found, err := results.Query()
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		if err := s.Each(found.Scan); err != nil {
			return fmt.Errorf("%w: %w", session.ErrCorrupt, err)
		}
	}
	return found.Err()
}
