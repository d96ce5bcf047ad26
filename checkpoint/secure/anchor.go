package secure

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// An Anchor says where every chain of a thread ended at one moment. Kept outside the database it lets Verify see that a
// tail was cut, or that the whole thread was put back to an older copy. It can be stored as JSON and holds no content.
type Anchor struct {
	Tenant string `json:"tenant"`
	Thread string `json:"thread"`
	Tails  []Tail `json:"tails"` // by branch, then namespace
}

// A Tail is the last record of a chain.
type Tail struct {
	Branch    int32  `json:"branch"`
	Namespace []byte `json:"namespace,omitempty"` // encoded; it need not be text
	Pos       int64  `json:"pos"`
	MAC       []byte `json:"mac"`
}

// Anchor returns where the chains of a thread end now. An unknown thread has no tails, and a chain that is not yet signed
// is left out. It reads one record of each chain, and proves these records only; Verify proves the rest.
func (s *Signed) Anchor(ctx context.Context, key checkpoint.Key) (Anchor, error) {
	a := Anchor{Tenant: key.Tenant, Thread: key.Thread}
	err := eachChain(ctx, s.inner, key, func(c checkpoint.Chain, last int64) error {
		records, err := s.inner.Read(ctx, checkpoint.Query{Chain: c, From: last, To: last})
		if err != nil {
			return err
		}
		for i := range records {
			r := &records[i]
			if s.ring.adopt && !sealed(r.Body, formSignedRecord) {
				continue
			}
			m, err := s.macOf(key, r)
			if err != nil {
				return err
			}
			a.Tails = append(a.Tails, Tail{c.Branch, []byte(c.Namespace), last, m[:]})
		}
		return nil
	})
	return a, err
}

// macOf checks a stored record by itself and returns its MAC.
func (s *Signed) macOf(key checkpoint.Key, r *checkpoint.Record) (mac, error) {
	if !sealed(r.Body, formSignedRecord) {
		at := row{key: key, record: r}
		return mac{}, at.refuse(ErrPlain)
	}
	_, _, next, err := s.chain.openRecord(key, r)
	return next.mac, err
}

// Verify reads all of a thread and returns the first thing that is wrong, as a *RowError: a row that was edited, moved or
// forged, a gap, a chain that does not begin where one may begin, and, against an anchor, a chain that ends before it or
// ends differently. A chain that has grown since is right, and so is one whose records below a snapshot were trimmed. The
// zero Anchor compares nothing. A Trim that goes on meanwhile may look like a gap: verify again.
func (s *Signed) Verify(ctx context.Context, key checkpoint.Key, a Anchor) error {
	if len(a.Tails) > 0 && (checkpoint.Key{Tenant: a.Tenant, Thread: a.Thread}) != key {
		at := row{key: key, what: "anchor of another thread"}
		return at.refuse(ErrTampered)
	}
	want := slices.Clone(a.Tails)
	err := eachChain(ctx, s.inner, key, func(c checkpoint.Chain, last int64) error {
		i := slices.IndexFunc(want, func(t Tail) bool { return t.Branch == c.Branch && string(t.Namespace) == string(c.Namespace) })
		if i < 0 {
			return s.verifyChain(ctx, c, nil)
		}
		t := want[i]
		want = slices.Delete(want, i, i+1)
		return s.verifyChain(ctx, c, &t)
	})
	if err != nil {
		return err
	}
	if len(want) > 0 {
		return cut(key, want[0], "its chain is gone")
	}
	return s.verifyRows(ctx, key)
}

// cut is the error of a record that an anchor names and that is not there.
func cut(key checkpoint.Key, t Tail, why string) error {
	at := row{key: key, record: &checkpoint.Record{Branch: t.Branch, Namespace: checkpoint.Namespace(t.Namespace), Pos: t.Pos, Kind: '?'}}
	return at.refuse(fmt.Errorf("%w: %s", ErrTampered, why))
}

// verifyChain walks a chain from its first stored record to its tail.
func (s *Signed) verifyChain(ctx context.Context, c checkpoint.Chain, anchor *Tail) error {
	w := walk{s: s, chain: c, anchor: anchor, found: anchor == nil}
	err := eachRecord(ctx, s.inner, c, w.visit)
	if err == nil && !w.found {
		return cut(c.Key, *anchor, "the chain ends before it")
	}
	return err
}

// A walk is a walk along a chain.
type walk struct {
	s      *Signed
	chain  checkpoint.Chain
	anchor *Tail
	found  bool                // the anchor was there, or retention has removed it
	last   []checkpoint.Record // the record before, as it is stored; empty at the first
	plain  int                 // 1 if that one is not signed
}

func (w *walk) visit(r *checkpoint.Record) error {
	signed := sealed(r.Body, formSignedRecord)
	if len(w.last) == 0 {
		if err := begins(w.chain.Key, r); err != nil {
			return err
		}
		w.found = w.found || w.anchor.Pos < r.Pos
		w.plain = 1
	}
	if !signed && (!w.s.ring.adopt || w.plain == 0) {
		at := row{key: w.chain.Key, record: r}
		return at.refuse(ErrPlain)
	}
	two := append(w.last, *r)
	if err := places(w.chain, two); err != nil {
		return err
	}
	if signed {
		if err := w.s.chain.openRecords(w.chain.Key, slices.Clone(two), min(w.plain, len(w.last))); err != nil {
			return err
		}
		w.plain = 0
	}
	w.last = []checkpoint.Record{*r}
	if w.anchor == nil || r.Pos != w.anchor.Pos {
		return nil
	}
	m, err := w.s.macOf(w.chain.Key, r)
	if err != nil {
		return err
	}
	if w.found = bytes.Equal(m[:], w.anchor.MAC); !w.found {
		return cut(w.chain.Key, *w.anchor, "it is not the one of the anchor")
	}
	return nil
}

// begins checks the first stored record of a chain: one that stands on its own, so that retention needs no anchor.
func begins(key checkpoint.Key, r *checkpoint.Record) error {
	switch {
	case r.Kind == checkpoint.KindInput && r.Pos == 0, r.Kind == checkpoint.KindSnapshot, r.Kind == checkpoint.KindSeal:
		return nil
	}
	at := row{key: key, record: r}
	return at.refuse(fmt.Errorf("%w: no chain begins with it", ErrTampered))
}

// verifyRows opens the rows of a thread that are no records.
func (s *Signed) verifyRows(ctx context.Context, key checkpoint.Key) error {
	return eachRow(ctx, s.inner, key, rowVisitor{question: s.openQuestion, command: func(c *checkpoint.Command) error {
		return s.openCommands([]checkpoint.Command{*c})
	}, run: s.openRun})
}
