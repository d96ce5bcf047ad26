package pgdb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	pgxvector "github.com/pgvector/pgvector-go/pgx"
)

// ErrVectors is returned by an open that needs pgvector for a database that has not got it.
var ErrVectors = errors.New("postgres: vectors need the extension pgvector, 0.8 or newer: install it on the server " +
	"(on Debian the package postgresql-N-pgvector) and run \"create extension vector\" as a superuser, or set no embedder")

// prepareVectors makes the extension if it is not there, and has connections know its types from now on.
func (d *DB) prepareVectors(ctx context.Context) error {
	schema, version, err := d.extension(ctx)
	if err == nil && schema == "" {
		_, err = d.pool.Exec(ctx, `create extension if not exists vector`)
		switch Code(err) {
		case "23505", "42710": // another process was faster
			err = nil
		case "58P01", "0A000", "42501": // not on the server; not a superuser
			return fmt.Errorf("%w: %w", ErrVectors, err)
		}
		if err == nil {
			schema, version, err = d.extension(ctx)
		}
	}
	if err != nil {
		return err
	}
	if !recent(version) {
		return fmt.Errorf("%w: this is %s", ErrVectors, version)
	}
	d.extensionSchema = schema
	d.texts.Words["vector"] = quoted(schema) + ".vector"
	d.texts.Words["halfvec"] = quoted(schema) + ".halfvec"
	d.texts.Words["cosine"] = "operator(" + quoted(schema) + ".<=>)"
	d.pool.Reset() // the connections so far do not know the types
	return nil
}

// extension returns the schema that the extension is in, empty if it is not there, and its version.
func (d *DB) extension(ctx context.Context) (schema, version string, err error) {
	err = d.pool.QueryRow(ctx, `select n.nspname, e.extversion from pg_extension e join pg_namespace n on n.oid = e.extnamespace
		where e.extname = 'vector'`).Scan(&schema, &version)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return schema, version, err
}

// recent reports whether a version can go on with a scan of an index until enough rows pass the other conditions, which 0.8 began.
func recent(version string) bool {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	m, err := strconv.Atoi(major)
	n, err2 := strconv.Atoi(minor)
	return err == nil && err2 == nil && (m > 0 || n >= 8)
}

// registerTypes has a connection know the types of the extension, once that is there. They are looked for in its schema, which need
// not be in the search path.
func (d *DB) registerTypes(ctx context.Context, c *pgx.Conn) error {
	if d.extensionSchema == "" {
		return nil
	}
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "set local search_path to "+quoted(d.extensionSchema)); err != nil {
			return err
		}
		return pgxvector.RegisterTypes(ctx, c)
	})
}

// Script runs statements that change tables, in a transaction that is alone with the box. Names of its tables need no schema, and the
// types of pgvector none either.
func (d *DB) Script(ctx context.Context, text string) error {
	path := quoted(d.schema)
	if d.extensionSchema != "" {
		path += ", " + quoted(d.extensionSchema)
	}
	return d.failure(ctx, d.alone(ctx, func(tx pgx.Tx) error {
		_, err := tx.Conn().PgConn().Exec(ctx, "set local search_path to "+path+";\n"+text).ReadAll()
		return err
	}))
}
