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

	"go.uber.org/goleak"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

// kindsOf lists kinds, with the step.
func kindsOf(evs []graph.Event) (out []string) {
	for _, e := range evs {
		out = append(out, fmt.Sprintf("%s@%d", e.Kind, e.Step))
	}
	return out
}

// Readers that leave at any event, and readers that stop reading and never leave while the run goes on, hold nothing up and
// leave nothing behind. // E48 // report 200 // report 202 // report 203
func TestWatchersThatLeave(t *testing.T) {
	const steps, perStep = 4, 6
	p := newPaced()
	app := compile(t, p.graph(steps), graph.Options{Store: new(checkpoint.Memory)})
	th := graph.ID("t")
	run := going(func() (*notes, error) { return app.Run(t.Context(), th, nil) })
	<-p.began
	var readers sync.WaitGroup
	ended, joined := make(chan struct{}), make(chan struct{}, 100)
	watchTo := func(at int, wait bool) {
		i := 0
		for _, err := range app.Watch(t.Context(), th, graph.WatchOptions{Kinds: everything}) {
			if err != nil {
				t.Error(err)
			}
			if i == 0 {
				joined <- struct{}{}
			}
			if wait {
				<-ended
			} else if i == at {
				break
			}
			i++
		}
	}
	for at := range steps*perStep + 3 {
		readers.Go(func() { watchTo(at, false) })
	}
	for range 5 {
		readers.Go(func() { watchTo(0, true) })
	}
	for range steps*perStep + 3 + 5 {
		<-joined
	}
	close(p.on)
	if err := (<-run).err; err != nil { // while five do not read
		t.Fatal(err)
	}
	close(ended)
	readers.Wait()
	if err := app.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	goleak.VerifyNone(t, goleak.IgnoreAnyFunction("testing.tRunner"), goleak.IgnoreAnyFunction("testing.(*T).Run"))
}

// Readers join and leave while a run emits and is cancelled: nobody waits for anybody, and whoever stays learns of the end. // E48 // report 201
func TestWatchAgainstCancel(t *testing.T) {
	t.Parallel()
	raced(t, 1000, 50, func(t *testing.T, s checkpoint.Store, rounds int) {
		g := graph.New[notes]("emits")
		entered := make(chan struct{}, 1)
		g.Node("a", func(ctx context.Context, _ *notes) error {
			entered <- struct{}{}
			for ctx.Err() == nil {
				if err := graph.Emit(ctx, "tick", 1); err != nil {
					return err
				}
			}
			return context.Cause(ctx)
		})
		g.Edge(graph.Start, "a")
		app := compile(t, g, graph.Options{Store: s})
		for i := range rounds {
			th := graph.ID(fmt.Sprint(i))
			run := going(func() (*notes, error) { return app.Run(t.Context(), th, nil) })
			<-entered
			together(
				func() {
					for range app.Watch(t.Context(), th, graph.WatchOptions{}) {
						break
					}
				},
				func() {
					evs, err := watch(t, app, th, graph.WatchOptions{Kinds: []graph.EventKind{graph.RunCancelled}})
					if err != nil || len(evs) != 1 || evs[0].Kind != graph.RunCancelled {
						t.Errorf("%v, %v", kindsOf(evs), err)
					}
				},
				func() {
					if err := app.Cancel(t.Context(), th); err != nil {
						t.Error(err)
					}
				},
			)
			wantErr(t, (<-run).err, graph.ErrCancelled)
		}
	})
}

// A queued run can be watched before it begins, in its App and in another, and one gets its events alone; if it is taken back,
// that is ErrCancelled. // E37 // E47
func TestWatchAQueuedRun(t *testing.T) {
	t.Parallel()
	store := new(checkpoint.Memory)
	b := newStuck()
	var live recorder
	app, other := compile(t, window(b), graph.Options{Store: store, OnEvent: live.record}), compile(t, window(nil), graph.Options{Store: store})
	th := graph.ID("t")
	first := going(func() (*notes, error) { return app.Run(t.Context(), th, give("stuck")) })
	<-b.entered
	later := app.With(graph.RunOptions{OnBusy: graph.Enqueue})
	_, err := later.Run(t.Context(), th, give("plain"))
	run := queued(t, err).Run
	_, err = later.Run(t.Context(), th, give("plain"))
	gone := queued(t, err).Run
	var got, inOther []graph.Event
	together(
		func() {
			got, _ = watch(t, app, th, graph.WatchOptions{Run: run, Kinds: logged, Every: 10 * time.Millisecond})
		},
		func() {
			inOther, _ = watch(t, other, th, graph.WatchOptions{Run: run, Kinds: logged, Every: 10 * time.Millisecond})
		},
		func() {
			_, err := watch(t, other, th, graph.WatchOptions{Run: gone, Every: 10 * time.Millisecond})
			wantErr(t, err, graph.ErrCancelled)
			close(b.release)
		},
		func() {
			if err := app.CancelRun(t.Context(), th, gone); err != nil {
				t.Error(err)
			}
		},
	)
	if err := (<-first).err; err != nil {
		t.Fatal(err)
	}
	want := slices.DeleteFunc(inLog(live.events(), 0), func(e graph.Event) bool { return e.Run != run })
	sameEvents(t, "in its App", want, got)
	sameEvents(t, "in another", want, inOther)
	if got, err = watch(t, other, th, graph.WatchOptions{Run: want[0].Run, Kinds: logged}); err != nil {
		t.Fatal(err)
	}
	sameEvents(t, "afterwards", want, got)
	before := live.events()[0]
	if got, err = watch(t, other, th, graph.WatchOptions{Run: before.Run, Kinds: logged}); err != nil {
		t.Fatal(err)
	}
	sameEvents(t, "the run before it", slices.DeleteFunc(inLog(live.events(), 0), func(e graph.Event) bool { return e.Run != before.Run }), got)
	if got, err = watch(t, other, th, graph.WatchOptions{Run: before.Run, After: want[0].Seq, Kinds: logged}); err != nil || len(got) > 0 {
		t.Fatalf("behind the end of a run: %v, %v", kindsOf(got), err)
	}
}

// A reader that has joined a run does not notice that the run loses its thread to another process: it goes on with what that
// one records. // E38 // E47
func TestWatchGoesOnAfterATakeover(t *testing.T) {
	t.Parallel()
	var clock handClock
	store := &checkpoint.Memory{Now: clock.now}
	slow := faultstore.New(store)
	slow.Before = func(c *faultstore.Call) error {
		if c.Name == "Renew" { // it is too busy to renew
			return checkpoint.ErrUnavailable
		}
		return nil
	}
	p, q := newPaced(), newPaced()
	th := graph.ID("t")
	var live, later recorder
	late := compile(t, p.graph(3), graph.Options{Store: slow, OnEvent: live.record})
	other := compile(t, q.graph(3), graph.Options{Store: store, OnEvent: later.record})
	run := going(func() (*notes, error) { return late.Run(t.Context(), th, nil) })
	<-p.began
	p.on <- struct{}{}
	<-p.began
	var got []graph.Event
	for e, err := range late.Watch(t.Context(), th, graph.WatchOptions{Every: 10 * time.Millisecond}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
		if e.Kind == graph.EntryCommitted && e.Step == 1 { // it has joined
			clock.advance(time.Minute)
			close(q.on)
			if _, err := other.Resume(t.Context(), th); err != nil {
				t.Fatal(err)
			}
			close(p.on)
			wantErr(t, (<-run).err, graph.ErrStale)
		}
	}
	mine := slices.DeleteFunc(live.events(), func(e graph.Event) bool { return e.Step > 1 || e.Kind == graph.RunFailed })
	want := slices.DeleteFunc(inLog(append(mine, later.events()...), 0), func(e graph.Event) bool { return e.Kind == graph.StateValues })
	sameEvents(t, "across the takeover", want, slices.DeleteFunc(got, func(e graph.Event) bool { return !slices.Contains(logged, e.Kind) }))
}

// What a watch says when there is nothing to watch, or not any more. // E47 // E29
func TestWatchRefuses(t *testing.T) {
	t.Parallel()
	store := new(checkpoint.Memory)
	b := newStuck()
	app, other := compile(t, window(b), graph.Options{Store: store}), compile(t, window(nil), graph.Options{Store: store})
	th := graph.ID("t")
	run := going(func() (*notes, error) { return app.Run(t.Context(), th, give("stuck")) })
	<-b.entered
	gone := errors.New("gone")
	var end context.CancelCauseFunc
	closed := compile(t, window(nil), graph.Options{Store: store})
	for name, c := range map[string]struct {
		app  *graph.App[notes]
		th   graph.Thread
		o    graph.WatchOptions
		want error
		then func() // once the watch follows the log
	}{
		"no store":         {app: compile(t, window(nil), graph.Options{}), th: th, want: graph.ErrNoStore},
		"no thread":        {app: app, th: graph.ID("none"), want: graph.ErrNoThread},
		"no branch":        {app: app, th: graph.Thread{Tenant: th.Tenant, ID: th.ID, Branch: "none"}, want: graph.ErrNoThread},
		"no run":           {app: app, th: th, o: graph.WatchOptions{Run: "none"}, want: graph.ErrNoThread},
		"a bad key":        {app: app, want: checkpoint.ErrBadKey},
		"closed":           {app: closed, th: th, want: graph.ErrClosed, then: func() { closed.Close(t.Context()) }},
		"the context ends": {app: other, th: th, want: gone, then: func() { end(gone) }},
		"joined, and it":   {app: app, th: th, want: gone, then: func() { end(gone) }},
	} {
		t.Run(name, func(t *testing.T) {
			var last error
			var ctx context.Context
			ctx, end = context.WithCancelCause(t.Context())
			for _, err := range c.app.Watch(ctx, c.th, c.o) {
				if last = err; err == nil && c.then != nil {
					c.then()
				}
			}
			wantErr(t, last, c.want)
			end(nil)
		})
	}
	if _, err := watch(t, app, th, graph.WatchOptions{After: -1}); err == nil {
		t.Error("a negative number was taken")
	}
	for e, err := range other.Watch(t.Context(), th, graph.WatchOptions{Every: 10 * time.Millisecond}) {
		if err != nil {
			wantErr(t, err, graph.ErrNoThread)
		} else if e.Kind == graph.RunStarted {
			if err := app.Delete(t.Context(), th); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(b.release)
	wantErr(t, (<-run).err, graph.ErrStale)
}

// Where retention has removed what a reader has not seen, it says so, whatever kinds were asked for, and goes on. // E46 // E47
func TestWatchBehindRetention(t *testing.T) {
	t.Parallel()
	store := new(checkpoint.Memory)
	app := turns(t, graph.Options{Store: store})
	th := graph.ID("t")
	runs(t, app, th, 1)
	first, err := watch(t, app, th, graph.WatchOptions{Kinds: logged})
	if err != nil {
		t.Fatal(err)
	}
	runs(t, app, th, 30)
	all, err := watch(t, app, th, graph.WatchOptions{After: 1, Kinds: logged})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := app.Retain(t.Context(), th, graph.Retention{KeepLast: 3}); err != nil {
		t.Fatal(err)
	}
	left, err := watch(t, app, th, graph.WatchOptions{After: 1, Kinds: logged})
	if err != nil || len(left) < 4 || len(left) == len(all) {
		t.Fatalf("%d of %d events, %v", len(left), len(all), err)
	}
	gap, left := left[0], left[1:]
	if gap.Kind != graph.EventsDropped || gap.From != 2 || gap.To != left[0].Seq-1 || gap.Seq != gap.To {
		t.Errorf("the gap is %+v", gap)
	}
	sameEvents(t, "what is left", all[len(all)-len(left):], left)
	_, err = watch(t, app, th, graph.WatchOptions{Run: first[0].Run})
	wantErr(t, err, checkpoint.ErrPruned)
}

// A branch that is not active can be watched to where it was left. // E42 // E47
func TestWatchADormantBranch(t *testing.T) {
	t.Parallel()
	app := compile(t, storied(new(bool)), graph.Options{Store: new(checkpoint.Memory)})
	th := graph.ID("t")
	tellStory(t, app, th, "ask", graph.ErrInterrupted)
	main, err1 := watch(t, app, th, graph.WatchOptions{Kinds: logged})
	to, err2 := app.Fork(t.Context(), th, 0, graph.ForkOptions{})
	if err2 != nil || err1 != nil {
		t.Fatal(err1, err2)
	}
	_, err := app.Resume(t.Context(), to)
	fork, err1 := watch(t, app, to, graph.WatchOptions{Kinds: logged})
	for _, q := range paused(t, err).Questions {
		_, err = app.Resume(t.Context(), to, graph.Answer(q, "a"))
	}
	if err != nil || err1 != nil {
		t.Fatal(err, err1)
	}
	got, err := watch(t, app, graph.Thread{Tenant: th.Tenant, ID: th.ID, Branch: graph.Main}, graph.WatchOptions{Kinds: logged})
	if err != nil {
		t.Fatal(err)
	}
	for i := range main {
		main[i].Thread = graph.Thread{Tenant: th.Tenant, ID: th.ID, Branch: graph.Main}
	}
	sameEvents(t, "the first branch", main, got)
	all, err := watch(t, app, to, graph.WatchOptions{Kinds: logged})
	if err != nil || len(all) < len(fork) || all[len(all)-1].Kind != graph.RunCompleted {
		t.Fatalf("%v, %v", kindsOf(all), err)
	}
	sameEvents(t, "the fork, where it waited", fork, all[:len(fork)])
	behind, err := watch(t, app, to, graph.WatchOptions{After: fork[len(fork)-1].Seq, Kinds: logged})
	if err != nil {
		t.Fatal(err)
	}
	sameEvents(t, "the fork, resumed", all[len(all)-len(behind):], behind)
}

// A store that is away for a while costs a reader nothing but time. // E47
func TestWatchOutlivesTheStore(t *testing.T) {
	t.Parallel()
	mem := new(checkpoint.Memory)
	app := compile(t, counter(200, 0), graph.Options{Store: mem})
	th := graph.ID("t")
	if _, err := app.Run(t.Context(), th, nil); err != nil {
		t.Fatal(err)
	}
	want, err := watch(t, app, th, graph.WatchOptions{Kinds: logged})
	if err != nil || len(want) != 1+3*200+1 {
		t.Fatal(len(want), err)
	}
	store := faultstore.New(mem)
	for nth := 1; nth < 20; nth += 3 {
		store.At("", nth, faultstore.FailBefore)
	}
	got, err := watch(t, compile(t, counter(200, 0), graph.Options{Store: store}), th, graph.WatchOptions{Kinds: logged})
	if err != nil {
		t.Fatal(err)
	}
	sameEvents(t, "with faults", want, got)
	if store.Calls("") < 20 {
		t.Fatal("the faults were not reached")
	}
}

// Through a View a state comes as JSON in the event, as from State. // E58
func TestWatchOfAView(t *testing.T) {
	t.Parallel()
	app := compile(t, counter(2, 0), graph.Options{Store: new(checkpoint.Memory)})
	th := graph.ID("t")
	if _, err := app.Run(t.Context(), th, nil); err != nil {
		t.Fatal(err)
	}
	st, err := app.View().State(t.Context(), th)
	if err != nil {
		t.Fatal(err)
	}
	var last json.RawMessage
	for e, err := range app.View().Watch(t.Context(), th, graph.WatchOptions{Kinds: []graph.EventKind{graph.StateValues}}) {
		if err != nil {
			t.Fatal(err)
		}
		last = e.Data
	}
	if string(last) != string(st.JSON) {
		t.Errorf("the last state is %s, want %s", last, st.JSON)
	}
}

// While nothing comes, a reader asks the store at most a few times in WatchOptions.Every: what it costs does not grow with the
// time that it waits. The clock is moved by hand. // E47
func TestWatchLooksLessOften(t *testing.T) {
	t.Parallel()
	mem := new(checkpoint.Memory)
	b := newStuck()
	app := compile(t, window(b), graph.Options{Store: mem})
	th := graph.ID("t")
	run := going(func() (*notes, error) { return app.Run(t.Context(), th, give("stuck")) })
	<-b.entered
	store := faultstore.New(mem)
	var slept lookClock
	slept.left = 1000
	other := compile(t, window(nil), graph.Options{Store: store, Clock: &slept})
	ctx, stop := context.WithCancel(t.Context())
	slept.stop = stop
	for range other.Watch(ctx, th, graph.WatchOptions{Every: time.Second}) {
	}
	if slept.sum < 900*time.Second || store.Calls("") > 3100 {
		t.Errorf("%d calls in %s", store.Calls(""), slept.sum)
	}
	close(b.release)
	if err := (<-run).err; err != nil {
		t.Fatal(err)
	}
}

// A lookClock lets each sleep pass at once and adds them up; after so many it stops the reader.
type lookClock struct {
	left int
	sum  time.Duration
	stop func()
}

func (c *lookClock) Now() time.Time { return time.Time{} }

func (c *lookClock) After(d time.Duration) (<-chan time.Time, func()) {
	if c.left--; c.left == 0 {
		c.stop()
	}
	c.sum += d
	ch := make(chan time.Time, 1)
	ch <- time.Time{}
	return ch, func() {}
}
