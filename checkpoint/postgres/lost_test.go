package postgres_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/postgres"
	"github.com/holdfast-go/holdfast/internal/testserver"
)

// The chains of a tailed thread.
var (
	lostRoot  = checkpoint.Namespace("")
	lostChild = checkpoint.NamespaceOf("child")
	lostNew   = checkpoint.NamespaceOf("new")
)

// A tailed thread has records in two chains in turn, the root's first, and a holder who has been told that they are written.
type tailed struct {
	key   checkpoint.Key
	nonce checkpoint.Nonce
	ord   int64
	next  map[checkpoint.Namespace]int64 // positions, as the holder counts them
}

// record is the next of a chain, by the holder's count.
func (l *tailed) record(ns checkpoint.Namespace) checkpoint.Record {
	l.ord++
	l.next[ns]++
	return checkpoint.Record{Namespace: ns, Pos: l.next[ns] - 1, Ord: 1<<32 | l.ord, By: l.nonce.Writer(), Kind: checkpoint.KindResult, Body: []byte("x")}
}

func (l *tailed) write(rs ...checkpoint.Record) *checkpoint.Append {
	return &checkpoint.Append{Key: l.key, Nonce: l.nonce, Records: rs}
}

// newTailed writes one record with the acquisition, and four more.
func newTailed(t *testing.T, s checkpoint.Store, thread string) *tailed {
	t.Helper()
	key, nonce := start(t, s, thread)
	l := &tailed{key, nonce, 0, map[checkpoint.Namespace]int64{lostRoot: 1}}
	for i := range 4 {
		if _, err := s.Append(t.Context(), l.write(l.record([]checkpoint.Namespace{lostChild, lostRoot}[i%2]))); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// lostWrites are what a holder may want to write next.
var lostWrites = map[string]func(l *tailed) *checkpoint.Append{
	"root":       func(l *tailed) *checkpoint.Append { return l.write(l.record(lostRoot)) },
	"child":      func(l *tailed) *checkpoint.Append { return l.write(l.record(lostChild)) },
	"new chain":  func(l *tailed) *checkpoint.Append { return l.write(l.record(lostNew)) },
	"two chains": func(l *tailed) *checkpoint.Append { return l.write(l.record(lostChild), l.record(lostNew)) },
	"end": func(l *tailed) *checkpoint.Append {
		a := l.write(l.record(lostNew))
		a.Park = &checkpoint.Park{Status: checkpoint.Completed}
		return a
	},
	"branch": func(l *tailed) *checkpoint.Append {
		r := l.record(lostNew)
		r.Branch = 1
		a := l.write(r)
		a.Branch, a.Activate = &checkpoint.Branch{N: 1, Name: "other", Reason: "fork"}, &r.Branch
		return a
	},
}

// The server comes back without the last records, and with the lease, whose acquisition is older. Whatever its holder writes next, in
// whichever chain, would stand behind a gap: it is refused, and its holder is told why. Whoever takes over has it all to himself. // C13 // C21
func TestLostTail(t *testing.T) {
	t.Parallel()
	o := postgres.Options{Schema: fresh()}
	dropAtEnd(t, o.Schema)
	s := open(t, o)
	for name, write := range lostWrites {
		for lost := range 5 {
			t.Run(fmt.Sprint(name, " behind ", lost), func(t *testing.T) {
				t.Parallel()
				l := newTailed(t, s, t.Name())
				cut := `delete from ` + o.Schema + `.hf_record where tenant = $1 and thread = $2 and ord > $3`
				tag, err := connect(t, testserver.Postgres(t).URL()).Exec(t.Context(), cut, l.key.Tenant, l.key.Thread, 1<<32|(4-lost))
				if err != nil || tag.RowsAffected() != int64(lost) {
					t.Fatalf("%d records were cut off, want %d: %v", tag.RowsAffected(), lost, err)
				}
				before := l.look(t, s)
				_, err = s.Append(t.Context(), write(l))
				switch {
				case lost == 0 && err != nil:
					t.Fatalf("nothing is lost, and a write is %v", err)
				case lost == 0:
					return
				case !errors.Is(err, checkpoint.ErrRolledBack) || !errors.Is(err, checkpoint.ErrStale):
					t.Fatalf("a write behind the loss of %d records is %v; want ErrRolledBack", lost, err)
				}
				if after := l.look(t, s); after != before {
					t.Fatalf("a refused write has changed the thread:\n%s\n%s", before, after)
				}
				l.takenOver(t, s)
			})
		}
	}
}

// look is all of the thread.
func (l *tailed) look(t *testing.T, s checkpoint.Store) string {
	t.Helper()
	head := must(s.Load(t.Context(), l.key, checkpoint.Active, lostRoot))
	return fmt.Sprintf("%+v\n%+v", head, must(s.Chains(t.Context(), l.key, 0)))
}

// takenOver has somebody else go on from what is there, and its old holder come late.
func (l *tailed) takenOver(t *testing.T, s checkpoint.Store) {
	t.Helper()
	next := checkpoint.NewNonce()
	h, err := s.Acquire(t.Context(), &checkpoint.Acquire{Key: l.key, Mode: checkpoint.Steal, Seen: l.nonce, Nonce: next, TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for i, ns := range []checkpoint.Namespace{lostChild, lostNew, lostRoot} {
		r := checkpoint.Record{Namespace: ns, Ord: h.Epoch<<32 | int64(i+1), By: next.Writer(), Kind: checkpoint.KindResult, Body: []byte("y")}
		r.Pos = int64(len(must(s.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: l.key, Namespace: ns}, To: -1}))))
		if _, err := s.Append(t.Context(), &checkpoint.Append{Key: l.key, Nonce: next, Records: []checkpoint.Record{r}}); err != nil {
			t.Fatalf("a write of the next holder is %v", err)
		}
	}
	if _, err := s.Append(t.Context(), l.write(l.record(lostRoot))); !errors.Is(err, checkpoint.ErrStale) || errors.Is(err, checkpoint.ErrRolledBack) {
		t.Fatalf("a write of the old holder is %v; want ErrStale: somebody else has the thread", err)
	}
}
