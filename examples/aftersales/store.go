package main

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/postgres"
	"github.com/holdfast-go/holdfast/checkpoint/redis"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"github.com/holdfast-go/holdfast/memory/extract"
	"github.com/holdfast-go/holdfast/memory/longterm"
	longtermpostgres "github.com/holdfast-go/holdfast/memory/longterm/postgres"
	longtermsqlite "github.com/holdfast-go/holdfast/memory/longterm/sqlite"
	"github.com/holdfast-go/holdfast/memory/session"
	sessionpostgres "github.com/holdfast-go/holdfast/memory/session/postgres"
	sessionsqlite "github.com/holdfast-go/holdfast/memory/session/sqlite"
)

// data says where the program keeps its things.
type data struct {
	URL      string // of the threads: a file, or a server's
	Sessions string // file of what was confirmed; a Postgres server keeps it beside the threads instead
	Memory   string // file of what is remembered of customers; likewise
}

// openSessions opens what was said and confirmed: in the Postgres schema of the threads, else in a SQLite file.
func openSessions(ctx context.Context, d data) (*session.Store, error) {
	o := session.Options{Fields: []session.Definition{aboutOrder, aboutRefund}}
	url, schema, err := d.postgres()
	if err != nil {
		return nil, err
	}
	if url == "" {
		return sessionsqlite.Open(d.Sessions, sessionsqlite.Options{Session: o})
	}
	return sessionpostgres.Open(ctx, url, sessionpostgres.Options{Session: o, Schema: schema})
}

// openMemories opens what is remembered of customers, in the same place.
func openMemories(ctx context.Context, d data, reader longterm.Extractor) (*longterm.Store, error) {
	o := longterm.Options{Rules: extract.Rules(), Extractor: reader, Logger: slog.New(slog.DiscardHandler)}
	url, schema, err := d.postgres()
	if err != nil {
		return nil, err
	}
	if url == "" {
		return longtermsqlite.Open(d.Memory, longtermsqlite.Options{Longterm: o})
	}
	return longtermpostgres.Open(ctx, url, longtermpostgres.Options{Longterm: o, Schema: schema})
}

// postgres is the server and the schema of the threads, or "" if they are elsewhere.
func (d data) postgres() (address, schema string, err error) {
	if scheme, _, ok := strings.Cut(d.URL, "://"); !ok || !strings.HasPrefix(scheme, "postgres") {
		return "", "", nil
	}
	u, err := serverURL(d.URL)
	if err != nil {
		return "", "", err
	}
	schema = take(u, "schema")
	return u.String(), schema, nil
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
	return errors.Is(err, checkpoint.ErrUnavailable) || errors.Is(err, session.ErrUnavailable) || errors.Is(err, longterm.ErrUnavailable)
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
