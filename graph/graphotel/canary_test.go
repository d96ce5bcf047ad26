package graphotel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/graph/graphotel"
)

// buffer is a log that several goroutines write.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *buffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *buffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

const canary = "canary-7f3a"

// cage puts canaries into the state, an argument, an effect, an event, a question, two answers, one of them refused, metadata,
// who started it and who answered.
func cage(t *testing.T, l *lab, log *buffer) {
	g := graph.New[order]("cage")
	each := graph.Each(g, "each", func(ctx context.Context, s *order, arg string) error {
		s.Log.Append(arg)
		_, err := graph.Once(ctx, "once", func(context.Context, string) (string, error) { return canary, nil })
		return errors.Join(err, graph.Emit(ctx, "event", canary))
	})
	tries := 0
	g.Node("ask", func(ctx context.Context, s *order) error {
		if tries++; tries == 1 {
			return errors.New("try again")
		}
		a, err := graph.Ask(ctx, "q", canary, graph.AskOptions[string]{Check: func(a string) error {
			if a == canary+"!" {
				return errors.New("not this")
			}
			return nil
		}})
		s.Secret.Set(a)
		s.Status.Set("open: " + a)
		return err
	})
	g.Policy("ask", graph.Policy{Attempts: 2, Backoff: 1})
	g.Route(graph.Start, func(context.Context, *order) (graph.Next, error) { return each.Send(canary, canary), nil }, "each")
	g.Edge("each", "ask")
	app := compile(t, g, graph.Options{Store: l.Store(new(checkpoint.Memory)), Tracer: l, Logger: slog.New(slog.NewJSONHandler(log, nil))})
	app = app.With(graph.RunOptions{By: canary, Owner: canary, Meta: map[string]string{"note": canary}})
	th := graph.ID("t")
	_, err := app.Run(t.Context(), th, func(s *order) { s.Secret.Set(canary); s.Log.Append(canary) })
	q := question(t, err)
	_, err = app.Resume(t.Context(), th, graph.AnswerID(q.ID, 7))
	if !errors.Is(err, graph.ErrBadAnswer) {
		t.Fatal(err)
	}
	_, err = app.Resume(t.Context(), th, graph.Answer(q, canary+"!"))
	question(t, err)
	if _, err = app.Resume(t.Context(), th, graph.Answer(q, canary)); err != nil {
		t.Fatal(err)
	}
	_, err = app.Run(t.Context(), th, nil)
	question(t, err)
	if err := app.Cancel(t.Context(), th); err != nil {
		t.Fatal(err)
	}
}

// everything is all that was recorded, as text.
func everything(t *testing.T, l *lab) string {
	var b strings.Builder
	for _, s := range l.spans.Ended() {
		fmt.Fprintln(&b, s.Name(), s.Status())
		for _, kv := range s.Attributes() {
			fmt.Fprintln(&b, kv.Key, kv.Value.String())
		}
		for _, e := range s.Events() {
			fmt.Fprintln(&b, e.Name)
			for _, kv := range e.Attributes {
				fmt.Fprintln(&b, kv.Key, kv.Value.String())
			}
		}
	}
	for name, m := range l.metrics(t) {
		fmt.Fprintln(&b, name, m.Description, points(m))
	}
	return b.String()
}

// No content of a state, input, prompt, answer, argument, effect, event, and no name of a person, is in a span, a metric or a log
// line, until a field is asked for by its name. // E50
func TestNoContentUnlessAskedFor(t *testing.T) {
	t.Parallel()
	var log buffer
	l := newLab(t, graphotel.Options{CountQuestions: true})
	cage(t, l, &log)
	if out := everything(t, l) + log.String(); strings.Contains(out, "canary") {
		t.Errorf("content where none should be:\n%s", out)
	}
	for _, want := range []string{"task each", "retry", "effect recorded", "asked", "store Answer", "refused", "holdfast.run.duration"} {
		if !strings.Contains(everything(t, l), want) {
			t.Errorf("nothing says %s, so nothing is proved:\n%s", want, everything(t, l))
		}
	}
	for _, want := range []string{`"retry"`, `"asked"`, `"effect recorded"`, `"run ends"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %s", want)
		}
	}

	l = newLab(t, graphotel.Options{Fields: []string{"status", "secret"}})
	cage(t, l, &log)
	for _, line := range strings.Split(everything(t, l), "\n") {
		if strings.Contains(line, "canary") != strings.HasPrefix(line, "holdfast.state.status ") {
			t.Errorf("with the field status asked for: %s", line)
		}
	}
	if strings.Contains(log.String(), "canary") {
		t.Error("asking for a field on spans puts it into the log")
	}
}
