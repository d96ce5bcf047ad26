package audit_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/audit"
	"github.com/holdfast-go/holdfast/memory/audit/audittest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMemory(t *testing.T) {
	t.Parallel()
	audittest.Run(t, func(t *testing.T) *audit.Log {
		l, err := audit.NewMemory(audit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return l
	})
}

func TestOptions(t *testing.T) {
	t.Parallel()
	if _, err := audit.NewMemory(audit.Options{OpTimeout: -1}); !errors.Is(err, audit.ErrOptions) {
		t.Error(err)
	}
}

// held is a back end whose updates wait for a word, which says how they end.
type held struct {
	audit.Backend
	begun chan struct{}
	ends  chan error
}

func (h *held) Update(ctx context.Context, tenant string, f func(audit.Tx) error) error {
	h.begun <- struct{}{}
	if err := <-h.ends; err != nil {
		return err
	}
	return h.Backend.Update(ctx, tenant, f)
}

// R112: accesses that come while a transaction is under way share the next one, and its error; a caller whose context ends does not end it for the
// others.
func TestGroup(t *testing.T) {
	t.Parallel()
	h := &held{audit.MemoryBackend(), make(chan struct{}), make(chan error)}
	l, err := audit.New(h, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	record := func(ctx context.Context, n int) chan error {
		done := make(chan error, n)
		for i := range n {
			go func() {
				done <- l.Record(ctx, memory.Access{Tenant: "t", User: fmt.Sprint("u", i), Box: "b", Verb: "v", Result: "ok"})
			}()
		}
		return done
	}
	first := record(t.Context(), 1)
	<-h.begun
	for _, want := range []error{audit.ErrCorrupt, nil} {
		const n = 20
		impatient, cancel := context.WithCancel(t.Context())
		left := record(impatient, 1)
		for l.Waiting("t") < 1 { // nothing tells that it waits
			runtime.Gosched()
		}
		group := record(t.Context(), n)
		for l.Waiting("t") < n+1 {
			runtime.Gosched()
		}
		cancel()
		if err := <-left; !errors.Is(err, audit.ErrUnavailable) {
			t.Error(err)
		}
		h.ends <- nil
		<-h.begun // one transaction for all of them
		if err := <-first; err != nil {
			t.Error(err)
		}
		first = record(t.Context(), 1) // behind them
		h.ends <- want
		for range n {
			if err := <-group; !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		}
		<-h.begun
	}
	h.ends <- nil
	if err := <-first; err != nil {
		t.Error(err)
	}
	if n, err := l.Verify(t.Context(), "t"); n != 3+21 || err != nil {
		t.Error(n, err)
	}
}

// Close waits for what is being written, and no goroutine is left.
func TestCloseWaits(t *testing.T) {
	t.Parallel()
	h := &held{audit.MemoryBackend(), make(chan struct{}), make(chan error)}
	l, err := audit.New(h, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := l.Record(ctx, memory.Access{Tenant: "t"}); !errors.Is(err, audit.ErrUnavailable) {
			t.Error(err)
		}
	})
	<-h.begun
	cancel()
	wg.Wait()
	closed := make(chan error)
	go func() { closed <- l.Close() }()
	h.ends <- nil
	if err := <-closed; err != nil {
		t.Error(err)
	}
}
