package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"github.com/holdfast-go/holdfast/internal/alloctest"
)

// columns are those that no key is made of.
var columns = []string{
	"hf_thread.epoch", "hf_thread.nonce", "hf_thread.released", "hf_thread.lease_until", "hf_thread.holder", "hf_thread.takeovers", "hf_thread.inbox",
	"hf_thread.active", "hf_thread.branches", "hf_thread.run", "hf_thread.status", "hf_thread.graph", "hf_thread.owner", "hf_thread.created",
	"hf_thread.updated", "hf_record.ord", "hf_record.by", "hf_record.base", "hf_record.step", "hf_record.kind", "hf_record.at", "hf_record.body",
	"hf_run.status", "hf_run.graph", "hf_run.started_by", "hf_run.error", "hf_run.started", "hf_run.ended", "hf_meta.value", "hf_question.branch",
	"hf_question.ns", "hf_question.run", "hf_question.task", "hf_question.state", "hf_question.asked", "hf_question.deadline", "hf_question.shown",
	"hf_question.not_by", "hf_question.body", "hf_question.answer", "hf_question.answered_by", "hf_question.answered", "hf_inbox.kind", "hf_inbox.at",
	"hf_inbox.body",
}

// FuzzColumns puts values of every type of SQLite into the columns of a thread. Reading it is right or ErrCorrupt, and takes
// memory for no more than is there. // report 120
func FuzzColumns(f *testing.F) {
	for i := range columns {
		f.Add(i, byte('i'), int64(-1<<63), []byte("7"))
		f.Add(i, byte('t'), int64(0), []byte(`{"pid":"x"}`))
		f.Add(i, byte('b'), int64(0), []byte{0xff, 0, '{'})
		f.Add(i, byte('f'), int64(1<<62+1), []byte{})
	}
	path := filepath.Join(f.TempDir(), "t.db")
	store, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { store.Close() })
	key := checkpoint.Key{Tenant: "t", Thread: "a"}
	fill(f, store, key)
	db, err := sql.Open("sqlite", path+"?_pragma=synchronous(off)&_pragma=busy_timeout(5000)")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { db.Close() })
	f.Fuzz(func(t *testing.T, at int, typ byte, number int64, text []byte) {
		table, column := split(columns[uint(at)%uint(len(columns))])
		var value any
		switch typ {
		case 'i':
			value = number
		case 'f':
			value = float64(number) / 3
		case 't':
			value = string(text)
		default:
			value = append([]byte{}, text...)
		}
		var before any
		err := db.QueryRow(fmt.Sprintf(`select %s from %s limit 1`, column, table)).Scan(&before)
		if err != nil {
			t.Fatal(err)
		}
		set := fmt.Sprintf(`update %s set %s = ?`, table, column)
		if _, err = db.Exec(set, value); err != nil {
			return // a constraint of the schema
		}
		alloctest.Bound(t, 0, func() { readAll(t, store, key) }, text)
		if b, ok := before.([]byte); ok && len(b) == 0 { // the driver would bind it as NULL
			_, err = db.Exec(fmt.Sprintf(`update %s set %s = x''`, table, column))
		} else {
			_, err = db.Exec(set, before)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}

func split(name string) (table, column string) {
	for i := range name {
		if name[i] == '.' {
			return name[:i], name[i+1:]
		}
	}
	return name, ""
}

// fill writes one row into every table but that of branches.
func fill(t testing.TB, s checkpoint.Store, key checkpoint.Key) {
	t.Helper()
	ctx, nonce := context.Background(), checkpoint.NewNonce()
	rec := func(pos int64, k checkpoint.Kind) checkpoint.Record {
		return checkpoint.Record{Pos: pos, Ord: 1<<32 + pos, By: nonce.Writer(), Kind: k, Body: []byte("\x01{}")}
	}
	_, err := s.Acquire(ctx, &checkpoint.Acquire{
		Key: key, Nonce: nonce, Holder: checkpoint.Holder{Host: "h", PID: 1}, Records: []checkpoint.Record{rec(0, checkpoint.KindInput)},
		Run: &checkpoint.Run{ID: "r", Graph: "g", Meta: map[string]string{"k": "v"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Append(ctx, &checkpoint.Append{
		Key: key, Nonce: nonce, Records: []checkpoint.Record{rec(1, checkpoint.KindPause)},
		Park: &checkpoint.Park{Status: checkpoint.Interrupted, Questions: []checkpoint.Question{{Key: key, ID: "q", Run: "r", Task: "0.0", Body: []byte("\x01{}")}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Post(ctx, checkpoint.Command{Key: key, Kind: checkpoint.CommandCancel, Body: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
}

// readAll calls everything that reads.
func readAll(t testing.TB, s checkpoint.Store, key checkpoint.Key) {
	t.Helper()
	ctx := context.Background()
	_, load := s.Load(ctx, key, checkpoint.Active, "")
	_, read := s.Read(ctx, checkpoint.Query{Chain: checkpoint.Chain{Key: key}, To: -1})
	_, chains := s.Chains(ctx, key, 0)
	_, inbox := s.Inbox(ctx, key)
	_, threads := s.Threads(ctx, checkpoint.ThreadFilter{})
	_, runs := s.Runs(ctx, checkpoint.RunFilter{})
	_, questions := s.Questions(ctx, checkpoint.QuestionFilter{})
	for what, err := range map[string]error{
		"Load": load, "Read": read, "Chains": chains, "Inbox": inbox, "Threads": threads, "Runs": runs, "Questions": questions,
	} {
		if err != nil && !errors.Is(err, checkpoint.ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A number that does not fit where it goes is not cut off to another one that is valid. // report 120
func TestNumberOutOfRange(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.db")
	store, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	key := checkpoint.Key{Tenant: "t", Thread: "a"}
	fill(t, store, key)
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for column, by := range map[string]int64{"hf_record.kind": 256, "hf_thread.status": 256, "hf_thread.active": 1 << 32, "hf_question.state": 256, "hf_inbox.kind": -256} {
		table, name := split(column)
		if _, err := db.Exec(fmt.Sprintf(`update %s set %s = %s + ?`, table, name, name), by); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Load(t.Context(), key, 0, ""); !errors.Is(err, checkpoint.ErrCorrupt) {
			t.Errorf("%s: %v", column, err)
		}
		if _, err := db.Exec(fmt.Sprintf(`update %s set %s = %s - ?`, table, name, name), by); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Load(t.Context(), key, 0, ""); err != nil {
		t.Fatal(err)
	}
}
