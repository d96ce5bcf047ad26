package testserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// ErrNoRedis is returned where neither a server is named nor a binary found.
var ErrNoRedis = errors.New("no Redis: install redis-server (6.0 or newer), or set HOLDFAST_REDIS_URL")

// A RedisConfig says how a server is started. The zero value keeps nothing on disk and evicts nothing.
type RedisConfig struct {
	Binary  string   // default redis-server
	Fsync   string   // always, everysec or no: with an append-only file; empty: without
	Cluster bool     // one node that has all slots
	Args    []string // further arguments
}

// A Redis is a Redis server.
type Redis struct {
	addr  string
	url   string
	dir   string
	o     RedisConfig
	child *Child // nil for a server that the environment names
}

var sharedRedis struct {
	sync.Mutex
	r *Redis
}

// SharedRedis is the server that all tests of a binary share. Main stops it.
func SharedRedis(tb testing.TB) *Redis {
	tb.Helper()
	if url := os.Getenv("HOLDFAST_REDIS_URL"); url != "" {
		opt, err := goredis.ParseURL(url)
		if err != nil {
			tb.Fatalf("HOLDFAST_REDIS_URL: %v", err)
		}
		return &Redis{url: url, addr: opt.Addr}
	}
	sharedRedis.Lock()
	defer sharedRedis.Unlock()
	if sharedRedis.r == nil {
		r, err := StartRedis(RedisConfig{})
		judgeRedis(tb, err)
		sharedRedis.r = r
		stopAtEnd(r.Stop)
	}
	return sharedRedis.r
}

// NewRedis is a server of one test, which may kill it. It never is one that the environment names.
func NewRedis(tb testing.TB, o RedisConfig) *Redis {
	tb.Helper()
	r, err := StartRedis(o)
	judgeRedis(tb, err)
	tb.Cleanup(func() {
		if err := r.Stop(); err != nil {
			tb.Error(err)
		}
	})
	return r
}

func judgeRedis(tb testing.TB, err error) {
	tb.Helper()
	switch {
	case errors.Is(err, ErrNoRedis):
		Lacking(tb, err.Error())
	case err != nil:
		tb.Fatal(err)
	}
}

// StartRedis starts an empty server on a free port of 127.0.0.1. The caller stops it.
func StartRedis(o RedisConfig) (*Redis, error) {
	if o.Binary == "" {
		o.Binary = "redis-server"
	}
	binary, err := exec.LookPath(o.Binary)
	if err != nil {
		return nil, ErrNoRedis
	}
	o.Binary = binary
	dir, err := os.MkdirTemp("", "holdfast-redis-")
	if err != nil {
		return nil, err
	}
	for range 5 { // a port may be taken before the server has it
		var r *Redis
		if r, err = startRedis(dir, o); err == nil {
			return r, nil
		}
	}
	return nil, errors.Join(err, os.RemoveAll(dir))
}

func startRedis(dir string, o RedisConfig) (*Redis, error) {
	port, err := FreePort()
	if err == nil && o.Cluster && port > 55000 {
		port -= 20000 // the bus of a cluster has a port 10,000 higher
	}
	if err != nil {
		return nil, err
	}
	r := &Redis{dir: dir, o: o, addr: "127.0.0.1:" + strconv.Itoa(port)}
	r.url = "redis://" + r.addr + "/0"
	args := []string{"--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", dir, "--save", "", "--maxmemory-policy", "noeviction"}
	if o.Fsync != "" {
		args = append(args, "--appendonly", "yes", "--appendfsync", o.Fsync)
	}
	if o.Cluster {
		args = append(args, "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf")
	}
	r.child, err = StartChild(Command{Path: o.Binary, Args: append(args, o.Args...), Dir: dir, Ready: r.answers})
	if err != nil || !o.Cluster {
		return r, err
	}
	if err := r.takeSlots(); err != nil {
		return nil, errors.Join(err, r.child.Kill())
	}
	return r, nil
}

// answers is nil when the server has loaded its data.
func (r *Redis) answers(ctx context.Context) error {
	c := goredis.NewClient(&goredis.Options{Addr: r.addr})
	defer c.Close()
	return c.Ping(ctx).Err()
}

// takeSlots makes the node a whole cluster.
func (r *Redis) takeSlots() error {
	ctx := context.Background()
	c := goredis.NewClient(&goredis.Options{Addr: r.addr})
	defer c.Close()
	all := []any{"cluster", "addslots"}
	for slot := range 16384 {
		all = append(all, slot)
	}
	if err := c.Do(ctx, all...).Err(); err != nil {
		return err
	}
	return poll(func() error {
		if got := c.Do(ctx, "cluster", "info"); got.Err() != nil {
			return got.Err()
		}
		return c.Do(ctx, "set", "probe", "1").Err()
	})
}

// URL is for redis.Open.
func (r *Redis) URL() string { return r.url }

// Addr is host and port.
func (r *Redis) Addr() string { return r.addr }

// PID is the process id of an own server.
func (r *Redis) PID() int { return r.child.PID() }

// Kill ends the server with SIGKILL.
func (r *Redis) Kill() error { return r.child.Kill() }

// Halt asks the server to end and keeps its data.
func (r *Redis) Halt() error { return r.child.Stop() }

// Restart starts a server again that was killed or halted.
func (r *Redis) Restart() error { return r.child.Restart() }

// Stop ends the server for good.
func (r *Redis) Stop() error {
	return errors.Join(r.child.Kill(), os.RemoveAll(r.dir))
}

// CutTail halts the server and cuts n bytes off the end of its append-only file.
func (r *Redis) CutTail(n int64) error {
	if err := r.Halt(); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(r.dir, "appendonlydir", "*.incr.aof"))
	if err != nil || len(files) == 0 { // before Redis 7 it is one file
		files = []string{filepath.Join(r.dir, "appendonly.aof")}
	}
	last := files[len(files)-1]
	info, err := os.Stat(last)
	if err != nil {
		return err
	}
	if info.Size() < n {
		return fmt.Errorf("%s has %d bytes only", last, info.Size())
	}
	return os.Truncate(last, info.Size()-n)
}

// poll repeats f until it succeeds, as long as a server may take.
func poll(f func() error) error {
	late := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := f()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-late:
			return err
		}
	}
}
