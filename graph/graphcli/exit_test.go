package graphcli_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph/graphcli"
)

// Main takes the arguments of the process and exits with the code, after the View is closed. // E58
func TestMainExits(t *testing.T) {
	if line := os.Getenv("GRAPHCLI_MAIN"); line != "" {
		os.Args = append([]string{"refund"}, strings.Fields(line)...)
		graphcli.Main(program(t, &checkpoint.Memory{}))
	}
	t.Parallel()
	for _, c := range []struct {
		line string
		code int
		want string
	}{{"draw", 0, "flowchart TD"}, {"show nobody", 1, "no such thread"}, {"threads -colour", 2, "refund threads -h says how"}} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMainExits$")
		cmd.Env = append(os.Environ(), "GRAPHCLI_MAIN="+c.line)
		out, err := cmd.CombinedOutput()
		code := 0
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			code = exit.ExitCode()
		}
		if code != c.code || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: code %d, %v\n%s", c.line, code, err, out)
		}
	}
}
