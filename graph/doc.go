// Package graph runs durable state graphs: ordinary Go functions over a typed state, joined by edges, whose threads survive
// crashes, wait for people, and continue in any process.
//
// # The nouns
//
// A [Graph] is being built; [Graph.Compile] checks it and makes an [App]. A node is a function that reads and writes a view of
// the state; the field types of package state say how the writes of parallel nodes merge. A [Next] says where to go. A
// [Thread] is one conversation or task; a run is one call of [App.Run] on it, continued by [App.Resume] as often as needed. Where one
// function is all there is, [Func] makes a graph of it.
//
// # How a run proceeds
//
// All nodes that are scheduled run at once, each with what was committed before and its own writes. When the last one has
// returned, their writes and where they go are committed together: one superstep. Then the next begins. A superstep is durable
// before the next one starts (see [Durability]); a task that has finished while its siblings run is recorded on its own.
//
// # What is promised
//
// Every accepted superstep is recorded exactly once. A node runs at least once; a node whose result was acknowledged never runs
// again, unless the step refused it. An outside effect happens exactly once only if it uses the idempotency key that [Once]
// hands to it. After a crash, [App.Recover] in any process continues what was left; nothing needs a manual step.
//
// # Watching
//
// [App.Stream] runs and yields what happens. [App.Watch] yields it of a run that somebody else runs, in any process, from any
// number on: live where this App runs the thread, from the log elsewhere.
//
// # Errors
//
// What must not be overlooked is an error. A run that waits returns an [*Interrupted]; it lists the open questions, and Resume
// answers them. [ErrBusy], [ErrNothingToDo], [ErrAmbiguous] and the like say that a call did not fit and changed nothing. A node's
// own error comes in a [*NodeError]. docs/errors.md has every one, with what to do.
//
// # Caveats
//
//   - Code of a node before an Ask runs again when the question is answered. Put effects into Once.
//   - A node must return when its context ends. One that does not is left behind: its late calls are ErrStale, and Close names it.
//   - An App keeps the states of the threads whose runs have completed last, 16 MB as stored, and some times that in memory: the next
//     run in the same App reads the thread and need not decode it. The log decides whether they still hold.
//   - A view belongs to the goroutine of its node. Values read from it are copies.
//   - Names of nodes and json names of fields are durable. [Graph.Alias] and the alias tag rename them.
package graph
