package faultstore_test

import (
	"context"
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/checkpointtest"
	"github.com/holdfast-go/holdfast/internal/faultstore"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPassesTheSuite(t *testing.T) {
	t.Parallel()
	checkpointtest.Run(t, func(*testing.T) checkpoint.Store { return faultstore.New(new(checkpoint.Memory)) })
}

func TestFaults(t *testing.T) {
	t.Parallel()
	key := checkpoint.Key{Tenant: "t", Thread: "1"}
	for _, c := range []struct {
		name          string
		fault         faultstore.Fault
		executed, end bool
	}{
		{"fail before", faultstore.FailBefore, false, false},
		{"fail after", faultstore.FailAfter, true, false},
		{"crash before", faultstore.CrashBefore, false, true},
		{"crash after", faultstore.CrashAfter, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var inner checkpoint.Memory
			s := faultstore.New(&inner)
			s.At("Acquire", 2, c.fault)
			s.Delete(t.Context(), key)
			acquire := func(thread string) error {
				_, err := s.Acquire(t.Context(), &checkpoint.Acquire{Key: checkpoint.Key{Tenant: "t", Thread: thread}, Nonce: checkpoint.NewNonce()})
				return err
			}
			if err := acquire("0"); err != nil {
				t.Fatal(err)
			}
			if err := acquire("1"); !errors.Is(err, checkpoint.ErrUnavailable) {
				t.Fatalf("the second Acquire = %v; want ErrUnavailable", err)
			}
			l, err := inner.Load(t.Context(), key, checkpoint.Active, "")
			if err != nil || (l.Head.Epoch == 1) != c.executed {
				t.Errorf("the thread has epoch %d, %v; executed should be %v", l.Head.Epoch, err, c.executed)
			}
			if err := acquire("2"); (err != nil) != c.end || s.Down() != c.end {
				t.Errorf("the third Acquire = %v; ended for ever should be %v", err, c.end)
			}
			if s.Calls("Acquire") != 3 || s.Calls("") != 4 {
				t.Errorf("%d acquisitions of %d calls; want 3 of 4", s.Calls("Acquire"), s.Calls(""))
			}
		})
	}
}

func TestBlock(t *testing.T) {
	t.Parallel()
	s := faultstore.New(new(checkpoint.Memory))
	key := checkpoint.Key{Tenant: "t", Thread: "1"}
	reached, release := s.Block("Inbox", 1)
	done := make(chan error, 1)
	inbox := func(ctx context.Context) {
		_, err := s.Inbox(ctx, key)
		done <- err
	}
	go inbox(t.Context())
	<-reached
	release()
	release()
	if err := <-done; err != nil {
		t.Error(err)
	}

	reached, _ = s.Block("Inbox", 2)
	ctx, cancel := context.WithCancel(t.Context())
	go inbox(ctx)
	<-reached
	cancel()
	if err := <-done; !errors.Is(err, checkpoint.ErrUnavailable) {
		t.Errorf("a blocked call whose context ended = %v; want ErrUnavailable", err)
	}
}

func TestHooks(t *testing.T) {
	t.Parallel()
	s := faultstore.New(new(checkpoint.Memory))
	refused, changed := errors.New("refused"), errors.New("changed")
	s.Before = func(c *faultstore.Call) error {
		if c.Name == "Delete" {
			return refused
		}
		return nil
	}
	s.After = func(c *faultstore.Call) error {
		if c.Name == "Post" && errors.Is(c.Err, checkpoint.ErrNoThread) {
			return changed
		}
		return c.Err
	}
	key := checkpoint.Key{Tenant: "t", Thread: "1"}
	if err := s.Delete(t.Context(), key); err != refused {
		t.Errorf("Delete = %v; want what Before returned", err)
	}
	if _, err := s.Post(t.Context(), checkpoint.Command{Key: key, Kind: checkpoint.CommandDrain}); err != changed {
		t.Errorf("Post = %v; want what After returned", err)
	}
}
