package graphcli_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/graph/graphcli"
	"github.com/holdfast-go/holdfast/state"
)

type greeting struct {
	Said state.List[string] `json:"said"`
}

// A program has a command line of its own. Its main calls graphcli.Main(app.View()); Run is the same with everything given.
func ExampleRun() {
	g := graph.New[greeting]("greeting")
	g.Node("hello", func(ctx context.Context, s *greeting) error {
		name, err := graph.Ask[string](ctx, "name", "What is your name?")
		if err == nil {
			s.Said.Append("Hello, " + name)
		}
		return err
	})
	g.Edge(graph.Start, "hello")
	app, err := g.Compile(graph.Options{Store: &checkpoint.Memory{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, line := range []string{"run t1", "answer t1 -by ann", "resume t1 -json", "diff t1 0", "resume t1"} {
		args := append([]string{"greeting"}, strings.Fields(line)...)
		code := graphcli.Run(context.Background(), app.View(), args, strings.NewReader("Ann\n"), os.Stdout, os.Stdout)
		fmt.Println("exit code", code)
	}
	// Output:
	// thread      default/t1
	// status      interrupted
	// question    ptgrde3yc7v74r7f 7c7e0703 name: What is your name?
	//
	// {}
	// exit code 0
	// question    ptgrde3yc7v74r7f (name, node hello)
	// answer      {"type":"string"}
	//
	// What is your name?
	//
	// answer: recorded; the run goes on when the program next resumes, recovers or serves the thread
	// exit code 0
	// {"thread":{"tenant":"default","id":"t1"},"status":"completed","state":{"said":["Hello, Ann"]}}
	// exit code 0
	// + said ["Hello, Ann"]
	// exit code 0
	// greeting: graph: nothing to resume: the last run has ended; Run starts the next one
	// exit code 1
}
