package graph_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// A decision is what a person says about an action that was shown.
type decision struct {
	Action string `json:"action"` // approve, edit or reject
	Args   string `json:"args,omitzero"`
}

// Approve, edit and reject work at every depth: the action runs once with the right arguments, or never, and one result comes back. // E34 E44 // report 57 // report 58
func TestDecisionsAtEveryDepth(t *testing.T) {
	t.Parallel()
	for depth := range 3 {
		for _, c := range []struct {
			say  decision
			want string
		}{{decision{"approve", ""}, "ran with 42"}, {decision{"edit", "41"}, "ran with 41"}, {decision{"reject", ""}, "declined"}} {
			var ran []string
			app := chain(t, "tool", storeAt(depth == 0, nil), func(ctx context.Context, s *notes) error {
				d, err := graph.Ask[decision](ctx, "approve", "pay 42?")
				if err != nil || d.Action == "reject" {
					s.Log.Append("declined")
					return err
				}
				args := "42"
				if d.Action == "edit" {
					args = d.Args
				}
				out, err := graph.Once(ctx, "pay", func(context.Context, string) (string, error) {
					ran = append(ran, args)
					return "ran with " + args, nil
				})
				s.Log.Append(out)
				return err
			})
			for d := range depth {
				app = outer(t, app, storeAt(d == depth-1, nil))
			}
			th := graph.ID("t")
			_, err := app.Run(t.Context(), th, nil)
			out, err := app.Resume(t.Context(), th, graph.Answer(paused(t, err).Questions[0], c.say))
			if err != nil {
				t.Fatal(err)
			}
			log := strings.Join(out.Log.Slice(), " ")
			if strings.Count(log, c.want) != 1 || c.say.Action == "reject" && len(ran) != 0 || c.say.Action != "reject" && len(ran) != 1 {
				t.Errorf("depth %d, %s: %q, ran %v", depth, c.say.Action, log, ran)
			}
		}
	}
}

// storeAt are the options of a graph that is the root, or of one that is not.
func storeAt(root bool, s checkpoint.Store) graph.Options {
	switch {
	case !root:
		return graph.Options{}
	case s == nil:
		return graph.Options{Store: new(checkpoint.Memory)}
	}
	return graph.Options{Store: s}
}

// Thirty-two readers of one thread beside its run, each changing what it was given: the run does not notice. // E3 E40 // report 150
func TestReadersBesideARun(t *testing.T) {
	t.Parallel()
	app, th := compile(t, countingTo(200), graph.Options{Store: new(checkpoint.Memory)}), graph.ID("t")
	over := make(chan struct{})
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for {
				if s, err := app.State(t.Context(), th); err == nil {
					s.State.Log.Append("reader")
					s.State.Said.Put("reader", "was here")
				}
				for _, err := range app.History(t.Context(), th) {
					if err != nil {
						break
					}
				}
				select {
				case <-over:
					return
				default:
				}
			}
		})
	}
	out, err := app.Run(t.Context(), th, nil)
	close(over)
	wg.Wait()
	if err != nil || out.Log.Len() != 200 || strings.Contains(fmt.Sprint(out.Log.Slice()), "reader") || out.Said.Len() != 0 {
		t.Fatalf("%v, %d", err, out.Log.Len())
	}
}

// countingTo appends n numbers, one a superstep.
func countingTo(n int) *graph.Graph[notes] {
	g := graph.New[notes]("counting")
	g.Node("count", func(_ context.Context, s *notes) error { s.Log.Append(fmt.Sprint(s.Log.Len())); return nil })
	g.Edge(graph.Start, "count")
	g.Route("count", func(_ context.Context, s *notes) (graph.Next, error) {
		if s.Log.Len() < n {
			return graph.To("count"), nil
		}
		return graph.To(graph.End), nil
	}, "count", graph.End)
	return g
}
