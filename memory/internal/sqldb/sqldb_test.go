package sqldb_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/internal/sqldb/pgdb"
	"github.com/holdfast-go/holdfast/memory/internal/sqldb/sqlitedb"
	"github.com/jackc/pgx/v5"
)

var sentinels = sqldb.Errors{
	Unavailable: errors.New("unavailable"), Corrupt: errors.New("corrupt"),
	NewerFormat: errors.New("newer format"), Options: errors.New("options"),
}

// box has as many migrations as are given.
func box(scripts ...string) sqldb.Box {
	files := fstest.MapFS{}
	for i, s := range scripts {
		files[fmt.Sprintf("%04d_x.sql", i+1)] = &fstest.MapFile{Data: []byte(s)}
	}
	return sqldb.Box{Prefix: "hfx_", Migrations: fs.FS(files), Errors: sentinels}
}

const (
	pgTables     = `create table hfx_version(n int not null primary key); create table hfx_row(id text primary key, data bytea not null, n bigint not null)`
	sqliteTables = `create table hfx_row(id text primary key, data blob not null, n integer not null)`
)

// A place opens the same database again and again. sqliteTables are of SQLite's own migrations.
type place struct {
	tables string
	open   func(t *testing.T, b sqldb.Box) (sqldb.DB, error)
}

// everywhere runs a test on each database.
func everywhere(t *testing.T, f func(t *testing.T, p place)) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "x.db")
		f(t, place{sqliteTables, func(t *testing.T, b sqldb.Box) (sqldb.DB, error) {
			d, err := sqlitedb.Open(path, b, sqlitedb.Options{Wipe: true})
			return d, err
		}})
	})
	for name, pooler := range map[string]bool{"postgres": false, "pgbouncer": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pg := testserver.Postgres(t)
			url := pg.URL()
			if pooler {
				url = testserver.PgBouncer(t, pg, "postgres", 4)
			}
			o := pgdb.Options{Schema: "t_" + strings.ToLower(rand.Text()), Pooler: pooler}
			t.Cleanup(func() { dropSchema(t, pg.URL(), o.Schema) })
			f(t, place{pgTables, func(t *testing.T, b sqldb.Box) (sqldb.DB, error) {
				d, err := pgdb.Open(t.Context(), url+"&pool_max_conns=4", b, o)
				return d, err
			}})
		})
	}
}

func dropSchema(t *testing.T, url, schema string) {
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(context.Background(), "drop schema if exists "+schema+" cascade"); err != nil {
		t.Error(err)
	}
}

func (p place) must(t *testing.T, b sqldb.Box) sqldb.DB {
	t.Helper()
	d, err := p.open(t, b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// texts reads a column of texts.
func texts(out *[]string) func(scan func(...any) error) error {
	return func(scan func(...any) error) error {
		var s string
		err := scan(&s)
		*out = append(*out, s)
		return err
	}
}

// The words in braces mean the same everywhere, for any bytes and for lists of none.
func TestWords(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		d, ctx := p.must(t, box(p.tables)), t.Context()
		many := [][]any{{"a", []byte{0, 0xff}, int64(1)}, {"b", []byte(nil), int64(2)}, {"引号\"'\\", []byte("x"), int64(3)}}
		insert := sqldb.ExecMany(`insert into hfx_row(id, data, n) values ($1, $2, $3)`, many)
		if err := d.Write(ctx, func(run sqldb.Run) error { return run(ctx, insert) }); err != nil {
			t.Fatal(err)
		}
		var in, none, absent, ints, noInts []string
		var now int64
		err := d.Read(ctx, func(run sqldb.Run) error {
			return run(ctx,
				sqldb.Query(`select id from hfx_row where id {in $1} order by n`, texts(&in), []string{"引号\"'\\", "a", "x"}),
				sqldb.Query(`select id from hfx_row where id {in $1}`, texts(&none), []string{}),
				sqldb.Query(`select id from hfx_row where id {in $1}`, texts(&absent), []string(nil)),
				sqldb.Query(`select id from hfx_row where n < $1 and n {ints $2} order by n`, texts(&ints), int64(3), []int64{1, 2, 3}),
				sqldb.Query(`select id from hfx_row where n {ints $1}`, texts(&noInts), []int64(nil)),
				sqldb.Query(`select {now}`, func(scan func(...any) error) error { return scan(&now) }))
		})
		if err != nil || !slices.Equal(in, []string{"a", "引号\"'\\"}) || !slices.Equal(ints, []string{"a", "b"}) || none != nil || absent != nil || noInts != nil {
			t.Errorf("in %q, ints %q, none %q, %q and %q, %v", in, ints, none, absent, noInts, err)
		}
		if gap := time.Since(sqldb.At(now)).Abs(); gap > time.Minute {
			t.Errorf("the clock is off by %v", gap)
		}
	})
}

// An error of f undoes all that it wrote, and comes back as it is.
func TestUndo(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		d, ctx, own := p.must(t, box(p.tables)), t.Context(), errors.New("own")
		insert := sqldb.Exec(`insert into hfx_row(id, data, n) values ('a', $1, 1)`, []byte("x"))
		for _, do := range []func(context.Context, func(sqldb.Run) error) error{d.Write, d.Remove} {
			err := do(ctx, func(run sqldb.Run) error { return errors.Join(run(ctx, insert), own) })
			if !errors.Is(err, own) || errors.Is(err, sentinels.Unavailable) {
				t.Errorf("%v", err)
			}
		}
		var ids []string
		err := d.Read(ctx, func(run sqldb.Run) error { return run(ctx, sqldb.Query(`select id from hfx_row`, texts(&ids))) })
		if err != nil || ids != nil {
			t.Errorf("%q, %v", ids, err)
		}
		if err := d.Read(ctx, func(run sqldb.Run) error { return run(ctx, insert) }); err == nil {
			t.Error("a read wrote")
		}
		err = d.Write(ctx, func(run sqldb.Run) error {
			return run(ctx, insert, sqldb.Query(`select data from hfx_row`, func(scan func(...any) error) error { return scan(new(time.Time)) }))
		})
		if !errors.Is(err, sentinels.Corrupt) {
			t.Errorf("a column of another type: %v", err)
		}
		late, cancel := context.WithCancel(ctx)
		cancel()
		if err := d.Read(late, func(run sqldb.Run) error { return run(late, insert) }); !errors.Is(err, sentinels.Unavailable) {
			t.Errorf("a context that has ended: %v", err)
		}
	})
}

// Migrations are applied once, also by several that open at the same time; a newer format is left alone.
func TestMigrations(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		old, now := box(p.tables), box(p.tables, `alter table hfx_row add column more bigint not null default 7`)
		p.must(t, old).Close()
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				d, err := p.open(t, now)
				if err != nil {
					t.Error(err)
					return
				}
				d.Close()
			})
		}
		wg.Wait()
		var versions []string
		d, ctx := p.must(t, now), t.Context()
		err := d.Read(ctx, func(run sqldb.Run) error {
			return run(ctx, sqldb.Query(`select cast(n as text) from hfx_version order by n`, texts(&versions)))
		})
		if err != nil || !slices.Equal(versions, []string{"1", "2"}) {
			t.Errorf("%q, %v", versions, err)
		}
		if _, err := p.open(t, old); !errors.Is(err, sentinels.NewerFormat) {
			t.Errorf("a newer format: %v", err)
		}
	})
}

// Who adds up under a lock of a row never loses an addition.
func TestCollisions(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		a, b, ctx := p.must(t, box(p.tables)), p.must(t, box(p.tables)), t.Context()
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				d := []sqldb.DB{a, b}[i%2]
				do := []func(context.Context, func(sqldb.Run) error) error{d.Write, d.Remove}[i/2%2]
				if err := do(ctx, func(run sqldb.Run) error {
					return run(ctx, sqldb.Exec(`insert into hfx_row as r(id, data, n) values ('a', $1, 1)
						on conflict (id) do update set n = r.n + 1`, []byte("x")))
				}); err != nil && !errors.Is(err, sentinels.Unavailable) {
					t.Error(err)
				} else if err != nil { // collided too often: the same again
					if err := d.Write(ctx, func(run sqldb.Run) error { return run(ctx, sqldb.Exec(`update hfx_row set n = n + 1`)) }); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		var n int64
		err := a.Read(ctx, func(run sqldb.Run) error {
			return run(ctx, sqldb.Query(`select n from hfx_row`, func(scan func(...any) error) error { return scan(&n) }))
		})
		if err != nil || n != 40 {
			t.Errorf("%d, %v", n, err)
		}
	})
}

// What was deleted is nowhere in the files once the log is folded in.
func TestWipe(t *testing.T) {
	t.Parallel()
	path, ctx := filepath.Join(t.TempDir(), "x.db"), t.Context()
	d, err := sqlitedb.Open(path, box(sqliteTables), sqlitedb.Options{Wipe: true})
	if err != nil {
		t.Fatal(err)
	}
	canary := []byte("canary-canary-canary")
	var many [][]any
	for i := range 500 {
		many = append(many, []any{fmt.Sprint(string(canary), i), bytes.Repeat(canary, i), int64(i)})
	}
	err = d.Write(ctx, func(run sqldb.Run) error {
		return run(ctx, sqldb.ExecMany(`insert into hfx_row(id, data, n) values ($1, $2, $3)`, many))
	})
	if err == nil {
		err = d.Write(ctx, func(run sqldb.Run) error { return run(ctx, sqldb.Exec(`delete from hfx_row`)) })
	}
	if err := errors.Join(err, d.Close()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + "-wal"} {
		text, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if bytes.Contains(text, canary[:6]) {
			t.Errorf("the canary is in %s", filepath.Base(name))
		}
	}
}
