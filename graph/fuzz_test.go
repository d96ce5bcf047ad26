package graph_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/alloctest"
)

// rowStore shows rows that differ from those that were written, as a damaged or foreign store would.
type rowStore struct {
	checkpoint.Store
	question func(*checkpoint.Question)
	command  func(*checkpoint.Command)
}

func (s *rowStore) Load(ctx context.Context, k checkpoint.Key, branch int32, ns checkpoint.Namespace) (*checkpoint.Loaded, error) {
	l, err := s.Store.Load(ctx, k, branch, ns)
	if err != nil {
		return nil, err
	}
	for i := range l.Questions {
		if s.question != nil {
			s.question(&l.Questions[i])
		}
	}
	for i := range l.Inbox {
		if s.command != nil {
			s.command(&l.Inbox[i])
		}
	}
	return l, nil
}

// asked compiles a graph that asks for a struct, and runs it until it waits.
func asked(t testing.TB, store checkpoint.Store) *graph.App[notes] {
	g := graph.New[notes]("asks")
	g.Node("ask", func(ctx context.Context, s *notes) error {
		type reply struct {
			OK   bool           `json:"ok"`
			Tags []string       `json:"tags"`
			More map[string]int `json:"more"`
		}
		r, err := graph.Ask[reply](ctx, "q", "?")
		if err == nil {
			s.Total.Add(len(r.Tags) + len(r.More))
		}
		return err
	})
	g.Edge(graph.Start, "ask")
	app := compile(t, g, graph.Options{Store: store})
	_, err := app.Run(t.Context(), graph.ID("1"), nil)
	paused(t, err)
	return app
}

// fuzzRow is what one value of a row may cost: of a schema, with the tree it is read from.
const fuzzRow = 4096

// FuzzQuestionRow reads arbitrary bytes as the body of a question. Reading the thread and answering it either work or are an
// error; nobody panics, and no length is believed. // report 120
func FuzzQuestionRow(f *testing.F) {
	f.Add([]byte("\x01{\"name\":\"q\",\"node\":\"ask\",\"prompt\":\"?\",\"schema\":{\"type\":\"boolean\"}}"), []byte(`true`))
	f.Add([]byte("\x01{\"schema\":{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"$ref\":\"#/$defs/a\"}}}}"), []byte(`[]`))
	f.Add([]byte("\x01{\"prompt\":null,\"schema\":null,\"refused\":\"\\ud800\"}"), []byte(`null`))
	f.Add([]byte("\x02{}"), []byte(`{}`))
	f.Add([]byte("\x01"), []byte(``))
	f.Add([]byte{}, []byte(`"`))
	mem := new(checkpoint.Memory)
	app := asked(f, mem)
	f.Fuzz(func(t *testing.T, body, answer []byte) {
		store := &rowStore{Store: mem, question: func(q *checkpoint.Question) { q.Body = body }}
		damaged := compile(t, graphOf("asks", "ask"), graph.Options{Store: store})
		var st *graph.Snapshot[notes]
		var err error
		doc := body[min(1, len(body)):]
		alloctest.Bound(t, fuzzRow, func() { st, err = damaged.State(t.Context(), graph.ID("1")) }, doc)
		if err != nil {
			if !errors.Is(err, checkpoint.ErrCorrupt) && !errors.Is(err, checkpoint.ErrNewerFormat) {
				t.Fatal(err)
			}
		} else if len(st.Questions) == 1 {
			_ = st.Questions[0].Text()
			_, _ = graph.PromptOf[string](st.Questions[0])
		}
		// One that no schema takes: whatever comes of it, the thread stays as it is.
		_, err = damaged.Resume(t.Context(), graph.ID("1"), graph.AnswerJSON("", answer), graph.AtEntry(1<<40))
		if err == nil {
			t.Fatal("an answer to an entry that is not the head")
		}
		if now, err := app.State(t.Context(), graph.ID("1")); err != nil || len(now.Questions) != 1 || now.Status != checkpoint.Interrupted {
			t.Fatalf("%v: the thread has changed: %+v", err, now)
		}
	})
}

// graphOf is a graph of nodes that do nothing: it reads threads of the graph with that name.
func graphOf(name string, nodes ...string) *graph.Graph[notes] {
	g := graph.New[notes](name)
	for _, n := range nodes {
		g.Node(n, nop)
		g.Edge(graph.Start, n)
	}
	return g
}

// FuzzAnswerRow gives arbitrary bytes as an answer: by the front door, where the schema is before them, and in the row, where a
// task that runs again finds them. They are taken, or refused with the question open again. // E32 // report 120
func FuzzAnswerRow(f *testing.F) {
	for _, s := range []string{`{"ok":true,"tags":["a"],"more":{"b":1}}`, `{"ok":null,"tags":null,"more":null}`, `{"ok":true,"ok":false}`, `{`, ``, `[1,2]`, "\"\xff\"", `{"more":{"b":1e400}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		app := asked(t, new(checkpoint.Memory))
		th := graph.ID("1")
		_, front := app.Resume(t.Context(), th, graph.AnswerJSON("", answer))
		if front == nil {
			if st, err := app.State(t.Context(), th); err != nil || st.Status != checkpoint.Completed {
				t.Fatalf("%v: taken, and %v", err, st.Status)
			}
		} else if st, err := app.State(t.Context(), th); err != nil || len(st.Questions) != 1 {
			t.Fatalf("%v: refused (%v), and %d questions are open", err, front, len(st.Questions))
		}

		mem := new(checkpoint.Memory)
		app = asked(t, mem)
		st, err := app.State(t.Context(), th)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := mem.Answer(t.Context(), key(th), []checkpoint.Reply{{Question: st.Questions[0].ID, Value: answer}}); err != nil {
			t.Fatal(err)
		}
		if _, err := app.Resume(t.Context(), th); err != nil {
			if in := paused(t, err); len(in.Questions) != 1 || in.Questions[0].Refused == "" {
				t.Fatalf("refused without a reason: %+v", in)
			}
		} else if front != nil && json.Valid(answer) && !errors.Is(front, graph.ErrBadAnswer) {
			t.Fatalf("%q was refused at the door: %v", answer, front)
		}
	})
}

// FuzzCommandRow finds arbitrary bytes in the inbox, of a kind of this release or of a later one. A command that is not
// understood cancels nobody and is no reason to stop. // report 120
func FuzzCommandRow(f *testing.F) {
	f.Add(byte(checkpoint.CommandCancel), []byte(`{"run":"x","by":"y"}`))
	f.Add(byte(checkpoint.CommandCancel), []byte(`{"run":1}`))
	f.Add(byte(checkpoint.CommandInput), []byte{0xff})
	f.Add(byte('z'), []byte(`[[[[`))
	f.Fuzz(func(t *testing.T, kind byte, body []byte) {
		mem := new(checkpoint.Memory)
		app, th := asked(t, mem), graph.ID("1")
		if _, err := mem.Post(t.Context(), checkpoint.Command{Key: key(th), Kind: checkpoint.CommandKind(kind), Body: body}); err != nil {
			t.Fatal(err)
		}
		if _, err := app.Resume(t.Context(), th, graph.AnswerJSON("", []byte(`{"ok":true,"tags":["a"],"more":{}}`))); err != nil {
			t.Fatalf("%q of kind %q stopped the run: %v", body, kind, err)
		}
		if st, err := app.State(t.Context(), th); err != nil || st.Status != checkpoint.Completed {
			t.Fatalf("%v: %v", err, st.Status)
		}
	})
}
