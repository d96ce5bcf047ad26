package postgres_test

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/postgres"
	"github.com/holdfast-go/holdfast/internal/testserver"
)

// What has expired leaves the table: each put removes a hundred of it, by the clock of the database. // E25
func TestCacheIsSwept(t *testing.T) {
	t.Parallel()
	o := postgres.Options{Schema: fresh()}
	dropAtEnd(t, o.Schema)
	s := open(t, o)
	conn := connect(t, testserver.Postgres(t).URL())
	mustExec(t, conn, `insert into `+o.Schema+`.hf_cache select 't', int4send(n), clock_timestamp() - interval '1 second', 'x' from generate_series(1, 150) n`)
	for i, want := range []int{51, 2} {
		if err := s.CachePut(t.Context(), checkpoint.CacheKey{Tenant: "t", Hash: [32]byte{byte(i)}}, []byte("body"), time.Hour); err != nil {
			t.Fatal(err)
		}
		var n int
		if err := conn.QueryRow(t.Context(), `select count(*) from `+o.Schema+`.hf_cache`).Scan(&n); err != nil || n != want {
			t.Fatalf("%d rows after put %d, want %d; %v", n, i+1, want, err)
		}
	}
}
