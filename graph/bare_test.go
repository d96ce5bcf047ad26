package graph_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/state"
)

// bare is a View without the program, closed when the test ends.
func bare(t testing.TB, store checkpoint.Store) *graph.View {
	t.Helper()
	v := graph.Bare(store)
	t.Cleanup(func() {
		if err := v.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return v
}

// What runs nodes needs the program, and says so before anything changes. // E58
func TestBareRunsNothing(t *testing.T) {
	t.Parallel()
	store, th := &checkpoint.Memory{}, graph.ID("t")
	app := (&desk{}).app(t, store)
	_, err := app.Run(t.Context(), th, amount("1"))
	q := paused(t, err).Questions[0]
	before := recordsOf(t, store, th, 0)
	v := bare(t, store)
	if !v.Bare() || app.View().Bare() {
		t.Error("a View does not know whether it has a program")
	}
	_, err = v.Run(t.Context(), graph.ID("new"), json.RawMessage(`{}`))
	wantErr(t, err, graph.ErrNoProgram)
	_, err = v.Resume(t.Context(), th, graph.Answer(q, true))
	wantErr(t, err, graph.ErrNoProgram)
	for _, err := range v.Stream(t.Context(), graph.ID("new"), nil) {
		wantErr(t, err, graph.ErrNoProgram)
	}
	_, err = v.Recover(t.Context())
	wantErr(t, err, graph.ErrNoProgram)
	_, err = v.Edit(t.Context(), th, -1, "", nil)
	wantErr(t, err, graph.ErrNoProgram) // it must say where to go
	wantErr(t, v.Drain(t.Context(), th, "why"), graph.ErrNothingToDo)
	if got := recordsOf(t, store, th, 0); !slices.Equal(got, before) {
		t.Errorf("records %q", got)
	}
	if _, err := graph.Bare(nil).State(t.Context(), th); !errors.Is(err, graph.ErrNoStore) {
		t.Error(err)
	}
}

// Every entry reads the same with and without the program, and so does the history. // E58 E40
func TestBareReads(t *testing.T) {
	t.Parallel()
	store, th := &checkpoint.Memory{}, graph.ID("t")
	app := (&desk{}).app(t, store)
	_, err := app.Run(t.Context(), th, amount("1"))
	if _, err := app.Resume(t.Context(), th, graph.Answer(paused(t, err).Questions[0], true)); err != nil {
		t.Fatal(err)
	}
	v := bare(t, store)
	var without []graph.EntryInfo
	for e, err := range v.History(t.Context(), th) {
		if err != nil {
			t.Fatal(err)
		}
		without = append(without, e)
		want, err := app.View().StateAt(t.Context(), th, e.Pos)
		if err != nil {
			t.Fatal(err)
		}
		got, err := v.StateAt(t.Context(), th, e.Pos)
		if err != nil || fmt.Sprint(*got) != fmt.Sprint(*want) {
			t.Errorf("entry %d: %+v, %v; with the program %+v", e.Pos, got, err, want)
		}
	}
	slices.Reverse(without)
	if with := entries(t, app, th); fmt.Sprint(without) != fmt.Sprint(with) {
		t.Errorf("history %v, with the program %v", without, with)
	}
}

// A person answers without the program: the question is found over all threads, the answer is checked, bound to what was shown,
// recorded with the name; the program goes on with it. // E58 E31 E32
func TestBareAnswers(t *testing.T) {
	t.Parallel()
	store := &checkpoint.Memory{}
	app := (&desk{}).app(t, store)
	for _, id := range []string{"a", "b"} {
		_, err := app.Run(t.Context(), graph.ID(id), amount(id))
		paused(t, err)
	}
	v := bare(t, store)
	page, err := v.Questions(t.Context(), checkpoint.QuestionFilter{Limit: 1})
	if err != nil || len(page) != 1 || page[0].Text() != "pay a?" || page[0].Thread != graph.ID("a") {
		t.Fatalf("%+v, %v", page, err)
	}
	if page, err = v.Questions(t.Context(), checkpoint.QuestionFilter{After: page[0].Cursor()}); err != nil || len(page) != 1 || page[0].Thread != graph.ID("b") {
		t.Fatalf("%+v, %v", page, err)
	}
	q := page[0]
	other := q.Question
	other.Shown = []byte("something else")
	for _, c := range []struct {
		cmd  graph.Command
		want error
	}{
		{graph.AnswerShown(q.Question, json.RawMessage(`"yes"`)), graph.ErrBadAnswer},
		{graph.AnswerShown(other, json.RawMessage(`true`)), checkpoint.ErrChanged},
		{graph.AnswerJSON("nobody", json.RawMessage(`true`)), graph.ErrNotPending},
	} {
		wantErr(t, v.Answer(t.Context(), q.Thread, c.cmd.By("ann")), c.want)
	}
	for _, c := range []graph.Command{graph.Goto(graph.To("close")), graph.AnswerShown(q.Question, json.RawMessage(`tru`))} {
		if v.Answer(t.Context(), q.Thread, c) == nil {
			t.Error("that was no answer")
		}
	}
	wantErr(t, v.Answer(t.Context(), graph.ID("none"), graph.AnswerOnly(true)), graph.ErrNoThread)
	if err := v.With(graph.RunOptions{By: "ann"}).Answer(t.Context(), q.Thread, graph.AnswerShown(q.Question, json.RawMessage(`true`))); err != nil {
		t.Fatal(err)
	}
	wantErr(t, v.Answer(t.Context(), q.Thread, graph.AnswerShown(q.Question, json.RawMessage(`false`)).By("bob")), graph.ErrNotPending)
	answered, err := v.Questions(t.Context(), checkpoint.QuestionFilter{State: checkpoint.Answered})
	if err != nil || len(answered) != 1 || answered[0].AnsweredBy != "ann" || string(answered[0].Answer) != "true" || answered[0].AnsweredAt.IsZero() {
		t.Fatalf("%+v, %v", answered, err)
	}
	done, err := app.Recover(t.Context())
	if err != nil || len(done) != 1 || done[0].Err != nil {
		t.Fatalf("%+v, %v", done, err)
	}
	if s := stateOf(t, app, q.Thread, -1); s.Status != checkpoint.Completed || !slices.Contains(s.State.Log.Slice(), "paid receipt 1") {
		t.Errorf("%s %q", s.Status, s.State.Log.Slice())
	}
}

// An old entry is forked and edited without the program, with the next nodes named; the program resumes it to the right state,
// and the first branch stays as it was. // E58 E41 E42
func TestBareForksAndEdits(t *testing.T) {
	t.Parallel()
	store, th := &checkpoint.Memory{}, graph.ID("t")
	app := (&desk{}).app(t, store)
	_, err := app.Run(t.Context(), th, amount("1"))
	if _, err := app.Resume(t.Context(), th, graph.Answer(paused(t, err).Questions[0], false)); err != nil {
		t.Fatal(err)
	}
	before := recordsOf(t, store, th, 0)
	v := bare(t, store)
	to, err := v.Edit(t.Context(), th, entries(t, app, th)[0].Pos, "draft", json.RawMessage(`{"value":"2"}`),
		graph.EditOptions{Goto: graph.To("pay", graph.End)})
	if err != nil || to.Branch != "edit-1" {
		t.Fatalf("%v, %v", to, err)
	}
	if got := recordsOf(t, store, th, 0); !slices.Equal(got, before) {
		t.Error("the old branch has changed")
	}
	q := paused(t, resumeErr(app.Resume(t.Context(), to))).Questions[0]
	if q.Text() != "pay 2?" {
		t.Errorf("asked %q", q.Text())
	}
	out, err := app.Resume(t.Context(), to, graph.Answer(q, true))
	if err != nil || out.Value.Get() != "2" || !slices.Equal(out.Log.Slice(), []string{"paid receipt 1"}) || out.Total.Get() != 1 {
		t.Errorf("%v: %q %q", err, out.Value.Get(), out.Log.Slice())
	}
	if err := v.Activate(t.Context(), graph.Thread{Tenant: th.Tenant, ID: th.ID, Branch: graph.Main}); err != nil {
		t.Fatal(err)
	}
	if s := stateOf(t, app, th, -1); s.Status != checkpoint.Completed || s.State.Total.Get() != 1 {
		t.Errorf("the first branch: %s, total %d", s.Status, s.State.Total.Get())
	}
	fork, err := v.Fork(t.Context(), th, entries(t, app, th)[1].Pos, graph.ForkOptions{Name: "again", Effects: graph.Rerun})
	if err != nil || fork.Branch != "again" {
		t.Fatalf("%v, %v", fork, err)
	}
	if qs := paused(t, resumeErr(app.Resume(t.Context(), fork))).Questions; len(qs) != 1 {
		t.Errorf("%d questions on the fork", len(qs))
	}
}

func resumeErr(_ *notes, err error) error { return err }

// As an open task an edit without the program is its result with the targets that were named: its question is closed, joins do
// not count it, the other task stays as it is. // E58 E41
func TestBareEditAsAnOpenTask(t *testing.T) {
	t.Parallel()
	var effects []string
	store, th := &checkpoint.Memory{}, graph.ID("t")
	app := twins(t, store, &effects)
	_, err := app.Run(t.Context(), th, nil)
	qs := paused(t, err).Questions
	v := bare(t, store)
	for _, c := range []struct {
		as   string
		to   graph.Next
		want string
	}{
		{"left", graph.To("not\nthis"), "cannot go to"}, {"left", graph.To(graph.Start), "cannot go to"}, {"left", graph.Next{}, "names the next nodes"},
	} {
		if _, err := v.Edit(t.Context(), th, -1, c.as, nil, graph.EditOptions{Goto: c.to}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c, err)
		}
	}
	if _, err := v.Edit(t.Context(), th, -1, "left", json.RawMessage(`{"said":{}}`), graph.EditOptions{Goto: graph.To("aside")}); err == nil {
		t.Error("the kind of a field that was never written was guessed")
	}
	if _, err := v.Edit(t.Context(), th, -1, "left", nil, graph.EditOptions{Goto: graph.To("aside")}); err != nil {
		t.Fatal(err)
	}
	s := stateOf(t, app, th, -1)
	if len(s.Questions) != 1 || s.Questions[0].ID != qs[1].ID || !s.Next[0].Done || s.Status != checkpoint.Interrupted {
		t.Fatalf("after the edit: %+v", s.ThreadInfo)
	}
	out, err := app.Resume(t.Context(), th, graph.Answer(qs[1], "r"))
	if err != nil || !slices.Equal(out.Log.Slice(), []string{"aside"}) || len(effects) != 2 {
		t.Fatalf("%v %q, effects %q", err, out.Log.Slice(), effects)
	}
	// Half of the join is there now; an edit carries it, and the program completes it.
	if _, err := v.Edit(t.Context(), th, -1, "", json.RawMessage(`{"log":["more"]}`), graph.EditOptions{Goto: graph.To("left")}); err != nil {
		t.Fatal(err)
	}
	if s := stateOf(t, app, th, -1); len(s.Joins) != 1 || !slices.Equal(s.Joins[0].Have, []string{"right"}) {
		t.Fatalf("joins %+v", s.Joins)
	}
	q := paused(t, resumeErr(app.Resume(t.Context(), th))).Questions[0]
	if out, err = app.Resume(t.Context(), th, graph.Answer(q, "l")); err != nil || !slices.Equal(out.Log.Slice(), []string{"aside", "more", "end", "aside"}) {
		t.Errorf("%v %q", err, out.Log.Slice())
	}
}

type longest struct{}

func (longest) Reduce(acc, w string) (string, error) {
	return map[bool]string{true: w, false: acc}[len(w) > len(acc)], nil
}

type reduced struct {
	Log  state.List[string]          `json:"log"`
	Long state.Fold[string, longest] `json:"long"`
}

// Cancel without the program commits what has finished and closes the rest; what only a reducer of the program can fold is left to
// the program, and nothing of it is lost. // E58 E26
func TestBareCancels(t *testing.T) {
	t.Parallel()
	for _, fold := range []bool{false, true} {
		t.Run(fmt.Sprint("fold ", fold), func(t *testing.T) {
			t.Parallel()
			store, th := &checkpoint.Memory{}, graph.ID("t")
			g := graph.New[reduced]("reduced")
			g.Node("does", func(_ context.Context, s *reduced) error {
				s.Log.Append("done")
				if fold {
					s.Long.Put("a word")
				}
				return nil
			})
			g.Node("waits", func(ctx context.Context, s *reduced) error {
				_, err := graph.Ask[bool](ctx, "ok", "?")
				return err
			})
			g.Edge(graph.Start, "does")
			g.Edge(graph.Start, "waits")
			app := compile(t, g, graph.Options{Store: store})
			_, err := app.Run(t.Context(), th, nil)
			paused(t, err)
			v := bare(t, store)
			if err := v.With(graph.RunOptions{By: "ann"}).Cancel(t.Context(), th); err != nil {
				t.Fatal(err)
			}
			if fold {
				if s := stateOf(t, app, th, -1); s.Status != checkpoint.Interrupted || len(s.Questions) != 1 {
					t.Fatalf("before the program: %+v", s.ThreadInfo)
				}
				if done, err := app.Recover(t.Context()); err != nil || len(done) != 1 {
					t.Fatalf("%+v, %v", done, err)
				}
			}
			s := stateOf(t, app, th, -1)
			last := entries(t, app, th)
			if s.Status != checkpoint.Cancelled || !slices.Equal(s.State.Log.Slice(), []string{"done"}) || s.State.Long.Get() != map[bool]string{true: "a word"}[fold] {
				t.Errorf("%s %q %q", s.Status, s.State.Log.Slice(), s.State.Long.Get())
			}
			if x := last[len(last)-1]; x.Kind != checkpoint.KindSettle || !slices.Equal(x.Gone, []string{"waits"}) || !strings.Contains(x.Graph, "graph reduced ") {
				t.Errorf("%+v", x)
			}
			wantErr(t, v.Cancel(t.Context(), th), graph.ErrNothingToDo)
		})
	}
}

// Copies, retention over all graphs and deletion need no program. // E58 E46
func TestBareKeepsHouse(t *testing.T) {
	t.Parallel()
	store := &checkpoint.Memory{}
	app := turns(t, graph.Options{Store: store})
	runs(t, app, graph.ID("a"), 30)
	v := bare(t, store)
	if err := v.Copy(t.Context(), graph.ID("a"), graph.ID("b")); err != nil {
		t.Fatal(err)
	}
	if a, b := stateOf(t, app, graph.ID("a"), -1), stateOf(t, app, graph.ID("b"), -1); fmt.Sprint(a.State.Log.Slice()) != fmt.Sprint(b.State.Log.Slice()) {
		t.Error("the copy differs")
	}
	all, err := v.RetainAll(t.Context(), graph.Retention{KeepLast: 1})
	if err != nil || all.Records == 0 || all.Threads == 0 {
		t.Fatalf("%+v, %v", all, err)
	}
	if one, err := v.Retain(t.Context(), graph.ID("a"), graph.Retention{KeepLast: 1}); err != nil || one.Records != 0 {
		t.Errorf("%+v, %v", one, err)
	}
	runs(t, app, graph.ID("b"), 1)
	if err := v.Delete(t.Context(), graph.ID("a")); err != nil {
		t.Fatal(err)
	}
	_, err = v.State(t.Context(), graph.ID("a"))
	wantErr(t, err, graph.ErrNoThread)
}
