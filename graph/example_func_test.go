package graph_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/state"
)

// A function that writes letters. It returns the letter and saves something else: to whom it has written on this thread.
func letter(ctx context.Context, name string, known *state.Last[[]string]) (string, error) {
	greeting := "Dear " + name
	for _, n := range known.Get() {
		if n == name {
			greeting = "Dear " + name + ", once more"
		}
	}
	ok, err := graph.Ask[bool](ctx, "send", greeting+". Send it?")
	if err != nil || !ok {
		return "", err
	}
	known.Set(append(known.Get(), name))
	return graph.Once(ctx, "post", func(ctx context.Context, key string) (string, error) {
		return strings.ToUpper(greeting), nil // the post office takes it once under this key
	})
}

func ExampleFunc() {
	ctx, thread := context.Background(), graph.ID("desk")
	app, err := graph.Func("letter", letter).Compile(graph.Options{Store: new(checkpoint.Memory)})
	if err != nil {
		panic(err)
	}
	for range 2 {
		text, err := graph.RunFunc(ctx, app, thread, "Ada")
		if open, ok := errors.AsType[*graph.Interrupted](err); ok { // any process, any time
			fmt.Println(open.Questions[0].Text())
			text, err = graph.ResumeFunc(ctx, app, thread, graph.Answer(open.Questions[0], true))
		}
		fmt.Println(text, err)
	}
	// Output:
	// Dear Ada. Send it?
	// DEAR ADA <nil>
	// Dear Ada, once more. Send it?
	// DEAR ADA, ONCE MORE <nil>
}
