package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
)

// raw opens a file without the store.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

func mustExec(t *testing.T, db *sql.DB, text string) {
	t.Helper()
	if _, err := db.Exec(text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// start makes a thread with one record and returns the nonce of its holder.
func start(t *testing.T, s *sqlite.Store, thread string) (checkpoint.Key, checkpoint.Nonce) {
	t.Helper()
	key, nonce := checkpoint.Key{Tenant: "tenant", Thread: thread}, checkpoint.NewNonce()
	_, err := s.Acquire(t.Context(), &checkpoint.Acquire{
		Key: key, Nonce: nonce, TTL: time.Hour, Run: &checkpoint.Run{ID: "run"},
		Records: []checkpoint.Record{{Ord: 1 << 32, By: nonce.Writer(), Kind: checkpoint.KindInput, Body: []byte("input")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return key, nonce
}

func entry(key checkpoint.Key, nonce checkpoint.Nonce, pos int64, body []byte) *checkpoint.Append {
	return &checkpoint.Append{Key: key, Nonce: nonce, Records: []checkpoint.Record{{
		Pos: pos, Ord: 1<<32 | pos, By: nonce.Writer(), Kind: checkpoint.KindEntry, Body: body,
	}}}
}

func TestOpenRefusesWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		make func(t *testing.T, path string)
		want []error
	}{
		{"text", func(t *testing.T, path string) {
			os.WriteFile(path, []byte(strings.Repeat("this is no database\n", 100)), 0o600)
		}, []error{checkpoint.ErrCorrupt}},
		{"foreign", func(t *testing.T, path string) {
			db := raw(t, path)
			mustExec(t, db, `create table recipes(name text)`)
			db.Close()
		}, []error{checkpoint.ErrCorrupt, sqlite.ErrForeign}},
		{"newer", func(t *testing.T, path string) {
			s, err := sqlite.Open(path, sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			s.Close()
			db := raw(t, path)
			mustExec(t, db, `pragma user_version = 1000`)
			db.Close()
		}, []error{checkpoint.ErrNewerFormat}},
	} {
		t.Run(c.name, func(t *testing.T) { // C14
			t.Parallel()
			path := filepath.Join(t.TempDir(), "file.db")
			c.make(t, path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s, err := sqlite.Open(path, sqlite.Options{})
			if err == nil {
				s.Close()
			}
			for _, want := range c.want {
				if !errors.Is(err, want) {
					t.Errorf("Open = %v; want %v", err, want)
				}
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(after, before) {
				t.Error("Open changed the file")
			}
		})
	}
	for _, path := range []string{"", ":memory:", "file:x.db?mode=memory"} {
		if _, err := sqlite.Open(path, sqlite.Options{}); err == nil {
			t.Errorf("Open(%q) succeeded", path)
		}
	}
	if _, err := sqlite.Open(filepath.Join(t.TempDir(), "no", "such", "folder", "x.db"), sqlite.Options{}); err == nil {
		t.Error("Open in a folder that is not there succeeded")
	}
}

// C15: a migration that was cut off at any statement leaves a file that the next one opens.
func TestMigrationsSurviveAKillAtEachStatement(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("migrations/*.sql")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	text, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	statements := strings.Split(strings.TrimSpace(string(text)), ";\n")
	for n := range statements {
		path := filepath.Join(t.TempDir(), "cut.db")
		db := raw(t, path)
		mustExec(t, db, `pragma journal_mode=wal`)
		mustExec(t, db, `begin immediate`)
		for _, s := range statements[:n] {
			mustExec(t, db, s)
		}
		copyFile(t, path, path+".killed") // what the disk holds when the process dies
		copyFile(t, path+"-wal", path+".killed-wal")
		db.Close()
		s := openAt(t, path+".killed", sqlite.Options{})
		start(t, s, "thread")
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFileIsPrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no file modes")
	}
	path := filepath.Join(t.TempDir(), "threads.db")
	s := openAt(t, path, sqlite.Options{})
	start(t, s, "thread")
	for _, p := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", filepath.Base(p), info.Mode())
		}
	}
}

// Report 159: each runtime of a process opens the file anew.
func TestStoresOfOneProcessShareTheWriter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link := filepath.Join(dir, "threads.db"), filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	stores := []*sqlite.Store{
		openAt(t, path, sqlite.Options{}), openAt(t, path, sqlite.Options{OpTimeout: time.Minute}), openAt(t, filepath.Join(link, "threads.db"), sqlite.Options{}),
	}
	if _, err := sqlite.Open(path, sqlite.Options{Synchronous: sqlite.Normal}); !errors.Is(err, sqlite.ErrMismatch) {
		t.Errorf("Open with another durability = %v; want ErrMismatch", err)
	}
	key, nonce := start(t, stores[0], "thread")
	for i := range int64(30) {
		if _, err := stores[i%3].Append(t.Context(), entry(key, nonce, i+1, nil)); err != nil {
			t.Fatal(err)
		}
	}
	if err := stores[0].Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := stores[0].Load(t.Context(), key, 0, ""); !errors.Is(err, checkpoint.ErrClosed) {
		t.Errorf("Load on the closed store = %v", err)
	}
	l, err := stores[1].Load(t.Context(), key, 0, "")
	if err != nil || len(l.Records) != 31 {
		t.Errorf("Load on the other store: %d records, %v", len(l.Records), err)
	}
}

// C11: a call ends at its deadline though another process has the file; the same call then succeeds.
func TestWriteBehindAnotherProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "threads.db")
	// The writer is the first store's and waits for an hour: a call that did not end by itself would hang.
	s, hasty := openAt(t, path, sqlite.Options{OpTimeout: time.Hour}), openAt(t, path, sqlite.Options{OpTimeout: 20 * time.Millisecond})
	key, nonce := start(t, s, "thread")
	other := raw(t, path)
	mustExec(t, other, `begin immediate`)
	a := entry(key, nonce, 1, []byte("body"))
	for range 3 {
		if _, err := hasty.Append(t.Context(), a); !errors.Is(err, checkpoint.ErrUnavailable) {
			t.Fatalf("Append behind a lock = %v; want ErrUnavailable", err)
		}
	}
	if _, err := s.Load(t.Context(), key, 0, ""); err != nil {
		t.Fatalf("Load beside a writer: %v", err)
	}
	mustExec(t, other, `rollback`)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := s.Append(ctx, a); err != nil {
		t.Fatal(err)
	}
	if l, err := s.Load(t.Context(), key, 0, ""); err != nil || len(l.Records) != 2 {
		t.Fatalf("Load: %+v, %v", l, err)
	}
}

// A full disk costs the write that did not fit, nothing else.
func TestFull(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "threads.db"), sqlite.Options{MaxBytes: 1 << 20})
	key, nonce := start(t, s, "thread")
	body := bytes.Repeat([]byte("x"), 50_000)
	var pos int64 = 1
	for ; pos < 100; pos++ {
		_, err := s.Append(t.Context(), entry(key, nonce, pos, body))
		if errors.Is(err, sqlite.ErrFull) && errors.Is(err, checkpoint.ErrUnavailable) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if pos < 5 || pos == 100 {
		t.Fatalf("full after %d records", pos)
	}
	// Together with writes that fit: each is judged alone.
	other, otherNonce := start(t, s, "small")
	var wg sync.WaitGroup
	var errs [2]error
	wg.Go(func() { _, errs[0] = s.Append(t.Context(), entry(key, nonce, pos, body)) })
	wg.Go(func() { _, errs[1] = s.Append(t.Context(), entry(other, otherNonce, 1, []byte("fits"))) })
	wg.Wait()
	if !errors.Is(errs[0], sqlite.ErrFull) || errs[1] != nil {
		t.Fatalf("errors %v; want only the first to be full", errs)
	}
	rs, err := s.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: key}, To: -1})
	if err != nil || int64(len(rs)) != pos {
		t.Fatalf("%d records of %d, %v", len(rs), pos, err)
	}
	if _, err := s.Trim(t.Context(), checkpoint.Chain{Key: key}, pos-1); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), entry(key, nonce, pos, body)); err != nil {
		t.Fatalf("after there was room: %v", err)
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	s := open(t, sqlite.Options{})
	key, nonce := start(t, s, "thread")
	if _, err := s.Append(t.Context(), entry(key, nonce, 1, make([]byte, 1_000_000_000))); !errors.Is(err, checkpoint.ErrTooLarge) {
		t.Fatalf("Append of 1 GB = %v; want ErrTooLarge", err)
	}
	if _, err := s.Append(t.Context(), entry(key, nonce, 1, nil)); err != nil {
		t.Fatal(err)
	}
}

func TestInfoNamesTheDurability(t *testing.T) { // C13
	t.Parallel()
	full, normal := open(t, sqlite.Options{}).Info(), open(t, sqlite.Options{Synchronous: sqlite.Normal}).Info()
	if full.LossWindow != 0 || full.Durability != "SQLite FULL" || normal.LossWindow <= 0 || normal.Durability != "SQLite NORMAL" {
		t.Errorf("Info = %+v, %+v", full, normal)
	}
}

// The store's clock decides about leases, whatever the wall clock says. // C7
func TestClock(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now := time.Unix(2_000_000_000, 0)
	s := open(t, sqlite.Options{Now: func() time.Time { mu.Lock(); defer mu.Unlock(); return now }})
	key, _ := start(t, s, "thread")
	expired := func() bool {
		l, err := s.Load(t.Context(), key, 0, "")
		if err != nil {
			t.Fatal(err)
		}
		return l.Head.Expired
	}
	if expired() {
		t.Error("the lease has run out at once")
	}
	mu.Lock()
	now = now.Add(time.Hour)
	mu.Unlock()
	if !expired() {
		t.Error("the lease has not run out after its time")
	}
}
