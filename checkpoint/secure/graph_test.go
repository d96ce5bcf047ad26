package secure_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/secure"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
	"github.com/holdfast-go/holdfast/state"
)

type refund struct {
	Card  state.Last[string]        `json:"card"`
	Log   state.List[string]        `json:"log"`
	Notes state.Map[string, string] `json:"notes"`
}

var errBank = errors.New("zebra-bank is away")

// refunds asks before it pays, in two parallel nodes, and fails once in between.
func refunds(t testing.TB, store checkpoint.Store, bank *error) *graph.App[refund] {
	t.Helper()
	g := graph.New[refund]("refund")
	g.Node("read", func(_ context.Context, s *refund) error {
		s.Card.Set("zebra-card-4711")
		s.Log.Append("zebra-read")
		return nil
	})
	g.Node("ask", func(ctx context.Context, s *refund) error {
		yes, err := graph.Ask[string](ctx, "pay", "zebra-question: pay "+s.Card.Get()+"?")
		s.Notes.Put("answer", yes)
		return err
	})
	g.Node("audit", func(_ context.Context, s *refund) error {
		s.Log.Append("zebra-audit")
		return nil
	})
	g.Node("pay", func(ctx context.Context, s *refund) error {
		receipt, err := graph.Once(ctx, "bank", func(context.Context, string) (string, error) { return "zebra-receipt", *bank })
		s.Log.Append(receipt)
		return err
	})
	g.Edge(graph.Start, "read")
	g.Edge("read", "ask")
	g.Edge("read", "audit")
	g.Join([]string{"ask", "audit"}, "pay")
	app, err := g.Compile(graph.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { app.Close(context.Background()) })
	return app
}

// drive runs a thread to its question, answers it, fails, and resumes, each time in a new App over the same file.
func drive(t testing.TB, open func() checkpoint.Store) *refund {
	t.Helper()
	bank := errBank
	id := graph.ID("thread")
	_, err := refunds(t, open(), &bank).Run(t.Context(), id, nil)
	waits, ok := errors.AsType[*graph.Interrupted](err)
	if !ok || len(waits.Questions) != 1 || !strings.Contains(string(waits.Questions[0].Prompt), "zebra-question") {
		t.Fatalf("the run ended with %v", err)
	}
	_, err = refunds(t, open(), &bank).Resume(t.Context(), id, graph.Answer(waits.Questions[0], "zebra-yes"))
	if !errors.Is(err, errBank) {
		t.Fatalf("the resume ended with %v", err)
	}
	bank = nil
	s, err := refunds(t, open(), &bank).Resume(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// C12: a graph runs over a wrapped store as over any other, with a question, a failure and a resume in new processes' Apps;
// and of what it knows not a word is in the files when they are encrypted.
func TestGraphs(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "threads.db")
			inner := openSQLite(t, path)
			s := drive(t, func() checkpoint.Store { return kind.wrap(t, inner, ring("k1")) })
			if got := strings.Join(s.Log.Slice(), " "); got != "zebra-read zebra-audit zebra-receipt" || s.Card.Get() != "zebra-card-4711" {
				t.Errorf("the state is %s, %s", s.Card.Get(), got)
			}
			key := checkpoint.Key{Tenant: graph.SingleTenant, Thread: "thread"}
			if sg, ok := kind.wrap(t, inner, ring("k1")).(*secure.Signed); ok {
				anchor := must[secure.Anchor](t)(sg.Anchor(t.Context(), key))
				if err := sg.Verify(t.Context(), key, anchor); err != nil || len(anchor.Tails) == 0 {
					t.Errorf("%v, %+v", err, anchor)
				}
			}
			if hits := wordsIn(t, dir, "zebra"); (hits == 0) != (kind.name != "sign") {
				t.Errorf("a word of the state is in the files %d times", hits)
			}
		})
	}
}

// wordsIn counts a word in all files of a folder, also in base64.
func wordsIn(t testing.TB, dir, word string) (hits int) {
	t.Helper()
	files := must[[]os.DirEntry](t)(os.ReadDir(dir))
	for _, f := range files {
		raw := must[[]byte](t)(os.ReadFile(filepath.Join(dir, f.Name())))
		for _, form := range []string{word, "emVicm", "plYnJh", "6ZWJyY"} {
			hits += bytes.Count(raw, []byte(form))
		}
	}
	return hits
}

// E53, C12: a graph makes the same calls of the store below, whether it is wrapped or not.
func TestGraphCallsBelow(t *testing.T) {
	t.Parallel()
	calls := func(wrap func(checkpoint.Store) checkpoint.Store) (out []int) {
		below := faultstore.New(new(checkpoint.Memory))
		drive(t, func() checkpoint.Store { return wrap(below) })
		for _, name := range []string{"Acquire", "Load", "Read", "Chains", "Inbox", "Answer", "Post", "Questions", "Runs", "Threads"} {
			out = append(out, below.Calls(name))
		}
		return out
	}
	want := calls(func(s checkpoint.Store) checkpoint.Store { return s })
	for _, kind := range kinds {
		got := calls(func(s checkpoint.Store) checkpoint.Store { return kind.wrap(t, s, ring("k1")) })
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: calls %v; without it %v", kind.name, got, want)
				break
			}
		}
	}
}
