package record_test

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
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

// FuzzFold folds arbitrary bodies of arbitrary kinds: no panic, and memory in proportion to what was read. What folds is a
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
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		th, err := record.Fold(unflat(b))
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20+uint64(len(b))*4096 {
			t.Fatalf("folding %d bytes took %d bytes of memory", len(b), used)
		}
		if err != nil {
			if !errors.Is(err, checkpoint.ErrCorrupt) {
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
		segs, err := checkpoint.Namespace(s).Segments()
		if err != nil {
			return
		}
		back, err := checkpoint.NamespaceOf(segs...).Segments()
		if err != nil || !slices.Equal(back, segs) {
			t.Fatalf("%q -> %q -> %q %v", s, segs, back, err)
		}
	})
}
