package testserver_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/jackc/pgx/v5"
)

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

func exec(t *testing.T, c *pgx.Conn, sql string) {
	t.Helper()
	if _, err := c.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

// What was committed is there after kill -9.
func TestKillAndRestart(t *testing.T) {
	t.Parallel()
	pg := testserver.NewPostgres(t)
	c := connect(t, pg.URL())
	exec(t, c, `create table x(n int)`)
	for range 3 {
		c := connect(t, pg.URL())
		exec(t, c, `insert into x values (1)`)
		if err := pg.Kill(); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Exec(t.Context(), `select 1`); err == nil {
			t.Fatal("a killed server answers")
		}
		if err := pg.Restart(); err != nil {
			t.Fatal(err)
		}
	}
	var n int
	if err := connect(t, pg.URL()).QueryRow(t.Context(), `select count(*) from x`).Scan(&n); err != nil || n != 3 {
		t.Fatalf("%d rows, %v; want 3", n, err)
	}
}

func TestProxy(t *testing.T) {
	t.Parallel()
	pg := testserver.Postgres(t)
	p := testserver.NewProxy(t, pg.Addr())
	url := strings.Replace(pg.URL(), pg.Addr(), p.Addr(), 1)
	c := connect(t, url)
	exec(t, c, `create table y(n int)`)
	before := p.Requests()
	exec(t, c, `insert into y values (1)`)
	if n := p.Requests() - before; n != 1 {
		t.Errorf("one statement was counted as %d requests", n)
	}
	dropped := p.DropReply(2)
	exec(t, c, `insert into y values (2)`)
	if _, err := c.Exec(t.Context(), `insert into y values (3)`); err == nil {
		t.Error("a reply that was dropped has arrived")
	}
	<-dropped
	c = connect(t, url)
	var n int
	if err := c.QueryRow(t.Context(), `select count(*) from y`).Scan(&n); err != nil || n != 3 {
		t.Errorf("%d rows, %v; want 3: the dropped reply was of a statement that happened", n, err)
	}
	p.Freeze(true)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := c.Exec(ctx, `select 1`); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a frozen proxy: %v", err)
	}
	p.Freeze(false)
	c = connect(t, url)
	p.Cut()
	if _, err := c.Exec(t.Context(), `select 1`); err == nil {
		t.Error("a connection that was cut answers")
	}
	p.Refuse(true)
	if c, err := pgx.Connect(t.Context(), url); err == nil {
		c.Close(t.Context())
		t.Error("a proxy that refuses lets in")
	}
	p.Refuse(false)
	exec(t, connect(t, url), `drop table y`)
}

// A command that ends at once is reported with what it wrote.
func TestStartChildThatEnds(t *testing.T) {
	t.Parallel()
	_, err := testserver.StartChild(testserver.Command{
		Path: "sh", Args: []string{"-c", "echo no such luck; exit 1"},
		Ready: func(ctx context.Context) error {
			var d net.Dialer
			c, err := d.DialContext(ctx, "tcp", "127.0.0.1:1")
			if err == nil {
				c.Close()
			}
			return err
		},
	})
	if err == nil || !strings.Contains(err.Error(), "no such luck") {
		t.Fatalf("StartChild = %v", err)
	}
}
