package graphotel_test

import (
	"context"
	"fmt"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/graph/graphotel"
)

// What a node does with its context is inside the span of its task. A program has an exporter to its collector in the place of the
// one here, and usually the global provider.
func Example() {
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	tel, err := graphotel.New(graphotel.Options{TracerProvider: provider})
	if err != nil {
		panic(err)
	}

	g := graph.New[order]("refund")
	g.Node("search", func(ctx context.Context, s *order) error {
		_, span := provider.Tracer("shop").Start(ctx, "GET /orders")
		defer span.End()
		s.Status.Set("found")
		return nil
	})
	g.Edge(graph.Start, "search")
	app, err := g.Compile(graph.Options{Store: tel.Store(new(checkpoint.Memory)), Tracer: tel})
	if err != nil {
		panic(err)
	}
	if _, err := app.Run(context.Background(), graph.ID("t"), nil); err != nil {
		panic(err)
	}
	for _, s := range spans.GetSpans() { // as they ended
		fmt.Println(s.Name)
	}
	// Output:
	// store Load
	// store Acquire
	// GET /orders
	// task search
	// store Append
	// superstep
	// run refund
}
