package graph_test

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/state"
)

type question struct {
	Text   state.Last[string] `json:"text"`
	Answer state.Last[string] `json:"answer"`
}

// A dear question is asked once an hour, however many threads have it.
func ExampleGraph_Cache() {
	g := graph.New[question]("faq")
	g.Node("look up", func(ctx context.Context, s *question) error {
		fmt.Println("looking up:", s.Text.Get())
		s.Answer.Set("within 30 days")
		return nil
	})
	g.Edge(graph.Start, "look up")
	g.Cache("look up", time.Hour, func(_ context.Context, s *question) (string, error) { return s.Text.Get(), nil })
	app, err := g.Compile(graph.Options{Store: new(checkpoint.Memory)})
	if err != nil {
		panic(err)
	}
	for _, thread := range []string{"ada", "bob"} {
		out, err := app.Run(context.Background(), graph.ID(thread), func(s *question) { s.Text.Set("How long may I return it?") })
		fmt.Println(thread, out.Answer.Get(), err)
	}
	// Output:
	// looking up: How long may I return it?
	// ada within 30 days <nil>
	// bob within 30 days <nil>
}
