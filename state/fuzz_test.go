package state_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/holdfast-go/holdfast/internal/alloctest"
	"github.com/holdfast-go/holdfast/state"
)

var kinds = []string{
	"last", "ephemeral", "list", "keyed", "map", "map.pairs", "set", "sum.int8", "sum.int64", "sum.uint64", "sum.float32", "sum.float64",
	"fold", "rename", "later",
}

func seeds(f *testing.F) {
	for _, s := range []string{
		`1`, `null`, `[]`, `[1,"a"]`, `{"r":[1]}`, `{"r":`, `{"r":}`, `[["a",1],["a"]]`, `[[1,2],[1]]`, `{"d":[1],"a":[]}`, `{"r":1,"w":[2]}`,
		`"x"`, ` [ 1 , 2 ] `, `-0`, `1e400`, `"\ud800"`, "\"\xff\"", `[[]]`, `{"r":{"r":1}}`, strings.Repeat("[", 100),
	} {
		for k := range kinds {
			f.Add(k, s, k+1, `[1]`)
		}
	}
}

// Foreign bytes give a typed error and change nothing; what is accepted can be saved and read again. Report 120
func FuzzRawApply(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, k1 int, d1 string, k2 int, d2 string) {
		one := w("a", kinds[uint(k1)%uint(len(kinds))], d1)
		two := w("b", kinds[uint(k2)%uint(len(kinds))], d2)
		for _, in := range []struct {
			parts  [][]state.Write
			folded []state.Write
		}{
			{[][]state.Write{{one, two}}, nil}, {[][]state.Write{{one}, {one}}, []state.Write{two}}, {nil, []state.Write{one, two}},
			{[][]state.Write{{one}}, []state.Write{w("a", "fold", d2), w("c", "rename", `"a"`)}},
		} {
			raw := state.NewRaw()
			if err := raw.Restore([]state.Write{one}); err != nil {
				known(t, err)
			}
			was, _ := raw.JSON()
			var err error
			alloctest.Bound(t, rawValue, func() { err = raw.Apply(in.parts, in.folded) }, []byte(d1), []byte(d1), []byte(d2), []byte(d2))
			if err != nil {
				known(t, err)
				if is, _ := raw.JSON(); string(is) != string(was) {
					t.Fatalf("refused, but %s became %s", was, is)
				}
				continue
			}
			again := state.NewRaw()
			if err := again.Restore(raw.Snapshot()); err != nil {
				t.Fatalf("%s: %v", raw.Snapshot(), err)
			}
			is, _ := raw.JSON()
			if back, _ := again.JSON(); string(back) != string(is) || again.Size() != raw.Size() {
				t.Fatalf("%s (%d) came back as %s (%d)", is, raw.Size(), back, again.Size())
			}
		}
	})
}

func known(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, state.ErrCorrupt) && !errors.Is(err, state.ErrConflict) && !errors.Is(err, state.ErrIncompatible) {
		t.Fatal(err)
	}
}

// What can be decoded can be committed, and the raw state takes it too.
func FuzzDecode(f *testing.F) {
	seeds(f)
	sc := schema[every](f)
	fields := sc.Fields()
	f.Fuzz(func(t *testing.T, k1 int, d1 string, k2 int, d2 string) {
		a, b := fields[uint(k1)%uint(len(fields))], fields[uint(k2)%uint(len(fields))]
		ws := []state.Write{w(a.Name, a.Kind, d1), w(b.Name, b.Kind, d2)}
		var v *every
		var err error
		alloctest.Bound(t, perValue, func() { v, err = sc.Decode(ws) }, []byte(d1), []byte(d2))
		if err != nil {
			if !errors.Is(err, state.ErrIncompatible) {
				t.Fatal(err)
			}
			return
		}
		h, folded, err := sc.Commit(sc.Empty(), []state.Part[every]{{Task: "t", View: v}})
		if err != nil {
			return // a reducer, or a sum out of range
		}
		if _, err := sc.JSON(h); err != nil {
			return // a value that no Freeze would have let pass
		}
		raw := state.NewRaw()
		if err := raw.Apply([][]state.Write{ws}, folded); err != nil {
			known(t, err)
		}
	})
}

// Input either is an error and writes nothing, or can be frozen and committed.
func FuzzMerge(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"text":"x","flat":[1]}`, `{"keyed":[{"id":"a","tags":null}]}`, `{"nums":[[1,["x"]]]}`, `{"names":{"a":{"id":"b"}}}`,
		`{"sum":1,"float":1.5,"max":2,"join":["a"],"once":null,"words":["a"],"ints":[1],"group.inner":["x"],"pts":[[{"x":1},2]]}`,
		`{"ptrs":[null]}`, `{"last":{"at":"0000-01-01T00:00:00+23:59"}}`, `{"text":`, `[]`,
	} {
		f.Add(s)
	}
	sc := schema[every](f)
	f.Fuzz(func(t *testing.T, in string) {
		v := sc.View(sc.Empty())
		var err error
		alloctest.Bound(t, perValue, func() { err = sc.Merge(v, []byte(in)) }, []byte(in))
		if err != nil {
			if wrote := sc.Wrote(v); wrote != "" {
				t.Fatalf("refused (%v), but %s was written", err, wrote)
			}
			return
		}
		if err := sc.Freeze(v); err != nil {
			t.Fatal(err)
		}
		h, _, err := sc.Commit(sc.Empty(), []state.Part[every]{{Task: "t", View: v}})
		if err == nil {
			text(t, sc, h)
		}
	})
}

// perValue is what a typed state may allocate for one value of the input, in bytes: an op of the largest element of every, with
// its key, its place in a tree, and what encoding/json takes for it.
const perValue = 160

// rawValue is the same for a state without types: an op, an entry and a place in a map, each with room to grow.
const rawValue = 96

// The smallest elements in the greatest number, and what claims to be them and is not. Report 120
func TestAllocationIsBounded(t *testing.T) { // not parallel: it reads the counters of the process
	sc := schema[every](t)
	const n = 20_000
	many := func(open, one, last, shut string) string { return open + strings.Repeat(one, n) + last + shut }
	for field, docs := range map[string][]string{
		"flat":  {many("[", "1,", "1", "]"), many("[", "1,", "1", ""), many("[", `"",`, "1", "]")},
		"items": {many("[", "{},", "{}", "]"), many(`{"r":[`, "null,", "{}", "]}")},
		"ptrs":  {many("[", "null,", "{}", "]"), many("[", "{},", "{}", "]")},
		"words": {many("[", `"",`, `""`, "]"), many(`{"d":[`, `"",`, `""`, `],"a":[]}`)},
		"ints":  {many("[", "1,", "1", "]")},
		"nums":  {many("[", "[1],", "[2]", "]"), many("[", "[1,[]],", "[2]", "]"), many("[[1,[", `"",`, `""`, "]]]")},
		"pts":   {many("[", `[{"x":1},2],`, `[{"x":1}]`, "]"), many("[", `[{},null],`, `[{}]`, "]")},
		"keyed": {many("[", `["a"],`, `["b"]`, "]"), many("[", `["a",{}],`, `["b"]`, "]"), many(`[{"id":"a","tags":[`, `"",`, `""`, "]}]")},
		"names": {many("[", `["",{}],`, `["b"]`, "]"), `{"r":` + strings.Repeat("[", 3*n), many(`{`, `"":{},`, `"b":{}`, `}`)},
		"max":   {many("[", "1,", "1", "]"), many(`{"r":1,"w":[`, "1,", "1", "]}")},
		"join":  {many("[", "[],", "[]", "]"), many("[[", `"",`, `""`, "]]")},
		"text":  {strings.Repeat("[", 3*n), strings.Repeat("[", 9_990), many("[", "[],", "[]", "]"), `"` + strings.Repeat(`\u0000`, n) + `"`},
		"last":  {many(`{"id":"a","tags":[`, `"",`, `""`, "]}"), many(`{"raw":{`, `"1":"",`, `"2":""`, "}}")},
		"sum":   {strings.Repeat("9", 3*n)},
	} {
		kind := ""
		for _, f := range sc.Fields() {
			if f.Name == field {
				kind = f.Kind
			}
		}
		for _, doc := range docs {
			in := fmt.Appendf(nil, `{%q:%s}`, field, doc)
			ws := []state.Write{w(field, kind, doc)}
			alloctest.Bound(t, rawValue, func() { _ = state.NewRaw().Apply([][]state.Write{ws}, nil) }, []byte(doc))
			alloctest.Bound(t, perValue, func() { _, _ = sc.Decode(ws) }, []byte(doc))
			alloctest.Bound(t, perValue, func() { _ = sc.Merge(sc.View(sc.Empty()), in) }, in)
		}
	}
}

// A vast is an element that is large in memory and small in JSON.
type vast struct {
	N [512]int64 `json:"n"`
}

// The size of an element is the program's choice, not the input's: so many elements as are there are made, each once.
func TestLargeElementsAreMadeOnce(t *testing.T) { // not parallel, as above
	type big struct {
		List state.List[vast] `json:"list"`
	}
	sc := schema[big](t)
	const n = 1000
	size := int(unsafe.Sizeof(vast{}))
	whole, cut := "["+strings.Repeat("{},", n)+"{}]", "["+strings.Repeat("{},", n)+"{}"
	for doc, each := range map[string]int{whole: size/2 + 64, cut: 0} { // {} and the comma before it are two values
		alloctest.Bound(t, each, func() { _, _ = sc.Decode([]state.Write{w("list", "list", doc)}) }, []byte(doc))
	}
}
