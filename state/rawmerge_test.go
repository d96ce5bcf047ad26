package state_test

import (
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/state"
	"pgregory.net/rapid"
)

// plainFields are those whose kinds need nothing of the program.
type plainFields struct {
	Last  state.Last[map[string]int] `json:"last"`
	List  state.List[string]         `json:"list"`
	Map   state.Map[string, int]     `json:"map"`
	Pairs state.Map[int, string]     `json:"pairs"`
	Set   state.Set[string]          `json:"set"`
	Sum   state.Sum[int]             `json:"sum"`
}

// A document is merged without the program into what the program makes of it, field by field; what only the program knows is said
// in its own form. // E58 E41
func TestRawMerge(t *testing.T) {
	t.Parallel()
	raw := state.NewRaw()
	apply(t, raw, w("last", "last", `{"a":1}`), w("list", "list", `["a"]`), w("keyed", "keyed", `[["k","v"]]`), w("map", "map", `[["a",1]]`),
		w("pairs", "map.pairs", `[[1,"x"]]`), w("set", "set", `["s"]`), w("sum", "sum.int64", `4`), w("once", "ephemeral", `true`))
	if err := raw.Apply([][]state.Write{{w("fold", "fold", `[3]`)}}, []state.Write{w("fold", "fold", `3`)}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, doc, want string }{
		{"last sets", `{"last":{"b":2}}`, `"last":{"b":2}`},
		{"list appends", `{"list":["b","<c>"]}`, `"list":["a","b","<c>"]`},
		{"keyed takes pairs", `{"keyed":[["j","w"],["k","u"]]}`, `"keyed":["u","w"]`},
		{"map puts", `{"map":{"b":2,"a":9}}`, `"map":{"a":9,"b":2}`},
		{"pairs put", `{"pairs":[[2,"y"]]}`, `"pairs":[[1,"x"],[2,"y"]]`},
		{"set adds", `{"set":["t","s"]}`, `"set":["s","t"]`},
		{"sum adds", `{"sum":-1}`, `"sum":3`},
		{"fold is set", `{"fold":1}`, `"fold":1`},
		{"nothing", `{}`, `"sum":4`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := raw.Clone()
			ws, folded, err := r.Merge([]byte(c.doc))
			if err != nil {
				t.Fatal(err)
			}
			if got, was := rawText(t, r), rawText(t, raw); got != was {
				t.Errorf("merging has changed the state: %s", got)
			}
			if err := r.Apply([][]state.Write{ws}, folded); err != nil {
				t.Fatal(err)
			}
			if got := rawText(t, r); !strings.Contains(got, c.want) {
				t.Errorf("%s; want %s in it", got, c.want)
			}
		})
	}
	for _, doc := range []string{
		``, `[]`, `{"list":["a"]`, `{"list":7}`, `{"list":{"r":["b"]}}`, `{"map":[["b",2]]}`, `{"keyed":["v"]}`, `{"set":{"d":["s"]}}`, `{"sum":"1"}`, `{"sum":{"r":1}}`,
		`{"sum":1.5}`, `{"unknown":1}`, `{"sum":1,"sum":2}`, `{"pairs":{"1":"x"}}`, `{"sum":9223372036854775808}`,
	} {
		if ws, _, err := raw.Merge([]byte(doc)); err == nil {
			t.Errorf("%s was taken as %v", doc, ws)
		}
	}
}

// What Merge makes of a document is what Schema.Merge makes of it, for the kinds that need nothing of the program. // E58
func TestRawMergeIsMerge(t *testing.T) {
	t.Parallel()
	sc := schema[plainFields](t)
	every := []byte(`{"last":null,"list":["z"],"map":{"z":1},"pairs":[[9,"z"]],"set":["z"],"sum":1}`)
	rapid.Check(t, func(t *rapid.T) {
		doc := []byte(`{"last":` + rapid.SampledFrom([]string{`{}`, `{"a":1}`, `null`}).Draw(t, "last") +
			`,"list":` + rapid.SampledFrom([]string{`[]`, `["a","\u4e2d"]`}).Draw(t, "list") +
			`,"map":` + rapid.SampledFrom([]string{`{}`, `{"a":1,"b":2}`, `{"\"":3}`}).Draw(t, "map") +
			`,"pairs":` + rapid.SampledFrom([]string{`[]`, `[[1,"x"]]`, `[[2,"y"],[1,"z"]]`}).Draw(t, "pairs") +
			`,"set":` + rapid.SampledFrom([]string{`[]`, `["s"]`, `["t","s"]`}).Draw(t, "set") +
			`,"sum":` + rapid.SampledFrom([]string{`0`, `-7`, `12`}).Draw(t, "sum") + `}`)
		raw, head := state.NewRaw(), sc.Empty()
		for _, doc := range [][]byte{every, doc} { // the first one is the program's, and gives each field its kind
			view := sc.View(head)
			if err := sc.Merge(view, doc); err != nil {
				t.Fatal(err)
			}
			if err := sc.Freeze(view); err != nil {
				t.Fatal(err)
			}
			typed, err := sc.Encode(view)
			if err != nil {
				t.Fatal(err)
			}
			next, folded, err := sc.Commit(head, []state.Part[plainFields]{{Task: "a", View: view}})
			if err != nil {
				t.Fatal(err)
			}
			ws, more := typed, folded
			if raw.Size() > 0 {
				if ws, more, err = raw.Merge(doc); err != nil {
					t.Fatal(err)
				}
			}
			if err := raw.Apply([][]state.Write{ws}, more); err != nil {
				t.Fatal(err)
			}
			head = next
		}
		want, err := sc.JSON(head)
		if err != nil {
			t.Fatal(err)
		}
		got, err := raw.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("without the program %s, with it %s", got, want)
		}
	})
}
