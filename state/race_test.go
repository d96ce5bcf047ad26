package state_test

import (
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/state"
)

// alias holds what a node may go on changing: a slice, a map and a pointer.
type alias struct {
	ID   string         `json:"id"`
	List []int          `json:"list"`
	Map  map[string]int `json:"map"`
	Ptr  *int           `json:"ptr"`
}

func (a alias) Key() string { return a.ID }

func (a alias) spoil() {
	a.List[0], a.Map["x"], *a.Ptr = -1, -1, -1
	a.Map["y"] = -1
}

func newAlias() alias { return alias{"k", []int{1}, map[string]int{"x": 1}, new(int)} }

type appended struct{}

func (appended) Reduce(acc, w []int) ([]int, error) { return append(acc, w...), nil }

type aliases struct {
	Flat   state.Last[int]             `json:"flat"`
	Last   state.Last[alias]           `json:"last"`
	Slice  state.Last[[]int]           `json:"slice"`
	Map    state.Last[map[string]int]  `json:"map"`
	Ptr    state.Last[*alias]          `json:"ptr"`
	Ints   state.List[int]             `json:"ints"`
	List   state.List[alias]           `json:"list"`
	Ptrs   state.List[*alias]          `json:"ptrs"`
	Keyed  state.Keyed[alias]          `json:"keyed"`
	Points state.Keyed[*alias]         `json:"points"`
	Nums   state.Map[string, int]      `json:"nums"`
	Names  state.Map[string, alias]    `json:"names"`
	Slices state.Map[string, []int]    `json:"slices"`
	Set    state.Set[string]           `json:"set"`
	Sum    state.Sum[int]              `json:"sum"`
	Fold   state.Fold[[]int, appended] `json:"fold"`
	Once   state.Ephemeral[alias]      `json:"once"`
	Live   state.Untracked[int]        `json:"live"`
}

// node writes every field, and returns what a node might do with its values and its view after it returned.
func node(s *aliases) (late func()) {
	a := newAlias()
	ints := []int{1, 2, 3}
	m := map[string]int{"x": 1}
	s.Flat.Set(1)
	s.Last.Set(a)
	s.Slice.Set(ints)
	s.Map.Set(m)
	s.Ptr.Set(&a)
	s.Ints.Append(ints...)
	s.List.Append(a, newAlias())
	s.Ptrs.Append(&a)
	s.Keyed.Put(a)
	s.Points.Put(&a)
	s.Nums.Put("x", 1)
	s.Names.Put("x", a)
	s.Slices.Replace(map[string][]int{"x": ints})
	s.Set.Add("x")
	s.Sum.Add(1)
	s.Fold.Put(ints)
	s.Once.Set(a)
	s.Live.Set(1)
	return func() {
		for range 3 {
			a.spoil()
			ints[0], m["x"] = -1, -1
			s.Flat.Set(-1)
			s.Last.Set(a)
			s.Slice.Set(ints)
			s.Ints.Append(-1)
			s.List.Append(a)
			s.Ptrs.Replace(&a)
			s.Keyed.Put(a)
			s.Points.Remove("k")
			s.Nums.Put("x", -1)
			s.Names.Put("x", a)
			s.Slices.Clear()
			s.Set.Remove("x")
			s.Sum.Add(-1)
			s.Fold.Put(ints)
			s.Once.Set(a)
			s.Live.Set(-1)
		}
	}
}

// A node that goes on changing what it wrote, and writing, changes nothing that is committed, encoded or read; and what
// was read belongs to the reader. Worth most under -race. E3, report 145
func TestLateWriters(t *testing.T) {
	t.Parallel()
	sc := schema[aliases](t)
	h := sc.Empty()
	raw := state.NewRaw()
	want := ""
	for range 4 {
		var parts []state.Part[aliases]
		var all [][]state.Write
		var wg sync.WaitGroup
		v := sc.View(h)
		late := node(v)
		ws, err := sc.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(late)
		parts, all = append(parts, state.Part[aliases]{Task: "t", View: v}), append(all, ws)
		next, folded, err := sc.Commit(h, parts)
		if err != nil {
			t.Fatal(err)
		}
		if err := raw.Apply(all, folded); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			wg.Go(func() { spoilReads(sc.View(next)) })
		}
		want = text(t, sc, next)
		wg.Wait()
		h = next
		if got := text(t, sc, h); got != want {
			t.Fatalf("it was %s and became %s", want, got)
		}
		if got, _ := raw.JSON(); string(got) != want {
			t.Fatalf("typed %s, raw %s", want, got)
		}
	}
}

// spoilReads reads every field and changes what it got.
func spoilReads(s *aliases) {
	s.Last.Get().spoil()
	s.Slice.Get()[0] = -2
	s.Map.Get()["x"] = -2
	s.Ptr.Get().spoil()
	s.Ints.Slice()[0] = -2
	s.List.At(0).spoil()
	for _, a := range s.List.All() {
		a.spoil()
	}
	s.Ptrs.Slice()[0].spoil()
	last, _ := s.Ptrs.Last()
	last.spoil()
	k, _ := s.Keyed.Get("k")
	k.spoil()
	for _, a := range s.Points.All() {
		a.spoil()
	}
	n, _ := s.Names.Get("x")
	n.spoil()
	for _, v := range s.Slices.All() {
		v[0] = -2
	}
	s.Fold.Get()[0] = -2
	o, _ := s.Once.Get()
	o.spoil()
}

// Many steps go on from one head at once: a fork, an abandoned run. E8
func TestForks(t *testing.T) {
	t.Parallel()
	sc := schema[aliases](t)
	base := sc.Empty()
	for range 3 {
		v := sc.View(base)
		node(v)
		base = commit(t, sc, base, v)
	}
	before := text(t, sc, base)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			h := base
			for j := range 20 {
				v := sc.View(h)
				v.Ints.Append(1000*i + j)
				v.Nums.Put("x", i)
				v.Keyed.Put(newAlias())
				if err := sc.Freeze(v); err != nil {
					panic(err)
				}
				next, _, err := sc.Commit(h, []state.Part[aliases]{{Task: "t", View: v}})
				if err != nil {
					panic(err)
				}
				h = next
			}
			v := sc.View(h)
			for j := range 20 {
				if got := v.Ints.At(9 + j); got != 1000*i+j {
					panic(got)
				}
			}
		})
	}
	wg.Wait()
	if after := text(t, sc, base); after != before {
		t.Errorf("the fork point was %s and became %s", before, after)
	}
}

type cloner struct {
	P      *int `json:"p"`
	Copies int  `json:"copies"`
}

func (c cloner) Clone() cloner {
	p := *c.P
	return cloner{&p, c.Copies + 1}
}

// A type's own Clone is used. E3
func TestOwnClone(t *testing.T) {
	t.Parallel()
	type s struct {
		A state.Last[cloner]   `json:"a"`
		B state.Last[[]cloner] `json:"b"`
	}
	sc := schema[s](t)
	h := step(t, sc, sc.Empty(), func(v *s) {
		v.A.Set(cloner{P: new(int)})
		v.B.Set([]cloner{{P: new(int)}})
	})
	v := sc.View(h)
	if v.A.Get().Copies != 2 || v.B.Get()[0].Copies != 2 { // one when frozen, one when read
		t.Error(v.A.Get().Copies, v.B.Get()[0].Copies)
	}
}
