package checkpoint_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

func TestMemoryKeepsItsOwnCopyOfBodies(t *testing.T) {
	t.Parallel()
	var m checkpoint.Memory
	key := checkpoint.Key{Tenant: "t", Thread: "1"}
	nonce := checkpoint.NewNonce()
	body := []byte("before")
	rec := checkpoint.Record{By: nonce.Writer(), Ord: 1 << 32, Kind: checkpoint.KindInput, Body: body}
	head, err := m.Acquire(t.Context(), &checkpoint.Acquire{
		Key: key, Nonce: nonce, TTL: time.Minute,
		Run: &checkpoint.Run{ID: "r1", Request: "q1"}, Records: []checkpoint.Record{rec},
	})
	if err != nil || head.Epoch != 1 || head.Status != checkpoint.Running {
		t.Fatalf("Acquire = %+v, %v", head, err)
	}
	copy(body, "after!")
	l, err := m.Load(t.Context(), key, checkpoint.Active, "")
	if err != nil || len(l.Records) != 1 || string(l.Records[0].Body) != "before" {
		t.Fatalf("Load = %+v, %v; want the body as it was stored", l, err)
	}

	_, err = m.Acquire(t.Context(), &checkpoint.Acquire{
		Key: key, Mode: checkpoint.Steal, Seen: nonce, Nonce: checkpoint.NewNonce(), Run: &checkpoint.Run{ID: "r2", Request: "q1"},
	})
	if dup, ok := errors.AsType[*checkpoint.DuplicateError](err); !ok || dup.Run.ID != "r1" {
		t.Fatalf("a repeated start = %v; want the first run", err)
	}

	park := &checkpoint.Append{
		Key: key, Nonce: nonce, Park: &checkpoint.Park{Status: checkpoint.Completed},
		Records: []checkpoint.Record{{Pos: 1, By: nonce.Writer(), Ord: 1<<32 + 1, Kind: checkpoint.KindEntry}},
	}
	for range 2 { // C4: the repeat is acknowledged again, after its own release
		if ack, err := m.Append(t.Context(), park); err != nil || !ack.Released {
			t.Fatalf("Append = %+v, %v; want a release", ack, err)
		}
	}
	park.Records[0].Pos = 2
	if _, err := m.Append(t.Context(), park); !errors.Is(err, checkpoint.ErrStale) {
		t.Fatalf("Append after the release = %v; want ErrStale", err)
	}
}

// heap is what is alive after a collection.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// C23, reports 209, 210: reads of unknown threads leave nothing, and a deleted thread is freed. Not parallel: it measures.
func TestMemoryFrees(t *testing.T) {
	var m checkpoint.Memory
	before := heap()
	for i := range 100_000 {
		key := checkpoint.Key{Tenant: "tenant", Thread: fmt.Sprint("unknown-", i)}
		if l, err := m.Load(t.Context(), key, checkpoint.Active, ""); err != nil || l.Head.Epoch != 0 {
			t.Fatal(l, err)
		}
	}
	for i := range 200 {
		key, nonce := checkpoint.Key{Tenant: "tenant", Thread: fmt.Sprint("thread-", i)}, checkpoint.NewNonce()
		rec := checkpoint.Record{Ord: 1 << 32, By: nonce.Writer(), Kind: checkpoint.KindInput, Body: make([]byte, 100<<10)}
		if _, err := m.Acquire(t.Context(), &checkpoint.Acquire{Key: key, Nonce: nonce, Records: []checkpoint.Record{rec}}); err != nil {
			t.Fatal(err)
		}
		if err := m.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	if grown := heap() - before; grown > 1<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	if heads, err := m.Threads(t.Context(), checkpoint.ThreadFilter{}); err != nil || len(heads) != 0 {
		t.Errorf("threads %v, %v", heads, err)
	}
	runtime.KeepAlive(&m)
}
