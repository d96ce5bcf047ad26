package graph_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/state"
)

// onEachStore runs a test on the memory store and on a SQLite file.
func onEachStore(t *testing.T, test func(*testing.T, checkpoint.Store)) {
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		test(t, new(checkpoint.Memory))
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		s, err := sqlite.Open(filepath.Join(t.TempDir(), "t.db"), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		test(t, s)
	})
}

type point struct{ X, Y int }

// A uuid is an array that is written as text, as the usual packages have it.
type uuid [4]byte

func (u uuid) MarshalText() ([]byte, error) { return []byte("uuid-" + string(u[:])), nil }
func (u *uuid) UnmarshalText(b []byte) error {
	copy(u[:], strings.TrimPrefix(string(b), "uuid-"))
	return nil
}

type poison struct {
	Text   state.Last[string]                     `json:"text"`
	Said   state.Map[string, string]              `json:"said"`
	Raw    state.List[json.RawMessage]            `json:"raw"`
	Times  state.List[time.Time]                  `json:"times"`
	When   state.Last[map[string][]time.Time]     `json:"when"`
	Ints   state.Map[int, string]                 `json:"ints"`
	Points state.Map[point, string]               `json:"points"`
	Ids    state.Map[uuid, string]                `json:"ids"`
	Inner  state.Last[map[int]map[uuid]string]    `json:"inner"`
	Big    state.List[*big.Rat]                   `json:"big"`
	Seen   state.Set[string]                      `json:"seen"`
	Rows   state.Last[struct{ Cells [][]string }] `json:"rows"`
}

// Values that other systems lose, refuse or change come back as they were, from every store.
// report 109: NUL in values and keys. report 110: the escape of a NUL as six characters, and in raw JSON. report 113: numbers of
// any size. report 114: lists of times. report 115: keys that are not strings; 1 and "1" are two keys.
func TestStrangeValuesComeBack(t *testing.T) {
	t.Parallel()
	const nul, literal = "a\x00b", `a\u0000b`
	zone := time.FixedZone("", -(9*60+30)*60)
	times := []time.Time{
		{}, time.Unix(0, 1).UTC(), time.Date(2024, 2, 29, 23, 59, 59, 999_999_999, zone), time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(9999, 12, 31, 23, 59, 59, 1, time.UTC),
	}
	rat, _ := new(big.Rat).SetString(strings.Repeat("9", 400) + "/7")
	write := func(s *poison) {
		s.Text.Set(nul + literal)
		s.Said.Put(nul, literal)
		s.Said.Put(literal, nul)
		s.Raw.Append(json.RawMessage(`"a\u0000b"`), json.RawMessage(`{"a\u0000":"\\u0000"}`), json.RawMessage(`9007199254740993`))
		s.Times.Append(times...)
		s.When.Set(map[string][]time.Time{"all": times, "none": nil, "empty": {}})
		s.Ints.Put(1, "one")
		s.Ints.Put(-1, "minus")
		s.Said.Put("1", "text")
		s.Points.Put(point{1, 2}, nul)
		s.Points.Put(point{2, 1}, "other")
		s.Ids.Put(uuid{'1', '2', '3', '4'}, literal)
		s.Inner.Set(map[int]map[uuid]string{1: {{'a', 'b', 'c', 'd'}: nul}, -7: nil})
		s.Big.Append(rat, big.NewRat(1, 3))
		s.Seen.Add("1", nul, literal)
		s.Rows.Set(struct{ Cells [][]string }{[][]string{nil, {}, {nul, ""}}})
	}
	want := new(poison)
	write(want)
	onEachStore(t, func(t *testing.T, store checkpoint.Store) {
		build := func() *graph.App[poison] {
			g := graph.New[poison]("poison")
			g.Node("write", func(_ context.Context, s *poison) error { write(s); return nil })
			g.Edge(graph.Start, "write")
			return compile(t, g, graph.Options{Store: store})
		}
		meta := graph.RunOptions{Meta: map[string]string{"k": literal}}
		live, err := build().With(meta).Run(t.Context(), graph.ID("1"), nil)
		if err != nil {
			t.Fatal(err)
		}
		saved, err := build().State(t.Context(), graph.ID("1"))
		if err != nil || saved.Meta["k"] != literal {
			t.Fatalf("%v, metadata %q", err, saved.Meta)
		}
		for from, s := range map[string]*poison{"live": live, "saved": saved.State} {
			for field, pair := range map[string][2]any{
				"text": {s.Text.Get(), want.Text.Get()}, "raw": {s.Raw.Slice(), want.Raw.Slice()}, "big": {s.Big.Slice(), want.Big.Slice()},
				"said": {mapOf(s.Said.All()), mapOf(want.Said.All())}, "ints": {mapOf(s.Ints.All()), mapOf(want.Ints.All())},
				"points": {mapOf(s.Points.All()), mapOf(want.Points.All())}, "ids": {mapOf(s.Ids.All()), mapOf(want.Ids.All())},
				"inner": {s.Inner.Get(), want.Inner.Get()}, "rows": {s.Rows.Get(), want.Rows.Get()}, "seen": {s.Seen.Len(), want.Seen.Len()},
			} {
				if !reflect.DeepEqual(pair[0], pair[1]) {
					t.Errorf("%s %s: %#v, want %#v", from, field, pair[0], pair[1])
				}
			}
			sameTimes(t, from, s.Times.Slice(), times)
			sameTimes(t, from, s.When.Get()["all"], times)
			if m := s.When.Get(); len(m) != 3 || m["none"] != nil || m["empty"] == nil {
				t.Errorf("%s: nil and empty became %v", from, m)
			}
		}
	})
}

func mapOf[K comparable, V any](all func(func(K, V) bool)) map[K]V {
	m := map[K]V{}
	for k, v := range all {
		m[k] = v
	}
	return m
}

// sameTimes wants the same instants, to the nanosecond, at the same offsets.
func sameTimes(t *testing.T, from string, got, want []time.Time) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d times, want %d", from, len(got), len(want))
	}
	for i := range got {
		_, a := got[i].Zone()
		_, b := want[i].Zone()
		if !got[i].Equal(want[i]) || a != b {
			t.Errorf("%s: %v, want %v", from, got[i], want[i])
		}
	}
}

// What cannot be kept is refused with its place, before anything of it is stored; the thread is as it was and goes on.
// report 109: NUL in metadata, which not every database can search by. report 113: a number that JSON does not have.
// report 114: a year beyond 9999.
func TestRefusedValuesLeaveTheThreadWhole(t *testing.T) {
	t.Parallel()
	type sums struct {
		When state.Last[map[string][]time.Time] `json:"when"`
		Part state.List[[2]float64]             `json:"part"`
		Runs state.Sum[int]                     `json:"runs"`
	}
	onEachStore(t, func(t *testing.T, store checkpoint.Store) {
		bad := func(*sums) {}
		g := graph.New[sums]("sums")
		g.Node("add", func(_ context.Context, s *sums) error { s.Runs.Add(1); bad(s); return nil })
		g.Edge(graph.Start, "add")
		app, th := compile(t, g, graph.Options{Store: store}), graph.ID("1")
		if _, err := app.Run(t.Context(), th, nil); err != nil {
			t.Fatal(err)
		}
		before, err := app.State(t.Context(), th)
		if err != nil {
			t.Fatal(err)
		}
		_, err = app.With(graph.RunOptions{Meta: map[string]string{"k": "a\x00b"}}).Run(t.Context(), th, nil)
		wantErr(t, err, checkpoint.ErrBadKey)
		if now, err := app.State(t.Context(), th); err != nil || now.Entry != before.Entry || now.Run != before.Run {
			t.Fatalf("%v: entry %d of run %s was %d of %s", err, now.Entry, now.Run, before.Entry, before.Run)
		}
		zero := 0.0
		for path, write := range map[string]func(*sums){
			`["a"][1]`: func(s *sums) {
				s.When.Set(map[string][]time.Time{"a": {{}, time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)}})
			},
			`[1][0]`: func(s *sums) { s.Part.Append([2]float64{1, 2}, [2]float64{zero / zero, 0}) },
		} {
			bad = write
			_, err = app.Run(t.Context(), th, nil)
			if v, ok := errors.AsType[*state.ValueError](err); !ok || v.Path != path {
				t.Errorf("%v, want a *ValueError at %s", err, path)
			}
		}
		bad = func(*sums) {}
		s, err := app.Resume(t.Context(), th)
		if err != nil || s.Runs.Get() != 2 || s.Part.Len() != 0 {
			t.Fatalf("%v: %d runs, %d parts", err, s.Runs.Get(), s.Part.Len())
		}
	})
}

// report 118: the error of a task is kept as text, whatever its type holds, beside a sibling that asks; an error value in a
// state is refused when the graph is compiled.
func TestErrorsAreStoredAsData(t *testing.T) {
	t.Parallel()
	type kept struct {
		Err state.Last[error] `json:"err"`
	}
	if _, err := graph.New[kept]("kept").Compile(graph.Options{}); err == nil || !strings.Contains(err.Error(), "kept.Err") {
		t.Fatalf("an error value in a state: %v", err)
	}
	onEachStore(t, func(t *testing.T, store checkpoint.Store) {
		fails := true
		app := compile(t, fan(map[string]func(context.Context, *notes) error{
			"ask": func(ctx context.Context, s *notes) error {
				_, err := graph.Ask[bool](ctx, "q", "?")
				return err
			},
			"fail": func(context.Context, *notes) error {
				if fails {
					return unspeakable{func() {}, make(chan int)}
				}
				return nil
			},
		}), graph.Options{Store: store})
		_, err := app.Run(t.Context(), graph.ID("1"), nil)
		if in := paused(t, err); len(in.Questions) != 1 {
			t.Fatalf("%d questions", len(in.Questions))
		}
		if e, ok := errors.AsType[unspeakable](err); !ok || e.ch == nil {
			t.Errorf("the live error is %v", err)
		}
		st, err := app.State(t.Context(), graph.ID("1"))
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, task := range st.Next {
			if task.Node == "fail" {
				text = task.Error
			}
		}
		if !strings.Contains(text, "unspeakable") {
			t.Errorf("the stored error is %q", text)
		}
		fails = false
		if _, err := app.Resume(t.Context(), graph.ID("1"), graph.AnswerOnly(true)); err != nil {
			t.Fatal(err)
		}
	})
}

// unspeakable is an error that no encoding takes.
type unspeakable struct {
	fn func()
	ch chan int
}

func (unspeakable) Error() string { return "unspeakable" }
