// Package graphcli is the command line of a graph: what people do with threads by hand. [Main] gives it to a program for its own
// View, with the commands that run nodes; the command holdfast is the same over a bare View, so that it works on any store
// without the program.
//
//	func main() {
//		app, err := g.Compile(graph.Options{Store: store})
//		...
//		graphcli.Main(app.View())
//	}
//
// # Commands
//
// "help" lists them, and each has -h. docs/cli.md shows one example of each. A thread is given by its id; -tenant names its
// tenant, which is graph.SingleTenant otherwise, and -branch a branch that is not the active one. Flags may stand before and
// behind the arguments.
//
// # Output
//
// Text is for people and fits into 80 columns; wide characters count as two, and control characters in stored text are shown
// as escapes. It may change. With -json there is one JSON object a line, whose names stay: an object for each row of a list,
// one for everything else. Errors go to the other stream.
//
// # Exit codes
//
//	0  done; also for a run that waits for people, whose status says so
//	1  refused or failed; the error says what to do
//	2  the command line is not one
package graphcli
