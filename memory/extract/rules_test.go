package extract_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/memory/extract"
	"github.com/holdfast-go/holdfast/memory/longterm"
)

// The lines of testdata: "> " begins what a user says, and what follows it is what the rules make of that.
func TestSentences(t *testing.T) { // R66, R67, R81, R104, T15, reports 124, 130
	t.Parallel()
	for _, name := range []string{"zh", "en"} {
		text, err := os.ReadFile("testdata/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for said := range strings.SplitSeq(strings.TrimPrefix(string(text), "> "), "\n> ") {
			said, want, _ := strings.Cut(said, "\n")
			got := show(rules(t, user("m-1", said)))
			if strings.TrimSpace(got) != strings.TrimSpace(want) {
				t.Errorf("%s: %q: got\n%s\nwant\n%s", name, said, got, want)
			}
		}
	}
}

// What has no subject of its own is withdrawn where it is known, and only if it is plain which item is meant.
func TestForgetsWhatIsKnown(t *testing.T) { // R83
	t.Parallel()
	known := []longterm.Item{
		{ID: "i-1", Namespace: "default", Text: "我喜欢咖啡", Origin: longterm.FromUser}, {ID: "i-2", Text: "I like green tea", Origin: longterm.FromUser},
		{ID: "i-3", Text: "I like black tea", Origin: longterm.FromUser}, {ID: "i-4", Text: "I like milk", Origin: longterm.Inferred},
	}
	for said, want := range map[string]string{
		"忘掉我喜欢咖啡这件事": "i-1", "Forget that I like green tea": "i-2", "forget about tea": "", "Forget that I like milk": "", "delete green tea": "",
	} {
		got, err := extract.Rules().Extract(t.Context(), []longterm.Text{user("m-1", said)}, known)
		if err != nil || (want == "") != (len(got) == 0) || want != "" && (len(got) != 1 || !got[0].Ends || got[0].Replaces != want) {
			t.Errorf("%s: %+v %v", said, got, err)
		}
	}
}

// rules are the drafts that the rules make of texts. Each is checked for what must hold of any draft.
func rules(t *testing.T, texts ...longterm.Text) []longterm.Draft {
	t.Helper()
	drafts, err := extract.Rules().Extract(t.Context(), texts, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range drafts {
		sound(t, d, texts)
	}
	return drafts
}

// sound checks that a draft quotes the text that its source names, and is of the origin of that (R77, R78).
func sound(t *testing.T, d longterm.Draft, texts []longterm.Text) {
	t.Helper()
	for _, text := range texts {
		if text.Source == d.Source {
			if !strings.Contains(text.Text, d.Words) || d.Words == "" || d.Origin != text.Origin {
				t.Errorf("%q of %q, %s, is not from %q, %s", d.Words, d.Text, d.Origin, text.Text, text.Origin)
			}
			return
		}
	}
	t.Errorf("%q has the source %v, which is none", d.Text, d.Source)
}

func show(drafts []longterm.Draft) string {
	var b strings.Builder
	for _, d := range drafts {
		key := d.Key
		if key == "" {
			key = "-"
		}
		if d.Ends {
			fmt.Fprintf(&b, "ends %s\n", key)
		} else {
			fmt.Fprintf(&b, "%s %s | %s\n", d.Kind, key, d.Text)
		}
	}
	return b.String()
}

func user(id, text string) longterm.Text {
	return longterm.Text{Origin: longterm.FromUser, Source: longterm.Source{Conversation: "c-1", Message: id}, Text: text}
}

func tool(name, text string) longterm.Text {
	return longterm.Text{Origin: longterm.FromTool, Tool: name, Text: text, Source: longterm.Source{Conversation: "c-1", Message: "m-2", Call: "call-1"}}
}
