package graph_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// tracer keeps what it is told as a tree.
type tracer struct {
	onEnd func(graph.Span) // may be nil

	mu    sync.Mutex
	roots []*stretch
	open  int
}

type stretch struct {
	name  string
	parts []*stretch
	ended bool
	state string
	last  graph.Span
}

type inside struct{}

func (tr *tracer) Begin(ctx context.Context, s graph.Span) context.Context {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	n := &stretch{name: strings.TrimSpace(fmt.Sprintf("%s %s", s.Kind, s.Node))}
	tr.open++
	if up, ok := ctx.Value(inside{}).(*stretch); ok {
		up.parts = append(up.parts, n)
	} else {
		tr.roots = append(tr.roots, n)
	}
	return context.WithValue(ctx, inside{}, n)
}

func (tr *tracer) Note(ctx context.Context, what string, attrs ...slog.Attr) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	n := ctx.Value(inside{}).(*stretch)
	n.parts = append(n.parts, &stretch{name: "* " + what, ended: true})
}

func (tr *tracer) End(ctx context.Context, s graph.Span) {
	if tr.onEnd != nil {
		defer tr.onEnd(s)
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	n := ctx.Value(inside{}).(*stretch)
	if n.ended {
		panic("ended twice")
	}
	tr.open--
	n.ended, n.last = true, s
	if doc, err := s.State(); err == nil {
		n.state = string(doc)
	}
	switch {
	case s.Outcome != "":
		n.name += ": " + string(s.Outcome)
	case s.Err != nil:
		n.name += ": refused"
	}
	if s.Attempt > 1 {
		n.name += fmt.Sprint(" at attempt ", s.Attempt)
	}
}

// String draws the tree, with tasks and notes of one parent in the order of their names.
func (tr *tracer) String() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	var b strings.Builder
	var draw func(list []*stretch, depth int)
	draw = func(list []*stretch, depth int) {
		for _, n := range list {
			fmt.Fprintf(&b, "%s%s\n", strings.Repeat("  ", depth), n.name)
			parts := slices.Clone(n.parts)
			if !strings.HasPrefix(n.name, "run") { // tasks end in any order
				slices.SortStableFunc(parts, func(a, b *stretch) int { return strings.Compare(a.name, b.name) })
			}
			draw(parts, depth+1)
		}
	}
	draw(tr.roots, 0)
	return b.String()
}

// writes notes the appends of a store in the tree.
type writes struct {
	checkpoint.Store
	tr *tracer
}

func (w writes) Append(ctx context.Context, a *checkpoint.Append) (checkpoint.Ack, error) {
	w.tr.Note(ctx, "append")
	return w.Store.Append(ctx, a)
}

func (w writes) Acquire(ctx context.Context, a *checkpoint.Acquire) (checkpoint.Head, error) {
	w.tr.Note(ctx, "acquire")
	return w.Store.Acquire(ctx, a)
}

// A Tracer sees a call of Run or Resume as a tree of supersteps and tasks; what a task and a store are called with is inside it;
// retries, questions and effects are noted where they happen. // E50
func TestTracerSeesATree(t *testing.T) {
	t.Parallel()
	tr := new(tracer)
	g := graph.New[notes]("traced")
	var tries int
	g.Node("flaky", func(ctx context.Context, s *notes) error {
		if tries++; tries == 1 {
			return errors.New("once more")
		}
		s.Log.Append("flaky")
		return nil
	})
	g.Policy("flaky", graph.Policy{Attempts: 2, Backoff: 1, Silent: true})
	g.Node("pay", func(ctx context.Context, s *notes) error {
		if _, err := graph.Once(ctx, "charge", func(context.Context, string) (int, error) { return 1, nil }); err != nil {
			return err
		}
		if n := ctx.Value(inside{}).(*stretch); n.name != "task pay" {
			return fmt.Errorf("the context of pay is inside %s", n.name)
		}
		_, err := graph.Ask[bool](ctx, "sure", "Sure?")
		return err
	})
	g.Node("end", func(ctx context.Context, s *notes) error { return errors.New("no way") })
	g.Edge(graph.Start, "flaky")
	g.Edge("flaky", "pay")
	g.Edge("pay", "end")
	app := compile(t, g, graph.Options{Store: writes{new(checkpoint.Memory), tr}, Tracer: tr})
	th := graph.ID("t")
	_, err := app.Run(t.Context(), th, nil)
	in := paused(t, err)
	if _, err := app.Run(t.Context(), th, nil); !errors.Is(err, graph.ErrBusy) {
		t.Fatal(err)
	}
	if _, err := app.Resume(t.Context(), th, graph.Answer(in.Questions[0], true)); err == nil {
		t.Fatal("end did not fail")
	}
	const want = `run: run.interrupted
  * acquire
  superstep: entry
    * append
    task flaky: task.completed at attempt 2
      * retry
  superstep: run.interrupted
    * append
    * append
    task pay: task.asked
      * asked
      * effect recorded
run: refused
run: run.failed
  * acquire
  superstep: entry
    * append
    task pay: task.completed
      * effect reused
  superstep: run.failed
    * append
    task end: task.failed
`
	if got := tr.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if tr.open != 0 {
		t.Errorf("%d spans were not ended", tr.open)
	}
	if s := tr.roots[0].parts[1]; !strings.Contains(s.state, `"log":["flaky"]`) || s.last.Step != 1 || s.last.Run != in.Run {
		t.Errorf("the first superstep: %+v", s)
	}
	if _, err := (graph.Span{}).State(); err == nil {
		t.Error("a span without a state has one")
	}
}

// Tasks that run at once have spans of their own below one superstep, and one that is left behind has ended. // E50 // E19
func TestTracerSeesParallelTasks(t *testing.T) {
	t.Parallel()
	stuck, free, quick := make(chan struct{}), make(chan struct{}), make(chan struct{})
	tr := &tracer{onEnd: func(s graph.Span) {
		if s.Node == "quick" {
			close(quick)
		}
	}}
	g := graph.New[notes]("wide")
	g.Node("quick", func(ctx context.Context, s *notes) error { return nil })
	g.Node("stuck", func(ctx context.Context, s *notes) error {
		close(stuck)
		<-free
		return nil
	})
	g.Edge(graph.Start, "quick")
	g.Edge(graph.Start, "stuck")
	app := compile(t, g, graph.Options{Store: new(checkpoint.Memory), Tracer: tr, Grace: time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-stuck; <-quick; cancel() }()
	if _, err := app.Run(ctx, graph.ID("t"), nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	const want = `run: run.stopped
  superstep: run.stopped
    task quick: task.completed
    task stuck: task.stopped
      * abandoned
`
	if got := tr.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	close(free)
	if err := app.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A child graph is a call inside the task that calls it, with supersteps and tasks of its own, and its writes are inside them. What it asks
// is noted once. // E50 // E44
func TestTracerSeesChildren(t *testing.T) {
	t.Parallel()
	tr := new(tracer)
	child := graph.New[notes]("child")
	child.Node("a", func(ctx context.Context, s *notes) error { return nil })
	child.Node("b", func(ctx context.Context, s *notes) error {
		_, err := graph.Ask[bool](ctx, "sure", "Sure?")
		return err
	})
	child.Edge(graph.Start, "a")
	child.Edge("a", "b")
	g := graph.New[notes]("outer")
	graph.Mount(g, "in", compile(t, child, graph.Options{}), nil, nil)
	g.Edge(graph.Start, "in")
	app := compile(t, g, graph.Options{Store: writes{new(checkpoint.Memory), tr}, Tracer: tr})
	_, err := app.Run(t.Context(), graph.ID("t"), nil)
	in := paused(t, err)
	if _, err := app.Resume(t.Context(), graph.ID("t"), graph.Answer(in.Questions[0], true)); err != nil {
		t.Fatal(err)
	}
	const want = `run: run.interrupted
  * acquire
  superstep: run.interrupted
    * append
    task in: task.asked
      call: run.interrupted
        superstep: entry
          * append
          task a: task.completed
        superstep: run.interrupted
          task b: task.asked
            * asked
run: run.completed
  * acquire
  superstep: entry
    * append
    task in: task.completed
      call: run.completed
        superstep: entry
          task b: task.completed
`
	if got := tr.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	call := tr.roots[0].parts[1].parts[0].parts[0].last
	if call.Graph != "child" || call.Run != in.Run || !slices.Equal(call.Path, []string{"in"}) || tr.open != 0 {
		t.Errorf("the call: %+v, %d spans are open", call, tr.open)
	}
}

type badTracer struct{}

func (badTracer) Begin(context.Context, graph.Span) context.Context { panic("begin") }
func (badTracer) Note(context.Context, string, ...slog.Attr)        { panic("note") }
func (badTracer) End(context.Context, graph.Span)                   { panic("end") }

// A panic of a Tracer is logged and hurts nobody. // E50 // E21
func TestTracerPanics(t *testing.T) {
	t.Parallel()
	var log safeBuffer
	for _, store := range []checkpoint.Store{nil, new(checkpoint.Memory)} {
		app := compile(t, counter(3, 0), graph.Options{Store: store, Tracer: badTracer{}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if s, err := app.Run(t.Context(), graph.ID("t"), nil); err != nil || s.Total.Get() != 3 {
			t.Fatal(err)
		}
	}
	if !bytes.Contains([]byte(log.String()), []byte("Tracer panicked")) {
		t.Error("the log does not say so")
	}
}
