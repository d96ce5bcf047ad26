package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/postgres"
	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/jackc/pgx/v5"
)

// E54, C2: appends of many threads go to the server in one statement, and each is judged by itself, as its thread is when
// the statement has locked it. Others hold those locks, change the threads and let go while the statement waits.
func TestGroupVerdicts(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) (*postgres.Store, string){
		"plain": func(t *testing.T) (*postgres.Store, string) {
			o := postgres.Options{Schema: fresh(), OpTimeout: time.Minute}
			dropAtEnd(t, o.Schema)
			return openAt(t, testserver.Postgres(t).URL(), o), o.Schema
		},
		"pooler": func(t *testing.T) (*postgres.Store, string) {
			o := postgres.Options{Schema: fresh(), OpTimeout: time.Minute, Pooler: true}
			dropAtEnd(t, o.Schema)
			return openAt(t, testserver.Postgres(t).URL(), o), o.Schema
		},
		"row security": func(t *testing.T) (*postgres.Store, string) {
			role, o := secured(t)
			o.OpTimeout = time.Minute
			return openAt(t, role, o), o.Schema
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, schema := open(t)
			l := &judged{t: t, s: s, schema: schema, admin: connect(t, testserver.Postgres(t).URL())}
			for round := 0; l.largest < 4; round++ { // appends that meet share a statement: until enough of them have met
				l.round(round)
			}
		})
	}
}

// judged is what a test of groups works on.
type judged struct {
	t       *testing.T
	s       *postgres.Store
	schema  string
	admin   *pgx.Conn
	largest int // the most appends that one statement has stored
}

const judgedThreads = 40

// A judgedAppend is one append of a round and what it must come to.
type judgedAppend struct {
	*checkpoint.Append
	stolen bool // the thread is taken over while the append waits
	stale  bool
	stored int // records of the thread afterwards
	ack    checkpoint.Ack
	err    error
}

func (l *judged) round(round int) {
	t := l.t
	as := make([]*judgedAppend, judgedThreads)
	for i := range as {
		as[i] = l.prepare(checkpoint.Key{Tenant: fmt.Sprint("tenant-", i/20), Thread: fmt.Sprintf("thread-%d-%d", round, i)}, i)
	}
	tx, err := l.admin.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	var wg sync.WaitGroup
	// Locked one after the other, in the order in which a group locks.
	for _, a := range as {
		lock := `select from ` + l.schema + `.hf_thread where tenant = $1 and thread = $2 for update`
		if _, err := tx.Exec(t.Context(), lock, a.Tenant, a.Thread); err != nil {
			t.Fatal(err)
		}
	}
	for _, a := range as {
		wg.Go(func() { a.ack, a.err = l.s.Append(t.Context(), a.Append) })
	}
	l.waitFor(tx.Conn().PgConn().PID())
	for _, a := range as {
		set := `inbox = 7`
		if a.stolen {
			set = `nonce = '\xff'`
		}
		change := `update ` + l.schema + `.hf_thread set ` + set + ` where tenant = $1 and thread = $2`
		if _, err := tx.Exec(t.Context(), change, a.Tenant, a.Thread); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	for i, a := range as {
		l.check(i, a)
	}
	var most int
	shared := `select max(n) from (select count(distinct (tenant, thread)) as n from ` + l.schema + `.hf_record group by xmin::text) x`
	if err := l.admin.QueryRow(t.Context(), shared).Scan(&most); err != nil {
		t.Fatal(err)
	}
	l.largest = max(l.largest, most)
}

// prepare makes a thread with one record and an append for it.
func (l *judged) prepare(key checkpoint.Key, i int) *judgedAppend {
	nonce := checkpoint.NewNonce()
	a := &judgedAppend{Append: entry(key, nonce, 1, []byte(key.Thread)), stored: 2}
	switch i % 5 {
	case 1:
		a.stolen, a.stale, a.stored = true, true, 1
	case 2: // leaves a gap
		a.Records[0].Pos, a.stale, a.stored = 2, true, 1
	case 3:
		a.Records = append(a.Records, entry(key, nonce, 2, nil).Records...)
		a.stored = 3
	}
	first := entry(key, nonce, 0, nil).Records
	if i%5 == 4 { // stored before: a repeat
		first = append(first, a.Records...)
	}
	_, err := l.s.Acquire(l.t.Context(), &checkpoint.Acquire{Key: key, Nonce: nonce, TTL: time.Hour, Run: &checkpoint.Run{ID: "run"}, Records: first})
	if err != nil {
		l.t.Fatal(err)
	}
	return a
}

// waitFor waits until all connections of the pool wait for what another one has locked: at most two for single appends, the
// others for groups.
func (l *judged) waitFor(pid uint32) {
	watch := connect(l.t, testserver.Postgres(l.t).URL())
	waiting := `select count(*) from pg_stat_activity where $1 = any(pg_blocking_pids(pid))`
	for n := 0; n < 4; {
		if err := watch.QueryRow(l.t.Context(), waiting, int32(pid)).Scan(&n); err != nil {
			l.t.Fatal(err)
		}
	}
}

func (l *judged) check(i int, a *judgedAppend) {
	l.t.Helper()
	rs, err := l.s.Read(l.t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: a.Key}, To: -1})
	if err != nil {
		l.t.Fatal(err)
	}
	if len(rs) != a.stored {
		l.t.Errorf("append %d: %d records of the thread, want %d", i, len(rs), a.stored)
	}
	for j, r := range rs[len(rs)-min(len(rs), len(a.Records)):] {
		if want := a.Records[j]; !a.stale && (r.Pos != want.Pos || r.Ord != want.Ord || r.By != want.By || string(r.Body) != string(want.Body)) {
			l.t.Errorf("append %d: %+v is stored, want %+v", i, r, want)
		}
	}
	switch {
	case a.stale && !errors.Is(a.err, checkpoint.ErrStale):
		l.t.Errorf("append %d = %+v, %v; want ErrStale", i, a.ack, a.err)
	case !a.stale && (a.err != nil || a.ack.Inbox != 7):
		l.t.Errorf("append %d = %+v, %v; want the inbox number 7", i, a.ack, a.err)
	}
}
