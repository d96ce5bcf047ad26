package compact_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"go.uber.org/goleak"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/compact"
	"github.com/holdfast-go/holdfast/message"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// counter counts a token for four bytes of ASCII or for one other rune, so its sums are nearly those of the parts.
type counter struct{}

func (counter) Count(text string) int {
	runes := utf8.RuneCountInString(text)
	ascii := runes - (len(text)-runes+1)/2 // of text in UTF-8 of one and three bytes
	return (ascii+3)/4 + runes - ascii
}
func (counter) Margin() float64 { return 0 }
func (counter) Name() string    { return "test" }

// shelf keeps results in memory, by scope.
type shelf struct {
	sync.Mutex
	kept map[memory.Scope]map[string]memory.Result
	puts int
	fail func(n int) error // of the n-th put
}

func (s *shelf) PutResult(_ context.Context, scope memory.Scope, r memory.Result) error {
	s.Lock()
	defer s.Unlock()
	s.puts++
	if s.fail != nil {
		if err := s.fail(s.puts); err != nil {
			return err
		}
	}
	if r.ID != memory.ResultID(scope, r.Conversation, r.Call, r.Body) {
		return fmt.Errorf("result %s has an id that is not its own", r.ID)
	}
	if s.kept == nil {
		s.kept = map[memory.Scope]map[string]memory.Result{}
	}
	if s.kept[scope] == nil {
		s.kept[scope] = map[string]memory.Result{}
	}
	r.Body = slices.Clone(r.Body)
	s.kept[scope][r.ID] = r
	return nil
}

func (s *shelf) Result(_ context.Context, scope memory.Scope, id string) (memory.Result, error) {
	s.Lock()
	defer s.Unlock()
	r, ok := s.kept[scope][id]
	if !ok {
		return memory.Result{}, memory.ErrNoResult
	}
	return r, nil
}

func (s *shelf) ids(scope memory.Scope) []string {
	s.Lock()
	defer s.Unlock()
	var ids []string
	for id := range s.kept[scope] {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// all is the text of everything that was stored.
func (s *shelf) all(scope memory.Scope) string {
	s.Lock()
	defer s.Unlock()
	var b strings.Builder
	for _, r := range s.kept[scope] {
		b.Write(r.Body)
		b.WriteByte('\n')
	}
	return b.String()
}

func scopeOf(t testing.TB, user string) memory.Scope {
	t.Helper()
	s, err := memory.NewScope("acme", user)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newCompactor(t testing.TB, s *shelf, o compact.Options) *compact.Compactor {
	t.Helper()
	c, err := compact.New(counter{}, s, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// do compacts and fails the test on an error.
func do(t testing.TB, c *compact.Compactor, scope memory.Scope, st compact.State) (compact.State, compact.Report) {
	t.Helper()
	out, report, err := c.Compact(t.Context(), scope, "talk", st)
	if err != nil {
		t.Fatal(err)
	}
	return out, report
}

func tokens(text string) int { return counter{}.Count(text) }

// reads returns all that a search for the words finds from the index that the summary names.
func reads(t testing.TB, s *shelf, scope memory.Scope, st compact.State, words string) string {
	t.Helper()
	_, id, ok := strings.Cut(st.Summary.Text, "earlier messages: result ")
	if !ok {
		return ""
	}
	page, err := compact.Fetch(t.Context(), counter{}, s, scope, compact.Query{Result: id, Text: words, MaxTokens: 3000})
	if err != nil {
		t.Fatal(err)
	}
	return page.Text
}

func round(ask, answer string) []message.Message {
	return []message.Message{message.User(ask), message.Assistant(answer)}
}

// words makes about n tokens of talk that says nothing.
func words(n int, chinese bool) string {
	if chinese {
		return strings.Repeat("今天天气真不错我们慢慢聊聊别的事情吧。", n/19+1)
	}
	return strings.Repeat("well that sounds nice and all of it is fine by us here. ", n/14+1)
}

func long() bool { return os.Getenv("HOLDFAST_LONG") != "" }
