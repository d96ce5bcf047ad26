package graphtest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/graph/graphtest"
)

// A node is tested as the function it is. In a test, t is the *testing.T.
func ExampleContext() {
	var t testing.TB = quietT{}
	ctx := graphtest.Context(t, graphtest.Options{})
	var s refund
	fmt.Println(pay(ctx, &s))
	fmt.Println(graphtest.Seen(ctx).Asked[0].Text())

	ctx = graphtest.Again(ctx, graphtest.Answer("approve", true))
	fmt.Println(pay(ctx, &s), s.Status.Get())
	// Output:
	// waits for an answer to approve
	// Pay the refund?
	// <nil> paid 12 as key/charge/0
}

// Time stands still until it is moved, so that a time-out is tested without waiting.
func ExampleClock() {
	var clock graphtest.Clock
	g := graph.New[refund]("slow")
	g.Node("work", func(ctx context.Context, _ *refund) error {
		<-ctx.Done()
		return context.Cause(ctx)
	})
	g.Edge(graph.Start, "work")
	g.Policy("work", graph.Policy{Timeout: time.Hour})
	app, err := g.Compile(graph.Options{Clock: &clock})
	if err != nil {
		panic(err)
	}
	go func() {
		clock.Wait(1)
		clock.Advance(time.Hour)
	}()
	_, err = app.Run(context.Background(), graph.ID("a"), nil)
	fmt.Println(errors.Is(err, graph.ErrTimeout), err)
	// Output: true node work: not done after 1h0m0s
}

// quietT stands in for *testing.T, which an example does not have.
type quietT struct{ testing.TB }

func (quietT) Helper()                   {}
func (quietT) Context() context.Context  { return context.Background() }
func (quietT) Error(args ...any)         { panic(fmt.Sprint(args...)) }
func (quietT) Errorf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }
