package govern_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/postgres"
	"github.com/holdfast-go/holdfast/checkpoint/redis"
	"github.com/holdfast-go/holdfast/govern"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/audit"
	auditpostgres "github.com/holdfast-go/holdfast/memory/audit/postgres"
	"github.com/holdfast-go/holdfast/memory/longterm"
	longtermpostgres "github.com/holdfast-go/holdfast/memory/longterm/postgres"
	"github.com/holdfast-go/holdfast/memory/session"
	sessionpostgres "github.com/holdfast-go/holdfast/memory/session/postgres"
	"github.com/holdfast-go/holdfast/message"
	"github.com/jackc/pgx/v5"
	goredis "github.com/redis/go-redis/v9"
)

func canaries() int {
	if testing.Short() {
		return 60
	}
	return 1000
}

// erased fills two users, erases one while a run and a job of theirs are under way, and fails unless the other has what they had.
func (w *world) erased(t *testing.T, n int) {
	t.Helper()
	bob := scopeOf(t, "bob")
	w.fill(t, "bob", n)
	w.fill(t, "eve", n/3)
	before := w.export(t, "eve")

	running := graph.Thread{Tenant: tenant, ID: "running"}
	var under sync.WaitGroup
	under.Go(func() {
		_, err := w.app.With(graph.RunOptions{Owner: "bob"}).Run(context.Background(), running, func(s *talk) {
			s.Said.Append(canary("bob", 0))
			s.Wait.Set(true)
		})
		if err == nil {
			t.Error("a run of who was erased ended well")
		}
	})
	<-w.waits
	working, stop := context.WithCancel(context.Background())
	under.Go(func() {
		if err := w.memories.Work(working); err != nil {
			t.Error(err)
		}
	})
	<-w.gate.in // the worker has a job of bob, who is asked first

	r, err := govern.Erase(t.Context(), bob, w.boxes()...)
	ok(t, err)
	for _, b := range r.Boxes {
		if b.Found == 0 || b.Left != 0 || b.Error != "" {
			t.Errorf("%+v", b)
		}
	}
	if doc, err := json.Marshal(r); err != nil || bytes.Contains(doc, []byte("bob")) || r.Scope != bob.Hash() || r.Ended.Before(r.Started) {
		t.Errorf("receipt %s, %v", doc, err)
	}
	close(w.goesOn)
	close(w.gate.out)
	stop()
	under.Wait()

	// What comes late writes nothing.
	_, err = w.sessions.Write(t.Context(), bob, "late", session.Write{Messages: []message.Message{message.User(canary("bob", 0))}})
	is(t, err, memory.ErrErased)
	is(t, w.memories.Remember(t.Context(), bob, agent(t), longterm.Exchange{Conversation: "late", Messages: []message.Message{message.User(canary("bob", 0))}}),
		memory.ErrErased)
	for _, b := range w.boxes() {
		if left, err := b.Count(t.Context(), bob); err != nil || left != 0 {
			t.Errorf("%s: %d left, %v", b.Name, left, err)
		}
	}
	if _, err := w.log.Verify(t.Context(), tenant); err != nil {
		t.Errorf("the audit log: %v", err)
	}
	if after := w.export(t, "eve"); after != before {
		t.Errorf("another user has other data:\n%.600s\n%.600s", before, after)
	}
}

func is(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
}

// R113, R114, T24, T25, reports 178, 181, 182: on SQLite nothing of who was erased is in any file, though a run and a job were under way, and
// none after a restart.
func TestEraseSQLite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := sqliteWorld(t, dir)
	w.erased(t, canaries())
	if hits := inFolder(t, dir, "", "zqbob", "bob"); len(hits) > 0 {
		t.Errorf("what was erased is in %v", hits)
	}
	if hits := inFolder(t, dir, "", "zqeve"); len(hits) == 0 {
		t.Error("the search finds nothing at all")
	}
}

// R113: on Postgres nothing of who was erased is in any row, and after Compact in no file but the server's log.
func TestErasePostgres(t *testing.T) {
	t.Parallel()
	server := testserver.NewPostgres(t)
	g := &gate{make(chan struct{}, 8), make(chan struct{})}
	threads, err := postgres.Open(t.Context(), server.URL(), postgres.Options{})
	ok(t, err)
	sessions, memories, log := postgresBoxes(t, server.URL(), "holdfast", g)
	w := newWorld(t, threads, sessions, memories, log, g)
	w.erased(t, canaries())

	c, err := pgx.Connect(t.Context(), server.URL())
	ok(t, err)
	defer c.Close(context.Background())
	if rows := inTables(t, c, "zqbob"); len(rows) > 0 {
		t.Errorf("what was erased is in %v", rows)
	}
	if rows := inTables(t, c, "zqeve"); len(rows) < 4 {
		t.Errorf("the search finds another user in %v only", rows)
	}
	ok(t, govern.Compact(t.Context(), threads, sessions, memories, log))
	_, err = c.Exec(t.Context(), "checkpoint")
	ok(t, err)
	var dir string
	ok(t, c.QueryRow(t.Context(), "show data_directory").Scan(&dir))
	if hits := inFolder(t, dir, "pg_wal", "zqbob"); len(hits) > 0 {
		t.Errorf("what was erased is in %v", hits)
	}
	if hits := inFolder(t, dir, "pg_wal", "zqeve"); len(hits) == 0 {
		t.Error("the search finds nothing at all")
	}
}

func postgresBoxes(t *testing.T, url, schema string, g *gate) (*session.Store, *longterm.Store, *audit.Log) {
	t.Helper()
	log, err := auditpostgres.Open(t.Context(), url, auditpostgres.Options{Schema: schema})
	ok(t, err)
	sessions, err := sessionpostgres.Open(t.Context(), url, sessionpostgres.Options{Schema: schema, Session: session.Options{Auditor: log}})
	ok(t, err)
	memories, err := longtermpostgres.Open(t.Context(), url, longtermpostgres.Options{Schema: schema, Longterm: longtermOptions(g, log)})
	ok(t, err)
	return sessions, memories, log
}

// inTables are the tables of the database that have a word in any column; columns of bytes are shown in hex.
func inTables(t *testing.T, c *pgx.Conn, word string) (hits []string) {
	t.Helper()
	found, err := c.Query(t.Context(), `select format('%I.%I', schemaname, tablename) from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`)
	ok(t, err)
	tables, err := pgx.CollectRows(found, pgx.RowTo[string])
	ok(t, err)
	for _, table := range tables {
		var n int
		ok(t, c.QueryRow(t.Context(), `select count(*) from `+table+` x where x::text like any($1)`,
			[]string{"%" + word + "%", "%" + hex.EncodeToString([]byte(word)) + "%"}).Scan(&n))
		if n > 0 {
			hits = append(hits, fmt.Sprint(table, " ", n))
		}
	}
	return hits
}

// R113: threads on Redis are gone from its keys, and after Compact from its files.
func TestEraseRedis(t *testing.T) {
	t.Parallel()
	server := testserver.NewRedis(t, testserver.RedisConfig{Fsync: "always", Args: []string{"--save", "3600", "1"}})
	g := &gate{make(chan struct{}, 8), make(chan struct{})}
	threads, err := redis.Open(t.Context(), server.URL(), redis.Options{OpTimeout: 500 * time.Millisecond})
	ok(t, err)
	sessions, memories, log := postgresBoxes(t, testserver.Postgres(t).URL(), "g"+strings.ReplaceAll(uuid.NewString(), "-", ""), g)
	w := newWorld(t, threads, sessions, memories, log, g)
	w.erased(t, canaries())
	ok(t, threads.Compact(t.Context()))

	u, err := url.Parse(server.URL())
	ok(t, err)
	c := goredis.NewClient(&goredis.Options{Addr: u.Host})
	defer c.Close()
	keys, err := c.Keys(t.Context(), "*").Result()
	ok(t, err)
	for _, k := range keys {
		dump, err := c.Dump(t.Context(), k).Result()
		ok(t, err)
		if strings.Contains(k+dump, "zqbob") {
			t.Errorf("key %q %q", k, dump)
		}
	}
	dir, err := c.ConfigGet(t.Context(), "dir").Result()
	ok(t, err)
	if hits := inFolder(t, dir["dir"], "", "zqbob"); len(hits) > 0 {
		t.Errorf("what was erased is in %v", hits)
	}
	if hits := inFolder(t, dir["dir"], "", "zqeve"); len(hits) == 0 {
		t.Error("the search finds nothing at all")
	}
}

// inFolder are the files below a folder that have one of the words, besides those of a folder that is left out.
func inFolder(t *testing.T, dir, without string, words ...string) (hits []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // the server has just removed it
			return nil
		}
		if err != nil || d.IsDir() {
			if without != "" && d != nil && d.Name() == without {
				return fs.SkipDir
			}
			return err
		}
		all, err := os.ReadFile(path)
		for _, word := range words {
			if bytes.Contains(all, []byte(word)) {
				hits = append(hits, path+" "+word)
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	ok(t, err)
	return hits
}

const (
	envDying = "HOLDFAST_GOVERN_DIR"
	envUser  = "HOLDFAST_GOVERN_USER"
	envPoint = "HOLDFAST_GOVERN_POINT"
)

// A dying eraser kills its process at a point of the way.
type dying struct {
	govern.Eraser
	points *int // until the end
}

func (d dying) point() {
	if *d.points--; *d.points == 0 {
		p, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = p.Kill()
		}
		fmt.Println(err) // the process does not get here
		select {}
	}
}

func (d dying) Erase(ctx context.Context, sc memory.Scope) error {
	d.point()
	defer d.point()
	return d.Eraser.Erase(ctx, sc)
}

func (d dying) Count(ctx context.Context, sc memory.Scope) (int, error) {
	d.point()
	return d.Eraser.Count(ctx, sc)
}

// A dyingStore dies between two threads.
type dyingStore struct {
	checkpoint.Store
	dying
}

func (d dyingStore) Delete(ctx context.Context, k checkpoint.Key) error {
	defer d.point()
	return d.Store.Delete(ctx, k)
}

// dyingPoints are as many as an erasure of three threads comes by.
const dyingPoints = 19

// eraseAndDie is the process of TestEraseAgain: it erases a user, and dies at a point.
func eraseAndDie(dir string) {
	t := &testing.T{}
	w := sqliteWorld(t, dir)
	points := 0
	fmt.Sscan(os.Getenv(envPoint), &points)
	var boxes []govern.Box
	for _, b := range w.boxesWith(dyingStore{w.threads, dying{points: &points}}) {
		boxes = append(boxes, govern.Box{Name: b.Name, Eraser: dying{b.Eraser, &points}})
	}
	_, err := govern.Erase(context.Background(), scopeOf(t, os.Getenv(envUser)), boxes...)
	fmt.Println("it lives", points, err)
	os.Exit(3)
}

// R113: an erasure that is killed at any step is completed by the next, in another process.
func TestEraseAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := sqliteWorld(t, dir)
	w.fill(t, "eve", 5)
	before := w.export(t, "eve")
	every := 1
	if testing.Short() {
		every = 4
	}
	for point := 1; point <= dyingPoints; point += every {
		user := fmt.Sprintf("dead%d", point)
		w.fill(t, user, 9) // three threads
		program, err := os.Executable()
		ok(t, err)
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), envDying+"="+dir, envUser+"="+user, fmt.Sprint(envPoint, "=", point))
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.Exited() {
			t.Fatalf("point %d: the process was not killed: %v\n%s", point, err, out)
		}
		r, err := govern.Erase(t.Context(), scopeOf(t, user), w.boxes()...)
		ok(t, err)
		for _, b := range r.Boxes {
			if b.Left != 0 || b.Error != "" {
				t.Errorf("point %d: %+v", point, b)
			}
		}
		if hits := inFolder(t, dir, "", user); len(hits) > 0 {
			t.Errorf("point %d: %v", point, hits)
		}
	}
	if after := w.export(t, "eve"); after != before {
		t.Error("another user has other data")
	}
}

// Who was erased and is let in again begins with nothing. // R113
func TestReadmit(t *testing.T) {
	t.Parallel()
	w := sqliteWorld(t, t.TempDir())
	w.fill(t, "bob", 4)
	bob := scopeOf(t, "bob")
	_, err := govern.Erase(t.Context(), bob, w.boxes()...)
	ok(t, err)
	ok(t, govern.Readmit(t.Context(), bob, w.boxes()...))
	for _, b := range w.boxes() {
		want := 0
		if b.Name == "audit" {
			want = 1 // that the other boxes let him in was noted
		}
		if n, err := b.Count(t.Context(), bob); n != want || err != nil {
			t.Errorf("%s: %d, %v", b.Name, n, err)
		}
	}
	w.fill(t, "bob", 4)
	if w.export(t, "bob") == "" {
		t.Error("nothing")
	}
}

// broken is a box that fails, or has something left.
type broken struct {
	err  error
	left int
}

func (b broken) Erase(context.Context, memory.Scope) error        { return b.err }
func (b broken) Count(context.Context, memory.Scope) (int, error) { return b.left, nil }

// A box that says no does not keep the others from it, and the receipt says which it was. // R113
func TestEraseSaysWhatFailed(t *testing.T) {
	t.Parallel()
	sessions, err := session.NewMemory(session.Options{})
	ok(t, err)
	bob := scopeOf(t, "bob")
	_, err = sessions.Write(t.Context(), bob, "c", session.Write{Messages: []message.Message{message.User("hello")}})
	ok(t, err)
	away := errors.New("the server is away")
	r, err := govern.Erase(t.Context(), bob, govern.Box{Name: "results", Eraser: broken{err: away}}, govern.Box{Name: "logs", Eraser: broken{left: 2}}, govern.Box{Name: "session", Eraser: sessions})
	is(t, err, away)
	is(t, err, govern.ErrLeft)
	if len(r.Boxes) != 3 || !strings.Contains(r.Boxes[0].Error, "away") || r.Boxes[1].Left != 2 || r.Boxes[2].Error != "" || r.Boxes[2].Found == 0 {
		t.Errorf("%+v", r.Boxes)
	}
	if n, err := sessions.Count(t.Context(), bob); n != 0 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
	for _, boxes := range [][]govern.Box{nil, {{Eraser: sessions}}, {{Name: "a"}}, {{Name: "a", Eraser: sessions}, {Name: "a", Eraser: sessions}}} {
		_, err := govern.Erase(t.Context(), bob, boxes...)
		is(t, err, govern.ErrBoxes)
	}
	_, err = govern.Erase(t.Context(), memory.Scope{}, govern.Box{Name: "session", Eraser: sessions})
	is(t, err, memory.ErrScope)
}

// Threads of one user in one tenant go; those of others, of no owner and of other tenants stay. // R113, report 179
func TestThreads(t *testing.T) {
	t.Parallel()
	store := new(checkpoint.Memory)
	for _, k := range [][3]string{{"shop", "a", "bob"}, {"shop", "b", "eve"}, {"shop", "c", ""}, {"bank", "a", "bob"}} {
		_, err := store.Acquire(t.Context(), &checkpoint.Acquire{
			Key: checkpoint.Key{Tenant: k[0], Thread: k[1]}, Owner: k[2], Nonce: checkpoint.Nonce{1}, TTL: time.Minute,
			Run: &checkpoint.Run{ID: "r"},
		})
		ok(t, err)
	}
	_, err := govern.Erase(t.Context(), scopeOf(t, "bob"), govern.Box{Name: "threads", Eraser: govern.Threads(store, "")})
	ok(t, err)
	left := func() (keys string) {
		heads, err := store.Threads(t.Context(), checkpoint.ThreadFilter{})
		ok(t, err)
		for _, h := range heads {
			keys += h.Tenant + "/" + h.Thread + " "
		}
		return keys
	}
	if got := left(); got != "bank/a shop/b shop/c " {
		t.Error(got)
	}
	_, err = govern.Erase(t.Context(), scopeOf(t, "bob"), govern.Box{Name: "threads", Eraser: govern.Threads(store, "bank")})
	ok(t, err)
	if got := left(); got != "shop/b shop/c " {
		t.Error(got)
	}
}
