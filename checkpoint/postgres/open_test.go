package postgres_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/postgres"
	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/jackc/pgx/v5"
)

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	pg := testserver.Postgres(t)
	for _, c := range []struct {
		name, url string
		o         postgres.Options
		want      error
	}{
		{"no URL", "postgres://%", postgres.Options{}, nil},
		{"schema", pg.URL(), postgres.Options{Schema: `x"; drop`}, nil},
		{"schema of the server", pg.URL(), postgres.Options{Schema: "pg_catalog"}, nil},
		{"durability", pg.URL(), postgres.Options{SynchronousCommit: 9}, nil},
		{"time-out", pg.URL(), postgres.Options{OpTimeout: -1}, nil},
		{"no server", "postgres://postgres@127.0.0.1:1/postgres", postgres.Options{}, checkpoint.ErrUnavailable},
	} {
		s, err := postgres.Open(t.Context(), c.url, c.o)
		if err == nil {
			s.Close()
			t.Errorf("%s: Open succeeded", c.name)
		} else if c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: Open = %v; want %v", c.name, err, c.want)
		}
	}
	admin := connect(t, pg.URL())
	name := fresh()
	mustExec(t, admin, `create database `+name+` encoding 'SQL_ASCII' template template0`)
	t.Cleanup(func() {
		conn := must(pgx.Connect(context.Background(), pg.URL()))
		defer conn.Close(context.Background())
		if _, err := conn.Exec(context.Background(), `drop database `+name+` with (force)`); err != nil {
			t.Error(err)
		}
	})
	if _, err := postgres.Open(t.Context(), strings.Replace(pg.URL(), "/postgres?", "/"+name+"?", 1), postgres.Options{}); !errors.Is(err, postgres.ErrUnsuitable) {
		t.Errorf("a database that is not UTF8: Open = %v", err)
	}
}

// C15: tables of a newer release are left alone.
func TestNewerFormat(t *testing.T) {
	t.Parallel()
	pg := testserver.Postgres(t)
	o := postgres.Options{Schema: fresh()}
	dropAtEnd(t, o.Schema)
	open(t, o)
	mustExec(t, connect(t, pg.URL()), `insert into `+o.Schema+`.hf_version(n) values (1000)`)
	for _, secure := range []bool{false, true} {
		o.RowSecurity = secure
		if _, err := postgres.Open(t.Context(), pg.URL(), o); !errors.Is(err, checkpoint.ErrNewerFormat) {
			t.Errorf("Open of a newer format = %v", err)
		}
	}
}

// C15: a migration whose process dies at any statement leaves tables, or none, that the next one brings up to date.
func TestMigrationsSurviveAKillAtEachStatement(t *testing.T) {
	t.Parallel()
	pg := testserver.Postgres(t)
	text, err := os.ReadFile("migrations/0001_threads.sql")
	if err != nil {
		t.Fatal(err)
	}
	o := postgres.Options{Schema: fresh()}
	dropAtEnd(t, o.Schema)
	statements := strings.Split(strings.TrimSpace(string(text)), ";\n")
	step := 1
	if testing.Short() {
		step = 5
	}
	for n := 0; n <= len(statements); n += step {
		victim := connect(t, pg.URL())
		mustExec(t, victim, `begin; select pg_advisory_xact_lock(`+fmt.Sprint(0x48465354)+`, hashtext('`+o.Schema+`'));
			create schema `+o.Schema+`; set local search_path to `+o.Schema)
		for _, s := range statements[:n] {
			mustExec(t, victim, s)
		}
		if n == len(statements) {
			mustExec(t, victim, `insert into hf_version(n) values (1)`)
		}
		var wg sync.WaitGroup
		wg.Go(func() { // waits for the lock, and then finds nothing
			s, err := postgres.Open(t.Context(), pg.URL(), o)
			if err != nil {
				t.Errorf("after %d statements: %v", n, err)
				return
			}
			start(t, s, fmt.Sprint("thread-", n))
			s.Close()
		})
		victim.PgConn().Conn().Close() // as a process that is killed
		wg.Wait()
		mustExec(t, connect(t, pg.URL()), `set client_min_messages = warning; drop schema `+o.Schema+` cascade`)
	}
}

// Many processes start at once on an empty database.
func TestOpenAtOnce(t *testing.T) {
	t.Parallel()
	o := postgres.Options{Schema: fresh()}
	dropAtEnd(t, o.Schema)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := postgres.Open(t.Context(), testserver.Postgres(t).URL(), o)
			if err != nil {
				t.Error(err)
				return
			}
			s.Close()
		})
	}
	wg.Wait()
}

func TestInfoNamesTheDurability(t *testing.T) { // C13
	t.Parallel()
	on, off := open(t, postgres.Options{}).Info(), open(t, postgres.Options{SynchronousCommit: postgres.Off}).Info()
	if on.LossWindow != 0 || on.Durability != "Postgres synchronous_commit=on" || !on.Shared || on.Local {
		t.Errorf("Info = %+v", on)
	}
	if off.LossWindow != 600*time.Millisecond || off.Durability != "Postgres synchronous_commit=off" {
		t.Errorf("Info = %+v", off)
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	s := open(t, postgres.Options{})
	key, nonce := start(t, s, "thread")
	large := make([]byte, 1<<30)
	_, write := s.Append(t.Context(), entry(key, nonce, 1, large))
	_, post := s.Post(t.Context(), checkpoint.Command{Key: key, Kind: checkpoint.CommandInput, Body: large})
	_, answer := s.Answer(t.Context(), key, []checkpoint.Reply{{Question: "q", Value: large}})
	for i, err := range []error{write, post, answer} {
		if !errors.Is(err, checkpoint.ErrTooLarge) {
			t.Errorf("call %d with 1 GB = %v; want ErrTooLarge", i, err)
		}
	}
	if _, err := s.Append(t.Context(), entry(key, nonce, 1, nil)); err != nil {
		t.Fatal(err)
	}
}

var update = flag.Bool("update", false, "write the golden dump of the present format anew")

// goldenFormats counts the formats, of which the last one is written.
const goldenFormats = 2

// C15: a dump of each released format is read for ever. A new format gets a new dump; an old one is never written again.
func TestGoldenFormats(t *testing.T) {
	t.Parallel()
	if *update {
		writeGolden(t, golden(goldenFormats, "sql"), goldenSchema(goldenFormats))
	}
	for n := 1; n <= goldenFormats; n++ {
		pg, schema := testserver.Postgres(t), fresh()
		dropAtEnd(t, schema)
		text, err := os.ReadFile(golden(n, "sql"))
		if err != nil {
			t.Fatal(err)
		}
		mustExec(t, connect(t, pg.URL()), strings.ReplaceAll(string(text), goldenSchema(n), schema))
		got := describe(t, openAt(t, pg.URL(), postgres.Options{Schema: schema}))
		if *update && n == goldenFormats {
			if err := os.WriteFile(golden(n, "json"), got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden(n, "json"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("the dump of format %d reads as\n%s\nwant\n%s", n, got, want)
		}
	}
}

func golden(n int, kind string) string { return fmt.Sprintf("testdata/format%d.%s", n, kind) }
func goldenSchema(n int) string        { return fmt.Sprintf("hf_golden_format%d", n) }

// goldenCached is what the dump has in its cache.
var goldenCached = checkpoint.CacheKey{Tenant: "tenant", Hash: [32]byte{7}}

// writeGolden fills every table and dumps it: the migrations, then the rows.
func writeGolden(t *testing.T, path, schema string) {
	o := postgres.Options{Schema: fresh()}
	dropAtEnd(t, o.Schema)
	s := open(t, o)
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	key, nonce := checkpoint.Key{Tenant: "tenant", Thread: "thread"}, checkpoint.Nonce{1, 2, 3, 4, 5, 6, 7, 8, 9}
	record := func(branch int32, ns checkpoint.Namespace, pos, count int64, kind checkpoint.Kind) checkpoint.Record {
		return checkpoint.Record{Branch: branch, Namespace: ns, Pos: pos, Ord: 1<<32 | count, By: nonce.Writer(), Step: pos, Kind: kind, Body: fmt.Append(nil, "body \x00\xff", count)}
	}
	child := checkpoint.NamespaceOf("m", "child")
	_, err := s.Acquire(t.Context(), &checkpoint.Acquire{
		Key: key, Nonce: nonce, TTL: 50 * 365 * 24 * time.Hour, Holder: checkpoint.Holder{Host: "host", Boot: "boot", PID: 7, Start: "start"}, Owner: "owner",
		Run:     &checkpoint.Run{ID: "run", Request: "request", Graph: "graph", By: "ann", Meta: map[string]string{"kind": "refund", "quote": `'"\`}},
		Records: []checkpoint.Record{record(0, "", 0, 0, checkpoint.KindInput)},
	})
	check(err)
	_, err = s.Post(t.Context(), checkpoint.Command{Key: key, Kind: checkpoint.CommandInput, Request: "next", Body: []byte("input")})
	check(err)
	_, err = s.Append(t.Context(), &checkpoint.Append{
		Key: key, Nonce: nonce, Records: []checkpoint.Record{record(0, "", 1, 1, checkpoint.KindPause), record(0, child, 0, 2, checkpoint.KindEntry), record(1, "", 0, 3, checkpoint.KindSeal)},
		Branch: &checkpoint.Branch{N: 1, Name: "fork", Ord: 1 << 32, Reason: "fork"},
		Park: &checkpoint.Park{Status: checkpoint.Interrupted, Error: "waits \x00", Questions: []checkpoint.Question{
			{ID: "open", Namespace: child, Run: "run", Task: "1.0", Deadline: time.Unix(4_000_000_000, 0), Shown: []byte{0, 255}, NotBy: "ann", Body: []byte("pay?")},
			{ID: "answered", Run: "run", Task: "1.1", Body: []byte("sure?")},
		}},
	})
	check(err)
	_, err = s.Answer(t.Context(), key, []checkpoint.Reply{{Question: "answered", Value: []byte("true"), By: "bob"}})
	check(err)

	check(s.CachePut(t.Context(), goldenCached, []byte("cached \x00\xff"), 100*365*24*time.Hour))

	conn := connect(t, testserver.Postgres(t).URL())
	var b strings.Builder
	fmt.Fprintf(&b, "create schema %s;\nset search_path to %s;\nset time zone 'UTC';\n", schema, schema)
	names, err := filepath.Glob("migrations/*.sql")
	check(err)
	for _, name := range names {
		text, err := os.ReadFile(name)
		check(err)
		fmt.Fprintf(&b, "%s\n", text)
	}
	for _, table := range []string{"hf_version", "hf_cache", "hf_thread", "hf_record", "hf_branch", "hf_run", "hf_meta", "hf_question", "hf_inbox"} {
		dump(t, conn, o.Schema, table, &b)
	}
	check(os.MkdirAll(filepath.Dir(path), 0o755))
	check(os.WriteFile(path, []byte(b.String()), 0o644))
}

// dump writes each row as an insert, each value as text.
func dump(t *testing.T, conn *pgx.Conn, schema, table string, b *strings.Builder) {
	t.Helper()
	mustExec(t, conn, `set time zone 'UTC'`)
	rows, err := conn.Query(t.Context(), `select column_name::text from information_schema.columns where table_schema = $1 and table_name = $2 order by ordinal_position`, schema, table)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = `quote_nullable("` + n + `"::text)`
	}
	rows, err = conn.Query(t.Context(), `select concat_ws(', ', `+strings.Join(quoted, ", ")+`) as v from `+schema+`.`+table+` order by v`)
	if err != nil {
		t.Fatal(err)
	}
	values, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(values) == 0 {
		t.Fatalf("table %s: %d rows, %v", table, len(values), err)
	}
	for _, v := range values {
		fmt.Fprintf(b, "insert into %s(%s) values (%s);\n", table, strings.Join(names, ", "), v)
	}
}

// describe is all that can be read of a dump.
func describe(t *testing.T, s *postgres.Store) []byte {
	t.Helper()
	key := checkpoint.Key{Tenant: "tenant", Thread: "thread"}
	load := func(branch int32, ns checkpoint.Namespace) *checkpoint.Loaded {
		return must(s.Load(t.Context(), key, branch, ns))
	}
	all := map[string]any{
		"root": load(0, ""), "child": load(0, checkpoint.NamespaceOf("m", "child")), "fork": load(1, ""),
		"runs":     must(s.Runs(t.Context(), checkpoint.RunFilter{Tenant: "tenant"})),
		"answered": must(s.Questions(t.Context(), checkpoint.QuestionFilter{Tenant: "tenant", State: checkpoint.Answered})),
		"open":     must(s.Questions(t.Context(), checkpoint.QuestionFilter{Tenant: "tenant"})),
	}
	if body := must(s.CacheGet(t.Context(), goldenCached)); body != nil { // since format 2
		all["cached"] = body
	}
	b, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}
