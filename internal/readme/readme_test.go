// Package readme_test runs the programs of the READMEs.
package readme_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var blocks = regexp.MustCompile("(?ms)^```(go|text)\n(.*?)^```$")

// A program of a README and what it must print.
type program struct{ code, want string }

func programs(t *testing.T, file string) (out []program) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range blocks.FindAllStringSubmatch(string(b), -1) {
		switch {
		case m[1] == "go":
			out = append(out, program{code: m[2]})
		case len(out) > 0 && out[len(out)-1].want == "":
			out[len(out)-1].want = m[2]
		}
	}
	return out
}

// TestPrograms builds every Go block and compares what it prints with the text block behind it. A program that reads CRASH
// is run twice, first with it.
func TestPrograms(t *testing.T) {
	t.Parallel()
	if raceEnabled {
		t.Skip("the programs are built without the race detector; the run without it has this test")
	}
	for _, file := range []string{"../../README.md", "../../README.zh-CN.md"} {
		list := programs(t, file)
		if len(list) < 2 {
			t.Errorf("%s: %d programs, want the first graph and the crash", file, len(list))
		}
		for i, p := range list {
			got := run(t, p)
			if p.want == "" || got != p.want {
				t.Errorf("%s: program %d printed\n%s\nthe text says\n%s", file, i+1, got, p.want)
			}
		}
	}
}

func run(t *testing.T, p program) string {
	t.Helper()
	// The program must lie inside the module to see it; the folder's name keeps it out of ./...
	dir, err := os.MkdirTemp(".", "_program")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte(p.code), 0o600); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command("go", "build", "-o", exe, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var all bytes.Buffer
	work := t.TempDir()
	start := func(env ...string) error {
		cmd := exec.Command(exe)
		cmd.Dir, cmd.Env = work, append(os.Environ(), env...)
		cmd.Stdout, cmd.Stderr = &all, os.Stderr
		return cmd.Run()
	}
	if strings.Contains(p.code, `os.Getenv("CRASH")`) {
		if err := start("CRASH=1"); err == nil {
			t.Error("the program did not crash")
		}
	}
	if err := start(); err != nil {
		t.Error(err)
	}
	return all.String()
}

// TestSame keeps the two languages on the same programs. Comments and strings are translated; the code is not.
func TestSame(t *testing.T) {
	t.Parallel()
	en, zh := programs(t, "../../README.md"), programs(t, "../../README.zh-CN.md")
	if len(en) != len(zh) {
		t.Fatalf("%d programs in English, %d in Chinese", len(en), len(zh))
	}
	words := regexp.MustCompile(`//[^\n]*|"[^"\n]*"|[ \t]+`)
	for i := range en {
		if words.ReplaceAllString(en[i].code, "") != words.ReplaceAllString(zh[i].code, "") {
			t.Errorf("program %d differs beyond comments and strings", i+1)
		}
	}
}
