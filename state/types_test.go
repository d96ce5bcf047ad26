package state_test

import (
	"context"
	"encoding/json"
	"math/big"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/state"
)

// one is a state with a single field of values of type T.
type one[T any] struct {
	V state.Last[T] `json:"v"`
}

type embeds struct {
	netip.Addr
	X int
}

type halfCodec struct{ X int }

func (halfCodec) MarshalJSON() ([]byte, error) { return nil, nil }

type inner struct {
	Name string `json:"name"`
}

type tree struct {
	Kids []*tree `json:"kids"`
}

type textKey struct{ a, b string }

func (k textKey) MarshalText() ([]byte, error) { return []byte(k.a + "/" + k.b), nil }
func (k *textKey) UnmarshalText(b []byte) error {
	k.a, k.b, _ = strings.Cut(string(b), "/")
	return nil
}

type ptrCodec struct{ x int }

func (p *ptrCodec) MarshalJSON() ([]byte, error) { return json.Marshal(p.x) }
func (p *ptrCodec) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &p.x) }

func refusal[S any]() error {
	_, err := state.Of[S]()
	return err
}

// Values that would not come back are refused by their type, with the place. E10, reports 113, 115, 117, 118
func TestTypesRefused(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		err  error
		want []string
	}{
		"func":       {refusal[one[func()]](), []string{".V", "func()", "state.Untracked"}},
		"chan":       {refusal[one[struct{ C chan int }]](), []string{".V", ".C", "chan int"}},
		"context":    {refusal[one[struct{ Ctx context.Context }]](), []string{".Ctx", "interface"}},
		"error":      {refusal[one[error]](), []string{".V", "interface"}},
		"any":        {refusal[one[map[string]any]](), []string{"[]", "interface"}},
		"complex":    {refusal[one[[]complex128]](), []string{"[]", "complex128"}},
		"unexported": {refusal[one[struct{ x int }]](), []string{".x", "unexported"}},
		"left out": {refusal[one[struct {
			X int `json:"-"`
		}]](), []string{".X", `json:"-"`}},
		"omitempty slice": {refusal[one[struct {
			X []int `json:"x,omitempty"`
		}]](), []string{".X", "omitzero"}},
		"omitempty map": {refusal[one[struct {
			X map[int]int `json:"x,omitempty"`
		}]](), []string{".X", "omitzero"}},
		"one name": {refusal[one[struct {
			A int `json:"name"`
			B int `json:"NAME"`
		}]](), []string{"A and B", "case"}},
		"hidden by embedding": {refusal[one[struct {
			inner
			Name string `json:"name"`
		}]](), []string{"inner.Name and Name"}},
		"embedded pointer": {refusal[one[struct{ *tree }]](), []string{".tree", "embedded by pointer"}},
		"embedded codec":   {refusal[one[embeds]](), []string{"embeds", "embedded field"}},
		"half codec":       {refusal[one[halfCodec]](), []string{"halfCodec", "both MarshalJSON and UnmarshalJSON"}},
		"codec of pointer": {refusal[one[map[string]ptrCodec]](), []string{"ptrCodec", "use *"}},
		"pointer pointer":  {refusal[one[**int]](), []string{"**int", "nil"}},
		"pointer to slice": {refusal[one[struct{ P *[]int }]](), []string{".P", "use []int"}},
		"json number":      {refusal[one[json.Number]](), []string{"json.Number"}},
		"bool keys":        {refusal[one[map[bool]int]](), []string{"map keys", "bool"}},
		"float keys": {refusal[struct {
			M state.Map[float64, int] `json:"m"`
		}](), []string{".M", "float64", "cannot be a key"}},
		"time keys": {refusal[struct {
			M state.Set[time.Time] `json:"m"`
		}](), []string{".M", "time.Time"}},
		"pointer in a key": {refusal[struct {
			M state.Map[struct{ P *int }, int] `json:"m"`
		}](), []string{".M", ".P", "cannot be a key"}},
		"interface as key": {refusal[struct {
			M state.Map[any, int] `json:"m"`
		}](), []string{".M", "cannot be a key"}},
		"map of functions": {refusal[struct {
			M state.Map[string, func()] `json:"m"`
		}](), []string{".M", "func()"}},
		"list of functions": {refusal[struct {
			M state.List[func()] `json:"m"`
		}](), []string{".M", "func()"}},
	}
	for name, c := range cases {
		if c.err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(c.err.Error(), w) {
				t.Errorf("%s: %q does not say %q", name, c.err, w)
			}
		}
	}
}

// Types that round-trip are accepted. E10
func TestTypesAccepted(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"tree":      refusal[one[tree]](),
		"big":       refusal[one[*big.Int]](),
		"big value": refusal[one[big.Int]](),
		"address":   refusal[one[map[netip.Addr][]netip.Prefix]](),
		"text key":  refusal[one[map[textKey]int]](),
		"time":      refusal[one[map[string]time.Time]](),
		"raw": refusal[one[struct {
			R json.RawMessage `json:"r,omitempty"`
		}]](),
		"pointer": refusal[one[*ptrCodec]](),
		"omitempty": refusal[one[struct {
			S string `json:"s,omitempty"`
			P *int   `json:"p,omitempty"`
		}]](),
		"embedded": refusal[one[struct {
			inner
			X int
		}]](),
		"blank": refusal[one[struct {
			_ int
			X int
		}]](),
		"untracked": refusal[struct {
			F state.Untracked[chan func()] `json:"f"`
		}](),
		"struct keys": refusal[struct {
			M state.Map[[2]point, int] `json:"m"`
		}](),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type embedded struct {
	A state.Last[int] `json:"a"`
}

// Compile refuses what is no state, all mistakes at once, each with the field and the type to use. E1
func TestOfRefuses(t *testing.T) {
	t.Parallel()
	err := refusal[struct {
		Name   string
		Tags   []string         `json:"tags"`
		Scores map[string]int   `json:"scores"`
		Count  int              `json:"count"`
		Hook   func()           `json:"hook"`
		Ptr    *state.Last[int] `json:"ptr"`
		small  state.Last[int]
		NoName state.Last[int]
		Minus  state.Last[int] `json:"-"`
		Dotted state.Last[int] `json:"a.b"`
		Same   state.Last[int] `json:"same"`
		Alias  state.Last[int] `json:"alias" state:"alias=same"`
		Opt    state.Last[int] `json:"opt" state:"secret"`
		Group  struct {
			X int             `json:"x"`
			Y state.Last[int] `json:"y"`
		} `json:"group"`
		Hidden struct {
			Y state.Last[int] `json:"y"`
		} `json:"hidden" state:"hidden"`
		state.List[int]
		*embedded
	}]()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		".Name has type string", "use state.Last[string]", "use state.List[string]", "use state.Map[string, int]",
		"state.Sum[int] if tasks add", ".Hook has type func()", "state.Untracked[func()]", "not a pointer to it",
		".small is unexported", ".NoName has no json name", ".Minus has no json name", ".Dotted has the json name", "dots",
		`.Alias has the name "same"`, `.Opt has the option "secret"`,
		".Group.X has type int", ".Hidden has a state tag", ".List is an embedded", ".embedded is embedded by pointer",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q", want)
		}
	}
	t.Log(err)
	if err := refusal[struct {
		embedded
		B state.Last[int] `json:"a"`
	}](); err == nil || !strings.Contains(err.Error(), `.B has the name "a", as has A`) {
		t.Error(err)
	}
	if err := refusal[int](); err == nil || !strings.Contains(err.Error(), "int is no struct") {
		t.Error(err)
	}
	if err := refusal[struct {
		embedded
		A state.Last[int] `json:"b"`
	}](); err == nil || !strings.Contains(err.Error(), ".A occurs twice") {
		t.Error(err)
	}
}

type shape struct {
	embedded
	In struct {
		Deep struct {
			L state.List[string] `json:"l" state:"hidden,alias=old.l,alias=older"`
		} `json:"deep"`
	} `json:"in"`
	U state.Untracked[func()] `json:"u"`
	M state.Map[int, bool]    `json:"m"`
}

// E1, E9
func TestFields(t *testing.T) {
	t.Parallel()
	sc := schema[shape](t)
	var got []string
	for _, f := range sc.Fields() {
		got = append(got, strings.Join(append([]string{f.Name, f.Kind, f.Elem.String()}, f.Aliases...), " "))
		if f.Hidden != (f.Name == "in.deep.l") || f.Persisted == (f.Name == "u") {
			t.Errorf("%+v", f)
		}
	}
	want := "a last int; in.deep.l list string old.l older; u untracked func(); m map.pairs bool"
	if s := strings.Join(got, "; "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	if js := string(sc.JSONSchema()); !strings.Contains(js, `"a"`) || !strings.Contains(js, `"m"`) ||
		strings.Contains(js, `"u"`) || strings.Contains(js, "deep") {
		t.Error(js)
	}
	v := sc.View(sc.Empty())
	v.In.Deep.L.Append("secret")
	v.A.Set(1)
	h := commit(t, sc, sc.Empty(), v)
	if got := text(t, sc, h); got != `{"a":1}` {
		t.Error(got)
	}
}

// commit freezes and commits views as the tasks "0", "1" and so on.
func commit[S any](tb testing.TB, sc *state.Schema[S], h *state.Head[S], views ...*S) *state.Head[S] {
	tb.Helper()
	var parts []state.Part[S]
	for i, v := range views {
		if err := sc.Freeze(v); err != nil {
			tb.Fatal(err)
		}
		parts = append(parts, state.Part[S]{Task: string(rune('0' + i)), View: v})
	}
	h, _, err := sc.Commit(h, parts)
	if err != nil {
		tb.Fatal(err)
	}
	return h
}
