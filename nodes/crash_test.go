package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

// A failing back end does nothing from its nth write on, as if the process had died there, or dies behind that write.
type failing struct {
	session.Backend
	at, n   atomic.Int64 // 0: never
	behind  bool
	crashed func()
}

func (f *failing) Update(ctx context.Context, k session.Key, refs []string, decide func(session.Snapshot) (session.Delta, error)) error {
	n, at := f.n.Add(1), f.at.Load()
	if at == 0 || n < at || n == at && f.behind {
		if err := f.Backend.Update(ctx, k, refs, decide); err != nil || at == 0 || n < at {
			return err
		}
	}
	f.crashed()
	return session.ErrUnavailable
}

// A deadly turn dies at one of its writes, and is taken up by another process.
type deadly struct {
	*bench
	mortal *faultstore.Store
	back   *failing
	ledger *ledger
	now    hand
}

func newDeadly(t *testing.T) *deadly {
	d := &deadly{bench: newBench(t, nodes.Config{}), ledger: new(ledger)}
	inner := &checkpoint.Memory{Now: d.now.now}
	d.store, d.mortal = inner, faultstore.New(inner)
	d.back = &failing{Backend: session.MemoryBackend(), crashed: d.mortal.Crash}
	var err error
	if d.session, err = session.New(d.back, session.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.session.Close() })
	model := nodes.ModelFunc(func(_ context.Context, r nodes.Request, _ func(nodes.Delta)) (nodes.Answer, error) {
		takes(t, r)
		if last := r.Messages[len(r.Messages)-1]; last.Role == message.RoleUser && last.Text() == "pay" {
			cs := []message.Call{{Name: "do", Args: `{"name":"paid"}`}, {Name: "look", Args: `{"name":"looked"}`}}
			return nodes.Answer{Message: message.Assistant("A moment.", cs...), Stop: nodes.StopEnd}, nil
		}
		return nodes.Answer{Message: message.Assistant("Done."), Stop: nodes.StopEnd}, nil
	})
	d.kit = kitWith(t, nodes.Config{Session: d.session, Roles: []nodes.Role{{Name: "r", System: []string{"You pay."}, Models: []nodes.Model{model},
		Tools: []nodes.Tool{doing("do", d.ledger, options{}), doing("look", d.ledger, options{ReadOnly: true})}}}})
	return d
}

func (d *deadly) open(s checkpoint.Store, patience time.Duration) *graph.App[shop] {
	app, err := nodes.Agent[shop]("shop", d.kit).Compile(graph.Options{Store: s, StorePatience: patience})
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { app.Close(context.Background()) })
	return app
}

// live runs the turn in a process that may die, and goes on in another one.
func (d *deadly) live() {
	in := nodes.Input[shop](d.scope, message.User("pay"))
	_, err := d.open(d.mortal, 100*time.Millisecond).Run(d.Context(), d.thread, in)
	if (err != nil) != d.mortal.Down() {
		d.Fatalf("down %t: %v", d.mortal.Down(), err)
	}
	d.back.at.Store(0)
	d.now.move(time.Hour)
	d.app = d.open(d.store, 0)
	if _, err := d.app.Resume(d.Context(), d.thread); errors.Is(err, graph.ErrNoThread) {
		_, err = d.app.Run(d.Context(), d.thread, in)
		if err != nil {
			d.Fatal(err)
		}
	} else if err != nil && !errors.Is(err, graph.ErrNothingToDo) {
		d.Fatal(err)
	}
}

// check looks at what is left: one effect by its key, the whole conversation, a history that takes the next message.
func (d *deadly) check() {
	if keys := distinct(d.ledger.keys["paid"]); keys != 1 {
		d.Errorf("paid under %d keys", keys)
	}
	if got := d.hears("and?"); got != "Done." {
		d.Errorf("it says %q", got)
	}
	want := map[string]bool{}
	for _, results := range []string{"t:did paid | t:did looked", "t:did looked | t:did paid"} {
		want["u:pay | a:A moment. | "+results+" | a:Done. | u:and? | a:Done."] = true
	}
	if got := d.talk(); !want[got] {
		d.Errorf("the conversation is %s", got)
	}
}

func distinct(keys []string) int {
	seen := map[string]bool{}
	for _, k := range keys {
		seen[k] = true
	}
	return len(seen)
}

// A process dies at any write of a turn, before it or behind it, to either store: another one ends the turn as if nothing had been.
func TestDiesAtAnyWrite(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 16; n++ {
		for _, f := range []faultstore.Fault{faultstore.CrashBefore, faultstore.CrashAfter} {
			t.Run(fmt.Sprint("checkpoint ", n, f), func(t *testing.T) {
				t.Parallel()
				d := newDeadly(t)
				d.mortal.At("", n, f)
				d.live()
				d.check()
			})
		}
	}
	for n := 1; n <= 5; n++ {
		for _, behind := range []bool{false, true} {
			t.Run(fmt.Sprint("session ", n, behind), func(t *testing.T) {
				t.Parallel()
				d := newDeadly(t)
				d.back.at.Store(int64(n))
				d.back.behind = behind
				d.live()
				d.check()
			})
		}
	}
}
