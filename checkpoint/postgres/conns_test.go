package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/postgres"
	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/jackc/pgx/v5"
)

// E53, C21: what a call costs in round trips, once its statements are known to the connection.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	for _, pooler := range []bool{false, true} {
		pg := testserver.Postgres(t)
		p := testserver.NewProxy(t, pg.Addr())
		o := postgres.Options{Pooler: pooler, Schema: fresh()}
		dropAtEnd(t, o.Schema)
		s := openAt(t, strings.Replace(pg.URL(), pg.Addr(), p.Addr(), 1)+"&pool_max_conns=1", o)
		var pos int64
		var key checkpoint.Key
		var nonce checkpoint.Nonce
		append1 := func(change func(*checkpoint.Append)) func() error {
			return func() error {
				pos++
				a := entry(key, nonce, pos, []byte("body"))
				change(a)
				pos = a.Records[len(a.Records)-1].Pos
				_, err := s.Append(t.Context(), a)
				return err
			}
		}
		for _, c := range []struct {
			name string
			call func() error
		}{
			{"superstep", append1(func(*checkpoint.Append) {})},
			{"superstep with a snapshot", append1(func(a *checkpoint.Append) {
				r := a.Records[0]
				r.Pos, r.Ord, r.Kind = r.Pos+1, r.Ord+1, checkpoint.KindSnapshot
				a.Records = append(a.Records, r)
			})},
			{"superstep of 40 records", append1(func(a *checkpoint.Append) {
				for range 39 {
					r := a.Records[len(a.Records)-1]
					r.Pos, r.Ord = r.Pos+1, r.Ord+1
					a.Records = append(a.Records, r)
				}
			})},
			{"superstep that takes a command", append1(func(a *checkpoint.Append) { a.Taken = 1 })},
			{"pause that is not released", append1(func(a *checkpoint.Append) {
				a.Seen, a.Park = -1, &checkpoint.Park{Status: checkpoint.Interrupted, Questions: []checkpoint.Question{{ID: "q"}}}
			})},
			{"load", func() error { _, err := s.Load(t.Context(), key, checkpoint.Active, ""); return err }},
			{"renewal", func() error {
				_, err := s.Renew(t.Context(), []checkpoint.Lease{{Key: key, Nonce: nonce}}, time.Hour)
				return err
			}},
			{"post", func() error {
				_, err := s.Post(t.Context(), checkpoint.Command{Key: key, Kind: checkpoint.CommandDrain})
				return err
			}},
		} {
			pos = 0
			key, nonce = start(t, s, "thread for "+c.name)
			if err := c.call(); err != nil { // the statements become known
				t.Fatalf("%s: %v", c.name, err)
			}
			before := p.Requests()
			if err := c.call(); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if n := p.Requests() - before; n != 1 {
				t.Errorf("pooler %v: %s takes %d round trips; want 1", pooler, c.name, n)
			}
		}
		before := p.Requests()
		start(t, s, "another thread")
		if n := p.Requests() - before; n != 1 {
			t.Errorf("pooler %v: a run's start takes %d round trips; want 1", pooler, n)
		}
	}
}

// C11, reports 151, 157: many goroutines share few connections, none is lost, and nothing is left behind.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	o := postgres.Options{Schema: fresh()}
	dropAtEnd(t, o.Schema)
	pg := testserver.Postgres(t)
	s := openAt(t, pg.URL()+"&pool_max_conns=3&application_name="+o.Schema, o)
	admin := connect(t, pg.URL())
	conns := func() (n int) {
		if err := admin.QueryRow(t.Context(), `select count(*) from pg_stat_activity where application_name = $1`, o.Schema).Scan(&n); err != nil {
			t.Error(err)
		}
		return n
	}
	threads, steps := 500, int64(4)
	if testing.Short() {
		threads = 100
	}
	most := 0
	var wg sync.WaitGroup
	for i := range threads {
		wg.Go(func() {
			key, nonce := start(t, s, fmt.Sprint("thread-", i))
			for pos := int64(1); pos <= steps; pos++ {
				if _, err := s.Append(t.Context(), entry(key, nonce, pos, []byte("x"))); err != nil {
					t.Errorf("thread %d: %v", i, err)
				}
			}
			if _, err := s.Renew(t.Context(), []checkpoint.Lease{{Key: key, Nonce: nonce}}, time.Hour); err != nil {
				t.Errorf("thread %d: %v", i, err)
			}
			// A cancelled call may cost its connection, never more than that.
			ctx, cancel := context.WithCancel(t.Context())
			var both sync.WaitGroup
			both.Go(cancel)
			s.Load(ctx, key, 0, "")
			both.Wait()
		})
		if i%20 == 0 {
			most = max(most, conns())
		}
	}
	wg.Wait()
	for i := range threads {
		if n := len(bodies(t, s, checkpoint.Key{Tenant: "tenant", Thread: fmt.Sprint("thread-", i)})); int64(n) != steps+1 {
			t.Errorf("thread %d has %d records", i, n)
		}
	}
	if n := max(most, conns()); n > 2*(3+1) { // the server may see a cancelled one a little longer
		t.Errorf("%d connections; want at most 3 and one for renewals", n)
	}
}

// Report 152: no connection is held between calls. Each is cut while the node works, and the next call does not notice.
func TestNoConnectionIsHeldAcrossANode(t *testing.T) {
	t.Parallel()
	p, s, _ := through(t, postgres.Options{})
	key, nonce := start(t, s, "thread")
	for pos := int64(1); pos <= 10; pos++ {
		p.Cut() // the model is called
		if _, err := s.Append(t.Context(), entry(key, nonce, pos, nil)); err != nil {
			t.Fatalf("position %d: %v", pos, err)
		}
	}
	if got := bodies(t, s, key); len(got) != 11 {
		t.Errorf("%d records; want 11", len(got))
	}
}

// C11, E38: renewals go on while every connection of the pool waits for a lock, and while the own append holds its row.
func TestRenewalIsNotBlocked(t *testing.T) {
	t.Parallel()
	o := postgres.Options{Schema: fresh()}
	dropAtEnd(t, o.Schema)
	pg := testserver.Postgres(t)
	s := openAt(t, pg.URL()+"&pool_max_conns=2", o)
	free, freeNonce := start(t, s, "free")
	other := connect(t, pg.URL())
	tx := must(other.Begin(t.Context()))
	var wg sync.WaitGroup
	var leases []checkpoint.Lease
	for i := range 4 {
		key, nonce := start(t, s, fmt.Sprint("locked-", i))
		leases = append(leases, checkpoint.Lease{Key: key, Nonce: nonce})
	}
	for _, l := range leases {
		if _, err := tx.Exec(t.Context(), `select 1 from `+o.Schema+`.hf_thread where thread = $1 for update`, l.Thread); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			if _, err := s.Append(t.Context(), entry(l.Key, l.Nonce, 1, nil)); err != nil {
				t.Error(err)
			}
		})
	}
	watch := connect(t, pg.URL())
	settle(t, "appends that wait", func() bool {
		var n int
		err := watch.QueryRow(t.Context(), `select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%' || $1 || '%'`, o.Schema).Scan(&n)
		return err == nil && n == 2
	})
	before := must(leaseUntil(t, watch, o.Schema, free.Thread))
	got, err := s.Renew(t.Context(), append(leases, checkpoint.Lease{Key: free, Nonce: freeNonce}, checkpoint.Lease{Key: free, Nonce: checkpoint.NewNonce()}), 5*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range got {
		if r.Lost != (i == 5) {
			t.Errorf("renewal %d: %+v", i, r)
		}
	}
	if after := must(leaseUntil(t, watch, o.Schema, free.Thread)); !after.After(before.Add(time.Hour)) {
		t.Errorf("the lease beside the locked ones was extended from %v to %v", before, after)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Error(err)
	}
	wg.Wait()
}

func leaseUntil(t *testing.T, conn *pgx.Conn, schema, thread string) (until time.Time, err error) {
	t.Helper()
	err = conn.QueryRow(t.Context(), `select lease_until from `+schema+`.hf_thread where thread = $1`, thread).Scan(&until)
	return until, err
}

// settle polls until f is true.
func settle(t *testing.T, what string, f func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	give := time.NewTimer(30 * time.Second)
	defer give.Stop()
	for !f() {
		select {
		case <-tick.C:
		case <-give.C:
			t.Fatalf("it never happened: %s", what)
		}
	}
}
