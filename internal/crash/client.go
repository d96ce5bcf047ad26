package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

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
	if _, err := app.Recover(ctx); err != nil {
		return nil, err
	}
	if err := atRest(ctx, store); err != nil {
		return nil, err
	}
	for n := range s.Runs {
		request := fmt.Sprintf("request %d", n)
		_, err := app.With(graph.RunOptions{Request: request}).Run(ctx, Thread, func(v *State) { v.Trail.Append(request) })
		if err != nil && !expected(err) {
			return nil, fmt.Errorf("%s: %w", request, err)
		}
		if err := finish(ctx, app, answer); err != nil {
			return nil, fmt.Errorf("after %s: %w", request, err)
		}
	}
	out, err := Look(ctx, app)
	if err == nil && string(out.State) != s.Ends {
		err = fmt.Errorf("the state in the end is %s, not %s", out.State, s.Ends)
	}
	return out, err
}

// atRest fails if Recover has left something over: what a dead process held must be done, or wait for somebody else.
func atRest(ctx context.Context, store checkpoint.Store) error {
	l, err := store.Load(ctx, checkpoint.Key{Tenant: Thread.Tenant, Thread: Thread.ID}, checkpoint.Active, "")
	if err != nil {
		return err
	}
	if l.Head.Held() || l.Head.Status == checkpoint.Running {
		return fmt.Errorf("after Recover the thread is %s, held: %t", l.Head.Status, l.Head.Held())
	}
	return nil
}

// expected reports whether the error of a call leaves a thread that can be continued at once.
func expected(err error) bool {
	return errors.Is(err, graph.ErrDuplicate) || errors.Is(err, graph.ErrInterrupted) || errors.Is(err, errFlaky)
}

// finish continues the latest run until it has completed.
func finish(ctx context.Context, app *graph.App[State], answer bool) error {
	for range 10 {
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
		if _, err := app.Resume(ctx, Thread, cmds...); err != nil && !expected(err) {
			return fmt.Errorf("resume from %s: %w", st.Status, err)
		}
	}
	return errors.New("the run does not come to an end")
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
