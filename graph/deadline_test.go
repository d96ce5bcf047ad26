package graph_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/record"
)

// A hand moves the clock of a store.
type hand struct{ moved atomic.Int64 }

func (h *hand) now() time.Time {
	return time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(h.moved.Load()))
}
func (h *hand) move(d time.Duration) { h.moved.Add(int64(d)) }

// onStores runs a test on the memory store and on SQLite, with a clock that is moved by hand.
func onStores(t *testing.T, test func(t *testing.T, s checkpoint.Store, h *hand)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		h := new(hand)
		test(t, &checkpoint.Memory{Now: h.now}, h)
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		h := new(hand)
		s, err := sqlite.Open(filepath.Join(t.TempDir(), "db"), sqlite.Options{Now: h.now})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		test(t, s, h)
	})
}

// deciding is a graph whose one node asks with these options, and writes what it got.
func deciding(o graph.AskOptions[string]) *graph.Graph[notes] {
	return fan(map[string]func(context.Context, *notes) error{"a": func(ctx context.Context, s *notes) error {
		a, err := graph.Ask(ctx, "pay", "Pay?", o)
		s.Value.Set(a)
		return err
	}})
}

// uses lists the answers in the log of a thread.
func uses(t *testing.T, s checkpoint.Store, th graph.Thread) (out []record.Used) {
	t.Helper()
	recs, err := s.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: key(th)}, To: -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range recs {
		var e record.Entry
		if r.Kind == checkpoint.KindEntry && record.Decode(r, &e) == nil {
			for _, d := range e.Tasks {
				out = append(out, d.Answers...)
			}
		}
	}
	return out
}

// Past its deadline a question is expired for every reader, and Recover of any process goes on with the default. The log says
// that nobody answered, when that was, and with what the task went on. // E35 // E61
func TestDeadlineWithDefault(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s checkpoint.Store, h *hand) {
		g := deciding(graph.AskOptions[string]{Within: time.Hour, Default: new("no")})
		app, other, th := compile(t, g, graph.Options{Store: s}), compile(t, g, graph.Options{Store: s}), graph.ID("t")
		_, err := app.Run(t.Context(), th, nil)
		q := paused(t, err).Questions[0]
		if left := q.Expires.Sub(h.now()); left < time.Hour || left > time.Hour+time.Minute || string(q.Default) != `"no"` {
			t.Fatalf("it expires in %v with %s", left, q.Default)
		}
		if got, err := other.Recover(t.Context()); err != nil || len(got) != 0 {
			t.Fatalf("%v: recovered before the deadline: %v", err, got)
		}
		h.move(time.Hour + time.Minute)
		st, err := other.State(t.Context(), th)
		if err != nil || len(st.Questions) != 1 || !st.Questions[0].Expired || !st.Questions[0].Expires.Equal(q.Expires) {
			t.Fatalf("%v %+v", err, st.Questions)
		}
		_, err = other.Resume(t.Context(), th, graph.Answer(q, "yes"))
		if late, ok := errors.AsType[*graph.ExpiredError](err); !ok || late.Question.ID != q.ID || !errors.Is(err, graph.ErrExpired) {
			t.Fatalf("a late answer: %v", err)
		}
		_, err = other.Resume(t.Context(), th, graph.AnswerOnly("yes"))
		wantErr(t, err, graph.ErrAmbiguous)
		if got, err := other.Recover(t.Context()); err != nil || len(got) != 1 || got[0].Err != nil {
			t.Fatalf("%v %+v", err, got)
		}
		st, err = app.State(t.Context(), th)
		if err != nil || st.Status != checkpoint.Completed || st.State.Value.Get() != "no" || len(st.Questions) != 0 {
			t.Fatalf("%v %+v", err, st)
		}
		if u := uses(t, s, th); len(u) != 1 || !u[0].Lapsed || !u[0].At.Equal(q.Expires) || string(u[0].Value) != `"no"` || u[0].By != "" {
			t.Fatalf("the log has %+v", u)
		}
		if got, err := app.Recover(t.Context()); err != nil || len(got) != 0 {
			t.Fatalf("%v: again: %v", err, got)
		}
	})
}

// Without a default Ask returns an error that a node can handle and that no policy retries. Unhandled it fails the task,
// nobody takes the thread up again by itself, and Resume asks anew with a new deadline. // E35
func TestDeadlineWithoutDefault(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s checkpoint.Store, h *hand) {
		var tries atomic.Int32
		g := fan(map[string]func(context.Context, *notes) error{
			"a": func(ctx context.Context, s *notes) error {
				tries.Add(1)
				a, err := graph.Ask(ctx, "pay", "Pay?", graph.AskOptions[string]{Within: time.Hour})
				s.Value.Set(a)
				return err
			},
			"b": func(ctx context.Context, s *notes) error {
				_, err := graph.Ask(ctx, "rate", "Rate?", graph.AskOptions[int]{Within: time.Hour})
				if errors.Is(err, graph.ErrExpired) {
					s.Said.Put("rate", "unrated")
					return nil
				}
				return err
			},
		})
		g.Policy("a", graph.Policy{Attempts: 5})
		app, th := compile(t, g, graph.Options{Store: s}), graph.ID("t")
		_, err := app.Run(t.Context(), th, nil)
		paused(t, err)
		h.move(2 * time.Hour)
		got, err := app.Recover(t.Context())
		if err != nil || len(got) != 1 {
			t.Fatalf("%v %v", err, got)
		}
		node, ok := errors.AsType[*graph.NodeError](got[0].Err)
		if late, expired := errors.AsType[*graph.ExpiredError](got[0].Err); !ok || node.Node != "a" || !expired || late.Question.Name != "pay" || tries.Load() != 2 {
			t.Fatalf("%v after %d tries", got[0].Err, tries.Load())
		}
		if again, err := app.Recover(t.Context()); err != nil || len(again) != 0 || tries.Load() != 2 {
			t.Fatalf("%v: taken up again: %v", err, again)
		}
		_, err = app.Resume(t.Context(), th)
		q := paused(t, err).Questions
		if len(q) != 1 || q[0].Expires.Before(h.now()) {
			t.Fatalf("asked anew: %+v", q)
		}
		out, err := app.Resume(t.Context(), th, graph.Answer(q[0], "yes"))
		if err != nil || out.Value.Get() != "yes" {
			t.Fatalf("%v %q", err, out.Value.Get())
		}
		if said, _ := out.Said.Get("rate"); said != "unrated" {
			t.Fatalf("the handled expiry left %q", said)
		}
	})
}

// While one question of a step is open, a task that an expired one has failed is not tried again and again. // E35
func TestExpiredBesideAnOpenQuestion(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s checkpoint.Store, h *hand) {
		var tries atomic.Int32
		app, th := compile(t, fan(map[string]func(context.Context, *notes) error{
			"a": func(ctx context.Context, s *notes) error {
				tries.Add(1)
				_, err := graph.Ask(ctx, "x", "?", graph.AskOptions[string]{Deadline: h.now().Add(time.Hour)})
				return err
			},
			"b": asking("b"),
		}), graph.Options{Store: s}), graph.ID("t")
		_, err := app.Run(t.Context(), th, nil)
		if n := len(paused(t, err).Questions); n != 2 {
			t.Fatalf("%d questions", n)
		}
		h.move(time.Hour)
		got, err := app.Recover(t.Context())
		if err != nil || len(got) != 1 || !errors.Is(got[0].Err, graph.ErrInterrupted) || !errors.Is(got[0].Err, graph.ErrExpired) {
			t.Fatalf("%v %v", err, got)
		}
		for range 3 {
			if got, err := app.Recover(t.Context()); err != nil || len(got) != 0 {
				t.Fatalf("%v %v", err, got)
			}
		}
		if tries.Load() != 2 {
			t.Fatalf("%d tries", tries.Load())
		}
		// Its sibling's only question is the one that is open.
		_, err = app.Resume(t.Context(), th, graph.AnswerOnly("b"))
		if in := paused(t, err); len(in.Questions) != 1 || in.Questions[0].Name != "x" {
			t.Fatalf("%v", err)
		}
	})
}

// A refused answer gives no more time, and the deadline decides all the same. // E35 // E32
func TestRefusalKeepsTheDeadline(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s checkpoint.Store, h *hand) {
		check := func(a string) error {
			if a == "maybe" {
				return errors.New("yes or no")
			}
			return nil
		}
		app, th := compile(t, deciding(graph.AskOptions[string]{Within: time.Hour, Default: new("no"), Check: check}), graph.Options{Store: s}), graph.ID("t")
		_, err := app.Run(t.Context(), th, nil)
		q := paused(t, err).Questions[0]
		h.move(30 * time.Minute)
		_, err = app.Resume(t.Context(), th, graph.Answer(q, "maybe"))
		again := paused(t, err).Questions[0]
		if !again.Expires.Equal(q.Expires) || again.Refused == "" {
			t.Fatalf("%+v", again)
		}
		h.move(31 * time.Minute)
		out, err := app.Resume(t.Context(), th)
		if err != nil || out.Value.Get() != "no" {
			t.Fatalf("%v %q", err, out.Value.Get())
		}
	})
}

// Options that make no sense are errors of the node, with the question's name. // E35
func TestAskOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]graph.AskOptions[string]{
		"one of them is enough":           {Within: time.Hour, Deadline: time.Now()},
		"shorter than a millisecond":      {Within: -1},
		"needs Within or Deadline":        {Default: new("")},
		"its own check refuses":           {Within: 1e9, Default: new(""), Check: func(string) error { return errors.New("no") }},
		"default: field value: string is": {Within: 1e9, Default: new("\xff")},
	} {
		_, err := compile(t, deciding(o), graph.Options{Store: new(checkpoint.Memory)}).Run(t.Context(), graph.ID("t"), nil)
		if err == nil || !strings.Contains(err.Error(), "question pay: ") || errors.Is(err, graph.ErrInterrupted) || !strings.Contains(err.Error(), strings.Split(want, ": field")[0]) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// An answer against the deadline, many times: either the answer was in time and counts, or it was refused and the default
// counts. // E35
func TestAnswerAgainstDeadline(t *testing.T) {
	t.Parallel()
	h := new(hand)
	s := &checkpoint.Memory{Now: h.now}
	app := compile(t, deciding(graph.AskOptions[string]{Within: time.Hour, Default: new("no")}), graph.Options{Store: s})
	rounds := 300
	if testing.Short() {
		rounds = 50
	}
	for i := range rounds {
		th := graph.ID("t" + string(rune('a'+i%26)) + time.Duration(i).String())
		_, err := app.Run(t.Context(), th, nil)
		q := paused(t, err).Questions[0]
		var wg sync.WaitGroup
		var answered error
		wg.Go(func() { _, answered = app.Resume(t.Context(), th, graph.Answer(q, "yes")) })
		wg.Go(func() { h.move(2 * time.Hour); app.Recover(t.Context()) })
		wg.Wait()
		if _, err := app.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		st, err := app.State(t.Context(), th)
		if err != nil || st.Status != checkpoint.Completed {
			t.Fatalf("%v %+v", err, st)
		}
		want := "yes"
		if errors.Is(answered, graph.ErrExpired) || errors.Is(answered, graph.ErrNotPending) || errors.Is(answered, graph.ErrNothingToDo) {
			want = "no"
		}
		busy, ok := errors.AsType[*graph.BusyError](answered)
		stolen := errors.Is(answered, graph.ErrStale) // the clock that expires questions expires leases too
		if answered != nil && want == "yes" && !stolen && (!ok || !busy.Recorded) {
			t.Fatalf("round %d: %v", i, answered)
		}
		if got := st.State.Value.Get(); got != want {
			t.Fatalf("round %d: the answer was %v, the state says %q", i, answered, got)
		}
	}
}
