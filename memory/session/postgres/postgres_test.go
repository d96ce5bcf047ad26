package postgres_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	threads "github.com/holdfast-go/holdfast/checkpoint/postgres"
	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/pin"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/memory/session/postgres"
	"github.com/holdfast-go/holdfast/memory/session/sessiontest"
	"github.com/holdfast-go/holdfast/message"
	"github.com/jackc/pgx/v5"
)

// fresh names a schema that no other test uses; the test's end drops it.
func fresh(t *testing.T) string {
	t.Helper()
	schema := "t_" + strings.ToLower(rand.Text())
	pg := testserver.Postgres(t)
	t.Cleanup(func() {
		script(t, pg.URL(), "set client_min_messages = warning; drop schema if exists "+schema+" cascade")
	})
	return schema
}

// script runs statements as the superuser.
func script(t *testing.T, url, text string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close(context.Background())
	if _, err := conn.PgConn().Exec(context.Background(), text).ReadAll(); err != nil {
		t.Error(err)
	}
}

// few keeps the many stores of these tests below the connections of the server.
const few = "&pool_max_conns=4"

func openAt(t *testing.T, url string, o postgres.Options) *session.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore(t *testing.T) {
	t.Parallel()
	schema, url := fresh(t), testserver.Postgres(t).URL()+few
	sessiontest.Run(t, func(t *testing.T, o session.Options) *session.Store {
		return openAt(t, url, postgres.Options{Schema: schema, Session: o})
	})
}

// Report 153: through PgBouncer in transaction mode.
func TestPooler(t *testing.T) {
	t.Parallel()
	schema, url := fresh(t), testserver.PgBouncer(t, testserver.Postgres(t), "postgres", 10)
	sessiontest.Run(t, func(t *testing.T, o session.Options) *session.Store {
		return openAt(t, url+few, postgres.Options{Schema: schema, Session: o, Pooler: true})
	})
}

var scope = func() memory.Scope {
	s, err := memory.NewScope("tenant", "user")
	if err != nil {
		panic(err)
	}
	return s
}()

// said is a message of the user and the environment that it confirms.
func said(environment string) session.Write {
	m := message.User("use " + environment)
	return session.Write{
		Messages: []message.Message{m}, Set: []session.Change{session.Set(session.Env, environment, session.FromUser(m.ID))},
	}
}

// Many stores open on one schema at the same time; it may hold threads too.
func TestOpenTogether(t *testing.T) {
	t.Parallel()
	o, url := postgres.Options{Schema: fresh(t)}, testserver.Postgres(t).URL()+few
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := postgres.Open(t.Context(), url, o)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if _, err := s.Write(t.Context(), scope, "c", said("testing")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	h, err := openAt(t, url, o).FactHistory(t.Context(), scope, "c", "env")
	if err != nil || len(h) != 8 {
		t.Errorf("%d facts, %v", len(h), err)
	}
	c, err := threads.Open(t.Context(), url, threads.Options{Schema: o.Schema})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Threads(t.Context(), checkpoint.ThreadFilter{}); err != nil {
		t.Error(err)
	}
}

// Conversations of one user that lift and say the same standing pins at once, while the user is erased: nobody waits for
// ever, and what is left is whole.
func TestNoDeadlock(t *testing.T) {
	t.Parallel()
	s := openAt(t, testserver.Postgres(t).URL()+"&pool_max_conns=16", postgres.Options{Schema: fresh(t)})
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			c := fmt.Sprint("c", i)
			for range 10 {
				w := said("testing")
				for j := range 6 {
					w.Pins = append(w.Pins, standing(fmt.Sprint("p", (i*5+j)%6), w.Messages[0].ID))
				}
				if _, err := s.Write(t.Context(), scope, c, w); err != nil && !errors.Is(err, session.ErrConflict) && !errors.Is(err, memory.ErrErased) {
					t.Error(err)
				}
			}
		})
	}
	wg.Go(func() {
		for range 5 {
			if err := errors.Join(s.Erase(t.Context(), scope), s.Readmit(t.Context(), scope)); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	if _, err := s.Write(t.Context(), scope, "c0", said("testing")); err != nil {
		t.Error(err)
	}
}

func standing(id, messageID string) pin.Pin {
	return pin.Pin{ID: id, Effect: pin.Rule, Text: id, Standing: true, Message: messageID}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	url := testserver.Postgres(t).URL() + few
	for _, schema := range []string{"Upper", "a b", "pg_x", `x"; drop`, strings.Repeat("x", 64)} {
		if _, err := postgres.Open(t.Context(), url, postgres.Options{Schema: schema}); !errors.Is(err, session.ErrOptions) {
			t.Errorf("schema %q: %v", schema, err)
		}
	}
	o := postgres.Options{Schema: fresh(t)}
	openAt(t, url, o)
	script(t, testserver.Postgres(t).URL(), "insert into "+o.Schema+".hfs_version(n) values (1000)")
	if _, err := postgres.Open(t.Context(), url, o); !errors.Is(err, session.ErrNewerFormat) {
		t.Errorf("a newer schema: %v", err)
	}
	o = postgres.Options{Schema: fresh(t), Session: session.Options{Pins: -1}}
	if _, err := postgres.Open(t.Context(), url, o); !errors.Is(err, session.ErrOptions) {
		t.Errorf("a negative limit: %v", err)
	}
	if _, err := postgres.Open(t.Context(), "postgres://127.0.0.1:1/x?sslmode=disable", postgres.Options{}); !errors.Is(err, session.ErrUnavailable) {
		t.Errorf("no server: %v", err)
	}
}

// A reply that is lost leaves open whether the write happened; the same write again settles it.
func TestLostReply(t *testing.T) {
	t.Parallel()
	pg := testserver.Postgres(t)
	proxy := testserver.NewProxy(t, pg.Addr())
	url := strings.Replace(pg.URL(), pg.Addr(), proxy.Addr(), 1)
	s := openAt(t, url+few, postgres.Options{Schema: fresh(t)})
	lost := 0
	for i := range 20 {
		w := said("testing")
		proxy.DropReply(i%6 + 1)
		_, err := s.Write(t.Context(), scope, "c", w)
		if err == nil {
			continue
		}
		if lost++; !errors.Is(err, session.ErrUnavailable) {
			t.Fatalf("a lost reply: %v", err)
		}
		for err != nil { // the test's deadline ends it
			_, err = s.Write(t.Context(), scope, "c", w)
		}
	}
	h, err := s.FactHistory(t.Context(), scope, "c", "env")
	if err != nil || len(h) != 20 || lost == 0 {
		t.Errorf("%d facts after %d lost replies, %v", len(h), lost, err)
	}
}
