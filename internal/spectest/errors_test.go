package spectest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/errors.md has a row for every exported error, and the row names a test that is there.
func TestErrorsAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs", "errors.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+\\.[A-Za-z]+)` \\|[^|]{10,}\\|[^|]{5,}\\| (Test[A-Za-z0-9]+) \\|$").FindAllStringSubmatch(string(text), -1) {
		if rows[m[1]] != "" {
			t.Errorf("%s has two rows", m[1])
		}
		rows[m[1]] = m[2]
	}
	tests := map[string]bool{}
	for _, pkg := range []string{"graph", "state", "checkpoint", "checkpoint/secure", "checkpoint/postgres",
		"message", "memory", "memory/session", "memory/session/sqlite", "memory/session/postgres", "memory/working", "memory/compact", "memory/pin",
		"memory/search", "memory/longterm", "memory/longterm/postgres", "memory/knowledge", "memory/extract", "memory/audit",
		"govern",
		"nodes", "nodes/openai", "nodes/langchain", "nodes/mcp"} {
		for _, name := range exportedErrors(t, pkg, tests) {
			if rows[name] == "" {
				t.Errorf("%s has no whole row in docs/errors.md", name)
			}
			rows[name] += "!"
		}
	}
	for name, test := range rows {
		if !strings.HasSuffix(test, "!") {
			t.Errorf("docs/errors.md has a row for %s, which is not exported", name)
		}
		if test = strings.TrimSuffix(test, "!"); test != "" && !tests[test] {
			t.Errorf("%s: there is no test %s", name, test)
		}
	}
}

// exportedErrors lists the exported Err... variables and error types of a package, and notes the tests below its folder.
func exportedErrors(t *testing.T, pkg string, tests map[string]bool) (names []string) {
	t.Helper()
	folder := filepath.Join(root, filepath.FromSlash(pkg))
	err := filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, ".go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		top := filepath.Dir(file) == folder && !strings.HasSuffix(file, "_test.go")
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && strings.HasPrefix(fn.Name.Name, "Test") {
				tests[fn.Name.Name] = true
			}
			if top {
				for _, n := range errorNames(decl) {
					names = append(names, path.Base(pkg)+"."+n)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func errorNames(decl ast.Decl) (names []string) {
	gen, ok := decl.(*ast.GenDecl)
	if !ok {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Name.Name == "Error" && fn.Recv != nil {
			if star, ok := fn.Recv.List[0].Type.(*ast.StarExpr); ok {
				if id, ok := star.X.(*ast.Ident); ok && id.IsExported() {
					return []string{id.Name}
				}
			}
		}
		return nil
	}
	for _, spec := range gen.Specs {
		if v, ok := spec.(*ast.ValueSpec); ok && strings.HasPrefix(v.Names[0].Name, "Err") {
			names = append(names, v.Names[0].Name)
		}
	}
	return names
}
