// Package pgdb is sqldb over a Postgres database.
package pgdb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Options of a database.
type Options struct {
	Schema  string // holds the tables; default "holdfast". Open makes it if it is not there
	Vectors bool   // pgvector is needed
	Pooler  bool   // a pooler gives a connection to each transaction: no statement is prepared, nothing is set for a session
}

var schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// A DB is a schema of a database.
type DB struct {
	box    sqldb.Box
	texts  *sqldb.Texts
	pool   *pgxpool.Pool
	schema string

	extensionSchema string // of pgvector; empty: it was not asked for
}

var _ sqldb.DB = (*DB)(nil)

// words are those of Postgres. The clock is the server's, so that all machines have the same.
func words() sqldb.Words {
	return sqldb.Words{
		"now":   `(extract(epoch from clock_timestamp()) * 1000000)::bigint`,
		"in":    `= any($::text[])`,
		"ints":  `= any($::bigint[])`,
		"share": `pg_advisory_xact_lock_shared(hashtextextended($, 0))`,
		"alone": `pg_advisory_xact_lock(hashtextextended($, 0))`,
		"lock":  `for update`,
		"skip":  `for update skip locked`,
	}
}

// Open connects to a database and brings the tables of a box up to date. Where the context has no deadline it gives up after a
// minute.
func Open(ctx context.Context, url string, box sqldb.Box, o Options) (*DB, error) {
	o.Schema = cmp.Or(o.Schema, "holdfast")
	if !schemaName.MatchString(o.Schema) || strings.HasPrefix(o.Schema, "pg_") {
		return nil, fmt.Errorf("%w: schema %q: use small letters, digits and _", box.Errors.Options, o.Schema)
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Minute)
		defer cancel()
	}
	d := &DB{box: box, texts: &sqldb.Texts{Words: words(), Prefix: box.Prefix, Schema: quoted(o.Schema)}, schema: o.Schema}
	if err := d.open(ctx, url, o); err != nil {
		return nil, fmt.Errorf("postgres: open: %w", err)
	}
	return d, nil
}

func (d *DB) open(ctx context.Context, url string, o Options) error {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return err
	}
	if o.Pooler {
		cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	cfg.AfterConnect = d.registerTypes
	if d.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return d.failure(ctx, err)
	}
	if err := d.suits(ctx); err != nil {
		return errors.Join(err, d.Close())
	}
	if o.Vectors {
		if err := d.prepareVectors(ctx); err != nil {
			return errors.Join(d.failure(ctx, err), d.Close())
		}
	}
	if err := d.migrate(ctx); err != nil {
		return errors.Join(d.failure(ctx, err), d.Close())
	}
	return nil
}

// suits refuses a database that would change what it is given.
func (d *DB) suits(ctx context.Context) error {
	var encoding string
	if err := d.pool.QueryRow(ctx, `select current_setting('server_encoding')`).Scan(&encoding); err != nil {
		return d.failure(ctx, err)
	}
	if encoding != "UTF8" {
		return fmt.Errorf("%w: the encoding of the database is %s, UTF8 is needed", d.box.Errors.Options, encoding)
	}
	return nil
}

func (d *DB) failure(ctx context.Context, err error) error { return failure(ctx, d.box.Errors, err) }

// Close implements sqldb.DB.
func (d *DB) Close() error {
	d.pool.Close()
	return nil
}

// Read implements sqldb.DB.
func (d *DB) Read(ctx context.Context, f func(sqldb.Run) error) error {
	return d.within(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, f)
}

// Write implements sqldb.DB. What a statement waited for it must look at again afterwards, which only this level does.
func (d *DB) Write(ctx context.Context, f func(sqldb.Run) error) error {
	return d.within(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, f)
}

// Remove implements sqldb.DB. Who is in the middle of writing what is removed makes it collide and look again.
func (d *DB) Remove(ctx context.Context, f func(sqldb.Run) error) error {
	return d.within(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, f)
}

// tries is how often a transaction is begun that collides with others.
const tries = 5

func (d *DB) within(ctx context.Context, o pgx.TxOptions, f func(sqldb.Run) error) (err error) {
	for range tries {
		err = d.once(ctx, o, f)
		if !collided(err) {
			return err
		}
	}
	return err
}

func (d *DB) once(ctx context.Context, o pgx.TxOptions, f func(sqldb.Run) error) error {
	tx, err := d.pool.BeginTx(ctx, o)
	if err != nil {
		return d.failure(ctx, err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) // does nothing after a commit
	if err := f(runner{d, tx}.run); err != nil {
		return err
	}
	return d.failure(ctx, tx.Commit(ctx))
}

// A runner runs statements in a transaction, all of a call in one round trip.
type runner struct {
	d  *DB
	tx pgx.Tx
}

func (r runner) run(ctx context.Context, stmts ...sqldb.Stmt) error {
	var b pgx.Batch
	for _, s := range stmts {
		for _, args := range s.Runs() {
			b.Queue(r.d.texts.Of(s.Text), bind(args)...)
		}
	}
	results := r.tx.SendBatch(ctx, &b)
	for _, s := range stmts {
		for range s.Runs() {
			if err := r.one(results, s); err != nil {
				results.Close() // the first error says why
				return r.d.failure(ctx, err)
			}
		}
	}
	return r.d.failure(ctx, results.Close())
}

// bind makes of no bytes an empty column instead of NULL.
func bind(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		switch v := a.(type) {
		case []byte:
			if out[i] = v; v == nil {
				out[i] = []byte{}
			}
		default:
			out[i] = a
		}
	}
	return out
}

func (r runner) one(results pgx.BatchResults, s sqldb.Stmt) error {
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
			return fmt.Errorf("%w: %w", r.d.box.Errors.Corrupt, err)
		}
	}
	return found.Err()
}
