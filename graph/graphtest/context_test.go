package graphtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/graph/graphtest"
	"github.com/holdfast-go/holdfast/state"
)

type refund struct {
	Status state.Last[string] `json:"status"`
	Tries  state.Sum[int]     `json:"tries"`
}

type receipt struct {
	Key    string `json:"key"`
	Amount int    `json:"amount"`
}

func pay(ctx context.Context, s *refund) error {
	ok, err := graph.Ask[bool](ctx, "approve", "Pay the refund?")
	if err != nil {
		return err
	}
	if !ok {
		s.Status.Set("denied")
		return nil
	}
	r, err := graph.Once(ctx, "charge", func(_ context.Context, key string) (receipt, error) {
		return receipt{key, 12}, nil
	})
	s.Status.Set(fmt.Sprintf("paid %d as %s", r.Amount, r.Key))
	return err
}

// E59
func TestAskAndOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		answers []graphtest.Reply
		want    string
		asked   int
	}{
		{"unscripted", nil, "", 1},
		{"yes", []graphtest.Reply{graphtest.Answer("approve", true)}, "paid 12 as key/charge/0", 0},
		{"no", []graphtest.Reply{graphtest.Answer("approve", false)}, "denied", 0},
		{"json", []graphtest.Reply{graphtest.AnswerJSON("approve", []byte("true"))}, "paid 12 as key/charge/0", 0},
		{"another name", []graphtest.Reply{graphtest.Answer("other", true)}, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx := graphtest.Context(t, graphtest.Options{Answers: c.answers})
			var s refund
			err := pay(ctx, &s)
			seen := graphtest.Seen(ctx)
			if (err != nil) != (c.asked > 0) || len(seen.Asked) != c.asked || s.Status.Get() != c.want {
				t.Fatalf("%v, status %q, asked %v", err, s.Status.Get(), seen.Asked)
			}
			if c.asked == 1 && (seen.Asked[0].Name != "approve" || seen.Asked[0].Text() != "Pay the refund?") {
				t.Fatalf("asked %+v", seen.Asked[0])
			}
		})
	}
}

// E59, E23, E34
func TestAgainKeepsEffects(t *testing.T) {
	t.Parallel()
	runs := 0
	node := func(ctx context.Context) error {
		for range 2 {
			if _, err := graph.Once(ctx, "reserve", func(context.Context, string) (int, error) { runs++; return runs, nil }); err != nil {
				return err
			}
		}
		_, err := graph.Ask[int](ctx, "amount", "How much?", graph.AskOptions[int]{Check: func(n int) error {
			if n > 10 {
				return errors.New("too much")
			}
			return nil
		}})
		return err
	}
	ctx := graphtest.Context(t, graphtest.Options{Answers: []graphtest.Reply{graphtest.Answer("amount", 11)}})
	if err := node(ctx); err == nil {
		t.Fatal("a refused answer must suspend")
	}
	if q := graphtest.Seen(ctx).Asked; len(q) != 1 || !strings.Contains(q[0].Refused, "too much") {
		t.Fatalf("asked %+v", q)
	}
	again := graphtest.Again(ctx)
	if err := node(again); err == nil || graphtest.Seen(again).Asked[0].Refused == "" {
		t.Fatalf("without a further answer it is still open: %v", err)
	}
	again = graphtest.Again(again, graphtest.Answer("amount", 3))
	if err := node(again); err != nil {
		t.Fatal(err)
	}
	if err := node(graphtest.Again(again)); err != nil {
		t.Fatalf("a taken answer stays: %v", err)
	}
	if runs != 2 {
		t.Fatalf("the effect ran %d times, want once for each ordinal", runs)
	}
}

// E24, E59
func TestUnknownOutcome(t *testing.T) {
	t.Parallel()
	ran := false
	node := func(ctx context.Context) (string, error) {
		return graph.Once(ctx, "wire", func(context.Context, string) (string, error) { ran = true; return "new", nil }, graph.OnceOptions{OnUnknown: graph.AskPerson})
	}
	ctx := graphtest.Context(t, graphtest.Options{Unknown: []string{"wire"}})
	if _, err := node(ctx); err == nil || ran {
		t.Fatalf("must ask instead of running: %v, ran %t", err, ran)
	}
	again := graphtest.Again(ctx, graphtest.Answer("once:wire", graph.Outcome[string]{Happened: true, Result: "old"}))
	if got, err := node(again); err != nil || got != "old" || ran {
		t.Fatalf("%q, %v, ran %t", got, err, ran)
	}
}

// E59
func TestFactsAndSignals(t *testing.T) {
	t.Parallel()
	ctx := graphtest.Context(t, graphtest.Options{StepsLeft: 3, Draining: true, Info: graph.RunInfo{By: "ann", Attempt: 2}})
	type key struct{}
	ctx = context.WithValue(ctx, key{}, "mine")
	i, ok := graph.Info(ctx)
	if !ok || i.By != "ann" || i.Attempt != 2 || i.Thread != graph.ID("test") || i.Node != "node" || i.Key == "" {
		t.Fatalf("%+v %t", i, ok)
	}
	if graph.StepsLeft(ctx) != 3 || !graph.Draining(ctx) || ctx.Value(key{}) != "mine" {
		t.Fatal("facts differ")
	}
	if err := errors.Join(graph.Heartbeat(ctx), graph.Emit(ctx, "progress", 5), graph.Emit(ctx, "progress", 6)); err != nil {
		t.Fatal(err)
	}
	s := graphtest.Seen(ctx)
	if s.Heartbeats != 3 || len(s.Emitted) != 2 || s.Emitted[1].Name != "progress" || string(s.Emitted[1].Data) != "6" {
		t.Fatalf("%+v", s)
	}
	if graph.StepsLeft(graphtest.Context(t, graphtest.Options{})) != 999 || graph.StepsLeft(graphtest.Context(t, graphtest.Options{StepsLeft: -1})) != 0 {
		t.Fatal("defaults of StepsLeft")
	}
}

// E23, E59
func TestOnceBusyAndErrors(t *testing.T) {
	t.Parallel()
	ctx := graphtest.Context(t, graphtest.Options{})
	boom := errors.New("boom")
	_, err := graph.Once(ctx, "a", func(ctx context.Context, _ string) (int, error) {
		_, err := graph.Once(ctx, "a", func(context.Context, string) (int, error) { return 0, nil })
		return 0, err
	})
	if !errors.Is(err, graph.ErrOnceBusy) {
		t.Fatalf("got %v", err)
	}
	if _, err := graph.Once(ctx, "b", func(context.Context, string) (int, error) { return 0, boom }); !errors.Is(err, boom) {
		t.Fatalf("got %v", err)
	}
	if got := graphtest.Seen(ctx).Onces; len(got) != 0 {
		t.Fatalf("an error is not recorded: %v", got)
	}
}

// fakeT takes complaints in the place of the test.
type fakeT struct {
	testing.TB
	errors []string
}

func (f *fakeT) Helper()           {}
func (f *fakeT) Error(args ...any) { f.errors = append(f.errors, fmt.Sprint(args...)) }
func (f *fakeT) Errorf(format string, args ...any) {
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}

// E32, E59
func TestBadScripts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		reply graphtest.Reply
	}{
		{"wrong type", graphtest.Answer("approve", "yes")},
		{"null", graphtest.AnswerJSON("approve", []byte("null"))},
		{"no document", graphtest.AnswerJSON("approve", []byte("{"))},
		{"cannot be stored", graphtest.Answer("approve", func() {})},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := &fakeT{TB: t}
			ctx := graphtest.Context(f, graphtest.Options{Answers: []graphtest.Reply{c.reply}})
			var s refund
			if err := pay(ctx, &s); err == nil || len(f.errors) != 1 || len(graphtest.Seen(ctx).Asked) != 1 {
				t.Fatalf("%v, complaints %q", err, f.errors)
			}
		})
	}
	defer func() {
		if recover() == nil {
			t.Error("Seen of a foreign context must panic")
		}
	}()
	graphtest.Seen(t.Context())
}

// E59, E35: a node that handles an expired question, and one whose question has a default, are tested alone.
func TestExpire(t *testing.T) {
	t.Parallel()
	ctx := graphtest.Context(t, graphtest.Options{Answers: []graphtest.Reply{graphtest.Expire("a"), graphtest.Expire("b")}})
	if ok, err := graph.Ask(ctx, "a", "?", graph.AskOptions[bool]{Within: time.Hour, Default: new(true)}); err != nil || !ok {
		t.Fatalf("%v %t", err, ok)
	}
	_, err := graph.Ask(ctx, "b", "?", graph.AskOptions[bool]{Within: time.Hour})
	if late, ok := errors.AsType[*graph.ExpiredError](err); !ok || late.Question.Name != "b" {
		t.Fatal(err)
	}
}
