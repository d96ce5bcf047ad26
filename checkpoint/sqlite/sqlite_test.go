package sqlite_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/checkpointtest"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSmoke(t *testing.T) {
	t.Parallel()
	m, err := sqlite.Open(filepath.Join(t.TempDir(), "a?b#c%20.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}()
	key := checkpoint.Key{Tenant: "t", Thread: "1"}
	nonce := checkpoint.NewNonce()
	body := []byte("before")
	rec := checkpoint.Record{By: nonce.Writer(), Ord: 1 << 32, Kind: checkpoint.KindInput, Body: body}
	head, err := m.Acquire(t.Context(), &checkpoint.Acquire{
		Key: key, Nonce: nonce, TTL: time.Minute,
		Run: &checkpoint.Run{ID: "r1", Request: "q1", Meta: map[string]string{"a": "b"}}, Records: []checkpoint.Record{rec},
	})
	if err != nil || head.Epoch != 1 || head.Status != checkpoint.Running {
		t.Fatalf("Acquire = %+v, %v", head, err)
	}
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
	one := &checkpoint.Append{Key: key, Nonce: nonce, Records: []checkpoint.Record{{Pos: 1, By: nonce.Writer(), Ord: 1<<32 + 1, Kind: checkpoint.KindEntry}}}
	for range 2 {
		if ack, err := m.Append(t.Context(), one); err != nil || ack.Released {
			t.Fatalf("Append = %+v, %v", ack, err)
		}
	}
	park := &checkpoint.Append{
		Key: key, Nonce: nonce, Park: &checkpoint.Park{Status: checkpoint.Completed},
		Records: []checkpoint.Record{{Pos: 2, By: nonce.Writer(), Ord: 1<<32 + 2, Kind: checkpoint.KindEntry}},
	}
	for range 2 { // C4: the repeat is acknowledged again, after its own release
		if ack, err := m.Append(t.Context(), park); err != nil || !ack.Released {
			t.Fatalf("Append = %+v, %v; want a release", ack, err)
		}
	}
	park.Records[0].Pos = 3
	if _, err := m.Append(t.Context(), park); !errors.Is(err, checkpoint.ErrStale) {
		t.Fatalf("Append after the release = %v; want ErrStale", err)
	}
	if hs, err := m.Threads(t.Context(), checkpoint.ThreadFilter{Meta: map[string]string{"a": "b"}}); err != nil || len(hs) != 1 || hs[0].Meta["a"] != "b" {
		t.Fatal(hs, err)
	}
	if cs, err := m.Chains(t.Context(), key, 0); err != nil || len(cs) != 1 || cs[0].Pos != 2 {
		t.Fatal(cs, err)
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	checkpointtest.Run(t, func(t *testing.T) checkpoint.Store { return open(t, sqlite.Options{}) })
}

// open opens a new file; the test's end closes it.
func open(t testing.TB, o sqlite.Options) *sqlite.Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "threads.db"), o)
}

func openAt(t testing.TB, path string, o sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
