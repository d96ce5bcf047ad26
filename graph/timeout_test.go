package graph_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/graph/graphtest"
)

// outcome is what a call in another goroutine returned.
type outcome struct {
	s   *notes
	err error
}

func start(app *graph.App[notes], ctx context.Context, id string) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		s, err := app.Run(ctx, graph.ID(id), nil)
		done <- outcome{s, err}
	}()
	return done
}

// E19: a run time-out and an idle time-out are typed errors, and every sign of life refreshes the idle one.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		policy graph.Policy
		beat   func(context.Context) error // nil: silent
		idle   bool
	}{
		{"run", graph.Policy{Timeout: time.Minute}, nil, false},
		{"idle", graph.Policy{IdleTimeout: time.Minute}, nil, true},
		{"idle before run", graph.Policy{IdleTimeout: time.Minute, Timeout: time.Hour}, nil, true},
		{"signs of life do not stretch the run time-out", graph.Policy{Timeout: time.Minute, IdleTimeout: time.Hour}, graph.Heartbeat, false},
		{"heartbeat", graph.Policy{IdleTimeout: time.Minute}, graph.Heartbeat, true},
		{"emit", graph.Policy{IdleTimeout: time.Minute}, func(ctx context.Context) error { return graph.Emit(ctx, "x", 1) }, true},
		{"once", graph.Policy{IdleTimeout: time.Minute}, func(ctx context.Context) error {
			_, err := graph.Once(ctx, "x", func(context.Context, string) (int, error) { return 1, nil })
			return err
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clock, step := new(graphtest.Clock), make(chan error)
			app := solo(t, func(ctx context.Context, _ *notes) error {
				for c.beat != nil {
					select {
					case step <- nil:
						<-step
						if err := c.beat(ctx); err != nil {
							return err
						}
						step <- nil
					case <-ctx.Done():
						return context.Cause(ctx)
					}
				}
				<-ctx.Done()
				return context.Cause(ctx)
			}, c.policy, graph.Options{Clock: clock})
			done := start(app, context.Background(), "1")
			clock.WaitFor(time.Minute)
			last := time.Minute
			switch {
			case c.beat == nil:
			case c.idle: // almost idle for too long, three times
				for range 3 {
					<-step
					clock.Advance(59 * time.Second)
					step <- nil
					<-step
				}
			default:
				<-step
				clock.Advance(30 * time.Second)
				step <- nil
				<-step
				last = 30 * time.Second
			}
			clock.Advance(last)
			out := turn(clock, done) // a sign of life that was looked at late only makes the time-out later
			te, ok := errors.AsType[*graph.TimeoutError](out.err)
			if !ok || te.Idle != c.idle || te.Node != "work" || te.After != time.Minute || !errors.Is(out.err, graph.ErrTimeout) {
				t.Fatalf("got %v", out.err)
			}
			clock.Wait(0)
			if err := app.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// E18, E19: a time-out is an ordinary error for the retry predicate and for the handler.
func TestTimeoutIsRetriedAndHandled(t *testing.T) {
	t.Parallel()
	clock, n := new(graphtest.Clock), 0
	g := graph.New[notes]("late")
	g.Node("work", func(ctx context.Context, _ *notes) error { n++; <-ctx.Done(); return ctx.Err() })
	g.Edge(graph.Start, "work")
	g.Policy("work", graph.Policy{Attempts: 2, Timeout: time.Minute, Backoff: 1})
	g.Handle("work", func(_ context.Context, s *notes, cause error) (graph.Next, error) {
		s.Value.Set(fmt.Sprint(errors.Is(cause, graph.ErrTimeout), cause))
		return graph.Next{}, nil
	})
	done := start(compile(t, g, graph.Options{Clock: clock}), context.Background(), "1")
	for range 2 {
		clock.WaitFor(time.Minute)
		clock.Advance(time.Minute)
	}
	if out := <-done; out.err != nil || n != 2 || out.s.Value.Get() != "true not done after 1m0s" {
		t.Fatalf("%v, %d attempts", out.err, n)
	}
}

// E19: a send can have a run time-out of its own, which survives a crash with it.
func TestTimeoutOfASend(t *testing.T) {
	t.Parallel()
	clock := new(graphtest.Clock)
	g := graph.New[notes]("sends")
	work := graph.Each(g, "work", func(ctx context.Context, _ *notes, n int) error {
		if n == 1 {
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	})
	g.Route(graph.Start, func(context.Context, *notes) (graph.Next, error) {
		return work.Within(time.Second).Send(1).And(work.Send(2)), nil
	}, "work")
	app := compile(t, g, graph.Options{Clock: clock, Store: new(checkpoint.Memory)})
	done := start(app, context.Background(), "1")
	clock.WaitFor(time.Second)
	clock.Advance(time.Second)
	if out := <-done; !errors.Is(out.err, graph.ErrTimeout) {
		t.Fatal(out.err)
	}
	again := make(chan error)
	go func() {
		_, err := app.Resume(context.Background(), graph.ID("1"))
		again <- err
	}()
	clock.WaitFor(time.Second)
	clock.Advance(time.Second)
	if err := <-again; !errors.Is(err, graph.ErrTimeout) {
		t.Fatalf("after resume: %v", err)
	}
}

// E19, E23: a node that ignores its context is abandoned: the run goes on with a typed error, whatever the node does later
// is ErrStale and kept nowhere, and Close names it until it has returned.
func TestAbandonedNode(t *testing.T) {
	t.Parallel()
	clock, release, late := new(graphtest.Clock), make(chan struct{}), make(chan []error, 1)
	g := graph.New[notes]("abandon")
	g.Node("deaf", func(ctx context.Context, s *notes) error {
		<-release
		s.Log.Append("late")
		ran := false
		_, once := graph.Once(ctx, "pay", func(context.Context, string) (int, error) { ran = true; return 1, nil })
		_, ask := graph.Ask[bool](ctx, "q", "?")
		errs := []error{once, ask, graph.Emit(ctx, "e", 1), graph.Heartbeat(ctx)}
		if ran {
			errs = append(errs, errors.New("the effect ran"))
		}
		late <- errs
		return nil
	})
	g.Node("next", say("next"))
	g.Edge(graph.Start, "deaf")
	g.Edge("deaf", "next")
	g.Handle("deaf", func(_ context.Context, s *notes, cause error) (graph.Next, error) {
		s.Log.Append(cause.Error())
		return graph.Next{}, nil
	})
	g.Policy("deaf", graph.Policy{Timeout: time.Second, Grace: time.Minute})
	store := new(checkpoint.Memory)
	app := compile(t, g, graph.Options{Clock: clock, Store: store, OnEvent: func(graph.Event) {}})
	done := start(app, context.Background(), "1")
	clock.WaitFor(time.Second)
	clock.Advance(time.Second)
	clock.WaitFor(time.Minute)
	clock.Advance(time.Minute)
	out := <-done
	if out.err != nil || !slices.Equal(out.s.Log.Slice(), []string{"not done after 1s", "next"}) {
		t.Fatalf("%v, %v", out.s.Log.Slice(), out.err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	un, ok := errors.AsType[*graph.UnreturnedError](app.Close(ctx))
	if !ok || !slices.Equal(un.Nodes, []string{"deaf"}) {
		t.Fatalf("Close: %v", un)
	}
	before := rows(t, store, "1")
	close(release)
	for i, err := range <-late {
		if !errors.Is(err, graph.ErrStale) {
			t.Errorf("late call %d: %v, want ErrStale", i, err)
		}
	}
	if err := app.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := rows(t, store, "1"); after != before {
		t.Fatalf("%d records before, %d after", before, after)
	}
}

func rows(t *testing.T, s checkpoint.Store, id string) int {
	t.Helper()
	l, err := s.Load(t.Context(), checkpoint.Key{Tenant: graph.SingleTenant, Thread: id}, checkpoint.Active, "")
	if err != nil {
		t.Fatal(err)
	}
	return len(l.Records)
}

// E26, E19, E29: when the run's context ends, a node that does not return within the grace is left behind, alone or beside
// siblings; what it does later is ErrStale; its end by Goexit counts as well.
func TestNodeThatOutlivesItsRun(t *testing.T) {
	t.Parallel()
	for _, siblings := range []bool{false, true} {
		for _, how := range []string{"return", "goexit", "panic"} {
			t.Run(fmt.Sprint(how, " siblings=", siblings), func(t *testing.T) {
				t.Parallel()
				clock, release, late := new(graphtest.Clock), make(chan struct{}), make(chan error, 1)
				g := graph.New[notes]("outlive")
				g.Node("deaf", func(ctx context.Context, _ *notes) error {
					<-release
					late <- graph.Heartbeat(ctx)
					misbehave(how)
					return nil
				})
				g.Node("good", say("good"))
				g.Edge(graph.Start, "deaf")
				kept := make(chan struct{})
				o := graph.Options{Clock: clock, Store: new(checkpoint.Memory), Grace: time.Minute, OnEvent: func(e graph.Event) {
					if e.Node == "good" && e.Kind == graph.TaskCompleted || !siblings && e.Kind == graph.TaskStarted {
						close(kept)
					}
				}}
				g.Route(graph.Start, func(context.Context, *notes) (graph.Next, error) {
					if siblings {
						return graph.To("good"), nil
					}
					return graph.To(graph.End), nil
				}, "good", graph.End)
				app := compile(t, g, o)
				ctx, cancel := context.WithCancelCause(context.Background())
				done := start(app, ctx, "1")
				<-kept
				cancel(errBoom)
				if out := turn(clock, done); !errors.Is(out.err, errBoom) {
					t.Fatal(out.err)
				}
				st, err := app.State(t.Context(), graph.ID("1"))
				if err != nil || st.Status != checkpoint.Interrupted || st.Next[len(st.Next)-1].Done != siblings {
					t.Fatalf("%+v, %v", st.Next, err)
				}
				gone, stop := context.WithCancel(t.Context())
				stop()
				if un, ok := errors.AsType[*graph.UnreturnedError](app.Close(gone)); !ok || strings.Join(un.Nodes, " ") != "deaf" {
					t.Fatalf("Close: %v", un)
				}
				close(release)
				if err := <-late; !errors.Is(err, graph.ErrStale) {
					t.Errorf("late call: %v", err)
				}
				if err := app.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// turn moves the clock on until the run has ended.
func turn(clock *graphtest.Clock, done <-chan outcome) outcome {
	for {
		select {
		case o := <-done:
			return o
		default:
			clock.AdvanceToNext()
			runtime.Gosched()
		}
	}
}

// E26: a node that returns its result within the grace has finished, with or without a time-out of its own.
func TestResultWithinTheGraceIsKept(t *testing.T) {
	t.Parallel()
	for _, p := range []graph.Policy{{}, {Timeout: time.Hour}, {IdleTimeout: time.Hour}} {
		ctx, cancel := context.WithCancelCause(context.Background())
		app := solo(t, func(ctx context.Context, s *notes) error {
			cancel(errBoom)
			<-ctx.Done()
			s.Log.Append("done")
			return nil
		}, p, graph.Options{Store: new(checkpoint.Memory), Clock: new(graphtest.Clock)})
		_, err := app.Run(ctx, graph.ID("1"), nil)
		if err != nil && !errors.Is(err, errBoom) {
			t.Fatal(err)
		}
		s, err := app.State(t.Context(), graph.ID("1"))
		if err != nil || s.State.Log.Len() != 1 && !s.Next[0].Done {
			t.Errorf("policy %+v: the result is lost: %v, %v", p.Timeout, s.State.Log.Slice(), err)
		}
	}
}

// E29: Close names the node that a run is in when its context ends first, and has waited for everything when it returns nil.
func TestCloseWaits(t *testing.T) {
	t.Parallel()
	for _, wide := range []bool{false, true} {
		release, started := make(chan struct{}), make(chan struct{}, 2)
		ended := false
		g := graph.New[notes]("close")
		block := func(context.Context, *notes) error { started <- struct{}{}; <-release; return nil }
		g.Node("stuck", block)
		g.Node("wide", block)
		g.Node("never", say("never"))
		g.Route(graph.Start, func(context.Context, *notes) (graph.Next, error) {
			if wide {
				return graph.To("stuck", "wide"), nil
			}
			return graph.To("stuck"), nil
		}, "stuck", "wide")
		g.Edge("stuck", "never")
		app := compile(t, g, graph.Options{Store: new(checkpoint.Memory), OnEvent: func(e graph.Event) { ended = e.Kind == graph.RunDrained }})
		done := start(app, context.Background(), "1")
		<-started
		want := "stuck"
		if wide {
			<-started
			want = "stuck wide"
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if un, ok := errors.AsType[*graph.UnreturnedError](app.Close(ctx)); !ok || strings.Join(un.Nodes, " ") != want {
			t.Fatalf("Close: %v", un)
		}
		if _, err := app.Run(t.Context(), graph.ID("2"), nil); !errors.Is(err, graph.ErrClosed) {
			t.Fatalf("Run on a closed app: %v", err)
		}
		close(release)
		if err := app.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !ended {
			t.Fatal("Close returned before the last event was told")
		}
		if out := <-done; !errors.Is(out.err, graph.ErrDrained) {
			t.Fatal(out.err)
		}
	}
}
