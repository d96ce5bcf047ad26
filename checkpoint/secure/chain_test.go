package secure_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/secure"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

// C4, C12: an append whose reply was lost, or that was refused, is repeated with the same bytes, and what follows is chained
// to what is stored.
func TestRepeatedAppendHasTheSameBytes(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		for _, fault := range []faultstore.Fault{faultstore.FailBefore, faultstore.FailAfter} {
			t.Run(fmt.Sprint(kind.name, fault), func(t *testing.T) {
				t.Parallel()
				var mem checkpoint.Memory
				below := faultstore.New(&mem)
				var bodies [][]byte
				below.Before = func(c *faultstore.Call) error {
					if c.Name == "Append" {
						bodies = append(bodies, bytes.Clone(c.Append.Records[0].Body))
					}
					return nil
				}
				w := start(t, kind.wrap(t, below, ring("k1")), thread)
				w.append(w.record("", checkpoint.KindEntry, "one"))
				below.At("Append", 2, fault)
				a := &checkpoint.Append{Key: thread, Nonce: w.nonce, Records: []checkpoint.Record{w.record("", checkpoint.KindEntry, "two")}}
				if _, err := w.Append(t.Context(), a); !errors.Is(err, checkpoint.ErrUnavailable) {
					t.Fatal(err)
				}
				w.do(a)
				w.do(a)
				if n := len(bodies); !bytes.Equal(bodies[n-1], bodies[n-2]) {
					t.Error("a repeated append has other bytes")
				}
				stale := *a
				stale.Records = []checkpoint.Record{w.record("", checkpoint.KindEntry, "stale")}
				stale.Records[0].Pos--
				w.next[""]--
				if _, err := w.Append(t.Context(), &stale); !errors.Is(err, checkpoint.ErrStale) {
					t.Fatal(err)
				}
				w.append(w.record("", checkpoint.KindEntry, "three"))
				w.do(a) // also when the chain has moved on
				w.append(w.record("", checkpoint.KindEntry, "four"))
				got, err := content(t, kind.wrap(t, &mem, ring("k1")), thread)
				if err != nil || !strings.Contains(got, "three") || !strings.Contains(got, "four") || strings.Contains(got, "stale") {
					t.Errorf("%s, %v", got, err)
				}
			})
		}
	}
}

// C12: records of a deleted thread do not fit into the chains of a new one of the same name. Encryption alone does not see
// it, as its documentation says.
func TestRecordsOfAFormerThread(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			var mem checkpoint.Memory
			s := kind.wrap(t, &mem, ring("k1"))
			write := func(body string) []checkpoint.Record {
				w := start(t, s, thread)
				w.append(w.record("", checkpoint.KindEntry, body))
				w.append(w.record("", checkpoint.KindEntry, "the end"))
				rs, err := mem.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: thread}, To: -1})
				if err != nil {
					t.Fatal(err)
				}
				return rs
			}
			old := write("pay 100")
			if err := s.Delete(t.Context(), thread); err != nil {
				t.Fatal(err)
			}
			write("pay 1")
			mixed := kind.wrap(t, &replaced{&mem, old[1]}, ring("k1"))
			got, err := content(t, mixed, thread)
			if kind.name != "encrypt" {
				refused(t, err, secure.ErrTampered)
			} else if err != nil || !strings.Contains(got, "pay 100") {
				t.Errorf("%s, %v: the documentation of the package says that this is not seen", got, err)
			}
		})
	}
}

// replaced is a store in which one record was replaced.
type replaced struct {
	checkpoint.Store
	record checkpoint.Record
}

func (s *replaced) Load(ctx context.Context, key checkpoint.Key, branch int32, ns checkpoint.Namespace) (*checkpoint.Loaded, error) {
	l, err := s.Store.Load(ctx, key, branch, ns)
	s.replace(l.Records)
	return l, err
}

func (s *replaced) Read(ctx context.Context, q checkpoint.Query) ([]checkpoint.Record, error) {
	rs, err := s.Store.Read(ctx, q)
	s.replace(rs)
	return rs, err
}

func (s *replaced) replace(rs []checkpoint.Record) {
	for i := range rs {
		if rs[i].Pos == s.record.Pos && rs[i].Namespace == s.record.Namespace {
			rs[i] = s.record
		}
	}
}

// C12: an anchor survives its trip through JSON; the thread may grow and be trimmed below a snapshot; an older copy of it,
// a cut tail and a chain that is gone are seen.
func TestAnchor(t *testing.T) {
	t.Parallel()
	var mem checkpoint.Memory
	s := sign(t, &mem, ring("k1"))
	w := fill(t, s, thread)
	verify := func(a secure.Anchor) error {
		raw := must[[]byte](t)(json.Marshal(a))
		var back secure.Anchor
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatal(err)
		}
		return sign(t, &mem, ring("k2", "k1")).Verify(t.Context(), thread, back)
	}
	anchor := must[secure.Anchor](t)(s.Anchor(t.Context(), thread))
	if len(anchor.Tails) != 2 || anchor.Tails[0].Pos != 8 || anchor.Tails[1].Pos != 1 {
		t.Fatalf("%+v", anchor)
	}
	if err := errors.Join(verify(anchor), verify(secure.Anchor{})); err != nil {
		t.Fatal(err)
	}
	for range 3 * 64 { // more than a page
		w.append(w.record("", checkpoint.KindEntry, "more"))
	}
	later := must[secure.Anchor](t)(s.Anchor(t.Context(), thread))
	if err := errors.Join(verify(anchor), verify(later)); err != nil {
		t.Errorf("a thread that has grown: %v", err)
	}
	w.append(w.record("", checkpoint.KindEntry, "more"), w.record("", checkpoint.KindSnapshot, "snapshot"))
	if _, err := s.Trim(t.Context(), checkpoint.Chain{Key: thread}, w.next[""]-1); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(verify(anchor), verify(later)); err != nil {
		t.Errorf("a thread that was trimmed below a snapshot: %v", err)
	}
	w.append(w.record("", checkpoint.KindEntry, "more"))
	if _, err := s.Trim(t.Context(), checkpoint.Chain{Key: thread}, w.next[""]-1); err != nil {
		t.Fatal(err)
	}
	refused(t, verify(secure.Anchor{}), secure.ErrTampered) // no chain begins with an entry

	if err := s.Delete(t.Context(), thread); err != nil {
		t.Fatal(err)
	}
	refused(t, verify(anchor), secure.ErrTampered)
	again := start(t, s, thread)
	for range 12 {
		again.append(again.record("", checkpoint.KindEntry, "another"), again.record(child, checkpoint.KindInput, "another"))
	}
	bad := refused(t, verify(anchor), secure.ErrTampered)
	if !strings.Contains(bad.Row, "record 8") {
		t.Errorf("%v", bad)
	}
	if err := s.Verify(t.Context(), checkpoint.Key{Tenant: "tenant", Thread: "other"}, anchor); err == nil {
		t.Error("an anchor of another thread is right")
	}
}

// E53, C12: the wrappers make no call of their own in the ordinary course of a thread; a takeover by another process reads
// one record more for each chain that it has not loaded.
func TestCallsBelow(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			var mem checkpoint.Memory
			below := faultstore.New(&mem)
			w := start(t, kind.wrap(t, below, ring("k1")), thread)
			for range 10 {
				w.append(w.record("", checkpoint.KindEntry, "e"), w.record(child, checkpoint.KindEntry, "e"))
			}
			w.park(checkpoint.Park{Status: checkpoint.Completed})
			w.acquire("run-2", w.record("", checkpoint.KindInput, "i"))
			for range 10 {
				w.append(w.record("", checkpoint.KindEntry, "e"), w.record(child, checkpoint.KindEntry, "e"))
			}
			if n := below.Calls("Read"); n != 0 {
				t.Errorf("%d reads; want none", n)
			}

			below = faultstore.New(&mem)
			w.Store = kind.wrap(t, below, ring("k1"))
			takeover := &checkpoint.Acquire{Key: thread, Mode: checkpoint.Steal, Seen: w.nonce, Nonce: checkpoint.NewNonce(), TTL: time.Hour}
			must[checkpoint.Head](t)(w.Acquire(t.Context(), takeover))
			must[*checkpoint.Loaded](t)(w.Load(t.Context(), thread, 0, ""))
			w.nonce, w.epoch, w.count = takeover.Nonce, w.epoch+1, 0
			for range 10 {
				w.append(w.record("", checkpoint.KindEntry, "e"), w.record(child, checkpoint.KindEntry, "e"))
			}
			want := 1
			if kind.name == "encrypt" {
				want = 0
			}
			if n := below.Calls("Read"); n != want {
				t.Errorf("%d reads after a takeover; want %d", n, want)
			}
			if s, ok := w.Store.(*secure.Signed); ok {
				if err := s.Verify(t.Context(), thread, secure.Anchor{}); err == nil {
					t.Error("the child chain begins with an entry, and Verify is content")
				}
			}
			must[string](t)(content(t, w.Store, thread))
		})
	}
}

// C12: more threads and chains than the wrapper remembers: it forgets, reads again, and chains to the right record.
func TestForgottenTails(t *testing.T) {
	t.Parallel()
	s := sign(t, new(checkpoint.Memory), ring("k1"))
	w := start(t, s, thread)
	var spaces []checkpoint.Namespace
	for i := range 200 {
		spaces = append(spaces, checkpoint.NamespaceOf(fmt.Sprint(i)))
	}
	for range 3 {
		for _, ns := range spaces {
			w.append(w.record(ns, checkpoint.KindSnapshot, "s"))
		}
		slices.Reverse(spaces)
	}
	if err := s.Verify(t.Context(), thread, secure.Anchor{}); err != nil {
		t.Error(err)
	}
}

// C12: what one process remembers of a thread is not used for one of the same name that another process has made since.
func TestTailsOfAFormerThread(t *testing.T) {
	t.Parallel()
	var mem checkpoint.Memory
	here, there := sign(t, &mem, ring("k1")), sign(t, &mem, ring("k1"))
	w := start(t, here, thread)
	w.append(w.record(child, checkpoint.KindInput, "of the former thread"))
	if err := there.Delete(t.Context(), thread); err != nil {
		t.Fatal(err)
	}
	w = start(t, there, thread)
	w.append(w.record(child, checkpoint.KindInput, "of the new thread"))
	w.park(checkpoint.Park{Status: checkpoint.Completed})
	w.acquire("run-2", w.record("", checkpoint.KindInput, "i"))
	w.Store = here
	w.append(w.record(child, checkpoint.KindEntry, "e"))
	if err := there.Verify(t.Context(), thread, secure.Anchor{}); err != nil {
		t.Error(err)
	}
}
