package graphcli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/state"
)

// rows decodes JSON lines.
func rows[T any](t testing.TB, text string) (out []T) {
	t.Helper()
	for dec := json.NewDecoder(strings.NewReader(text)); dec.More(); {
		var row T
		if err := dec.Decode(&row); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		out = append(out, row)
	}
	return out
}

type row struct {
	Thread, Status, Cursor, ID, Hash, Run string
}

// Lists come in pages of any size that miss nothing and repeat nothing, as text and as JSON, and are filtered by tenant, status,
// owner, graph and metadata. // E58 E39
func TestLists(t *testing.T) {
	t.Parallel()
	store := open(t)
	own, v := program(t, store), bare(t, store)
	for i := range 7 {
		tenant := []string{"acme", "zeta"}[i%2]
		must(t, own, "run", fmt.Sprint("t", i), "-tenant", tenant, "-owner", fmt.Sprint("o", i%3), "-meta", fmt.Sprint("n=", i),
			"-input", fmt.Sprintf(`{"amount":%d}`, i))
	}
	must(t, v, "cancel", "t0", "-tenant", "acme")
	for _, c := range []struct {
		list string
		want int
	}{{"threads", 7}, {"runs", 7}, {"questions", 6}} {
		for size := 1; size <= 8; size++ {
			seen := map[string]bool{}
			after := ""
			for {
				page := must(t, v, c.list, "-limit", fmt.Sprint(size), "-after", after)
				list := rows[struct {
					Thread any
					ID     string
					Cursor string
				}](t, must(t, v, c.list, "-limit", fmt.Sprint(size), "-after", after, "-json"))
				for _, r := range list {
					seen[fmt.Sprint(r.Thread, r.ID)] = true
					after = r.Cursor
				}
				if full := strings.Contains(page, "more: -after "+after); full != (len(list) == size) {
					t.Fatalf("%s by %d: %s", c.list, size, page)
				}
				narrow(t, page)
				if len(list) < size {
					break
				}
			}
			if len(seen) != c.want {
				t.Errorf("%s by %d: %v", c.list, size, seen)
			}
		}
		if got := rows[row0](t, must(t, v, c.list, "-limit", "0", "-json")); len(got) != c.want {
			t.Errorf("all %s: %d", c.list, len(got))
		}
	}
	for _, c := range []struct {
		want int
		args []string
	}{
		{4, []string{"threads", "-tenant", "acme"}}, {1, []string{"threads", "-status", "cancelled"}}, {3, []string{"threads", "-owner", "o0"}},
		{7, []string{"threads", "-graph", "refund"}}, {0, []string{"threads", "-graph", "other"}}, {1, []string{"threads", "-meta", "n=3"}},
		{0, []string{"threads", "-held"}}, {0, []string{"threads", "-meta", "n=3", "-meta", "m=1"}}, {6, []string{"runs", "-status", "interrupted"}},
		{1, []string{"runs", "t3", "-tenant", "zeta"}}, {0, []string{"runs", "t3"}}, {1, []string{"runs", "-meta", "n=3"}},
		{1, []string{"questions", "t3", "-tenant", "zeta"}}, {3, []string{"questions", "-tenant", "zeta"}},
		{0, []string{"questions", "-expired"}}, {0, []string{"questions", "-state", "answered"}}, {1, []string{"questions", "-state", "closed"}},
	} {
		if got := rows[row0](t, must(t, v, append(c.args, "-json")...)); len(got) != c.want {
			t.Errorf("%q: %d rows, want %d", c.args, len(got), c.want)
		}
	}
	if got := must(t, v, "threads", "-graph", "other"); got != "none\n" {
		t.Errorf("an empty list is %q", got)
	}
}

type row0 struct{ Cursor string }

// first is the first open question of a thread.
func first(t testing.TB, v *graph.View, thread string) row {
	t.Helper()
	type question struct{ ID, Hash, Run, Cursor string }
	list := rows[question](t, must(t, v, "questions", thread, "-json"))
	if len(list) == 0 {
		t.Fatalf("thread %s has no question", thread)
	}
	return row{ID: list[0].ID, Hash: list[0].Hash}
}

// A thread waits; a person answers by the command line, in a dialogue or in one line; the program goes on and finishes. The second
// answer is refused and told who was faster. // E58 E31 E32
func TestAnswerByHand(t *testing.T) {
	t.Parallel()
	for _, dialogue := range []bool{false, true} {
		t.Run(fmt.Sprint("dialogue ", dialogue), func(t *testing.T) {
			t.Parallel()
			store := open(t)
			own, v := program(t, store), bare(t, store)
			must(t, own, "run", "a", "-input", `{"customer":"李雷","amount":5}`)
			q := first(t, v, "a")
			refused(t, v, 1, checkpoint.ErrChanged.Error(), "answer", "a", q.ID, "-by", "ann", "-value", "true", "-hash", "0123456789")
			refused(t, v, 1, graph.ErrBadAnswer.Error()[len("graph: "):], "answer", "a", q.ID, "-by", "ann", "-value", `"yes"`, "-hash", q.Hash)
			refused(t, v, 1, "question zzzz is not pending", "answer", "a", "zzzz", "-by", "ann", "-value", "true", "-hash", q.Hash)
			if r := cli(t, v, "", "answer", "a", "-by", "ann"); r.code != 1 || !strings.Contains(r.err, "nothing was answered") {
				t.Errorf("an answer out of nothing: %+v", r)
			}
			if dialogue {
				r := cli(t, v, "true\n", "answer", "a", "-by", "ann")
				if r.code != 0 || !strings.Contains(r.out, "给李雷退款 5 元？") || !strings.Contains(r.out, "boolean") {
					t.Fatalf("%+v", r)
				}
			} else {
				got := rows[map[string]any](t, must(t, v, "answer", "a", q.ID[:3], "-by", "ann", "-value", "true", "-hash", q.Hash[:8], "-json"))
				if got[0]["question"] != q.ID || got[0]["by"] != "ann" || got[0]["answer"] != true {
					t.Errorf("%v", got)
				}
			}
			refused(t, v, 1, `answered by "ann"`, "answer", "a", q.ID, "-by", "bob", "-value", "false", "-hash", q.Hash)
			if got := must(t, own, "recover"); !strings.Contains(got, "default/a: completed") {
				t.Errorf("recover: %s", got)
			}
			if got := must(t, own, "recover"); got != "nothing was left over\n" {
				t.Errorf("recover again: %s", got)
			}
			st := rows[struct {
				Status string
				State  map[string]any
			}](t, must(t, v, "show", "a", "-json"))[0]
			if st.Status != "completed" || st.State["status"] != "receipt for 5" {
				t.Errorf("%+v", st)
			}
			refused(t, v, 1, "has no open question", "answer", "a", "-by", "ann", "-value", "true", "-hash", q.Hash)
			refused(t, own, 1, graph.ErrNothingToDo.Error(), "resume", "a")
		})
	}
}

type talk struct {
	Said state.List[string] `json:"said"`
}

// A text need not be quoted where the schema asks for one; two open questions need an id; who must not answer is refused; what a
// terminal would act on is shown as an escape. // E58 E31
func TestAnswerTexts(t *testing.T) {
	t.Parallel()
	g := graph.New[talk]("talk")
	for _, name := range []string{"left", "right"} {
		g.Node(name, func(ctx context.Context, s *talk) error {
			said, err := graph.Ask(ctx, name, "\x1b[2J"+name+"\u202e?\n", graph.AskOptions[string]{NotBy: "eve"})
			if err == nil {
				s.Said.Append(name + ":" + said)
			}
			return err
		})
		g.Edge(graph.Start, name)
	}
	store := open(t)
	app, err := g.Compile(graph.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	own, v := closed(t, app.View()), bare(t, store)
	out := must(t, own, "run", "a")
	if strings.ContainsAny(out, "\x1b\u202e") || !strings.Contains(out, `\x1b[2Jleft\u202e?`) {
		t.Errorf("%q", out)
	}
	if text := must(t, v, "show", "a"); strings.Count(text, "(not by eve)") != 2 {
		t.Error(text)
	}
	if r := cli(t, v, "x\n", "answer", "a", "-by", "ann"); r.code != 1 || !strings.Contains(r.err, "left") || !strings.Contains(r.err, "right") {
		t.Errorf("%+v", r)
	}
	type open struct{ ID, Name string }
	for _, q := range rows[open](t, must(t, v, "questions", "-json")) {
		refuse := cli(t, v, "x\n", "answer", "a", q.ID, "-by", "eve")
		if refuse.code != 1 || !strings.Contains(refuse.err, checkpoint.ErrNotAllowed.Error()) || strings.ContainsAny(refuse.out, "\x1b\u202e") {
			t.Errorf("%+v", refuse)
		}
		text := map[string]string{"left": "it is fine", "right": `"quoted \"well\""`}[q.Name]
		if r := cli(t, v, text+"\n", "answer", "a", q.ID, "-by", "ann"); r.code != 0 {
			t.Errorf("%+v", r)
		}
	}
	resumed := must(t, own, "resume", "a", "-json")
	if !strings.Contains(resumed, `"said":["left:it is fine","right:quoted \"well\""]`) {
		t.Error(resumed)
	}
}
