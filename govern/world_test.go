package govern_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"github.com/holdfast-go/holdfast/govern"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/audit"
	auditsqlite "github.com/holdfast-go/holdfast/memory/audit/sqlite"
	"github.com/holdfast-go/holdfast/memory/longterm"
	longtermsqlite "github.com/holdfast-go/holdfast/memory/longterm/sqlite"
	"github.com/holdfast-go/holdfast/memory/pin"
	"github.com/holdfast-go/holdfast/memory/session"
	sessionsqlite "github.com/holdfast-go/holdfast/memory/session/sqlite"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/state"
)

const (
	tenant    = "shop"
	namespace = "orders"
)

// A world is what a program keeps of its users.
type world struct {
	threads  checkpoint.Store
	sessions *session.Store
	memories *longterm.Store
	log      *audit.Log
	app      *graph.App[talk]
	waits    chan struct{} // gets a value when a run has come to its node "wait"
	goesOn   chan struct{} // closed: the runs in "wait" go on
	gate     *gate
}

type talk struct {
	Said state.List[string] `json:"said"`
	Wait state.Last[bool]   `json:"wait"`
}

// A gate is an extractor that finds the whole text, once it is let.
type gate struct{ in, out chan struct{} }

func (g *gate) Extract(ctx context.Context, ts []longterm.Text, _ []longterm.Item) (out []longterm.Draft, err error) {
	g.in <- struct{}{}
	select {
	case <-g.out:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for _, t := range ts {
		out = append(out, longterm.Draft{Namespace: namespace, Kind: longterm.Semantic, Text: t.Text, Origin: t.Origin, Source: t.Source, Confidence: 1})
	}
	return out, nil
}

func longtermOptions(g *gate, log *audit.Log) longterm.Options {
	return longterm.Options{Auditor: log, Extractor: g, Logger: slog.New(slog.DiscardHandler), Lease: time.Minute}
}

// newWorld takes what is opened, and closes it at the end.
func newWorld(t *testing.T, threads checkpoint.Store, sessions *session.Store, memories *longterm.Store, log *audit.Log, g *gate) *world {
	t.Helper()
	w := &world{threads: threads, sessions: sessions, memories: memories, log: log, gate: g, waits: make(chan struct{}, 8), goesOn: make(chan struct{})}
	b := graph.New[talk]("talk")
	b.Node("hear", func(_ context.Context, s *talk) error { return nil })
	b.Node("wait", func(ctx context.Context, s *talk) error {
		if s.Wait.Get() {
			w.waits <- struct{}{}
			select {
			case <-w.goesOn:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		s.Said.Append("over")
		return nil
	})
	b.Edge(graph.Start, "hear")
	b.Edge("hear", "wait")
	b.Cache("hear", time.Hour, func(_ context.Context, s *talk) (string, error) { return s.Said.Slice()[0], nil })
	app, err := b.Compile(graph.Options{Store: threads})
	ok(t, err)
	w.app = app
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := errors.Join(app.Close(ctx), threads.Close(), sessions.Close(), memories.Close(), log.Close()); err != nil {
			t.Error(err)
		}
	})
	return w
}

// sqliteWorld keeps all in one file.
func sqliteWorld(t *testing.T, dir string) *world {
	t.Helper()
	path := filepath.Join(dir, "app.db")
	g := &gate{make(chan struct{}, 8), make(chan struct{})}
	threads, err := sqlite.Open(path, sqlite.Options{})
	ok(t, err)
	log, err := auditsqlite.Open(path, auditsqlite.Options{})
	ok(t, err)
	sessions, err := sessionsqlite.Open(path, sessionsqlite.Options{Session: session.Options{Auditor: log}})
	ok(t, err)
	memories, err := longtermsqlite.Open(path, longtermsqlite.Options{Longterm: longtermOptions(g, log)})
	ok(t, err)
	return newWorld(t, threads, sessions, memories, log, g)
}

func (w *world) boxes() []govern.Box {
	return w.boxesWith(w.threads)
}

// boxesWith has the log before those that write into it: the order does not matter.
func (w *world) boxesWith(threads checkpoint.Store) []govern.Box {
	return []govern.Box{{Name: "threads", Eraser: govern.Threads(threads, "")}, {Name: "audit", Eraser: w.log}, {Name: "session", Eraser: w.sessions}, {Name: "longterm", Eraser: w.memories}}
}

func scopeOf(t testing.TB, user string) memory.Scope {
	t.Helper()
	sc, err := memory.NewScope(tenant, user)
	ok(t, err)
	return sc
}

func agent(t testing.TB) memory.Agent {
	t.Helper()
	a, err := memory.NewAgent("clerk", memory.Secret, namespace)
	ok(t, err)
	return a
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// canary is a word of a user that nobody else has.
func canary(user string, i int) string { return fmt.Sprintf("zq%sx%dz", user, i) }

// fill gives a user n canaries in each box.
func (w *world) fill(t testing.TB, user string, n int) {
	t.Helper()
	ctx, sc := context.Background(), scopeOf(t, user)
	for i := range n {
		word, conversation := canary(user, i), fmt.Sprint(user, "-talk-", i%3)
		m := message.User("note " + word)
		result := memory.Result{Conversation: conversation, Call: "call-" + word, Name: "tool", Body: []byte("found " + word)}
		result.ID = memory.ResultID(sc, conversation, result.Call, result.Body)
		_, err := w.sessions.Write(ctx, sc, conversation, session.Write{
			Messages: []message.Message{m},
			Set:      []session.Change{session.Set(session.CurrentService, session.Service{ID: word, Name: word}, session.FromUser(m.ID))},
			Pins:     []pin.Pin{{ID: "pin-" + word, Effect: pin.Rule, Text: "mind " + word, Standing: i%2 == 0, Message: m.ID}},
			Results:  []memory.Result{result},
		})
		ok(t, err)
		_, err = w.memories.Add(ctx, sc, agent(t), longterm.Draft{
			Namespace: namespace, Kind: longterm.Semantic, Key: "where." + word, Text: word + " is in Lyon", Origin: longterm.FromUser, Confidence: 1,
			Source: longterm.Source{Conversation: conversation, Message: m.ID, At: time.Now()},
		})
		ok(t, err)
		ok(t, w.memories.Remember(ctx, sc, agent(t), longterm.Exchange{Conversation: conversation, Messages: []message.Message{message.User("also " + word)}}))
		if i%4 == 0 {
			th := graph.Thread{Tenant: tenant, ID: fmt.Sprint(user, "-", word)}
			_, err = w.app.With(graph.RunOptions{Owner: user}).Run(ctx, th, func(s *talk) { s.Said.Append(word) })
			ok(t, err)
		}
	}
}

// export is all that there is of a user, as JSON.
func (w *world) export(t testing.TB, user string) string {
	t.Helper()
	ctx, sc := context.Background(), scopeOf(t, user)
	var all []any
	heads, err := w.threads.Threads(ctx, checkpoint.ThreadFilter{Tenant: tenant, Owner: user, Limit: 1000})
	ok(t, err)
	for _, h := range heads {
		recs, err := w.threads.Read(ctx, checkpoint.Query{Chain: checkpoint.Chain{Key: h.Key}, To: -1})
		ok(t, err)
		all = append(all, h, recs)
	}
	conversations, err := w.sessions.Conversations(ctx, sc, session.Conversation{}, 0)
	ok(t, err)
	for _, c := range conversations {
		st, err := w.sessions.State(ctx, sc, c.ID)
		ok(t, err)
		said, err := w.sessions.Messages(ctx, sc, c.ID, session.Page{Limit: 1000})
		ok(t, err)
		all = append(all, st, said)
	}
	items, err := w.memories.List(ctx, sc, agent(t), longterm.Page{Past: true, Inferred: true, Limit: 1000})
	ok(t, err)
	jobs, err := w.memories.Jobs(ctx, sc, agent(t), "", 1000)
	ok(t, err)
	doc, err := json.Marshal(append(all, items, jobs))
	ok(t, err)
	if len(heads) == 0 || len(conversations) == 0 || len(items) == 0 || len(jobs) == 0 {
		t.Fatalf("%s has %d threads, %d conversations, %d items, %d jobs", user, len(heads), len(conversations), len(items), len(jobs))
	}
	return string(doc)
}
