package main

import (
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/testserver"
)

// folder is where the real binary is built for the tests that need processes.
var folder string

func TestMain(m *testing.M) {
	if doc := os.Getenv(partEnv); doc != "" { // this process is a worker of a dialogue
		os.Exit(playPart(doc))
	}
	var err error
	if folder, err = os.MkdirTemp("", "aftersales-test-"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(testserver.Main{M: m}, goleak.Cleanup(func(code int) {
		os.RemoveAll(folder)
		os.Exit(code)
	}))
}

// program builds the real binary once and returns its path.
var program = sync.OnceValue(func() string {
	path := filepath.Join(folder, "aftersales")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		panic(string(out))
	}
	return path
})

// place is a database of its own for a test, on the store that HOLDFAST_STORE names: sqlite (the default), postgres or redis.
// The whole suite passes on each.
func place(t *testing.T, file string) string {
	t.Helper()
	name := "t" + strings.ToLower(rand.Text())
	switch store := os.Getenv("HOLDFAST_STORE"); store {
	case "", "sqlite":
		return filepath.Join(t.TempDir(), file)
	case "postgres":
		return testserver.Postgres(t).URL() + "&schema=" + name
	case "redis":
		return testserver.SharedRedis(t).URL() + "?prefix=" + name
	default:
		t.Fatalf("HOLDFAST_STORE is %q; want sqlite, postgres or redis", store)
		return ""
	}
}

// quick is patience without the waiting.
var quick = graph.Policy{Attempts: 5, Backoff: time.Millisecond, MaxBackoff: 2 * time.Millisecond}
