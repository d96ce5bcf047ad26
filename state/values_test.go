package state_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/state"
)

// trip sets v, encodes, decodes through a raw state, and returns what comes back, or the error before the write.
func trip[T any](t *testing.T, v T) (T, error) {
	t.Helper()
	sc := schema[one[T]](t)
	s := sc.View(sc.Empty())
	s.V.Set(v)
	ws, err := sc.Encode(s)
	if err != nil {
		var zero T
		return zero, err
	}
	raw := state.NewRaw()
	if err := raw.Apply([][]state.Write{ws}, nil); err != nil {
		t.Fatal(err)
	}
	h, err := sc.Restore(raw)
	if err != nil {
		t.Fatal(err)
	}
	return sc.View(h).V.Get(), nil
}

func back[T any](v T) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		got, err := trip(t, v)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, v) {
			t.Fatalf("%#v came back as %#v", v, got)
		}
	}
}

type nested struct {
	B   []byte             `json:"b"`
	M   map[int64][]string `json:"m"`
	P   *nested            `json:"p"`
	U   uint64             `json:"u"`
	Raw json.RawMessage    `json:"raw,omitzero"`
	Any [2]*string         `json:"any"`
	O   []int              `json:"o,omitzero"`
}

// Values come back as they were. E10, reports 109, 110, 114, 115
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	text := "\x00\u2028<>&\"\\ \\u0000 中文"
	t.Run("text", back(text))
	t.Run("keys", back(map[string]string{text: text, "": ""}))
	t.Run("bytes", back([]byte{0, 0xff, 0xfe}))
	t.Run("empty bytes", back([]byte{}))
	t.Run("nil bytes", back([]byte(nil)))
	t.Run("nil slice", back([]int(nil)))
	t.Run("empty slice", back([]int{}))
	t.Run("nil map", back(map[string]int(nil)))
	t.Run("empty map", back(map[string]int{}))
	t.Run("big", back(uint64(math.MaxUint64)))
	t.Run("2^53+1", back(int64(1<<53+1)))
	t.Run("big.Int", back(new(big.Int).Exp(big.NewInt(7), big.NewInt(400), nil)))
	t.Run("float", back([]float64{0.1, math.MaxFloat64, 5e-324, math.Copysign(0, -1)}))
	t.Run("int keys", back(map[int64]string{1: "a", -1 << 63: "b"}))
	t.Run("text keys", back(map[textKey]int{{"1", "x"}: 1, {"", ""}: 2}))
	t.Run("nil pointer", back((*nested)(nil)))
	t.Run("addr", back([]netip.Addr{{}, netip.MustParseAddr("fe80::1%eth0")}))
	t.Run("nested", back(nested{
		B: []byte{}, M: map[int64][]string{-5: nil, 5: {}}, P: &nested{O: []int{}}, U: math.MaxUint64,
		Raw: json.RawMessage(`{"a":[1,"\u0000"]}`), Any: [2]*string{nil, &text},
	}))
	for name, at := range map[string]time.Time{
		"utc":    time.Date(2024, 2, 29, 23, 59, 59, 999999999, time.UTC),
		"offset": time.Date(1, 1, 1, 0, 0, 0, 1, time.FixedZone("", -11*3600-30*60)),
		"zero":   {},
		"9999":   time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC),
	} {
		got, err := trip(t, at)
		if err != nil {
			t.Fatal(err)
		}
		_, a := at.Zone()
		_, b := got.Zone()
		if !got.Equal(at) || a != b || got.Nanosecond() != at.Nanosecond() {
			t.Errorf("%s: %v came back as %v", name, at, got)
		}
	}
}

type loop struct {
	Next *loop            `json:"next"`
	Kids map[string]*loop `json:"kids"`
}

func refused[T any](v T, want ...string) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		_, err := trip(t, v)
		bad, ok := errors.AsType[*state.ValueError](err)
		if !ok || bad.Field != "v" || bad.Go != "V" {
			t.Fatalf("%#v", err)
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q does not say %q", err, w)
			}
		}
	}
}

// Values that would not come back are refused before the write, with their path. E10
func TestValuesRefused(t *testing.T) {
	t.Parallel()
	ring := &loop{}
	ring.Next = ring
	selfMap := &loop{Kids: map[string]*loop{}}
	selfMap.Kids["me"] = selfMap
	t.Run("utf8", refused("a\xff", "field v (V)", "UTF-8"))
	t.Run("utf8 key", refused(map[string]int{"\xff": 1}, "UTF-8"))
	t.Run("utf8 deep", refused([]nested{{}, {M: map[int64][]string{7: {"ok", "\xc3"}}}}, `V[1].M["7"][1]`))
	t.Run("nan", refused(map[string][]float64{"x": {1, math.NaN()}}, `V["x"][1]`, "NaN"))
	t.Run("inf", refused(float32(math.Inf(-1)), "infinity"))
	t.Run("ring", refused(ring, "cycle"))
	t.Run("self map", refused(selfMap, "cycle"))
	t.Run("year", refused(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), "year 10000"))
	t.Run("year before", refused([]time.Time{time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)}, "V[0]", "year -1"))
	t.Run("lmt", refused(time.Date(1900, 1, 1, 0, 0, 0, 0, time.FixedZone("LMT", 29143)), "29143 seconds"))
	t.Run("raw", refused(nested{Raw: json.RawMessage(`{"a":`)}, "V.Raw", "no valid JSON"))
	t.Run("raw utf8", refused(nested{Raw: json.RawMessage("\"\xff\"")}, "V.Raw", "UTF-8"))
	t.Run("raw nil", refused(json.RawMessage(nil), "omitzero"))
	t.Run("codec fails", refused([]failing{{}}, "no JSON today"))
}

type failing struct{}

func (failing) MarshalJSON() ([]byte, error) { return nil, errors.New("no JSON today") }
func (*failing) UnmarshalJSON([]byte) error  { return nil }

// The error has the path of every field type. E10
func TestRefusedInEveryField(t *testing.T) {
	t.Parallel()
	type s struct {
		L state.List[string]           `json:"l"`
		K state.Keyed[item]            `json:"k"`
		M state.Map[string, float64]   `json:"m"`
		P state.Map[point, int]        `json:"p"`
		S state.Set[string]            `json:"s"`
		N state.Sum[float64]           `json:"n"`
		F state.Fold[[]string, joined] `json:"f"`
		E state.Ephemeral[string]      `json:"e"`
	}
	sc := schema[s](t)
	for want, write := range map[string]func(*s){
		"l (L[1])":           func(v *s) { v.L.Append("", "\xff") },
		`k (K["a"].Tags[0])`: func(v *s) { v.K.Put(item{ID: "a", Tags: []string{"\xff"}}) },
		`k (K[""])`:          func(v *s) { v.K.Put(item{}) },
		`m (M["x"])`:         func(v *s) { v.M.Put("x", math.NaN()) },
		`p (P["{1 `:          func(v *s) { v.P.Put(point{1, "\xff"}, 1) },
		`s (S["`:             func(v *s) { v.S.Add("\xff") },
		"n (N)":              func(v *s) { v.N.Add(math.Inf(1)) },
		"f (F[0])":           func(v *s) { v.F.Put([]string{"\xff"}) },
		"e (E)":              func(v *s) { v.E.Set("\xff") },
	} {
		v := sc.View(sc.Empty())
		write(v)
		for range 2 { // a second call says it again
			err := sc.Freeze(v)
			if bad, ok := errors.AsType[*state.ValueError](err); !ok || !strings.Contains(bad.Error(), "field "+want) {
				t.Errorf("want %s: %v", want, err)
			}
		}
		if ws, err := sc.Encode(v); err == nil {
			t.Errorf("encoded %v", ws)
		}
	}
	v := sc.View(sc.Empty())
	v.L.Append("\xff")
	v.E.Set("\xff")
	if err := sc.Freeze(v); err == nil || !strings.Contains(err.Error(), "l (L[0])") || !strings.Contains(err.Error(), "e (E)") {
		t.Errorf("want both mistakes: %v", err)
	}
}

// Keys of different types do not collide. Report 115
func TestKeysDoNotCollide(t *testing.T) {
	t.Parallel()
	type s struct {
		A state.Map[point, string]   `json:"a"`
		B state.Map[textKey, string] `json:"b"`
		C state.Map[string, string]  `json:"c"`
		D state.Map[bool, string]    `json:"d"`
	}
	sc := schema[s](t)
	v := sc.View(sc.Empty())
	v.A.Put(point{1, "1"}, "x")
	v.A.Put(point{11, ""}, "y")
	v.B.Put(textKey{"1", "2"}, "z")
	v.C.Put("1", "one")
	v.C.Put("1.0", "one point")
	v.D.Put(true, "t")
	want := `{"a":[[{"x":1,"y":"1"},"x"],[{"x":11,"y":""},"y"]],"b":[["1/2","z"]],"c":{"1":"one","1.0":"one point"},"d":[[true,"t"]]}`
	if got := text(t, sc, commit(t, sc, sc.Empty(), v)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
