package spectest_test

import (
	"os/exec"
	"strings"
	"testing"
)

// core lists the packages that a program gets in any case, and those of memory and nodes that need no driver, no vocabulary and no provider.
var core = []string{"./state", "./graph", "./checkpoint", "./message", "./memory", "./memory/pin", "./memory/session", "./memory/working", "./memory/compact",
	"./memory/search", "./memory/guard", "./memory/longterm", "./memory/extract", "./memory/knowledge", "./memory/audit", "./nodes"}

// The core imports the standard library, this module, google/uuid, and of golang.org/x/text the normal forms of Unicode. Nothing else reaches a program that uses it.
func TestCoreImportsOnlyTheStandardLibrary(t *testing.T) {
	t.Parallel()
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command is not in PATH")
	}
	// -e: a package that does not compile is for the compiler to report.
	args := append([]string{"list", "-e", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}"}, core...)
	cmd := exec.Command(goTool, args...)
	cmd.Dir = root
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	const module = "github.com/holdfast-go/holdfast"
	packages := strings.Fields(string(out))
	if len(packages) < len(core) {
		t.Fatalf("go list found only %v", packages)
	}
	for _, p := range packages {
		if p != "github.com/google/uuid" && !strings.HasPrefix(p, "golang.org/x/text/") && p != module && !strings.HasPrefix(p, module+"/") {
			t.Errorf("the core imports %s; its back end or a package above the core may, the core may not", p)
		}
	}
}
