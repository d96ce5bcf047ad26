package compact_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/memory/compact"
	"github.com/holdfast-go/holdfast/message"
)

// planted has 20 facts, each with the mark that it is found by.
func planted(chinese bool) (facts, marks []string) {
	for i := range 20 {
		mark := fmt.Sprintf("ORD-%d", 70000+137*i)
		forms := []string{"The refund of order %s was approved by Mrs Ito.", "We decided that %s stays in the staging environment.",
			"The limit of account %s is 500 euros.", "Root cause of %s is a full disk on payment-api."}
		if chinese {
			forms = []string{"订单%s的退款已经确认。", "我们决定%s只放在测试环境。", "账户%s的上限是500元。", "%s的原因是 payment-api 磁盘满了。"}
		}
		facts, marks = append(facts, fmt.Sprintf(forms[i%4], mark)), append(marks, mark)
	}
	return facts, marks
}

// Of 20 facts over 60,000 tokens that ten compactions or more take out, at least 19 are found through the summary or what
// it leads to; the summary never exceeds its cap. R48, R52, R54, R58, T11, report 107
func TestPlantedFactsStayWithinReach(t *testing.T) {
	t.Parallel()
	for _, chinese := range []bool{false, true} {
		t.Run(fmt.Sprint("chinese=", chinese), func(t *testing.T) {
			t.Parallel()
			s, scope := &shelf{}, scopeOf(t, "li")
			c := newCompactor(t, s, compact.Options{Budget: 8000})
			facts, marks := planted(chinese)
			st := compact.State{}
			evicted, compactions := 0, 0
			for i := range 140 {
				text := words(250, chinese)
				if i%6 == 0 && i/6 < len(facts) {
					text += facts[i/6] + words(40, chinese)
				}
				st.History = append(st.History, round(text, words(250, chinese))...)
				var report compact.Report
				st, report = do(t, c, scope, st)
				if report.SummaryTokens > 400 || tokens(st.Summary.Text) > 400 {
					t.Fatalf("the summary has %d tokens", report.SummaryTokens)
				}
				if len(report.Evicted) > 0 {
					compactions++
					evicted += 280 * len(report.Evicted)
				}
			}
			if evicted < 60000 || compactions < 10 {
				t.Fatalf("only %d tokens in %d compactions were taken out", evicted, compactions)
			}
			found, inSummary := 0, 0
			for i, mark := range marks {
				if strings.Contains(st.Summary.Text, mark) {
					inSummary++
				}
				if strings.Contains(st.Summary.Text, facts[i]) || strings.Contains(reads(t, s, scope, st, mark), facts[i]) {
					found++
				}
			}
			if found < 19 || inSummary < 8 {
				t.Errorf("%d facts of 20 are within reach, %d in the summary:\n%s", found, inSummary, st.Summary.Text)
			}
		})
	}
}

// 500 turns stay below the budget, the summary below its cap, and the index takes one line of it. R52, R54, R64
func TestFiveHundredTurnsStayBelowTheBudget(t *testing.T) {
	t.Parallel()
	s, scope := &shelf{}, scopeOf(t, "li")
	c := newCompactor(t, s, compact.Options{Budget: 4000, SummaryCap: 300, ChunkCap: 1000})
	st := compact.State{History: []message.Message{message.System("be kind")}}
	var all []message.Message
	for i := range 500 {
		turn := round(fmt.Sprintf("Ticket T-%d is about the printer on floor %d. %s", 10000+i, i%9, words(60, false)), words(60, false))
		all, st.History = append(all, turn...), append(st.History, turn...)
		var report compact.Report
		if st, report = do(t, c, scope, st); report.After > 3200 || report.SummaryTokens > 300 {
			t.Fatalf("after turn %d: %+v", i, report)
		}
	}
	if n := strings.Count(st.Summary.Text, "result r_"); n != 1 {
		t.Errorf("%d results are named in the summary:\n%s", n, st.Summary.Text)
	}
	if len(st.Summary.Covers) != compact.MaxCovers || st.History[0].Text() != "be kind" {
		t.Errorf("%d ids are covered, the history begins with %q", len(st.Summary.Covers), st.History[0].Text())
	}
	for _, i := range []int{0, 1, 7, 250, 420} { // the oldest lie behind older indexes
		if want := fmt.Sprint("T-", 10000+i); !strings.Contains(reads(t, s, scope, st, want), want) {
			t.Errorf("ticket %s is out of reach", want)
		}
	}
	if want := fmt.Sprintf("Full text of %d earlier messages", len(all)-len(st.History)+1); !strings.Contains(st.Summary.Text, want) {
		t.Errorf("the summary does not say %q:\n%s", want, st.Summary.Text)
	}
}

// Below the trigger nothing is done; above it the history ends at or below the target, in one comparison with a fixed share.
// The state that is given stays as it is. R53, R64, T9
func TestTriggerAndTarget(t *testing.T) {
	t.Parallel()
	s, scope := &shelf{}, scopeOf(t, "li")
	c := newCompactor(t, s, compact.Options{Budget: 2000, SummaryCap: 100, ChunkCap: 400, Rounds: 1})
	st := compact.State{}
	for {
		given := compact.State{History: slices.Clone(st.History)}
		out, report := do(t, c, scope, st)
		if !reflect.DeepEqual(st, given) {
			t.Fatal("the state that was given has changed")
		}
		if report.Before <= 1600 {
			if report.Stop != compact.Below || !reflect.DeepEqual(out, st) || s.puts > 0 {
				t.Fatalf("below the trigger: %+v", report)
			}
			st.History = append(st.History, round(words(80, false), words(80, false))...)
			continue
		}
		if report.Stop != compact.Done || report.After > 1000 || report.After < 600 {
			t.Errorf("above the trigger: %+v", report)
		}
		return
	}
}

// The latest rounds stay word for word although the target alone has no room for them. R47
func TestLatestRoundsStay(t *testing.T) {
	t.Parallel()
	s, scope := &shelf{}, scopeOf(t, "li")
	c := newCompactor(t, s, compact.Options{Budget: 4000, Rounds: 4, SummaryCap: 200})
	st := compact.State{}
	for range 10 {
		st.History = append(st.History, round(words(300, false), words(300, false))...)
	}
	out, report := do(t, c, scope, st)
	if want := st.History[len(st.History)-8:]; !reflect.DeepEqual(out.History, want) {
		t.Errorf("%d messages are left: %+v", len(out.History), report)
	}
}

// A summary of 20 compactions keeps its facts word for word, and the newest value of each. T11, report 107
func TestSummariesDoNotDrift(t *testing.T) {
	t.Parallel()
	s, scope := &shelf{}, scopeOf(t, "li")
	c := newCompactor(t, s, compact.Options{Budget: 1500, SummaryCap: 200, ChunkCap: 600, Rounds: 1})
	st := compact.State{History: slices.Concat(
		round("My name is Li Lei and the deadline is 2026-12-24.", "Noted."),
		round("默认环境是测试。", "好的。"),
		round("The default environment is testing.", "The default environment is perhaps staging."),
		round("Now the default environment is production.", "The default environment is staging."),
		round("默认环境改成生产。", "好的，收到。"),
	)}
	first := ""
	for i := range 20 {
		for range 8 {
			st.History = append(st.History, round(words(100, i%2 == 0), words(100, false))...)
		}
		var report compact.Report
		if st, report = do(t, c, scope, st); len(report.Evicted) == 0 {
			t.Fatalf("compaction %d did nothing", i)
		}
		facts, _, _ := strings.Cut(st.Summary.Text, "Full text")
		if first == "" {
			first = facts
		}
		if facts != first {
			t.Fatalf("compaction %d made\n%s\nof\n%s", i, facts, first)
		}
	}
	for _, want := range []string{"(user) My name is Li Lei and the deadline is 2026-12-24.", "(user) Now the default environment is production.", "(user) 默认环境改成生产。"} {
		if !strings.Contains(first, want) {
			t.Errorf("%q is not in the summary:\n%s", want, first)
		}
	}
	for _, gone := range []string{"testing", "staging", "测试", "Noted", "收到"} {
		if strings.Contains(first, gone) {
			t.Errorf("%q is still in the summary:\n%s", gone, first)
		}
	}
}

// Tool results are cut first, and where that is enough no message is taken out and nothing is summarized. R51, R57
func TestResultsAreCutFirst(t *testing.T) {
	t.Parallel()
	s, scope := &shelf{}, scopeOf(t, "li")
	call := message.Call{ID: "c1", Name: "logs", Args: "{}"}
	history := slices.Concat([]message.Message{message.User("look"), message.Assistant("", call), message.Tool(call.Done(logOf(400)))}, talk(4))
	st, report := do(t, newCompactor(t, s, compact.Options{Budget: 6000}), scope, compact.State{History: history})
	if report.Before < 4800 || len(report.Excerpts) != 1 || len(report.Evicted) != 0 || st.Summary.Text != "" || len(st.History) != len(history) {
		t.Errorf("%+v", report)
	}
}

// Of a tool result the heaviest sentences are kept, wherever they stand. R48
func TestTheHeaviestFactsOfAResultAreKept(t *testing.T) {
	t.Parallel()
	s, scope := &shelf{}, scopeOf(t, "li")
	c := newCompactor(t, s, compact.Options{Budget: 2000, SummaryCap: 400, ChunkCap: 1000})
	call := message.Call{ID: "c1", Name: "look"}
	said := "Step 1 went to build-one.\nStep 2 went to build-two.\nStep 3 went to build-three.\nStep 4 went to build-four.\nThe root cause of INC-4711 is confirmed in production.\n"
	logs := message.Call{ID: "c2", Name: "logs"}
	history := []message.Message{message.User("look"), message.Assistant("", call, logs), message.Tool(call.Done(said), logs.Done(logOf(400)))}
	for range 12 {
		history = append(history, round(words(90, false), words(90, false))...)
	}
	st, _ := do(t, c, scope, compact.State{History: history})
	if !strings.Contains(st.Summary.Text, "- (tool look) The root cause of INC-4711") || strings.Count(st.Summary.Text, "(tool look)") != 3 ||
		strings.Count(st.Summary.Text, "(tool logs)") != 3 || strings.Contains(st.Summary.Text, "full text: ") {
		t.Errorf("the summary is\n%s", st.Summary.Text)
	}
}

// A question or a guess replaces no value, and an assistant who repeats the user has not said it instead. R15, R48, R77
func TestQuestionsGuessesAndEchoesReplaceNothing(t *testing.T) {
	t.Parallel()
	for _, said := range [][]string{
		{"- (user) 默认环境是测试环境。", "默认环境是测试环境。", "好。", "默认环境改为生产吗？", "不。"},
		{"- (user) The default environment is staging.", "The default environment is staging.", "Good.", "The default environment is perhaps production.", "No."},
		{"- (user) The default environment is staging.", "The default environment is staging.", "Good.", "The default environment is production?", "No."},
		{"- (user) We must never restart payment-api in production.", "We must never restart payment-api in production.", "We must never restart payment-api in production."},
	} {
		s, scope := &shelf{}, scopeOf(t, "li")
		c := newCompactor(t, s, compact.Options{Budget: 2000, SummaryCap: 400, ChunkCap: 1000})
		var history []message.Message
		for i, text := range said[1:] {
			m := message.User(text)
			if i%2 == 1 {
				m = message.Assistant(text)
			}
			history = append(history, m)
		}
		for range 12 {
			history = append(history, round(words(90, false), words(90, false))...)
		}
		if st, _ := do(t, c, scope, compact.State{History: history}); !strings.Contains(st.Summary.Text, said[0]) {
			t.Errorf("%q is not in\n%s", said[0], st.Summary.Text)
		}
	}
}
