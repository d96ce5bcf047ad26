package stores_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/stores"
	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/holdfast-go/holdfast/state"
	"github.com/jackc/pgx/v5"
	goredis "github.com/redis/go-redis/v9"
)

type note struct {
	Text state.List[string] `json:"text"`
	N    state.Sum[int]     `json:"n"`
}

// About ten thousand threads (two hundred with -short) take three supersteps each, 64 at a time, and wait for a person. Then nothing is
// held for them outside the store: no goroutine, no lease, next to no memory; and the server never saw more connections than
// docs/stores.md says. // E55 // C11
func TestManyThreads(t *testing.T) {
	threads := 9600
	if testing.Short() {
		threads = 192
	}
	for _, c := range []struct {
		name  string
		url   func(t *testing.T) string
		conns func(t *testing.T, url string) int // that this program has now
		most  int
	}{
		{"memory", func(*testing.T) string { return "memory:" }, nil, 0},
		{"sqlite", func(t *testing.T) string { return filepath.Join(t.TempDir(), "a.db") }, nil, 0},
		{"postgres", func(t *testing.T) string {
			return testserver.Postgres(t).URL() + "&schema=many&pool_max_conns=4&application_name=many"
		}, pgConns, 4 + 1},
		{"redis", func(t *testing.T) string {
			return testserver.SharedRedis(t).URL() + "?prefix=many&pool_size=8&client_name=many"
		}, redisConns, 2*8 + 1}, // go-redis may be making as many as it has
	} {
		t.Run(c.name, func(t *testing.T) {
			at := c.url(t)
			s, err := stores.Open(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			app := threeSteps(t, s)
			manyRuns(t, app, 64) // what pools and caches need is there now
			goroutines, heap := runtime.NumGoroutine(), liveHeap()
			most := 0
			watch := func() {
				if c.conns != nil {
					most = max(most, c.conns(t, at))
				}
			}
			for left := threads; left > 0; left -= 960 {
				manyRuns(t, app, min(left, 960))
				watch()
			}
			if n := runtime.NumGoroutine(); n > goroutines+8 {
				t.Errorf("%d goroutines after %d threads were parked, %d before", n, threads, goroutines)
			}
			grown := (liveHeap() - heap) / int64(threads)
			// Buffers of connections come and go: they are allowed for, whatever the number of threads.
			if room := 4<<20/int64(threads) + 256; c.name != "memory" && grown > room {
				t.Errorf("%d bytes are kept for each parked thread", grown)
			}
			if most > c.most {
				t.Errorf("%d connections; the documentation says %d", most, c.most)
			}
			held, err := s.Threads(t.Context(), checkpoint.ThreadFilter{Held: true})
			if err != nil || len(held) > 0 {
				t.Errorf("%d threads are held, %v", len(held), err)
			}
			t.Logf("%d threads: %d bytes of heap each, at most %d connections", threads, grown, most)
		})
	}
}

func threeSteps(t *testing.T, s checkpoint.Store) *graph.App[note] {
	g := graph.New[note]("three")
	g.Node("a", func(_ context.Context, s *note) error { s.Text.Append("a"); return nil })
	g.Node("b", func(_ context.Context, s *note) error { s.N.Add(1); return nil })
	g.Node("c", func(ctx context.Context, s *note) error {
		_, err := graph.Ask[bool](ctx, "ok", "go on?")
		return err
	})
	g.Edge(graph.Start, "a")
	g.Edge("a", "b")
	g.Edge("b", "c")
	app, err := g.Compile(graph.Options{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { app.Close(context.Background()) })
	return app
}

var thread struct {
	sync.Mutex
	n int
}

// manyRuns runs n new threads, 64 at a time, until they wait.
func manyRuns(t *testing.T, app *graph.App[note], n int) {
	t.Helper()
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for range n / 64 {
				thread.Lock()
				thread.n++
				id := graph.ID(fmt.Sprint("thread-", thread.n))
				thread.Unlock()
				if _, err := app.Run(t.Context(), id, nil); !errors.Is(err, graph.ErrInterrupted) {
					t.Errorf("%v: %v", id, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func liveHeap() int64 {
	runtime.GC()
	runtime.GC() // pools are emptied by the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func pgConns(t *testing.T, at string) (n int) {
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	u.RawQuery = "sslmode=disable"
	c, err := pgx.Connect(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	if err := c.QueryRow(t.Context(), `select count(*) from pg_stat_activity where application_name = 'many'`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func redisConns(t *testing.T, at string) (n int) {
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	u.RawQuery = ""
	o, err := goredis.ParseURL(u.String())
	if err != nil {
		t.Fatal(err)
	}
	c := goredis.NewClient(o)
	defer c.Close()
	list, err := c.Do(t.Context(), "client", "list").Text()
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range strings.Fields(list) {
		if field == "name=many" {
			n++
		}
	}
	return n
}
