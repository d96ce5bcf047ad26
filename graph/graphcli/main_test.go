package graphcli_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/graph/graphcli"
	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/holdfast-go/holdfast/state"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(testserver.Main{M: m}) }

// refund is the state of the program in these tests.
type refund struct {
	Customer state.Last[string]     `json:"customer"`
	Amount   state.Last[int]        `json:"amount"`
	Docs     state.List[string]     `json:"docs"`
	Scores   state.Map[string, int] `json:"scores"`
	Status   state.Last[string]     `json:"status"`
}

// program compiles the graph of these tests: search, pay (asks, then charges), notify.
func program(t testing.TB, store checkpoint.Store) *graph.View {
	t.Helper()
	g := graph.New[refund]("refund")
	g.Node("search", func(_ context.Context, s *refund) error {
		s.Docs.Append("退款规则：签收后三十天内可以退款")
		s.Scores.Put("rules", 3)
		return nil
	})
	g.Node("pay", func(ctx context.Context, s *refund) error {
		ok, err := graph.Ask[bool](ctx, "approve", fmt.Sprintf("给%s退款 %d 元？", s.Customer.Get(), s.Amount.Get()))
		if err != nil {
			return err
		}
		s.Status.Set("declined")
		if ok {
			receipt, err := graph.Once(ctx, "charge", func(context.Context, string) (string, error) {
				return fmt.Sprintf("receipt for %d", s.Amount.Get()), nil
			})
			s.Status.Set(receipt)
			return err
		}
		return nil
	})
	g.Node("notify", func(_ context.Context, s *refund) error { s.Docs.Append("notified"); return nil })
	g.Edge(graph.Start, "search")
	g.Edge("search", "pay")
	g.Edge("pay", "notify")
	g.Edge("notify", graph.End)
	app, err := g.Compile(graph.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	return closed(t, app.View())
}

// bare is a View of the store without the program.
func bare(t testing.TB, store checkpoint.Store) *graph.View { return closed(t, graph.Bare(store)) }

func closed(t testing.TB, v *graph.View) *graph.View {
	t.Cleanup(func() {
		if err := v.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return v
}

// open opens a SQLite file of the test.
func open(t testing.TB) checkpoint.Store {
	t.Helper()
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "threads.db"), sqlite.Options{Synchronous: sqlite.Normal})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// A result is what a command has printed, and its exit code.
type result struct {
	out, err string
	code     int
}

// cli runs one command with an input.
func cli(t testing.TB, v *graph.View, stdin string, args ...string) result {
	t.Helper()
	name := "holdfast"
	if !v.Bare() {
		name = "refund"
	}
	var out, errs bytes.Buffer
	code := graphcli.Run(t.Context(), v, append([]string{name}, args...), strings.NewReader(stdin), &out, &errs)
	if (code == 0) != (errs.Len() == 0) {
		t.Errorf("%q: code %d and errors %q", args, code, errs.String())
	}
	return result{out.String(), errs.String(), code}
}

// must is cli of a command that is to succeed.
func must(t testing.TB, v *graph.View, args ...string) string {
	t.Helper()
	r := cli(t, v, "", args...)
	if r.code != 0 {
		t.Fatalf("%q: code %d: %s", args, r.code, r.err)
	}
	return r.out
}

// refused is cli of a command that is to fail with a code and a text.
func refused(t testing.TB, v *graph.View, code int, want string, args ...string) {
	t.Helper()
	if r := cli(t, v, "", args...); r.code != code || !strings.Contains(r.err, want) {
		t.Errorf("%q: code %d, %q; want code %d, %q", args, r.code, r.err, code, want)
	}
}
