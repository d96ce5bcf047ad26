package graph_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/state"
)

type order struct {
	Text  state.Last[string] `json:"text"`
	Taken state.List[string] `json:"taken"`
}

// A second input comes while the first one waits for a person. It is kept, in order, and runs when the first has ended.
// Nobody answers in time, so the default does.
func ExampleEnqueue() {
	ctx, at := context.Background(), time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)
	g := graph.New[order]("orders")
	g.Node("take", func(ctx context.Context, s *order) error {
		ok, err := graph.Ask(ctx, "approve", "Take "+s.Text.Get()+"?", graph.AskOptions[bool]{Within: time.Hour, Default: new(s.Text.Get() == "tea")})
		if err == nil && ok {
			s.Taken.Append(s.Text.Get())
		}
		return err
	})
	g.Edge(graph.Start, "take")
	app, err := g.Compile(graph.Options{Store: &checkpoint.Memory{Now: func() time.Time { return at }}})
	if err != nil {
		panic(err)
	}
	busy := app.With(graph.RunOptions{OnBusy: graph.Enqueue})
	for _, text := range []string{"tea", "wine"} {
		_, err := busy.Run(ctx, graph.ID("desk"), func(s *order) { s.Text.Set(text) })
		fmt.Println(text, "waits:", errors.Is(err, graph.ErrInterrupted), "queued:", errors.Is(err, graph.ErrQueued))
	}
	for range 2 {
		at = at.Add(2 * time.Hour)
		done, err := app.Recover(ctx) // Serve repeats it
		fmt.Println(len(done), "continued:", err)
	}
	st, _ := app.State(ctx, graph.ID("desk"))
	fmt.Println(st.Status, st.State.Text.Get(), st.State.Taken.Slice())
	// Output:
	// tea waits: true queued: false
	// wine waits: false queued: true
	// 2 continued: <nil>
	// 1 continued: <nil>
	// completed wine [tea]
}
