// Package graphotel shows what graphs do in OpenTelemetry: a span for each run, superstep, task, call of a child
// graph and store call, and a few metrics.
//
//	tel, err := graphotel.New(graphotel.Options{})
//	app, err := g.Compile(graph.Options{Store: tel.Store(store), Tracer: tel})
//
// The spans of a run are inside the span of the context that Run or Resume is given. The context of a node carries the span of
// its task, so that whatever the node calls with it (a model, a tool, a database) is inside the task. A run that is resumed, in
// whatever process, has a span of its own for each call; all of them have the same holdfast.run.
//
// Nothing of a state, a question, an answer or an argument is in a span or a metric, but for the fields that [Options.Fields]
// names. The text of errors is. docs/observability.md has a table of every attribute, event and metric.
//
// Exporters, sampling and shutdown belong to the providers, and these to the program.
package graphotel
