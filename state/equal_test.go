package state_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/holdfast-go/holdfast/state"
)

type item struct {
	ID   string           `json:"id"`
	Tags []string         `json:"tags"`
	More map[string]*int  `json:"more,omitzero"`
	At   time.Time        `json:"at"`
	Note *string          `json:"note"`
	Raw  map[int64][]byte `json:"raw"`
}

func (i item) Key() string { return i.ID }

type maxOf struct{}

func (maxOf) Reduce(acc, w float64) (float64, error) { return max(acc, w), nil }

type joined struct{}

// Reduce refuses "!" and changes both of its arguments.
func (joined) Reduce(acc, w []string) ([]string, error) {
	if slices.Contains(w, "!") {
		return nil, errors.New("no shouting")
	}
	acc = append(acc, w...)
	for i := range w {
		w[i] = "changed"
	}
	return acc, nil
}

type point struct {
	X int    `json:"x"`
	Y string `json:"y"`
}

type group struct {
	Inner state.List[string] `json:"inner"`
}

type every struct {
	Last  state.Last[item]             `json:"last"`
	Text  state.Last[string]           `json:"text"`
	Flat  state.List[int]              `json:"flat"`
	Items state.List[item]             `json:"items"`
	Ptrs  state.List[*item]            `json:"ptrs"`
	Keyed state.Keyed[item]            `json:"keyed"`
	Names state.Map[string, item]      `json:"names"`
	Nums  state.Map[int, []string]     `json:"nums"`
	Pts   state.Map[point, *int]       `json:"pts"`
	Words state.Set[string]            `json:"words"`
	Ints  state.Set[int]               `json:"ints"`
	Sum   state.Sum[int8]              `json:"sum"`
	Float state.Sum[float64]           `json:"float"`
	Max   state.Fold[float64, maxOf]   `json:"max"`
	Join  state.Fold[[]string, joined] `json:"join"`
	Once  state.Ephemeral[[]string]    `json:"once"`
	Live  state.Untracked[func() int]  `json:"live"`
	Group group                        `json:"group"`
}

var (
	words = rapid.SampledFrom([]string{"", "a", "b", "c", "\x00", `"<&>\`, "中文\u2028", "d\te", "!"})
	ints  = rapid.SampledFrom([]int{0, 1, -1, 9, 10, 11, -10, 1<<62 + 1})
	keys  = rapid.SampledFrom([]string{"k1", "k2", "k3", "k\"4", "ключ"})
)

func drawItem(t *rapid.T) item {
	i := item{ID: keys.Draw(t, "id"), Tags: drawStrings(t)}
	if rapid.Bool().Draw(t, "more") {
		n := ints.Draw(t, "n")
		s := words.Draw(t, "note")
		i.Note, i.More = &s, map[string]*int{"x": &n, "y": nil}
		i.Raw = map[int64][]byte{1: nil, -2: {}, 3: {0, 255}}
		i.At = time.Date(2024, 2, 29, 1, 2, 3, 4, time.FixedZone("", 3600*n%40000/60*60))
	}
	return i
}

func drawStrings(t *rapid.T) []string {
	return rapid.SampledFrom([][]string{nil, {}, {"a"}, {"a", "<"}}).Draw(t, "strings")
}

// ops are the writes that a task may make.
var ops = map[string]func(t *rapid.T, s *every){
	"last":          func(t *rapid.T, s *every) { s.Last.Set(drawItem(t)) },
	"text":          func(t *rapid.T, s *every) { s.Text.Set(words.Draw(t, "w")) },
	"flat":          func(t *rapid.T, s *every) { s.Flat.Append(ints.Draw(t, "i"), ints.Draw(t, "j")) },
	"flat.replace":  func(t *rapid.T, s *every) { s.Flat.Replace(ints.Draw(t, "i")) },
	"flat.empty":    func(t *rapid.T, s *every) { s.Flat.Replace() },
	"items":         func(t *rapid.T, s *every) { s.Items.Append(drawItem(t)) },
	"ptrs":          func(t *rapid.T, s *every) { i := drawItem(t); s.Ptrs.Append(&i, nil) },
	"keyed":         func(t *rapid.T, s *every) { s.Keyed.Append(drawItem(t), drawItem(t)) },
	"keyed.remove":  func(t *rapid.T, s *every) { s.Keyed.Remove(keys.Draw(t, "k")) },
	"keyed.replace": func(t *rapid.T, s *every) { s.Keyed.Replace(drawItem(t)) },
	"names":         func(t *rapid.T, s *every) { s.Names.Put(words.Draw(t, "w"), drawItem(t)) },
	"names.delete":  func(t *rapid.T, s *every) { s.Names.Delete(words.Draw(t, "w")) },
	"names.clear":   func(t *rapid.T, s *every) { s.Names.Clear() },
	"nums":          func(t *rapid.T, s *every) { s.Nums.Put(ints.Draw(t, "i"), drawStrings(t)) },
	"nums.replace":  func(t *rapid.T, s *every) { s.Nums.Replace(map[int][]string{2: nil, 1: {}, 10: nil}) },
	"pts":           func(t *rapid.T, s *every) { s.Pts.Put(point{ints.Draw(t, "i"), words.Draw(t, "w")}, nil) },
	"words":         func(t *rapid.T, s *every) { s.Words.Add(words.Draw(t, "w"), words.Draw(t, "w2")) },
	"words.remove":  func(t *rapid.T, s *every) { s.Words.Remove(words.Draw(t, "w")) },
	"words.clear":   func(t *rapid.T, s *every) { s.Words.Clear() },
	"ints":          func(t *rapid.T, s *every) { s.Ints.Add(ints.Draw(t, "i")) },
	"ints.remove":   func(t *rapid.T, s *every) { s.Ints.Remove(ints.Draw(t, "i")) },
	"sum":           func(t *rapid.T, s *every) { s.Sum.Add(rapid.Int8().Draw(t, "n")) },
	"sum.replace":   func(t *rapid.T, s *every) { s.Sum.Replace(rapid.Int8().Draw(t, "n")) },
	"float":         func(t *rapid.T, s *every) { s.Float.Add(rapid.Float64Range(-1e300, 1e300).Draw(t, "x")) },
	"max":           func(t *rapid.T, s *every) { s.Max.Put(rapid.Float64Range(-9, 9).Draw(t, "x")) },
	"max.replace":   func(t *rapid.T, s *every) { s.Max.Replace(1) },
	"join":          func(t *rapid.T, s *every) { s.Join.Put(drawStrings(t)) },
	"once":          func(t *rapid.T, s *every) { s.Once.Set(drawStrings(t)) },
	"live":          func(t *rapid.T, s *every) { s.Live.Set(func() int { return 1 }) },
	"inner":         func(t *rapid.T, s *every) { s.Group.Inner.Append(words.Draw(t, "w")) },
	"reads":         func(t *rapid.T, s *every) { s.Keyed.Last(); s.Names.Len(); s.Words.Len(); s.Join.Get() },
}

var opNames = slices.Sorted(maps.Keys(ops))

// Any writes of any tasks: the typed state, the same state folded without the program, and both after a round trip are one.
// E5, E8, E9, E10
func TestTypedEqualsRaw(t *testing.T) {
	t.Parallel()
	sc := schema[every](t)
	rapid.Check(t, func(t *rapid.T) {
		h, raw := sc.Empty(), state.NewRaw()
		var heads []*state.Head[every]
		var texts []string
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			parts, encoded := drawParts(t, sc, h)
			before, _ := raw.JSON()
			next, folded, err := sc.Commit(h, parts)
			if err != nil {
				// An untracked field has no bytes, so that a raw state knows nothing of its conflicts.
				if c, ok := errors.AsType[*state.ConflictError](err); ok && c.Field != "live" && raw.Apply(encoded, nil) == nil {
					t.Fatalf("the raw state took what was refused: %v", err)
				}
				if after, _ := raw.JSON(); string(after) != string(before) {
					t.Fatalf("a refused step changed the raw state from %s to %s", before, after)
				}
				continue
			}
			if err := raw.Apply(encoded, folded); err != nil {
				t.Fatal(err)
			}
			sameEverywhere(t, sc, next, raw)
			sameDecoded(t, sc, h, encoded, parts, next)
			heads, texts, h = append(heads, next), append(texts, text(t, sc, next)), next
		}
		for i := range heads { // E8: old heads stay readable
			if got := text(t, sc, heads[i]); got != texts[i] {
				t.Fatalf("head %d was %s and became %s", i, texts[i], got)
			}
		}
	})
}

func drawParts(t *rapid.T, sc *state.Schema[every], h *state.Head[every]) (parts []state.Part[every], encoded [][]state.Write) {
	for p := range rapid.IntRange(1, 3).Draw(t, "parts") {
		v := sc.View(h)
		for range rapid.IntRange(0, 6).Draw(t, "writes") {
			ops[rapid.SampledFrom(opNames).Draw(t, "op")](t, v)
		}
		ws, err := sc.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		parts, encoded = append(parts, state.Part[every]{Task: fmt.Sprint("task", p), View: v}), append(encoded, ws)
	}
	return parts, encoded
}

type fatal interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func text[S any](t fatal, sc *state.Schema[S], h *state.Head[S]) string {
	t.Helper()
	b, err := sc.JSON(h)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func sameEverywhere(t fatal, sc *state.Schema[every], h *state.Head[every], raw *state.Raw) {
	t.Helper()
	want := text(t, sc, h)
	if got, _ := raw.JSON(); string(got) != want {
		t.Fatalf("typed %s\nraw   %s", want, got)
	}
	ws := raw.Snapshot()
	var size int64
	for _, w := range ws {
		size += int64(len(w.Data))
	}
	if size != raw.Size() {
		t.Fatalf("size is %d, the snapshot has %d bytes: %s", raw.Size(), size, ws)
	}
	again := state.NewRaw()
	if err := again.Restore(ws); err != nil {
		t.Fatal(err)
	}
	if got, _ := again.JSON(); string(got) != want || again.Size() != size {
		t.Fatalf("restored %s, want %s", got, want)
	}
	typed, err := sc.Restore(again)
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, sc, typed); got != want {
		t.Fatalf("restored to types %s, want %s", got, want)
	}
	if un := sc.Unknown(again); len(un) > 0 {
		t.Fatalf("unknown %v", un)
	}
}

// sameDecoded commits the encoded parts in the place of the live ones.
func sameDecoded(t fatal, sc *state.Schema[every], h *state.Head[every], encoded [][]state.Write, live []state.Part[every], want *state.Head[every]) {
	t.Helper()
	var parts []state.Part[every]
	for i, ws := range encoded {
		v, err := sc.Decode(ws)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, state.Part[every]{Task: live[i].Task, View: v})
	}
	got, _, err := sc.Commit(h, parts)
	if err != nil {
		t.Fatal(err)
	}
	if g, w := text(t, sc, got), text(t, sc, want); g != w {
		t.Fatalf("decoded %s, live %s", g, w)
	}
}

// What a view reads after its writes is what the next step reads, if no other task wrote. E3
func TestViewReadsItsWrites(t *testing.T) {
	t.Parallel()
	sc := schema[every](t)
	rapid.Check(t, func(t *rapid.T) {
		h := sc.Empty()
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			v := sc.View(h)
			for range rapid.IntRange(0, 14).Draw(t, "writes") {
				name := rapid.SampledFrom(opNames).Draw(t, "op")
				ops[name](t, v)
			}
			seen := look(v)
			sub := sc.Sub(v)
			if got := look(sub); got != seen {
				t.Fatalf("the view reads %s, its sub-view %s", seen, got)
			}
			if w := sc.Wrote(sub); w != "" {
				t.Fatalf("a new sub-view wrote %s", w)
			}
			if err := sc.Freeze(v); err != nil {
				t.Fatal(err)
			}
			next, _, err := sc.Commit(h, []state.Part[every]{{Task: "t", View: v}})
			if err != nil {
				continue // the reducer
			}
			if got := look(sc.View(next)); got != seen {
				t.Fatalf("the view read %s, the next step reads %s", seen, got)
			}
			h = next
		}
	})
}

// look prints what reads of s return.
func look(s *every) string {
	var b []any
	b = append(b, s.Last.Has(), s.Last.Get().ID, s.Text.Get(), s.Flat.Slice(), s.Flat.Len(), s.Items.Len(), s.Ptrs.Len())
	for k, v := range s.Keyed.All() {
		_, ok := s.Keyed.Get(k)
		b = append(b, k, v.Tags, ok, s.Keyed.Has(k))
	}
	for k, v := range s.Names.All() {
		w, ok := s.Names.Get(k)
		b = append(b, k, v.ID, w.ID, ok)
	}
	for k, v := range s.Nums.All() {
		b = append(b, k, v == nil, v)
	}
	for k := range s.Pts.All() {
		b = append(b, k)
	}
	b = append(b, slices.Collect(s.Words.All()), s.Words.Len(), slices.Collect(s.Ints.All()))
	b = append(b, s.Sum.Get(), s.Float.Get(), s.Max.Get(), s.Join.Get(), s.Group.Inner.Slice())
	return fmt.Sprintf("%q", fmt.Sprint(b...))
}
