package graphcli_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/state"
)

type thread struct {
	Entry     int64
	Status    string
	Next      []graph.TaskInfo
	Questions []graph.Question
	State     struct {
		Customer string
		Amount   int
		Docs     []string
		Scores   map[string]int
		Status   string
	}
}

func shown(t testing.TB, v *graph.View, args ...string) thread {
	t.Helper()
	return rows[thread](t, must(t, v, append([]string{"show", "-json"}, args...)...))[0]
}

// finished runs a thread to its end.
func finished(t testing.TB, own *graph.View, id string, amount int) {
	t.Helper()
	must(t, own, "run", id, "-input", fmt.Sprintf(`{"customer":"李雷","amount":%d}`, amount))
	q := first(t, own, id)
	must(t, own, "answer", id, "-by", "ann", "-value", "true", "-hash", q.Hash)
	must(t, own, "resume", id)
}

// An old entry is forked and edited by the command line, without the program; the program resumes it to the right state, and the
// branch it came from stays as it was, byte for byte. // E58 E41 E42
func TestForkAndEditByHand(t *testing.T) {
	t.Parallel()
	store := open(t)
	own, v := program(t, store), bare(t, store)
	finished(t, own, "a", 9)
	before := records(t, v, "a", 0)
	refused(t, v, 1, "charge", "fork", "a", "1") // effects are recorded behind it
	refused(t, v, 1, "charge", "edit", "a", "1", "-next", "pay", "-as", "pay")
	must(t, v, "fork", "a", "1", "-name", "cheaper", "-effects", "rerun", "-by", "bob")
	file := filepath.Join(t.TempDir(), "set.json")
	if err := os.WriteFile(file, []byte(`{"amount":3,"docs":["by hand"],"scores":{"luck":7}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, v, "edit", "a", "-set", "@"+file, "-next", "search", "-by", "bob")
	st := shown(t, v, "a")
	if s := st.State; s.Amount != 3 || !slices.Equal(s.Docs[1:], []string{"by hand"}) || s.Scores["luck"] != 7 {
		t.Fatalf("%+v", s)
	}
	if len(st.Next) != 2 || st.Status != "interrupted" {
		t.Fatalf("%+v", st)
	}
	if r := cli(t, v, `{"customer":"韩梅梅"}`, "edit", "a", "-set", "-", "-next", graph.End); r.code != 0 {
		t.Fatal(r.err)
	}
	must(t, own, "resume", "a") // pay asks again, search runs beside it, and pay behind it
	for len(shown(t, v, "a").Questions) > 0 {
		q := shown(t, v, "a").Questions[0]
		if !strings.Contains(q.Text(), "韩梅梅退款 3 元") {
			t.Errorf("asked %s", q.Text())
		}
		must(t, v, "answer", "a", q.ID, "-by", "bob", "-value", "true", "-hash", fmt.Sprintf("%x", q.Shown))
		must(t, own, "resume", "a")
	}
	st = shown(t, v, "a")
	if st.Status != "completed" || st.State.Status != "receipt for 3" || st.State.Customer != "韩梅梅" || len(st.State.Docs) < 3 {
		t.Errorf("%+v", st)
	}
	if old := shown(t, v, "a", "-branch", "main"); old.State.Amount != 9 || old.State.Status != "receipt for 9" {
		t.Errorf("main: %+v", old)
	}
	if got := records(t, v, "a", 0); got != before {
		t.Error("the old branch has changed")
	}
	must(t, v, "activate", "a", "main")
	text := must(t, v, "show", "a")
	if !strings.Contains(text, "main (active)") || !strings.Contains(text, "cheaper, fork of main") {
		t.Error(text)
	}
	narrow(t, text)
	narrow(t, must(t, v, "history", "a", "-branch", "cheaper", "-diff"))
	if h := must(t, v, "history", "a", "-branch", "cheaper"); !strings.Contains(h, "fork of main") || !strings.Contains(h, "edit") {
		t.Error(h)
	}
}

// records are the records of one branch in an export.
func records(t testing.TB, v *graph.View, id string, branch int) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(must(t, v, "export", id)) {
		if strings.HasPrefix(line, fmt.Sprintf(`{"type":"record","branch":%d,`, branch)) {
			out.WriteString(line)
		}
	}
	if out.Len() == 0 {
		t.Fatalf("branch %d of %s has no records", branch, id)
	}
	return out.String()
}

// With the program an edit follows its edges, and its document is checked against the types. // E41
func TestEditWithTheProgram(t *testing.T) {
	t.Parallel()
	own := program(t, open(t))
	must(t, own, "run", "a", "-input", `{"customer":"李雷","amount":2}`)
	refused(t, own, 1, "amount", "edit", "a", "-as", "pay", "-set", `{"amount":"two"}`)
	must(t, own, "edit", "a", "-as", "pay", "-set", `{"status":"paid by hand"}`)
	if st := shown(t, own, "a"); st.State.Status != "paid by hand" || len(st.Next) != 1 || st.Next[0].Node != "notify" {
		t.Fatalf("%+v", st)
	}
	must(t, own, "resume", "a")
	if st := shown(t, own, "a"); st.Status != "completed" || !slices.Contains(st.State.Docs, "notified") {
		t.Errorf("%+v", st)
	}
}

// Cancel, retain and delete by hand; delete asks, and what is not a yes deletes nothing. // E58 E46
func TestHouseByHand(t *testing.T) {
	t.Parallel()
	store := open(t)
	own, v := program(t, store), bare(t, store)
	for range 40 {
		finished(t, own, "a", 1)
	}
	must(t, own, "run", "b", "-input", `{"amount":1}`)
	if got := must(t, v, "cancel", "b", "-by", "ann"); !strings.Contains(got, "is cancelled") {
		t.Error(got)
	}
	refused(t, v, 1, graph.ErrNothingToDo.Error(), "cancel", "b")
	if got := rows[graph.Removed](t, must(t, v, "retain", "-all", "-keep", "1", "-json"))[0]; got.Records == 0 || got.Threads != 1 {
		t.Errorf("%+v", got)
	}
	refused(t, v, 1, graph.ErrPruned.Error(), "show", "a", "-at", "0")
	must(t, v, "verify", "a", "b")
	history := must(t, v, "history", "a", "-diff")
	narrow(t, history)
	if page := must(t, v, "history", "a", "-limit", "2"); strings.Count(page, "\n") != 4 || !strings.Contains(page, "more: -before ") {
		t.Error(page)
	}
	for _, no := range []string{"", "n\n", "\n", "yess\n"} {
		if r := cli(t, v, no, "delete", "a"); r.code != 1 || !strings.Contains(r.err, "nothing was deleted") {
			t.Errorf("%q: %+v", no, r)
		}
	}
	if r := cli(t, v, "Yes\n", "delete", "a"); r.code != 0 {
		t.Errorf("%+v", r)
	}
	must(t, v, "delete", "b", "-yes", "-json")
	if got := must(t, v, "threads"); got != "none\n" {
		t.Error(got)
	}
}

// A run that fails, or stops at a step limit, is exit code 1; one that waits is 0 and says so. // E58
func TestRunByHand(t *testing.T) {
	t.Parallel()
	own := program(t, open(t))
	refused(t, own, 1, "no field", "run", "a", "-input", `{"colour":1}`)
	refused(t, own, 1, graph.ErrStepLimit.Error(), "run", "a", "-input", `{"amount":1}`, "-steps", "1")
	refused(t, own, 1, "unfinished run", "run", "a")
	got := rows[struct {
		Status    string
		Questions []graph.Question
	}](t, must(t, own, "resume", "a", "-json"))[0]
	if got.Status != "interrupted" || len(got.Questions) != 1 {
		t.Errorf("%+v", got)
	}
	must(t, own, "run", "b", "-request", "r1", "-input", `{"amount":1}`, "-on-busy", "preempt")
	refused(t, own, 1, "the request has started", "run", "b", "-request", "r1")
	refused(t, own, 1, "queued", "run", "b", "-on-busy", "enqueue")
	waits := rows[struct{ Inbox []struct{ Kind, Run string } }](t, must(t, own, "show", "b", "-json"))[0].Inbox
	if len(waits) != 1 || waits[0].Kind != "input" || !strings.Contains(must(t, own, "show", "b"), "inbox       input of run "+waits[0].Run) {
		t.Fatalf("%+v", waits)
	}
	must(t, own, "cancel", "b", waits[0].Run, "-by", "ann")
	if text := must(t, own, "show", "b"); !strings.Contains(text, "inbox       cancel of run "+waits[0].Run+" by ann") {
		t.Error(text)
	}
	refused(t, own, 1, "unknown policy", "run", "b", "-on-busy", "hope")
	if got := must(t, own, "draw", "-dot"); !strings.HasPrefix(got, "digraph") {
		t.Error(got)
	}
	if got := must(t, own, "draw", "-json"); !strings.Contains(got, `"graph":"refund"`) {
		t.Error(got)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted by hand"))
	_, err := own.Run(ctx, graph.ID("c"), nil)
	if err == nil {
		t.Error("a context that has ended starts nothing")
	}
}

// A program that lacks a node of the thread is told which, in clear text, and nothing changes. // E58 E45
func TestAnotherProgram(t *testing.T) {
	t.Parallel()
	store := open(t)
	must(t, program(t, store), "run", "a", "-input", `{"amount":1}`)
	g := graph.New[refund]("refund")
	g.Node("search", func(context.Context, *refund) error { return nil })
	g.Edge(graph.Start, "search")
	app, err := g.Compile(graph.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	other := closed(t, app.View())
	before := must(t, other, "export", "a")
	refused(t, other, 1, `node "pay" is scheduled and this graph has none of that name`, "resume", "a")
	if got := must(t, other, "export", "a"); got != before {
		t.Error("the thread has changed")
	}
}

// While somebody works on a thread a fork is refused and says who does; a cancel is left to him, and he obeys. // E58 E26
func TestHeldThread(t *testing.T) {
	t.Parallel()
	store, begun := open(t), make(chan struct{})
	g := graph.New[letter]("slow")
	g.Node("work", func(ctx context.Context, _ *letter) error {
		close(begun)
		<-ctx.Done()
		return context.Cause(ctx)
	})
	g.Edge(graph.Start, "work")
	app, err := g.Compile(graph.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	own, v := closed(t, app.View()), bare(t, store)
	ended := make(chan error)
	go func() {
		_, err := app.Run(context.WithoutCancel(t.Context()), graph.ID("a"), nil)
		ended <- err
	}()
	<-begun
	refused(t, v, 1, fmt.Sprintf("worked on by process %d", os.Getpid()), "fork", "a")
	refused(t, v, 1, "worked on by process", "edit", "a", "-next", "work")
	if got := must(t, v, "show", "a"); !strings.Contains(got, fmt.Sprintf("holder      process %d on ", os.Getpid())) {
		t.Error(got)
	}
	if got := must(t, v, "threads", "-held"); !strings.Contains(got, "default/a") {
		t.Error(got)
	}
	must(t, v, "cancel", "a", "-by", "ann")
	if err := <-ended; !errors.Is(err, graph.ErrCancelled) {
		t.Errorf("the run ended with %v", err)
	}
	if st := shown(t, own, "a"); st.Status != "cancelled" {
		t.Errorf("%+v", st)
	}
}

type letter struct {
	Text state.Last[string] `json:"text"`
}

// A child graph that asks is shown with its path, its state and its history; its question is answered as any other; its chain is
// exported and verified with the rest; a fork may begin at one of its entries. // E58 E44
func TestChildGraphsAreShown(t *testing.T) {
	t.Parallel()
	mail := graph.New[letter]("mail")
	mail.Node("write", func(_ context.Context, s *letter) error { s.Text.Set("Dear customer"); return nil })
	mail.Node("sign", func(ctx context.Context, s *letter) error {
		name, err := graph.Ask[string](ctx, "name", "Who signs?")
		s.Text.Set(s.Text.Get() + ", " + name)
		return err
	})
	mail.Edge(graph.Start, "write")
	mail.Edge("write", "sign")
	child, err := mail.Compile(graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := graph.New[letter]("office")
	graph.Mount(g, "mail", child, nil, func(s, c *letter) { s.Text.Set(c.Text.Get()) })
	g.Edge(graph.Start, "mail")
	store := open(t)
	app, err := g.Compile(graph.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	own, v := closed(t, app.View()), bare(t, store)
	must(t, own, "run", "a")
	text := must(t, v, "show", "a")
	narrow(t, text)
	for _, want := range []string{"mail/name: Who signs?", `-child '["t0.0"]'`, "next sign", "mail:\n{\n  \"text\": \"Dear customer\""} {
		if !strings.Contains(strings.ReplaceAll(text, "\n            ", " "), want) {
			t.Errorf("%s\nhas no %s", text, want)
		}
	}
	if got := must(t, v, "questions"); !strings.Contains(got, "mail/name") {
		t.Error(got)
	}
	if got := must(t, v, "history", "a", "-child", `["t0.0"]`); !strings.Contains(got, "write") {
		t.Error(got)
	}
	refused(t, v, 2, "JSON list", "history", "a", "-child", "mail")
	refused(t, v, 2, "do not go together", "history", "a", "-child", `["t0.0"]`, "-diff")
	if got := must(t, v, "verify", "a"); !strings.Contains(got, "in 2 chains") {
		t.Error(got)
	}
	if got := must(t, v, "export", "a"); !strings.Contains(got, `"namespace":["t0.0"]`) {
		t.Error(got)
	}
	must(t, v, "fork", "a", "0", "-child", `["t0.0"]`, "-name", "again")
	must(t, own, "resume", "a")
	q := first(t, v, "a")
	must(t, v, "answer", "a", q.ID, "-by", "ann", "-value", "Ann", "-hash", q.Hash)
	if got := must(t, own, "resume", "a", "-json"); !strings.Contains(got, `"text":"Dear customer, Ann"`) {
		t.Error(got)
	}
	must(t, v, "activate", "a", "main")
	must(t, v, "cancel", "a")
	must(t, v, "verify", "a")
}
