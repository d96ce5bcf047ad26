// Package stores opens the store that a URL names. It is for the command holdfast and the programs of tests, which take the
// store from their command line. Other programs call the constructor of the back end that they use.
package stores

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/postgres"
	"github.com/holdfast-go/holdfast/checkpoint/redis"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
)

// Open opens a store. The caller closes it. The URL is one of
//
//	memory:                                     in this process
//	path, or sqlite:path                        a SQLite file; ?synchronous=normal, ?readers=n, ?max_bytes=n (after sqlite: only)
//	postgres://user@host/database               ?schema=name, ?synchronous_commit=off, ?pooler=true, and what pgx takes
//	redis://host:port/0, rediss://host:port/0   ?prefix=name, ?ttl=720h, and what go-redis takes
func Open(ctx context.Context, text string) (checkpoint.Store, error) {
	scheme, rest, _ := strings.Cut(text, ":")
	switch scheme {
	case "memory":
		return new(checkpoint.Memory), nil
	case "sqlite":
		return openSQLite(rest)
	case "postgres", "postgresql":
		return openPostgres(ctx, text)
	case "redis", "rediss":
		return openRedis(ctx, text)
	}
	if strings.Contains(text, "://") || text == "" {
		return nil, fmt.Errorf("stores: %q is no URL of a store: use memory:, a path, sqlite:, postgres:// or redis://", scheme)
	}
	return opened(sqlite.Open(text, sqlite.Options{}))
}

// Existing is Open of a store that is there: a SQLite file is not made, and a store in memory is refused.
func Existing(ctx context.Context, text string) (checkpoint.Store, error) {
	scheme, rest, _ := strings.Cut(text, ":")
	switch scheme {
	case "memory":
		return nil, fmt.Errorf("stores: a store in memory is gone with its process")
	case "postgres", "postgresql", "redis", "rediss":
		return Open(ctx, text)
	case "sqlite":
		path, _, _ := strings.Cut(rest, "?")
		return existing(ctx, path, text)
	}
	return existing(ctx, text, text)
}

func existing(ctx context.Context, path, text string) (checkpoint.Store, error) {
	if !strings.Contains(text, "://") && path != "" {
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("stores: sqlite: %w", err)
		}
	}
	return Open(ctx, text)
}

// opened keeps a nil pointer from becoming a store.
func opened[S checkpoint.Store](s S, err error) (checkpoint.Store, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

func openSQLite(text string) (checkpoint.Store, error) {
	path, query, _ := strings.Cut(text, "?")
	q, err := url.ParseQuery(query)
	if err != nil {
		return nil, fmt.Errorf("stores: sqlite: %w", err)
	}
	var o sqlite.Options
	for name := range q {
		switch value := q.Get(name); name {
		case "synchronous":
			o.Synchronous, err = either(value, "full", "normal", sqlite.Full, sqlite.Normal)
		case "readers":
			o.Readers, err = strconv.Atoi(value)
		case "max_bytes":
			o.MaxBytes, err = strconv.ParseInt(value, 10, 64)
		default:
			err = fmt.Errorf("there is no such option")
		}
		if err != nil {
			return nil, fmt.Errorf("stores: sqlite: %s: %w", name, err)
		}
	}
	return opened(sqlite.Open(path, o))
}

func openPostgres(ctx context.Context, text string) (checkpoint.Store, error) {
	u, o, err := Postgres(text)
	if err != nil {
		return nil, err
	}
	return opened(postgres.Open(ctx, u, o))
}

// Postgres returns what a URL of Postgres says to pgx, and what it says to the store.
func Postgres(text string) (string, postgres.Options, error) {
	u, q, err := parse(text)
	if err != nil {
		return "", postgres.Options{}, err
	}
	o := postgres.Options{Schema: take(q, "schema")}
	if o.SynchronousCommit, err = either(take(q, "synchronous_commit"), "on", "off", postgres.On, postgres.Off); err != nil {
		return "", o, fmt.Errorf("stores: postgres: synchronous_commit: %w", err)
	}
	if o.Pooler, err = either(take(q, "pooler"), "false", "true", false, true); err != nil {
		return "", o, fmt.Errorf("stores: postgres: pooler: %w", err)
	}
	u.RawQuery = q.Encode()
	return u.String(), o, nil
}

func openRedis(ctx context.Context, text string) (checkpoint.Store, error) {
	u, q, err := parse(text)
	if err != nil {
		return nil, err
	}
	o := redis.Options{Prefix: take(q, "prefix")}
	if ttl := take(q, "ttl"); ttl != "" {
		if o.TTL, err = time.ParseDuration(ttl); err != nil {
			return nil, fmt.Errorf("stores: redis: ttl: %w", err)
		}
	}
	u.RawQuery = q.Encode()
	return opened(redis.Open(ctx, u.String(), o))
}

// parse says nothing of the URL in its error: a password may be in it.
func parse(text string) (*url.URL, url.Values, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, nil, fmt.Errorf("stores: the URL of the store is not valid")
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, nil, fmt.Errorf("stores: the query of the URL is not valid")
	}
	return u, q, nil
}

func take(q url.Values, name string) string {
	v := q.Get(name)
	q.Del(name)
	return v
}

// either is the first value for the first word or none, the second for the second word.
func either[T any](got, first, second string, a, b T) (T, error) {
	switch got {
	case "", first:
		return a, nil
	case second:
		return b, nil
	}
	return a, fmt.Errorf("%q is neither %s nor %s", got, first, second)
}
