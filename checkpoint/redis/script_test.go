package redis_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/holdfast-go/holdfast/internal/testserver"
)

var commandName = regexp.MustCompile(`\bp?call\('([A-Z]+)'`)

// C22: the commands in the texts of the scripts, also of those parts that no test has reached.
func TestScriptsUseOldCommands(t *testing.T) {
	t.Parallel()
	c := raw(t, testserver.SharedRedis(t))
	files, err := filepath.Glob("lua/*.lua")
	must(t, err)
	found := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		must(t, err)
		for _, m := range commandName.FindAllStringSubmatch(string(text), -1) {
			found++
			switch v := since(t, c, m[1]); {
			case v == "" || v > "6.0.99":
				t.Errorf("%s calls %s, which came in Redis %q", f, m[1], v)
			case m[1] == "KEYS" || m[1] == "SCAN":
				t.Errorf("%s calls %s", f, m[1])
			}
		}
	}
	if found < 50 {
		t.Fatalf("only %d calls were found in %d scripts", found, len(files))
	}
}
