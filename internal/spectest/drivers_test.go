package spectest_test

import (
	"os/exec"
	"strings"
	"testing"
)

// drivers are the modules that speak to a database, and driven the packages that may import them, besides back ends.
var (
	drivers = []string{"modernc.org/sqlite", "github.com/jackc/pgx", "github.com/pgvector/", "github.com/redis/"}
	driven  = []string{"/memory/internal/sqldb/sqlitedb", "/memory/internal/sqldb/pgdb", "/internal/testserver", "/internal/boxes", "/cmd/holdfast", "/examples/aftersales/shop"}
)

// A driver is imported by the back end that is named after its database, and by what is listed above: who uses one store gets one driver.
func TestDriversAreImportedByBackEndsOnly(t *testing.T) {
	t.Parallel()
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command is not in PATH")
	}
	cmd := exec.Command(goTool, "list", "-e", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		for _, imported := range words[1:] {
			if !hasAny(imported, drivers, strings.HasPrefix) {
				continue
			}
			if found++; !hasAny(words[0], append([]string{"/sqlite", "/postgres", "/redis"}, driven...), strings.HasSuffix) {
				t.Errorf("%s imports %s", words[0], imported)
			}
		}
	}
	if found < 5 {
		t.Errorf("only %d imports of drivers were found", found)
	}
}

func hasAny(s string, parts []string, has func(s, part string) bool) bool {
	for _, p := range parts {
		if has(s, p) {
			return true
		}
	}
	return false
}
