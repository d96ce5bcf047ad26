package postgres_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/knowledge/knowledgetest"
	"github.com/holdfast-go/holdfast/memory/knowledge/postgres"
	"github.com/jackc/pgx/v5"
)

// fresh names a schema that no other test uses; the test's end drops it.
func fresh(t testing.TB) string {
	t.Helper()
	schema := "t_" + strings.ToLower(rand.Text())
	pg := testserver.Postgres(t)
	t.Cleanup(func() {
		script(t, pg.URL(), "set client_min_messages = warning; drop schema if exists "+schema+" cascade")
	})
	return schema
}

// script runs statements as the superuser.
func script(t testing.TB, url, text string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close(context.Background())
	if _, err := conn.PgConn().Exec(context.Background(), text).ReadAll(); err != nil {
		t.Error(err)
	}
}

// few keeps the many stores of these tests below the connections of the server.
const few = "&pool_max_conns=4"

func openAt(t testing.TB, url string, o postgres.Options) *knowledge.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// R106: the suite, with vectors looked at one by one, and found by index.
func TestStore(t *testing.T) {
	t.Parallel()
	for name, exact := range map[string]int{"exact": 0, "index": -1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			schema, url := fresh(t), testserver.Vector(t).URL()+few
			knowledgetest.Run(t, func(t *testing.T, o knowledge.Options) *knowledge.Store {
				return openAt(t, url, postgres.Options{Schema: schema, Knowledge: o, Exact: exact})
			})
		})
	}
}

// Report 153: through PgBouncer in transaction mode.
func TestPooler(t *testing.T) {
	t.Parallel()
	schema, url := fresh(t), testserver.PgBouncer(t, testserver.Vector(t), "postgres", 10)
	knowledgetest.Run(t, func(t *testing.T, o knowledge.Options) *knowledge.Store {
		return openAt(t, url+few, postgres.Options{Schema: schema, Knowledge: o, Pooler: true})
	})
}

// Many stores open on one schema at the same time, with and without an embedder.
func TestOpenTogether(t *testing.T) {
	t.Parallel()
	schema, url := fresh(t), testserver.Vector(t).URL()+few
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			o := postgres.Options{Schema: schema}
			if i%2 == 0 {
				o.Knowledge = knowledge.Options{Embedder: ones{}, Space: "s"}
			}
			s, err := postgres.Open(t.Context(), url, o)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if err := s.Index(t.Context(), "tenant", knowledge.Document{ID: fmt.Sprint(i), Version: "1", Text: "zebra", Roles: []string{"r"}}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// ones embeds everything in one place.
type ones struct{}

func (ones) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = []float32{1, 1}
	}
	return out, nil
}
func (ones) EmbedQuery(context.Context, string) ([]float32, error) { return []float32{1, 1}, nil }

// A schema of a newer release is left alone, names of schemas are checked, and a server that is not there is unavailable.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	o, pg := postgres.Options{Schema: fresh(t)}, testserver.Postgres(t)
	openAt(t, pg.URL()+few, o).Close()
	script(t, pg.URL(), "insert into "+o.Schema+".hfk_version(n) values (1000)")
	if _, err := postgres.Open(t.Context(), pg.URL(), o); !errors.Is(err, knowledge.ErrNewerFormat) {
		t.Errorf("a newer release: %v", err)
	}
	for _, bad := range []postgres.Options{{Schema: "A"}, {Schema: "pg_x"}, {Schema: fresh(t), Knowledge: knowledge.Options{Floor: -1}}} {
		if _, err := postgres.Open(t.Context(), pg.URL()+few, bad); !errors.Is(err, knowledge.ErrOptions) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if _, err := postgres.Open(t.Context(), "postgres://nobody@127.0.0.1:1/none", postgres.Options{}); !errors.Is(err, knowledge.ErrUnavailable) {
		t.Errorf("no server: %v", err)
	}
}

// R106: a commit whose reply is lost is unavailable, and may be repeated.
func TestLostReplies(t *testing.T) {
	t.Parallel()
	pg := testserver.Postgres(t)
	proxy := testserver.NewProxy(t, pg.Addr())
	url := strings.Replace(pg.URL(), pg.Addr(), proxy.Addr(), 1)
	s := openAt(t, url+few, postgres.Options{Schema: fresh(t)})
	lost := 0
	for i := range 20 {
		d := knowledge.Document{ID: "d", Version: fmt.Sprint(i), Text: fmt.Sprintf("The zebra has number%d.", i), Roles: []string{"r"}}
		proxy.DropReply(i%9 + 1)
		err := s.Index(t.Context(), "tenant", d)
		if err != nil {
			if lost++; !errors.Is(err, knowledge.ErrUnavailable) {
				t.Fatalf("a lost reply: %v", err)
			}
		}
		for err != nil { // the test's deadline ends it
			err = s.Index(t.Context(), "tenant", d)
		}
		r, err := knowledge.NewReader("tenant", "r")
		if err != nil {
			t.Fatal(err)
		}
		var a knowledge.Answer
		for try := time.Duration(0); ; try++ {
			if a, err = s.Retrieve(t.Context(), r, knowledge.Query{Text: "Which number has the zebra?", Limit: 10}); !errors.Is(err, knowledge.ErrUnavailable) {
				break
			}
		}
		if err != nil || len(a.Chunks) != 1 || a.Chunks[0].Version != d.Version {
			t.Fatalf("after version %d: %+v, %v", i, a, err)
		}
	}
	if lost == 0 {
		t.Error("no reply was lost")
	}
}

// R106, R113: what was replaced or withdrawn has left no row.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	o, pg := postgres.Options{Schema: fresh(t), Knowledge: knowledge.Options{Embedder: ones{}, Space: "s"}}, testserver.Vector(t)
	s := openAt(t, pg.URL()+few, o)
	d := knowledge.Document{ID: "d", Version: "1", Text: "# A\n\nzebra\n\n# B\n\ntiger", Roles: []string{"r"}}
	rows := func() (out string) {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), pg.URL())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		for _, table := range []string{"document", "chunk", "vector", "relation", "index"} {
			var n int
			if err := conn.QueryRow(t.Context(), "select count(*) from "+o.Schema+".hfk_"+table).Scan(&n); err != nil {
				t.Fatal(err)
			}
			out += fmt.Sprint(table, n, " ")
		}
		return out
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.Index(t.Context(), "tenant", d))
	must(s.Relate(t.Context(), "tenant", "d", knowledge.Relation{From: "a", Name: "b", To: "c"}))
	if got, want := rows(), "document1 chunk2 vector2 relation1 "; !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	d.Version, d.Text = "2", "zebra"
	must(s.Index(t.Context(), "tenant", d))
	if got, want := rows(), "document2 chunk1 vector1 relation1 "; !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	must(s.Withdraw(t.Context(), "tenant", "d"))
	if got, want := rows(), "document0 chunk0 vector0 relation0 index0 "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	must(s.Index(t.Context(), "tenant", d))
	must(s.Erase(t.Context(), "tenant"))
	if got, want := rows(), "document0 chunk0 vector0 relation0 index0 "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
