package graph_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
	"github.com/holdfast-go/holdfast/internal/procid"
)

// E38: a holder is replaced before its lease has run out only when it is certainly dead. A process of another container, whose
// ids mean nothing here, is not.
func TestWhoIsReplacedAtOnce(t *testing.T) {
	t.Parallel()
	self := procid.Self()
	boot, _, ok := strings.Cut(self.Boot, " ")
	if !ok {
		t.Skip("this system does not tell which processes live")
	}
	for _, c := range []struct {
		name   string
		holder checkpoint.Holder
		taken  bool
	}{
		{"the id belongs to a later process", checkpoint.Holder{Host: self.Host, Boot: self.Boot, PID: self.PID, Start: "1"}, true},
		{"another container", checkpoint.Holder{Host: self.Host, Boot: boot + " pid:[1]", PID: self.PID, Start: "1"}, false},
		{"another host", checkpoint.Holder{Host: self.Host + "x", Boot: self.Boot, PID: self.PID, Start: "1"}, false},
		{"an unknown process", checkpoint.Holder{Host: self.Host}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			store := new(checkpoint.Memory)
			dying := faultstore.New(store)
			dying.At("Append", 1, faultstore.CrashBefore)
			dying.Before = func(call *faultstore.Call) error {
				if call.Acquire != nil {
					call.Acquire.Holder = c.holder
				}
				return nil
			}
			app := compile(t, inLine("a"), graph.Options{Store: dying, StorePatience: 100 * time.Millisecond})
			_, err := app.Run(t.Context(), graph.ID("1"), nil)
			wantErr(t, err, checkpoint.ErrUnavailable)
			got, err := compile(t, inLine("a"), graph.Options{Store: store}).Recover(t.Context())
			if err != nil || (len(got) == 1) != c.taken {
				t.Fatalf("%v: recovered %+v, want taken: %t", err, got, c.taken)
			}
		})
	}
}

// E38: a run whose acquisition succeeded without a reply, and that somebody else has finished meanwhile, is not run again.
func TestInputIsNotTakenTwice(t *testing.T) {
	t.Parallel()
	var clock handClock
	var ran atomic.Int32
	mem := &checkpoint.Memory{Now: clock.now}
	build := func(s checkpoint.Store) *graph.App[notes] {
		return solo(t, func(context.Context, *notes) error { ran.Add(1); return nil }, graph.Policy{}, graph.Options{Store: s, Lease: time.Minute})
	}
	other, store := build(mem), faultstore.New(mem)
	store.After = func(c *faultstore.Call) error {
		if c.Acquire == nil || c.Nth > 1 {
			return c.Err
		}
		clock.advance(time.Hour)
		if got, err := other.Recover(context.Background()); err != nil || len(got) != 1 || got[0].Err != nil {
			t.Errorf("Recover: %+v, %v", got, err)
		}
		return checkpoint.ErrUnavailable
	}
	_, err := build(store).Run(t.Context(), graph.ID("1"), nil)
	wantErr(t, err, graph.ErrStale)
	if ran.Load() != 1 {
		t.Fatalf("one input ran %d times", ran.Load())
	}
}
