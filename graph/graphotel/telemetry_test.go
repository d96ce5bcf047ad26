package graphotel_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/graph/graphotel"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

// A run is a tree of supersteps, tasks and what nodes start themselves, inside the span of the caller; retries, questions and
// effects are events; a resumed run is a span of its own with the same id. // E50
func TestTree(t *testing.T) {
	t.Parallel()
	l := newLab(t, graphotel.Options{Fields: []string{"status", "money.paid", "secret", "no such field"}})
	app := compile(t, refund(t, l, true), graph.Options{Store: l.Store(new(checkpoint.Memory)), Tracer: l})
	th := graph.Thread{Tenant: "acme", ID: "t"}
	ctx, caller := l.tracer.Start(t.Context(), "request")
	_, err := app.Run(ctx, th, nil)
	q := question(t, err)
	caller.End()
	if _, err := app.Run(t.Context(), th, nil); !errors.Is(err, graph.ErrBusy) {
		t.Fatal(err)
	}
	if _, err := app.Resume(t.Context(), th, graph.Answer(q, true)); err == nil {
		t.Fatal("notify did not fail")
	}
	const want = `request
  run refund: interrupted (graph.ErrInterrupted)
    store Load
    store Acquire
    superstep: committed
      task policy: completed
        * retry
        model
      task risk: completed
    superstep: interrupted (graph.ErrInterrupted)
      task pay: asked
        * effect recorded
        * asked
run refund: refused (graph.ErrBusy)
  store Load
run refund: failed (*errors.errorString)
  store Load
  store Answer
  store Load
  store Acquire
  superstep: committed
    task pay: completed
      * effect reused
    store Append
  superstep: failed (*errors.errorString)
    task notify: failed (*errors.errorString)
      call sending: failed (*errors.errorString)
        superstep: failed (*errors.errorString)
          task send: failed (*errors.errorString)
    store Append
`
	got := l.tree(true)
	// How many appends the first call makes depends on which task ends last.
	first, rest, _ := strings.Cut(got, "run refund: refused")
	first = strings.ReplaceAll(strings.ReplaceAll(first, "        store Append\n", ""), "      store Append\n", "")
	if got = first + "run refund: refused" + rest; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if a, b := len(l.spans.Started()), len(l.spans.Ended()); a != b {
		t.Errorf("%d spans began and %d ended", a, b)
	}
	runs := l.named("run refund")
	if id := attr(runs[0].Attributes(), graphotel.RunKey); id == "" || id != attr(runs[2].Attributes(), graphotel.RunKey) {
		t.Error("the calls of one run do not have one id")
	}
	for _, s := range l.spans.Ended() {
		failed := attr(s.Attributes(), graphotel.OutcomeKey) == "failed"
		if (s.Status().Code == codes.Error) != failed {
			t.Errorf("%s: status %v", s.Name(), s.Status())
		}
		paid := attr(s.Attributes(), graphotel.StatePrefix+"money.paid")
		if want := map[string]string{"2": "12"}[attr(s.Attributes(), graphotel.StepKey)]; s.Name() == "superstep" && ending(s) == ": committed" && paid != want {
			t.Errorf("superstep with paid %q, want %q", paid, want)
		}
		if attr(s.Attributes(), graphotel.StatePrefix+"secret") != "" {
			t.Error("a hidden field is on a span")
		}
	}
}

// A task of a run that another process has left is seen as a takeover, on the run that took it. // E50
func TestTakeover(t *testing.T) {
	t.Parallel()
	l := newLab(t, graphotel.Options{})
	memory := new(checkpoint.Memory)
	faulty := faultstore.New(memory)
	faulty.At("Append", 1, faultstore.CrashBefore)
	g := graph.New[order]("left")
	g.Node("a", func(ctx context.Context, s *order) error { return nil })
	g.Edge(graph.Start, "a")
	first := compile(t, g, graph.Options{Store: l.Store(faulty), Tracer: l, StorePatience: time.Millisecond})
	if _, err := first.Run(t.Context(), graph.ID("t"), nil); !errors.Is(err, checkpoint.ErrUnavailable) {
		t.Fatal(err)
	}
	left, err := compile(t, g, graph.Options{Store: l.Store(memory), Tracer: l}).Recover(t.Context())
	if err != nil || len(left) != 1 || left[0].Err != nil {
		t.Fatal(left, err)
	}
	const want = `run left: failed (checkpoint.ErrUnavailable)
  * lost
  superstep: failed (checkpoint.ErrUnavailable)
    task a: completed
run left: completed
  * taken over
  superstep: committed
    task a: completed
`
	if got := l.tree(false); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What a slow reader of a stream has missed is an event of the run that it watches. // E50 // E47
func TestDrops(t *testing.T) {
	t.Parallel()
	l := newLab(t, graphotel.Options{})
	g := graph.New[order]("fast")
	emitted, seen := make(chan struct{}), make(chan struct{})
	g.Node("a", func(ctx context.Context, s *order) error {
		for i := range 1000 {
			if err := graph.Emit(ctx, "n", i); err != nil {
				return err
			}
		}
		close(emitted)
		<-seen
		return nil
	})
	g.Edge(graph.Start, "a")
	app := compile(t, g, graph.Options{Store: new(checkpoint.Memory), Tracer: l})
	for e, err := range app.Stream(t.Context(), graph.ID("t"), nil) {
		if err != nil {
			t.Fatal(err)
		}
		switch e.Kind {
		case graph.RunStarted:
			<-emitted
		case graph.EventsDropped:
			close(seen)
		}
	}
	if got := l.tree(false); !strings.HasPrefix(got, "run fast: completed\n  * events dropped\n") {
		t.Error(got)
	}
}

// A store call that belongs to nothing makes no trace unless it is asked for. // E50
func TestBackground(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{false, true} {
		l := newLab(t, graphotel.Options{Background: on})
		app := compile(t, refund(t, l, false), graph.Options{Store: l.Store(new(checkpoint.Memory)), Tracer: l})
		if _, err := app.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := l.tree(true); strings.Contains(got, "store Threads") != on {
			t.Errorf("background %t:\n%s", on, got)
		}
		if len(points(l.metrics(t)[graphotel.StoreDuration])) == 0 {
			t.Error("the metrics do not have it")
		}
	}
}

// Durations are counted by graph, node and outcome, also of what is not sampled. // E50
func TestMetrics(t *testing.T) {
	t.Parallel()
	l := newLab(t, graphotel.Options{CountQuestions: true, Fields: []string{"status"}}, sdktrace.WithSampler(sdktrace.NeverSample()))
	store := l.Store(new(checkpoint.Memory))
	app := compile(t, refund(t, l, false), graph.Options{Store: store, Tracer: l})
	_, err := app.Run(t.Context(), graph.ID("t"), nil)
	q := question(t, err)
	if _, err := app.Run(t.Context(), graph.ID("u"), nil); !errors.Is(err, graph.ErrInterrupted) {
		t.Fatal(err)
	}
	if n := openQuestions(t, l); n != 2 {
		t.Errorf("%d questions are open", n)
	}
	if _, err := app.Resume(t.Context(), graph.ID("t"), graph.Answer(q, true)); err != nil {
		t.Fatal(err)
	}
	if n := openQuestions(t, l); n != 1 {
		t.Errorf("%d questions are open", n)
	}
	if len(l.spans.Ended()) != 0 {
		t.Error("it was sampled")
	}
	got := l.metrics(t)
	for series, want := range map[string]uint64{
		"holdfast.run.duration error.type=graph.ErrInterrupted,holdfast.graph=refund,holdfast.outcome=interrupted": 2,
		"holdfast.run.duration holdfast.graph=refund,holdfast.outcome=completed":                                   1,
		"holdfast.task.duration holdfast.graph=refund,holdfast.node=pay,holdfast.outcome=asked":                    2,
		"holdfast.task.duration holdfast.graph=refund,holdfast.node=pay,holdfast.outcome=completed":                1,
		"holdfast.task.duration holdfast.graph=refund,holdfast.node=risk,holdfast.outcome=completed":               2,
		"holdfast.store.duration holdfast.operation=Acquire,holdfast.store=memory":                                 3,
		"holdfast.store.duration holdfast.operation=Answer,holdfast.store=memory":                                  1,
	} {
		name, attrs, _ := strings.Cut(series, " ")
		if n := points(got[name])[attrs]; n != want || got[name].Unit != "s" {
			t.Errorf("%s: %d, want %d: %v", series, n, want, points(got[name]))
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, ok := l.metrics(t)[graphotel.OpenQuestions]; ok {
		t.Error("a closed store is still counted")
	}
}
