package state_test

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/state"
)

// step commits one view for each write, in order.
func step[S any](t *testing.T, sc *state.Schema[S], h *state.Head[S], writes ...func(*S)) *state.Head[S] {
	t.Helper()
	var views []*S
	for _, w := range writes {
		v := sc.View(h)
		w(v)
		views = append(views, v)
	}
	return commit(t, sc, h, views...)
}

// refuse commits one view for each write and returns the error.
func refuse[S any](t *testing.T, sc *state.Schema[S], h *state.Head[S], writes ...func(*S)) error {
	t.Helper()
	var parts []state.Part[S]
	for i, w := range writes {
		v := sc.View(h)
		w(v)
		if err := sc.Freeze(v); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, state.Part[S]{Task: "task" + string(rune('0'+i)), View: v})
	}
	next, folded, err := sc.Commit(h, parts)
	if err == nil || next != nil || folded != nil {
		t.Fatalf("committed %v, %v", folded, err)
	}
	return err
}

// Parallel writes merge as the field's type says. E2
func TestMerge(t *testing.T) {
	t.Parallel()
	sc := schema[every](t)
	h := step(t, sc, sc.Empty(), func(s *every) {
		s.Flat.Append(1)
		s.Keyed.Append(item{ID: "a"}, item{ID: "b"}, item{ID: "c"})
		s.Nums.Put(1, nil)
		s.Words.Add("x", "y")
		s.Sum.Add(100)
		s.Max.Put(1)
		s.Once.Set(nil)
	}, func(s *every) {
		s.Flat.Append(2, 3)
		s.Keyed.Put(item{ID: "b", Tags: []string{"new"}})
		s.Keyed.Append(item{ID: "d"})
		s.Nums.Put(1, []string{"later"})
		s.Words.Remove("x")
		s.Sum.Add(100)
		s.Max.Put(3)
	}, func(s *every) { s.Max.Put(2); s.Keyed.Remove("a") })
	v := sc.View(h)
	var ids []string
	for k := range v.Keyed.All() {
		ids = append(ids, k)
	}
	b, _ := v.Keyed.Get("b")
	n, _ := v.Nums.Get(1)
	_, once := v.Once.Get()
	switch {
	case !slices.Equal(v.Flat.Slice(), []int{1, 2, 3}):
		t.Error("list", v.Flat.Slice())
	case strings.Join(ids, "") != "abcd": // the third task did not see "a", so it removed nothing
		t.Error("keyed", ids)
	case !slices.Equal(b.Tags, []string{"new"}) || !slices.Equal(n, []string{"later"}):
		t.Error("the later task does not win", b, n)
	case !v.Words.Has("x"): // the second task did not see it
		t.Error("set")
	case v.Sum.Get() != -56:
		t.Error("sum of int8 does not wrap", v.Sum.Get())
	case v.Max.Get() != 3 || !once:
		t.Error("fold", v.Max.Get(), once)
	}
	h = step(t, sc, h, func(s *every) { s.Keyed.Remove("a") }, func(s *every) { s.Words.Remove("y"); s.Words.Add("y") })
	v = sc.View(h)
	if _, once := v.Once.Get(); once || v.Keyed.Has("a") || !v.Words.Has("y") {
		t.Error("an ephemeral value lives on, or removing does not work")
	}
	if v.Keyed.Remove("a") || v.Nums.Delete(7) || v.Words.Remove("q") || sc.Wrote(v) != "" {
		t.Error("removing what is absent is a write")
	}
	last, ok := v.Keyed.Last()
	if !ok || last.ID != "d" {
		t.Error(last, ok)
	}
}

// Replacing beats the other tasks' writes of the step, whatever the order. E2
func TestReplaceBeats(t *testing.T) {
	t.Parallel()
	sc := schema[every](t)
	h := step(t, sc, sc.Empty(), func(s *every) {
		s.Flat.Append(1)
		s.Keyed.Put(item{ID: "a"})
		s.Nums.Put(1, nil)
		s.Words.Add("x")
		s.Sum.Add(1)
		s.Max.Put(9)
	})
	plain := func(s *every) {
		s.Flat.Append(2)
		s.Keyed.Put(item{ID: "b"})
		s.Nums.Put(2, nil)
		s.Words.Add("y")
		s.Sum.Add(2)
		s.Max.Put(10)
	}
	over := func(s *every) {
		s.Flat.Replace(7)
		s.Flat.Append(8)
		s.Keyed.Replace(item{ID: "c"})
		s.Nums.Replace(map[int][]string{3: nil})
		s.Words.Clear()
		s.Sum.Replace(5)
		s.Sum.Add(1)
		s.Max.Replace(-1)
		s.Max.Put(0)
	}
	want := `{"flat":[7,8],"ints":[],"keyed":[{"id":"c","tags":null,"at":"0001-01-01T00:00:00Z","note":null,"raw":null}],"max":0,"nums":[[3,null]],"sum":6,"words":[]}`
	want = strings.Replace(want, `"ints":[],`, "", 1)
	for _, writes := range [][]func(*every){{over, plain}, {plain, over}, {plain, over, plain}} {
		if got := text(t, sc, step(t, sc, h, writes...)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	for field, replace := range map[string]func(*every){
		"flat":  func(s *every) { s.Flat.Replace() },
		"keyed": func(s *every) { s.Keyed.Replace() },
		"nums":  func(s *every) { s.Nums.Clear() },
		"words": func(s *every) { s.Words.Clear() },
		"sum":   func(s *every) { s.Sum.Replace(0) },
		"max":   func(s *every) { s.Max.Replace(0) },
	} {
		err := refuse(t, sc, h, plain, replace, plain, replace)
		c, ok := errors.AsType[*state.ConflictError](err)
		if !ok || !errors.Is(err, state.ErrConflict) || c.Field != field || !slices.Equal(c.Tasks, []int{1, 3}) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// Two writers of a field that takes one fail the step, with field and tasks named; the head can be used again. E4
func TestConflict(t *testing.T) {
	t.Parallel()
	sc := schema[every](t)
	h := step(t, sc, sc.Empty(), func(s *every) { s.Text.Set("old"); s.Flat.Append(1) })
	before := text(t, sc, h)
	for field, write := range map[string]func(*every){
		"text": func(s *every) { s.Flat.Append(2); s.Text.Set("") },
		"once": func(s *every) { s.Flat.Append(2); s.Once.Set(nil) },
		"live": func(s *every) { s.Flat.Append(2); s.Live.Set(nil) },
	} {
		err := refuse(t, sc, h, write, func(s *every) { s.Flat.Append(3) }, write)
		c, ok := errors.AsType[*state.ConflictError](err)
		if !ok || !errors.Is(err, state.ErrConflict) || c.Field != field ||
			!slices.Equal(c.Tasks, []int{0, 2}) || !slices.Equal(c.Names, []string{"task0", "task2"}) {
			t.Errorf("%s: %#v", field, c)
		}
		for _, want := range append(c.Names, field, c.Go, "let one of them write it") {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q does not say %q", err, want)
			}
		}
	}
	if after := text(t, sc, h); after != before {
		t.Errorf("the head was %s and is %s", before, after)
	}
	h = step(t, sc, h, func(s *every) { s.Flat.Append(9) })
	if v := sc.View(h); !slices.Equal(v.Flat.Slice(), []int{1, 9}) {
		t.Error(v.Flat.Slice())
	}
}

// Writing zero is a write; not writing, appending nothing and removing the absent are not. E6, report 220
func TestZeroIsAWrite(t *testing.T) {
	t.Parallel()
	sc := schema[every](t)
	v := sc.View(sc.Empty())
	if v.Text.Has() || v.Text.Get() != "" {
		t.Error("an unset field has a value")
	}
	v.Flat.Append()
	v.Keyed.Append()
	v.Words.Add()
	v.Names.Delete("x")
	if w := sc.Wrote(v); w != "" {
		t.Errorf("%s was written", w)
	}
	if ws, err := sc.Encode(v); err != nil || len(ws) != 0 {
		t.Error(ws, err)
	}
	for want, write := range map[string]func(*every){
		"text": func(s *every) { s.Text.Set("") }, "sum": func(s *every) { s.Sum.Add(0) },
		"flat": func(s *every) { s.Flat.Replace() }, "words": func(s *every) { s.Words.Clear() },
		"names": func(s *every) { s.Names.Clear() }, "join": func(s *every) { s.Join.Put(nil) },
	} {
		v := sc.View(sc.Empty())
		write(v)
		if w := sc.Wrote(v); w != want {
			t.Errorf("%s was written, want %s", w, want)
		}
		ws, err := sc.Encode(v)
		if err != nil || len(ws) != 1 || ws[0].Field != want {
			t.Error(ws, err)
		}
		if got := text(t, sc, commit(t, sc, sc.Empty(), v)); !strings.HasPrefix(got, `{"`+want+`":`) {
			t.Error(got)
		}
	}
	h := step(t, sc, sc.Empty(), func(s *every) { s.Text.Set("") }, func(s *every) { s.Text.Get() })
	if v := sc.View(h); !v.Text.Has() {
		t.Error("the empty string was lost")
	}
}

type moody struct{}

// Reduce does what w says.
func (moody) Reduce(acc, w string) (string, error) {
	switch w {
	case "panic":
		panic("out of order")
	case "exit":
		runtime.Goexit()
	case "error":
		return "", errors.New("not today")
	case "utf8":
		return "\xff", nil
	}
	return acc + w, nil
}

// A reducer that fails fails the step with field and task named; the same parts fold again. E7
func TestReducerFails(t *testing.T) {
	t.Parallel()
	type s struct {
		L state.List[int]           `json:"l"`
		F state.Fold[string, moody] `json:"f"`
		X state.Sum[float64]        `json:"x"`
	}
	sc := schema[s](t)
	h := step(t, sc, sc.Empty(), func(v *s) { v.F.Put("a"); v.X.Add(1e308) })
	before := text(t, sc, h)
	for w, want := range map[string]string{
		"panic": "out of order", "exit": "Goexit", "error": "not today", "utf8": "UTF-8",
	} {
		err := refuse(t, sc, h, func(v *s) { v.L.Append(1) }, func(v *s) { v.F.Put(w) }, func(v *s) { v.F.Put("b") })
		r, ok := errors.AsType[*state.ReduceError](err)
		if !ok || r.Field != "f" || r.Go != "F" || r.Task != "task1" || r.Index != 1 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %#v", w, err)
		}
		if (w == "panic") != strings.Contains(r.Stack, "moody.Reduce") {
			t.Errorf("%s: stack %q", w, r.Stack)
		}
	}
	err := refuse(t, sc, h, func(v *s) { v.X.Add(1) }, func(v *s) { v.X.Add(1e308) })
	if r, ok := errors.AsType[*state.ReduceError](err); !ok || r.Field != "x" || r.Index != 1 {
		t.Error(err)
	}
	if after := text(t, sc, h); after != before {
		t.Errorf("the head was %s and is %s", before, after)
	}
}

// Same parts, same bytes, at any number of processors. E5
func TestDeterministic(t *testing.T) {
	t.Parallel()
	sc := schema[every](t)
	var want string
	for range 20 {
		v := sc.View(sc.Empty())
		m := map[int][]string{}
		for i := range 50 {
			m[i*7%50] = nil
			v.Words.Add(strings.Repeat("x", i*13%50))
		}
		v.Nums.Replace(m)
		ws, err := sc.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		got := string(ws[0].Data) + string(ws[1].Data) + text(t, sc, commit(t, sc, sc.Empty(), v))
		for i := range v.Nums.All() {
			got += string(rune('0' + i))
		}
		for w := range v.Words.All() {
			got += w
		}
		if want == "" {
			want = got
		}
		if got != want {
			t.Fatalf("%s\n%s", got, want)
		}
	}
}

// A route reads its task's writes, and what it writes is seen; the task's writes are not its own. E16
func TestSub(t *testing.T) {
	t.Parallel()
	sc := schema[every](t)
	h := step(t, sc, sc.Empty(), func(s *every) { s.Flat.Append(1); s.Keyed.Put(item{ID: "a"}) })
	v := sc.View(h)
	for _, op := range []func(){
		func() { v.Flat.Append(2) }, func() { v.Keyed.Put(item{ID: "b"}) }, func() { v.Sum.Add(3) }, func() { v.Max.Put(4) },
		func() { v.Text.Set("t") }, func() { v.Names.Put("n", item{}) }, func() { v.Words.Add("w") }, func() { v.Flat.Replace(5) },
	} {
		op()
		sub := sc.Sub(v)
		if look(sub) != look(v) || sc.Wrote(sub) != "" {
			t.Fatalf("view %s, sub-view %s wrote %q", look(v), look(sub), sc.Wrote(sub))
		}
		seen := look(v)
		sub.Flat.Append(99)
		sub.Keyed.Put(item{ID: "z"})
		sub.Sum.Add(1)
		if sc.Wrote(sub) == "" || look(v) != seen {
			t.Fatalf("a write through the sub-view shows in the view: %s", look(v))
		}
	}
	if err := sc.Freeze(v); err != nil {
		t.Fatal(err)
	}
	if sub := sc.Sub(v); look(sub) != look(v) || sc.Wrote(sub) != "" {
		t.Error("a frozen view has no sub-view")
	}
}

// A view that is not made by a schema works. E59
func TestBareState(t *testing.T) {
	t.Parallel()
	s := new(every)
	ops["reads"](nil, s)
	s.Last.Set(item{ID: "x", Tags: []string{"t"}})
	s.Flat.Append(1, 2)
	s.Items.Append(item{ID: "i"})
	s.Keyed.Append(item{ID: "k"})
	s.Names.Put("n", item{ID: "v"})
	s.Words.Add("b", "a")
	s.Sum.Add(2)
	s.Max.Put(2)
	s.Once.Set([]string{"o"})
	s.Live.Set(func() int { return 7 })
	o, _ := s.Once.Get()
	if s.Last.Get().Tags[0] != "t" || s.Flat.At(1) != 2 || s.Sum.Get() != 2 || s.Max.Get() != 2 || o[0] != "o" || s.Live.Get()() != 7 {
		t.Error(look(s))
	}
	if last, ok := s.Items.Last(); !ok || last.ID != "i" {
		t.Error(last)
	}
	if words := slices.Collect(s.Words.All()); !slices.Equal(words, []string{"a", "b"}) {
		t.Error(words)
	}
}

// A value that is removed and put again comes to the end; one that is put again keeps its place. E2
func TestKeyedOrder(t *testing.T) {
	t.Parallel()
	sc := schema[every](t)
	put := func(ids string) func(*every) {
		return func(s *every) {
			for _, id := range ids {
				s.Keyed.Put(item{ID: string(id)})
			}
		}
	}
	h := step(t, sc, sc.Empty(), put("abcd"))
	h = step(t, sc, h, put("bbe"), func(s *every) {
		s.Keyed.Remove("a")
		put("fa")(s)
		s.Keyed.Remove("f")
		put("f")(s)
	})
	var got string
	for id := range sc.View(h).Keyed.All() {
		got += id
	}
	if got != "bcdeaf" {
		t.Error(got)
	}
}

// A head that was given back is the memory of a later one: what is read through views, and heads that were kept, stay as they
// were, and what a commit refused leaves nothing behind. // E51 // E3
func TestRecycle(t *testing.T) {
	t.Parallel()
	sc := schema[passing](t)
	kept := sc.Empty()
	var views []*passing
	for i := range 50 {
		v := sc.View(kept)
		v.L.Append(i)
		v.E.Set("now")
		if err := sc.Freeze(v); err != nil {
			t.Fatal(err)
		}
		next, _, err := sc.Commit(kept, []state.Part[passing]{{Task: "t", View: v}})
		if err != nil {
			t.Fatal(err)
		}
		views = append(views, sc.View(next))
		sc.Recycle(kept)
		kept = next
	}
	for i, v := range views {
		if got := v.L.Slice(); len(got) != i+1 || got[i] != i {
			t.Fatalf("view %d reads %v", i, got)
		}
		if _, ok := v.E.Get(); !ok {
			t.Fatalf("view %d has lost what was set", i)
		}
	}
	sc.Recycle(sc.Empty())
	if doc, err := sc.JSON(sc.Empty()); err != nil || string(doc) != "{}" {
		t.Fatalf("the empty state is %s, %v", doc, err)
	}
}

type passing struct {
	L state.List[int]         `json:"l"`
	E state.Ephemeral[string] `json:"e"`
}
