package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/graph/graphtest"
)

var errBoom = errors.New("boom")

type choosy struct {
	again bool
	after time.Duration
}

func (c choosy) Error() string             { return "choosy" }
func (c choosy) Retryable() bool           { return c.again }
func (c choosy) RetryAfter() time.Duration { return c.after }

// solo compiles a graph of one node.
func solo(t *testing.T, fn func(context.Context, *notes) error, p graph.Policy, o graph.Options) *graph.App[notes] {
	t.Helper()
	g := graph.New[notes]("solo")
	g.Node("work", fn)
	g.Edge(graph.Start, "work")
	g.Policy("work", p)
	return compile(t, g, o)
}

// E18: which errors are tried again, and how often.
func TestRetries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		policy   graph.Policy
		defaults graph.Policy
		err      error
		want     int
	}{
		{"default is one attempt", graph.Policy{}, graph.Policy{}, errBoom, 1},
		{"attempts", graph.Policy{Attempts: 3}, graph.Policy{}, errBoom, 3},
		{"graph default", graph.Policy{}, graph.Policy{Attempts: 4}, errBoom, 4},
		{"node beats graph", graph.Policy{Attempts: 2}, graph.Policy{Attempts: 4}, errBoom, 2},
		{"predicate", graph.Policy{Attempts: 3, Retry: func(error) bool { return false }}, graph.Policy{}, errBoom, 1},
		{"not retryable", graph.Policy{Attempts: 3}, graph.Policy{}, choosy{}, 1},
		{"retryable, wrapped", graph.Policy{Attempts: 3}, graph.Policy{}, fmt.Errorf("x: %w", choosy{again: true}), 3},
		{"a cancel from below is none of ours", graph.Policy{Attempts: 3}, graph.Policy{}, context.Canceled, 1},
		{"a deadline from below is ordinary", graph.Policy{Attempts: 3}, graph.Policy{}, context.DeadlineExceeded, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			attempts, tries := 0, []int{}
			c.policy.Backoff, c.policy.MaxBackoff = 1, 1
			app := solo(t, func(ctx context.Context, s *notes) error {
				attempts++
				i, _ := graph.Info(ctx)
				tries = append(tries, i.Attempt)
				s.Log.Append("discarded")
				return c.err
			}, c.policy, graph.Options{Policy: c.defaults})
			s, err := app.Run(t.Context(), graph.ID("1"), nil)
			ne, ok := errors.AsType[*graph.NodeError](err)
			if !ok || attempts != c.want || ne.Attempt != c.want || ne.Node != "work" || !errors.Is(err, c.err) || s.Log.Len() != 0 {
				t.Fatalf("%d attempts, %v, state %v", attempts, err, s.Log.Slice())
			}
			for i, n := range tries {
				if n != i+1 {
					t.Fatalf("attempts numbered %v", tries)
				}
			}
		})
	}
}

// E18: a later attempt starts with the committed state, and its success counts as one task.
func TestRetrySucceeds(t *testing.T) {
	t.Parallel()
	n := 0
	app := solo(t, func(_ context.Context, s *notes) error {
		n++
		s.Log.Append(fmt.Sprint("attempt ", n, " of ", s.Log.Len()))
		if n < 3 {
			return errBoom
		}
		return nil
	}, graph.Policy{Attempts: 5, Backoff: 1}, graph.Options{Store: new(checkpoint.Memory)})
	s, err := app.Run(t.Context(), graph.ID("1"), nil)
	if err != nil || !slices.Equal(s.Log.Slice(), []string{"attempt 3 of 0"}) {
		t.Fatalf("%v, %v", s.Log.Slice(), err)
	}
}

// E18: back-off doubles with jitter up to its bound; RetryAfter is taken at its word; the wait ends with the run's context.
func TestBackoff(t *testing.T) {
	t.Parallel()
	clock := new(graphtest.Clock)
	fail := error(errBoom)
	app := solo(t, func(context.Context, *notes) error { return fail }, graph.Policy{Attempts: 6, Backoff: time.Second, MaxBackoff: 5 * time.Second}, graph.Options{Clock: clock})
	done := make(chan error)
	go func() {
		_, err := app.Run(context.Background(), graph.ID("1"), nil)
		done <- err
	}()
	for _, most := range []time.Duration{1, 2, 4, 5} {
		clock.Wait(1)
		if d := clock.AdvanceToNext(); d < most*time.Second/2 || d > most*time.Second {
			t.Errorf("waited %v, want between half and all of %vs", d, int64(most))
		}
	}
	clock.Wait(1)
	fail = choosy{again: true, after: time.Hour}
	clock.AdvanceToNext()
	if err := <-done; !errors.Is(err, fail) {
		t.Fatal(err)
	}

	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		_, err := app.Run(ctx, graph.ID("2"), nil)
		done <- err
	}()
	clock.Wait(1)
	if d := clock.Now(); d.IsZero() {
		t.Fatal()
	}
	cancel(errBoom)
	if err := <-done; !errors.Is(err, errBoom) {
		t.Fatalf("got %v, want the cause", err)
	}
	clock.Wait(0)
}

// E18: RetryAfter beats the back-off.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	clock := new(graphtest.Clock)
	app := solo(t, func(context.Context, *notes) error { return choosy{true, time.Hour} }, graph.Policy{Attempts: 2}, graph.Options{Clock: clock})
	done := make(chan error)
	go func() {
		_, err := app.Run(context.Background(), graph.ID("1"), nil)
		done <- err
	}()
	clock.Wait(1)
	if d := clock.AdvanceToNext(); d != time.Hour {
		t.Errorf("waited %v", d)
	}
	<-done
}

// E18: nothing is tried again once the run's own context is done.
func TestNoRetryAfterTheRunEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	n := 0
	app := solo(t, func(context.Context, *notes) error { n++; cancel(errBoom); return errors.New("other") }, graph.Policy{Attempts: 3}, graph.Options{Store: new(checkpoint.Memory)})
	_, err := app.Run(ctx, graph.ID("1"), nil)
	if !errors.Is(err, errBoom) || n != 1 {
		t.Fatalf("%d attempts, %v", n, err)
	}
	st, err := app.State(t.Context(), graph.ID("1"))
	if err != nil || st.Status != checkpoint.Interrupted || st.Reason != "stopped" {
		t.Fatalf("%+v %v", st, err)
	}
}

// E17: siblings of a failure run to their end, their results are durable, and resume runs the failed one only.
func TestSiblingsOfAFailure(t *testing.T) {
	t.Parallel()
	ran := map[string]int{}
	broken, gate := true, make(chan struct{})
	g := graph.New[notes]("siblings")
	node := func(name string, fn func() error) {
		g.Node(name, func(_ context.Context, s *notes) error {
			s.Log.Append(name)
			return fn()
		})
		g.Edge(graph.Start, name)
		g.Edge(name, "after")
	}
	var counted = make(chan string, 10)
	node("bad", func() error {
		counted <- "bad"
		if broken {
			close(gate)
			return errBoom
		}
		return nil
	})
	node("slow", func() error { <-gate; counted <- "slow"; return nil })
	node("fast", func() error { counted <- "fast"; return nil })
	g.Node("after", say("after"))
	app := compile(t, g, graph.Options{Store: new(checkpoint.Memory)})
	s, err := app.Run(t.Context(), graph.ID("1"), nil)
	if !errors.Is(err, errBoom) || s.Log.Len() != 0 {
		t.Fatalf("%v, %v", s.Log.Slice(), err)
	}
	st, err := app.State(t.Context(), graph.ID("1"))
	if err != nil || st.Status != checkpoint.Failed || len(st.Next) != 3 || st.Next[0].Error != "boom" || !st.Next[1].Done || !st.Next[2].Done {
		t.Fatalf("%+v, %v", st, err)
	}
	broken = false
	s, err = app.Resume(t.Context(), graph.ID("1"))
	close(counted)
	for name := range counted {
		ran[name]++
	}
	if err != nil || strings.Join(s.Log.Slice(), " ") != "bad fast slow after" || ran["bad"] != 2 || ran["slow"] != 1 || ran["fast"] != 1 {
		t.Fatalf("%v, %v, ran %v", s.Log.Slice(), err, ran)
	}
}

// E17: FailFast cancels the siblings, which run again on resume; one that ignores its context is left behind.
func TestFailFast(t *testing.T) {
	t.Parallel()
	clock, release, broken := new(graphtest.Clock), make(chan struct{}), true
	both, stopped := make(chan struct{}, 2), make(chan struct{})
	g := graph.New[notes]("fast")
	g.Node("bad", func(_ context.Context, s *notes) error {
		if broken {
			<-both
			<-both
			return errBoom
		}
		s.Log.Append("bad")
		return nil
	})
	g.Node("kind", func(ctx context.Context, s *notes) error {
		s.Log.Append("kind")
		both <- struct{}{}
		if broken {
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	})
	g.Node("rude", func(_ context.Context, s *notes) error {
		s.Log.Append("rude")
		both <- struct{}{}
		if broken {
			<-release
		}
		return nil
	})
	for _, n := range []string{"bad", "kind", "rude"} {
		g.Edge(graph.Start, n)
	}
	app := compile(t, g, graph.Options{Store: new(checkpoint.Memory), FailFast: true, Clock: clock, Grace: time.Minute, OnEvent: func(e graph.Event) {
		if e.Kind == graph.TaskStopped && e.Node == "kind" {
			close(stopped)
		}
	}})
	done := make(chan error)
	go func() {
		_, err := app.Run(context.Background(), graph.ID("1"), nil)
		done <- err
	}()
	<-stopped
	clock.WaitFor(time.Minute)
	clock.Advance(time.Minute)
	if err := <-done; !errors.Is(err, errBoom) || strings.Contains(err.Error(), "kind") {
		t.Fatalf("got %v, want the failure alone", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if e, ok := errors.AsType[*graph.UnreturnedError](app.Close(ctx)); !ok || !slices.Equal(e.Nodes, []string{"rude"}) {
		t.Fatalf("Close: %v", e)
	}
	close(release)
	if err := app.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}
