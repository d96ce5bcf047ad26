package graph_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// counter counts to n, one superstep each, and emits k custom events in each.
func counter(n, k int) *graph.Graph[notes] {
	g := graph.New[notes]("counter")
	g.Node("a", func(ctx context.Context, s *notes) error {
		for i := range k {
			if err := graph.Emit(ctx, "tick", i); err != nil {
				return err
			}
		}
		s.Total.Add(1)
		s.Log.Append(fmt.Sprint(s.Total.Get()))
		return nil
	})
	g.Edge(graph.Start, "a")
	g.Route("a", func(ctx context.Context, s *notes) (graph.Next, error) {
		if s.Total.Get() < n {
			return graph.To("a"), nil
		}
		return graph.To(graph.End), nil
	}, "a", graph.End)
	return g
}

var everything = []graph.EventKind{
	graph.RunStarted, graph.RunCompleted, graph.RunFailed, graph.RunInterrupted, graph.RunStopped, graph.RunCancelled, graph.TaskStarted, graph.TaskCompleted,
	graph.TaskAsked, graph.TaskFailed, graph.TaskRetried, graph.TaskUpdated, graph.StateValues, graph.EntryCommitted, graph.QuestionAsked, graph.CustomEvent,
}

// collect reads a stream to its end.
func collect(t testing.TB, app *graph.App[notes], o graph.RunOptions, th graph.Thread) (evs []graph.Event, err error) {
	for e, serr := range app.With(o).Stream(t.Context(), th, nil) {
		if serr != nil {
			return evs, serr
		}
		evs = append(evs, e)
	}
	return evs, nil
}

// An event has a kind, a step and a node; its numbers ascend; state, writes and what was emitted can be read. // E47
func TestStreamTellsWhatHappens(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]checkpoint.Store{"store": new(checkpoint.Memory), "none": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app := compile(t, counter(2, 1), graph.Options{Store: store})
			evs, err := collect(t, app, graph.RunOptions{Kinds: everything}, graph.ID("t"))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			last := int64(0)
			for _, e := range evs {
				got = append(got, fmt.Sprintf("%s@%d", e.Kind, e.Step))
				if e.Seq <= last {
					t.Errorf("number %d after %d", e.Seq, last)
				}
				last = e.Seq
				s, serr := graph.StateOf[notes](e)
				doc, derr := e.State()
				n, cerr := graph.Custom[int](e)
				switch e.Kind {
				case graph.StateValues:
					if serr != nil || derr != nil || s.Total.Get() != int(e.Step) || len(doc) == 0 {
						t.Errorf("state of %s: %v %v %s", got[len(got)-1], serr, derr, doc)
					}
					s.Log.Append("mine") // belongs to the reader
				case graph.CustomEvent:
					if cerr != nil || n != 0 || e.Name != "tick" || e.Node != "a" {
						t.Errorf("custom event: %v %+v", cerr, e)
					}
				default:
					if serr == nil || derr == nil || cerr == nil {
						t.Errorf("%s carries a state or a value", e.Kind)
					}
				}
				if wrote := fmt.Sprintf("%q", fmt.Sprint(e.Step)); e.Kind == graph.TaskUpdated && !strings.Contains(string(e.Data), wrote) {
					t.Errorf("update of step %d: %s", e.Step, e.Data)
				}
			}
			want := []string{"run.started@0"}
			for i := 1; i <= 2; i++ {
				for _, k := range []string{"task.started", "custom", "task.completed", "updated", "values", "entry"} {
					want = append(want, fmt.Sprintf("%s@%d", k, i))
				}
			}
			if want = append(want, "run.completed@2"); !slices.Equal(got, want) {
				t.Errorf("got  %v\nwant %v", got, want)
			}
		})
	}
}

// A slow reader loses nothing of the durable kinds, with the numbers they have for everybody; of live ones a gap is one
// Dropped; how the run ended is never lost. The run does not wait for it. // E47 // E48 // report 214
func TestSlowReader(t *testing.T) {
	t.Parallel()
	for _, mode := range []graph.Durability{graph.Sync, graph.Async, graph.AtExit} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			const steps = 300
			var mu sync.Mutex
			var live []graph.Event
			ended := make(chan struct{})
			app := compile(t, counter(steps, 2), graph.Options{Store: new(checkpoint.Memory), Durability: mode, OnEvent: func(e graph.Event) {
				mu.Lock()
				defer mu.Unlock()
				live = append(live, e)
				if e.Kind == graph.RunCompleted {
					close(ended)
				}
			}})
			var got []graph.Event
			for e, err := range app.With(graph.RunOptions{Kinds: everything}).Stream(t.Context(), graph.ID("t"), nil) {
				if err != nil {
					t.Fatal(err)
				}
				if len(got) == 0 {
					<-ended // the run goes on to its end without this reader
				}
				got = append(got, e)
			}
			durable := func(evs []graph.Event) (out []graph.Event) {
				for _, e := range evs {
					if e.Kind.Durable() {
						out = append(out, e)
					}
				}
				return out
			}
			want, have := durable(live), durable(got)
			if len(have) != len(want) || len(want) != 3*steps {
				t.Fatalf("%d durable events, the reader got %d", len(want), len(have))
			}
			fromLog := false
			for i := range want {
				w, h := want[i], have[i]
				ws, _ := w.State()
				hs, _ := h.State()
				if w.Seq != h.Seq || w.Kind != h.Kind || w.Step != h.Step || w.Node != h.Node || w.Task != h.Task || w.Attempt != h.Attempt || w.Run != h.Run ||
					w.Thread != h.Thread || string(w.Data) != string(h.Data) || string(ws) != string(hs) || !slices.Equal(w.Next, h.Next) {
					t.Fatalf("event %d: live %+v, read %+v", i, w, h)
				}
				fromLog = fromLog || h.FromLog
			}
			dropped := 0
			for i, e := range got {
				if i > 0 && e.Seq <= got[i-1].Seq {
					t.Fatalf("number %d after %d", e.Seq, got[i-1].Seq)
				}
				if e.Kind == graph.EventsDropped {
					dropped++
				}
			}
			if dropped != 1 || !fromLog || got[len(got)-1].Kind != graph.RunCompleted {
				t.Fatalf("%d gaps, read again: %t, last: %s", dropped, fromLog, got[len(got)-1].Kind)
			}
		})
	}
}

// 10,000 events: strictly ascending, none twice, none missing for a reader that keeps up. // E47 // report 214
func TestManyEvents(t *testing.T) {
	t.Parallel()
	app := compile(t, counter(100, 100), graph.Options{})
	seen, custom, last := 0, 0, int64(0)
	for e, err := range app.Stream(t.Context(), graph.ID("t"), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq <= last {
			t.Fatalf("number %d after %d", e.Seq, last)
		}
		last = e.Seq
		seen++
		if e.Kind == graph.CustomEvent {
			custom++
		}
		if e.Kind == graph.EventsDropped {
			custom = -1 << 30
		}
	}
	if custom >= 0 && custom != 10_000 {
		t.Fatalf("%d events, %d emitted ones", seen, custom)
	}
}

// Leaving the loop at any event stops the run before the loop returns; nothing is left behind; the thread can be resumed
// and comes to the same end. // E48 // report 200 // report 202 // report 203
func TestBreakAtEveryEvent(t *testing.T) {
	const steps = 3
	whole, err := collect(t, compile(t, counter(steps, 2), graph.Options{Store: new(checkpoint.Memory)}), graph.RunOptions{Kinds: everything}, graph.ID("t"))
	if err != nil {
		t.Fatal(err)
	}
	for at := range whole {
		app := compile(t, counter(steps, 2), graph.Options{Store: new(checkpoint.Memory)})
		i := 0
		for _, err := range app.With(graph.RunOptions{Kinds: everything}).Stream(t.Context(), graph.ID("t"), nil) {
			if err != nil {
				t.Fatal(err)
			}
			if i == at {
				break
			}
			i++
		}
		out, err := app.Resume(t.Context(), graph.ID("t"))
		if errors.Is(err, graph.ErrNothingToDo) {
			st, serr := app.State(t.Context(), graph.ID("t"))
			if serr != nil {
				t.Fatal(serr)
			}
			out, err = st.State, nil
		}
		if err != nil || out.Total.Get() != steps || out.Log.Len() != steps {
			t.Fatalf("left at event %d: %v", at, err)
		}
		if err := app.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	goleak.VerifyNone(t, goleak.IgnoreAnyFunction("testing.tRunner"), goleak.IgnoreAnyFunction("testing.(*T).Run"))
}

// A panic in the loop's body stops the run as leaving it does. // E48
func TestPanicInTheLoop(t *testing.T) {
	t.Parallel()
	app := compile(t, counter(50, 0), graph.Options{Store: new(checkpoint.Memory)})
	func() {
		defer func() { recover() }()
		for range app.Stream(t.Context(), graph.ID("t"), nil) {
			panic("mine")
		}
	}()
	if out, err := app.Resume(t.Context(), graph.ID("t")); err != nil && !errors.Is(err, graph.ErrNothingToDo) || err == nil && out.Total.Get() != 50 {
		t.Fatal(err)
	}
}

// A detached run belongs to the App: it outlives the reader and the reader's context. // E48 // report 10
func TestDetach(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"the reader leaves", "its context ends"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			b := newStuck()
			app := compile(t, fan(map[string]func(context.Context, *notes) error{"a": b.node}), graph.Options{Store: new(checkpoint.Memory)})
			gone := errors.New("gone")
			ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), ctxKey{}, "kept"))
			var last error
			for _, err := range app.With(graph.RunOptions{Detach: true}).Stream(ctx, graph.ID("t"), nil) {
				last = err
				if how == "the reader leaves" {
					break
				}
				cancel(gone)
			}
			if how == "its context ends" {
				wantErr(t, last, gone)
			}
			cancel(gone)
			<-b.entered
			close(b.release)
			waitFor(t, func() bool {
				st, err := app.State(t.Context(), graph.ID("t"))
				return err == nil && st.Status == checkpoint.Completed
			})
			if err := app.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

type ctxKey struct{}

// waitFor polls until the test's deadline: for what no channel tells.
func waitFor(t testing.TB, ok func() bool) {
	t.Helper()
	for !ok() {
		select {
		case <-t.Context().Done():
			t.Fatal("it never came")
		case <-time.After(time.Millisecond):
		}
	}
}

// Choosing kinds never changes the state, and what one stream misses another has. // E47 // report 213
func TestKindsDoNotChangeState(t *testing.T) {
	t.Parallel()
	var want string
	for i, kinds := range [][]graph.EventKind{nil, {graph.StateValues}, {graph.TaskUpdated}, {graph.CustomEvent}, everything, {graph.RunFailed}} {
		app := compile(t, counter(5, 3), graph.Options{Store: new(checkpoint.Memory)})
		evs, err := collect(t, app, graph.RunOptions{Kinds: kinds}, graph.ID("t"))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range evs {
			if kinds != nil && !slices.Contains(kinds, e.Kind) {
				t.Errorf("asked for %v, got %s", kinds, e.Kind)
			}
		}
		st, err := app.View().State(t.Context(), graph.ID("t"))
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			want = string(st.JSON)
		} else if string(st.JSON) != want {
			t.Errorf("kinds %v: state %s, want %s", kinds, st.JSON, want)
		}
	}
}

// The stream shows the same questions as the error and the state. // E47 // report 212
func TestStreamShowsAllQuestions(t *testing.T) {
	t.Parallel()
	app := compile(t, fan(map[string]func(context.Context, *notes) error{"a": asking("a"), "b": asking("b"), "c": asking("c"), "d": asking("d")}), graph.Options{Store: new(checkpoint.Memory)})
	evs, err := collect(t, app, graph.RunOptions{}, graph.ID("t"))
	in := paused(t, err)
	var told []graph.Question
	for _, e := range evs {
		if e.Kind == graph.QuestionAsked {
			told = append(told, *e.Question)
		}
	}
	st, err := app.State(t.Context(), graph.ID("t"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range st.Questions {
		st.Questions[i].Asked = time.Time{} // only the store knows it
	}
	if len(told) != 4 || !reflect.DeepEqual(told, in.Questions) || !reflect.DeepEqual(told, st.Questions) {
		t.Fatalf("stream %v, error %v, state %v", names(told), names(in.Questions), names(st.Questions))
	}
}

// Early events arrive while the step runs; a silent node is not in the stream. // E49
func TestEarlyEvents(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	g := fan(map[string]func(context.Context, *notes) error{
		"loud": func(ctx context.Context, s *notes) error {
			if err := graph.Emit(ctx, "early", "x"); err != nil {
				return err
			}
			<-release
			return nil
		},
		"silent": func(ctx context.Context, s *notes) error {
			s.Log.Append("silent")
			return graph.Emit(ctx, "secret", "x")
		},
	})
	g.Policy("silent", graph.Policy{Silent: true})
	app := compile(t, g, graph.Options{Store: new(checkpoint.Memory)})
	early := false
	for e, err := range app.Stream(t.Context(), graph.ID("t"), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Node == "silent" {
			t.Errorf("a silent node is in the stream: %s", e.Kind)
		}
		if e.Kind == graph.CustomEvent && e.Name == "early" {
			early = true
			close(release) // the step waits for this reader to have seen it
		}
	}
	if !early {
		t.Fatal("it did not come")
	}
}
