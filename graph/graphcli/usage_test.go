package graphcli_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/graph"
)

// Help needs no store, lists every command that there is, and fits into 80 columns; each command explains itself. // E58
func TestHelp(t *testing.T) {
	t.Parallel()
	none, own := bare(t, nil), program(t, nil)
	for _, args := range [][]string{{"help"}, {"-h"}, {"--help"}} {
		if got := must(t, none, args...); got != must(t, none, "help") || strings.Contains(got, "  run  ") {
			t.Errorf("%q: %s", args, got)
		}
	}
	names := commandNames(t, own)
	for _, name := range []string{"run", "resume", "recover", "draw"} {
		if !names[name] || commandNames(t, none)[name] {
			t.Errorf("%s is for programs", name)
		}
	}
	for name := range names {
		text := must(t, own, name, "-h")
		if text != must(t, own, "help", name) || !strings.HasPrefix(text, "usage: refund "+name+" [FLAGS]") || !strings.Contains(text, "-json") {
			t.Errorf("%s -h: %s", name, text)
		}
		narrow(t, text)
	}
	narrow(t, must(t, own, "help"))
}

// narrow fails when a line takes more than 80 columns. It counts what East Asian width calls wide by other means than the package.
func narrow(t *testing.T, text string) {
	t.Helper()
	han := regexp.MustCompile(`[\p{Han}\p{Hangul}\p{Hiragana}\p{Katakana}，。？！：（）、]`)
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "more: ") { // a cursor is copied whole
			continue
		}
		if n := len([]rune(line)) + len(han.FindAllString(line, -1)); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// A command line that is none is exit code 2 and says where help is; a refusal is 1; nothing goes to the output. // E58
func TestExitCodes(t *testing.T) {
	t.Parallel()
	store := open(t)
	own, v := program(t, store), bare(t, store)
	must(t, own, "run", "a", "-input", `{"customer":"李雷","amount":1}`)
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{2, "say what to do", nil},
		{2, "no command", []string{"frobnicate"}},
		{2, "no command", []string{"help", "frobnicate"}},
		{2, "flag provided but not defined", []string{"threads", "-colour"}},
		{2, "given 1 argument", []string{"threads", "a"}},
		{2, "THREAD FROM [TO]", []string{"diff", "a"}},
		{2, "no entry", []string{"diff", "a", "x"}},
		{2, "unknown status", []string{"threads", "-status", "asleep"}},
		{2, "key=value", []string{"threads", "-meta", "x"}},
		{2, "no cursor", []string{"threads", "-after", "%%%"}},
		{2, "no cursor", []string{"questions", "-after", "WyJhIl0"}},
		{2, "no cursor", []string{"questions", "-after", "WyJhIiwiYiIsImMiLCJkIl0"}},
		{2, "open, answered or closed", []string{"questions", "-state", "lost"}},
		{2, "-by NAME", []string{"answer", "a"}},
		{2, "go together", []string{"answer", "a", "-by", "ann", "-value", "true"}},
		{2, "go together", []string{"answer", "a", "-by", "ann", "-value", "true", "-hash", "55"}},
		{2, "is for people", []string{"answer", "a", "-by", "ann", "-json"}},
		{2, "-next NODE", []string{"edit", "a"}},
		{2, "no JSON document", []string{"edit", "a", "-next", "pay", "-set", "{"}},
		{2, "say -all", []string{"retain"}},
		{2, "-keep", []string{"retain", "a"}},
		{2, "say -yes", []string{"delete", "a", "-json"}},
		{2, "say -all", []string{"verify"}},
		{1, graph.ErrNoProgram.Error(), []string{"run", "a"}},
		{1, graph.ErrNoThread.Error(), []string{"show", "nobody"}},
		{1, graph.ErrNoThread.Error(), []string{"show", "a", "-branch", "nobody"}},
		{1, graph.ErrNoThread.Error(), []string{"show", "a", "-tenant", "other"}},
		{1, graph.ErrNoThread.Error(), []string{"export", "nobody"}},
		{1, graph.ErrNoThread.Error(), []string{"delete", "nobody", "-yes"}},
		{1, "is no entry", []string{"show", "a", "-at", "7"}},
		{1, "never named", []string{"edit", "a", "-next", "pya"}},
		{1, "never written", []string{"edit", "a", "-next", "pay", "-set", `{"status":"x"}`}},
		{1, "cannot go to", []string{"edit", "a", "-next", "__start__", "-unseen"}},
		{1, "unknown effects", []string{"fork", "a", "-effects", "perhaps"}},
		{1, "has no branch", []string{"activate", "a", "nobody"}},
		{1, "not signed", []string{"anchor", "a"}},
		{1, "no such file", []string{"verify", "-anchor", "nowhere.json"}},
		{1, "not a queued", []string{"cancel", "a", "nobody"}},
		{1, "empty", []string{"show", ""}},
	} {
		if c.want == "not a queued" {
			c.want = graph.ErrNothingToDo.Error()
		}
		r := cli(t, v, "", c.args...)
		if r.code != c.code || !strings.Contains(r.err, c.want) || r.out != "" {
			t.Errorf("%q: code %d, %q, printed %q; want code %d, %q", c.args, r.code, r.err, r.out, c.code, c.want)
		}
		if c.code == 2 && !strings.Contains(r.err, "-h says how") && !strings.Contains(r.err, "help -h") {
			t.Errorf("%q: %q does not say where help is", c.args, r.err)
		}
	}
	refused(t, bare(t, nil), 1, graph.ErrNoStore.Error(), "threads")
	if got := must(t, v, "show", "--", "a"); got != must(t, v, "show", "a") {
		t.Error("what follows -- is no argument")
	}
}
