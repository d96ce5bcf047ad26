package postgres_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/checkpointtest"
	"github.com/holdfast-go/holdfast/checkpoint/postgres"
	"github.com/holdfast-go/holdfast/internal/testserver"
)

// C11, C21, report 153: through PgBouncer in transaction mode.
func TestPooler(t *testing.T) {
	t.Parallel()
	url := testserver.PgBouncer(t, testserver.Postgres(t), "postgres", 10)
	o := postgres.Options{Schema: fresh(), Pooler: true}
	dropAtEnd(t, o.Schema)
	if !testing.Short() { // 16 workers on one thread take long where every statement is planned anew
		t.Run("suite", func(t *testing.T) {
			checkpointtest.Run(t, func(t *testing.T) checkpoint.Store { return openAt(t, url, o) })
		})
	}
	t.Run("50 clients", func(t *testing.T) {
		var wg sync.WaitGroup
		for i := range 50 {
			s := openAt(t, url+"&pool_max_conns=2", o)
			wg.Go(func() {
				key, nonce := start(t, s, fmt.Sprint("client-", i))
				for n := range int64(10) {
					if _, err := s.Append(t.Context(), entry(key, nonce, n+1, []byte("body"))); err != nil {
						t.Error(err)
						return
					}
					if l, err := s.Load(t.Context(), key, checkpoint.Active, ""); err != nil || len(l.Records) != int(n)+2 {
						t.Errorf("client %d: %+v, %v", i, l, err)
						return
					}
				}
			})
		}
		wg.Wait()
	})
	t.Run("without the option", func(t *testing.T) {
		s, err := postgres.Open(t.Context(), url, postgres.Options{Schema: o.Schema})
		if err == nil {
			s.Close()
			t.Error("a store that prepares statements has opened through a pooler that does not keep them")
		}
	})
	t.Run("durability", func(t *testing.T) { // C13
		off := o
		off.SynchronousCommit = postgres.Off
		s := openAt(t, url, off)
		if i := s.Info(); i.LossWindow != 600*time.Millisecond || i.Durability != "Postgres synchronous_commit=off" {
			t.Errorf("Info = %+v", i)
		}
		key, nonce := start(t, s, "off")
		if _, err := s.Append(t.Context(), entry(key, nonce, 1, nil)); err != nil {
			t.Error(err)
		}
		if _, err := s.Append(t.Context(), entry(key, nonce, 3, nil)); !errors.Is(err, checkpoint.ErrStale) {
			t.Errorf("a gap: %v", err)
		}
	})
}

// start makes a thread with one record.
func start(t testing.TB, s checkpoint.Store, thread string) (checkpoint.Key, checkpoint.Nonce) {
	t.Helper()
	key, nonce := checkpoint.Key{Tenant: "tenant", Thread: thread}, checkpoint.NewNonce()
	_, err := s.Acquire(t.Context(), &checkpoint.Acquire{
		Key: key, Nonce: nonce, TTL: time.Hour, Run: &checkpoint.Run{ID: "run"},
		Records: []checkpoint.Record{{Ord: 1 << 32, By: nonce.Writer(), Kind: checkpoint.KindInput, Body: []byte("input")}},
	})
	if err != nil {
		t.Error(err)
	}
	return key, nonce
}

// entry is an append of one record at a position.
func entry(key checkpoint.Key, nonce checkpoint.Nonce, pos int64, body []byte) *checkpoint.Append {
	return &checkpoint.Append{Key: key, Nonce: nonce, Records: []checkpoint.Record{{
		Pos: pos, Ord: 1<<32 | pos, By: nonce.Writer(), Step: pos, Kind: checkpoint.KindEntry, Body: body,
	}}}
}
