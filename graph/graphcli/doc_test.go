package graphcli_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/holdfast-go/holdfast/checkpoint/secure"
	"github.com/holdfast-go/holdfast/graph"
)

var update = flag.Bool("update", false, "write the outputs of the examples into docs/cli.md")

// Every example of docs/cli.md prints what the page says, in order, on a signed SQLite file; and every command has one. // E58 E40
func TestExamplesOfTheDocs(t *testing.T) {
	file, err := filepath.Abs("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	store, err := secure.Sign(open(t), secure.Keyring{Current: secure.Key{ID: "k", Bytes: make([]byte, secure.KeyBytes)}})
	if err != nil {
		t.Fatal(err)
	}
	views := map[string]*graph.View{"holdfast": bare(t, store), "refund": program(t, store)}
	t.Chdir(t.TempDir())
	seen := map[string]bool{}
	examples := regexp.MustCompile("(?s)```console\n(.*?)```")
	text := examples.ReplaceAllStringFunc(string(page), func(block string) string {
		var out strings.Builder
		for line := range strings.SplitSeq(examples.FindStringSubmatch(block)[1], "\n") {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				out.WriteString(line + "\n" + shell(t, views, command, seen))
			}
		}
		return "```console\n" + out.String() + "```"
	})
	if got, want := steady(text), steady(string(page)); got != want {
		if *update {
			if err := os.WriteFile(file, []byte(steady(text)), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		t.Errorf("docs/cli.md says otherwise; run with -update and look at the difference:\n%s", firstDifference(want, got))
	}
	for name := range commandNames(t, views["refund"]) {
		if !seen[name] {
			t.Errorf("%s has no example", name)
		}
	}
}

// shell runs a command line: words, single quotes, "echo TEXT |" before it, "| head -N", "| cut -c1-N" and "> FILE" behind it.
func shell(t *testing.T, views map[string]*graph.View, line string, seen map[string]bool) string {
	t.Helper()
	stdin, file := "", ""
	if rest, ok := strings.CutPrefix(line, "echo "); ok {
		stdin, line, _ = strings.Cut(rest, " | ")
	}
	line, file, _ = strings.Cut(line, " > ")
	parts := strings.Split(line, " | ")
	words := split(parts[0])
	v := views[words[0]]
	if v == nil {
		t.Fatalf("there is no program %q", words[0])
	}
	seen[words[1]] = true
	r := cli(t, v, stdin+"\n", words[1:]...)
	if r.code != 0 {
		t.Errorf("$ %s\ncode %d: %s", line, r.code, r.err)
	}
	out := r.out
	for _, p := range parts[1:] {
		out = filter(t, p, out)
	}
	if file != "" {
		if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
		return ""
	}
	return out
}

func filter(t *testing.T, p, out string) string {
	if n, ok := strings.CutPrefix(p, "head -"); ok {
		k, err := strconv.Atoi(n)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(out, "\n")
		return strings.Join(lines[:min(k, len(lines))], "")
	}
	n, ok := strings.CutPrefix(p, "cut -c1-")
	k, err := strconv.Atoi(n)
	if !ok || err != nil {
		t.Fatalf("unknown filter %q", p)
	}
	var b strings.Builder
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		b.WriteString(line[:min(k, len(line))] + "\n")
	}
	return b.String()
}

// split splits a command line into words.
func split(line string) (words []string) {
	quoted, open := false, false
	var w strings.Builder
	for _, r := range line {
		switch {
		case r == '\'':
			quoted, open = !quoted, true
		case unicode.IsSpace(r) && !quoted:
			if open {
				words = append(words, w.String())
				w.Reset()
				open = false
			}
		default:
			w.WriteRune(r)
			open = true
		}
	}
	if open {
		words = append(words, w.String())
	}
	return words
}

// steady replaces what is another one each time: times, ids of runs, writers, MACs, cursors.
func steady(s string) string {
	for _, r := range [][2]string{
		{`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`, "2026-01-02 03:04:05"},
		{`"\d{4}-\d\d-\d\dT[0-9:.]+Z"`, `"2026-01-02T03:04:05Z"`},
		{`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "00000000-0000-0000-0000-000000000000"},
		{`"by":"\d+"`, `"by":"0"`},
		{`"mac":"[^"]*"`, `"mac":"MAC"`},
		{`("cursor":"|-after )[A-Za-z0-9_-]+`, "${1}CURSOR"},
	} {
		s = regexp.MustCompile(r[0]).ReplaceAllString(s, r[1])
	}
	return s
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return "the page: " + w[i] + "\nprinted:  " + g[i]
		}
	}
	return "one of them is longer"
}

// commandNames are those that help lists.
func commandNames(t *testing.T, v *graph.View) map[string]bool {
	names := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z]+) `).FindAllStringSubmatch(must(t, v, "help"), -1) {
		names[m[1]] = true
	}
	if len(names) < 10 {
		t.Fatalf("help lists %v", names)
	}
	return names
}
