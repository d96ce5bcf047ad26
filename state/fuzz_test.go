package state_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

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
			if err := raw.Apply(in.parts, in.folded); err != nil {
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
	sc, err := state.Of[every]()
	if err != nil {
		f.Fatal(err)
	}
	fields := sc.Fields()
	f.Fuzz(func(t *testing.T, k1 int, d1 string, k2 int, d2 string) {
		a, b := fields[uint(k1)%uint(len(fields))], fields[uint(k2)%uint(len(fields))]
		ws := []state.Write{w(a.Name, a.Kind, d1), w(b.Name, b.Kind, d2)}
		v, err := sc.Decode(ws)
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
	sc, err := state.Of[every]()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in string) {
		v := sc.View(sc.Empty())
		if err := sc.Merge(v, []byte(in)); err != nil {
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

// What bytes make a program allocate is bounded by their number: nothing in them says how much is to come. Report 120
func TestAllocationIsBounded(t *testing.T) { // not parallel: it reads the counters of the process
	sc := schema[every](t)
	const n = 20_000
	for field, in := range map[string]string{
		"flat": "[" + strings.Repeat("1,", n) + "1]", "words": `["` + strings.Repeat(`","`, n) + `"]`,
		"nums": "[" + strings.Repeat("[1],", n) + "[2]]", "text": strings.Repeat("[", 3*n), "names": `{"r":` + strings.Repeat("[", 3*n),
	} {
		kind := ""
		for _, f := range sc.Fields() {
			if f.Name == field {
				kind = f.Kind
			}
		}
		ws := []state.Write{w(field, kind, in)}
		for name, f := range map[string]func(){
			"apply":  func() { _ = state.NewRaw().Apply([][]state.Write{ws}, nil) },
			"decode": func() { _, _ = sc.Decode(ws) },
			"merge":  func() { _ = sc.Merge(sc.View(sc.Empty()), fmt.Appendf(nil, `{%q:%s}`, field, in)) },
		} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			f()
			runtime.ReadMemStats(&after)
			if got, most := after.TotalAlloc-before.TotalAlloc, uint64(64<<10+400*len(in)); got > most {
				t.Errorf("%s of %s: %d bytes of %d in, more than %d", name, field, got, len(in), most)
			}
		}
	}
}
