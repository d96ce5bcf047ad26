// Package boxes opens the boxes of memory that URLs name. It is for the command holdfast; other programs call the constructors of the back ends
// that they use.
package boxes

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/internal/stores"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/audit"
	auditpostgres "github.com/holdfast-go/holdfast/memory/audit/postgres"
	auditsqlite "github.com/holdfast-go/holdfast/memory/audit/sqlite"
	"github.com/holdfast-go/holdfast/memory/knowledge"
	knowledgepostgres "github.com/holdfast-go/holdfast/memory/knowledge/postgres"
	knowledgesqlite "github.com/holdfast-go/holdfast/memory/knowledge/sqlite"
	"github.com/holdfast-go/holdfast/memory/longterm"
	longtermpostgres "github.com/holdfast-go/holdfast/memory/longterm/postgres"
	longtermsqlite "github.com/holdfast-go/holdfast/memory/longterm/sqlite"
	"github.com/holdfast-go/holdfast/memory/session"
	sessionpostgres "github.com/holdfast-go/holdfast/memory/session/postgres"
	sessionsqlite "github.com/holdfast-go/holdfast/memory/session/sqlite"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// Boxes are the boxes of memory that are kept at some URLs. One that is nowhere is nil.
type Boxes struct {
	Session   *session.Store
	Longterm  *longterm.Store
	Knowledge *knowledge.Store
	Audit     *audit.Log // notes what is done with the others

	opened []io.Closer
}

// Close closes all that was opened.
func (b *Boxes) Close() error {
	var errs []error
	for _, c := range slices.Backward(b.opened) { // the log after those who write to it
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// A place is where boxes are kept: a SQLite file, or a schema of Postgres.
type place struct {
	file        string
	url, schema string
	pooler      bool
	auditor     memory.Auditor // of the boxes that are opened there
}

// Open opens the boxes that are there, each from the first URL that has it: a path, sqlite:path, or postgres:// with ?schema= and
// ?pooler=true. It makes no file and no box. The caller closes them. They search by words alone: there is no embedder. Where one of the
// places has an audit log, what is done with the boxes is noted there.
func Open(ctx context.Context, urls ...string) (*Boxes, error) {
	b := &Boxes{}
	for _, add := range []func(context.Context, string) error{b.addAudit, b.add} { // the boxes are opened with the log
		for _, u := range urls {
			if err := add(ctx, u); err != nil {
				return nil, errors.Join(err, b.Close())
			}
		}
	}
	return b, nil
}

func (b *Boxes) addAudit(ctx context.Context, text string) error {
	p, err := placeOf(text)
	if err != nil || b.Audit != nil {
		return err
	}
	there, err := p.prefixes(ctx)
	if err == nil && there["hfa_"] {
		b.Audit, err = keep(ctx, b, p.audit)
	}
	return err
}

// auditor is nil where there is no log.
func (b *Boxes) auditor() memory.Auditor {
	if b.Audit == nil {
		return nil
	}
	return b.Audit
}

func (b *Boxes) add(ctx context.Context, text string) error {
	p, err := placeOf(text)
	if err != nil {
		return err
	}
	p.auditor = b.auditor()
	there, err := p.prefixes(ctx)
	if err != nil {
		return err
	}
	if there["hfs_"] && b.Session == nil {
		if b.Session, err = keep(ctx, b, p.session); err != nil {
			return err
		}
	}
	if there["hfl_"] && b.Longterm == nil {
		if b.Longterm, err = keep(ctx, b, p.longterm); err != nil {
			return err
		}
	}
	if there["hfk_"] && b.Knowledge == nil {
		if b.Knowledge, err = keep(ctx, b, p.knowledge); err != nil {
			return err
		}
	}
	return nil
}

func keep[S io.Closer](ctx context.Context, b *Boxes, open func(context.Context) (S, error)) (s S, err error) {
	if s, err = open(ctx); err == nil {
		b.opened = append(b.opened, s)
	}
	return s, err
}

func placeOf(text string) (place, error) {
	scheme, rest, _ := strings.Cut(text, ":")
	switch scheme {
	case "postgres", "postgresql":
		u, o, err := stores.Postgres(text)
		return place{url: u, schema: cmp.Or(o.Schema, "holdfast"), pooler: o.Pooler}, err
	case "sqlite":
		text, _, _ = strings.Cut(rest, "?")
	}
	if strings.Contains(text, "://") || text == "" || scheme == "memory" {
		return place{}, fmt.Errorf("boxes: %q is no URL of memory: use a path, sqlite: or postgres://", scheme)
	}
	if _, err := os.Stat(text); err != nil {
		return place{}, fmt.Errorf("boxes: sqlite: %w", err)
	}
	return place{file: text}, nil
}

func (p place) session(ctx context.Context) (*session.Store, error) {
	o := session.Options{Auditor: p.auditor}
	if p.file != "" {
		return sessionsqlite.Open(p.file, sessionsqlite.Options{Session: o})
	}
	return sessionpostgres.Open(ctx, p.url, sessionpostgres.Options{Session: o, Schema: p.schema, Pooler: p.pooler})
}

func (p place) longterm(ctx context.Context) (*longterm.Store, error) {
	o := longterm.Options{Auditor: p.auditor, Logger: slog.New(slog.DiscardHandler)}
	if p.file != "" {
		return longtermsqlite.Open(p.file, longtermsqlite.Options{Longterm: o})
	}
	return longtermpostgres.Open(ctx, p.url, longtermpostgres.Options{Longterm: o, Schema: p.schema, Pooler: p.pooler})
}

func (p place) knowledge(ctx context.Context) (*knowledge.Store, error) {
	o := knowledge.Options{Auditor: p.auditor, Logger: slog.New(slog.DiscardHandler)}
	if p.file != "" {
		return knowledgesqlite.Open(p.file, knowledgesqlite.Options{Knowledge: o})
	}
	return knowledgepostgres.Open(ctx, p.url, knowledgepostgres.Options{Knowledge: o, Schema: p.schema, Pooler: p.pooler})
}

func (p place) audit(ctx context.Context) (*audit.Log, error) {
	if p.file != "" {
		return auditsqlite.Open(p.file, auditsqlite.Options{})
	}
	return auditpostgres.Open(ctx, p.url, auditpostgres.Options{Schema: p.schema, Pooler: p.pooler})
}

// prefixes are those of the boxes that have tables in the place.
func (p place) prefixes(ctx context.Context) (map[string]bool, error) {
	names, err := p.versions(ctx)
	if err != nil {
		return nil, fmt.Errorf("boxes: %w", err)
	}
	there := map[string]bool{}
	for _, n := range names {
		there[strings.TrimSuffix(n, "version")] = true
	}
	return there, nil
}

// versions are the tables with the versions of boxes: every box has one.
func (p place) versions(ctx context.Context) (names []string, err error) {
	if p.file == "" {
		return p.postgresVersions(ctx)
	}
	path, err := filepath.Abs(p.file)
	if err != nil {
		return nil, err
	}
	if path = filepath.ToSlash(path); !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/...
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: "_pragma=query_only(1)&_pragma=busy_timeout(5000)"}).String())
	if err != nil {
		return nil, err
	}
	defer db.Close()
	found, err := db.QueryContext(ctx, `select name from sqlite_master where type = 'table' and name like 'hf_\_version' escape '\'`)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		var name string
		if err := found.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, found.Err()
}

func (p place) postgresVersions(ctx context.Context) (names []string, err error) {
	pool, err := pgxpool.New(ctx, p.url)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	err = pool.QueryRow(ctx, `select coalesce(array_agg(c.relname::text), '{}') from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where n.nspname = $1 and c.relkind = 'r' and c.relname like 'hf_\_version'`, p.schema).Scan(&names)
	return names, err
}
