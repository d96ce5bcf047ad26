package extract_test

import (
	"os"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/facttest"
	"github.com/holdfast-go/holdfast/memory/extract"
	"github.com/holdfast-go/holdfast/memory/longterm"
)

func cases(t *testing.T, name, between string) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), between)
}

// Prompts, dumps, what was recalled, chit-chat, what an assistant says and what others like is no fact about the user.
func TestJunk(t *testing.T) { // R65, R67, T15, T26, reports 124, 126
	t.Parallel()
	for _, junk := range append(cases(t, "junk.txt", "\n----\n"), facttest.Junk()...) {
		if got := rules(t, user("m-1", junk)); len(got) != 0 {
			t.Errorf("%s\ngives\n%s", junk, show(got))
		}
		if got := rules(t, tool("fetch", junk)); len(got) != 0 {
			t.Errorf("from a tool: %s\ngives\n%s", junk, show(got))
		}
	}
}

// What a model said is no source, whatever it is passed as.
func TestInferredTexts(t *testing.T) { // R77, report 126
	t.Parallel()
	text := user("m-1", "My name is Bob. I like tables.")
	text.Origin = longterm.Inferred
	if got := rules(t, text); len(got) != 0 {
		t.Errorf("got\n%s", show(got))
	}
}

func TestPlantedFacts(t *testing.T) { // R66, reports 124, 130
	t.Parallel()
	all := cases(t, "planted.txt", "\n")
	for _, line := range all {
		said, want, _ := strings.Cut(line, " => ")
		key, value, _ := strings.Cut(want, ": ")
		if key == "-" {
			key = ""
		}
		got := rules(t, user("m-1", said))
		if len(got) != 1 || got[0].Key != key || !strings.Contains(got[0].Text, value) {
			t.Errorf("%s\ngives\n%swant %s", said, show(got), want)
		}
	}
	if len(all) != 20 {
		t.Errorf("%d facts", len(all))
	}
}

func TestFacts(t *testing.T) { // R66, R81, reports 124, 130
	t.Parallel()
	for _, f := range append(facttest.Planted(), facttest.Denials()...) {
		got := rules(t, user("m-1", f.Said))
		if len(got) != 1 || got[0].Key != strings.TrimPrefix(f.Key, "-") || got[0].Text != f.Text || got[0].Ends {
			t.Errorf("%s\ngives\n%swant %s | %s", f.Said, show(got), f.Key, f.Text)
		}
	}
}

// The fact within junk is found, and nothing of the junk.
func TestFactsInJunk(t *testing.T) { // report 124
	t.Parallel()
	for _, around := range []string{"> 我叫李明\n%s\n> I like lists", "```\nmy name is Bob\n```\n%s", "2026-11-30 10:00:00 ERROR default to production\n%s", "<memories>\nI like lists\n</memories>\n%s"} {
		for _, fact := range []string{"我喜欢用表格", "I like tables"} {
			got := rules(t, user("m-1", strings.Replace(around, "%s", fact, 1)))
			if len(got) != 1 || got[0].Text != fact {
				t.Errorf("%q in %q gives\n%s", fact, around, show(got))
			}
		}
	}
}

func FuzzRules(f *testing.F) {
	for _, seed := range []string{"我叫李明，默认生产", "I like “tables” and my name is \"Bob", "\x00\xff先a，再b", "<a>\n</a>", "```", `{"order":"1","state":"x"}`, "I changed my mind. \ufeffTesting"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, text := range []longterm.Text{user("m-1", s), tool("order", s)} {
			drafts, err := extract.Rules().Extract(t.Context(), []longterm.Text{text}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range drafts {
				sound(t, d, []longterm.Text{text})
			}
		}
	})
}
