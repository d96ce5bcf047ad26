package graph_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// A hanging store lets some calls hang until their context ends, as a connection does that leads nowhere any more.
type hanging struct {
	checkpoint.Store
	appends, renews atomic.Int32 // how many calls hang
	renewed         chan struct{}
	late            atomic.Bool // a lease had run out when its renewal came
}

func (h *hanging) Append(ctx context.Context, a *checkpoint.Append) (checkpoint.Ack, error) {
	if h.appends.Add(-1) >= 0 {
		<-ctx.Done()
		return checkpoint.Ack{}, checkpoint.ErrUnavailable
	}
	return h.Store.Append(ctx, a)
}

func (h *hanging) Renew(ctx context.Context, ls []checkpoint.Lease, ttl time.Duration) ([]checkpoint.Renewal, error) {
	if h.renews.Add(-1) >= 0 {
		<-ctx.Done()
		return nil, checkpoint.ErrUnavailable
	}
	l, err := h.Load(ctx, ls[0].Key, checkpoint.Active, "")
	if err != nil {
		return nil, err
	}
	h.late.Store(l.Head.Expired)
	out, err := h.Store.Renew(ctx, ls, ttl)
	select {
	case h.renewed <- struct{}{}:
	default:
	}
	return out, err
}

// A try that hangs costs a part of the patience, not all of it: the write is repeated on another connection. // C4 // C11
func TestHungWrite(t *testing.T) {
	t.Parallel()
	h := &hanging{Store: new(checkpoint.Memory)}
	h.appends.Store(1)
	app := solo(t, say("ran"), graph.Policy{}, graph.Options{Store: h, StorePatience: 20 * time.Second, Lease: time.Hour})
	out, err := app.Run(t.Context(), graph.ID("1"), nil)
	if err != nil || out.Log.Len() != 1 {
		t.Fatalf("%v, %v", out, err)
	}
}

// A renewal that hangs is tried again before the lease has run out: nobody can take the thread over meanwhile. // E38 // C11
func TestHungRenewal(t *testing.T) {
	t.Parallel()
	h := &hanging{Store: new(checkpoint.Memory), renewed: make(chan struct{})}
	h.renews.Store(1)
	app := solo(t, func(ctx context.Context, _ *notes) error {
		select {
		case <-h.renewed:
		case <-ctx.Done():
		}
		return nil
	}, graph.Policy{}, graph.Options{Store: h, Lease: 12 * time.Second})
	if _, err := app.Run(t.Context(), graph.ID("1"), nil); err != nil {
		t.Fatal(err)
	}
	if h.late.Load() {
		t.Error("the lease had run out")
	}
}
