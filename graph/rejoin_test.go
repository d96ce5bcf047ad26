package graph_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

// logged are the kinds that a log has.
var logged = []graph.EventKind{
	graph.RunStarted, graph.TaskUpdated, graph.StateValues, graph.EntryCommitted, graph.QuestionAsked, graph.RunCompleted, graph.RunFailed,
	graph.RunInterrupted, graph.RunDrained, graph.RunStopped, graph.RunCancelled,
}

// A recorder keeps the events of an App.
type recorder struct {
	mu  sync.Mutex
	evs []graph.Event
}

func (r *recorder) record(e graph.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.evs = append(r.evs, e)
}

func (r *recorder) events() []graph.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.evs)
}

// inLog are those of them that the log has: of the starts, that of a run, not of a call that resumed it; of child graphs, the
// questions.
func inLog(evs []graph.Event, after int64) (out []graph.Event) {
	begun := map[string]bool{}
	for _, e := range evs {
		again := e.Kind == graph.RunStarted && begun[e.Run]
		begun[e.Run] = true
		child := len(e.Path) > 0 && e.Kind != graph.QuestionAsked
		if e.Seq > after && slices.Contains(logged, e.Kind) && !again && !child {
			out = append(out, e)
		}
	}
	return out
}

// watch reads a watch to its end.
func watch(t testing.TB, app *graph.App[notes], th graph.Thread, o graph.WatchOptions) (evs []graph.Event, err error) {
	t.Helper()
	for e, err := range app.Watch(t.Context(), th, o) {
		if err != nil {
			return evs, err
		}
		evs = append(evs, e)
	}
	return evs, nil
}

// sameEvents compares what was told live with what was told again.
func sameEvents(t testing.TB, what string, want, got []graph.Event) {
	t.Helper()
	text := func(e graph.Event) string {
		var s []byte
		if e.Kind == graph.StateValues {
			var err error
			if s, err = e.State(); err != nil {
				t.Fatal(err)
			}
		}
		e.FromLog = false
		if e.Kind == graph.RunStopped { // the log does not always have the cause
			e.Error = ""
		}
		if e.Question != nil {
			q := *e.Question
			q.Asked = time.Time{} // only the store knows it
			e.Question = &q
		}
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		return string(b) + string(s)
	}
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(want):
			t.Fatalf("%s: one too many: %s", what, text(got[i]))
		case i >= len(got):
			t.Fatalf("%s: it ends before %s", what, text(want[i]))
		case text(want[i]) != text(got[i]):
			t.Fatalf("%s: event %d:\nwant %s\ngot  %s", what, i, text(want[i]), text(got[i]))
		}
	}
}

// storied is a graph whose input says what is to happen.
func storied(fails *bool) *graph.Graph[notes] {
	g := graph.New[notes]("storied")
	g.Route(graph.Start, func(_ context.Context, s *notes) (graph.Next, error) { return graph.To(s.Value.Get()), nil },
		"count", "ask", "fail", "stop", "child", graph.End)
	inner := fan(map[string]func(context.Context, *notes) error{"in": asking("in")})
	child, err := inner.Compile(graph.Options{BreakBefore: []string{"done"}})
	if err != nil {
		panic(err)
	}
	graph.Mount(g, "child", child, nil, func(s, c *notes) { s.Log.Append(c.Log.Slice()...) })
	g.Edge("child", "count")
	g.Branch("count", func(ctx context.Context, s *notes) (graph.Next, error) {
		s.Total.Add(1)
		if err := graph.Emit(ctx, "count", s.Total.Get()); err != nil {
			return graph.Next{}, err
		}
		if s.Total.Get()%3 == 0 {
			return graph.To(graph.End), nil
		}
		return graph.To("count"), nil
	}, "count", graph.End)
	g.Node("ask", nop)
	for _, name := range []string{"x", "y", "quiet"} {
		g.Edge("ask", name)
	}
	g.Node("x", asking("x"))
	g.Node("y", asking("y"))
	g.Node("quiet", say("quiet"))
	g.Policy("quiet", graph.Policy{Silent: true})
	g.Join([]string{"x", "y", "quiet"}, "count")
	g.Node("fail", func(ctx context.Context, s *notes) error {
		if *fails {
			return errBoom
		}
		return nil
	})
	g.Edge("fail", "count")
	g.Node("stop", func(ctx context.Context, s *notes) error {
		if stop, ok := ctx.Value(ctxKey{}).(context.CancelFunc); ok {
			stop()
			<-ctx.Done()
		}
		return context.Cause(ctx)
	})
	g.Edge("stop", "count")
	return g
}

// stories are the ways in which a thread can go.
var stories = map[string]func(t *testing.T, app *graph.App[notes], th graph.Thread, fails *bool){
	"completed": func(t *testing.T, app *graph.App[notes], th graph.Thread, _ *bool) {
		tellStory(t, app, th, "count", nil)
	},
	"two runs": func(t *testing.T, app *graph.App[notes], th graph.Thread, _ *bool) {
		tellStory(t, app, th, "count", nil)
		tellStory(t, app, th, "count", nil)
	},
	"nothing to do": func(t *testing.T, app *graph.App[notes], th graph.Thread, _ *bool) {
		tellStory(t, app, th, graph.End, nil)
	},
	"asked": func(t *testing.T, app *graph.App[notes], th graph.Thread, _ *bool) {
		err := tellStory(t, app, th, "ask", graph.ErrInterrupted)
		for _, q := range paused(t, err).Questions {
			_, err = app.Resume(t.Context(), th, graph.Answer(q, "a"))
		}
		if err != nil {
			t.Fatal(err)
		}
	},
	"failed": func(t *testing.T, app *graph.App[notes], th graph.Thread, fails *bool) {
		*fails = true
		tellStory(t, app, th, "fail", errBoom)
		*fails = false
		if _, err := app.Resume(t.Context(), th); err != nil {
			t.Fatal(err)
		}
	},
	"failed, then the next": func(t *testing.T, app *graph.App[notes], th graph.Thread, fails *bool) {
		*fails = true
		tellStory(t, app, th, "fail", errBoom)
		tellStory(t, app, th, "count", nil)
	},
	"cancelled": func(t *testing.T, app *graph.App[notes], th graph.Thread, _ *bool) {
		tellStory(t, app, th, "ask", graph.ErrInterrupted)
		if err := app.Cancel(t.Context(), th); err != nil {
			t.Fatal(err)
		}
	},
	"breakpoints": func(t *testing.T, app *graph.App[notes], th graph.Thread, _ *bool) {
		tellStory(t, app.With(graph.RunOptions{BreakAfter: []string{"count"}}), th, "count", graph.ErrInterrupted)
		if _, err := app.Resume(t.Context(), th); err != nil {
			t.Fatal(err)
		}
	},
	"limited": func(t *testing.T, app *graph.App[notes], th graph.Thread, _ *bool) {
		tellStory(t, app.With(graph.RunOptions{StepLimit: 1}), th, "count", graph.ErrStepLimit)
		if _, err := app.Resume(t.Context(), th); err != nil {
			t.Fatal(err)
		}
	},
	"stopped": func(t *testing.T, app *graph.App[notes], th graph.Thread, _ *bool) {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := app.Run(context.WithValue(ctx, ctxKey{}, cancel), th, func(s *notes) { s.Value.Set("stop") })
		wantErr(t, err, context.Canceled)
		if _, err := app.Resume(t.Context(), th); err != nil {
			t.Fatal(err)
		}
	},
	"asked and stopped in a child": func(t *testing.T, app *graph.App[notes], th graph.Thread, _ *bool) {
		err := tellStory(t, app, th, "child", graph.ErrInterrupted)
		_, err = app.Resume(t.Context(), th, graph.Answer(paused(t, err).Questions[0], "a"))
		if len(paused(t, err).Breaks) != 1 {
			t.Fatal(err)
		}
		if _, err := app.Resume(t.Context(), th); err != nil {
			t.Fatal(err)
		}
	},
	"edited": func(t *testing.T, app *graph.App[notes], th graph.Thread, _ *bool) {
		tellStory(t, app.With(graph.RunOptions{BreakAfter: []string{"count"}}), th, "count", graph.ErrInterrupted)
		_, err := app.Resume(t.Context(), th, graph.Update(func(s *notes) { s.Total.Add(1) }))
		if err != nil {
			t.Fatal(err)
		}
	},
}

func tellStory(t *testing.T, app *graph.App[notes], th graph.Thread, value string, want error) error {
	t.Helper()
	_, err := app.Run(t.Context(), th, func(s *notes) { s.Value.Set(value) })
	if !errors.Is(err, want) {
		t.Fatalf("got %v, want %v", err, want)
	}
	return err
}

// Whoever watches after the end gets what a live reader has seen of the kinds that the log has, with the same numbers; and from
// every number on what came behind it, also of an earlier run. Live kinds are one Dropped. // E47 // E58 // report 214
func TestWatchAfterTheEnd(t *testing.T) {
	t.Parallel()
	for name, story := range stories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var live recorder
			fails := false
			store := new(checkpoint.Memory)
			th := graph.ID("t")
			app := compile(t, storied(&fails), graph.Options{Store: store, OnEvent: live.record})
			story(t, app, th, &fails)
			all := live.events()
			if !slices.IsSortedFunc(all, func(a, b graph.Event) int { return int(a.Seq - b.Seq) }) {
				t.Fatal("out of order")
			}
			other := compile(t, storied(&fails), graph.Options{Store: store})
			last := slices.IndexFunc(all, func(e graph.Event) bool { return e.Run == all[len(all)-1].Run })
			got, err := watch(t, other, th, graph.WatchOptions{Kinds: logged})
			if err != nil {
				t.Fatal(err)
			}
			sameEvents(t, "from the beginning", inLog(all[last:], 0), pastChildren(t, all, got))
			for _, e := range all {
				o := graph.WatchOptions{After: e.Seq, Kinds: logged}
				if got, err = watch(t, other, th, o); err != nil {
					t.Fatal(err)
				}
				sameEvents(t, fmt.Sprint("behind ", e.Seq, " ", e.Kind), inLog(all, e.Seq), pastChildren(t, all, got))
			}
			withLive(t, other, th, all)
		})
	}
}

// pastChildren takes out the one gap in which the events of child graphs are.
func pastChildren(t *testing.T, all, got []graph.Event) []graph.Event {
	t.Helper()
	nested := slices.ContainsFunc(all, func(e graph.Event) bool { return len(e.Path) > 0 && e.Kind.Durable() })
	at := slices.IndexFunc(got, func(e graph.Event) bool { return e.Kind == graph.EventsDropped })
	if at < 0 || !nested {
		return got
	}
	return slices.Delete(got, at, at+1)
}

// withLive watches for all kinds: what the log does not have is one Dropped, in its place.
func withLive(t *testing.T, app *graph.App[notes], th graph.Thread, all []graph.Event) {
	t.Helper()
	got, err := watch(t, app, th, graph.WatchOptions{After: 1, Kinds: everything})
	if err != nil {
		t.Fatal(err)
	}
	dropped, last := 0, int64(1)
	for _, e := range got {
		if e.Seq <= last {
			t.Fatalf("number %d after %d", e.Seq, last)
		}
		last = e.Seq
		if e.Kind == graph.EventsDropped {
			dropped++
		}
	}
	if got = slices.DeleteFunc(got, func(e graph.Event) bool { return e.Kind == graph.EventsDropped }); dropped != 1 {
		t.Fatalf("%d gaps", dropped)
	}
	want := slices.DeleteFunc(inLog(all, 1), func(e graph.Event) bool { return !slices.Contains(everything, e.Kind) })
	sameEvents(t, "all kinds", want, got)
}

// paced counts to n. Each step says that it has begun and waits to be let on; it emits a tick on either side of that.
type paced struct {
	began chan int
	on    chan struct{}
}

func newPaced() *paced { return &paced{make(chan int, 100), make(chan struct{}, 100)} }

func (p *paced) graph(n int) *graph.Graph[notes] {
	g := graph.New[notes]("paced")
	g.Branch("count", func(ctx context.Context, s *notes) (graph.Next, error) {
		s.Total.Add(1)
		if err := graph.Emit(ctx, "before", s.Total.Get()); err != nil {
			return graph.Next{}, err
		}
		p.began <- s.Total.Get()
		select {
		case <-p.on:
		case <-ctx.Done():
			return graph.Next{}, context.Cause(ctx)
		}
		if err := graph.Emit(ctx, "after", s.Total.Get()); err != nil {
			return graph.Next{}, err
		}
		if s.Total.Get() == n {
			return graph.To(graph.End), nil
		}
		return graph.To("count"), nil
	}, "count", graph.End)
	g.Edge(graph.Start, "count")
	return g
}

// A run that nobody has watched is joined in the middle of its second step: what is recorded comes from the log, what was live
// is one Dropped, and everything from then on comes as it happens, in every durability. // E47 // E49
func TestJoinARunUnderWay(t *testing.T) {
	t.Parallel()
	for _, mode := range []graph.Durability{graph.Sync, graph.Async, graph.AtExit} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			p := newPaced()
			app := compile(t, p.graph(3), graph.Options{Store: new(checkpoint.Memory), Durability: mode})
			th := graph.ID("t")
			run := going(func() (*notes, error) { return app.Run(t.Context(), th, nil) })
			<-p.began
			p.on <- struct{}{}
			<-p.began
			var got []string
			last := int64(0)
			for e, err := range app.Watch(t.Context(), th, graph.WatchOptions{}) {
				if err != nil {
					t.Fatal(err)
				}
				if e.Seq <= last {
					t.Errorf("number %d after %d", e.Seq, last)
				}
				last = e.Seq
				if e.Kind == graph.EntryCommitted && e.Step == 1 {
					close(p.on) // the run waits for this reader, which has joined before it read this
				}
				got = append(got, fmt.Sprintf("%s%s@%d%s", e.Kind, e.Name, e.Step, map[bool]string{true: " from the log"}[e.FromLog]))
			}
			if err := (<-run).err; err != nil {
				t.Fatal(err)
			}
			want := []string{
				"run.started@0 from the log", "dropped@0", "updated@1 from the log", "entry@1 from the log",
				"customafter@2", "task.completed@2", "updated@2", "entry@2",
				"task.started@3", "custombefore@3", "customafter@3", "task.completed@3", "updated@3", "entry@3", "run.completed@3",
			}
			if !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

// A reader that comes back to a run which nobody has watched meanwhile is told so, although its last number is that of the last
// entry. To one that comes back while others watch nothing is missing. // E47
func TestJoinBehindTheLastEntry(t *testing.T) {
	t.Parallel()
	for _, watched := range []bool{false, true} {
		t.Run(fmt.Sprint("watched ", watched), func(t *testing.T) {
			t.Parallel()
			p := newPaced()
			var live recorder
			store := faultstore.New(new(checkpoint.Memory))
			store.After = func(c *faultstore.Call) error {
				if c.Name == "Read" && c.Nth == 1 { // it reads what it has missed: it has joined
					close(p.on)
				}
				return c.Err
			}
			o := graph.Options{Store: store}
			if watched {
				o.OnEvent = live.record
			}
			app := compile(t, p.graph(2), o)
			th := graph.ID("t")
			run := going(func() (*notes, error) { return app.Run(t.Context(), th, nil) })
			<-p.began
			p.on <- struct{}{}
			<-p.began
			after := int64(1<<24 + 2) // of the first entry, which has one update
			if watched {
				all := live.events()
				after = all[len(all)-1].Seq
			}
			var got []string
			for e, err := range app.Watch(t.Context(), th, graph.WatchOptions{After: after}) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(e.Kind)+e.Name)
			}
			if err := (<-run).err; err != nil {
				t.Fatal(err)
			}
			want := []string{"customafter", "task.completed", "updated", "entry", "run.completed"}
			if !watched {
				want = append([]string{"dropped"}, want...)
			}
			if !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}
