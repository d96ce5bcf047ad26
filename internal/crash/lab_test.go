package crash_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/crash"
	"github.com/holdfast-go/holdfast/internal/stores"
	"github.com/holdfast-go/holdfast/internal/testserver"
)

// A lab is one kind of store, in which each stage gets a room of its own.
type lab struct {
	name  string
	part  int // of the named trials each run makes every so many
	enter func(t testing.TB, dir string) *room

	mu    sync.Mutex
	calms map[string]*calm // by scene and mode
}

// A room is the store of one stage, and empty when it is entered.
type room struct {
	url   string
	addr  string // of its server, as the URL has it; empty: there is none
	mem   *checkpoint.Memory
	leave func() error

	sealed bool // signed and encrypted
}

// The labs. Killing a process takes nothing from the system's buffers, nor from a server: where only processes are killed
// nothing waits for the disk.
var (
	inMemory   = &lab{name: "memory", enter: memoryRoom, part: 1}
	inSQLite   = &lab{name: "sqlite", enter: sqliteRoom, part: 1}
	inPostgres = &lab{name: "postgres", enter: postgresRoom, part: 2}
	inRedis    = &lab{name: "redis", enter: redisRoom, part: 2}
	inSealed   = &lab{name: "sealed", enter: sealedRoom, part: 4} // signed and encrypted, in SQLite
)

// labs are those that processes share. HOLDFAST_CRASH_STORE chooses one.
func labs() []*lab { return chosen(inSQLite, inPostgres, inRedis) }

func chosen(all ...*lab) (chosen []*lab) {
	for _, l := range all {
		if name := os.Getenv("HOLDFAST_CRASH_STORE"); name == "" || name == l.name {
			chosen = append(chosen, l)
		}
	}
	return chosen
}

// servers are the labs that are reached over a network.
func servers() []*lab { return slices.DeleteFunc(labs(), func(l *lab) bool { return l == inSQLite }) }

// inEach runs a test on each store that processes share.
func inEach(t *testing.T, f func(t *testing.T, l *lab)) { each(t, labs(), f) }

func each(t *testing.T, list []*lab, f func(t *testing.T, l *lab)) {
	if len(list) == 0 {
		t.Skipf("not for HOLDFAST_CRASH_STORE=%s", os.Getenv("HOLDFAST_CRASH_STORE"))
	}
	for _, l := range list {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			f(t, l)
		})
	}
}

// inAll runs a test in the sealed lab too.
func inAll(t *testing.T, f func(t *testing.T, l *lab)) {
	each(t, chosen(inSQLite, inPostgres, inRedis, inSealed), f)
}

// open opens the room's store.
func (r *room) open(ctx context.Context) (checkpoint.Store, error) {
	if r.mem != nil {
		return open{r.mem}, nil
	}
	s, err := stores.Open(ctx, r.url)
	if err == nil && r.sealed {
		return crash.Seal(s)
	}
	return s, err
}

// An open store is not closed with its user.
type open struct{ checkpoint.Store }

func (open) Close() error { return nil }

func memoryRoom(testing.TB, string) *room {
	return &room{mem: new(checkpoint.Memory), leave: func() error { return nil }}
}

func sqliteRoom(_ testing.TB, dir string) *room {
	return &room{url: "sqlite:" + filepath.Join(dir, "db") + "?synchronous=normal&readers=1", leave: func() error { return nil }}
}

func sealedRoom(t testing.TB, dir string) *room {
	r := sqliteRoom(t, dir)
	r.sealed = true
	return r
}

// schemas are those that nobody uses now: making one takes longer than a whole scene.
var schemas struct {
	sync.Mutex
	n    int
	free []*schema
}

type schema struct {
	url   string
	store checkpoint.Store
}

func postgresRoom(t testing.TB, _ string) *room {
	t.Helper()
	server := testserver.Postgres(t)
	schemas.Lock()
	defer schemas.Unlock()
	var s *schema
	if n := len(schemas.free); n > 0 {
		s, schemas.free = schemas.free[n-1], schemas.free[:n-1]
	} else {
		schemas.n++
		s = &schema{url: withQuery(server.URL(), fmt.Sprintf("schema=crash_%d_%d&synchronous_commit=off&pool_max_conns=2", os.Getpid(), schemas.n))}
		var err error
		if s.store, err = stores.Open(t.Context(), s.url); err != nil {
			t.Fatal(err)
		}
	}
	return &room{url: s.url, addr: server.Addr(), leave: func() error {
		if err := s.store.Delete(context.Background(), threadKey); err != nil {
			return err
		}
		schemas.Lock()
		defer schemas.Unlock()
		schemas.free = append(schemas.free, s)
		return nil
	}}
}

var threadKey = checkpoint.Key{Tenant: crash.Thread.Tenant, Thread: crash.Thread.ID}

// theRedis syncs each write, as the matrix asks; one that the environment names does as it likes.
var theRedis = sync.OnceValues(func() (*testserver.Redis, error) {
	return testserver.StartRedis(testserver.RedisConfig{Fsync: "always"})
})

var rooms atomic.Int64

func redisRoom(t testing.TB, _ string) *room {
	t.Helper()
	var server *testserver.Redis
	var err error
	if os.Getenv("HOLDFAST_REDIS_URL") != "" {
		server = testserver.SharedRedis(t)
	} else if server, err = theRedis(); errors.Is(err, testserver.ErrNoRedis) {
		testserver.Lacking(t, err.Error())
	} else if err != nil {
		t.Fatal(err)
	}
	url := withQuery(server.URL(), fmt.Sprintf("prefix=crash_%d_%d", os.Getpid(), rooms.Add(1)))
	return &room{url: url, addr: server.Addr(), leave: func() error { return nil }}
}

// closeLabs ends what the labs share.
func closeLabs() (err error) {
	for _, s := range schemas.free {
		err = errors.Join(err, s.store.Close())
	}
	if os.Getenv("HOLDFAST_REDIS_URL") == "" && rooms.Load() > 0 {
		if server, rerr := theRedis(); rerr == nil {
			err = errors.Join(err, server.Stop())
		}
	}
	return err
}

func withQuery(url, query string) string {
	if strings.Contains(url, "?") {
		return url + "&" + query
	}
	return url + "?" + query
}
