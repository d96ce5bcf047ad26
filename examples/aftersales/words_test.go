package main

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

var update = flag.Bool("update", false, "write testdata/graph.mmd and what the READMEs show again")

// E15: the picture in the README is the graph's.
func TestPicture(t *testing.T) { // not parallel: it may write a README
	var b strings.Builder
	if err := (&flags{graph: "mermaid"}).draw(&b); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "graph.mmd")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("the graph has changed; run the tests with -update:\n%s", b.String())
	}
	for _, readme := range []string{"README.md", "README.zh-CN.md"} {
		checkReadme(t, readme, "<!-- aftersales graph -->", "```mermaid\n"+strings.TrimSpace(b.String())+"\n```", strings.TrimSpace)
	}
}

// The conversations in the READMEs are what the program says, but for days and names of conversations.
func TestTranscript(t *testing.T) { // not parallel: it may write a README
	for readme, tc := range map[string]struct{ lang, input string }{
		"README.md":       {"en", "Where is my latest order?\nThen refund it, because it is too bright.\ny\ndays 3\nnew\nDid that refund arrive?\n"},
		"README.zh-CN.md": {"zh", "我最近的订单到哪了？\n那帮我退了吧，因为太亮了。\n是\n过3天\n新对话\n那笔退款到账了吗？\n"},
	} {
		r := execute(t, nil, tc.input, "-db", filepath.Join(t.TempDir(), "a.db"), "-lang", tc.lang, "-echo")
		if r.code != exitOK {
			t.Fatalf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
		checkReadme(t, readme, "<!-- aftersales talk -->", "```console\n"+strings.TrimSpace(r.stdout)+"\n```", timeless)
	}
}

var passing = regexp.MustCompile(`\d{4}-\d{2}-\d{2}|c-[a-z0-9]{8}`)

func timeless(s string) string { return passing.ReplaceAllString(strings.TrimSpace(s), "~") }

// checkReadme compares a block with what is between two markers of a README, as far as norm leaves it.
func checkReadme(t *testing.T, readme, marker, want string, norm func(string) string) {
	t.Helper()
	file := filepath.Join("..", "..", readme)
	text := strings.ReplaceAll(string(mustRead(t, file)), "\r\n", "\n")
	before, rest, _ := strings.Cut(text, marker)
	block, after, closed := strings.Cut(rest, marker)
	switch {
	case !closed:
		t.Errorf("%s has no two markers %s", file, marker)
	case norm(block) == norm(want):
	case *update:
		text = before + marker + "\n\n" + want + "\n\n" + marker + after
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s shows something else; run the tests with -update:\n%s", file, want)
	}
}

// Every text exists in both languages, and both take the same arguments.
func TestBothLanguages(t *testing.T) {
	t.Parallel()
	pairs := 0
	for _, file := range sources(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if en, zh, ok := pair(call); ok {
				pairs++
				checkPair(t, en, zh)
			}
			return true
		})
	}
	if pairs < 50 {
		t.Errorf("only %d pairs of texts were found", pairs)
	}
}

func sources(t *testing.T) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// pair finds two neighbouring literal arguments of the functions that take both languages.
func pair(call *ast.CallExpr) (en, zh string, ok bool) {
	name := ""
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		name = f.Sel.Name
	case *ast.Ident:
		name = f.Name
	}
	if !slices.Contains([]string{"sayf", "textf", "pick", "choose", "mistakef", "scene", "nowhere"}, name) {
		return "", "", false
	}
	var texts []string
	for _, a := range call.Args {
		if lit, ok := a.(*ast.BasicLit); ok && lit.Kind == token.STRING && len(texts) < 2 {
			s, err := strconv.Unquote(lit.Value)
			if err != nil {
				return "", "", false
			}
			texts = append(texts, s)
		}
	}
	if len(texts) < 2 {
		return "", "", false
	}
	return texts[0], texts[1], true
}

var verbs = regexp.MustCompile(`%(?:\[\d+\])?[a-z]`)

func checkPair(t *testing.T, en, zh string) {
	t.Helper()
	if a, b := verbs.FindAllString(en, -1), verbs.FindAllString(zh, -1); !slices.Equal(a, b) {
		t.Errorf("%q takes %v and %q takes %v", en, a, zh, b)
	}
	letters := strings.ContainsFunc(strings.ReplaceAll(verbs.ReplaceAllString(en, ""), "aftersales", ""), unicode.IsLetter)
	if han := strings.ContainsFunc(zh, func(r rune) bool { return unicode.Is(unicode.Han, r) }); letters != han && zh != "zh" {
		t.Errorf("%q is not the Chinese of %q", zh, en)
	}
}

func mustRead(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
