package graphcli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/secure"
	"github.com/holdfast-go/holdfast/graph"
)

func key(id string) secure.Key {
	return secure.Key{ID: id, Bytes: bytes.Repeat([]byte(id[:1]), secure.KeyBytes)}
}

// A bent store changes what is read of records.
type bent struct {
	checkpoint.Store
	bend func([]checkpoint.Record) []checkpoint.Record
}

func (s *bent) Read(ctx context.Context, q checkpoint.Query) ([]checkpoint.Record, error) {
	list, err := s.Store.Read(ctx, q)
	if s.bend != nil && q.Limit == 500 {
		list = s.bend(list)
	}
	return list, err
}

// Verify sees records that do not fold, gaps, chains that begin anywhere, wrong bases, and snapshots that say something else; without any
// key. // E58
func TestVerifyStructure(t *testing.T) {
	t.Parallel()
	inner := open(t)
	store := &bent{Store: inner}
	own := program(t, store)
	for range 30 { // enough for a snapshot
		finished(t, own, "a", 1)
	}
	v := bare(t, store)
	good := must(t, v, "verify", "a")
	if !strings.Contains(good, "not signed") {
		t.Error(good)
	}
	for _, c := range []struct {
		name, want string
		bend       func([]checkpoint.Record) []checkpoint.Record
	}{
		{"gap", "a gap", func(r []checkpoint.Record) []checkpoint.Record {
			if len(r) > 0 && r[0].Pos == 0 {
				return append(r[:1:1], r[2:]...)
			}
			return r
		}},
		{"beginning", "no chain begins", func(r []checkpoint.Record) []checkpoint.Record {
			if len(r) > 0 && r[0].Pos == 0 {
				return r[1:]
			}
			return r
		}},
		{"base", "it is read from", func(r []checkpoint.Record) []checkpoint.Record {
			for i := range r {
				if r[i].Pos == 2 {
					r[i].Base = 1
				}
			}
			return r
		}},
		{"body", "cannot be read", func(r []checkpoint.Record) []checkpoint.Record {
			for i := range r {
				if r[i].Pos == 2 {
					r[i].Body = r[i].Body[:len(r[i].Body)-2]
				}
			}
			return r
		}},
		{"snapshot", "not what the records before it say", func(r []checkpoint.Record) []checkpoint.Record {
			for i := range r {
				if r[i].Kind == checkpoint.KindSnapshot {
					r[i].Body = bytes.Replace(r[i].Body, []byte("notified"), []byte("Notified"), 1)
				}
			}
			return r
		}},
		{"newer", "version 2", func(r []checkpoint.Record) []checkpoint.Record {
			for i := range r {
				r[i].Body = append([]byte{2}, r[i].Body[1:]...)
			}
			return r
		}},
	} {
		store.bend = c.bend
		refused(t, v, 1, c.want, "verify", "a")
	}
	store.bend = nil
	if got := must(t, v, "verify", "-all"); got != good {
		t.Errorf("%q, then %q", good, got)
	}
}

// On a signed store verify also checks the MACs, and what is missing since an anchor; below an encryption as well. // E58 C12
func TestVerifySigned(t *testing.T) {
	t.Parallel()
	for _, encrypted := range []bool{false, true} {
		t.Run(fmt.Sprint("encrypted ", encrypted), func(t *testing.T) {
			t.Parallel()
			inner := &bent{Store: open(t)}
			signed, err := secure.Sign(inner, secure.Keyring{Current: key("sign")})
			if err != nil {
				t.Fatal(err)
			}
			store := checkpoint.Store(signed)
			if encrypted {
				if store, err = secure.Encrypt(store, secure.Keyring{Current: key("hide")}); err != nil {
					t.Fatal(err)
				}
			}
			own, v := program(t, store), bare(t, store)
			for _, id := range []string{"a", "b"} {
				finished(t, own, id, 1)
			}
			file := filepath.Join(t.TempDir(), "anchors.json")
			anchors := must(t, v, "anchor", "a", "b")
			if err := os.WriteFile(file, []byte(anchors), 0o600); err != nil {
				t.Fatal(err)
			}
			finished(t, own, "a", 2)
			if got := must(t, v, "verify", "-anchor", file); strings.Count(got, "nothing is missing") != 2 {
				t.Error(got)
			}
			if got := must(t, v, "verify", "b"); !strings.Contains(got, "signatures are right\n") {
				t.Error(got)
			}
			if got := rows[struct{ Signed, Anchored bool }](t, must(t, v, "verify", "b", "-anchor", file, "-json")); !got[0].Signed || !got[0].Anchored {
				t.Errorf("%+v", got)
			}
			if err := inner.Store.Delete(t.Context(), checkpoint.Key{Tenant: graph.SingleTenant, Thread: "b"}); err != nil {
				t.Fatal(err)
			}
			finished(t, own, "b", 1) // a namesake
			refused(t, v, 1, "not what was written there", "verify", "-anchor", file)
			must(t, v, "verify", "b")
			refused(t, bare(t, inner), 1, "not signed", "verify", "-anchor", file)
			refused(t, bare(t, inner), 1, "body version", "verify", "a")
			for _, bad := range []string{"{", `{"tenant":"x"}`} {
				if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
					t.Fatal(err)
				}
				refused(t, v, 1, file, "verify", "-anchor", file)
			}
		})
	}
}

// An export is JSON lines with every row of the thread; the bodies are JSON. // E58
func TestExport(t *testing.T) {
	t.Parallel()
	store := open(t)
	own, v := program(t, store), bare(t, store)
	finished(t, own, "a", 4)
	must(t, own, "fork", "a", "1", "-effects", "reuse")
	must(t, own, "resume", "a")
	refused(t, own, 1, "queued", "run", "a", "-on-busy", "enqueue", "-input", `{"amount":5}`)
	type line struct {
		Type, Kind, State, By string
		Branch                int32
		Pos                   int64
		Branches              []struct{ Name string }
		Body                  struct {
			Version int
			JSON    json.RawMessage
			Raw     []byte
		}
	}
	count := map[string]int{}
	for _, l := range rows[line](t, must(t, v, "export", "a")) {
		count[l.Type+l.State]++
		if l.Type != "thread" && l.Type != "run" && (!json.Valid(l.Body.JSON) || l.Body.Raw != nil) {
			t.Errorf("%+v has no JSON body", l)
		}
		if l.Type == "record" && (l.Body.Version != 1 || l.By == "") {
			t.Errorf("%+v", l)
		}
		if l.Type == "thread" && (len(l.Branches) != 1 || l.Branches[0].Name != "fork-1") {
			t.Errorf("%+v", l)
		}
	}
	want := 0
	for branch := range int32(2) {
		recs, err := store.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: checkpoint.Key{Tenant: "default", Thread: "a"}, Branch: branch}, To: -1})
		if err != nil {
			t.Fatal(err)
		}
		want += len(recs)
	}
	if count["record"] != want || count["thread"] != 1 || count["run"] != 2 || count["questionopen"] != 1 || count["command"] != 1 {
		t.Errorf("%v, %d records", count, want)
	}
}
