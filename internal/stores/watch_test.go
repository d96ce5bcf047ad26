package stores_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
	"github.com/holdfast-go/holdfast/internal/stores"
	"github.com/holdfast-go/holdfast/internal/testserver"
)

// watchedKinds are the durable kinds and how runs begin and end.
var watchedKinds = []graph.EventKind{
	graph.RunStarted, graph.TaskUpdated, graph.StateValues, graph.EntryCommitted, graph.QuestionAsked, graph.RunInterrupted, graph.RunCompleted,
}

// paces is a run that adds up to n, waits for a person, and adds up to 2 n. Before each step it calls step, if there is one.
func paces(t *testing.T, s checkpoint.Store, n int, o graph.Options, step func(i int)) *graph.App[note] {
	t.Helper()
	g := graph.New[note]("paces")
	g.Branch("add", func(_ context.Context, s *note) (graph.Next, error) {
		if step != nil {
			step(s.N.Get() + 1)
		}
		s.N.Add(1)
		s.Text.Append(fmt.Sprint(s.N.Get()))
		switch s.N.Get() {
		case n:
			return graph.To("ask"), nil
		case 2 * n:
			return graph.To(graph.End), nil
		}
		return graph.To("add"), nil
	}, "add", "ask", graph.End)
	g.Node("ask", func(ctx context.Context, s *note) error {
		_, err := graph.Ask[bool](ctx, "ok", "go on?")
		return err
	})
	g.Edge(graph.Start, "add")
	g.Edge("ask", "add")
	o.Store = s
	app, err := g.Compile(o)
	if err != nil {
		t.Fatal(err)
	}
	return app
}

// told is what an event says, but for who told it.
func told(t *testing.T, e graph.Event) string {
	t.Helper()
	e.FromLog = false
	if e.Question != nil {
		q := *e.Question
		q.Asked = time.Time{}
		e.Question = &q
	}
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if e.Kind != graph.StateValues {
		return string(b)
	}
	s, err := e.State()
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + string(s)
}

// readAll reads a watch to its end. each is called with each event.
func readAll(t *testing.T, app *graph.App[note], th graph.Thread, after int64, each func(graph.Event)) (out []string) {
	t.Helper()
	o := graph.WatchOptions{After: after, Kinds: watchedKinds, Every: 50 * time.Millisecond}
	for e, err := range app.Watch(t.Context(), th, o) {
		if err != nil {
			t.Error(err)
			return out
		}
		if out = append(out, told(t, e)); each != nil {
			each(e)
		}
	}
	return out
}

// A ledgerOf keeps what an App tells of the watched kinds, the start of each run only once.
type ledgerOf struct {
	mu  sync.Mutex
	evs []graph.Event
}

func (l *ledgerOf) note(e graph.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.Contains(watchedKinds, e.Kind) && (e.Kind != graph.RunStarted || len(l.evs) == 0) {
		l.evs = append(l.evs, e)
	}
}

// told is what came behind a number.
func (l *ledgerOf) told(t *testing.T, after int64) (out []string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.evs {
		if e.Seq > after {
			out = append(out, told(t, e))
		}
	}
	return out
}

// onAll runs a test on each store.
func onAll(t *testing.T, test func(t *testing.T, s checkpoint.Store)) {
	name := "w" + strings.ToLower(rand.Text())
	for store, url := range map[string]func(*testing.T) string{
		"memory":   func(*testing.T) string { return "memory:" },
		"sqlite":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "a.db") },
		"postgres": func(t *testing.T) string { return testserver.Postgres(t).URL() + "&schema=" + name },
		"redis":    func(t *testing.T) string { return testserver.SharedRedis(t).URL() + "?prefix=" + name },
	} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			s, err := stores.Open(t.Context(), url(t))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			test(t, s)
		})
	}
}

func same(t *testing.T, what string, want, got []string) {
	t.Helper()
	if !slices.Equal(want, got) {
		t.Errorf("%s:\nwant %s\ngot  %s", what, strings.Join(want, "\n     "), strings.Join(got, "\n     "))
	}
}

// On every store a reader in another App gets, while the run goes on, what a live one gets of the kinds that the log has: the run
// takes its next step only when the reader has the entry of the step before. Afterwards any number is one to go on from, with
// every App. // E47 // E48
func TestWatchFollowsTheLog(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, s checkpoint.Store) {
		const n = 3
		th := graph.ID("t")
		var live ledgerOf
		seen := make(chan struct{}, 10)
		holder := paces(t, s, n, graph.Options{OnEvent: live.note}, func(i int) {
			if i != 1 && i != n+1 {
				<-seen
			}
		})
		reader := paces(t, s, n, graph.Options{}, nil)
		let := func(e graph.Event) {
			if e.Kind == graph.EntryCommitted && slices.Contains(e.Next, "add") && e.Next[0] == "add" {
				seen <- struct{}{}
			}
		}
		begun := make(chan struct{})
		var asked []string
		var wg sync.WaitGroup
		wg.Go(func() {
			<-begun
			asked = readAll(t, reader, th, 0, let)
		})
		var q graph.Question
		for e, err := range holder.With(graph.RunOptions{Kinds: []graph.EventKind{graph.RunStarted, graph.QuestionAsked}}).Stream(t.Context(), th, nil) {
			switch {
			case err != nil: // it waits
			case e.Kind == graph.RunStarted:
				close(begun)
			default:
				q = *e.Question
			}
		}
		wg.Wait()
		same(t, "until it asks", live.told(t, 0), asked)
		for len(seen) > 0 {
			<-seen
		}
		last := live.evs[len(live.evs)-1].Seq
		var rest []string
		if _, err := s.Answer(t.Context(), checkpoint.Key{Tenant: th.Tenant, Thread: th.ID}, []checkpoint.Reply{{Question: q.ID, Value: []byte("true")}}); err != nil {
			t.Fatal(err)
		}
		resumed := make(chan struct{})
		first := sync.OnceFunc(func() { close(resumed) })
		wg.Go(func() {
			<-resumed
			rest = readAll(t, reader, th, last, let)
		})
		for _, err := range holder.StreamResume(t.Context(), th) {
			if first(); err != nil {
				t.Error(err)
			}
		}
		wg.Wait()
		same(t, "after the answer", live.told(t, last), rest)
		for _, app := range []*graph.App[note]{holder, reader} {
			for _, e := range live.evs {
				same(t, fmt.Sprint("behind ", e.Seq), live.told(t, e.Seq), readAll(t, app, th, e.Seq, nil))
			}
			same(t, "from the beginning", live.told(t, 0), readAll(t, app, th, 0, nil))
		}
	})
}

// A run whose process has died is followed across the takeover: the reader gets what both have recorded, once and in order. // E47 // E61
func TestWatchAcrossATakeover(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, s checkpoint.Store) {
		const n = 4
		th := graph.ID("t")
		var first, second ledgerOf
		dying := faultstore.New(s)
		dying.Before = func(c *faultstore.Call) error {
			if c.Name == "Append" && c.Nth >= 3 {
				return checkpoint.ErrClosed
			}
			return nil
		}
		if _, err := paces(t, dying, n, graph.Options{OnEvent: first.note}, nil).Run(t.Context(), th, nil); !errors.Is(err, checkpoint.ErrClosed) {
			t.Fatal(err)
		}
		reader := paces(t, s, n, graph.Options{}, nil)
		taker := paces(t, s, n, graph.Options{OnEvent: second.note}, nil)
		var wg sync.WaitGroup
		begun := make(chan struct{})
		var got []string
		wg.Go(func() {
			got = readAll(t, reader, th, 0, func(e graph.Event) {
				if e.Kind == graph.EntryCommitted && e.Step == 2 {
					close(begun) // it has all that the dead one has recorded
				}
			})
		})
		<-begun
		ctx, stop := context.WithCancel(t.Context())
		err := taker.Serve(ctx, graph.ServeOptions{Every: 10 * time.Millisecond, Done: func(graph.Recovered) { stop() }})
		if ctx.Err() == nil {
			t.Fatal(err)
		}
		wg.Wait()
		second.evs = second.evs[1:] // a start that the log does not have
		same(t, "both", append(first.told(t, 0), second.told(t, 0)...), got)
	})
}
