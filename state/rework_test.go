package state_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/state"
)

type longer struct{}

func (longer) Reduce(acc, w string) (string, error) {
	if len(w) > len(acc) {
		return w, nil
	}
	return acc, nil
}

type oldFields struct {
	Name state.Last[string]         `json:"name"`
	Docs state.List[string]         `json:"docs"`
	Sum  state.Sum[int]             `json:"sum"`
	Once state.Ephemeral[string]    `json:"once"`
	Long state.Fold[string, longer] `json:"long"`
}

type newFields struct {
	Names state.List[string]         `json:"names"`
	Docs  state.Map[string, int]     `json:"docs"`
	Best  state.Fold[string, longer] `json:"best"`
}

// reworked applies what a rework has made.
func reworked(t *testing.T, raw *state.Raw, w *state.Rework) string {
	t.Helper()
	own, folded := w.Writes()
	if err := raw.Apply([][]state.Write{own}, folded); err != nil {
		t.Fatalf("%s %s: %v", own, folded, err)
	}
	var size int64
	for _, w := range raw.Snapshot() {
		size += int64(len(w.Data))
	}
	if size != raw.Size() {
		t.Fatalf("its size is %d and it says %d", size, raw.Size())
	}
	return rawText(t, raw)
}

func stored(t *testing.T) *state.Raw {
	t.Helper()
	sc := schema[oldFields](t)
	v := sc.View(sc.Empty())
	v.Name.Set("n")
	v.Docs.Append("a", "bb")
	v.Sum.Add(3)
	v.Once.Set("o")
	v.Long.Put("l")
	ws, err := sc.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	raw := state.NewRaw()
	if err := raw.Apply([][]state.Write{ws, {w("x", "vector.3d", `[1]`)}}, []state.Write{w("long", "fold", `"l"`)}); err != nil {
		t.Fatal(err)
	}
	return raw
}

// E45: fields are renamed, dropped and made of others; what is not mentioned stays, ephemeral and unknown fields too.
func TestRework(t *testing.T) {
	t.Parallel()
	convert := func(o *oldFields, n *newFields) error {
		n.Names.Append(o.Name.Get())
		for _, d := range o.Docs.Slice() {
			n.Docs.Put(d, len(d))
		}
		n.Best.Put(o.Long.Get())
		return nil
	}
	for _, c := range []struct {
		name, want string
		do         func(w *state.Rework) error
	}{
		{"nothing", `{"docs":["a","bb"],"long":"l","name":"n","once":"o","sum":3,"x":[[1]]}`, func(*state.Rework) error { return nil }},
		{"rename", `{"docs":["a","bb"],"long":"l","once":"o","title":"n","total":3,"x":[[1]]}`, func(w *state.Rework) error {
			return errors.Join(w.Rename("name", "title"), w.Rename("sum", "sums"), w.Rename("sums", "total"), w.Rename("never", "there"))
		}},
		{"swap", `{"docs":"n","long":"l","name":["a","bb"],"once":"o","sum":3,"x":[[1]]}`, func(w *state.Rework) error {
			return errors.Join(w.Rename("name", "t"), w.Rename("docs", "name"), w.Rename("t", "docs"))
		}},
		{"rename all kinds", `{"a":"o","b":"l","docs":["a","bb"],"name":"n","sum":3,"y":[[1]]}`, func(w *state.Rework) error {
			return errors.Join(w.Rename("once", "a"), w.Rename("long", "b"), w.Rename("x", "y"))
		}},
		{"drop", `{"long":"l","name":"n"}`, func(w *state.Rework) error {
			for _, n := range []string{"docs", "sum", "once", "x", "never"} {
				w.Drop(n)
			}
			return nil
		}},
		{"drop and rename onto it", `{"docs":"n","long":"l","once":"o","sum":3,"x":[[1]]}`, func(w *state.Rework) error {
			w.Drop("docs")
			return w.Rename("name", "docs")
		}},
		{"convert", `{"best":"l","docs":{"a":1,"bb":2},"names":["n"],"x":[[1]]}`, func(w *state.Rework) error {
			_, err := state.Convert(w, convert)
			return err
		}},
		{"convert twice", `{"best":"l","docs":["a","bb"],"x":[[1]]}`, func(w *state.Rework) error {
			_, err := state.Convert(w, convert)
			if err != nil {
				return err
			}
			_, err = state.Convert(w, func(o *newFields, n *struct {
				Docs state.List[string]         `json:"docs"`
				Best state.Fold[string, longer] `json:"best"`
			}) error {
				for k := range o.Docs.All() {
					n.Docs.Append(k)
				}
				n.Best.Put(o.Best.Get())
				return nil
			})
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			raw := stored(t)
			rw := raw.Rework()
			if err := c.do(rw); err != nil {
				t.Fatal(err)
			}
			if got := reworked(t, raw, rw); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// E45: what a rework cannot do it refuses, and nothing is changed.
func TestReworkRefuses(t *testing.T) {
	t.Parallel()
	type wrong struct {
		Name state.Sum[int] `json:"name"`
	}
	type onto struct {
		Sum state.Last[string] `json:"sum"`
	}
	type bad struct {
		F state.Last[func()] `json:"f"`
	}
	for name, c := range map[string]struct {
		want string
		do   func(w *state.Rework) error
	}{
		"rename onto a value": {"holds a value", func(w *state.Rework) error { return w.Rename("name", "docs") }},
		"another kind": {"stored as last", func(w *state.Rework) error {
			_, err := state.Convert(w, func(*wrong, *newFields) error { return nil })
			return err
		}},
		"a value in the way": {"list it", func(w *state.Rework) error {
			_, err := state.Convert(w, func(_ *newFieldsOnly, n *onto) error { n.Sum.Set("x"); return nil })
			return err
		}},
		"its own error": {"no", func(w *state.Rework) error {
			_, err := state.Convert(w, func(*oldFields, *newFields) error { return errors.New("no") })
			return err
		}},
		"a value that would not come back": {"UTF-8", func(w *state.Rework) error {
			_, err := state.Convert(w, func(_ *oldFields, n *newFields) error { n.Names.Append("\xff"); return nil })
			return err
		}},
		"an old struct that is no state": {"func", func(w *state.Rework) error {
			_, err := state.Convert(w, func(*bad, *newFields) error { return nil })
			return err
		}},
		"a new struct that is no state": {"func", func(w *state.Rework) error {
			_, err := state.Convert(w, func(*oldFields, *bad) error { return nil })
			return err
		}},
	} {
		raw := stored(t)
		rw := raw.Rework()
		if err := c.do(rw); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if got := reworked(t, raw, rw); got != rawText(t, stored(t)) {
			t.Errorf("%s changed the state to %s", name, got)
		}
	}
}

type newFieldsOnly struct {
	Never state.Last[string] `json:"never"`
}

// E45: whatever is renamed and dropped in whatever order, the writes of it make of the stored state what was meant.
func TestReworkInAnyOrder(t *testing.T) {
	t.Parallel()
	names := []string{"docs", "long", "name", "once", "sum", "x", "p", "q"}
	for seed := range uint64(500) {
		rnd := rand.New(rand.NewPCG(seed, 45))
		raw := stored(t)
		model := map[string]string{"docs": `["a","bb"]`, "long": `"l"`, "name": `"n"`, "once": `"o"`, "sum": "3", "x": "[[1]]"}
		rw := raw.Rework()
		for range 1 + rnd.IntN(6) {
			a, b := names[rnd.IntN(len(names))], names[rnd.IntN(len(names))]
			if rnd.IntN(4) == 0 {
				rw.Drop(a)
				delete(model, a)
				continue
			}
			err := rw.Rename(a, b)
			_, has := model[a]
			_, taken := model[b]
			if refused := has && taken && a != b; refused != (err != nil) {
				t.Fatalf("seed %d: rename %s to %s: %v", seed, a, b, err)
			}
			if v, ok := model[a]; ok && err == nil {
				delete(model, a)
				model[b] = v
			}
		}
		var parts []string
		for _, n := range []string{"docs", "long", "name", "once", "p", "q", "sum", "x"} {
			if v, ok := model[n]; ok {
				parts = append(parts, fmt.Sprintf("%q:%s", n, v))
			}
		}
		if got, want := reworked(t, raw, rw), "{"+strings.Join(parts, ",")+"}"; got != want {
			t.Fatalf("seed %d: got %s, want %s", seed, got, want)
		}
	}
}
