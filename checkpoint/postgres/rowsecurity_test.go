package postgres_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/checkpointtest"
	"github.com/holdfast-go/holdfast/checkpoint/postgres"
	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/jackc/pgx/v5"
)

// secured makes a schema with row-level security and a role that may use it. It returns the role's URL.
func secured(t testing.TB) (role string, o postgres.Options) {
	t.Helper()
	pg := testserver.Postgres(t)
	o = postgres.Options{Schema: fresh(), RowSecurity: true}
	dropAtEnd(t, o.Schema)
	if err := postgres.Migrate(t.Context(), pg.URL(), o); err != nil {
		t.Fatal(err)
	}
	admin := connect(t, pg.URL())
	mustExec(t, admin, `create role `+o.Schema+` login;
		grant usage on schema `+o.Schema+` to `+o.Schema+`;
		grant select, insert, update, delete on all tables in schema `+o.Schema+` to `+o.Schema)
	t.Cleanup(func() {
		conn, err := pgx.Connect(context.Background(), pg.URL())
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close(context.Background())
		if _, err := conn.Exec(context.Background(), `drop owned by `+o.Schema+`; drop role `+o.Schema); err != nil {
			t.Error(err)
		}
	})
	return as(t, pg.URL(), o.Schema), o
}

// as is a URL with another user.
func as(t testing.TB, server, user string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User(user)
	return u.String()
}

// C10: the whole suite under row-level security, on few connections, where a setting that stayed would be seen by the next
// call. Only the lists over all tenants are refused.
func TestRowSecurity(t *testing.T) {
	t.Parallel()
	role, o := secured(t)
	o.SynchronousCommit = postgres.Off // the rules are the same, and the suite is quicker
	t.Run("direct", func(t *testing.T) {
		checkpointtest.Run(t, func(t *testing.T) checkpoint.Store {
			return listing{openAt(t, role+"&pool_max_conns=3", o), t}
		})
	})
	if testing.Short() {
		return
	}
	t.Run("pooler", func(t *testing.T) {
		pooled := o
		pooled.Pooler = true // now all settings are made for each transaction
		url := testserver.PgBouncer(t, testserver.Postgres(t), o.Schema, 5)
		checkpointtest.Run(t, func(t *testing.T) checkpoint.Store { return listing{openAt(t, url, pooled), t} })
	})
}

// A listing answers the suite's one list over all tenants as the store refuses it.
type listing struct {
	*postgres.Store
	t *testing.T
}

func (l listing) Threads(ctx context.Context, f checkpoint.ThreadFilter) ([]checkpoint.Head, error) {
	if f.Tenant != "" {
		return l.Store.Threads(ctx, f)
	}
	if _, err := l.Store.Threads(ctx, f); !errors.Is(err, postgres.ErrTenantRequired) {
		l.t.Errorf("a list over all tenants = %v", err)
	}
	f.Tenant, f.After = f.After.Tenant+"x", checkpoint.Key{}
	return l.Store.Threads(ctx, f)
}

// C10: whoever gets hold of a connection sees one tenant, or nothing.
func TestRowSecurityHoldsByItself(t *testing.T) {
	t.Parallel()
	role, o := secured(t)
	s := openAt(t, role+"&pool_max_conns=1", o)
	for _, tenant := range []string{"a", "b"} {
		key, nonce := checkpoint.Key{Tenant: tenant, Thread: "thread"}, checkpoint.NewNonce()
		if _, err := s.Acquire(t.Context(), &checkpoint.Acquire{Key: key, Nonce: nonce, TTL: time.Hour, Run: &checkpoint.Run{ID: "run", Meta: map[string]string{"k": "v"}}}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Append(t.Context(), entry(key, nonce, 0, []byte("secret of "+tenant))); err != nil {
			t.Fatal(err)
		}
		k := checkpoint.CacheKey{Tenant: tenant}
		if err := s.CachePut(t.Context(), k, []byte("secret of "+tenant), time.Hour); err != nil {
			t.Fatal(err)
		}
		if got, err := s.CacheGet(t.Context(), k); err != nil || string(got) != "secret of "+tenant {
			t.Errorf("cached for tenant %s: %q, %v", tenant, got, err)
		}
		renewed, err := s.Renew(t.Context(), []checkpoint.Lease{{Key: key, Nonce: nonce}, {Key: checkpoint.Key{Tenant: "other", Thread: "thread"}, Nonce: nonce}}, time.Hour)
		if err != nil || renewed[0].Lost || !renewed[1].Lost {
			t.Errorf("Renew = %+v, %v", renewed, err)
		}
	}
	conn := connect(t, role)
	count := func() (n int) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), `select greatest((select count(*) from `+o.Schema+`.hf_record), (select count(*) from `+o.Schema+`.hf_cache))`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count(); n != 0 {
		t.Errorf("without a tenant %d rows are seen", n)
	}
	for tenant, want := range map[string]int{"": 0, "a": 1, "b": 1, "c": 0, "%": 0} {
		mustExec(t, conn, `set holdfast.tenant = '`+tenant+`'`)
		if n := count(); n != want {
			t.Errorf("tenant %q sees %d rows; want %d", tenant, n, want)
		}
	}
	for _, text := range []string{
		`insert into ` + o.Schema + `.hf_inbox values ('b', 'thread', 9, 100, '', now(), '')`,
		`update ` + o.Schema + `.hf_thread set tenant = 'b'`,
		`alter table ` + o.Schema + `.hf_thread disable row level security`,
	} {
		mustExec(t, conn, `set holdfast.tenant = 'a'`)
		if _, err := conn.Exec(t.Context(), text); err == nil {
			t.Errorf("tenant a may %s", text)
		}
	}
}

// C10: a role that the policies do not bind is refused at the start, and so is a store that is bound unasked.
func TestRowSecurityRefusesRoles(t *testing.T) {
	t.Parallel()
	pg := testserver.Postgres(t)
	role, o := secured(t)
	admin := connect(t, pg.URL())
	bypass, owner := o.Schema+"_bypass", o.Schema+"_owner"
	mustExec(t, admin, `create role `+bypass+` login bypassrls; create role `+owner+` login;
		grant usage on schema `+o.Schema+` to `+bypass+`, `+owner)
	t.Cleanup(func() {
		conn := must(pgx.Connect(context.Background(), pg.URL()))
		defer conn.Close(context.Background())
		if _, err := conn.Exec(context.Background(), `drop owned by `+bypass+`, `+owner+`; drop role `+bypass+`, `+owner); err != nil {
			t.Error(err)
		}
	})
	mustExec(t, admin, `grant select on `+o.Schema+`.hf_version to `+bypass+`, `+owner)
	open := func(url string, o postgres.Options) error {
		s, err := postgres.Open(t.Context(), url, o)
		if err == nil {
			s.Close()
		}
		return err
	}
	for _, c := range []struct {
		name, url string
		o         postgres.Options
		want      string
	}{
		{"superuser", pg.URL(), o, "superuser"},
		{"bypass", as(t, pg.URL(), bypass), o, "BYPASSRLS"},
		{"unasked", role, postgres.Options{Schema: o.Schema}, "set Options.RowSecurity"},
	} {
		if err := open(c.url, c.o); !errors.Is(err, postgres.ErrRowSecurity) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Open = %v", c.name, err)
		}
	}
	mustExec(t, admin, `alter table `+o.Schema+`.hf_thread owner to `+owner)
	if err := open(as(t, pg.URL(), owner), o); !errors.Is(err, postgres.ErrRowSecurity) || !strings.Contains(err.Error(), "owns") {
		t.Errorf("owner: Open = %v", err)
	}
	mustExec(t, admin, `alter table `+o.Schema+`.hf_thread no force row level security`)
	if err := open(role, o); !errors.Is(err, postgres.ErrRowSecurity) || !strings.Contains(err.Error(), "Migrate") {
		t.Errorf("not forced: Open = %v", err)
	}
	empty := postgres.Options{Schema: fresh(), RowSecurity: true}
	if err := open(role, empty); !errors.Is(err, postgres.ErrUnsuitable) {
		t.Errorf("no tables: Open = %v", err)
	}
	mustExec(t, admin, `alter table `+o.Schema+`.hf_thread owner to postgres`)
	off := o
	off.RowSecurity = false
	if err := postgres.Migrate(t.Context(), pg.URL(), off); err != nil {
		t.Error(err)
	}
	if err := open(role, off); err != nil {
		t.Errorf("switched off: Open = %v", err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
