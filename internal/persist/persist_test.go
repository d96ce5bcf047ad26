package persist_test

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/holdfast-go/holdfast/internal/persist"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var hashes = map[string]func(int) uint64{
	"good":  func(k int) uint64 { return maphash.Comparable(seed, k) },
	"one":   func(int) uint64 { return 7 },
	"four":  func(k int) uint64 { return uint64(k) & 3 << 62 },
	"low":   func(k int) uint64 { return uint64(k) },
	"equal": func(k int) uint64 { return uint64(k/3) * 0x9E3779B97F4A7C15 },
}

var seed = maphash.MakeSeed()

// A map does what a Go map does, with and without an edit, however its keys collide, and old versions stay.
func TestMap(t *testing.T) {
	t.Parallel()
	for name, hash := range hashes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				m, want := persist.WithHash[int, int](hash), map[int]int{}
				var olds []persist.Map[int, int]
				var olders []map[int]int
				var edit *persist.Edit
				for i := range rapid.IntRange(0, 80).Draw(t, "ops") {
					k := rapid.IntRange(0, 40).Draw(t, "key")
					switch rapid.IntRange(0, 9).Draw(t, "op") {
					case 0:
						olds, olders, edit = append(olds, m), append(olders, maps.Clone(want)), nil
					case 1:
						olds, olders, edit = append(olds, m), append(olders, maps.Clone(want)), new(persist.Edit)
					case 2, 3, 4:
						var had bool
						m, had = m.Delete(edit, k)
						if _, ok := want[k]; ok != had {
							t.Fatalf("delete %d says %v", k, had)
						}
						delete(want, k)
					default:
						m, want[k] = m.Put(edit, k, i), i
					}
					same(t, m, want)
				}
				for i := range olds {
					same(t, olds[i], olders[i])
				}
			})
		})
	}
}

func same(t *rapid.T, m persist.Map[int, int], want map[int]int) {
	got := maps.Collect(m.All())
	if !maps.Equal(got, want) || m.Len() != len(want) {
		t.Fatalf("have %v (%d), want %v", got, m.Len(), want)
	}
	for k := range 41 {
		v, ok := m.Get(k)
		if w, has := want[k]; ok != has || v != w {
			t.Fatalf("%d is %d, %v; want %d, %v", k, v, ok, w, has)
		}
	}
}

// An ordered map keeps the order in which keys came, and old versions stay.
func TestOrdered(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var m persist.Ordered[int]
		var keys []string
		vals := map[string]int{}
		type version struct {
			m    persist.Ordered[int]
			text string
		}
		var olds []version
		var edit *persist.Edit
		span := rapid.SampledFrom([]int{3, 40, 400}).Draw(t, "span")
		for i := range rapid.IntRange(0, 300).Draw(t, "ops") {
			k := fmt.Sprint(rapid.IntRange(0, span).Draw(t, "key"))
			switch op := rapid.IntRange(0, 19).Draw(t, "op"); {
			case op == 0:
				olds, edit = append(olds, version{m, ordered(m)}), new(persist.Edit)
			case op == 1:
				edit = nil
			case op < 9:
				var had bool
				m, had = m.Delete(edit, k)
				if had != slices.Contains(keys, k) {
					t.Fatalf("delete %s says %v", k, had)
				}
				keys = slices.DeleteFunc(keys, func(s string) bool { return s == k })
				delete(vals, k)
			default:
				m = m.Put(edit, k, i)
				if !slices.Contains(keys, k) {
					keys = append(keys, k)
				}
				vals[k] = i
			}
		}
		var want string
		for _, k := range keys {
			want += fmt.Sprintf("%s:%d ", k, vals[k])
			if v, ok := m.Get(k); !ok || v != vals[k] {
				t.Fatalf("%s is %d, %v", k, v, ok)
			}
		}
		if got := ordered(m); got != want || m.Len() != len(keys) {
			t.Fatalf("have %s, want %s", got, want)
		}
		if k, _, ok := m.Last(); ok != (len(keys) > 0) || ok && k != keys[len(keys)-1] {
			t.Fatalf("last is %s of %v", k, keys)
		}
		for _, o := range olds {
			if got := ordered(o.m); got != o.text {
				t.Fatalf("an old version was %s and became %s", o.text, got)
			}
		}
	})
}

func ordered(m persist.Ordered[int]) (s string) {
	for k, v := range m.All() {
		s += fmt.Sprintf("%s:%d ", k, v)
	}
	return s
}

// A vector does what a slice does across the sizes where it grows a level.
func TestVec(t *testing.T) {
	t.Parallel()
	for _, edit := range []*persist.Edit{nil, new(persist.Edit)} {
		var v persist.Vec[int]
		const n = 16*16*16 + 20
		for i := range n {
			v = v.Append(edit, i)
		}
		half := v
		for range n / 2 {
			half = half.Pop(nil)
		}
		for i := range 100 {
			half = half.Append(nil, -i)
		}
		if v.Len() != n || half.Len() != n-n/2+100 {
			t.Fatal(v.Len(), half.Len())
		}
		i := 0
		for x := range v.All() {
			if x != i || v.At(i) != i {
				t.Fatal(i, x, v.At(i))
			}
			i++
		}
		if got := len(slices.Collect(half.All())); got != half.Len() || half.At(half.Len()-1) != -99 || half.At(0) != 0 {
			t.Fatal(got)
		}
	}
}

// Breaking out of a loop ends it.
func TestBreak(t *testing.T) {
	t.Parallel()
	var m persist.Map[int, int]
	var o persist.Ordered[int]
	for i := range 100 {
		m, o = m.Put(nil, i, i), o.Put(nil, fmt.Sprint(i), i)
	}
	n := 0
	for range m.All() {
		n++
		break
	}
	for range o.All() {
		n++
		break
	}
	if n != 2 {
		t.Fatal(n)
	}
}

// Backward is All in reverse, holes included.
func TestOrderedBackward(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var o persist.Ordered[int]
		e := new(persist.Edit)
		for i := range rapid.IntRange(0, 100).Draw(t, "n") {
			k := fmt.Sprint(rapid.IntRange(0, 20).Draw(t, "k"))
			if rapid.Bool().Draw(t, "put") {
				o = o.Put(e, k, i)
			} else {
				o, _ = o.Delete(e, k)
			}
		}
		var forth, back []string
		for k := range o.All() {
			forth = append(forth, k)
		}
		for k := range o.Backward() {
			back = append(back, k)
		}
		slices.Reverse(back)
		if !slices.Equal(forth, back) {
			t.Fatalf("forth %q, back %q", forth, back)
		}
	})
}
