package testserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// ErrNoPostgres is returned where neither a server is named nor a binary found.
var ErrNoPostgres = errors.New("no Postgres: install postgresql (its programs initdb and postgres), or set HOLDFAST_POSTGRES_URL")

// A PG is a Postgres server.
type PG struct {
	url   string
	addr  string
	dir   string
	child *Child // nil for a server that the environment names
}

var sharedPG struct {
	sync.Mutex
	pg *PG
}

// Postgres is the server that all tests of a binary share. Main stops it.
func Postgres(tb testing.TB) *PG {
	tb.Helper()
	if pg := named(tb); pg != nil {
		return pg
	}
	sharedPG.Lock()
	defer sharedPG.Unlock()
	if sharedPG.pg == nil {
		pg, err := StartPostgres()
		judge(tb, err)
		sharedPG.pg = pg
		stopAtEnd(pg.Stop)
	}
	return sharedPG.pg
}

// NewPostgres is a server of one test, which may kill it. It never is one that the environment names.
func NewPostgres(tb testing.TB) *PG {
	tb.Helper()
	if named(tb) != nil {
		Lacking(tb, "this test kills its server; unset HOLDFAST_POSTGRES_URL and install postgresql")
	}
	pg, err := StartPostgres()
	judge(tb, err)
	tb.Cleanup(func() {
		if err := pg.Stop(); err != nil {
			tb.Error(err)
		}
	})
	return pg
}

func judge(tb testing.TB, err error) {
	tb.Helper()
	switch {
	case errors.Is(err, ErrNoPostgres):
		Lacking(tb, err.Error())
	case err != nil:
		tb.Fatal(err)
	}
}

func named(tb testing.TB) *PG {
	tb.Helper()
	url := os.Getenv("HOLDFAST_POSTGRES_URL")
	if url == "" {
		return nil
	}
	c, err := pgx.ParseConfig(url)
	if err != nil {
		tb.Fatalf("HOLDFAST_POSTGRES_URL: %v", err)
	}
	return &PG{url: url, addr: fmt.Sprintf("%s:%d", c.Host, c.Port)}
}

// StartPostgres starts a server with an empty database on a free port. It syncs as in production. The caller stops it.
func StartPostgres() (*PG, error) {
	initdb, err := postgresProgram("initdb")
	if err != nil {
		return nil, err
	}
	server, err := postgresProgram("postgres")
	if err != nil {
		return nil, err
	}
	user, err := Unprivileged("postgres", "nobody")
	if err != nil {
		return nil, err
	}
	dir, err := TempDir("pg", user)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	made := exec.Command(initdb, "-D", data, "-U", "postgres", "--auth=trust", "--no-sync", "--no-locale", "--encoding=UTF8", "--no-instructions")
	made.Dir, made.SysProcAttr = dir, sysProcAttr(user)
	if out, err := made.CombinedOutput(); err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	for range 5 { // a port may be taken before the server has it
		var pg *PG
		if pg, err = startPostgres(server, dir, user); err == nil {
			return pg, nil
		}
	}
	os.RemoveAll(dir)
	return nil, err
}

func startPostgres(server, dir string, user *User) (*PG, error) {
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	pg := &PG{dir: dir, addr: "127.0.0.1:" + strconv.Itoa(port)}
	pg.url = "postgres://postgres@" + pg.addr + "/postgres?sslmode=disable"
	args := []string{"-D", filepath.Join(dir, "data"), "-p", strconv.Itoa(port)}
	for _, set := range []string{"listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200", "shared_buffers=64MB", "fsync=on"} {
		args = append(args, "-c", set)
	}
	pg.child, err = StartChild(Command{Path: server, Args: args, Dir: dir, User: user, Ready: pg.answers, End: os.Interrupt})
	return pg, err
}

func (p *PG) answers(ctx context.Context) error {
	c, err := pgx.Connect(ctx, p.url)
	if err != nil {
		return err
	}
	return c.Close(ctx)
}

// URL is a superuser's.
func (p *PG) URL() string { return p.url }

// Addr is host and port.
func (p *PG) Addr() string { return p.addr }

// Kill ends the server with SIGKILL and waits for its backends.
func (p *PG) Kill() error { return p.child.Kill() }

// Restart starts a killed or stopped server again, with its data, on its port.
func (p *PG) Restart() error { return p.child.Restart() }

// Halt stops the server as an administrator would in a hurry (fast shutdown): backends are ended with 57P01. Its data stay.
func (p *PG) Halt() error { return p.child.Stop() }

// Stop ends the server for good and removes its data.
func (p *PG) Stop() error {
	if p.child == nil {
		return nil
	}
	return errors.Join(p.child.Stop(), os.RemoveAll(p.dir))
}

// postgresProgram looks in PATH, then where Debian keeps the versions, newest first.
func postgresProgram(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return filepath.EvalSymlinks(path) // initdb looks for postgres beside itself
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) == 0 {
		return "", ErrNoPostgres
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(strings.Split(path, "/")[4])
		return n
	}
	return slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) }), nil
}
