package graph_test

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// guarded is a graph of one node that asks what only somebody other than alice may answer.
func guarded(t *testing.T, store checkpoint.Store) *graph.App[notes] {
	t.Helper()
	return solo(t, func(ctx context.Context, s *notes) error {
		_, err := graph.Ask(ctx, "ok", "ok?", graph.AskOptions[bool]{NotBy: "alice"})
		s.Log.Append("work")
		return err
	}, graph.Policy{}, graph.Options{Store: store})
}

// E43, E31, E31: a call of Resume that does not fit changes nothing, whatever else it carries: the answer beside a wrong goto
// is not recorded, the thread is free, and the question can still be answered.
func TestRefusedResumeChangesNothing(t *testing.T) {
	t.Parallel()
	answer := graph.AnswerOnly(true).By("bob")
	for name, cmds := range map[string][]graph.Command{
		"goto an unknown node":      {answer, graph.Goto(graph.To("nope"))},
		"an update that panics":     {answer, graph.Update(func(*notes) { panic("wrong") })},
		"an update that exits":      {answer, graph.Update(func(*notes) { runtime.Goexit() })},
		"another state":             {answer, graph.Update(func(*values) {})},
		"another head":              {answer, graph.AtEntry(7)},
		"no answer, a panic":        {graph.Update(func(*notes) { panic("wrong") })},
		"no answer, an exit":        {graph.Update(func(*notes) { runtime.Goexit() })},
		"no answer, unknown node":   {graph.Goto(graph.To("nope"))},
		"nobody, where two must":    {graph.AnswerOnly(true)},
		"the asker, where two must": {graph.AnswerOnly(true).By("alice")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := new(checkpoint.Memory)
			app := guarded(t, store)
			th := graph.ID("1")
			_, err := app.Run(t.Context(), th, nil)
			paused(t, err)
			before, err := app.State(t.Context(), th)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := app.Resume(t.Context(), th, cmds...); err == nil || errors.Is(err, graph.ErrInterrupted) {
				t.Fatalf("the call was taken: %v", err)
			}
			after, err := app.State(t.Context(), th)
			if err != nil || !reflect.DeepEqual(before.ThreadInfo, after.ThreadInfo) {
				t.Fatalf("%v: before %+v, after %+v", err, before.ThreadInfo, after.ThreadInfo)
			}
			if heads, err := store.Threads(t.Context(), checkpoint.ThreadFilter{Held: true}); err != nil || len(heads) != 0 {
				t.Fatalf("%v: still held: %+v", err, heads)
			}
			if s, err := app.Resume(t.Context(), th, answer); err != nil || s.Log.Len() != 1 {
				t.Fatal(err)
			}
			if err := app.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// E38: an answer that arrives while another call holds the thread is used, also when that call turns out to be wrong: the App
// goes on by itself.
func TestAnswerBesideARefusedResume(t *testing.T) {
	t.Parallel()
	app := guarded(t, new(checkpoint.Memory))
	th := graph.ID("1")
	_, err := app.Run(t.Context(), th, nil)
	q := paused(t, err).Questions[0]
	var answered error
	_, err = app.Resume(t.Context(), th, graph.Update(func(*notes) {
		_, answered = app.Resume(t.Context(), th, graph.Answer(q, true).By("bob"))
		panic("wrong")
	}))
	if _, ok := errors.AsType[*graph.PanicError](err); !ok {
		t.Fatalf("the wrong call: %v", err)
	}
	if busy, ok := errors.AsType[*graph.BusyError](answered); !ok || !busy.Recorded {
		t.Fatalf("the answer: %v, want it recorded for the holder", answered)
	}
	waitFor(t, func() bool {
		st, err := app.State(t.Context(), th)
		return err == nil && st.Status == checkpoint.Completed && st.State.Log.Len() == 1
	})
	if err := app.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// E39: a run that is at work again after a failure is listed as running, and so is its thread.
func TestResumedRunIsListedAsRunning(t *testing.T) {
	t.Parallel()
	store := new(checkpoint.Memory)
	entered, threads, runs := 0, 0, 0
	app := solo(t, func(ctx context.Context, _ *notes) error {
		if entered++; entered == 1 {
			return errBoom
		}
		heads, err := store.Threads(ctx, checkpoint.ThreadFilter{Status: checkpoint.Running})
		list, err2 := store.Runs(ctx, checkpoint.RunFilter{Status: checkpoint.Running})
		threads, runs = len(heads), len(list)
		return errors.Join(err, err2)
	}, graph.Policy{}, graph.Options{Store: store})
	_, err := app.Run(t.Context(), graph.ID("1"), nil)
	wantErr(t, err, errBoom)
	if _, err := app.Resume(t.Context(), graph.ID("1")); err != nil || threads != 1 || runs != 1 {
		t.Fatalf("%v: %d threads and %d runs are listed as running", err, threads, runs)
	}
}
