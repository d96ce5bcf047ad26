package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// Thread is the thread of every scene, so that all ledgers have the same keys.
var Thread = graph.ID("thread")

// ErrWaiting is returned by Play when a question is open and no answer was given along.
var ErrWaiting = errors.New("a question waits")

// An Outcome is what a finished thread looks like. Two are equal if their JSON is.
type Outcome struct {
	State   json.RawMessage `json:"state"`
	Entries []string        `json:"entries"`
}

// Play brings the scene's thread to its end from wherever it stands: it is what a program does that knows nothing of
// crashes, and a program that is started after one.
func (s Scene) Play(ctx context.Context, app *graph.App[State], store checkpoint.Store, answer bool) (*Outcome, error) {
	continued, err := app.Recover(ctx)
	if err != nil {
		return nil, err
	}
	if err := atRest(ctx, store); err != nil {
		return nil, fmt.Errorf("%w; Recover continued %v", err, continued)
	}
	for n := range s.Runs {
		request := fmt.Sprintf("request %d", n)
		_, err := app.With(graph.RunOptions{Request: request, OnBusy: graph.Enqueue}).Run(ctx, Thread, func(v *State) { v.Trail.Append(request) })
		if err != nil && !expected(err) {
			return nil, fmt.Errorf("%s: %w", request, err)
		}
		if errors.Is(err, graph.ErrInterrupted) && n+1 < s.Runs || errors.Is(err, graph.ErrQueued) && n+1 < s.Runs {
			continue // the others are queued behind it
		}
		if err := finish(ctx, app, answer); err != nil {
			return nil, fmt.Errorf("after %s: %w", request, err)
		}
	}
	if err := empty(ctx, app, store); err != nil {
		return nil, err
	}
	out, err := Look(ctx, app)
	if err == nil && string(out.State) != s.Ends {
		err = fmt.Errorf("the state in the end is %s, not %s", out.State, s.Ends)
	}
	return out, err
}

// atRest fails if Recover has left something over: what a dead process held must be done, or wait for somebody else. What this
// very App still runs, because it was queued, comes to its end by itself.
func atRest(ctx context.Context, store checkpoint.Store) error {
	for end := time.Now().Add(10 * time.Second); ; <-time.After(time.Millisecond) {
		l, err := store.Load(ctx, checkpoint.Key{Tenant: Thread.Tenant, Thread: Thread.ID}, checkpoint.Active, "")
		switch {
		case err != nil:
			return err
		case !l.Head.Held() && l.Head.Status != checkpoint.Running:
			return nil
		case time.Now().After(end) || len(l.Inbox) == 0 && l.Head.Holder.PID != os.Getpid():
			return fmt.Errorf("after Recover the thread is %s, held: %t", l.Head.Status, l.Head.Held())
		}
	}
}

// expected reports whether the error of a call leaves a thread that can be continued at once.
func expected(err error) bool {
	return errors.Is(err, graph.ErrDuplicate) || errors.Is(err, graph.ErrInterrupted) || errors.Is(err, graph.ErrQueued) || errors.Is(err, errFlaky)
}

// finish continues the latest run until it has completed.
func finish(ctx context.Context, app *graph.App[State], answer bool) error {
	for range 100 {
		st, err := app.State(ctx, Thread)
		if err != nil {
			return err
		}
		var cmds []graph.Command
		switch {
		case st.Status == checkpoint.Completed:
			return nil
		case len(st.Questions) > 0 && !answer:
			return ErrWaiting
		case len(st.Questions) > 0:
			cmds = append(cmds, graph.Answer(st.Questions[0], true))
		}
		_, err = app.Resume(ctx, Thread, cmds...)
		switch {
		case errors.Is(err, graph.ErrBusy), errors.Is(err, graph.ErrNothingToDo):
			<-time.After(10 * time.Millisecond) // the App itself has gone on with what was queued
		case err != nil && !expected(err):
			return fmt.Errorf("resume from %s: %w", st.Status, err)
		}
	}
	return errors.New("the run does not come to an end")
}

// empty waits until what was queued has run. The App does so by itself; where a fault has kept it from that, Resume does.
func empty(ctx context.Context, app *graph.App[State], store checkpoint.Store) error {
	held := 0
	for end := time.Now().Add(time.Minute); ; {
		l, err := store.Load(ctx, checkpoint.Key{Tenant: Thread.Tenant, Thread: Thread.ID}, checkpoint.Active, "")
		if err != nil {
			return err
		}
		switch {
		case l.Head.Status == checkpoint.Completed && !l.Head.Held() && len(l.Inbox) == 0:
			return nil
		case time.Now().After(end):
			return fmt.Errorf("%d commands are left, the thread is %s", len(l.Inbox), l.Head.Status)
		case l.Head.Held() && held < 200: // by whoever goes on; a holder that gave up must be replaced in the end
			held++
			<-time.After(time.Millisecond)
			continue
		}
		held = 0
		// A command whose reply was lost may be posted again when its run has started already. The repeat starts nothing and stays
		// in the inbox until the thread's next write; that all inputs have run, once each, is what the outcome tells.
		_, err = app.Resume(ctx, Thread)
		switch {
		case errors.Is(err, graph.ErrNothingToDo) && l.Head.Status == checkpoint.Completed && !l.Head.Held():
			return nil
		case err != nil && !errors.Is(err, graph.ErrBusy) && !errors.Is(err, graph.ErrNothingToDo):
			return fmt.Errorf("what is queued: %w", err)
		}
	}
}

// Look reads the outcome.
func Look(ctx context.Context, app *graph.App[State]) (*Outcome, error) {
	st, err := app.View().State(ctx, Thread)
	if err != nil {
		return nil, err
	}
	out := &Outcome{State: st.JSON}
	for e, err := range app.History(ctx, Thread) {
		if err != nil {
			return nil, err
		}
		out.Entries = append(out.Entries, fmt.Sprintf("%c step %d ran %q next %q", e.Kind, e.Step, e.Tasks, e.Next))
	}
	return out, nil
}
