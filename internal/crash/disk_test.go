//go:build linux

package crash_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/redis"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"github.com/holdfast-go/holdfast/internal/crash"
	"github.com/holdfast-go/holdfast/internal/faultstore"
	"github.com/holdfast-go/holdfast/internal/stores"
	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/jackc/pgx/v5/pgconn"
	goredis "github.com/redis/go-redis/v9"
)

// A narrow place is a store with little room.
type narrow struct {
	url  func(n int) string // of the nth play
	fill func() error
	free func() error
	full func(error) bool // whether an error says so
}

// TestCrashDiskFull leaves a store without room in the middle of a run. The calls say so with a typed error, nothing is lost, and
// when there is room again the run goes on by itself. // C4 C20 C21 C22
func TestCrashDiskFull(t *testing.T) {
	skipShort(t)
	t.Parallel()
	places := map[*lab]func(*testing.T) *narrow{inSQLite: narrowSQLite, inPostgres: narrowPostgres, inRedis: narrowRedis}
	inEach(t, func(t *testing.T, l *lab) {
		place := places[l](t)
		hits, n := 0, 0
		for _, scene := range crash.Scenes {
			want := l.calmHere(t, scene)
			for _, call := range []int{2, 4, 9, 15} {
				n++
				refused, err := place.play(t, scene, want, n, call)
				if err != nil {
					t.Errorf("%s, full at call %d: %v", scene.Name, call, err)
				}
				if refused > 0 {
					hits++
				}
			}
		}
		fmt.Printf("%s: %d of %d runs met a full store\n", t.Name(), hits, n)
		if hits < 4 {
			t.Error("too few to prove anything")
		}
	})
}

// play plays a scene on a store that is full from a call on, until it has said so three times.
func (p *narrow) play(t *testing.T, scene crash.Scene, want *result, n, call int) (refused int, err error) {
	store, err := stores.Open(t.Context(), p.url(n))
	if err != nil {
		return 0, err
	}
	if err := store.Close(); err != nil { // the tables are made
		return 0, err
	}
	var odd error
	var mu sync.Mutex // tasks of one superstep fail together
	got, err := show{scene: scene, patience: time.Minute,
		open: func(ctx context.Context) (checkpoint.Store, error) { return stores.Open(ctx, p.url(n)) },
		rig: func(s *faultstore.Store) {
			s.Before = func(c *faultstore.Call) error {
				if c.N == call {
					return p.fill()
				}
				return nil
			}
			s.After = func(c *faultstore.Call) error {
				mu.Lock()
				defer mu.Unlock()
				if errors.Is(c.Err, checkpoint.ErrUnavailable) {
					if !p.full(c.Err) {
						odd = c.Err
					}
					if refused++; refused == 3 {
						return errors.Join(c.Err, p.free())
					}
				}
				return c.Err
			}
		}}.play(t)
	if err = errors.Join(err, odd, p.free()); err != nil {
		return refused, err
	}
	return refused, got.differs(want)
}

// mount makes a small file system.
func mount(t *testing.T, size string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "holdfast-small-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skip("needs to mount a small file system: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// filler is a file that takes all room of its file system.
type filler string

func (f filler) fill() error {
	file, err := os.Create(string(f))
	if err != nil {
		return err
	}
	defer file.Close()
	for _, size := range []int{1 << 20, 64 << 10, 4 << 10} {
		for err = nil; err == nil; {
			_, err = file.Write(make([]byte, size))
		}
	}
	if errors.Is(err, syscall.ENOSPC) {
		return nil
	}
	return err
}

func (f filler) free() error {
	if err := os.Remove(string(f)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func narrowSQLite(t *testing.T) *narrow {
	dir := mount(t, "16m")
	f := filler(filepath.Join(dir, "filler"))
	return &narrow{
		url:  func(n int) string { return fmt.Sprintf("sqlite:%s/db%d?readers=1", dir, n) },
		fill: f.fill, free: f.free,
		full: func(err error) bool { return errors.Is(err, sqlite.ErrFull) },
	}
}

// narrowPostgres keeps a database on a small file system, and the server's own log elsewhere: without room for that the server itself
// ends, as TestCrashServer has it.
func narrowPostgres(t *testing.T) *narrow {
	if os.Getenv("HOLDFAST_POSTGRES_URL") != "" {
		t.Skip("needs a server on this machine")
	}
	server := testserver.NewPostgres(t)
	dir := mount(t, "64m")
	space := filepath.Join(dir, "space")
	user, err := testserver.Unprivileged("postgres", "nobody")
	if err == nil {
		err = errors.Join(os.Mkdir(space, 0o700), os.Chmod(dir, 0o755))
	}
	if err == nil && user != nil {
		err = os.Chown(space, int(user.UID), int(user.GID))
	}
	if err != nil {
		t.Fatal(err)
	}
	conn := connect(t, server.URL())
	for _, text := range []string{"create tablespace small location '" + space + "'", "create database narrow tablespace small"} {
		if _, err := conn.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { // before the file system goes
		if err := server.Kill(); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/narrow"
	f := filler(filepath.Join(dir, "filler"))
	return &narrow{
		url:  func(n int) string { return withQuery(u.String(), fmt.Sprintf("schema=n%d&pool_max_conns=2", n)) },
		fill: f.fill, free: f.free,
		full: func(err error) bool {
			e, ok := errors.AsType[*pgconn.PgError](err)
			return ok && e.Code == "53100"
		},
	}
}

func narrowRedis(t *testing.T) *narrow {
	server := testserver.NewRedis(t, testserver.RedisConfig{})
	client := goredis.NewClient(&goredis.Options{Addr: server.Addr()})
	t.Cleanup(func() { client.Close() })
	limit := func(bytes string) func() error {
		return func() error { return client.ConfigSet(context.Background(), "maxmemory", bytes).Err() }
	}
	return &narrow{
		url:  func(n int) string { return withQuery(server.URL(), fmt.Sprintf("prefix=n%d", n)) },
		fill: limit("1"), free: limit("0"),
		full: func(err error) bool { return errors.Is(err, redis.ErrFull) },
	}
}

// TestCrashWALCut kills a program and cuts the end off SQLite's log: what is lost is a suffix, and what is done again has the same
// keys. // C20
func TestCrashWALCut(t *testing.T) {
	skipShort(t)
	t.Parallel()
	lost := 0
	for n := range 18 {
		scene := []string{"line", "fan", "ask", "nest"}[n%4]
		slots <- struct{}{}
		k, err := inSQLite.calm(t, scene, "sync").walCut(t, n)
		<-slots
		if err != nil {
			t.Errorf("%s, cut %d: %v", scene, n, err)
		}
		lost += k
	}
	fmt.Printf("%s: %d records lost\n", t.Name(), lost)
	if lost == 0 {
		t.Error("nothing was lost: this proves nothing")
	}
}

func (c *calm) walCut(t *testing.T, n int) (lost int, err error) {
	s := c.newStage(t, c.scene, "sync")
	defer s.close(t)
	// At full durability nothing is folded into the database before it is large: all is in the log.
	db := filepath.Join(s.dir, "db")
	s.url = "sqlite:" + db + "?readers=1"
	if code, _, err := s.victim(fmt.Sprintf("point %d written O", 1+n%3)); err != nil || code != -1 {
		return 0, fmt.Errorf("code %d: %w", code, err)
	}
	before, err := s.copied(t)
	if err != nil {
		return 0, err
	}
	info, err := os.Stat(db + "-wal")
	if err != nil {
		return 0, err
	}
	cut := []int64{1, 100, 4000, 5000, 12_000, 30_000, 60_000, 1 << 20}[n%8]
	if err := os.Truncate(db+"-wal", max(0, info.Size()-cut)); err != nil {
		return 0, err
	}
	after, err := s.copied(t)
	if err != nil {
		return 0, err
	}
	lost = len(before) - len(after)
	if err := beginning(after, before); err != nil {
		return lost, err
	}
	return lost, c.compareAfterLoss(s)
}

// copied are the records as somebody finds them who opens a copy of the files: opening changes them.
func (s *stage) copied(t *testing.T) ([]string, error) {
	there := *s
	there.room = &room{url: "sqlite:" + filepath.Join(t.TempDir(), "db")}
	for _, suffix := range []string{"", "-wal"} {
		from, err := os.Open(filepath.Join(s.dir, "db"+suffix))
		if err != nil {
			return nil, err
		}
		to, err := os.Create(there.url[len("sqlite:"):] + suffix)
		if err == nil {
			_, err = io.Copy(to, from)
		}
		if err = errors.Join(err, from.Close(), to.Close()); err != nil {
			return nil, err
		}
	}
	return there.records(t)
}
