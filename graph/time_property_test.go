package graph_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"github.com/holdfast-go/holdfast/graph"
	"pgregory.net/rapid"
)

// A timeTest drives a store and the model side by side.
type timeTest struct {
	*rapid.T
	outer   *testing.T
	store   checkpoint.Store
	threads []*mThread
	pruned  int
	forks   int
}

// Random sequences of runs, answers, forks, edits, activations, retentions and copies: every entry of every branch is what a full copy of
// it says, or was allowed to go and says so. No record of any branch ever changes. // E41 E42 E46 // report 190
func TestTimeAgainstFullCopies(t *testing.T) {
	t.Parallel()
	var pruned, forks, seq int
	rapid.Check(t, func(rt *rapid.T) {
		if seq++; seq > 30 && testing.Short() {
			return
		}
		tt := &timeTest{T: rt, outer: t, store: &checkpoint.Memory{}}
		if seq == 1 {
			tt.long()
		}
		tt.drive(rapid.IntRange(1, 20).Draw(rt, "n"))
		pruned, forks = pruned+tt.pruned, forks+tt.forks
	})
	if !t.Failed() && (pruned == 0 || forks == 0) {
		t.Errorf("%d pruned entries and %d forks were looked at", pruned, forks)
	}
	t.Logf("%d pruned entries, %d forks", pruned, forks)
}

// The same on SQLite, with fewer steps. // E41 E42 E46
func TestTimeOnSQLite(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "time.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	seq := 0
	rapid.Check(t, func(rt *rapid.T) {
		if seq++; seq > 12 { // each step is a write to disk
			return
		}
		tt := &timeTest{T: rt, outer: t, store: store, threads: []*mThread{newModelThread(fmt.Sprint("t", seq))}}
		tt.drive(rapid.IntRange(1, 8).Draw(rt, "n"))
	})
}

func newModelThread(id string) *mThread {
	return &mThread{id: graph.ID(id), branches: []*mBranch{{name: graph.Main, over: true, records: map[int64]string{}}}}
}

func (t *timeTest) drive(n int) {
	if t.threads == nil {
		t.threads = []*mThread{newModelThread("t")}
	}
	t.runOp(t.threads[0])
	t.check(t.threads...)
	ops := []func(*mThread){t.runOp, t.burstOp, t.resumeOp, t.resumeOp, t.forkOp, t.editOp, t.editOp, t.activateOp, t.retainOp, t.retainOp, t.copyOp}
	for range n {
		th := t.threads[rapid.IntRange(0, len(t.threads)-1).Draw(t.T, "thread")]
		ops[rapid.IntRange(0, len(ops)-1).Draw(t.T, "op")](th)
		t.check(th)
	}
	t.check(t.threads...)
}

// long is a thread whose old entries are gone and which was forked, whatever the dice say afterwards.
func (t *timeTest) long() {
	th := newModelThread("t")
	t.threads = []*mThread{th}
	for len(th.head().entries) < 60 {
		t.run(th, "x")
	}
	t.check(th)
	last := &th.head().entries[len(th.head().entries)-1]
	to, err := t.app().Fork(t.Context(), th.at(th.head()), last.pos, graph.ForkOptions{})
	t.forked(th, last, to, err)
	t.retain(th.id, th.branches, 1)
	t.check(th)
}

func (t *timeTest) app() *graph.App[notes] { return timeApp(t.outer, t.store) }

func (t *timeTest) must(err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (t *timeTest) is(err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

func (t *timeTest) runOp(th *mThread) {
	t.run(th, rapid.SampledFrom([]string{"x", "?y", "z"}).Draw(t.T, "value"))
}

func (t *timeTest) run(th *mThread, value string) {
	b := th.head()
	_, err := t.app().Run(t.Context(), th.id, amount(value))
	if !b.over {
		t.is(err, graph.ErrBusy)
		return
	}
	b.begin(value)
	t.outcome(err, b.advance(""))
}

// burstOp is several runs, so that snapshots come.
func (t *timeTest) burstOp(th *mThread) {
	for b := th.head(); b.over && len(b.entries)%5 != 0; {
		_, err := t.app().Run(t.Context(), th.id, amount("x"))
		b.begin("x")
		t.outcome(err, b.advance(""))
	}
}

// outcome compares how a call ended with whether an answer is missing.
func (t *timeTest) outcome(err error, waits bool) {
	t.Helper()
	if waits {
		t.is(err, graph.ErrInterrupted)
		return
	}
	t.must(err)
}

func (t *timeTest) resumeOp(th *mThread) {
	b := th.head()
	_, err := t.app().Resume(t.Context(), th.id)
	if b.over {
		t.is(err, graph.ErrNothingToDo)
		return
	}
	waits := b.advance("")
	t.outcome(err, waits)
	if !waits || !rapid.Bool().Draw(t.T, "answers") {
		return
	}
	answer := rapid.SampledFrom([]string{"yes", "no"}).Draw(t.T, "answer")
	_, err = t.app().Resume(t.Context(), th.id, graph.AnswerOnly(answer))
	t.outcome(err, b.advance(answer))
}

func (t *timeTest) branch(th *mThread) *mBranch {
	return th.branches[rapid.IntRange(0, len(th.branches)-1).Draw(t.T, "branch")]
}

// pick draws an entry of any branch.
func (t *timeTest) pick(th *mThread) (*mBranch, *mEntry) {
	b := t.branch(th)
	if len(b.entries) == 0 {
		t.Fatal("a branch without an entry")
	}
	return b, &b.entries[rapid.IntRange(0, len(b.entries)-1).Draw(t.T, "entry")]
}

// forked notes the branch that an entry was forked into, unless the entry is gone.
func (t *timeTest) forked(th *mThread, e *mEntry, to graph.Thread, err error) *mBranch {
	if errors.Is(err, graph.ErrPruned) && e.may {
		return nil
	}
	t.must(err)
	t.forks++
	b := branchOf(to.Branch, e.state, e.tasks)
	th.branches = append(th.branches, b)
	th.active = len(th.branches) - 1
	return b
}

func (t *timeTest) forkOp(th *mThread) {
	b, e := t.pick(th)
	to, err := t.app().Fork(t.Context(), th.at(b), e.pos, graph.ForkOptions{})
	t.forked(th, e, to, err)
}

func (t *timeTest) activateOp(th *mThread) {
	i := rapid.IntRange(0, len(th.branches)-1).Draw(t.T, "branch")
	t.must(t.app().Activate(t.Context(), th.at(th.branches[i])))
	th.active = i
}

func (t *timeTest) editOp(th *mThread) {
	as := rapid.SampledFrom([]string{graph.Start, "a", "b", "c", graph.End}).Draw(t.T, "as")
	line := fmt.Sprint("edit ", rapid.IntRange(0, 99).Draw(t.T, "line"))
	write := func(s *notes) { s.Log.Append(line); s.Said.Put("edit", line) }
	b, e := th.head(), (*mEntry)(nil)
	if rapid.IntRange(0, 3).Draw(t.T, "where") == 0 {
		b, e = t.pick(th)
	}
	if e == nil || e.pos == b.entries[len(b.entries)-1].pos {
		was := *b
		to, err := t.app().Edit(t.Context(), th.at(b), -1, as, write)
		switch {
		case b != th.head():
			t.is(err, graph.ErrDormant)
		case b.edit(as, line):
			t.is(err, graph.ErrAmbiguous)
			*b = was
		default:
			t.must(err)
			if to != th.at(b) {
				t.Fatalf("edited %v", to)
			}
		}
		return
	}
	to, err := t.app().Edit(t.Context(), th.at(b), e.pos, as, write)
	if branchOf("try", e.state, e.tasks).edit(as, line) && !errors.Is(err, graph.ErrPruned) {
		t.is(err, graph.ErrAmbiguous)
		return
	}
	if fork := t.forked(th, e, to, err); fork != nil {
		fork.edit(as, line)
	}
}

func (t *timeTest) retainOp(th *mThread) {
	last := rapid.IntRange(1, 6).Draw(t.T, "last")
	if rapid.Bool().Draw(t.T, "one branch") {
		b := t.branch(th)
		t.retain(th.at(b), []*mBranch{b}, last)
		return
	}
	t.retain(th.id, th.branches, last)
}

func (t *timeTest) retain(id graph.Thread, branches []*mBranch, last int) {
	for _, b := range branches {
		b.keep(last)
	}
	_, err := t.app().Retain(t.Context(), id, graph.Retention{KeepLast: last})
	t.must(err)
}

func (t *timeTest) copyOp(th *mThread) {
	b := t.branch(th)
	to := newModelThread(fmt.Sprintf("%s-%d", t.threads[0].id.ID, len(t.threads)))
	t.must(t.app().Copy(t.Context(), th.at(b), to.id))
	to.branches[0] = branchOf(graph.Main, b.state, b.tasks)
	t.threads = append(t.threads, to)
}

// check reads everything back with a fresh App.
func (t *timeTest) check(threads ...*mThread) {
	app := t.app()
	for _, th := range threads {
		for i, b := range th.branches {
			t.places(app, th, b)
			for k := range b.entries {
				t.entry(app, th, b, &b.entries[k])
			}
			t.unchanged(th, int32(i), b)
		}
		if s := stateOf(t.outer, app, th.id, -1); plainNotes(s.State) != th.head().state.String() {
			t.Fatalf("%s: the active branch is not %s", th.id, th.head().name)
		}
	}
}

// places gives new entries their positions, in the order in which they came.
func (t *timeTest) places(app *graph.App[notes], th *mThread, b *mBranch) {
	var got []int64
	for e, err := range app.History(t.Context(), th.at(b)) {
		t.must(err)
		got = append(got, e.Pos)
	}
	for i := range b.entries {
		e := &b.entries[len(b.entries)-1-i]
		switch {
		case i < len(got) && e.pos < 0:
			e.pos = got[i]
		case i < len(got) && e.pos != got[i], i >= len(got) && !e.may:
			t.Fatalf("%s: entries at %v, the model has %d", th.at(b), got, len(b.entries))
		}
	}
	if len(got) > len(b.entries) {
		t.Fatalf("%s: entries at %v, the model has %d", th.at(b), got, len(b.entries))
	}
}

func (t *timeTest) entry(app *graph.App[notes], th *mThread, b *mBranch, e *mEntry) {
	got, err := app.StateAt(t.Context(), th.at(b), e.pos)
	if errors.Is(err, graph.ErrPruned) && e.may {
		t.pruned++
		return
	}
	t.must(err)
	var next, want []string
	for _, n := range got.Next {
		next = append(next, n.Node)
	}
	for _, n := range e.tasks {
		want = append(want, n.node)
	}
	if g := plainNotes(got.State); g != e.state.String() || !slices.Equal(next, want) {
		t.Fatalf("%s branch %s entry %d: next %v, the full copy has %v:\n%.600s\n%.600s", th.id, b.name, e.pos, next, want, g, e.state)
	}
}

// unchanged compares every record with what it was when it was seen first.
func (t *timeTest) unchanged(th *mThread, n int32, b *mBranch) {
	key := checkpoint.Key{Tenant: th.id.Tenant, Thread: th.id.ID}
	recs, err := t.store.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: key, Branch: n}, To: -1})
	t.must(err)
	for _, r := range recs {
		text := fmt.Sprintf("%c %d %d %s", r.Kind, r.Base, r.Ord, r.Body)
		if old, ok := b.records[r.Pos]; ok && old != text {
			t.Fatalf("%s branch %s: the record at %d has changed", th.id, b.name, r.Pos)
		}
		b.records[r.Pos] = text
	}
}
