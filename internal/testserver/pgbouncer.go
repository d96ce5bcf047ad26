package testserver

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
)

// PgBouncer starts a pooler in transaction mode before a server, with as many connections to it, all of one role. It returns
// its URL. The test's end stops it.
func PgBouncer(tb testing.TB, pg *PG, role string, conns int) string {
	tb.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		if program = "/usr/sbin/pgbouncer"; !exists(program) {
			Lacking(tb, "no PgBouncer: install pgbouncer")
		}
	}
	user, err := Unprivileged("postgres", "nobody")
	if err != nil {
		tb.Fatal(err)
	}
	dir, err := TempDir("bouncer", user)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { os.RemoveAll(dir) })
	port, err := FreePort()
	if err != nil {
		tb.Fatal(err)
	}
	host, serverPort, err := net.SplitHostPort(pg.Addr())
	if err != nil {
		tb.Fatal(err)
	}
	config := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf(`[databases]
* = host=%s port=%s user=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = %d
max_client_conn = 500
`, host, serverPort, role, port, conns)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
	url := fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
	child, err := StartChild(Command{Path: program, Args: []string{config}, Dir: dir, User: user, End: os.Interrupt, Ready: func(ctx context.Context) error {
		c, err := pgx.Connect(ctx, url)
		if err != nil {
			return err
		}
		return c.Close(ctx)
	}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := child.Kill(); err != nil {
			tb.Error(err)
		}
	})
	return url
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
