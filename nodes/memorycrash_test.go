package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

// A brittle back end of long-term memory does nothing from its nth call on, as if the process had died there, or dies behind that call.
type brittle struct {
	longterm.Backend
	n, at   atomic.Int64 // 0: never
	behind  bool
	crashed func()
}

// pass runs a call if the process is alive.
func (f *brittle) pass(call func() error) error {
	n, at := f.n.Add(1), f.at.Load()
	if at == 0 || n < at {
		return call()
	}
	if n == at && f.behind {
		if err := call(); err != nil {
			return err
		}
	}
	f.crashed()
	return longterm.ErrUnavailable
}

func (f *brittle) View(ctx context.Context, sc memory.Scope, do func(longterm.Tx) error) error {
	return f.pass(func() error { return f.Backend.View(ctx, sc, do) })
}

func (f *brittle) Update(ctx context.Context, sc memory.Scope, do func(longterm.Tx) error) error {
	return f.pass(func() error { return f.Backend.Update(ctx, sc, do) })
}

func (f *brittle) Claim(ctx context.Context, holder string, lease time.Duration, limit int) (jobs []longterm.JobRow, err error) {
	err = f.pass(func() error { jobs, err = f.Backend.Claim(ctx, holder, lease, limit); return err })
	return jobs, err
}

func (f *brittle) Close() error { return nil }

// A forgetful process has a turn in which two things are worth keeping: one that the rules find in the user's words, and one that the slow
// extractor finds in the result of a tool. It may die at any write of it.
type forgetful struct {
	*bench
	mortal *faultstore.Store
	back   *brittle
	agent  memory.Agent
	now    hand
}

// paid keeps what the tool says that it did.
var paid = drafting(func(_ context.Context, t longterm.Text) ([]longterm.Draft, error) {
	if t.Origin != longterm.FromTool {
		return nil, nil
	}
	return []longterm.Draft{{Kind: longterm.Episode, Key: "paid"}}, nil
})

func newForgetful(t *testing.T) *forgetful {
	f := &forgetful{bench: newBench(t, nodes.Config{}), agent: agentOf(t, memory.Public, "shop")}
	inner := &checkpoint.Memory{Now: f.now.now}
	f.store, f.mortal = inner, faultstore.New(inner)
	f.back = &brittle{Backend: longterm.MemoryBackend(), crashed: f.mortal.Crash}
	return f
}

// process is one process: its App and its memory, over what outlives it.
func (f *forgetful) process(s checkpoint.Store, b longterm.Backend, patience time.Duration) (*graph.App[shop], *longterm.Store) {
	m, err := longterm.New(b, longterm.Options{Rules: likes, Extractor: paid, Lease: time.Millisecond})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { m.Close() })
	model := nodes.ModelFunc(func(_ context.Context, r nodes.Request, _ func(nodes.Delta)) (nodes.Answer, error) {
		if last := r.Messages[len(r.Messages)-1]; last.Role == message.RoleUser {
			return calls(do("", "paid"))(r)
		}
		return tells("Done.")(r)
	})
	kit := kitWith(f, nodes.Config{Session: f.session, LongTerm: nodes.Memories{Store: m}, Agent: f.agent, Roles: []nodes.Role{{
		Name: "r", System: []string{"You pay."}, Models: []nodes.Model{model}, Tools: []nodes.Tool{doing("do", new(ledger), options{})},
	}}})
	app, err := nodes.Agent[shop]("shop", kit).Compile(graph.Options{Store: s, StorePatience: patience})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { app.Close(context.Background()) })
	return app, m
}

// live has the turn in a process that may die, and goes on in another one until nothing waits. It reports whether the first one died.
func (f *forgetful) live() bool {
	in := nodes.Input[shop](f.scope, message.User("I like tables. Pay!"))
	app, m := f.process(f.mortal, f.back, 100*time.Millisecond)
	_, err := app.Run(f.Context(), f.thread, in)
	if err == nil {
		_, err = m.Drain(f.Context())
	}
	died := f.mortal.Down()
	if err != nil && !died {
		f.Fatal(err)
	}
	f.now.move(time.Hour)
	app, m = f.process(f.store, f.back.Backend, 0)
	if _, err := app.Resume(f.Context(), f.thread); errors.Is(err, graph.ErrNoThread) {
		_, err = app.Run(f.Context(), f.thread, in)
		if err != nil {
			f.Fatal(err)
		}
	} else if err != nil && !errors.Is(err, graph.ErrNothingToDo) {
		f.Fatal(err)
	}
	for f.open(m) { // until the lease of the dead process has run out
		if _, err := m.Drain(f.Context()); err != nil {
			f.Fatal(err)
		}
	}
	f.check(m)
	return died
}

func (f *forgetful) open(m *longterm.Store) bool {
	jobs, err := m.Jobs(f.Context(), f.scope, f.agent, "", 10)
	if err != nil || len(jobs) != 1 {
		f.Fatalf("the outbox has %d jobs, %v", len(jobs), err)
	}
	return jobs[0].State != longterm.Done
}

// check looks at what is known: both facts, each once, from one source, as first versions.
func (f *forgetful) check(m *longterm.Store) {
	items, err := m.List(f.Context(), f.scope, f.agent, longterm.Page{Past: true, Inferred: true})
	if err != nil {
		f.Fatal(err)
	}
	var got []string
	for _, i := range items {
		got = append(got, fmt.Sprint(i.Text, " ", i.Kind, " ", i.Version, " ", len(i.Sources), i.End))
	}
	slices.Sort(got)
	if want := "I like tables. Pay! preference 1 1, did paid episode 1 1"; strings.Join(got, ", ") != want {
		f.Errorf("known is %q", got)
	}
}

// R79, R80: a process dies at any write of a turn, or of the extraction after it, before it or behind it: another one ends both, no fact is
// lost, and none is there twice.
func TestNoFactIsLostOrDoubled(t *testing.T) {
	t.Parallel()
	var died atomic.Int64
	t.Run("points", func(t *testing.T) {
		for n := 1; n <= 14; n++ {
			for _, fault := range []faultstore.Fault{faultstore.CrashBefore, faultstore.CrashAfter} {
				t.Run(fmt.Sprint("checkpoint ", n, fault), func(t *testing.T) {
					t.Parallel()
					f := newForgetful(t)
					f.mortal.At("", n, fault)
					if f.live() {
						died.Add(1)
					}
				})
			}
		}
		for n := 1; n <= 10; n++ {
			for _, behind := range []bool{false, true} {
				t.Run(fmt.Sprint("memory ", n, behind), func(t *testing.T) {
					t.Parallel()
					f := newForgetful(t)
					f.back.at.Store(int64(n))
					f.back.behind = behind
					if f.live() {
						died.Add(1)
					}
				})
			}
		}
	})
	if n := died.Load(); n < 30 {
		t.Errorf("%d processes have died", n)
	}
}
