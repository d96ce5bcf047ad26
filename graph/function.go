package graph

import (
	"context"

	"github.com/holdfast-go/holdfast/state"
)

// A FuncState is the state of the graph of a function. Programs meet it where they use the App itself: as the state of a Snapshot, in
// the input of Stream, as JSON in a View.
type FuncState[In, Out, Saved any] struct {
	In    state.Ephemeral[In] `json:"in"`    // what it was called with; gone when it has returned
	Out   state.Last[Out]     `json:"out"`   // what its last completed call returned
	Saved state.Last[Saved]   `json:"saved"` // what it keeps for the thread's next call
}

// Func makes a graph of one function: its only node, under the graph's name. Compile makes an App of it as of any other, so a call is
// durable, its Ask suspends it, its Once keeps what has happened, and Policy, Handle and Version say how it runs. The function
// gets the input of its run, and what the thread's runs before have saved: the zero value at first. It saves by saved.Set, which
// need not be what it returns; a function that sets nothing keeps what was saved, and one that fails saves nothing. In, Out and Saved
// obey the rules of state fields.
//
//	app, err := graph.Func("total", total).Compile(graph.Options{Store: store})
//	sum, err := graph.RunFunc(ctx, app, graph.ID("till-1"), 5)
func Func[In, Out, Saved any](name string, fn func(ctx context.Context, in In, saved *state.Last[Saved]) (Out, error)) *Graph[FuncState[In, Out, Saved]] {
	g := New[FuncState[In, Out, Saved]](name)
	var node func(context.Context, *FuncState[In, Out, Saved]) error
	if fn != nil {
		node = func(ctx context.Context, s *FuncState[In, Out, Saved]) error {
			in, _ := s.In.Get()
			out, err := fn(ctx, in, &s.Saved)
			if err == nil {
				s.Out.Set(out)
			}
			return err
		}
	}
	g.Node(name, node)
	g.Edge(Start, name)
	return g
}

// RunFunc is App.Run for a function: it calls it on the thread, and returns what it returned. A call that waits for people is
// an *Interrupted; ResumeFunc continues it.
func RunFunc[In, Out, Saved any](ctx context.Context, app *App[FuncState[In, Out, Saved]], thread Thread, in In) (Out, error) {
	return returned(app.Run(ctx, thread, func(s *FuncState[In, Out, Saved]) { s.In.Set(in) }))
}

// ResumeFunc is App.Resume for a function: it continues the thread's call, in any process, and returns what it returned.
func ResumeFunc[In, Out, Saved any](ctx context.Context, app *App[FuncState[In, Out, Saved]], thread Thread, cmds ...Command) (Out, error) {
	return returned(app.Resume(ctx, thread, cmds...))
}

// returned is nothing without a completed call: what an earlier one returned is not of this one.
func returned[In, Out, Saved any](s *FuncState[In, Out, Saved], err error) (out Out, _ error) {
	if err != nil {
		return out, err
	}
	return s.Out.Get(), nil
}
