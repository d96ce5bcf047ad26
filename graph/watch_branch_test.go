package graph_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

// A reader that comes back with the number of any event of a branch that was left is told so, by a higher number, and gets the whole
// new run: no number of it is one that the old branch has used. // E42 // E47
func TestWatchComesFromAnotherBranch(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(t *testing.T, app *graph.App[notes], th graph.Thread, run string) error{
		"rollback": func(t *testing.T, app *graph.App[notes], th graph.Thread, _ string) error {
			_, err := app.With(backed(graph.RunOptions{})).Run(t.Context(), th, give("plain 2"))
			return err
		},
		"fork": func(t *testing.T, app *graph.App[notes], th graph.Thread, _ string) error {
			if _, err := app.Fork(t.Context(), th, 0, graph.ForkOptions{}); err != nil {
				return err
			}
			_, err := app.Resume(t.Context(), th)
			return err
		},
		"delete": func(t *testing.T, app *graph.App[notes], th graph.Thread, run string) error {
			if err := app.Cancel(t.Context(), th); err != nil {
				return err
			}
			if err := app.DeleteRuns(t.Context(), th, run); err != nil {
				return err
			}
			if got, err := watch(t, app, th, graph.WatchOptions{Run: stateOf(t, app, th, -1).Run}); err != nil || len(got) > 0 {
				t.Errorf("the branch without a run: %v, %v", kindsOf(got), err)
			}
			_, err := app.Run(t.Context(), th, give("plain 2"))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var live recorder
			app := compile(t, window(nil), graph.Options{Store: new(checkpoint.Memory), OnEvent: live.record})
			th := graph.ID("t")
			if _, err := app.Run(t.Context(), th, give("plain 0")); err != nil {
				t.Fatal(err)
			}
			_, err := app.Run(t.Context(), th, give("ask 1"))
			paused(t, err)
			old := live.events()
			if err := leave(t, app, th, old[len(old)-1].Run); err != nil {
				t.Fatal(err)
			}
			want, err := watch(t, app, th, graph.WatchOptions{Kinds: logged})
			if err != nil || want[0].Kind != graph.RunStarted && name != "fork" || want[len(want)-1].Kind != graph.RunCompleted {
				t.Fatalf("%v, %v", kindsOf(want), err)
			}
			run := want[len(want)-1].Run
			sameEvents(t, "live and from the log", slices.DeleteFunc(inLog(live.events(), 0), func(e graph.Event) bool {
				return e.Run != run || name == "fork" && e.Kind == graph.RunStarted // a resumed run starts in the log only once
			}), want)
			for _, e := range old {
				got, err := watch(t, app, th, graph.WatchOptions{After: e.Seq, Kinds: logged})
				if err != nil || len(got) == 0 || got[0].Kind != graph.EventsDropped || got[0].From != e.Seq+1 || got[0].Seq < got[0].From || got[0].To != got[0].Seq {
					t.Fatalf("behind %d: %v, %v", e.Seq, got, err)
				}
				sameEvents(t, "behind the gap", want, got[1:])
				if got[1].Seq <= got[0].Seq || got[0].Seq <= old[len(old)-1].Seq {
					t.Fatalf("number %d, the gap %d, the old branch %d", got[1].Seq, got[0].Seq, old[len(old)-1].Seq)
				}
				if got, err = watch(t, app, th, graph.WatchOptions{After: got[0].Seq, Kinds: logged}); err != nil {
					t.Fatal(err)
				}
				sameEvents(t, "behind the number of the gap", want, got)
			}
		})
	}
}

// A reader of a queued run that another branch comes in between for goes on there: it gets the run, or learns that it was taken back.
// A number of the old branch gets it the gap first. // E37 // E42 // E47
func TestWatchAQueuedRunInAnotherBranch(t *testing.T) {
	t.Parallel()
	mem, b, th := new(checkpoint.Memory), newStuck(), graph.ID("t")
	app := compile(t, window(b), graph.Options{Store: mem})
	first := going(func() (*notes, error) { return app.Run(t.Context(), th, give("stuck 0")) })
	<-b.entered
	later := app.With(graph.RunOptions{OnBusy: graph.Enqueue})
	_, err := later.Run(t.Context(), th, give("plain 1"))
	run := queued(t, err).Run
	_, err = later.Run(t.Context(), th, give("plain 2"))
	gone := queued(t, err).Run
	looks, on := make(chan struct{}, 3), make(chan struct{})
	var got, behind []graph.Event
	var err1, err2, err3 error
	var readers sync.WaitGroup
	look := func(o graph.WatchOptions, to *[]graph.Event, err *error) {
		o.Kinds, o.Every = logged, 10*time.Millisecond
		store, n := faultstore.New(mem), 0
		store.Before = func(c *faultstore.Call) error {
			if c.Name != "Load" {
				return nil
			}
			if n++; n == 2 { // it is in the first branch, and looks again
				looks <- struct{}{}
				<-on
			}
			return nil
		}
		other := compile(t, window(nil), graph.Options{Store: store})
		readers.Go(func() { *to, *err = watch(t, other, th, o) })
	}
	look(graph.WatchOptions{Run: run}, &got, &err1)
	look(graph.WatchOptions{Run: run, After: 1}, &behind, &err2)
	look(graph.WatchOptions{Run: gone}, new([]graph.Event), &err3)
	for range 3 {
		<-looks
	}
	if err := app.CancelRun(t.Context(), th, gone); err != nil {
		t.Fatal(err)
	}
	_, err = app.With(backed(graph.RunOptions{})).Run(t.Context(), th, give("plain 3"))
	wantErr(t, (<-first).err, graph.ErrCancelled)
	if err != nil {
		t.Fatal(err)
	}
	idle(t, app, mem, th, 3)
	close(on)
	readers.Wait()
	want, err := watch(t, app, th, graph.WatchOptions{Run: run, Kinds: logged})
	if err != nil || err1 != nil || err2 != nil || want[len(want)-1].Kind != graph.RunCompleted {
		t.Fatal(err, err1, err2, kindsOf(want))
	}
	wantErr(t, err3, graph.ErrCancelled)
	sameEvents(t, "the run", want, got)
	at := slices.IndexFunc(behind, func(e graph.Event) bool { return e.Kind == graph.EventsDropped && e.Seq > want[0].Seq>>48<<48-1 })
	if at < 0 {
		t.Fatalf("no gap: %v", kindsOf(behind))
	}
	sameEvents(t, "behind the gap", want, behind[at+1:])
}

// A run that stands in another branch than the active one is found there by its id, also while the active one has nothing but the
// beginning that a rollback made. // E42 // E47
func TestWatchARunOfAnotherBranch(t *testing.T) {
	t.Parallel()
	mem, th := new(checkpoint.Memory), graph.ID("t")
	var live recorder
	app := compile(t, window(nil), graph.Options{Store: mem, OnEvent: live.record})
	_, err := app.Run(t.Context(), th, give("ask 1"))
	paused(t, err)
	old := inLog(live.events(), 0)
	run := old[0].Run
	dying := faultstore.New(mem)
	back := false
	dying.Before = func(c *faultstore.Call) error {
		if l, err := mem.Load(t.Context(), key(th), checkpoint.Active, ""); err != nil || l.Head.Active > 0 && c.Name == "Acquire" {
			back = true
			return checkpoint.ErrClosed // it dies before the new run has begun
		}
		return nil
	}
	_, err = compile(t, window(nil), graph.Options{Store: dying}).With(backed(graph.RunOptions{})).Run(t.Context(), th, give("plain 2"))
	if err == nil || !back {
		t.Fatalf("the new run has begun: %v", err)
	}
	for name, o := range map[string]graph.WatchOptions{"by its id": {Run: run}, "as the latest": {}, "behind": {After: old[len(old)-1].Seq}} {
		o.Kinds = logged
		got, err := watch(t, app, th, o)
		if err != nil || len(got) == 0 || got[len(got)-1].Kind != graph.RunCancelled {
			t.Fatalf("%s, rolled back: %v, %v", name, kindsOf(got), err)
		}
		if seq := old[0].Seq; o.After == 0 && (len(got) != len(old)+1 || got[0].Seq != seq || got[0].Run != run) {
			t.Fatalf("%s: %v, want %v and the end", name, kindsOf(got), kindsOf(old))
		}
	}
	if _, err := app.Run(t.Context(), th, give("plain 3")); err != nil {
		t.Fatal(err)
	}
	got, err := watch(t, app, th, graph.WatchOptions{Run: run, Kinds: logged})
	if err != nil || len(got) != len(old)+1 {
		t.Fatalf("with a run in the new branch: %v, %v", kindsOf(got), err)
	}
	_, err = watch(t, app, th, graph.WatchOptions{Run: "none"})
	wantErr(t, err, graph.ErrNoThread)
}
