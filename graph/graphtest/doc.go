// Package graphtest helps to test graphs: a node alone, and time.
//
// [Context] makes a context under which Ask, Once, Emit, Heartbeat, StepsLeft, Draining and Info of package graph work
// without an engine, so that a node is tested as the plain function it is:
//
//	ctx := graphtest.Context(t, graphtest.Options{Answers: []graphtest.Reply{graphtest.Answer("approve", true)}})
//	var s Refund
//	err := pay(ctx, &s)
//
// A question without a scripted answer suspends the node, as the engine would. [Again] is the context of the next
// execution of the same task: what Once recorded is there, and the questions begin anew. [Seen] tells what the node did.
//
// A [Clock] is moved by hand; give it to graph.Options.Clock to test time-outs and back-offs without waiting.
package graphtest
