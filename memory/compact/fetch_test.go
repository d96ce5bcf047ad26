package compact_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/compact"
	"github.com/holdfast-go/holdfast/message"
)

// A tool result is replaced by an excerpt whose id leads to the exact bytes, for its own user only. The newest results stay
// up to their cap. R57, R58, R59, report 103
func TestLongResultsAreKeptByID(t *testing.T) {
	t.Parallel()
	s, scope := &shelf{}, scopeOf(t, "li")
	c := newCompactor(t, s, compact.Options{ResultCap: 1000, ExcerptCap: 150})
	old, now, huge := message.Call{ID: "c1", Name: "logs"}, message.Call{ID: "c2", Name: "logs"}, message.Call{ID: "c3", Name: "logs"}
	body := logOf(60) + "\xff\x00\r\n"
	history := []message.Message{
		message.User("Why is it slow?"), message.Assistant("", old), message.Tool(old.Done(body)),
		message.Assistant("", now, huge), message.Tool(now.Done(logOf(60)), huge.Done(logOf(2000))),
	}
	out, excerpts, err := c.TrimResults(t.Context(), scope, "talk", history)
	if err != nil || len(excerpts) != 2 || excerpts[0].Message != history[2].ID || excerpts[1].Message != history[4].ID {
		t.Fatalf("%+v, %v", excerpts, err)
	}
	results := append(out[2].Results(), out[4].Results()...)
	if tokens(results[0].Text()) > 150 || results[1].Text() != logOf(60) || tokens(results[2].Text()) > 1000 {
		t.Errorf("results of %d, %d and %d tokens", tokens(results[0].Text()), tokens(results[1].Text()), tokens(results[2].Text()))
	}
	if history[2].Results()[0].Text() != body {
		t.Error("the history that was given has changed")
	}
	if r, err := s.Result(t.Context(), scope, excerpts[0].Result); err != nil || string(r.Body) != body || r.Call != "c1" || r.Name != "logs" || !strings.Contains(results[0].Text(), r.ID) {
		t.Errorf("the full text is %q, %v", r.Body, err)
	}
	q := compact.Query{Result: excerpts[0].Result}
	if _, err := compact.Fetch(t.Context(), counter{}, s, scopeOf(t, "wang"), q); !errors.Is(err, memory.ErrNoResult) {
		t.Errorf("another user gets %v", err)
	}
	again, more, err := c.TrimResults(t.Context(), scope, "talk", out)
	if err != nil || len(more) > 0 || fmt.Sprint(again) != fmt.Sprint(out) {
		t.Errorf("trimming again: %+v, %v", more, err)
	}
}

// A result that is cut again names the same full text, and a text that only ends like an excerpt is kept itself. R58, report 97
func TestAnExcerptIsCutFromTheFullText(t *testing.T) {
	t.Parallel()
	s, scope := &shelf{}, scopeOf(t, "li")
	c := newCompactor(t, s, compact.Options{ResultCap: 1000, ExcerptCap: 150})
	first, second := message.Call{ID: "c1", Name: "logs"}, message.Call{ID: "c2", Name: "mail"}
	body := logOf(2000) + "\xff\n"
	history := []message.Message{message.User("Why is it slow?"), message.Assistant("", first), message.Tool(first.Done(body))}
	history, excerpts, err := c.TrimResults(t.Context(), scope, "talk", history)
	if err != nil || len(excerpts) != 1 {
		t.Fatalf("%+v, %v", excerpts, err)
	}
	id, got := excerpts[0].Result, history[2].Text()
	fake := words(2000, false) + got[strings.LastIndex(got, "\n"):]
	history = append(history, message.Assistant("", second), message.Tool(second.Done(fake)))
	history, excerpts, err = c.TrimResults(t.Context(), scope, "talk", history)
	if err != nil || len(excerpts) != 2 {
		t.Fatalf("%+v, %v", excerpts, err)
	}
	if got := history[2].Text(); excerpts[0].Result != id || tokens(got) > 150 || !strings.Contains(got, "log of 2001 lines") || !strings.Contains(got, id) {
		t.Errorf("the excerpt of %s is now\n%s", id, got)
	}
	if r, err := s.Result(t.Context(), scope, excerpts[1].Result); err != nil || string(r.Body) != fake {
		t.Errorf("the other text is kept as %d bytes of %d, %v", len(r.Body), len(fake), err)
	}
}

func TestFetchPagesThroughAResult(t *testing.T) {
	t.Parallel()
	s, scope := &shelf{}, scopeOf(t, "li")
	body := logOf(500) + strings.Repeat("长", 4000)
	id := memory.ResultID(scope, "talk", "c1", []byte(body))
	if err := s.PutResult(t.Context(), scope, memory.Result{ID: id, Conversation: "talk", Call: "c1", Body: []byte(body)}); err != nil {
		t.Fatal(err)
	}
	var all []string
	q := compact.Query{Result: id, MaxTokens: 900}
	for pages := 0; ; pages++ {
		page, err := compact.Fetch(t.Context(), counter{}, s, scope, q)
		if err != nil || tokens(page.Text) > 900 || pages > 200 {
			t.Fatalf("page %d of %d tokens: %v", pages, tokens(page.Text), err)
		}
		for line := range strings.SplitSeq(page.Text, "\n") {
			_, line, _ = strings.Cut(line, ": ")
			all = append(all, line)
		}
		if page.Next == 0 {
			break
		}
		q.From = page.Next
	}
	if got := strings.Join(all[:500], "\n") + "\n" + strings.Join(all[500:], ""); got != body {
		t.Error("the pages together are not the text")
	}
	page, err := compact.Fetch(t.Context(), counter{}, s, scope, compact.Query{Result: id, Text: "error LEDGER"})
	if want := " 498: 2026-03-01T10:08:17 ERROR TimeoutException calling ledger, status=503"; err != nil || page.Text != id+want || page.Next != 0 {
		t.Errorf("a search finds %+v, %v", page, err)
	}
	if page, err := compact.Fetch(t.Context(), counter{}, s, scope, compact.Query{Result: id, Text: "slow", From: 3}); err != nil || !strings.Contains(page.Text, " 251: ") || strings.Contains(page.Text, " 151: ") {
		t.Errorf("from the third match: %+v, %v", page, err)
	}
}

func TestOptionsThatCannotBeMet(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]compact.Options{
		"target above trigger": {Target: 0.9}, "trigger above all": {Trigger: 1.5}, "negative": {Budget: -1}, "no room": {Budget: 500},
		"summary": {SummaryCap: 10}, "excerpt": {ExcerptCap: 3}, "result": {ResultCap: 70, ExcerptCap: 80}, "chunk": {ChunkCap: 500},
		"rounds": {Rounds: -1}, "attempts": {Attempts: -1},
	} {
		if _, err := compact.New(counter{}, &shelf{}, o); !errors.Is(err, compact.ErrOptions) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := compact.New(nil, &shelf{}, compact.Options{}); !errors.Is(err, compact.ErrOptions) {
		t.Errorf("no counter: %v", err)
	}
	c := newCompactor(t, &shelf{}, compact.Options{})
	st := compact.State{History: []message.Message{message.User("hi")}}
	if out, _, err := c.Compact(t.Context(), memory.Scope{}, "talk", st); !errors.Is(err, memory.ErrScope) || len(out.History) != 1 {
		t.Errorf("without a scope: %v", err)
	}
	if _, _, err := c.TrimResults(t.Context(), memory.Scope{}, "talk", st.History); !errors.Is(err, memory.ErrScope) {
		t.Errorf("without a scope: %v", err)
	}
}

// broken is a shelf that refuses to give one result.
type broken struct {
	*shelf
	id  string
	err error
}

func (b broken) Result(ctx context.Context, scope memory.Scope, id string) (memory.Result, error) {
	if id == b.id {
		return memory.Result{}, b.err
	}
	return b.shelf.Result(ctx, scope, id)
}

// A search says that the store has failed, and not that nothing was found. A result that is gone is passed over. R58
func TestASearchTellsOfABrokenStore(t *testing.T) {
	t.Parallel()
	s, scope := &shelf{}, scopeOf(t, "li")
	c := newCompactor(t, s, compact.Options{Budget: 2000, SummaryCap: 200, ChunkCap: 1000})
	st, report := do(t, c, scope, compact.State{History: talk(30)})
	_, index, _ := strings.Cut(st.Summary.Text, "earlier messages: result ")
	q := compact.Query{Result: index, Text: "T-1000"}
	refused := errors.New("connection refused")
	if page, err := compact.Fetch(t.Context(), counter{}, broken{s, report.Archives[0], refused}, scope, q); !errors.Is(err, refused) {
		t.Errorf("it finds %q, %v", page.Text, err)
	}
	q.Text = "T-1010"
	if page, err := compact.Fetch(t.Context(), counter{}, broken{s, report.Archives[0], memory.ErrNoResult}, scope, q); err != nil || !strings.Contains(page.Text, "T-1010") {
		t.Errorf("it finds %q, %v", page.Text, err)
	}
}
