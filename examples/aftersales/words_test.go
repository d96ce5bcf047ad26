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

var update = flag.Bool("update", false, "write testdata/graph.mmd and the pictures in the READMEs again")

// E15: the picture in the README is the graph's.
func TestPicture(t *testing.T) {
	t.Parallel()
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
		checkReadme(t, filepath.Join("..", "..", readme), "```mermaid\n"+strings.TrimSpace(b.String())+"\n```")
	}
}

// checkReadme compares a picture with what is between the two markers of a README.
func checkReadme(t *testing.T, file, picture string) {
	t.Helper()
	const marker = "<!-- aftersales graph -->"
	text := strings.ReplaceAll(string(mustRead(t, file)), "\r\n", "\n")
	before, rest, _ := strings.Cut(text, marker)
	block, after, closed := strings.Cut(rest, marker)
	switch {
	case !closed:
		t.Errorf("%s has no two markers %s", file, marker)
	case strings.TrimSpace(block) == picture:
	case *update:
		text = before + marker + "\n\n" + picture + "\n\n" + marker + after
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s shows another graph; run the tests with -update", file)
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
