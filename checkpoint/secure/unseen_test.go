package secure_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/secure"
)

// A swapped store hands out rows as a forger has put them.
type swapped struct {
	checkpoint.Store
	records []checkpoint.Record // of the root chain: instead of those at their positions
	from    int64               // nothing of the root chain below this is left
	inbox   bool                // commands change places
}

func (s *swapped) Load(ctx context.Context, key checkpoint.Key, branch int32, ns checkpoint.Namespace) (*checkpoint.Loaded, error) {
	l, err := s.Store.Load(ctx, key, branch, ns)
	s.swap(l.Records)
	l.Inbox = s.turn(l.Inbox)
	return l, err
}

func (s *swapped) Read(ctx context.Context, q checkpoint.Query) ([]checkpoint.Record, error) {
	q.From = max(q.From, s.from)
	rs, err := s.Store.Read(ctx, q)
	s.swap(rs)
	return rs, err
}

func (s *swapped) Inbox(ctx context.Context, key checkpoint.Key) ([]checkpoint.Command, error) {
	cs, err := s.Store.Inbox(ctx, key)
	return s.turn(cs), err
}

func (s *swapped) swap(rs []checkpoint.Record) {
	for i := range rs {
		for _, r := range s.records {
			if r.Pos == rs[i].Pos && r.Namespace == rs[i].Namespace {
				rs[i] = r
			}
		}
	}
}

func (s *swapped) turn(cs []checkpoint.Command) []checkpoint.Command {
	if s.inbox && len(cs) == 2 {
		cs[0].N, cs[1].N = cs[1].N, cs[0].N
		cs[0], cs[1] = cs[1], cs[0]
	}
	return cs
}

// C12: a chain whose records from the last snapshot on are those of a deleted thread of the same name passes Load. Verify sees the
// seam, and where retention has left nothing below it, an anchor does. The documentation of the package says so.
func TestTailOfAFormerThread(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			var mem checkpoint.Memory
			s := kind.wrap(t, &mem, ring("k1"))
			write := func(body string) []checkpoint.Record {
				w := start(t, s, thread)
				w.append(w.record("", checkpoint.KindEntry, body), w.record("", checkpoint.KindSnapshot, body))
				w.append(w.record("", checkpoint.KindEntry, "the end"))
				return must[[]checkpoint.Record](t)(mem.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: thread}, To: -1}))
			}
			old := write("pay 100")
			if err := s.Delete(t.Context(), thread); err != nil {
				t.Fatal(err)
			}
			write("pay 1")
			forged := &swapped{Store: &mem, records: old[2:]}
			l, err := kind.wrap(t, forged, ring("k1")).Load(t.Context(), thread, checkpoint.Active, "")
			if err != nil || len(l.Records) != 2 || string(l.Records[0].Body) != "pay 100" {
				t.Fatalf("%+v, %v: the documentation of the package says that Load does not see it", l, err)
			}
			if kind.name == "encrypt" {
				return
			}
			anchor := must[secure.Anchor](t)(sign(t, &mem, ring("k1")).Anchor(t.Context(), thread))
			refused(t, sign(t, forged, ring("k1")).Verify(t.Context(), thread, secure.Anchor{}), secure.ErrTampered)
			forged.from = 2
			if err := sign(t, forged, ring("k1")).Verify(t.Context(), thread, secure.Anchor{}); err != nil {
				t.Errorf("%v: the documentation of the package says that Verify alone does not see it", err)
			}
			refused(t, sign(t, forged, ring("k1")).Verify(t.Context(), thread, anchor), secure.ErrTampered)
		})
	}
}

// C12: nothing binds a command to its place in the queue, as the documentation of the package says.
func TestReorderedCommands(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			var mem checkpoint.Memory
			w := start(t, kind.wrap(t, &mem, ring("k1")), thread)
			for i := range 2 {
				w.post(checkpoint.Command{Kind: checkpoint.CommandInput, Body: fmt.Append(nil, i)})
			}
			s := kind.wrap(t, &swapped{Store: &mem, inbox: true}, ring("k1"))
			l := must[*checkpoint.Loaded](t)(s.Load(t.Context(), thread, checkpoint.Active, ""))
			inbox := must[[]checkpoint.Command](t)(s.Inbox(t.Context(), thread))
			for _, cs := range [][]checkpoint.Command{l.Inbox, inbox} {
				if len(cs) != 2 || string(cs[0].Body) != "1" || string(cs[1].Body) != "0" || cs[0].N != 1 {
					t.Errorf("the commands are %+v", cs)
				}
			}
		})
	}
}
