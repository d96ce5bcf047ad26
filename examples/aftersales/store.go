package main

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/postgres"
	"github.com/holdfast-go/holdfast/checkpoint/redis"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"github.com/holdfast-go/holdfast/memory/session"
	sessionpostgres "github.com/holdfast-go/holdfast/memory/session/postgres"
	sessionsqlite "github.com/holdfast-go/holdfast/memory/session/sqlite"
)

// data says where the program keeps its things.
type data struct {
	URL      string // of the threads: a file, or a server's
	Sessions string // file of what was confirmed; a Postgres server keeps it beside the threads instead
}

// openSessions opens what was said and confirmed: in the Postgres schema of the threads, else in a SQLite file.
func openSessions(ctx context.Context, d data) (*session.Store, error) {
	o := session.Options{Fields: []session.Definition{aboutOrder, aboutRefund}}
	if scheme, _, ok := strings.Cut(d.URL, "://"); !ok || !strings.HasPrefix(scheme, "postgres") {
		return sessionsqlite.Open(d.Sessions, sessionsqlite.Options{Session: o})
	}
	u, err := serverURL(d.URL)
	if err != nil {
		return nil, err
	}
	schema := take(u, "schema")
	return sessionpostgres.Open(ctx, u.String(), sessionpostgres.Options{Session: o, Schema: schema})
}

// serverURL reads the URL of a server. What url.Parse says of a bad one has the password in it.
func serverURL(db string) (*url.URL, error) {
	u, err := url.Parse(db)
	if err != nil {
		return nil, mistakef("-db: this is no URL of a server", "-db：这不是服务器的地址")
	}
	return u, nil
}

// openStore opens the store that -db names. Nothing else in this program knows which one it is.
func openStore(ctx context.Context, db string) (checkpoint.Store, error) {
	if !isURL(db) {
		return sqlite.Open(db, sqlite.Options{})
	}
	u, err := serverURL(db)
	if err != nil {
		return nil, err
	}
	switch u.Scheme {
	case "postgres", "postgresql":
		schema := take(u, "schema")
		return postgres.Open(ctx, u.String(), postgres.Options{Schema: schema})
	default: // redis or rediss
		prefix := take(u, "prefix")
		return redis.Open(ctx, u.String(), redis.Options{Prefix: prefix})
	}
}

// knownStore reports whether openStore has a store for a URL.
func knownStore(db string) bool {
	scheme, _, _ := strings.Cut(db, "://")
	return slices.Contains([]string{"postgres", "postgresql", "redis", "rediss"}, scheme)
}

// isURL tells a server from a file.
func isURL(db string) bool { return strings.Contains(db, "://") }

// take removes a parameter that is ours from the query of a URL, and returns it.
func take(u *url.URL, name string) string {
	q := u.Query()
	v := q.Get(name)
	q.Del(name)
	u.RawQuery = q.Encode()
	return v
}

// storePatience is how long the program waits for a database that does not answer.
const storePatience = 30 * time.Second

// away reports whether a database could not be reached.
func away(err error) bool {
	return errors.Is(err, checkpoint.ErrUnavailable) || errors.Is(err, session.ErrUnavailable)
}

// steady repeats a call while the store cannot be reached: a server that is restarted comes back. Calls of an App are safe
// to repeat.
func steady[T any](ctx context.Context, call func() (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	for {
		v, err := call()
		if !away(err) {
			return v, err
		}
		select {
		case <-ctx.Done():
			return v, err
		case <-time.After(200 * time.Millisecond):
		}
	}
}
