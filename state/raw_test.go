package state_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/state"
)

func w(field, kind, data string) state.Write {
	return state.Write{Field: field, Kind: kind, Data: json.RawMessage(data)}
}

func apply(t *testing.T, r *state.Raw, ws ...state.Write) {
	t.Helper()
	if err := r.Apply([][]state.Write{ws}, nil); err != nil {
		t.Fatal(err)
	}
}

func rawText(t *testing.T, r *state.Raw, hide ...string) string {
	t.Helper()
	b, err := r.JSON(hide...)
	if err != nil || !json.Valid(b) {
		t.Fatalf("%s %v", b, err)
	}
	return string(b)
}

type before struct {
	Name state.Last[string] `json:"name"`
	Docs state.List[string] `json:"docs"`
	Gone state.Last[string] `json:"gone"`
	Kind state.List[int]    `json:"kind"`
}

type after struct {
	Title state.Last[string] `json:"title" state:"alias=name"`
	Docs  state.List[string] `json:"papers" state:"alias=docs"`
	Kind  state.Sum[int]     `json:"kind"`
}

// A renamed field keeps what was stored, and the raw state follows. E9
func TestAlias(t *testing.T) {
	t.Parallel()
	old, sc := schema[before](t), schema[after](t)
	v := old.View(old.Empty())
	v.Name.Set("n")
	v.Docs.Append("a")
	v.Gone.Set("kept")
	ws, err := old.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	raw := state.NewRaw()
	apply(t, raw, ws...)
	h, err := sc.Restore(raw)
	if err != nil {
		t.Fatal(err)
	}
	if un := sc.Unknown(raw); !slices.Equal(un, []string{"gone"}) {
		t.Error("unknown", un)
	}
	n := sc.View(h)
	n.Docs.Append("b")
	now, err := sc.Encode(n)
	if err != nil {
		t.Fatal(err)
	}
	late := []state.Write{w("docs", "list", `["c"]`)} // a result that the old program left behind
	decoded, err := sc.Decode(late)
	if err != nil {
		t.Fatal(err)
	}
	h, folded, err := sc.Commit(h, []state.Part[after]{{Task: "a", View: n}, {Task: "b", View: decoded}})
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Apply([][]state.Write{now, late}, folded); err != nil {
		t.Fatal(err)
	}
	want := `{"papers":["a","b","c"],"title":"n"}`
	if got := text(t, sc, h); got != want {
		t.Error(got)
	}
	if got := rawText(t, raw, sc.Unknown(raw)...); got != want {
		t.Error(got)
	}
	if _, folded, _ = sc.Commit(h, nil); len(folded) != 0 {
		t.Error("renamed again", folded)
	}
	apply(t, raw, w("docs", "list", `["x"]`)) // the old program, deployed again
	var bad *state.FieldError
	if _, err := sc.Restore(raw); !errors.As(err, &bad) || bad.Field != "papers" || !strings.Contains(err.Error(), "docs") {
		t.Error(err)
	}
}

// A changed kind is accepted only while there is no value of it. E9
func TestChangedKind(t *testing.T) {
	t.Parallel()
	sc := schema[after](t)
	raw := state.NewRaw()
	apply(t, raw, w("kind", "list", `[]`))
	h, err := sc.Restore(raw)
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, sc, h); got != `{}` {
		t.Error(got)
	}
	apply(t, raw, w("kind", "sum.int64", `3`))
	if got := rawText(t, raw); got != `{"kind":3}` || raw.Size() != 1 {
		t.Error(got, raw.Size())
	}
	raw = state.NewRaw()
	apply(t, raw, w("kind", "list", `[1]`), w("title", "last", `"t"`))
	for _, err := range []error{
		func() error { _, err := sc.Restore(raw); return err }(),
		func() error { _, err := sc.Decode([]state.Write{w("kind", "list", `[1]`)}); return err }(),
		func() error { _, err := sc.Decode([]state.Write{w("title", "last", `5`)}); return err }(), // changed type
	} {
		bad, ok := errors.AsType[*state.FieldError](err)
		if !ok || !errors.Is(err, state.ErrIncompatible) || bad.Go == "" || !strings.Contains(err.Error(), bad.Field) {
			t.Error(err)
		}
	}
	if err := raw.Apply([][]state.Write{{w("kind", "sum.int64", `3`)}}, nil); !errors.Is(err, state.ErrIncompatible) {
		t.Error(err)
	}
	if got := rawText(t, raw); got != `{"kind":[1],"title":"t"}` {
		t.Error(got)
	}
}

// What this release does not know is carried through snapshots and copies. E9
func TestUnknownKinds(t *testing.T) {
	t.Parallel()
	raw := state.NewRaw()
	apply(t, raw, w("x", "vector.3d", `{"add": [1, 2]}`), w("n", "last", `1`))
	apply(t, raw, w("x", "vector.3d", `null`))
	again := state.NewRaw()
	if err := again.Restore(raw.Clone().Snapshot()); err != nil {
		t.Fatal(err)
	}
	ws := again.Snapshot()
	if len(ws) != 3 || string(ws[1].Data) != `{"add": [1, 2]}` || string(ws[2].Data) != `null` || ws[1].Kind != "vector.3d" {
		t.Errorf("%s", ws)
	}
	if again.Size() != int64(1+len(`{"add": [1, 2]}null`)) {
		t.Error(again.Size())
	}
	if got := rawText(t, again, "x"); got != `{"n":1}` {
		t.Error(got)
	}
	sc := schema[after](t)
	if un := sc.Unknown(again); !slices.Equal(un, []string{"n", "x"}) {
		t.Error(un)
	}
}

// A copy and its origin do not change each other.
func TestRawClone(t *testing.T) {
	t.Parallel()
	ws := []state.Write{w("l", "list", `[1]`), w("k", "keyed", `[["a",1],["b",2]]`), w("s", "set", `[1]`), w("e", "ephemeral", `1`)}
	raw := state.NewRaw()
	apply(t, raw, ws...)
	a, b := raw.Clone(), raw.Clone()
	apply(t, a, w("l", "list", `[2]`), w("k", "keyed", `[["a"],["c",3]]`), w("s", "set", `{"d":[1],"a":[]}`))
	apply(t, b, w("l", "list", `[3]`), w("k", "keyed", `[["a",9]]`))
	for want, r := range map[string]*state.Raw{
		`{"e":1,"k":[1,2],"l":[1],"s":[1]}`: raw, `{"k":[2,3],"l":[1,2],"s":[]}`: a, `{"k":[9,2],"l":[1,3],"s":[1]}`: b,
	} {
		if got := rawText(t, r); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// Bytes that are no writes are refused with a typed error, and nothing changes. Report 120
func TestRawRefuses(t *testing.T) {
	t.Parallel()
	raw := state.NewRaw()
	apply(t, raw, w("l", "list", `[1]`))
	for name, c := range map[string]struct {
		ws     []state.Write
		folded []state.Write
	}{
		"cut":           {ws: []state.Write{w("l", "list", `[1`)}},
		"not a list":    {ws: []state.Write{w("l", "list", `{"a":1}`)}},
		"empty":         {ws: []state.Write{w("l", "list", ``)}},
		"no pair":       {ws: []state.Write{w("k", "keyed", `[[]]`)}},
		"three":         {ws: []state.Write{w("k", "keyed", `[["a",1,2]]`)}},
		"number key":    {ws: []state.Write{w("k", "map", `[[1,1]]`)}},
		"null key":      {ws: []state.Write{w("k", "map", `[[null,1]]`)}},
		"no number":     {ws: []state.Write{w("n", "sum.int64", `"1"`)}},
		"too large":     {ws: []state.Write{w("n", "sum.int8", `128`)}},
		"hex":           {ws: []state.Write{w("n", "sum.float64", `1e999`)}},
		"set":           {ws: []state.Write{w("s", "set", `{"d":1}`)}},
		"set of object": {ws: []state.Write{w("s", "set", `{"r":{}}`)}},
		"twice":         {ws: []state.Write{w("a", "last", `1`), w("a", "last", `2`)}},
		"no fold":       {ws: []state.Write{w("f", "fold", `[1]`)}},
		"utf8":          {ws: []state.Write{w("a", "last", "\"\xff\"")}},
		"unknown":       {ws: []state.Write{w("a", "new", `{`)}},
		"rename":        {ws: []state.Write{w("a", "rename", `"l"`)}},
		"rename itself": {folded: []state.Write{w("l", "rename", `"l"`)}},
		"fold":          {folded: []state.Write{w("f", "fold", `[`)}},
	} {
		good := w("good", "last", `1`)
		err := raw.Apply([][]state.Write{append([]state.Write{good}, c.ws...)}, c.folded)
		if !errors.Is(err, state.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		if got := rawText(t, raw); got != `{"l":[1]}` || raw.Size() != 3 {
			t.Fatalf("%s changed the state to %s", name, got)
		}
	}
	if err := raw.Restore(nil); err == nil {
		t.Error("restored onto a state that is not empty")
	}
	for _, bad := range []state.Write{w("f", "fold", `[1]`), w("f", "fold", `{"r":`), w("a", "rename", `"b"`)} {
		if err := state.NewRaw().Restore([]state.Write{bad}); !errors.Is(err, state.ErrCorrupt) {
			t.Errorf("%s: %v", bad.Data, err)
		}
	}
}

// The stored forms of this release, as the package comment has them. They must be readable for ever. E9, E58
func TestStoredForms(t *testing.T) {
	t.Parallel()
	raw := state.NewRaw()
	err := raw.Apply([][]state.Write{{
		w("a", "last", `{"x":null}`), w("b", "ephemeral", `1`), w("c", "list", `[1,[2]]`),
		w("d", "keyed", `[["z",{"id":"z"}],["y",1],["y"],["a",2]]`), w("e", "map", `[["b",1],["a",[2]],["c",0],["c"]]`),
		w("f", "map.pairs", `[[10,"x"],[9,"y"],[-1,"z"],["s",1],[[1],2]]`), w("g", "set", `[10,9,"b","a"]`),
		w("h", "sum.int8", `127`), w("i", "sum.float64", `0.5`), w("j", "fold", `[1,2]`),
	}, {
		w("c", "list", `{"r":[3]}`), w("e", "map", `{"r":[["k",1]]}`), w("g", "set", `{"d":[10],"a":["c"]}`), w("h", "sum.int8", `1`),
		w("i", "sum.float64", `{"r":1.5}`), w("j", "fold", `{"r":0,"w":[5]}`),
	}}, []state.Write{w("j", "fold", `5`)})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"a":{"x":null},"b":1,"c":[3],"d":[{"id":"z"},2],"e":{"k":1},"f":[[-1,"z"],[9,"y"],[10,"x"],["s",1],[[1],2]],` +
		`"g":[9,"a","b","c"],"h":-128,"i":1.5,"j":5}`
	if got := rawText(t, raw); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var snap []string
	for _, s := range raw.Snapshot() {
		snap = append(snap, s.Field+" "+s.Kind+" "+string(s.Data))
	}
	wantSnap := `a last {"x":null}|b ephemeral 1|c list [3]|d keyed [["z",{"id":"z"}],["a",2]]|e map [["k",1]]|` +
		`f map.pairs [[-1,"z"],[9,"y"],[10,"x"],["s",1],[[1],2]]|g set [9,"a","b","c"]|h sum.int8 -128|i sum.float64 1.5|j fold {"r":5}`
	if got := strings.Join(snap, "|"); got != wantSnap {
		t.Errorf("got  %s\nwant %s", got, wantSnap)
	}
}

// Input in the one JSON form is strict, and all or nothing. E58
func TestMergeInput(t *testing.T) {
	t.Parallel()
	sc := schema[every](t)
	in := `{"text":"x","flat":[1,2],"keyed":[{"id":"k","tags":[],"at":"2024-01-01T00:00:00Z","note":null,"raw":null}],` +
		`"nums":[[2,["b"]],[1,null]],"words":["w"],"sum":5,"max":1.5,"once":["o"],"group.inner":["g"]}`
	v := sc.View(sc.Empty())
	if err := sc.Merge(v, []byte(in)); err != nil {
		t.Fatal(err)
	}
	h := commit(t, sc, sc.Empty(), v)
	v = sc.View(sc.Empty())
	if err := sc.Merge(v, []byte(text(t, sc, h))); err != nil {
		t.Fatal(err)
	}
	if got := text(t, sc, commit(t, sc, sc.Empty(), v)); got != text(t, sc, h) {
		t.Errorf("merged %s, it was %s", got, text(t, sc, h))
	}
	for bad, want := range map[string]string{
		`{"text":"x","nope":1}`:           `no field "nope"`,
		`{"live":1}`:                      `no field "live"`,
		`{"text":5}`:                      "field text (Text)",
		`{"text":null}`:                   "null",
		`{"flat":[1,"x"]}`:                "[1]",
		`{"flat":{"r":[1]}}`:              "array",
		`{"keyed":[{"id":"k","typo":1}]}`: "typo",
		`{"keyed":[{"id":""}]}`:           "key is empty",
		`{"names":[]}`:                    "object",
		`{"nums":[[1]]}`:                  "[key,value]",
		`{"sum":300}`:                     "range",
		`{"sum":1.5}`:                     "sum",
		`{"text":"\ud800"}`:               "at byte",
		`{"text":"a","text":"b"}`:         "text",
		`{"text":"a"} x`:                  "at byte",
		`[]`:                              "want an object",
		"{\"text\":\"\xff\"}":             "UTF-8",
	} {
		v := sc.View(sc.Empty())
		err := sc.Merge(v, []byte(bad))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", bad, err)
		}
		if wrote := sc.Wrote(v); wrote != "" {
			t.Errorf("%s wrote %s", bad, wrote)
		}
	}
}

// A long list is kept in pieces that read as one, and its copies go their own ways. E8
func TestLongList(t *testing.T) {
	t.Parallel()
	type s struct {
		L state.List[string] `json:"l"`
	}
	sc := schema[s](t)
	h, raw := sc.Empty(), state.NewRaw()
	add := func(h *state.Head[s], r *state.Raw, text string) *state.Head[s] {
		v := sc.View(h)
		v.L.Append(text, "")
		ws, err := sc.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		apply(t, r, ws...)
		return commit(t, sc, h, v)
	}
	for i := range 300 {
		h = add(h, raw, strings.Repeat("x", i))
	}
	h = add(h, raw, strings.Repeat("y", 100_000))
	fork := raw.Clone()
	a, b := add(h, raw, "a"), add(h, fork, "b")
	for want, r := range map[*state.Head[s]]*state.Raw{a: raw, b: fork} {
		got := rawText(t, r)
		if got != text(t, sc, want) || r.Size() != int64(len(got)-len(`{"l":}`)) {
			t.Errorf("%d bytes, size %d, want %d", len(got), r.Size(), len(text(t, sc, want)))
		}
	}
}
