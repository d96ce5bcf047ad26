package spectest_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

var (
	specLine = regexp.MustCompile(`(?m)^- \*\*([A-Z])(\d+)\*\* `)

	// A mention is a list of lines and ranges in a comment, as in "// E1, E4-E6" or "// ... // C2".
	comment = regexp.MustCompile(`//[^\n]*`)
	// A case of a suite says its lines in a string of its own, which is printed when it fails.
	caseLines = regexp.MustCompile(`"[ECRT]\d+(?:, (?:[ECRT]\d+|reports? [\d, -]*\d))*"`)
	lineRef   = regexp.MustCompile(`\b([ECRT])(\d+)\b(?:-([ECRT]?)(\d+)\b)?`)
)

func TestEveryLineOfTheSpecIsProved(t *testing.T) {
	t.Parallel()
	spec, err := os.ReadFile(filepath.Join(root, "docs", "spec.md"))
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]bool{}
	for _, m := range specLine.FindAllStringSubmatch(string(spec), -1) {
		if lines[m[1]+m[2]] {
			t.Errorf("line %s%s is there twice", m[1], m[2])
		}
		lines[m[1]+m[2]] = true
	}
	if len(lines) < 70 {
		t.Fatalf("docs/spec.md has only %d lines that this test can read", len(lines))
	}
	named := mentions(t)
	for _, line := range sorted(lines) {
		switch reason, due := later[line]; {
		case named[line] == nil && due:
			t.Logf("%s is named by no test (%s)", line, reason)
		case named[line] == nil:
			t.Errorf("%s is named by no test, and not in the list of lines that are built later", line)
		case due:
			t.Errorf("%s is named by %s and must leave the list of lines that are built later", line, named[line][0])
		}
	}
	for _, line := range slices.Sorted(maps.Keys(named)) {
		if !lines[line] {
			t.Errorf("%s is named by %s but is no line of docs/spec.md", line, strings.Join(named[line], ", "))
		}
	}
	for line := range later {
		if !lines[line] {
			t.Errorf("%s is in the list of lines that are built later but is no line of docs/spec.md", line)
		}
	}
}

// mentions returns for each line that a test names the files that do.
func mentions(t *testing.T) map[string][]string {
	named := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "spectest" || strings.HasPrefix(d.Name(), ".") && path != root):
			return filepath.SkipDir
		case !isTest(path):
			return nil
		}
		source, err := os.ReadFile(path)
		found := comment.FindAllString(string(source), -1)
		if !strings.HasSuffix(path, "_test.go") {
			found = append(found, caseLines.FindAllString(string(source), -1)...)
		}
		for _, c := range found {
			for _, line := range expand(c) {
				if !slices.Contains(named[line], path) {
					named[line] = append(named[line], path)
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return named
}

// isTest reports whether a file holds tests: test files, and the suites that back ends run, which are named so.
func isTest(path string) bool {
	return strings.HasSuffix(path, "_test.go") ||
		strings.HasSuffix(path, ".go") && strings.HasSuffix(filepath.Base(filepath.Dir(path)), "test")
}

func expand(comment string) []string {
	var lines []string
	for _, m := range lineRef.FindAllStringSubmatch(comment, -1) {
		first, _ := strconv.Atoi(m[2])
		last := first
		if m[4] != "" && (m[3] == "" || m[3] == m[1]) {
			last, _ = strconv.Atoi(m[4])
		}
		for n := first; n <= last && n < first+100; n++ {
			lines = append(lines, m[1]+strconv.Itoa(n))
		}
	}
	return lines
}

func sorted(lines map[string]bool) []string {
	number := func(line string) int {
		n, _ := strconv.Atoi(line[1:])
		return n
	}
	return slices.SortedFunc(maps.Keys(lines), func(a, b string) int {
		if a[0] != b[0] {
			return int(b[0]) - int(a[0]) // E before C
		}
		return number(a) - number(b)
	})
}

func TestExpand(t *testing.T) {
	t.Parallel()
	for comment, want := range map[string]string{
		"// E12":                  "E12",
		"// E1, E4-E6; C2":        "E1 E4 E5 E6 C2",
		"// E1-3":                 "E1 E2 E3",
		"// proves nothing":       "",
		"// E4-C6":                "E4",
		"// HE12 and E12a":        "",
		"// two tasks. // E4, E7": "E4 E7",
	} {
		if got := strings.Join(expand(comment), " "); got != want {
			t.Errorf("%s: got %s, want %s", comment, got, want)
		}
	}
}
