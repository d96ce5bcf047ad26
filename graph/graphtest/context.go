package graphtest

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/graph/internal/host"
)

// Options of a context. The zero value works.
type Options struct {
	Answers   []Reply       // to questions, by name; a question without one suspends
	Info      graph.RunInfo // what graph.Info returns; empty fields get the values of a first attempt in a thread "test"
	StepsLeft int           // what graph.StepsLeft returns; default 999, negative: none
	Draining  bool          // what graph.Draining returns
	Unknown   []string      // names of Once whose first effect began before, with an outcome that nobody knows
}

// Context is the context of one execution of a node. It ends with the test. A scripted answer that does not fit the
// question's schema is a mistake of the test and fails it; the question is then open. So does a script that cannot be
// encoded. Deriving contexts from it is fine.
func Context(t testing.TB, o Options) context.Context {
	t.Helper()
	h := &task{t: t, o: o, kept: map[onceID]json.RawMessage{}, begun: map[onceID]int{}, given: map[onceID]Reply{}}
	for _, name := range o.Unknown {
		h.begun[onceID{name, 0}] = 1
	}
	h.o.Info = withDefaults(o.Info)
	h.script(o.Answers)
	return context.WithValue(t.Context(), host.Key, &call{task: h, attempt: h.o.Info.Attempt})
}

// Again is the context of the next execution of the task that ctx belongs to, as on resume: the results that Once
// recorded and the answers that were taken are there, and more answers may be scripted. It panics for a context that
// Context did not make.
func Again(ctx context.Context, answers ...Reply) context.Context {
	c := of(ctx)
	c.task.t.Helper()
	c.task.script(answers)
	return context.WithValue(c.task.t.Context(), host.Key, &call{task: c.task, attempt: c.attempt})
}

// A Record is what a node did under a context.
type Record struct {
	Asked      []graph.Question // open questions, in the order of asking; Refused has the reason of a refusal
	Emitted    []Emitted
	Onces      []string // names whose effect ran and was recorded, in that order
	Heartbeats int      // signs of life: Heartbeat, Emit, Ask and Once
}

// Emitted is one custom event.
type Emitted struct {
	Name string
	Data json.RawMessage
}

// Seen returns what the node has done under this very execution. It panics for a context that Context did not make.
func Seen(ctx context.Context) Record {
	c := of(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.seen
	r.Asked, r.Emitted, r.Onces = slices.Clone(r.Asked), slices.Clone(r.Emitted), slices.Clone(r.Onces)
	return r
}

func of(ctx context.Context) *call {
	c, ok := host.From(ctx).(*call)
	if !ok {
		panic("graphtest: the context was not made by graphtest.Context")
	}
	return c
}

func withDefaults(i graph.RunInfo) graph.RunInfo {
	d := graph.RunInfo{Thread: graph.ID("test"), Run: "run", Graph: "graph", Node: "node", Task: "0.0", Step: 1, Attempt: 1, Key: "key"}
	if i.Thread != (graph.Thread{}) {
		d.Thread = i.Thread
	}
	d.By = i.By
	for _, f := range []struct{ to, from *string }{{&d.Run, &i.Run}, {&d.Graph, &i.Graph}, {&d.Node, &i.Node}, {&d.Task, &i.Task}, {&d.Key, &i.Key}} {
		if *f.from != "" {
			*f.to = *f.from
		}
	}
	if i.Step != 0 {
		d.Step = i.Step
	}
	if i.Attempt != 0 {
		d.Attempt = i.Attempt
	}
	return d
}
