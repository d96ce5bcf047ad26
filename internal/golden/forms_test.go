package golden_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/stores"
	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/jackc/pgx/v5"
	goredis "github.com/redis/go-redis/v9"
	_ "modernc.org/sqlite"
)

// A form is how a store keeps a database, taken and put back without the store.
type form struct {
	name string
	file string
	url  func(t testing.TB) string // of a fresh place
	take func(t testing.TB, url string) []byte
	put  func(t testing.TB, url string, data []byte)
}

var forms = []form{
	{"sqlite", "sqlite.db.gz", sqliteURL, takeSQLite, func(t testing.TB, u string, data []byte) { want(t, os.WriteFile(sqlitePath(u), data, 0o600), nil) }},
	{"postgres", "postgres.sql.gz", postgresURL, takePostgres, putPostgres},
	{"redis", "redis.jsonl.gz", redisURL, takeRedis, putRedis},
}

func open(t testing.TB, u string) checkpoint.Store {
	t.Helper()
	s, err := stores.Open(t.Context(), u)
	want(t, err, nil)
	t.Cleanup(func() { s.Close() })
	return s
}

func sqliteURL(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "golden.db") }
func sqlitePath(u string) string    { return strings.TrimPrefix(u, "sqlite:") }
func parameter(u, name string) string {
	parsed, err := url.Parse(u)
	if err != nil {
		panic(err)
	}
	return parsed.Query().Get(name)
}

// takeSQLite makes one file of what stands in the database and its log.
func takeSQLite(t testing.TB, u string) []byte {
	to := filepath.Join(t.TempDir(), "taken.db")
	db, err := sql.Open("sqlite", sqlitePath(u))
	want(t, err, nil)
	defer db.Close()
	_, err = db.Exec("vacuum into ?", to)
	want(t, err, nil)
	data, err := os.ReadFile(to)
	want(t, err, nil)
	return data
}

const goldenSchema = "hf_golden_threads"

func postgresURL(t testing.TB) string {
	u, err := url.Parse(testserver.Postgres(t).URL())
	want(t, err, nil)
	schema := "t_" + strings.ToLower(rand.Text())
	q := u.Query()
	q.Set("schema", schema)
	u.RawQuery = q.Encode()
	t.Cleanup(func() {
		conn, err := pgx.Connect(context.Background(), testserver.Postgres(t).URL())
		want(t, err, nil)
		defer conn.Close(context.Background())
		_, err = conn.Exec(context.Background(), "set client_min_messages = warning; drop schema if exists "+schema+" cascade")
		want(t, err, nil)
	})
	return u.String()
}

func connect(t testing.TB) *pgx.Conn {
	conn, err := pgx.Connect(t.Context(), testserver.Postgres(t).URL())
	want(t, err, nil)
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// takePostgres writes the statements that make the tables of this release, and each row as an insert of texts.
func takePostgres(t testing.TB, u string) []byte {
	conn, schema := connect(t), parameter(u, "schema")
	var b bytes.Buffer
	fmt.Fprintf(&b, "create schema %s;\nset search_path to %s;\nset time zone 'UTC';\n", goldenSchema, goldenSchema)
	files, err := filepath.Glob("../../checkpoint/postgres/migrations/*.sql")
	want(t, err, nil)
	for _, f := range files {
		text, err := os.ReadFile(f)
		want(t, err, nil)
		b.Write(text)
	}
	list := func(q string, args ...any) []string {
		rows, err := conn.Query(t.Context(), q, args...)
		want(t, err, nil)
		out, err := pgx.CollectRows(rows, pgx.RowTo[string])
		want(t, err, nil)
		return out
	}
	_, err = conn.Exec(t.Context(), `set time zone 'UTC'`)
	want(t, err, nil)
	for _, table := range list(`select table_name::text from information_schema.tables where table_schema = $1 order by 1`, schema) {
		var names, quoted []string
		for _, c := range list(`select column_name::text from information_schema.columns where table_schema = $1 and table_name = $2 order by ordinal_position`, schema, table) {
			names, quoted = append(names, `"`+c+`"`), append(quoted, `quote_nullable("`+c+`"::text)`)
		}
		for _, row := range list(`select concat_ws(', ', ` + strings.Join(quoted, ", ") + `) as v from ` + schema + `.` + table + ` order by v`) {
			fmt.Fprintf(&b, "insert into %s(%s) values (%s);\n", table, strings.Join(names, ", "), row)
		}
	}
	return b.Bytes()
}

func putPostgres(t testing.TB, u string, data []byte) {
	text := strings.ReplaceAll(string(data), goldenSchema, parameter(u, "schema"))
	_, err := connect(t).PgConn().Exec(t.Context(), text).ReadAll()
	want(t, err, nil)
}

func redisURL(t testing.TB) string {
	u, err := url.Parse(testserver.SharedRedis(t).URL())
	want(t, err, nil)
	q := u.Query()
	q.Set("prefix", "hf-"+strings.ToLower(rand.Text()))
	u.RawQuery = q.Encode()
	return u.String()
}

func client(t testing.TB) *goredis.Client {
	o, err := goredis.ParseURL(testserver.SharedRedis(t).URL())
	want(t, err, nil)
	c := goredis.NewClient(o)
	t.Cleanup(func() { c.Close() })
	return c
}

// A redisKey is one key below the prefix with all that it holds; strings are bytes.
type redisKey struct {
	Key  []byte
	Type string
	Pair [][2][]byte `json:",omitempty"` // of a hash: field and value; of a sorted set: member and score
	One  [][]byte    `json:",omitempty"` // of a set or a list, or the one of a string
}

func takeRedis(t testing.TB, u string) []byte {
	c, prefix := client(t), parameter(u, "prefix")
	var keys []string
	for it := c.Scan(t.Context(), 0, prefix+":*", 1000).Iterator(); it.Next(t.Context()); {
		keys = append(keys, it.Val())
	}
	slices.Sort(keys)
	var b bytes.Buffer
	for _, key := range slices.Compact(keys) {
		k := redisKey{Key: []byte(strings.TrimPrefix(key, prefix)), Type: c.Type(t.Context(), key).Val()}
		switch k.Type {
		case "hash":
			all := c.HGetAll(t.Context(), key).Val()
			for _, f := range slices.Sorted(maps.Keys(all)) {
				k.Pair = append(k.Pair, [2][]byte{[]byte(f), []byte(all[f])})
			}
		case "zset":
			for _, z := range c.ZRangeWithScores(t.Context(), key, 0, -1).Val() {
				k.Pair = append(k.Pair, [2][]byte{[]byte(z.Member.(string)), fmt.Append(nil, z.Score)})
			}
		case "set":
			for _, m := range c.SMembers(t.Context(), key).Val() {
				k.One = append(k.One, []byte(m))
			}
		default:
			t.Fatalf("key %q is a %s", key, k.Type)
		}
		line, err := json.Marshal(k)
		want(t, err, nil)
		b.Write(append(line, '\n'))
	}
	return b.Bytes()
}

func putRedis(t testing.TB, u string, data []byte) {
	c, prefix := client(t), parameter(u, "prefix")
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var k redisKey
		want(t, json.Unmarshal(lines.Bytes(), &k), nil)
		key := prefix + string(k.Key)
		for _, p := range k.Pair {
			if k.Type == "hash" {
				want(t, c.HSet(t.Context(), key, p[0], p[1]).Err(), nil)
			} else {
				want(t, c.Do(t.Context(), "zadd", key, p[1], p[0]).Err(), nil)
			}
		}
		for _, m := range k.One {
			want(t, c.SAdd(t.Context(), key, m).Err(), nil)
		}
	}
	want(t, lines.Err(), nil)
}

func compressed(t testing.TB, data []byte) []byte {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	want(t, err, nil)
	_, err = z.Write(data)
	want(t, err, nil)
	want(t, z.Close(), nil)
	return b.Bytes()
}

func uncompressed(t testing.TB, path string) []byte {
	f, err := os.Open(path)
	want(t, err, nil)
	defer f.Close()
	z, err := gzip.NewReader(f)
	want(t, err, nil)
	data, err := io.ReadAll(z)
	want(t, err, nil)
	return data
}
