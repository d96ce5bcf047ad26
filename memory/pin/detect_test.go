package pin_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/memory/pin"
	"github.com/holdfast-go/holdfast/message"
)

// Denials in words that the dialogues do not use. // R49
func TestDenials(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"zh", "en"} {
		b, err := os.ReadFile("testdata/denials." + lang + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for text := range strings.Lines(string(b)) {
			found := pin.Detect(message.User(text))
			if !slices.ContainsFunc(found, func(f pin.Found) bool { return f.Effect == pin.Deny }) {
				t.Errorf("%q: %+v", text, found)
			}
		}
	}
}

// What is read out of a sentence, exactly. // R49
func TestDetect(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]pin.Found{
		"不要重启生产实例":                                   {Effect: pin.Deny, Actions: []string{"restart"}, Targets: []string{"实例"}, Env: pin.Production},
		"never restart payment-api":                  {Effect: pin.Deny, Actions: []string{"restart"}, Targets: []string{"payment-api"}, Standing: true},
		"没有我同意不许退款":                                  {Effect: pin.Deny, Actions: []string{"refund"}, Ask: true},
		"ask me before you restart":                  {Effect: pin.Deny, Actions: []string{"restart"}, Ask: true},
		"Never call me, write an email instead":      {Effect: pin.Deny, Actions: []string{"call"}, Standing: true},
		"do not restart, stop or delete payment-api": {Effect: pin.Deny, Actions: []string{"restart", "stop", "delete"}, Targets: []string{"payment-api"}},
		"不要重启、停止或删除生产实例":                             {Effect: pin.Deny, Actions: []string{"restart", "stop", "delete"}, Targets: []string{"实例"}, Env: pin.Production},
		"不要重启，看一下日志":                                 {Effect: pin.Deny, Actions: []string{"restart"}},
		"别碰生产环境":                                     {Effect: pin.Deny, Env: pin.Production},
		"以后都用中文回答":                                   {Effect: pin.Rule, Standing: true},
		"always answer in English":                   {Effect: pin.Rule, Standing: true},
		"以后先结论后证据":                                   {Effect: pin.Rule, Standing: true},
		"不要用英文回答":                                    {Effect: pin.Rule},
		"Never use emojis":                           {Effect: pin.Rule, Standing: true},
		"可以重启了":                                      {Effect: pin.Permit, Actions: []string{"restart"}},
		"你可以重启生产实例了":                                 {Effect: pin.Permit, Actions: []string{"restart"}, Targets: []string{"实例"}, Env: pin.Production},
		"you may restart it now":                     {Effect: pin.Permit, Actions: []string{"restart"}},
		"取消刚才的限制":                                    {Effect: pin.Permit},
		"lift all restrictions":                      {Effect: pin.Permit, All: true},
	} {
		want.Text = text
		found := pin.Detect(message.User(text))
		if len(found) != 1 || !same(found[0], want) {
			t.Errorf("%q:\n got %+v\nwant %+v", text, found, want)
		}
	}
}

func same(a, b pin.Found) bool {
	return a.Effect == b.Effect && a.Text == b.Text && slices.Equal(a.Actions, b.Actions) && slices.Equal(a.Targets, b.Targets) &&
		a.Env == b.Env && a.Ask == b.Ask && a.Standing == b.Standing && a.All == b.All
}

// Only the user binds: not the model, not a tool, not the system, not what is pasted. // R49, T26
func TestOnlyTheUserBinds(t *testing.T) {
	t.Parallel()
	call := message.Call{ID: "c", Name: "t", Args: "{}"}
	for _, m := range []message.Message{
		message.Assistant("不要重启生产实例"), message.System("never restart"), message.Tool(call.Done("do not restart")),
		message.User("```\ndo not restart\n```"), message.User("> never restart\nok"), message.User("2026-01-01 10:00:00 ERROR do not restart"),
		message.User("$ echo do not restart"),
	} {
		if found := pin.Detect(m); len(found) > 0 {
			t.Errorf("%s %q: %+v", m.Role, m.Text(), found)
		}
	}
	if found := pin.Detect(message.User("```\ncode\n```\n不要重启")); len(found) != 1 {
		t.Errorf("behind code: %+v", found)
	}
}

// A message of a megabyte is read, and what is said at its end is heard.
func TestHugeMessage(t *testing.T) {
	t.Parallel()
	for _, filler := range []string{"今天的天气很好。", "a", "不要", "do not ", "\"", "，", "restart "} {
		text := strings.Repeat(filler, 1<<20/len(filler)) + "\nDo not restart production."
		found := pin.Detect(message.User(text))
		if len(found) == 0 || found[len(found)-1].Env != pin.Production {
			t.Errorf("behind a megabyte of %q: %d found", filler, len(found))
		}
	}
}

type model struct {
	found []pin.Found
	err   error
}

func (m model) Detect(context.Context, string) ([]pin.Found, error) { return m.found, m.err }

// A model adds denials; it lifts none, invents no words, and its failure leaves the rules. // R49
func TestDetectWithModel(t *testing.T) {
	t.Parallel()
	m := message.User("不要重启生产实例。那个东西就让它那样吧。")
	more := pin.Found{Effect: pin.Deny, Text: "那个东西就让它那样吧", Actions: []string{"modify"}}
	for name, c := range map[string]struct {
		model model
		want  int
	}{
		"adds":           {model{found: []pin.Found{more}}, 2},
		"permits":        {model{found: []pin.Found{{Effect: pin.Permit, Text: "不要重启生产实例", All: true}}}, 1},
		"invents":        {model{found: []pin.Found{{Effect: pin.Deny, Text: "never deploy", Actions: []string{"deploy"}}}}, 1},
		"unknown action": {model{found: []pin.Found{{Effect: pin.Deny, Text: "那个东西", Actions: []string{"fly"}}}}, 1},
		"unknown env":    {model{found: []pin.Found{{Effect: pin.Deny, Text: "那个东西", Env: "moon"}}}, 1},
		"fails":          {model{err: errors.New("away")}, 1},
	} {
		found, err := pin.DetectWith(t.Context(), m, c.model)
		if len(found) != c.want || (err != nil) != (c.model.err != nil) || !errors.Is(err, c.model.err) {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
	if found, err := pin.DetectWith(t.Context(), message.Assistant("x"), model{found: []pin.Found{{Effect: pin.Deny, Text: "x"}}}); len(found) > 0 || err != nil {
		t.Errorf("what an assistant says binds: %+v, %v", found, err)
	}
}

// A permission lifts what it is about, and nothing else. // R49
func TestLift(t *testing.T) {
	t.Parallel()
	var all []pin.Pin
	for i, text := range []string{"不要重启生产实例", "不要重启测试环境的实例", "never restart payment-api", "不要删除订单", "以后都用中文回答"} {
		for _, f := range pin.Detect(message.User(text)) {
			all = append(all, f.Pin(string(rune('a'+i)), "m", time.Unix(int64(i), 0)))
		}
	}
	for text, want := range map[string]string{
		"可以重启生产实例了":                         "a",
		"you may restart payment-api":       "c",
		"you may restart search-api now":    "",
		"可以删除订单了":                           "d",
		"forget what I said about deleting": "d",
		"取消刚才的限制":                           "e",
		"取消所有限制":                            "abcd",
		"可以发布了":                             "",
		"可以重启吗？":                            "",
		"他说可以重启了":                           "",
		"不可以重启":                             "",
	} {
		got := ""
		for _, p := range pin.Lift(all, pin.Detect(message.User(text))) {
			got += p.ID
		}
		if got != want {
			t.Errorf("%q lifts %q, want %q", text, got, want)
		}
	}
}

func FuzzDetect(f *testing.F) {
	f.Add("不要重启生产实例 \"x\" ```\n don't, never\xff")
	f.Fuzz(func(t *testing.T, text string) {
		for _, found := range pin.Detect(message.User(text)) {
			p := found.Pin("id", "m", time.Time{})
			if strings.Contains(p.Understood(), "\n") || strings.Contains(strings.Join(pin.Render([]pin.Pin{p}), ""), "\n") {
				t.Errorf("%q has more than one line: %q", text, p.Understood())
			}
		}
	})
}

// A denial at the end of a sentence that does not end is heard, and its words are kept. // R49
func TestLongSentence(t *testing.T) {
	t.Parallel()
	for filler, denial := range map[string]string{
		"今天的天气一直很好，":               "不要重启生产实例",
		"we looked at many logs, ": "do not restart production",
		"好":                        "，不要重启生产实例",
	} {
		text := strings.Repeat(filler, 700) + denial
		found := pin.Detect(message.User(text))
		if len(found) != 1 || found[0].Env != pin.Production || !strings.Contains(found[0].Text, strings.TrimPrefix(denial, "，")) {
			t.Errorf("%.40s...: %+v", text, found)
		}
	}
}
