package graph_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/state"
)

// A blinded store hands out records that nobody can decode.
type blinded struct {
	checkpoint.Store
	blind bool
}

func (b *blinded) Load(ctx context.Context, k checkpoint.Key, branch int32, ns checkpoint.Namespace) (*checkpoint.Loaded, error) {
	l, err := b.Store.Load(ctx, k, branch, ns)
	if err == nil && b.blind {
		for i := range l.Records {
			l.Records[i].Body = []byte("?")
		}
	}
	return l, err
}

type diary struct {
	Log  state.List[string]       `json:"log"`
	Seen state.Untracked[*string] `json:"seen"`
	Note state.Ephemeral[string]  `json:"note"`
}

// writer is an app that adds to the log; "fail" fails.
func writer(t *testing.T, s checkpoint.Store) *graph.App[diary] {
	g := graph.New[diary]("diary")
	g.Node("a", func(_ context.Context, s *diary) error {
		if last, _ := s.Log.Last(); last == "fail" {
			return fmt.Errorf("it fails")
		}
		s.Seen.Set(new(string))
		s.Note.Set("noted")
		return nil
	})
	g.Edge(graph.Start, "a")
	g.Edge("a", graph.End)
	return compile(t, g, graph.Options{Store: s})
}

func says(text string) func(*diary) { return func(s *diary) { s.Log.Append(text) } }

// The next run of a thread in the same process does not decode what the runs before it have written. Another process does.
func TestNextRunDecodesNothing(t *testing.T) {
	t.Parallel()
	store := &blinded{Store: new(checkpoint.Memory)}
	app, other := writer(t, store), writer(t, store)
	for i := range 3 {
		out, err := app.Run(t.Context(), graph.ID("t"), says(fmt.Sprint(i)))
		if err != nil || out.Log.Len() != i+1 {
			t.Fatalf("run %d: %v", i, err)
		}
		store.blind = true
	}
	_, err := other.Run(t.Context(), graph.ID("t"), says("x"))
	wantErr(t, err, checkpoint.ErrCorrupt)
}

// What is kept for the next runs has a limit, and the latest threads have it.
func TestKeptThreadsHaveALimit(t *testing.T) {
	t.Parallel()
	store := &blinded{Store: new(checkpoint.Memory)}
	app := writer(t, store)
	long := strings.Repeat("x", 6<<20)
	for _, id := range []string{"first", "second", "third"} { // 18 MiB
		if _, err := app.Run(t.Context(), graph.ID(id), says(long)); err != nil {
			t.Fatal(err)
		}
	}
	store.blind = true
	for _, id := range []string{"third", "second"} {
		if _, err := app.Run(t.Context(), graph.ID(id), says("x")); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	_, err := app.Run(t.Context(), graph.ID("first"), says("x"))
	wantErr(t, err, checkpoint.ErrCorrupt)
}

// A run that follows in the same process begins with what was stored: without what is never stored.
func TestNextRunBeginsWithWhatIsStored(t *testing.T) {
	t.Parallel()
	app := writer(t, new(checkpoint.Memory))
	for i := range 2 {
		_, err := app.Run(t.Context(), graph.ID("t"), func(s *diary) {
			if note, _ := s.Note.Get(); s.Seen.Get() != nil || (note == "noted") != (i == 1) {
				t.Errorf("run %d finds %v and %q", i, s.Seen.Get(), note)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A thread that was deleted and began anew elsewhere has its records in the same places.
func TestNextRunOfAnotherThreadOfTheSameName(t *testing.T) {
	t.Parallel()
	store := new(checkpoint.Memory)
	app, other := writer(t, store), writer(t, store)
	th := graph.ID("t")
	if _, err := app.Run(t.Context(), th, says("old")); err != nil {
		t.Fatal(err)
	}
	if err := other.Delete(t.Context(), th); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Run(t.Context(), th, says("new")); err != nil {
		t.Fatal(err)
	}
	out, err := app.Run(t.Context(), th, says("next"))
	if err != nil || !slices.Equal(out.Log.Slice(), []string{"new", "next"}) {
		t.Errorf("%v, %v", out.Log.Slice(), err)
	}
}

// Whatever two processes do to a thread, in whatever order, each run finds what was done before it.
func TestNextRunAfterAnything(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		store := new(checkpoint.Memory)
		apps := []*graph.App[diary]{writer(t, store), writer(t, store)}
		th := graph.ID("t")
		var want []string
		var entry int64
		var then []string // at entry
		for i := range 40 {
			app, text := apps[rnd.IntN(2)], fmt.Sprint(i)
			var err error
			what := rnd.IntN(10)
			if want == nil {
				what = 9 // there is no thread
			}
			switch {
			case what == 0:
				if _, failure := app.Run(t.Context(), th, says("fail")); failure == nil {
					t.Fatal("it did not fail")
				}
				want = append(want, "fail")
			case what == 1:
				_, err = app.Edit(t.Context(), th, -1, "a", says(text))
				want = append(want, text)
			case what == 2 && entry > 0:
				if _, err = app.Fork(t.Context(), th, entry, graph.ForkOptions{}); err == nil {
					_, err = app.Run(t.Context(), th, says(text))
				}
				want, entry = append(slices.Clone(then), text), 0
			case what == 3:
				err = app.Delete(t.Context(), th)
				want, entry = nil, 0
			default:
				var out *diary
				if out, err = app.Run(t.Context(), th, says(text)); err == nil {
					if want = append(want, text); !slices.Equal(out.Log.Slice(), want) {
						t.Fatalf("seed %d, step %d: a run came to %v, want %v", seed, i, out.Log.Slice(), want)
					}
				}
				if at, serr := app.State(t.Context(), th); serr == nil && rnd.IntN(3) == 0 {
					entry, then = at.Entry, slices.Clone(want)
				}
			}
			if err != nil {
				t.Fatalf("seed %d, step %d, %d: %v", seed, i, what, err)
			}
		}
	}
}
