package graph_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/state"
)

// bangReducer misbehaves as what is written says.
type bangReducer struct{}

func (bangReducer) Reduce(acc, w string) (string, error) {
	misbehave(w)
	return acc + w, nil
}

func misbehave(how string) {
	switch how {
	case "panic":
		panic("boom")
	case "goexit":
		runtime.Goexit()
	}
}

type explosive struct {
	Log  state.List[string]              `json:"log"`
	Fold state.Fold[string, bangReducer] `json:"fold"`
}

type evilError struct{ how string }

func (e *evilError) Error() string { misbehave(e.how); return e.how }

// E21: a panic or a Goexit in any piece of user code is that task's error, with its stack; the process lives, the run ends,
// Close returns.
func TestPanicsAndExits(t *testing.T) {
	t.Parallel()
	for _, place := range []string{
		"node", "branch", "route", "start route", "each", "handler", "retry", "error text", "nil error", "input", "reducer", "input reducer", "OnEvent", "timed node",
		"sibling",
	} {
		for _, how := range []string{"panic", "goexit"} {
			for _, stored := range []bool{false, true} {
				if how == "goexit" && (place == "nil error" || place == "error text") {
					continue
				}
				t.Run(fmt.Sprint(place, " ", how, " stored=", stored), func(t *testing.T) {
					t.Parallel()
					explode(t, place, how, stored)
				})
			}
		}
	}
}

func explode(t *testing.T, place, how string, stored bool) {
	var o graph.Options
	if stored {
		o.Store = new(checkpoint.Memory)
	}
	if place == "OnEvent" {
		o.OnEvent = func(graph.Event) { misbehave(how) }
	}
	app := compile(t, explosiveGraph(place, how), o)
	s, err := app.Run(t.Context(), graph.ID("1"), func(s *explosive) {
		if place == "input" {
			misbehave(how)
		}
		if place == "input reducer" {
			s.Fold.Put(how)
		}
	})
	if cerr := app.Close(t.Context()); cerr != nil {
		t.Error(cerr)
	}
	if place == "OnEvent" {
		if err != nil || strings.Join(s.Log.Slice(), " ") != "a b" {
			t.Fatalf("%v: an observer must not matter", err)
		}
		return
	}
	pe, ok := errors.AsType[*graph.PanicError](err)
	re, isReduce := errors.AsType[*state.ReduceError](err)
	switch {
	case ok && how == "panic" && len(pe.Stack) == 0:
		t.Fatal("no stack")
	case ok && how == "goexit" && !strings.Contains(err.Error(), "Goexit"):
		t.Fatalf("got %v", err)
	case !ok && !(isReduce && (re.Stack != "" || how == "goexit")):
		t.Fatalf("got %v", err)
	}
	if stored && !strings.Contains(place, "input") && place != "start route" {
		st, err := compile(t, explosiveGraph("", ""), o).State(t.Context(), graph.ID("1"))
		if err != nil || st.Status != checkpoint.Failed || st.Error == "" {
			t.Fatalf("%+v, %v", st, err)
		}
	}
}

func explosiveGraph(place, how string) *graph.Graph[explosive] {
	g := graph.New[explosive]("explosive")
	boom := errors.New("plain")
	here := func(p string) error {
		if p == place {
			misbehave(how)
		}
		return nil
	}
	g.Node("a", func(_ context.Context, s *explosive) error {
		s.Log.Append("a")
		switch place {
		case "node":
			return here("node")
		case "handler", "retry":
			return boom
		case "error text":
			return &evilError{how}
		case "nil error":
			var e *evilError
			return e
		case "timed node":
			return here("timed node")
		}
		return nil
	})
	g.Branch("b", func(_ context.Context, s *explosive) (graph.Next, error) {
		s.Log.Append("b")
		return graph.To(graph.End), here("branch")
	}, graph.End, "e")
	send := graph.Each(g, "e", func(context.Context, *explosive, int) error { return here("each") })
	g.Route("a", func(context.Context, *explosive) (graph.Next, error) {
		if place == "each" {
			return send.Send(1, 2), nil
		}
		return graph.To("b"), here("route")
	}, "b", "e")
	g.Node("twin", func(_ context.Context, s *explosive) error {
		if place == "reducer" {
			s.Fold.Put(how)
		}
		return here("sibling")
	})
	g.Route(graph.Start, func(context.Context, *explosive) (graph.Next, error) {
		if place == "sibling" || place == "reducer" {
			return graph.To("a", "twin"), nil
		}
		return graph.To("a"), here("start route")
	}, "a", "twin")
	if place == "handler" {
		g.Handle("a", func(context.Context, *explosive, error) (graph.Next, error) { return graph.Next{}, here("handler") })
	}
	if place == "retry" {
		g.Policy("a", graph.Policy{Attempts: 3, Retry: func(error) bool { misbehave(how); return true }})
	}
	if place == "timed node" {
		g.Policy("a", graph.Policy{Timeout: 1 << 40})
	}
	return g
}

// E21: what a panic leaves behind can be resumed with a mended program.
func TestResumeAfterPanic(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"node", "reducer", "sibling", "branch"} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			store := new(checkpoint.Memory)
			if _, err := compile(t, explosiveGraph(place, "goexit"), graph.Options{Store: store}).Run(t.Context(), graph.ID("1"), nil); err == nil {
				t.Fatal("no error")
			}
			s, err := compile(t, explosiveGraph("", ""), graph.Options{Store: store}).Resume(t.Context(), graph.ID("1"))
			if place == "reducer" { // the write that the reducer refuses is in the log: it fails again, and nothing else happens
				if err == nil {
					t.Fatal("the same write cannot fold")
				}
				return
			}
			if err != nil || strings.Join(s.Log.Slice(), " ") != "a b" {
				t.Fatalf("%v, %v", s.Log.Slice(), err)
			}
		})
	}
}
