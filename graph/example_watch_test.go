package graph_test

import (
	"context"
	"fmt"
	"log"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/state"
)

// A reader goes away in the middle and comes back, perhaps in another process, with the number of the last event that it has seen.
func ExampleApp_Watch() {
	type Trip struct {
		Stops state.List[string] `json:"stops"`
	}
	g := graph.New[Trip]("trip")
	stop := func(name string) func(context.Context, *Trip) error {
		return func(_ context.Context, s *Trip) error { s.Stops.Append(name); return nil }
	}
	g.Node("north", stop("Bergen"))
	g.Node("south", stop("Porto"))
	g.Edge(graph.Start, "north")
	g.Edge("north", "south")
	app, err := g.Compile(graph.Options{Store: new(checkpoint.Memory)})
	if err != nil {
		log.Fatal(err)
	}
	ctx, thread := context.Background(), graph.ID("trip-1")
	if _, err := app.Run(ctx, thread, nil); err != nil { // usually somewhere else, and still going on
		log.Fatal(err)
	}

	o := graph.WatchOptions{Kinds: []graph.EventKind{graph.TaskUpdated, graph.RunCompleted}}
	for e, err := range app.Watch(ctx, thread, o) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("first:", e.Kind, e.Node)
		o.After = e.Seq
		break
	}
	for e, err := range app.Watch(ctx, thread, o) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("then:", e.Kind, e.Node)
	}
	// Output:
	// first: updated north
	// then: updated south
	// then: run.completed
}
