package record_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/alloctest"
	"github.com/holdfast-go/holdfast/internal/record"
	"github.com/holdfast-go/holdfast/state"
)

type all struct {
	List  state.List[string]      `json:"list"`
	Last  state.Last[*int]        `json:"last"`
	Map   state.Map[string, int]  `json:"map"`
	Set   state.Set[int]          `json:"set"`
	Sum   state.Sum[float64]      `json:"sum"`
	Once  state.Ephemeral[string] `json:"once"`
	Table state.Keyed[row]        `json:"table"`
}

type row struct{ ID, Text string }

func (r row) Key() string { return r.ID }

// logs are the logs of real threads: inputs, entries, results, effects, pauses, edits, settles and snapshots.
func logs(t testing.TB) (out [][]checkpoint.Record) {
	g := graph.New[all]("fuzz")
	each := graph.Each(g, "each", func(ctx context.Context, s *all, n int) error {
		s.List.Append("x")
		s.Map.Put("k", n)
		s.Sum.Add(1)
		_, err := graph.Once(ctx, "once", func(context.Context, string) (int, error) { return n, nil })
		return err
	})
	g.Node("write", func(ctx context.Context, s *all) error {
		n := 3
		s.Last.Set(&n)
		s.Set.Add(1, 2)
		s.Once.Set("gone")
		s.Table.Put(row{"a", "b"})
		s.Table.Remove("nobody")
		if s.List.Len() == 0 {
			s.List.Append(string(bytes.Repeat([]byte("y"), 20_000)))
		}
		return nil
	})
	g.Node("ask", func(ctx context.Context, s *all) error { _, err := graph.Ask[bool](ctx, "q", "?"); return err })
	g.Node("fail", func(ctx context.Context, s *all) error { return errors.New("no") })
	g.Route(graph.Start, func(ctx context.Context, s *all) (graph.Next, error) {
		return each.Send(1, 2, 3).And(graph.To("write")), nil
	}, "each", "write")
	g.Join([]string{"each", "write"}, "ask")
	g.Edge("ask", "fail")
	store := new(checkpoint.Memory)
	app, err := g.Compile(graph.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"asked", "failed", "again", "cancelled", "edited"} {
		th := graph.ID(name)
		_, err := app.Run(t.Context(), th, nil)
		switch name {
		case "failed", "again":
			app.Resume(t.Context(), th, graph.AnswerOnly(true))
			if name == "again" {
				app.Run(t.Context(), th, func(s *all) { s.List.Replace("short") })
			}
		case "cancelled":
			err = app.Cancel(t.Context(), th)
		case "edited":
			_, err = app.Resume(t.Context(), th, graph.Update(func(s *all) { s.Sum.Replace(7) }), graph.Goto(graph.To("write")))
		}
		if err != nil && !errors.Is(err, graph.ErrInterrupted) {
			t.Fatal(err)
		}
		recs, err := store.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: checkpoint.Key{Tenant: th.Tenant, Thread: name}}, To: -1})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, recs)
	}
	return out
}

// flat writes records as lines: the kind, then the body. JSON has no line breaks of its own here.
func flat(recs []checkpoint.Record) (b []byte) {
	for _, r := range recs {
		b = append(append(append(b, byte(r.Kind)), r.Body...), '\n')
	}
	return b
}

func unflat(b []byte) (recs []checkpoint.Record) {
	for line := range bytes.SplitSeq(b, []byte("\n")) {
		if len(line) > 0 {
			recs = append(recs, checkpoint.Record{Pos: int64(len(recs)), Step: int64(len(recs)), Kind: checkpoint.Kind(line[0]), Body: line[1:]})
		}
	}
	return recs
}

// perValue is what one value of a body may cost: the largest is a task of an entry, with what encoding/json takes to let a list
// of them grow, and a copy.
const perValue = 2048

// FuzzFold folds arbitrary bodies of arbitrary kinds: no panic, and memory for no more than is there. What folds is a
// state that a snapshot keeps. // report 120
func FuzzFold(f *testing.F) {
	kinds := map[checkpoint.Kind]bool{}
	for _, recs := range logs(f) {
		f.Add(flat(recs))
		for i, r := range recs {
			kinds[r.Kind] = true
			f.Add(flat(recs[:i]))
			f.Add(flat(slices.Concat(recs[:i], recs[min(i+1, len(recs)):])))
		}
	}
	for _, k := range []checkpoint.Kind{checkpoint.KindInput, checkpoint.KindEntry, checkpoint.KindResult, checkpoint.KindOnce, checkpoint.KindPause, checkpoint.KindSettle, checkpoint.KindEdit, checkpoint.KindSnapshot} {
		if !kinds[k] {
			f.Errorf("no seed has a record of kind %c", k)
		}
	}
	f.Add([]byte("I\x01null\nE\x01{\"t\":[{\"r\":true}]}\nX\x01{}\nV\x01{\"t\":null}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		recs := unflat(b)
		docs := make([][]byte, len(recs))
		for i, r := range recs {
			docs[i] = r.Body[min(1, len(r.Body)):] // behind the version
		}
		var th *record.Thread
		var err error
		alloctest.Bound(t, perValue, func() { th, err = record.Fold(recs) }, docs...)
		if err != nil {
			if !errors.Is(err, checkpoint.ErrCorrupt) && !errors.Is(err, checkpoint.ErrNewerFormat) {
				t.Fatalf("not ErrCorrupt: %v", err)
			}
			return
		}
		body, err := record.Encode(th.Snapshot())
		if err != nil {
			t.Fatalf("what was folded cannot be written: %v", err)
		}
		again, err := record.Fold([]checkpoint.Record{{Kind: checkpoint.KindSnapshot, Body: body}})
		if err != nil {
			t.Fatalf("its snapshot cannot be read: %v\n%s", err, body)
		}
		if body2, err := record.Encode(again.Snapshot()); err != nil || !bytes.Equal(body, body2) {
			t.Fatalf("%v: a snapshot of a snapshot differs:\n%s\n%s", err, body, body2)
		}
	})
}

// FuzzSegments decodes arbitrary bytes as a namespace: what decodes encodes to the same bytes or was not canonical.
func FuzzSegments(f *testing.F) {
	f.Add("")
	f.Add(string(checkpoint.NamespaceOf("a", "", "t5.2.0")))
	f.Add("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")
	f.Fuzz(func(t *testing.T, s string) {
		var segs []string
		var err error
		alloctest.Bound(t, 0, func() { segs, err = checkpoint.Namespace(s).Segments() }, []byte(s), []byte(s), []byte(s))
		if err != nil {
			return
		}
		back, err := checkpoint.NamespaceOf(segs...).Segments()
		if err != nil || !slices.Equal(back, segs) {
			t.Fatalf("%q -> %q -> %q %v", s, segs, back, err)
		}
	})
}

// Many of the smallest values of each body, whole and cut, and namespaces that claim more than is there. // report 120
func TestAllocationIsBounded(t *testing.T) { // not parallel: it reads the counters of the process
	const n = 10_000
	for kind, doc := range map[checkpoint.Kind][3]string{
		checkpoint.KindEntry: {`{"t":[`, "{},", "{}]}"}, checkpoint.KindInput: {`{"w":[`, "[],", "[]]}"}, checkpoint.KindResult: {`{"s":[`, "{},", "{}]}"},
		checkpoint.KindPause: {`{"q":[`, "{},", "{}]}"}, checkpoint.KindSnapshot: {`{"next":[`, "{},", "{}]}"}, checkpoint.KindSettle: {`{"gone":[`, "{},", "{}]}"},
		checkpoint.KindEdit: {`{"j":[`, "{},", "{}]}"}, checkpoint.KindVoid: {`{"t":[`, `"",`, `""]}`}, checkpoint.KindOnce: {`{"v":[`, `"",`, `""]}`},
	} {
		whole := doc[0] + strings.Repeat(doc[1], n) + doc[2]
		for _, d := range []string{whole, whole[:len(whole)-1], doc[0] + strings.Repeat("[", n), `{"w":[["a","last",` + whole + `]]}`} {
			recs := []checkpoint.Record{{Kind: checkpoint.KindInput, Body: []byte("\x01{}")}, {Pos: 1, Kind: kind, Body: []byte("\x01" + d)}}
			if kind == checkpoint.KindInput || kind == checkpoint.KindSnapshot {
				recs[1].Pos, recs = 0, recs[1:]
			}
			alloctest.Bound(t, perValue, func() { _, _ = record.Fold(recs) }, []byte(d))
		}
	}
	for _, claim := range []uint64{1 << 20, 1 << 40, 1<<63 - 1, 1<<64 - 1} {
		ns := binary.AppendUvarint(nil, claim)
		alloctest.Bound(t, 0, func() { _, _ = checkpoint.Namespace(ns).Segments() }, ns)
	}
}
