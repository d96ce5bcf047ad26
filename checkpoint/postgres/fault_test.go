package postgres_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/postgres"
	"github.com/holdfast-go/holdfast/internal/testserver"
)

// through is a store behind a proxy, and one beside it that sees what is there.
func through(t *testing.T, o postgres.Options) (p *testserver.Proxy, s, direct *postgres.Store) {
	t.Helper()
	pg := testserver.Postgres(t)
	p = testserver.NewProxy(t, pg.Addr())
	o.Schema = fresh()
	dropAtEnd(t, o.Schema)
	direct = openAt(t, pg.URL(), postgres.Options{Schema: o.Schema})
	return p, openAt(t, strings.Replace(pg.URL(), pg.Addr(), p.Addr(), 1)+"&pool_max_conns=2", o), direct
}

func bodies(t *testing.T, s checkpoint.Store, key checkpoint.Key) (out []string) {
	t.Helper()
	rs, err := s.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: key}, To: -1})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rs {
		if r.Pos != int64(i) {
			t.Fatalf("record %d has position %d", i, r.Pos)
		}
		out = append(out, string(r.Body))
	}
	return out
}

// C4, C21: the reply of an append is lost. The store itself repeats it, unchanged, and it is there once.
func TestLostReply(t *testing.T) {
	t.Parallel()
	p, s, direct := through(t, postgres.Options{})
	key, nonce := start(t, s, "thread")
	for pos := int64(1); pos <= 10; pos++ {
		dropped := p.DropReply(1)
		if _, err := s.Append(t.Context(), entry(key, nonce, pos, []byte("x"))); err != nil {
			t.Fatal(err)
		}
		<-dropped
	}
	// The append that ends a run: its repeat has no lease any more.
	end := entry(key, nonce, 11, []byte("end"))
	end.Park = &checkpoint.Park{Status: checkpoint.Completed}
	dropped := p.DropReply(1)
	ack, err := s.Append(t.Context(), end)
	<-dropped
	if err != nil || !ack.Released {
		t.Fatalf("the append that ends the run = %+v, %v", ack, err)
	}
	if got := bodies(t, direct, key); len(got) != 12 {
		t.Errorf("records %q", got)
	}
}

// C4: a reply is lost, the caller gives up and appends something else at the same place. The first one was stored, so the
// second is stale: neither is taken for the other.
func TestLostReplyThenAnotherAppend(t *testing.T) {
	t.Parallel()
	p, s, direct := through(t, postgres.Options{})
	key, nonce := start(t, s, "thread")
	for round := range int64(5) {
		pos := round + 1
		p.Freeze(true) // the request does not even reach the server before the caller gives up
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		first := entry(key, nonce, pos, []byte("first"))
		_, err := s.Append(ctx, first)
		cancel()
		if !errors.Is(err, checkpoint.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("an append whose time ran out = %v", err)
		}
		p.Freeze(false)
		other := entry(key, nonce, pos, []byte("other"))
		other.Records[0].Ord += 1 << 20
		_, err = s.Append(t.Context(), other)
		_, again := s.Append(t.Context(), first)
		got := bodies(t, direct, key)
		switch last := got[len(got)-1]; {
		case int64(len(got)) != pos+1:
			t.Fatalf("%d records after round %d", len(got), round)
		case err == nil && (last != "other" || !errors.Is(again, checkpoint.ErrStale)):
			t.Fatalf("the other one was acknowledged, and %q is there; the first again: %v", last, again)
		case err != nil && (!errors.Is(err, checkpoint.ErrStale) || last != "first" || again != nil):
			t.Fatalf("the other one = %v, and %q is there; the first again: %v", err, last, again)
		}
	}
	// The reply alone is lost, and no repeat gets through.
	dropped := p.DropReply(1)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		<-dropped
		cancel()
	})
	first := entry(key, nonce, 6, []byte("first"))
	_, lost := s.Append(ctx, first)
	wg.Wait()
	other := entry(key, nonce, 6, []byte("other"))
	other.Records[0].Ord += 1 << 20
	if _, err := s.Append(t.Context(), other); !errors.Is(err, checkpoint.ErrStale) {
		t.Errorf("another append after a lost reply (%v) = %v; want ErrStale", lost, err)
	}
	if ack, err := s.Append(t.Context(), first); err != nil {
		t.Errorf("the first again = %+v, %v", ack, err)
	}
}

// C21: connections are terminated in the middle of writes, again and again. Nothing acknowledged is missing, nothing is
// there twice, and no caller sees an error.
func TestTerminatedBackends(t *testing.T) {
	t.Parallel()
	o := postgres.Options{Schema: fresh()}
	dropAtEnd(t, o.Schema)
	url := testserver.Postgres(t).URL() + "&application_name=" + o.Schema
	s := openAt(t, url, o)
	calm := openAt(t, testserver.Postgres(t).URL(), o)
	killer := connect(t, testserver.Postgres(t).URL())
	var running atomic.Int32
	var kills int
	var done atomic.Int64
	var wg sync.WaitGroup
	steps := int64(200)
	if testing.Short() {
		steps = 60
	}
	running.Store(8)
	for w := range 8 {
		wg.Go(func() {
			defer running.Add(-1)
			key, nonce := start(t, calm, string(rune('a'+w)))
			for pos := int64(1); pos <= steps; pos++ {
				a := entry(key, nonce, pos, []byte("x"))
				err := checkpoint.ErrUnavailable
				for errors.Is(err, checkpoint.ErrUnavailable) { // as the engine does
					_, err = s.Append(t.Context(), a)
				}
				if err != nil {
					t.Errorf("thread %d, position %d: %v", w, pos, err)
					return
				}
				done.Add(1)
			}
		})
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for next := int64(0); running.Load() > 0; <-tick.C {
		if done.Load() < next {
			continue
		}
		next = done.Load() + 10
		var n int
		err := killer.QueryRow(t.Context(), `select count(pg_terminate_backend(pid)) from (select pid from pg_stat_activity
			where application_name = $1 order by random() limit 1) x`, o.Schema).Scan(&n)
		if err != nil {
			t.Error(err)
			break
		}
		kills += n
	}
	wg.Wait()
	if kills < 5 {
		t.Errorf("only %d backends were terminated: the test has proved nothing", kills)
	}
	for w := range 8 {
		if got := bodies(t, s, checkpoint.Key{Tenant: "tenant", Thread: string(rune('a' + w))}); int64(len(got)) != steps+1 {
			t.Errorf("thread %d has %d records; want %d", w, len(got), steps+1)
		}
	}
}

// C11: a server that does not answer costs a call its deadline; one that is not there says so at once. Both are the typed
// error, and the same store goes on when the server is back.
func TestServerAway(t *testing.T) {
	t.Parallel()
	p, s, direct := through(t, postgres.Options{OpTimeout: 50 * time.Millisecond})
	key, nonce := start(t, direct, "thread")
	calls := func() (errs []error) {
		_, load := s.Load(t.Context(), key, 0, "")
		_, write := s.Append(t.Context(), entry(key, nonce, 1, nil))
		_, renew := s.Renew(t.Context(), []checkpoint.Lease{{Key: key, Nonce: nonce}}, time.Hour)
		_, answer := s.Answer(t.Context(), key, []checkpoint.Reply{{Question: "q"}})
		_, post := s.Post(t.Context(), checkpoint.Command{Key: key, Kind: checkpoint.CommandDrain})
		_, list := s.Threads(t.Context(), checkpoint.ThreadFilter{Tenant: "tenant"})
		return []error{load, write, renew, answer, post, list}
	}
	p.Freeze(true)
	for i, err := range calls() {
		if !errors.Is(err, checkpoint.ErrUnavailable) {
			t.Errorf("call %d behind a frozen proxy = %v", i, err)
		}
	}
	p.Refuse(true)
	p.Freeze(false)
	p.Cut()
	for i, err := range calls() {
		if !errors.Is(err, checkpoint.ErrUnavailable) {
			t.Errorf("call %d without a server = %v", i, err)
		}
	}
	p.Refuse(false)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := s.Append(ctx, entry(key, nonce, 1, nil)); err != nil {
		t.Errorf("when the server is back: %v", err)
	}
}

// C21: the server is killed in the middle of writes and started again. Every append that was acknowledged is there.
func TestKilledServer(t *testing.T) {
	t.Parallel()
	pg := testserver.NewPostgres(t)
	s, err := postgres.Open(t.Context(), pg.URL(), postgres.Options{OpTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	rounds := 5
	if testing.Short() {
		rounds = 2
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	const writers = 16
	var acked [writers]atomic.Int64
	var total atomic.Int64
	var wg sync.WaitGroup
	for w := range writers {
		key, nonce := start(t, s, string(rune('a'+w)))
		wg.Go(func() {
			for pos := int64(1); ; {
				_, err := s.Append(ctx, entry(key, nonce, pos, []byte("x")))
				switch {
				case ctx.Err() != nil:
					return
				case err == nil:
					acked[w].Store(pos)
					total.Add(1)
					pos++
				case !errors.Is(err, checkpoint.ErrUnavailable):
					t.Errorf("thread %d, position %d: %v", w, pos, err)
					return
				}
			}
		})
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for range rounds {
		for from := total.Load(); total.Load() < from+200 && !t.Failed(); {
			<-tick.C
		}
		if err := pg.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := pg.Restart(); err != nil {
			t.Fatal(err)
		}
	}
	for from := total.Load(); total.Load() < from+50 && !t.Failed(); {
		<-tick.C
	}
	stop()
	wg.Wait()
	for w := range writers {
		got := int64(len(bodies(t, s, checkpoint.Key{Tenant: "tenant", Thread: string(rune('a' + w))})))
		if n := acked[w].Load() + 1; got != n && got != n+1 { // the last one may be there without an acknowledgement
			t.Errorf("thread %d: %d records, %d were acknowledged", w, got, n)
		}
	}
}

// C11: all connections of a pool are dead, more of them than a call has tries, as after a restart of the server. No read sees
// that.
func TestDeadPool(t *testing.T) {
	t.Parallel()
	pg := testserver.Postgres(t)
	p := testserver.NewProxy(t, pg.Addr())
	o := postgres.Options{Schema: fresh()}
	dropAtEnd(t, o.Schema)
	s := openAt(t, strings.Replace(pg.URL(), pg.Addr(), p.Addr(), 1)+"&pool_max_conns=12", o)
	key, _ := start(t, s, "thread")
	load := func() error {
		_, err := s.Load(t.Context(), key, checkpoint.Active, "")
		return err
	}
	for range 5 {
		p.Freeze(true) // so that each call has a connection of its own
		var wg sync.WaitGroup
		for range 12 {
			wg.Go(func() {
				if err := load(); err != nil {
					t.Error(err)
				}
			})
		}
		p.Freeze(false)
		wg.Wait()
		p.Cut()
		if err := load(); err != nil {
			t.Errorf("with a pool of dead connections: %v", err)
		}
	}
}

// C11: a store that is closing while a call hangs refuses new ones at once.
func TestCloseRefusesAtOnce(t *testing.T) {
	t.Parallel()
	p, s, direct := through(t, postgres.Options{OpTimeout: time.Minute})
	key, nonce := start(t, direct, "thread")
	p.Freeze(true)
	var wg sync.WaitGroup
	var hung error
	wg.Go(func() { _, hung = s.Append(t.Context(), entry(key, nonce, 1, nil)) })
	wg.Go(func() { s.Close() })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			_, err := s.Load(ctx, key, 0, "")
			cancel()
			if errors.Is(err, checkpoint.ErrClosed) {
				return
			}
		}
	}()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("a call waits for Close, which waits for another one")
	}
	p.Freeze(false)
	wg.Wait()
	<-ended
	if hung != nil && !errors.Is(hung, checkpoint.ErrClosed) {
		t.Errorf("the call that was under way = %v", hung)
	}
}
