package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/longterm/internal/rowstest"
	"github.com/holdfast-go/holdfast/memory/longterm/longtermtest"
	"github.com/holdfast-go/holdfast/memory/longterm/postgres"
	"github.com/holdfast-go/holdfast/memory/session"
	sessions "github.com/holdfast-go/holdfast/memory/session/postgres"
	"github.com/jackc/pgx/v5"
)

func openAt(t *testing.T, url string, o postgres.Options) *longterm.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore(t *testing.T) {
	t.Parallel()
	url := testserver.Vector(t).URL() + few
	longtermtest.Run(t, func(t *testing.T, o longterm.Options) *longterm.Store {
		return openAt(t, url, postgres.Options{Schema: fresh(t), Longterm: o}) // of its own: cases work off each other's jobs
	})
}

// Report 153: through PgBouncer in transaction mode, with vectors found by index.
func TestPooler(t *testing.T) {
	t.Parallel()
	url := testserver.PgBouncer(t, testserver.Vector(t), "postgres", 10)
	longtermtest.Run(t, func(t *testing.T, o longterm.Options) *longterm.Store {
		return openAt(t, url+few, postgres.Options{Schema: fresh(t), Longterm: o, Pooler: true, Exact: -1})
	})
}

// R80: faults at each point of the way from an exchange to its facts.
func TestFaults(t *testing.T) {
	t.Parallel()
	longtermtest.Faults(t, func(t *testing.T) longterm.Backend {
		return backend(t, testserver.Vector(t).URL()+few, postgres.Options{Schema: fresh(t), Longterm: embeds})
	})
}

// said is a fact that the user told.
func said(text string) longterm.Draft {
	return longterm.Draft{
		Namespace: "bench", Kind: longterm.Semantic, Text: text, Origin: longterm.FromUser,
		Source: longterm.Source{Conversation: "c", Message: "m", At: time.Now()},
	}
}

// Many stores open on one schema at the same time, with vectors and without; conversations may be in it too. What two of them say at once
// is stored once. // R70
func TestOpenTogether(t *testing.T) {
	t.Parallel()
	schema, url := fresh(t), testserver.Vector(t).URL()+"&pool_max_conns=2"
	sc, a := rowstest.Owner("u")
	var wg sync.WaitGroup
	for i := range 8 {
		o := postgres.Options{Schema: schema, Longterm: longterm.Options{Logger: slog.New(slog.DiscardHandler)}}
		if i%2 == 0 {
			o.Longterm.Embedder, o.Longterm.Space = letters{}, "letters"
		}
		wg.Go(func() {
			s, err := postgres.Open(t.Context(), url, o)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if _, err := s.Add(t.Context(), sc, a, said(fmt.Sprintf("order %d is paid", 7000+i/2))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s := openAt(t, url, postgres.Options{Schema: schema})
	items, err := s.List(t.Context(), sc, a, longterm.Page{})
	if err != nil || len(items) != 4 {
		t.Errorf("%d items, %v", len(items), err)
	}
	c, err := sessions.Open(t.Context(), url, sessions.Options{Schema: schema, Session: session.Options{}})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

// letters is an embedder that counts letters.
type letters struct{}

func (letters) EmbedDocuments(_ context.Context, texts []string) (out [][]float32, err error) {
	for _, t := range texts {
		v := make([]float32, 26)
		for _, r := range strings.ToLower(t) {
			if r >= 'a' && r <= 'z' {
				v[r-'a']++
			}
		}
		v[0]++
		out = append(out, v)
	}
	return out, nil
}

func (l letters) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	out, err := l.EmbedDocuments(ctx, []string{text})
	return out[0], err
}

// R113: nothing of an erased user is in any table, also where the store that erases has no embedder and the one that wrote had.
func TestErase(t *testing.T) {
	t.Parallel()
	schema, pg := fresh(t), testserver.Vector(t)
	url := pg.URL() + few
	bob, a := rowstest.Owner("bob")
	eve, _ := rowstest.Owner("eve")
	plain := openAt(t, url, postgres.Options{Schema: schema})
	s := openAt(t, url, postgres.Options{Schema: schema, Longterm: longterm.Options{Embedder: letters{}, Space: "letters"}})
	for _, sc := range []memory.Scope{bob, eve} {
		if _, err := s.Add(t.Context(), sc, a, said("the warehouse in Lyon closes at six")); err != nil {
			t.Fatal(err)
		}
	}
	if err := plain.Erase(t.Context(), bob); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), pg.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, table := range []string{"item", "depend", "index", "shelf", "job", "scope", "vector"} {
		var his, hers int
		query := fmt.Sprintf(`select count(*) filter (where usr = 'bob'), count(*) filter (where usr = 'eve') from %s.hfl_%s`, schema, table)
		if err := conn.QueryRow(t.Context(), query).Scan(&his, &hers); err != nil {
			t.Fatal(err)
		}
		if his != 0 || hers == 0 && table != "depend" && table != "job" {
			t.Errorf("%s: %d rows of who was erased, %d of another", table, his, hers)
		}
	}
}

// While one user says and forgets things in many conversations and is erased nobody waits for ever, and what is left is whole.
func TestNoDeadlock(t *testing.T) {
	t.Parallel()
	s := openAt(t, testserver.Postgres(t).URL()+"&pool_max_conns=16", postgres.Options{Schema: fresh(t), Longterm: longtermtest.WorkOptions()})
	sc, a := rowstest.Owner("u")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 10 {
				out, err := s.Add(t.Context(), sc, a, said(fmt.Sprintf("order %d is paid", i*5+j)))
				if err == nil {
					err = s.Forget(t.Context(), sc, a, out[0].ID)
				}
				if err != nil && !errors.Is(err, longterm.ErrNotFound) && !errors.Is(err, memory.ErrErased) {
					t.Error(err)
				}
				if _, err := s.Drain(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Go(func() {
		for range 5 {
			if err := errors.Join(s.Erase(t.Context(), sc), s.Readmit(t.Context(), sc)); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	if _, err := s.Add(t.Context(), sc, a, said("order 9999 is paid")); err != nil {
		t.Error(err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	url := testserver.Postgres(t).URL() + few
	for _, schema := range []string{"Upper", "a b", "pg_x", `x"; drop`, strings.Repeat("x", 64)} {
		if _, err := postgres.Open(t.Context(), url, postgres.Options{Schema: schema}); !errors.Is(err, longterm.ErrOptions) {
			t.Errorf("schema %q: %v", schema, err)
		}
	}
	o := postgres.Options{Schema: fresh(t)}
	openAt(t, url, o)
	script(t, testserver.Postgres(t).URL(), "insert into "+o.Schema+".hfl_version(n) values (1000)")
	if _, err := postgres.Open(t.Context(), url, o); !errors.Is(err, longterm.ErrNewerFormat) {
		t.Errorf("a newer schema: %v", err)
	}
	o = postgres.Options{Schema: fresh(t), Longterm: longterm.Options{Attempts: -1}}
	if _, err := postgres.Open(t.Context(), url, o); !errors.Is(err, longterm.ErrOptions) {
		t.Errorf("a negative limit: %v", err)
	}
	if _, err := postgres.Open(t.Context(), "postgres://127.0.0.1:1/x?sslmode=disable", postgres.Options{}); !errors.Is(err, longterm.ErrUnavailable) {
		t.Errorf("no server: %v", err)
	}
}

// R86, R87: a role that may not make the extension is told how to get it; without an embedder it needs none. Where an administrator has made it,
// in a schema that is not in the search path, it is found.
func TestExtension(t *testing.T) {
	t.Parallel()
	pg := testserver.Vector(t)
	name := fresh(t) // of a database and a role
	script(t, pg.URL(), "create role "+name+" login")
	script(t, pg.URL(), "create database "+name+" owner "+name)
	t.Cleanup(func() {
		script(t, pg.URL(), "drop database "+name+" (force)")
		script(t, pg.URL(), "drop role "+name)
	})
	admin := strings.Replace(pg.URL(), "/postgres?", "/"+name+"?", 1)
	url := strings.Replace(admin, "postgres@", name+"@", 1) + few
	o := postgres.Options{Longterm: longterm.Options{Embedder: letters{}, Space: "letters"}, Exact: -1}
	if _, err := postgres.Open(t.Context(), url, o); !errors.Is(err, postgres.ErrVectors) {
		t.Errorf("no extension: %v", err)
	}
	openAt(t, url, postgres.Options{}).Close()
	script(t, admin, "create schema elsewhere; grant usage on schema elsewhere to "+name+"; create extension vector schema elsewhere")
	s := openAt(t, url, o)
	sc, a := rowstest.Owner("u")
	if _, err := s.Add(t.Context(), sc, a, said("the warehouse in Lyon closes at six")); err != nil {
		t.Fatal(err)
	}
	hits, err := s.Search(t.Context(), sc, a, longterm.Query{Text: "yon arehouse Ln i the wcloses t ax sie"})
	if err != nil || len(hits) != 1 || hits[0].Why.Vector != 1 {
		t.Errorf("%+v, %v", hits, err)
	}
}

// A reply that is lost leaves open whether the write happened; the same write again settles it. // R69
func TestLostReply(t *testing.T) {
	t.Parallel()
	pg := testserver.Postgres(t)
	proxy := testserver.NewProxy(t, pg.Addr())
	url := strings.Replace(pg.URL(), pg.Addr(), proxy.Addr(), 1)
	s := openAt(t, url+few, postgres.Options{Schema: fresh(t)})
	sc, a := rowstest.Owner("u")
	lost := 0
	for i := range 20 {
		proxy.DropReply(i%9 + 1)
		_, err := s.Add(t.Context(), sc, a, said(fmt.Sprintf("order %d is paid", 7000+i)))
		if err == nil {
			continue
		}
		if lost++; !errors.Is(err, longterm.ErrUnavailable) {
			t.Fatalf("a lost reply: %v", err)
		}
		for err != nil { // the test's deadline ends it
			_, err = s.Add(t.Context(), sc, a, said(fmt.Sprintf("order %d is paid", 7000+i)))
		}
	}
	items, err := s.List(t.Context(), sc, a, longterm.Page{})
	if err != nil || len(items) != 20 || lost == 0 {
		t.Errorf("%d items after %d lost replies, %v", len(items), lost, err)
	}
}
