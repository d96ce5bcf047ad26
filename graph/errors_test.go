package graph_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/state"
)

type values struct {
	Log   state.List[string]        `json:"log"`
	Value state.Last[string]        `json:"value"`
	Ratio state.Last[float64]       `json:"ratio"`
	Text  state.Map[string, string] `json:"text"`
}

// TestErrors produces the errors that have no longer test of their own. Each row is what errors.Is or errors.As must find.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		fits func(error) bool
		do   func(t *testing.T, b *bench) error
	}{
		{"Interrupted", as[*graph.Interrupted]("waits for an answer to q"), func(t *testing.T, b *bench) error { return b.run("ask") }},
		{"ErrInterrupted", is(graph.ErrInterrupted), func(t *testing.T, b *bench) error { return b.run("ask") }},
		{"ErrCancelled", is(graph.ErrCancelled), func(t *testing.T, b *bench) error {
			done := make(chan error, 1)
			go func() { done <- b.run("block") }()
			<-b.blocked
			if err := b.app.Cancel(t.Context(), b.th); err != nil {
				t.Error(err)
			}
			return <-done
		}},
		{"ErrStopped", is(graph.ErrStopped), func(t *testing.T, b *bench) error {
			for range b.app.Stream(t.Context(), b.th, b.kind("block")) {
				<-b.blocked
				break
			}
			return <-b.cause
		}},
		{"ErrNoThread", is(graph.ErrNoThread), func(t *testing.T, b *bench) error { return b.resume() }},
		{"ErrBusy", is(graph.ErrBusy), func(t *testing.T, b *bench) error { b.run("ask"); return b.run("nothing") }},
		{"BusyError", as[*graph.BusyError]("waits for 1 answer"), func(t *testing.T, b *bench) error { b.run("ask"); return b.run("nothing") }},
		{"ErrNothingToDo", is(graph.ErrNothingToDo), func(t *testing.T, b *bench) error { b.run("nothing"); return b.resume() }},
		{"ErrNotHead", is(graph.ErrNotHead), func(t *testing.T, b *bench) error { b.run("ask"); return b.resume(graph.AtEntry(7)) }},
		{"ErrAmbiguous", is(graph.ErrAmbiguous), func(t *testing.T, b *bench) error { b.run("ask twice"); return b.resume(graph.AnswerOnly(true)) }},
		{"AmbiguousError", as[*graph.AmbiguousError]("2 questions are open"), func(t *testing.T, b *bench) error {
			b.run("ask twice")
			return b.resume(graph.AnswerOnly(true))
		}},
		{"AmbiguousError, none open", as[*graph.AmbiguousError]("none is open"), func(t *testing.T, b *bench) error {
			b.run("fail")
			return b.resume(graph.AnswerOnly(true))
		}},
		{"ErrBadAnswer", is(graph.ErrBadAnswer), func(t *testing.T, b *bench) error { b.run("ask"); return b.resume(graph.AnswerOnly("yes")) }},
		{"BadAnswerError", as[*graph.BadAnswerError]("bad answer to q (node work"), func(t *testing.T, b *bench) error {
			b.run("ask")
			return b.resume(graph.AnswerOnly("yes"))
		}},
		{"ErrNotPending", is(graph.ErrNotPending), func(t *testing.T, b *bench) error { b.run("ask"); return b.resume(graph.AnswerID("no such", true)) }},
		{"checkpoint.NotPendingError", as[*checkpoint.NotPendingError]("no such"), func(t *testing.T, b *bench) error {
			b.run("ask")
			return b.resume(graph.AnswerID("no such", true))
		}},
		{"ErrDuplicate", is(graph.ErrDuplicate), func(t *testing.T, b *bench) error { b.run("nothing"); return b.run("nothing") }},
		{"DuplicateError", as[*graph.DuplicateError]("completed"), func(t *testing.T, b *bench) error { b.run("nothing"); return b.run("nothing") }},
		{"ErrSwallowed", is(graph.ErrSwallowed), func(t *testing.T, b *bench) error { return b.run("swallow") }},
		{"ErrOnceBusy", is(graph.ErrOnceBusy), func(t *testing.T, b *bench) error { return b.run("once twice") }},
		{"NodeError", as[*graph.NodeError]("node work: boom"), func(t *testing.T, b *bench) error { return b.run("fail") }},
		{"state.ErrConflict", is(state.ErrConflict), func(t *testing.T, b *bench) error { return b.run("conflict") }},
		{"state.ConflictError", as[*state.ConflictError]("tasks twin, work"), func(t *testing.T, b *bench) error { return b.run("conflict") }},
		{"state.ValueError", as[*state.ValueError]("ratio"), func(t *testing.T, b *bench) error { return b.run("nan") }},
		{"state.ValueError, text", as[*state.ValueError]("text"), func(t *testing.T, b *bench) error { return b.run("utf8") }},
		{"checkpoint.ErrBadKey", is(checkpoint.ErrBadKey), func(t *testing.T, b *bench) error {
			_, err := b.app.Run(t.Context(), graph.Thread{ID: "no tenant"}, nil)
			return err
		}},
		{"checkpoint.ErrCorrupt", is(checkpoint.ErrCorrupt), func(t *testing.T, b *bench) error { b.spoil(t, "\x01{"); return b.resume() }},
		{"checkpoint.ErrNewerFormat", is(checkpoint.ErrNewerFormat), func(t *testing.T, b *bench) error { b.spoil(t, "\x07{}"); return b.resume() }},
		{"checkpoint.ErrClosed", is(checkpoint.ErrClosed), func(t *testing.T, b *bench) error { b.store.Close(); return b.run("nothing") }},
		{"checkpoint.ErrPruned", is(checkpoint.ErrPruned), func(t *testing.T, b *bench) error { return b.prune(t) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if err := c.do(t, b); !c.fits(err) {
				t.Fatalf("got %v", err)
			}
		})
	}
}

func is(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }

func as[E error](text string) func(error) bool {
	return func(err error) bool {
		e, ok := errors.AsType[E](err)
		return ok && strings.Contains(e.Error(), text)
	}
}

// bench is a thread and an app whose node does what the input says.
type bench struct {
	t       *testing.T
	app     *graph.App[values]
	store   *checkpoint.Memory
	th      graph.Thread
	blocked chan struct{}
	cause   chan error
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, store: new(checkpoint.Memory), th: graph.ID("1"), blocked: make(chan struct{}), cause: make(chan error, 1)}
	g := graph.New[values]("bench")
	g.Node("work", b.work)
	g.Node("twin", func(_ context.Context, s *values) error {
		if s.Value.Get() == "conflict" {
			s.Value.Set("twin")
		}
		return nil
	})
	g.Edge(graph.Start, "work")
	g.Edge(graph.Start, "twin")
	b.app = compile(t, g, graph.Options{Store: b.store})
	return b
}

func (b *bench) work(ctx context.Context, s *values) error {
	ask := func(name string) error {
		_, err := graph.Ask[bool](ctx, name, "?")
		return err
	}
	switch s.Value.Get() {
	case "ask":
		return ask("q")
	case "ask twice":
		return errors.Join(ask("q"), ask("r"))
	case "swallow":
		ask("q")
	case "block":
		close(b.blocked)
		<-ctx.Done()
		b.cause <- context.Cause(ctx)
		return ctx.Err()
	case "fail":
		return errBoom
	case "conflict":
		s.Value.Set("work")
	case "nan":
		s.Ratio.Set(math.NaN())
	case "utf8":
		s.Text.Put("k", "\xff")
	case "once twice":
		_, err := graph.Once(ctx, "a", func(context.Context, string) (int, error) {
			return graph.Once(ctx, "a", func(context.Context, string) (int, error) { return 1, nil })
		})
		return err
	}
	return nil
}

func (b *bench) kind(what string) func(*values) { return func(s *values) { s.Value.Set(what) } }

func (b *bench) run(what string) error {
	_, err := b.app.With(graph.RunOptions{Request: "request " + what}).Run(b.t.Context(), b.th, b.kind(what))
	return err
}

func (b *bench) resume(cmds ...graph.Command) error {
	_, err := b.app.Resume(b.t.Context(), b.th, cmds...)
	return err
}

// spoil makes a thread whose first record is not what this release writes.
func (b *bench) spoil(t *testing.T, body string) {
	t.Helper()
	key := checkpoint.Key{Tenant: b.th.Tenant, Thread: b.th.ID}
	n := checkpoint.NewNonce()
	_, err := b.store.Acquire(t.Context(), &checkpoint.Acquire{
		Key: key, Nonce: n, TTL: 1, Run: &checkpoint.Run{Key: key, ID: "r", Status: checkpoint.Running, Graph: "bench"},
		Records: []checkpoint.Record{{Kind: checkpoint.KindInput, Ord: 1 << 32, By: n.Writer(), Body: []byte(body)}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// prune asks for an entry that was removed.
func (b *bench) prune(t *testing.T) error {
	t.Helper()
	for range 200 {
		if _, err := b.app.Run(t.Context(), b.th, func(s *values) { s.Text.Put("k", strings.Repeat("x", 1000)) }); err != nil {
			t.Fatal(err)
		}
	}
	l, err := b.store.Load(t.Context(), checkpoint.Key{Tenant: b.th.Tenant, Thread: b.th.ID}, checkpoint.Active, "")
	if err != nil || l.Records[0].Pos == 0 {
		t.Fatalf("no snapshot: %v", err)
	}
	if _, err := b.store.Trim(t.Context(), checkpoint.Chain{Key: l.Head.Key}, l.Records[0].Pos); err != nil {
		t.Fatal(err)
	}
	_, err = b.app.StateAt(t.Context(), b.th, 1)
	return err
}
