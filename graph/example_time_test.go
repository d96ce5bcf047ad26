package graph_test

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/state"
)

type sale struct {
	Price state.Last[int]    `json:"price"`
	Log   state.List[string] `json:"log"`
}

// What would have become of the order at another price: the first branch stays as it is.
func ExampleApp_Edit() {
	ctx := context.Background()
	g := graph.New[sale]("order")
	g.Node("quote", func(_ context.Context, s *sale) error { s.Price.Set(100); return nil })
	g.Node("decide", func(_ context.Context, s *sale) error {
		s.Log.Append(map[bool]string{true: "bought", false: "declined"}[s.Price.Get() < 50])
		return nil
	})
	g.Edge(graph.Start, "quote")
	g.Edge("quote", "decide")
	g.Edge("decide", graph.End)
	app, err := g.Compile(graph.Options{Store: &checkpoint.Memory{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	thread := graph.ID("order-1")
	out, err := app.Run(ctx, thread, nil)
	fmt.Println(out.Log.Slice(), err)

	// Entry 1 is behind quote. As quote: its edges say what comes next.
	cheap, err := app.Edit(ctx, thread, 1, "quote", func(s *sale) { s.Price.Set(40) })
	fmt.Println(cheap.Branch, err)
	out, err = app.Resume(ctx, cheap)
	fmt.Println(out.Log.Slice(), err)

	first, err := app.State(ctx, graph.Thread{Tenant: thread.Tenant, ID: thread.ID, Branch: graph.Main})
	fmt.Println(first.State.Log.Slice(), err)
	// Output:
	// [declined] <nil>
	// edit-1 <nil>
	// [bought] <nil>
	// [declined] <nil>
}
