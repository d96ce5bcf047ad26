package graph_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/secure"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"github.com/holdfast-go/holdfast/graph"
)

// turns is a graph that overwrites a large value, so that snapshots come, and keeps a count.
func turns(t testing.TB, o graph.Options) *graph.App[notes] {
	g := graph.New[notes]("turns")
	g.Node("turn", func(_ context.Context, s *notes) error {
		s.Value.Set(strings.Repeat("x", 6000))
		s.Total.Add(1)
		s.Said.Put("last", fmt.Sprint(s.Total.Get()))
		return nil
	})
	g.Edge(graph.Start, "turn")
	g.Edge("turn", graph.End)
	return compile(t, g, o)
}

func runs[S any](t testing.TB, app *graph.App[S], th graph.Thread, n int) {
	t.Helper()
	for range n {
		if _, err := app.Run(t.Context(), th, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// Each rule keeps what it says, and the newest entries always stay. // E46
func TestRetentionRules(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		keep graph.Retention
		min  int // entries that must be left
		max  int // entries that may be left: those that the oldest one is read from come on top
	}{
		"last":                 {graph.Retention{KeepLast: 10}, 10, 24},
		"last one":             {graph.Retention{KeepLast: 1}, 1, 14},
		"more than there are":  {graph.Retention{KeepLast: 1000}, 80, 80},
		"age":                  {graph.Retention{OlderThan: 10500 * time.Millisecond}, 20, 36},
		"all are old":          {graph.Retention{OlderThan: time.Nanosecond}, 1, 14},
		"all are young":        {graph.Retention{OlderThan: time.Hour}, 80, 80},
		"size":                 {graph.Retention{MaxBytes: 60_000}, 4, 20},
		"less than one state":  {graph.Retention{MaxBytes: 10}, 1, 14},
		"size that is not hit": {graph.Retention{MaxBytes: 10_000_000}, 80, 80},
		"old, but the last":    {graph.Retention{KeepLast: 30, OlderThan: time.Nanosecond}, 30, 44},
		"either rule":          {graph.Retention{OlderThan: time.Hour, MaxBytes: 60_000}, 4, 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			clock := &setClock{at: start}
			store, th := &checkpoint.Memory{Now: clock.Now}, graph.ID("t")
			app := turns(t, graph.Options{Store: store, Clock: clock})
			for range 40 {
				clock.at = clock.at.Add(time.Second)
				runs(t, app, th, 1)
			}
			clock.at = clock.at.Add(time.Millisecond)
			all := entries(t, app, th)
			removed, err := app.Retain(t.Context(), th, tc.keep)
			if err != nil {
				t.Fatal(err)
			}
			left := entries(t, app, th)
			if len(left) < tc.min || len(left) > tc.max || (removed.Records > 0) != (len(left) < len(all)) || removed.Threads != min(1, int(removed.Records)) {
				t.Fatalf("%d entries are left of %d, removed %+v", len(left), len(all), removed)
			}
			if size := len(strings.Join(recordsOf(t, store, th, 0), "")); tc.keep.MaxBytes == 60_000 && size > 80_000 {
				t.Errorf("%d bytes are left", size)
			}
			for i, e := range all {
				s, err := app.StateAt(t.Context(), th, e.Pos)
				if gone := i < len(all)-len(left); gone {
					wantErr(t, err, graph.ErrPruned)
					_, err = app.Fork(t.Context(), th, e.Pos, graph.ForkOptions{})
					wantErr(t, err, graph.ErrPruned)
				} else if err != nil || s.State.Total.Get() != (i+1)/2 {
					t.Fatalf("entry %d: %v", e.Pos, err)
				}
			}
			again, err := app.Retain(t.Context(), th, tc.keep)
			if err != nil || again.Records != 0 {
				t.Errorf("once more: %+v, %v", again, err)
			}
			runs(t, turns(t, graph.Options{Store: store}), th, 1)
			if got := stateOf(t, app, th, -1).State.Total.Get(); got != 41 {
				t.Errorf("the next run counts %d", got)
			}
		})
	}
}

// A setClock is a clock that is moved by hand.
type setClock struct{ at time.Time }

func (c *setClock) Now() time.Time { return c.at }
func (c *setClock) After(time.Duration) (<-chan time.Time, func()) {
	return make(chan time.Time), func() {}
}

// As a policy of the App retention bounds the rows of a thread however many turns it has, and the thread goes on. // E46 // report 206 207
func TestRetentionPolicy(t *testing.T) {
	t.Parallel()
	store, th := &checkpoint.Memory{}, graph.ID("t")
	app := turns(t, graph.Options{Store: store, Retention: graph.Retention{KeepLast: 10}})
	most := 0
	for range 1000 {
		runs(t, app, th, 1)
		most = max(most, len(recordsOf(t, store, th, 0)))
	}
	if most > 40 {
		t.Errorf("up to %d records were kept", most)
	}
	out, err := app.Run(t.Context(), th, nil)
	if err != nil || out.Total.Get() != 1001 {
		t.Errorf("%v, %v", out, err)
	}
	for _, bad := range []graph.Retention{{}, {KeepLast: -1}, {OlderThan: -1}, {MaxBytes: -1}} {
		if _, err := app.Retain(t.Context(), th, bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	if _, err := graph.New[notes]("bad").Compile(graph.Options{Retention: graph.Retention{KeepLast: -1}}); err == nil || !strings.Contains(err.Error(), "retention") {
		t.Errorf("a wrong policy: %v", err)
	}
}

// Retention for all threads leaves open questions, their answers, forks and their effects as they are. // E46 // report 190 206
func TestRetainAllThreads(t *testing.T) {
	t.Parallel()
	d, store := &desk{}, &checkpoint.Memory{}
	app := d.app(t, store)
	var open []graph.Question
	for i := range 120 { // more than a page
		_, err := app.Run(t.Context(), graph.ID(fmt.Sprintf("t%03d", i)), amount("1"))
		open = append(open, paused(t, err).Questions[0])
	}
	fork, err := app.Fork(t.Context(), graph.ID("t000"), 0, graph.ForkOptions{Name: "f"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := app.RetainAll(t.Context(), graph.Retention{KeepLast: 1}); err != nil {
		t.Fatal(err)
	}
	for i, q := range open[1:] {
		if _, err := app.Resume(t.Context(), graph.ID(fmt.Sprintf("t%03d", i+1)), graph.Answer(q, true)); err != nil {
			t.Fatal(err)
		}
	}
	_, err = app.Resume(t.Context(), fork)
	if _, err := app.Resume(t.Context(), fork, graph.Answer(paused(t, err).Questions[0], false)); err != nil {
		t.Fatal(err)
	}
	if err := app.Activate(t.Context(), graph.Thread{Tenant: fork.Tenant, ID: fork.ID, Branch: graph.Main}); err != nil {
		t.Fatal(err)
	}
	if _, err := app.Resume(t.Context(), graph.ID("t000"), graph.Answer(open[0], true)); err != nil {
		t.Fatal(err)
	}
}

// A copy is a thread of its own: its state is that of the source, its questions are asked anew, its effects are its own, results and
// recorded effects of open tasks come along, and an encrypted store seals all of it for its new place. // E46
func TestCopy(t *testing.T) {
	t.Parallel()
	sqlitePath := filepath.Join(t.TempDir(), "copy.db")
	file, err := sqlite.Open(sqlitePath, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	sealed, err := secure.Encrypt(&checkpoint.Memory{}, secure.Keyring{Current: secure.Key{ID: "k", Bytes: []byte(strings.Repeat("k", 32))}})
	if err != nil {
		t.Fatal(err)
	}
	for name, store := range map[string]checkpoint.Store{"memory": &checkpoint.Memory{}, "sqlite": file, "encrypted": sealed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var effects []string
			app, th, to := twins(t, store, &effects), graph.ID("from"), graph.ID("to")
			_, err := app.With(graph.RunOptions{Owner: "ann"}).Run(t.Context(), th, nil)
			qs := paused(t, err).Questions
			if err := app.Copy(t.Context(), th, to); err != nil {
				t.Fatal(err)
			}
			wantErr(t, app.Copy(t.Context(), th, to), graph.ErrInUse)
			wantErr(t, app.Copy(t.Context(), graph.ID("none"), graph.ID("x")), graph.ErrNoThread)
			s := stateOf(t, app, to, -1)
			if s.Owner != "ann" || s.Status != checkpoint.Interrupted || len(s.Questions) != 0 || len(s.Next) != 2 {
				t.Errorf("the copy is %+v", s.ThreadInfo)
			}
			if e := entries(t, app, to); len(e) != 1 || *e[0].From != (graph.Origin{Thread: "from", Branch: graph.Main, Entry: 0, Reason: "copy"}) {
				t.Errorf("its history is %+v", e)
			}
			_, err = app.Resume(t.Context(), to, graph.Answer(qs[0], "x"))
			wantErr(t, err, graph.ErrNotPending)
			_, err = app.Resume(t.Context(), to)
			anew := paused(t, err).Questions
			if len(anew) != 2 || anew[0].ID == qs[0].ID || len(effects) != 2 {
				t.Fatalf("the copy asks %+v after effects %q", anew, effects)
			}
			for th, qs := range map[graph.Thread][]graph.Question{th: qs, to: anew} {
				if _, err := app.Resume(t.Context(), th, graph.Answer(qs[0], "l"), graph.Answer(qs[1], "r")); err != nil {
					t.Fatal(err)
				}
			}
			ended := graph.ID("ended")
			if err := app.Copy(t.Context(), to, ended); err != nil {
				t.Fatal(err)
			}
			_, err = app.Resume(t.Context(), ended)
			wantErr(t, err, graph.ErrNothingToDo)
		})
	}
}

// A deleted thread leaves nothing, and can be made anew. // E46
func TestDeleteThread(t *testing.T) {
	t.Parallel()
	d, store, th := &desk{}, &checkpoint.Memory{}, graph.ID("t")
	app := d.app(t, store)
	_, err := app.Run(t.Context(), th, amount("1"))
	wantErr(t, err, graph.ErrInterrupted)
	fork, err := app.Fork(t.Context(), th, 0, graph.ForkOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wantErr(t, app.Delete(t.Context(), fork), graph.ErrInUse)
	for range 2 {
		if err := app.Delete(t.Context(), th); err != nil {
			t.Fatal(err)
		}
	}
	_, err = app.State(t.Context(), th)
	wantErr(t, err, graph.ErrNoThread)
	qs, err1 := store.Questions(t.Context(), checkpoint.QuestionFilter{})
	rs, err2 := store.Runs(t.Context(), checkpoint.RunFilter{})
	if len(qs)+len(rs) != 0 || err1 != nil || err2 != nil {
		t.Errorf("%v %v %v %v", qs, rs, err1, err2)
	}
	if _, err = app.Run(t.Context(), th, amount("2")); !errors.Is(err, graph.ErrInterrupted) {
		t.Fatal(err)
	}
}

// Runs go from either end of a branch; one in the middle is in use. // E46
func TestDeleteRuns(t *testing.T) {
	t.Parallel()
	store, th := &checkpoint.Memory{}, graph.ID("t")
	app := turns(t, graph.Options{Store: store})
	var ids []string
	for range 20 {
		runs(t, app, th, 1)
		ids = append(ids, stateOf(t, app, th, -1).Run)
	}
	before := recordsOf(t, store, th, 0)
	wantErr(t, app.DeleteRuns(t.Context(), th, ids[3]), graph.ErrInUse)
	wantErr(t, app.DeleteRuns(t.Context(), th, ids[0], ids[2]), graph.ErrInUse)
	wantErr(t, app.DeleteRuns(t.Context(), th, ids...), graph.ErrInUse)
	wantErr(t, app.DeleteRuns(t.Context(), th, ids[0], "unknown"), graph.ErrPruned)
	if !slices.Equal(before, recordsOf(t, store, th, 0)) {
		t.Fatal("a refused call has removed something")
	}
	if err := app.DeleteRuns(t.Context(), th, ids[:15]...); err != nil {
		t.Fatal(err)
	}
	_, err := app.StateAt(t.Context(), th, 0)
	wantErr(t, err, graph.ErrPruned)
	if e := entries(t, app, th); len(e) < 10 || len(e) >= 40 {
		t.Fatalf("%d entries are left", len(e))
	}
	if err := app.DeleteRuns(t.Context(), th, ids[18:]...); err != nil {
		t.Fatal(err)
	}
	s := stateOf(t, app, th, -1)
	if s.State.Total.Get() != 18 || s.Status != checkpoint.Completed || len(s.Branches) != 2 || s.Branches[1].Reason != "rollback" {
		t.Fatalf("after the newest runs went: %d, %+v", s.State.Total.Get(), s.ThreadInfo)
	}
	main := graph.Thread{Tenant: th.Tenant, ID: th.ID, Branch: graph.Main}
	_, err = app.State(t.Context(), main)
	wantErr(t, err, graph.ErrPruned)
	wantErr(t, app.Copy(t.Context(), main, graph.ID("c")), graph.ErrPruned)
	_, err = app.Fork(t.Context(), main, -1, graph.ForkOptions{})
	wantErr(t, err, graph.ErrPruned)
	wantErr(t, app.Activate(t.Context(), main), graph.ErrPruned)
	runs(t, app, th, 1)
	if got := stateOf(t, app, th, -1).State.Total.Get(); got != 19 {
		t.Errorf("the next run counts %d", got)
	}
}
