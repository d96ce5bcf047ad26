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

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// safeBuffer is a log that several goroutines write.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// No content of the state, of a question, an answer, an argument, an effect or an event is in any log line. // E50
func TestLogsHoldNoContent(t *testing.T) {
	t.Parallel()
	const canary = "canary-7f3a"
	var log safeBuffer
	g := graph.New[notes]("quiet")
	each := graph.Each(g, "each", func(ctx context.Context, s *notes, arg string) error {
		s.Log.Append(arg)
		_, err := graph.Once(ctx, "once", func(context.Context, string) (string, error) { return canary, nil })
		return errors.Join(err, graph.Emit(ctx, "event", canary))
	})
	tries := 0
	g.Node("ask", func(ctx context.Context, s *notes) error {
		if tries++; tries == 1 {
			return errors.New("try again")
		}
		a, err := graph.Ask(ctx, "q", canary, graph.AskOptions[string]{Check: func(s string) error {
			if s == canary+"!" {
				return errors.New("not this")
			}
			return nil
		}})
		s.Value.Set(a)
		return err
	})
	g.Policy("ask", graph.Policy{Attempts: 2, Backoff: 1})
	g.Route(graph.Start, func(context.Context, *notes) (graph.Next, error) { return each.Send(canary, canary), nil }, "each")
	g.Edge("each", "ask")
	app := compile(t, g, graph.Options{Store: new(checkpoint.Memory), Logger: slog.New(slog.NewJSONHandler(&log, nil))})
	th := graph.ID("t")
	_, err := app.Run(t.Context(), th, func(s *notes) { s.Value.Set(canary) })
	q := paused(t, err).Questions[0]
	_, err = app.Resume(t.Context(), th, graph.Answer(q, canary+"!"))
	paused(t, err)
	if _, err = app.Resume(t.Context(), th, graph.Answer(q, canary)); err != nil {
		t.Fatal(err)
	}
	_, err = app.Run(t.Context(), th, nil)
	paused(t, err)
	if err := app.Cancel(t.Context(), th); err != nil {
		t.Fatal(err)
	}
	out := log.String()
	if strings.Contains(out, "canary") {
		t.Errorf("content in the log:\n%s", out)
	}
	for _, want := range []string{`"run starts"`, `"run ends"`, `"retry"`, `"status":"interrupted"`, `"status":"completed"`, `"status":"cancelled"`, `"thread":"default/t"`, `"graph":"quiet"`} {
		if !strings.Contains(out, want) {
			t.Errorf("the log does not say %s:\n%s", want, out)
		}
	}
}

// OnEvent receives the events of every run of the App, in order; its panic hurts nobody. // E50
func TestOnEvent(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[string][]graph.Event{}
	app := compile(t, counter(3, 1), graph.Options{Store: new(checkpoint.Memory), OnEvent: func(e graph.Event) {
		mu.Lock()
		seen[e.Run] = append(seen[e.Run], e)
		mu.Unlock()
		if e.Kind == graph.TaskStarted {
			panic("mine")
		}
	}})
	for i := range 3 {
		if out, err := app.Run(t.Context(), graph.ID(fmt.Sprint(i)), nil); err != nil || out.Total.Get() != 3 {
			t.Fatal(err)
		}
	}
	if len(seen) != 3 {
		t.Fatalf("%d runs", len(seen))
	}
	for run, evs := range seen {
		if evs[0].Kind != graph.RunStarted || evs[len(evs)-1].Kind != graph.RunCompleted || len(evs) != 2+3*6 {
			t.Errorf("run %s: %d events", run, len(evs))
		}
		if !slices.IsSortedFunc(evs, func(a, b graph.Event) int { return int(a.Seq - b.Seq) }) {
			t.Errorf("run %s: out of order", run)
		}
	}
}

// 200 runs at once on one App: no run sees anything of another one. // report 146
func TestNoForeignMarker(t *testing.T) {
	t.Parallel()
	type carrier struct{}
	g := graph.New[notes]("shared")
	each := graph.Each(g, "each", func(ctx context.Context, s *notes, mark string) error {
		if got := ctx.Value(carrier{}); got != mark || s.Value.Get() != mark {
			return fmt.Errorf("run of %s has the context of %v and the state of %s", mark, got, s.Value.Get())
		}
		once, err := graph.Once(ctx, "once", func(context.Context, string) (string, error) { return mark, nil })
		s.Log.Append(once)
		return errors.Join(err, graph.Emit(ctx, "mark", mark))
	})
	g.Route(graph.Start, func(ctx context.Context, s *notes) (graph.Next, error) {
		return each.Send(s.Value.Get(), s.Value.Get(), s.Value.Get()), nil
	}, "each")
	g.Node("ask", func(ctx context.Context, s *notes) error {
		a, err := graph.Ask[string](ctx, "q", s.Value.Get())
		s.Log.Append(a)
		return err
	})
	g.Edge("each", "ask")
	app := compile(t, g, graph.Options{Store: new(checkpoint.Memory)})
	var runs []func()
	for i := range 200 {
		runs = append(runs, func() {
			mark := fmt.Sprintf("<%d>", i)
			ctx := context.WithValue(t.Context(), carrier{}, mark)
			th := graph.Thread{Tenant: fmt.Sprint("tenant ", i%7), ID: fmt.Sprint(i)}
			var last error
			for e, err := range app.Stream(ctx, th, func(s *notes) { s.Value.Set(mark) }) {
				last = err
				if err == nil && (e.Thread != th || e.Kind == graph.CustomEvent && string(e.Data) != fmt.Sprintf("%q", mark)) {
					t.Errorf("%s got event %+v", mark, e)
				}
			}
			in, ok := errors.AsType[*graph.Interrupted](last)
			if !ok || len(in.Questions) != 1 || in.Questions[0].Text() != mark || in.Thread != th {
				t.Errorf("%s: %v", mark, last)
				return
			}
			out, err := app.Resume(ctx, th, graph.Answer(in.Questions[0], mark))
			if err != nil || !slices.Equal(out.Log.Slice(), []string{mark, mark, mark, mark}) {
				t.Errorf("%s: %v %v", mark, err, out.Log.Slice())
			}
		})
	}
	together(runs...)
}
