package nodes_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

// A counted back end counts round trips.
type counted struct {
	session.Backend
	writes, reads atomic.Int64
}

func (c *counted) Update(ctx context.Context, k session.Key, refs []string, decide func(session.Snapshot) (session.Delta, error)) error {
	c.writes.Add(1)
	return c.Backend.Update(ctx, k, refs, decide)
}

func (c *counted) Load(ctx context.Context, k session.Key, refs []string) (session.Snapshot, error) {
	c.reads.Add(1)
	return c.Backend.Load(ctx, k, refs)
}

// A counting back end of long-term memory counts round trips.
type counting struct {
	longterm.Backend
	writes, reads atomic.Int64
}

func (c *counting) View(ctx context.Context, sc memory.Scope, f func(longterm.Tx) error) error {
	c.reads.Add(1)
	return c.Backend.View(ctx, sc, f)
}

func (c *counting) Update(ctx context.Context, sc memory.Scope, f func(longterm.Tx) error) error {
	c.writes.Add(1)
	return c.Backend.Update(ctx, sc, f)
}

// cost is what a turn takes in round trips: of the checkpoint store, the session store, long-term memory.
type cost struct{ commits, loads, writes, reads, remembers, recalls int }

// What a turn costs in round trips, as docs/agent.md tells.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	look := nodes.NewTool("look", "Looks.", func(context.Context, struct{}) (string, error) { return "seen", nil },
		nodes.ToolOptions[struct{}, string]{ReadOnly: true})
	pay := nodes.NewTool("pay", "Pays.", func(context.Context, struct{}) (string, error) { return "paid", nil },
		nodes.ToolOptions[struct{}, string]{})
	call := func(names ...string) func(nodes.Request) (nodes.Answer, error) {
		var cs []message.Call
		for _, n := range names {
			cs = append(cs, message.Call{Name: n, Args: "{}"})
		}
		return calls(cs...)
	}
	type steps = []func(nodes.Request) (nodes.Answer, error)
	for _, c := range []struct {
		name    string
		steps   steps
		recalls bool // there is long-term memory
		reads   bool // there are documents
		want    cost
	}{
		{"no tool", steps{tells("a")}, false, false, cost{5, 1, 2, 0, 0, 0}},
		{"a tool that reads", steps{call("look"), tells("a")}, false, false, cost{9, 1, 3, 0, 0, 0}},
		{"a tool with an effect", steps{call("pay"), tells("a")}, false, false, cost{10, 1, 3, 0, 0, 0}},
		{"three steps of one tool", steps{call("look"), call("look"), call("look"), tells("a")}, false, false, cost{17, 1, 5, 0, 0, 0}},
		{"memory", steps{tells("a")}, true, false, cost{6, 1, 2, 0, 1, 2}},
		{"documents", steps{tells("a")}, false, true, cost{6, 1, 2, 0, 0, 0}},
		{"memory and documents", steps{tells("a")}, true, true, cost{7, 1, 2, 0, 1, 2}},
		{"memory and a tool", steps{call("look"), tells("a")}, true, false, cost{10, 1, 3, 0, 1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			back := &counted{Backend: session.MemoryBackend()}
			conversations, err := session.New(back, session.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer conversations.Close()
			store := faultstore.New(new(checkpoint.Memory))
			config := nodes.Config{Session: conversations, Agent: agentOf(t, memory.Public, "shop"),
				Roles: []nodes.Role{{Name: "r", Models: []nodes.Model{&lines{steps: c.steps}}, Tools: []nodes.Tool{look, pay}}}}
			memories := &counting{Backend: longterm.MemoryBackend()}
			if c.recalls {
				s, err := longterm.New(memories, longterm.Options{Rules: likes})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				config.LongTerm = nodes.Memories{Store: s}
			}
			if c.reads {
				config.Knowledge = newDocuments(t, knowledge.Options{}, returns)
			}
			kit, err := nodes.New(config)
			if err != nil {
				t.Fatal(err)
			}
			app, err := nodes.Agent[shop]("shop", kit).Compile(graph.Options{Store: store})
			if err != nil {
				t.Fatal(err)
			}
			defer app.Close(context.Background())
			scope, _ := memory.NewScope("acme", "ann")
			if _, err := app.Run(t.Context(), graph.ID("1"), nodes.Input[shop](scope, message.User("hi"))); err != nil {
				t.Fatal(err)
			}
			writes := store.Calls("Append") + store.Calls("Acquire") + store.Calls("Answer") + store.Calls("Post") + store.Calls("Release")
			reads := store.Calls("Load") + store.Calls("Read") + store.Calls("Inbox")
			got := cost{writes, reads, int(back.writes.Load()), int(back.reads.Load()), int(memories.writes.Load()), int(memories.reads.Load())}
			if got != c.want {
				t.Errorf("it costs %+v, not %+v", got, c.want)
			}
		})
	}
}
