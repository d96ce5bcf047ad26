package golden_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/stores"
)

// newerStore makes of a database of each form one that a later release has written.
var newerStore = map[string]func(t testing.TB, u string){
	"sqlite": func(t testing.TB, u string) {
		db, err := sql.Open("sqlite", sqlitePath(u))
		want(t, err, nil)
		defer db.Close()
		_, err = db.Exec("pragma user_version = 1000")
		want(t, err, nil)
	},
	"postgres": func(t testing.TB, u string) {
		_, err := connect(t).Exec(t.Context(), "insert into "+parameter(u, "schema")+".hf_version(n) values (1000)")
		want(t, err, nil)
	},
	"redis": func(t testing.TB, u string) { // each stored record has its version, behind 14 digits of time
		c := client(t)
		keys, err := c.Keys(t.Context(), parameter(u, "prefix")+":*:j").Result()
		want(t, err, nil)
		for _, key := range keys {
			for field, v := range c.HGetAll(t.Context(), key).Val() {
				want(t, c.HSet(t.Context(), key, field, v[:14]+"2"+v[15:]).Err(), nil)
			}
		}
	},
}

// C15, E45: a database of a later release is refused, when it is opened or with the first call, and is left as it is.
func TestNewerFormatIsRefused(t *testing.T) {
	t.Parallel()
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			u := f.url(t)
			s := open(t, u)
			_, qs := toQuestion(t, s, graph.ID("1"), &world{})
			want(t, s.Close(), nil)
			newerStore[f.name](t, u)
			before := f.take(t, u)
			s, err := stores.Open(t.Context(), u)
			if err == nil {
				for i, err := range touch(t, s, graph.ID("1"), qs) {
					if !errors.Is(err, checkpoint.ErrNewerFormat) {
						t.Errorf("call %d: %v", i, err)
					}
				}
				want(t, s.Close(), nil)
			} else if !errors.Is(err, checkpoint.ErrNewerFormat) {
				t.Errorf("Open: %v", err)
			}
			if !bytes.Equal(f.take(t, u), before) {
				t.Error("the database was changed")
			}
		})
	}
}

// touch is every call that reads or continues a thread.
func touch(t testing.TB, s checkpoint.Store, th graph.Thread, qs []graph.Question) (errs []error) {
	v := newer1(t, s, &world{})
	_, run := v.Run(t.Context(), th, input)
	_, resume := v.Resume(t.Context(), th, replies(qs)...)
	_, st := v.State(t.Context(), th)
	_, edit := v.Edit(t.Context(), th, -1, graph.End, json.RawMessage(`{}`))
	_, fork := v.Fork(t.Context(), th, 0, graph.ForkOptions{Effects: graph.Rerun})
	return []error{run, resume, st, edit, fork, v.Cancel(t.Context(), th), v.Copy(t.Context(), th, graph.ID("to"))}
}

// C15, E45: a thread with one record of a later release is refused on every store by whoever would have to read it, and left as it
// is; other threads of the database go on.
func TestNewerRecordIsRefused(t *testing.T) {
	t.Parallel()
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			u := f.url(t)
			s := open(t, u)
			th := graph.ID("1")
			_, qs := toQuestion(t, s, th, &world{})
			_, others := toQuestion(t, s, graph.ID("2"), &world{})
			l, err := s.Load(t.Context(), keyOf(th), checkpoint.Active, "")
			want(t, err, nil)
			last := l.Records[len(l.Records)-1]
			nonce := checkpoint.NewNonce()
			_, err = s.Acquire(t.Context(), &checkpoint.Acquire{
				Key: keyOf(th), Epoch: l.Head.Epoch, Nonce: nonce, TTL: time.Minute, Records: []checkpoint.Record{{
					Pos: last.Pos + 1, Ord: (l.Head.Epoch + 1) << 32, By: nonce.Writer(), Base: last.Base, Step: last.Step, Kind: last.Kind,
					Body: append([]byte{2}, last.Body[1:]...),
				}},
			})
			want(t, err, nil)
			_, err = s.Release(t.Context(), checkpoint.Lease{Key: keyOf(th), Nonce: nonce}, l.Head.Inbox)
			want(t, err, nil)
			before := dump(t, s, th)
			for i, err := range touch(t, s, th, qs) {
				if !errors.Is(err, checkpoint.ErrNewerFormat) {
					t.Errorf("call %d: %v", i, err)
				}
			}
			if !slices.Equal(dump(t, s, th), before) {
				t.Error("the thread was changed")
			}
			_, err = newer1(t, s, &world{}).Resume(t.Context(), graph.ID("2"), replies(others)...)
			want(t, err, nil)
		})
	}
}

func dump(t testing.TB, s checkpoint.Store, th graph.Thread) (out []string) {
	recs, err := s.Read(context.Background(), checkpoint.Query{Chain: checkpoint.Chain{Key: keyOf(th)}, To: -1})
	want(t, err, nil)
	for _, r := range recs {
		out = append(out, strings.Join([]string{string(rune(r.Kind)), string(r.Body)}, " "))
	}
	return out
}
