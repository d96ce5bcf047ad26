package graph_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/record"
	"github.com/holdfast-go/holdfast/internal/stores"
	"github.com/holdfast-go/holdfast/internal/testserver"
)

// A weave is one thread on which several people and workers do things at once.
type weave struct {
	t     *testing.T
	seed  uint64
	store checkpoint.Store
	apps  []*graph.App[notes]
	gates []*gate
	lease time.Duration
	th    graph.Thread

	mu       sync.Mutex
	inputs   map[string]bool   // what was given to Run: whether it was accepted
	errs     map[string]error  // of those calls
	queued   [][]string        // by worker, in order
	answers  map[string]bool   // by value: whether it was accepted
	question map[string]string // by value of an answer: the question it was for
}

// woven is a graph of two questions at once, between a step before and a step behind.
func woven() *graph.Graph[notes] {
	g := graph.New[notes]("woven")
	g.Node("take", func(_ context.Context, s *notes) error { s.Log.Append(s.Value.Get()); return nil })
	g.Node("a", asking("a"))
	g.Node("b", asking("b"))
	g.Node("close", say("close"))
	g.Edge(graph.Start, "take")
	g.Edge("take", "a")
	g.Edge("take", "b")
	g.Join([]string{"a", "b"}, "close")
	return g
}

// A gate is a worker's way to the store. While it is closed the worker is frozen: not even its leases are renewed.
type gate struct {
	checkpoint.Store
	mu sync.RWMutex
}

// freeze closes the gate for a while. Calls under way get through.
func (g *gate) freeze(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	<-time.After(d)
}

func (g *gate) pass() func() {
	g.mu.RLock()
	return g.mu.RUnlock
}

func (g *gate) Append(ctx context.Context, a *checkpoint.Append) (checkpoint.Ack, error) {
	g.pass()()
	return g.Store.Append(ctx, a)
}

func (g *gate) Acquire(ctx context.Context, a *checkpoint.Acquire) (checkpoint.Head, error) {
	g.pass()()
	return g.Store.Acquire(ctx, a)
}

func (g *gate) Renew(ctx context.Context, l []checkpoint.Lease, ttl time.Duration) ([]checkpoint.Renewal, error) {
	g.pass()()
	return g.Store.Renew(ctx, l, ttl)
}

func (g *gate) Load(ctx context.Context, k checkpoint.Key, branch int32, ns checkpoint.Namespace) (*checkpoint.Loaded, error) {
	g.pass()()
	return g.Store.Load(ctx, k, branch, ns)
}

// A loom says how a weave is run.
type loom struct {
	store  checkpoint.Store
	rounds int
	lease  time.Duration // 0: nobody is frozen
}

// Seeded interleavings of resume, answer, cancel, drain, new input by each policy, a second and third worker, and freezes past the lease: no
// wake-up is lost, no question is answered twice, nothing that was accepted is lost, nothing that was refused is kept. HOLDFAST_WEAVE names a
// store for a thousand of them (make weave). // E37, E38, E26, E31 // report 138 // report 140 // report 141
func TestWeave(t *testing.T) {
	t.Parallel()
	rounds := 1000
	if testing.Short() {
		rounds = 100
	}
	file := func() checkpoint.Store {
		s, err := sqlite.Open(filepath.Join(t.TempDir(), "db"), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	looms := []loom{{new(checkpoint.Memory), rounds - rounds/20, 0}, {file(), rounds / 20, 0}, {new(checkpoint.Memory), rounds / 20, 100 * time.Millisecond}}
	switch name := os.Getenv("HOLDFAST_WEAVE"); name {
	case "":
	case "sqlite":
		looms = []loom{{file(), 900, 0}, {file(), 100, 300 * time.Millisecond}}
	default:
		s := serverStore(t, name)
		looms = []loom{{s, 900, 0}, {s, 100, 300 * time.Millisecond}}
	}
	seen := map[string]int{}
	for i, l := range looms {
		l.run(t, i, seen)
	}
	t.Log(seen)
	for _, what := range []string{"run queued", "run busy", "preempt ok", "answer ok", "answer not pending", "cancel ok", "drain ok", "frozen", "used", "settled"} {
		if seen[what] == 0 {
			t.Errorf("%q never happened: %v", what, seen)
		}
	}
}

// serverStore opens a store on a server that the test starts.
func serverStore(t *testing.T, name string) checkpoint.Store {
	t.Helper()
	url := ""
	switch name {
	case "postgres":
		url = testserver.Postgres(t).URL()
	case "redis":
		url = "redis://" + testserver.SharedRedis(t).Addr()
	}
	s, err := stores.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func (l *loom) run(t *testing.T, n int, seen map[string]int) {
	t.Helper()
	var apps []*graph.App[notes]
	var gates []*gate
	for range 3 {
		g := &gate{Store: l.store}
		gates = append(gates, g)
		apps = append(apps, compile(t, woven(), graph.Options{Store: g, Lease: l.lease}))
	}
	for i := range l.rounds {
		w := &weave{
			t: t, seed: uint64(i), store: l.store, apps: apps, gates: gates, lease: l.lease, th: graph.ID(fmt.Sprintf("%d-%d", n, i)),
			inputs: map[string]bool{}, errs: map[string]error{}, queued: make([][]string, 3), answers: map[string]bool{}, question: map[string]string{},
		}
		w.play(seen)
	}
	for _, app := range apps {
		if err := app.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// play lets three workers do what the seed says, then brings the thread to its end and compares.
func (w *weave) play(seen map[string]int) {
	w.t.Helper()
	var wg sync.WaitGroup
	for i, app := range w.apps {
		rnd := rand.New(rand.NewPCG(w.seed, uint64(i)))
		wg.Go(func() {
			for n := range 6 {
				for range rnd.IntN(20) {
					runtime.Gosched()
				}
				what := w.do(app, i, n, rnd)
				w.mu.Lock()
				seen[what]++
				w.mu.Unlock()
			}
		})
	}
	wg.Wait()
	w.settle()
	w.compare(seen)
}

// do does one thing and notes what came of it.
func (w *weave) do(app *graph.App[notes], worker, n int, rnd *rand.Rand) string {
	ctx, id := w.t.Context(), fmt.Sprintf("%d.%d", worker, n)
	if w.lease > 0 && rnd.IntN(12) == 0 {
		go w.gates[worker].freeze(2 * w.lease) // while it works
		return "frozen"
	}
	switch p := rnd.IntN(10); {
	case p < 4:
		policy := []graph.BusyPolicy{graph.Reject, graph.Enqueue, graph.Enqueue, graph.Preempt}[p]
		_, err := app.With(graph.RunOptions{OnBusy: policy}).Run(ctx, w.th, give(id))
		busy, outcome := errors.Is(err, graph.ErrBusy), "ok"
		w.mu.Lock()
		w.inputs[id], w.errs[id] = !busy, err
		if errors.Is(err, graph.ErrQueued) {
			w.queued[worker] = append(w.queued[worker], id)
			outcome = "queued"
		}
		w.mu.Unlock()
		if busy {
			outcome = "busy"
		}
		if policy == graph.Preempt {
			return "preempt " + outcome
		}
		return "run " + outcome
	case p < 7:
		return w.answer(app, id, rnd)
	case p == 7:
		if err := app.Cancel(ctx, w.th); err == nil {
			return "cancel ok"
		}
		return "cancel refused"
	case p == 8:
		if err := app.Drain(ctx, w.th, "a pause"); err == nil {
			return "drain ok"
		}
		return "drain refused"
	default:
		if rnd.IntN(2) == 0 {
			app.Recover(ctx)
		} else {
			app.Resume(ctx, w.th)
		}
		return "resume"
	}
}

// answer answers some open question.
func (w *weave) answer(app *graph.App[notes], id string, rnd *rand.Rand) string {
	st, err := app.State(w.t.Context(), w.th)
	if err != nil || len(st.Questions) == 0 {
		return "no question"
	}
	q := st.Questions[rnd.IntN(len(st.Questions))]
	_, err = app.Resume(w.t.Context(), w.th, graph.Answer(q, id).By(id))
	busy, isBusy := errors.AsType[*graph.BusyError](err)
	refused := errors.Is(err, graph.ErrNotPending) || errors.Is(err, graph.ErrNoThread) || isBusy && !busy.Recorded
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers[id], w.question[id] = !refused, q.ID
	if refused {
		return "answer not pending"
	}
	return "answer ok"
}

// settle waits until nobody works on the thread, and fails if something waits for nobody then: its wake-up was lost. It then
// answers and resumes until all has ended.
func (w *weave) settle() {
	w.t.Helper()
	app := w.apps[0]
	for end := time.Now().Add(60 * time.Second); ; <-time.After(100 * time.Microsecond) {
		l, err := w.store.Load(w.t.Context(), key(w.th), checkpoint.Active, "")
		if err != nil {
			w.t.Fatal(err)
		}
		inputs, answered, open := 0, 0, []checkpoint.Question{}
		for _, c := range l.Inbox {
			if c.Kind == checkpoint.CommandInput {
				inputs++
			}
		}
		for _, q := range l.Questions {
			if q.State == checkpoint.Answered {
				answered++
			} else {
				open = append(open, q)
			}
		}
		h := l.Head
		lost := h.Status.Ended() && inputs > 0 || h.Status == checkpoint.Interrupted && answered > 0 && len(open) < 2 && answered+len(open) < 2
		switch {
		case time.Now().After(end):
			w.t.Fatalf("seed %d: it does not come to rest: %s, held %t, %d inputs, %d answered, %d open", w.seed, h.Status, h.Held(), inputs, answered, len(open))
		case w.lease > 0 && (h.Expired || h.Status == checkpoint.Running && !h.Held()):
			app.Recover(w.t.Context()) // its holder was frozen
		case h.Held() || h.Status == checkpoint.Running || lost: // under way, or about to be
		case h.Epoch == 0 || h.Status.Ended():
			return
		case len(open) == 0:
			app.Resume(w.t.Context(), w.th) // drained
		default:
			id := "end " + open[0].ID
			w.answers[id], w.question[id] = true, open[0].ID
			app.Resume(w.t.Context(), w.th, graph.AnswerID(open[0].ID, id).By(id))
		}
	}
}

// compare looks at the whole log: each accepted input began one run, in the order of each worker's queue; each accepted
// answer was used once, or its run was ended with its question; nothing else is there.
func (w *weave) compare(seen map[string]int) {
	w.t.Helper()
	recs, err := w.store.Read(w.t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: key(w.th)}, To: -1})
	if err != nil {
		w.t.Fatal(err)
	}
	var inputs []string
	used, closed := map[string]string{}, map[string]bool{} // by question
	for _, r := range recs {
		switch r.Kind {
		case checkpoint.KindInput:
			var in record.Input
			w.must(record.Decode(r, &in))
			inputs = append(inputs, strings.Trim(string(in.Writes[0].Data), `"`))
		case checkpoint.KindEntry, checkpoint.KindResult:
			var e record.Entry
			var res record.Result
			w.must(record.Decode(r, &e))
			w.must(record.Decode(r, &res))
			for _, d := range append(e.Tasks, res.Done) {
				for _, u := range d.Answers {
					if used[u.Question] != "" {
						w.t.Fatalf("seed %d: question %s was answered with %s and %s", w.seed, u.Question, used[u.Question], u.Value)
					}
					used[u.Question] = u.By
					seen["used"]++
				}
			}
		case checkpoint.KindSettle:
			var x record.Settle
			w.must(record.Decode(r, &x))
			for _, id := range x.Questions {
				closed[id] = true
			}
			seen["settled"]++
		}
	}
	for id, accepted := range w.inputs {
		if n := len(slices.DeleteFunc(slices.Clone(inputs), func(s string) bool { return s != id })); n != 1 && accepted || n != 0 && !accepted {
			w.t.Fatalf("seed %d: input %s, accepted %t, began %d runs: %v; %v", w.seed, id, accepted, n, inputs, w.errs[id])
		}
	}
	for i, list := range w.queued {
		if got := slices.DeleteFunc(slices.Clone(inputs), func(s string) bool { return !slices.Contains(list, s) }); !slices.Equal(got, list) {
			w.t.Fatalf("seed %d: worker %d queued %v, and they ran as %v", w.seed, i, list, got)
		}
	}
	for id, accepted := range w.answers {
		q := w.question[id]
		if by := used[q]; accepted && by != id && !closed[q] || !accepted && by == id {
			w.t.Fatalf("seed %d: the answer %s, accepted %t, to %s; used: %s, closed: %t", w.seed, id, accepted, q, by, closed[q])
		}
	}
	if len(inputs) != countTrue(w.inputs) {
		w.t.Fatalf("seed %d: %d runs of %d inputs", w.seed, len(inputs), countTrue(w.inputs))
	}
}

func (w *weave) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func countTrue(m map[string]bool) (n int) {
	for _, ok := range m {
		if ok {
			n++
		}
	}
	return n
}
