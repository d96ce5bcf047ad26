package postgres_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/longterm/internal/rowstest"
	"github.com/holdfast-go/holdfast/memory/longterm/postgres"
	"github.com/holdfast-go/holdfast/memory/search"
	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"
)

const (
	dims  = 128
	users = 100
)

// A crowd is vectors of many users, of whom the first has a thousandth. As those of texts they do not fill the space: they are made of
// few directions, and of some noise. (Of noise alone no index finds much.)
type crowd struct {
	r          *rand.Rand
	directions [16][dims]float64
	first      [][]float32
}

func newCrowd() *crowd {
	c := &crowd{r: rand.New(rand.NewPCG(7, 8))}
	for i := range c.directions {
		for j := range c.directions[i] {
			c.directions[i][j] = c.r.NormFloat64()
		}
	}
	return c
}

func (c *crowd) vector() []float32 {
	var sum [dims]float64
	for _, d := range c.directions {
		by := c.r.NormFloat64()
		for i, x := range d {
			sum[i] += by * x
		}
	}
	v := make([]float32, dims)
	for i, x := range sum {
		v[i] = float32(x + c.r.NormFloat64()/2)
	}
	return v
}

// fill gives n vectors to users in a schema, at once: one after the other they would be put into the index, which takes minutes.
func (c *crowd) fill(t testing.TB, schema string, n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), testserver.Vector(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	i := 0
	rows := pgx.CopyFromFunc(func() ([]any, error) {
		if i++; i > n {
			return nil, nil
		}
		user, v := 1+i%(users-1), c.vector()
		if i <= n/1000 {
			user = 0
			c.first = append(c.first, v)
		}
		return []any{"bench", fmt.Sprint("u", user), postgres.HashOf("space"), "0/bench", int64(i), int64(dims), pgvector.NewVector(v).String()}, nil
	})
	if _, err := conn.Exec(t.Context(), "create temp table v(tenant text, usr text, space text, shelf text, no bigint, dims bigint, v text)"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.CopyFrom(t.Context(), pgx.Identifier{"v"}, []string{"tenant", "usr", "space", "shelf", "no", "dims", "v"}, rows); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "insert into "+schema+".hfl_vector select tenant, usr, space, shelf, no, dims, v::vector from v"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "analyze "+schema+".hfl_vector"); err != nil {
		t.Fatal(err)
	}
}

// exact are the numbers of the first user's vectors that are nearest.
func (c *crowd) exact(q []float32, k int) []uint32 {
	nos := make([]uint32, len(c.first))
	scores := map[uint32]float64{}
	for i, v := range c.first {
		nos[i] = uint32(i + 1)
		scores[nos[i]] = cosine(q, v)
	}
	slices.SortFunc(nos, func(a, b uint32) int { return cmp.Compare(scores[b], scores[a]) })
	return nos[:min(k, len(nos))]
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab, aa, bb = ab+float64(a[i])*float64(b[i]), aa+float64(a[i])*float64(a[i]), bb+float64(b[i])*float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

// R87: of many vectors of many users, a user with a thousandth of them gets the nearest of their own, by index as by looking at each.
func TestRecall(t *testing.T) {
	t.Parallel()
	n := 100_000
	if testing.Short() {
		n = 10_000
	}
	schema, url := fresh(t), testserver.Vector(t).URL()+few
	c := newCrowd()
	openAt(t, url, postgres.Options{Schema: schema, Longterm: embeds}).Close() // makes the table
	c.fill(t, schema, n)
	start := time.Now()
	for name, exact := range map[string]int{"by index": -1, "by looking": 0} {
		b := backend(t, url, postgres.Options{Schema: schema, Longterm: embeds, Exact: exact})
		put(t, b, "u1", uint32(n+1), c.vector()) // the first of this process makes the index
		recall, took := c.recall(t, b)
		t.Logf("%s: recall@10 %.3f of %d vectors in %v a search (%v since they were there)", name, recall, n, took, time.Since(start).Round(time.Second))
		if recall < 0.95 || exact == 0 && recall < 1 {
			t.Errorf("%s: recall@10 is %.3f", name, recall)
		}
	}
	used(t, schema)
}

func put(t *testing.T, b longterm.Backend, user string, no uint32, v []float32) {
	t.Helper()
	sc, _ := rowstest.Owner(user)
	if err := b.Update(t.Context(), sc, func(tx longterm.Tx) error {
		return tx.PutVectors(t.Context(), "0/bench", "space", map[uint32][]float32{no: v})
	}); err != nil {
		t.Fatal(err)
	}
}

func (c *crowd) recall(t *testing.T, b longterm.Backend) (recall float64, took time.Duration) {
	t.Helper()
	sc, _ := rowstest.Owner("u0")
	const queries = 20
	for range queries {
		q := c.vector()
		start := time.Now()
		hits := nearest(t, b, sc, q, 10)
		took += time.Since(start) / queries
		want := c.exact(q, 10)
		found := 0
		for _, h := range hits {
			if slices.Contains(want, h.No) {
				found++
			}
		}
		recall += float64(found) / float64(len(want)) / queries
	}
	return recall, took
}

func nearest(t *testing.T, b longterm.Backend, sc memory.Scope, q []float32, limit int) (hits []search.Hit) {
	t.Helper()
	if err := b.View(t.Context(), sc, func(tx longterm.Tx) (err error) {
		hits, err = tx.Nearest(t.Context(), []string{"0/bench"}, "space", q, limit)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return hits
}

// used fails unless the HNSW index was used. The server tells when the connections have ended, or a moment later.
func used(t *testing.T, schema string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), testserver.Vector(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for {
		var scans int
		if err := conn.QueryRow(t.Context(), `select coalesce(sum(idx_scan), -1) from pg_stat_user_indexes
			where schemaname = $1 and indexrelname like 'hfl_vector_%_128'`, schema).Scan(&scans); err != nil {
			t.Fatal(err)
		}
		if scans > 0 {
			return
		}
		if scans < 0 {
			t.Fatal("there is no index")
		}
	}
}
