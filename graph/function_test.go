package graph_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/state"
)

// A till adds up what it is given over the calls of a thread, returns a line of text, and asks about large amounts.
func till(charged *int) func(context.Context, int, *state.Last[int]) (string, error) {
	return func(ctx context.Context, amount int, sum *state.Last[int]) (string, error) {
		if amount < 0 {
			sum.Set(-1) // not kept: the call fails
			return "", errors.New("negative")
		}
		if amount >= 100 {
			if ok, err := graph.Ask[bool](ctx, "large", "Really?"); err != nil || !ok {
				return "refused", err
			}
		}
		_, err := graph.Once(ctx, "charge", func(context.Context, string) (int, error) { *charged++; return amount, nil })
		sum.Set(sum.Get() + amount)
		return strings.Repeat("i", sum.Get()%7), err
	}
}

type tillState = graph.FuncState[int, string, int]

// A function returns one thing and saves another, which the thread's next call sees and another thread's does not. A call that fails
// saves nothing, and its input is not that of the next. // E57
func TestFunc(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s checkpoint.Store, _ *hand) {
		charged := 0
		app, th := compile(t, graph.Func("till", till(&charged)), graph.Options{Store: s}), graph.ID("t")
		for _, c := range []struct {
			th     graph.Thread
			amount int
			want   string
			saved  int
		}{{th, 3, "iii", 3}, {th, 2, "iiiii", 5}, {graph.ID("u"), 1, "i", 1}, {th, 2, "", 7}} {
			got, err := graph.RunFunc(t.Context(), app, c.th, c.amount)
			if st := stateOf(t, app, c.th, -1); err != nil || got != c.want || st.State.Out.Get() != c.want || st.State.Saved.Get() != c.saved {
				t.Fatalf("%+v: %q, %v, saved %d", c, got, err, st.State.Saved.Get())
			}
		}
		got, err := graph.RunFunc(t.Context(), app, th, -1)
		if failed, ok := errors.AsType[*graph.NodeError](err); !ok || failed.Node != "till" || got != "" {
			t.Fatalf("%q, %v", got, err)
		}
		out, err := app.Run(t.Context(), th, nil)
		if err != nil || out.Saved.Get() != 7 {
			t.Fatalf("%v: saved %d after a failure", err, out.Saved.Get())
		}
		if _, kept := out.In.Get(); kept {
			t.Fatal("the input is kept")
		}
		if charged != 5 {
			t.Fatalf("%d charges", charged)
		}
	})
}

// Its question suspends it and another process answers; the typed answer's call returns the result, and what had happened does not
// happen again. // E57 // E30
func TestFuncAsks(t *testing.T) {
	t.Parallel()
	charged, s, th := 0, new(checkpoint.Memory), graph.ID("t")
	app := compile(t, graph.Func("till", till(&charged)), graph.Options{Store: s})
	got, err := graph.RunFunc(t.Context(), app, th, 100)
	q := paused(t, err).Questions[0]
	if in, _ := stateOf(t, app, th, -1).State.In.Get(); got != "" || in != 100 {
		t.Fatalf("%q waits with input %d", got, in)
	}
	other := compile(t, graph.Func("till", till(&charged)), graph.Options{Store: s})
	got, err = graph.ResumeFunc(t.Context(), other, th, graph.Answer(q, true))
	if err != nil || got != "ii" || charged != 1 {
		t.Fatalf("%q, %v, %d charges", got, err, charged)
	}
}

// Everything that an App has it has: events with its state, JSON, policies under its name, a place in another graph. // E57 // E58 // E44
func TestFuncIsAnApp(t *testing.T) {
	t.Parallel()
	charged, tries, s := 0, 0, new(checkpoint.Memory)
	add := till(&charged)
	g := graph.Func("till", func(ctx context.Context, amount int, sum *state.Last[int]) (string, error) {
		if tries++; tries == 1 {
			return "", errors.New("the first try fails")
		}
		return add(ctx, amount, sum)
	})
	g.Policy("till", graph.Policy{Attempts: 2, Backoff: 1})
	app := compile(t, g, graph.Options{Store: s})
	seen := ""
	for ev, err := range app.With(graph.RunOptions{Kinds: []graph.EventKind{graph.StateValues}}).Stream(t.Context(), graph.ID("t"), func(f *tillState) { f.In.Set(4) }) {
		if err != nil {
			t.Fatal(err)
		}
		if f, err := graph.StateOf[tillState](ev); err == nil {
			seen = f.Out.Get()
		}
	}
	if seen != "iiii" || tries != 2 {
		t.Fatalf("%q after %d tries", seen, tries)
	}
	out, err := app.View().Run(t.Context(), graph.ID("json"), json.RawMessage(`{"in":5}`))
	if err != nil || !sameJSON(t, out, `{"out":"iiiii","saved":5}`) {
		t.Fatalf("%s, %v", out, err)
	}
	outer := graph.New[notes]("outer")
	outer.Node("call", func(ctx context.Context, n *notes) error {
		f, err := graph.Call(ctx, "till", app, func(f *tillState) { f.In.Set(6) })
		if err == nil {
			n.Value.Set(f.Out.Get())
		}
		return err
	})
	outer.Edge(graph.Start, "call")
	if n, err := compile(t, outer, graph.Options{Store: s}).Run(t.Context(), graph.ID("outer"), nil); err != nil || n.Value.Get() != "iiiiii" {
		t.Fatalf("%q, %v", n.Value.Get(), err)
	}
}

// What cannot be stored, and a function that is none, are mistakes at Compile. // E57 // E10
func TestFuncMistakes(t *testing.T) {
	t.Parallel()
	if _, err := graph.Func("f", func(context.Context, chan int, *state.Last[int]) (int, error) { return 0, nil }).Compile(graph.Options{}); err == nil {
		t.Error("a channel was taken as input")
	}
	if _, err := graph.Func[int, int, int]("f", nil).Compile(graph.Options{}); err == nil {
		t.Error("no function was taken")
	}
	if _, err := graph.Func("", till(new(int))).Compile(graph.Options{}); err == nil {
		t.Error("no name was taken")
	}
}
