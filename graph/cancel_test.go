package graph_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
)

// stuck is a node that says when it runs and then waits for its context or for release.
type stuck struct {
	entered chan struct{}
	release chan struct{}
}

func newStuck() *stuck { return &stuck{make(chan struct{}, 64), make(chan struct{})} }

func (b *stuck) node(ctx context.Context, s *notes) error {
	b.entered <- struct{}{}
	select {
	case <-b.release:
		s.Log.Append("released")
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// end is what a run came to.
type end struct {
	out *notes
	err error
}

func going(run func() (*notes, error)) <-chan end {
	c := make(chan end, 1)
	go func() {
		out, err := run()
		c <- end{out, err}
	}()
	return c
}

// When the caller's context ends the run stops, what finished is kept, and Resume goes on. // E26
func TestContextEnds(t *testing.T) {
	t.Parallel()
	mine := errors.New("mine")
	b := newStuck()
	var quick atomic.Int32
	app := compile(t, fan(map[string]func(context.Context, *notes) error{
		"quick": func(ctx context.Context, s *notes) error { quick.Add(1); s.Log.Append("quick"); return nil },
		"slow":  b.node,
	}), graph.Options{Store: new(checkpoint.Memory), OnEvent: nil})
	th := graph.ID("t")
	ctx, cancel := context.WithCancelCause(t.Context())
	run := going(func() (*notes, error) { return app.Run(ctx, th, nil) })
	<-b.entered
	cancel(mine)
	if e := <-run; !errors.Is(e.err, mine) {
		t.Fatalf("got %v, want the cause", e.err)
	}
	st, err := app.State(t.Context(), th)
	if err != nil || st.Status != checkpoint.Interrupted || st.Reason != "stopped" {
		t.Fatalf("%v %+v", err, st)
	}
	close(b.release)
	out, err := app.Resume(t.Context(), th)
	if err != nil || !slices.Equal(out.Log.Slice(), []string{"quick", "released", "done"}) {
		t.Fatalf("%v %v", err, out.Log.Slice())
	}
	if n := quick.Load(); n > 2 { // it may have been stopped before it started
		t.Errorf("quick ran %d times", n)
	}
}

// A cancel settles a running thread: finished tasks are committed, the rest is abandoned by name, and the next input is
// taken at once. It works from another App on the same store, too. // E26 // report 2 // report 5
func TestCancelRunning(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"same app", "other app"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			store := new(checkpoint.Memory)
			b := newStuck()
			told := make(chan struct{}, 8)
			g := fan(map[string]func(context.Context, *notes) error{
				"quick": func(ctx context.Context, s *notes) error { s.Log.Append("quick"); return nil },
				"slow":  b.node,
			})
			app := compile(t, g, graph.Options{Store: store, OnEvent: func(e graph.Event) {
				if e.Kind == graph.TaskCompleted {
					told <- struct{}{}
				}
			}})
			canceller := app
			if where == "other app" {
				canceller = compile(t, g, graph.Options{Store: store})
			}
			th := graph.ID("t")
			run := going(func() (*notes, error) { return app.Run(t.Context(), th, nil) })
			<-b.entered
			<-told
			if err := canceller.With(graph.RunOptions{By: "boss"}).Cancel(t.Context(), th); err != nil {
				t.Fatal(err)
			}
			e := <-run
			wantErr(t, e.err, graph.ErrCancelled)
			if !slices.Equal(e.out.Log.Slice(), []string{"quick"}) {
				t.Fatalf("finished work: %v", e.out.Log.Slice())
			}
			st, err := app.State(t.Context(), th)
			if err != nil || st.Status != checkpoint.Cancelled || len(st.Next) != 0 || !slices.Equal(st.State.Log.Slice(), []string{"quick"}) {
				t.Fatalf("%v %+v", err, st)
			}
			for e, err := range app.History(t.Context(), th) {
				if err != nil || e.Kind != checkpoint.KindSettle || !slices.Equal(e.Tasks, []string{"quick"}) || !slices.Equal(e.Gone, []string{"slow"}) {
					t.Fatalf("%v %+v", err, e)
				}
				break
			}
			wantErr(t, app.Cancel(t.Context(), th), graph.ErrNothingToDo)
			close(b.release)
			if out, err := app.Run(t.Context(), th, nil); err != nil || !slices.Equal(out.Log.Slice(), []string{"quick", "quick", "released", "done"}) {
				t.Fatalf("%v %v", err, out.Log.Slice())
			}
		})
	}
}

// A cancel of a waiting thread closes its questions; an answer to them comes too late. // E26 // report 5
func TestCancelWaiting(t *testing.T) {
	t.Parallel()
	app := compile(t, fan(map[string]func(context.Context, *notes) error{
		"a": asking("a"), "b": func(ctx context.Context, s *notes) error { s.Log.Append("b"); return nil },
	}), graph.Options{Store: new(checkpoint.Memory)})
	th := graph.ID("t")
	_, err := app.Run(t.Context(), th, nil)
	q := paused(t, err).Questions[0]
	if err := app.Cancel(t.Context(), th); err != nil {
		t.Fatal(err)
	}
	_, err = app.Resume(t.Context(), th, graph.Answer(q, "late"))
	wantErr(t, err, graph.ErrNotPending)
	_, err = app.Resume(t.Context(), th)
	wantErr(t, err, graph.ErrNothingToDo)
	st, err := app.State(t.Context(), th)
	if err != nil || len(st.Questions) != 0 || !slices.Equal(st.State.Log.Slice(), []string{"b"}) {
		t.Fatalf("%v %+v", err, st.Status)
	}
	_, err = app.Run(t.Context(), th, nil)
	if again := paused(t, err).Questions[0]; again.ID == q.ID {
		t.Fatal("the new run asks under the old id")
	}
	wantErr(t, app.Cancel(t.Context(), graph.ID("nobody")), graph.ErrNoThread)
}

// A cancel that comes between the holder's look and its release is carried out all the same. The release is seen by the
// canceller, or the cancel by the holder. // E26 // E38
func TestCancelPostedAfterTheRelease(t *testing.T) {
	t.Parallel()
	mem := new(checkpoint.Memory)
	slow := faultstore.New(mem) // the canceller's way to the store
	reached, release := slow.Block("Post", 1)
	b := newStuck()
	g := fan(map[string]func(context.Context, *notes) error{"a": func(ctx context.Context, s *notes) error {
		if err := b.node(ctx, s); err != nil {
			return err
		}
		return asking("a")(ctx, s)
	}})
	app, other := compile(t, g, graph.Options{Store: mem}), compile(t, g, graph.Options{Store: slow})
	th := graph.ID("t")
	run := going(func() (*notes, error) { return app.Run(t.Context(), th, nil) })
	<-b.entered
	cancelled := make(chan error, 1)
	go func() { cancelled <- other.Cancel(t.Context(), th) }()
	<-reached // it has seen that somebody holds the thread
	close(b.release)
	paused(t, (<-run).err) // which is not so any more
	release()
	if err := <-cancelled; err != nil {
		t.Fatal(err)
	}
	st, err := app.State(t.Context(), th)
	if err != nil || st.Status != checkpoint.Cancelled || len(st.Questions) != 0 {
		t.Fatalf("%v: Cancel said yes, the thread is %v with %d open questions", err, st.Status, len(st.Questions))
	}
	_, err = app.Run(t.Context(), th, nil) // the old command must not hit the new run
	paused(t, err)
}

// A cancel that nobody has looked at when its poster died is carried out by whoever takes the thread next. // E26
func TestCancelLeftInTheInbox(t *testing.T) {
	t.Parallel()
	mem := new(checkpoint.Memory)
	app := compile(t, fan(map[string]func(context.Context, *notes) error{"a": asking("a")}), graph.Options{Store: mem})
	th := graph.ID("t")
	_, err := app.Run(t.Context(), th, nil)
	in := paused(t, err)
	key := checkpoint.Key{Tenant: th.Tenant, Thread: th.ID}
	if _, err := mem.Post(t.Context(), checkpoint.Command{Key: key, Kind: checkpoint.CommandCancel, Request: "c", Body: []byte(`{"run":"` + in.Run + `"}`)}); err != nil {
		t.Fatal(err)
	}
	_, err = app.Resume(t.Context(), th, graph.Answer(in.Questions[0], "x"))
	wantErr(t, err, graph.ErrCancelled)
	if left, err := mem.Inbox(t.Context(), key); err != nil || len(left) != 0 {
		t.Fatalf("%v: the inbox still holds %d commands", err, len(left))
	}
}

// New input on a thread with unfinished business is refused, naming what it waits for. // E37 // report 52 // report 140 // report 144
func TestNewInputIsRefused(t *testing.T) {
	t.Parallel()
	b := newStuck()
	app := compile(t, fan(map[string]func(context.Context, *notes) error{"a": b.node, "b": asking("b")}), graph.Options{Store: new(checkpoint.Memory)})
	th := graph.ID("t")
	run := going(func() (*notes, error) { return app.Run(t.Context(), th, nil) })
	<-b.entered
	for name, again := range map[string]func() error{
		"Run":    func() error { _, err := app.Run(t.Context(), th, nil); return err },
		"Resume": func() error { _, err := app.Resume(t.Context(), th); return err },
		"Stream": func() error {
			for _, err := range app.Stream(t.Context(), th, nil) {
				return err
			}
			return nil
		},
		"View.Run": func() error { _, err := app.View().Run(t.Context(), th, nil); return err },
	} {
		err := again()
		busy, ok := errors.AsType[*graph.BusyError](err)
		if !ok || busy.Status != checkpoint.Running || busy.Holder.PID == 0 {
			t.Errorf("%s beside a run: %v", name, err)
		}
	}
	close(b.release)
	in := paused(t, (<-run).err)
	_, err := app.Run(t.Context(), th, nil)
	busy, ok := errors.AsType[*graph.BusyError](err)
	if !ok || busy.Status != checkpoint.Interrupted || len(busy.Questions) != 1 || busy.Questions[0].ID != in.Questions[0].ID {
		t.Fatalf("on a waiting thread: %v", err)
	}
	st, err := app.State(t.Context(), th)
	if err != nil || len(st.Questions) != 1 || st.Run != in.Run {
		t.Fatalf("%v: refused input changed the thread: %+v", err, st.Status)
	}
}

// Input after a failure first settles: finished siblings are folded, the failed task is abandoned by name. // E37
func TestInputAfterFailureSettles(t *testing.T) {
	t.Parallel()
	var fail atomic.Bool
	fail.Store(true)
	app := compile(t, fan(map[string]func(context.Context, *notes) error{
		"bad": func(ctx context.Context, s *notes) error {
			if fail.Load() {
				return errors.New("no")
			}
			return nil
		},
		"good": func(ctx context.Context, s *notes) error { s.Log.Append("good"); return nil },
	}), graph.Options{Store: new(checkpoint.Memory)})
	th := graph.ID("t")
	if _, err := app.Run(t.Context(), th, func(s *notes) { s.Log.Append("one") }); err == nil {
		t.Fatal("no error")
	}
	fail.Store(false)
	out, err := app.Run(t.Context(), th, func(s *notes) { s.Log.Append("two") })
	if err != nil || !slices.Equal(out.Log.Slice(), []string{"one", "good", "two", "good", "done"}) {
		t.Fatalf("%v %v", err, out.Log.Slice())
	}
	var kinds []string
	for e, err := range app.History(t.Context(), th) {
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, string(rune(e.Kind)))
		if e.Kind == checkpoint.KindSettle && (!slices.Equal(e.Gone, []string{"bad"}) || !slices.Equal(e.Tasks, []string{"good"})) {
			t.Errorf("settle: %+v", e)
		}
	}
	if !slices.Equal(kinds, []string{"E", "E", "I", "X", "I"}) {
		t.Errorf("history: %v", kinds)
	}
}

// A node that ignores its context is left behind after the grace; the run ends all the same. // E26
func TestCancelLeavesADeafNode(t *testing.T) {
	t.Parallel()
	free := make(chan struct{})
	entered := make(chan struct{})
	late := make(chan error, 1)
	app := compile(t, fan(map[string]func(context.Context, *notes) error{"deaf": func(ctx context.Context, s *notes) error {
		close(entered)
		<-free
		_, err := graph.Once(ctx, "late", func(context.Context, string) (int, error) { return 1, nil })
		late <- err
		return err
	}}), graph.Options{Store: new(checkpoint.Memory), Grace: time.Millisecond})
	th := graph.ID("t")
	run := going(func() (*notes, error) { return app.Run(t.Context(), th, nil) })
	<-entered
	if err := app.Cancel(t.Context(), th); err != nil {
		t.Fatal(err)
	}
	wantErr(t, (<-run).err, graph.ErrCancelled)
	close(free)
	wantErr(t, <-late, graph.ErrStale)
	if err := app.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}
