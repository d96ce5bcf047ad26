package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/testserver"
)

// A database is a server that can be killed.
type database interface {
	URL() string
	Kill() error
	Restart() error
}

// C21, C22: kill -9 of the database in the middle of the story changes nothing but the time it takes. The last moment is the
// one in which the worker is dead as well.
func TestDemoSurvivesItsDatabase(t *testing.T) {
	t.Parallel()
	moments := []string{"worker 1 |   -> latest_order", "a second person, approves", "kill -9"}
	if testing.Short() {
		moments = moments[2:]
	}
	for name, start := range map[string]func(*testing.T) database{
		"postgres": func(t *testing.T) database { return testserver.NewPostgres(t) },
		"redis":    func(t *testing.T) database { return testserver.NewRedis(t, testserver.RedisConfig{Fsync: "always"}) },
	} {
		if only := os.Getenv("HOLDFAST_STORE"); only != "" && only != name {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := start(t)
			for _, moment := range moments {
				playAndKill(t, db, moment)
			}
		})
	}
}

// playAndKill kills the database when the demonstration says something, and starts it again.
func playAndKill(t *testing.T, db database, moment string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(), "-demo", "-lang", "en", "-db", db.URL())
	cmd.Env = append(bareEnv(), "TMPDIR="+t.TempDir(), "XDG_STATE_HOME="+filepath.Join(folder, "none"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs, all strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	killed := false
	for s := bufio.NewScanner(out); s.Scan(); {
		all.WriteString(s.Text() + "\n")
		if killed || !strings.Contains(s.Text(), moment) {
			continue
		}
		killed = true
		if err := db.Kill(); err != nil {
			t.Error(err)
		}
		if err := db.Restart(); err != nil {
			t.Error(err)
		}
	}
	if err := cmd.Wait(); err != nil || !killed || !strings.Contains(all.String(), "exactly once") {
		t.Errorf("database killed: %t, at %q: %v\n%s%s", killed, moment, err, all.String(), errs.String())
	}
}
