package rowstest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/longterm"
)

// Alone has several back ends on one database count in a shelf at once, and fails if an update did not see the one before.
func Alone(t *testing.T, bs ...longterm.Backend) {
	sc, err := memory.NewScope("t-"+uuid.NewString(), "u")
	if err != nil {
		t.Fatal(err)
	}
	count := func(tx longterm.Tx) error {
		s := longterm.Shelf{Name: "s", Namespace: "n"}
		found, err := tx.Shelves(t.Context())
		if len(found) > 0 {
			s = found[0]
		}
		s.Items++
		if err != nil {
			return err
		}
		return tx.PutShelf(t.Context(), s)
	}
	if err := bs[0].Update(t.Context(), sc, count); err != nil { // what follows finds the scope there
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	const n = 30
	for i := range n {
		wg.Go(func() {
			if err := bs[i%len(bs)].Update(t.Context(), sc, count); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := bs[0].View(t.Context(), sc, func(tx longterm.Tx) error {
		found, err := tx.Shelves(t.Context())
		if err != nil || len(found) != 1 || found[0].Items != n+1 {
			t.Errorf("%+v, %v; want %d", found, err, n+1)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if err := bs[0].Erase(t.Context(), sc); err != nil {
		t.Error(err)
	}
}

// Claims has several back ends on one database, which nobody else uses, claim the jobs of many scopes at once, and fails unless each is given to one of them,
// what is not due or not open to none, and what is due longest first.
func Claims(t *testing.T, bs ...longterm.Backend) {
	ctx, want := t.Context(), map[string]bool{}
	for i := range 24 {
		sc, err := memory.NewScope("t", fmt.Sprint("u", i%5))
		if err != nil {
			t.Fatal(err)
		}
		j := longterm.JobRow{ID: fmt.Sprint("j", i), Scope: sc, State: longterm.Queued, Queued: epoch, Due: epoch.Add(time.Duration(i*7%24) * time.Hour), Body: []byte{1}}
		switch i % 6 {
		case 0:
			j.State = longterm.Parked
		case 1:
			j.State, j.Done = longterm.Done, epoch
		case 2:
			j.Due = time.Now().Add(time.Hour)
		default:
			want[j.ID] = true
		}
		if err := bs[0].Update(ctx, sc, func(tx longterm.Tx) error { return tx.PutJob(ctx, j) }); err != nil {
			t.Fatal(err)
		}
	}
	due, now, err := bs[0].Next(ctx)
	if err != nil || !due.Before(epoch.Add(24*time.Hour)) || time.Since(now).Abs() > time.Minute {
		t.Errorf("due %v at %v, %v", due, now, err)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	got := map[string]bool{}
	for i := range 8 {
		wg.Go(func() {
			for rows := []longterm.JobRow{{}}; len(rows) > 0; {
				var err error
				if rows, err = bs[i%len(bs)].Claim(ctx, fmt.Sprint("holder", i), time.Hour, 2); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for _, r := range rows {
					if got[r.ID] || r.Holder != fmt.Sprint("holder", i) || r.Scope.User() == "" || !r.Held.After(now) {
						t.Errorf("%+v", r)
					}
					got[r.ID] = true
				}
				mu.Unlock()
				if !slices.IsSortedFunc(rows, func(a, b longterm.JobRow) int { return a.Due.Compare(b.Due) }) {
					t.Errorf("not in the order of their times: %+v", rows)
				}
			}
		})
	}
	wg.Wait()
	for id := range want {
		if !got[id] {
			t.Errorf("%s was given to nobody", id)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d jobs were given, want %d", len(got), len(want))
	}
	if due, now, err := bs[0].Next(ctx); err != nil || due.Sub(now) < 50*time.Minute {
		t.Errorf("when all are held: due %v at %v, %v", due, now, err)
	}
}
