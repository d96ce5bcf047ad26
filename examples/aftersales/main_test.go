package main

import (
	"crypto/rand"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/testserver"
)

// folder is where the real binary is built for the tests that need processes.
var folder string

func TestMain(m *testing.M) {
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

// A bench is an office over a real order service and a real file.
type bench struct {
	*office
	db     string
	client *shop.Client
	thread graph.Thread
	url    string
}

// quick is patience without the waiting.
var quick = graph.Policy{Attempts: 5, Backoff: time.Millisecond, MaxBackoff: 2 * time.Millisecond}

func newBench(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	service, err := shop.Open(filepath.Join(dir, "shop.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := service.Close(); err != nil {
			t.Error(err)
		}
	})
	url, err := service.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{db: place(t, "threads.db"), client: shop.NewClient(url, time.Minute), thread: newThread(), url: url}
	b.office = b.open(t, b.client)
	return b
}

// open opens the bench's database once more, as a new process would.
func (b *bench) open(t *testing.T, client *shop.Client) *office {
	t.Helper()
	o, err := openOffice(t.Context(), &printer{width: 80, mu: new(sync.Mutex), w: io.Discard}, b.db, client, quick)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

// wantLedger checks the amounts that were paid for an order.
func (b *bench) wantLedger(t *testing.T, order string, want ...shop.Money) {
	t.Helper()
	lines, err := b.client.Ledger(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	ok := len(lines) == len(want)
	for i := range lines {
		ok = ok && lines[i].Amount == want[i]
	}
	if !ok {
		t.Errorf("the ledger of order %s is %v; want %v", order, lines, want)
	}
}

// wantTold checks how often the customer of an order was told something.
func (b *bench) wantTold(t *testing.T, order string, want int) {
	t.Helper()
	notices, err := b.client.Notices(t.Context(), order)
	if err != nil || len(notices) != want {
		t.Errorf("the customer of order %s was told %v, %v; want %d notices", order, notices, err, want)
	}
}
