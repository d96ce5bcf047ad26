package graphcli

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holdfast-go/holdfast/internal/textwidth"
)

// Tables, facts and states of narrow and wide text are what testdata has, to the column. // E58
func TestGolden(t *testing.T) {
	t.Parallel()
	tables := table{head: []string{"THREAD", "STATUS", "OWNER", "UPDATED", "META"}}
	tables.add("default/order-7", "interrupted", "李雷", "2026-01-02 03:04:05", "渠道=网站")
	tables.add("客户服务/退款申请二〇二六年第一号", "completed", "한매매", "2026-01-02 03:04:05", "channel=a channel with a long name")
	tables.note("说明：" + strings.Repeat("很长的文字", 12))
	tables.add("e\u0301galite\u0301/1", "failed", "", "2026-01-02 03:04:05", "\x1b[2J\u202e")
	var f facts
	f.say("thread", "default/order-7")
	f.say("error", "node pay: the bank has not answered within thirty seconds, and after three attempts nobody tries again")
	f.say("question", strings.Repeat("给客户退款一百二十八元，", 8))
	state := stateText(json.RawMessage(`{"docs":["` + strings.Repeat("三十天内可以退款。", 9) + `","short"],"n":1}`))
	got := tables.String() + "\n" + f.String() + "\n" + state
	file := filepath.Join("testdata", "golden.txt")
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || got != string(want) {
		t.Errorf("%v; testdata/golden.txt is not\n%s", err, got)
	}
}

// No text takes more than 80 columns, whatever is in it, and none holds what a terminal would act on. // E58
func TestEightyColumns(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab 中文？한é\u0301\x1b\x00\u202e\u2028🙂\t")), 0, 120, -1)
		tab := table{head: []string{"THREAD", "STATUS", "NAME", "UPDATED", "MORE"}}
		for range rapid.IntRange(0, 4).Draw(t, "rows") {
			tab.add(text.Draw(t, "a"), "interrupted", text.Draw(t, "b"), "2026-01-02 03:04:05", text.Draw(t, "c"))
			tab.note(text.Draw(t, "note"))
		}
		var f facts
		f.say("fact", text.Draw(t, "fact"))
		doc, err := json.Marshal(map[string][]string{"field": {text.Draw(t, "state")}})
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(tab.String()+f.String()+stateText(doc), "\n") {
			if textwidth.Of(line) > columnsWide {
				t.Errorf("%d columns: %q", textwidth.Of(line), line)
			}
			if strings.ContainsFunc(line, acts) {
				t.Errorf("%q is not safe", line)
			}
		}
	})
}

// Changes between two states go down to elements of lists and keys of maps. // E58
func TestChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ a, b, want string }{
		{`{}`, `{}`, ``},
		{``, `{"n":1}`, `+ n 1`},
		{`{"n":1}`, `{"n":2}`, `~ n 1 -> 2`},
		{`{"n":1}`, `{}`, `- n 1`},
		{`{"n":null}`, `{"n":[1]}`, `~ n null -> [1]`},
		{`{"l":["a","b"]}`, `{"l":["a","c","d"]}`, `~ l[1] "b" -> "c"|+ l[2] "d"`},
		{`{"l":["a","b"]}`, `{"l":["a"]}`, `- l[1] "b"`},
		{`{"m":{"x":1,"y":2}}`, `{"m":{"y":3,"z":4}}`, `- m["x"] 1|~ m["y"] 2 -> 3|+ m["z"] 4`},
		{`{"a":1,"b":{"c":[1]}}`, `{"b":{"c":[1,2]},"d":0}`, `- a 1|~ b["c"] [1] -> [1,2]|+ d 0`},
	} {
		list, err := changes(json.RawMessage(c.a), json.RawMessage(c.b))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range list {
			got = append(got, list[i].String())
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s to %s: %q", c.a, c.b, got)
		}
	}
	if _, err := changes(json.RawMessage(`[`), nil); err == nil {
		t.Error("a state that is none was compared")
	}
}
