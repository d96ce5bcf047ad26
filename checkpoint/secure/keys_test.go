package secure_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/secure"
)

// C12: keys that cannot be used are refused at once, and no error shows a byte of them.
func TestKeyring(t *testing.T) {
	t.Parallel()
	short := secure.Key{ID: "short", Bytes: []byte("topsecret")}
	for name, k := range map[string]secure.Keyring{
		"none":      {},
		"short":     {Current: short},
		"long":      {Current: secure.Key{ID: "k", Bytes: make([]byte, 33)}},
		"old short": {Current: newKey("k"), Older: []secure.Key{short}},
		"no id":     {Current: secure.Key{Bytes: make([]byte, secure.KeyBytes)}},
		"long id":   {Current: secure.Key{ID: strings.Repeat("x", 65), Bytes: make([]byte, secure.KeyBytes)}},
		"twice":     ring("k", "k"),
	} {
		_, one := secure.Encrypt(new(checkpoint.Memory), k)
		_, two := secure.Sign(new(checkpoint.Memory), k)
		for _, err := range []error{one, two} {
			if !errors.Is(err, secure.ErrKeyring) || strings.Contains(err.Error(), "topsecret") {
				t.Errorf("%s: %v; want ErrKeyring", name, err)
			}
		}
	}
}

// C12, C13: the class of a store is shown with what the wrappers add.
func TestInfo(t *testing.T) {
	t.Parallel()
	s := encrypt(t, sign(t, new(checkpoint.Memory), ring("k")), ring("k"))
	if got := s.Info().Durability; got != "memory, signed, encrypted" {
		t.Error(got)
	}
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// refused fails unless err is a RowError for that reason.
func refused(t testing.TB, err, why error) *secure.RowError {
	t.Helper()
	bad, ok := errors.AsType[*secure.RowError](err)
	if !ok || !errors.Is(err, why) || !errors.Is(err, checkpoint.ErrCorrupt) {
		t.Fatalf("error %v; want a RowError for %v", err, why)
	}
	return bad
}

// C12: a new key writes, the old one reads; a question that was asked under the old key is answered under the new one; a
// key that is gone is named; the keys in use can be counted.
func TestKeyRotation(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			var mem checkpoint.Memory
			w := fill(t, kind.wrap(t, &mem, ring("k1")), thread)
			before := must[string](t)(content(t, w.Store, thread))
			rotated := kind.wrap(t, &mem, ring("k2", "k1"))
			if got := must[string](t)(content(t, rotated, thread)); got != before {
				t.Errorf("under the new keyring the thread is\n%s\nbefore\n%s", got, before)
			}
			w.Store = rotated
			w.append(w.record("", checkpoint.KindEntry, "under the new key"))
			_, err := rotated.Answer(t.Context(), thread, []checkpoint.Reply{{Question: "open", By: "ann", Shown: []byte("other")}})
			if !errors.Is(err, checkpoint.ErrChanged) {
				t.Errorf("an answer to another text: %v; want ErrChanged", err)
			}
			w.answer(checkpoint.Reply{Question: "open", By: "ann", Shown: []byte("hash 1"), Value: []byte("yes")})
			after := must[string](t)(content(t, rotated, thread))
			if !strings.Contains(after, "under the new key") || !strings.Contains(after, `answer "yes" by ann`) {
				t.Errorf("after writing under the new key:\n%s", after)
			}
			uses := must[map[string]int64](t)(rotated.(interface {
				KeysInUse(ctx context.Context, tenant string) (map[string]int64, error)
			}).KeysInUse(t.Context(), ""))
			if uses["k1"] != 11+4+3+2+1 || uses["k2"] != 1+1 || len(uses) != 2 {
				t.Errorf("keys in use: %v", uses)
			}
			_, err = content(t, kind.wrap(t, &mem, ring("k2")), thread)
			if bad := refused(t, err, secure.ErrUnknownKey); bad.KeyID != "k1" || !strings.Contains(err.Error(), `"k1"`) {
				t.Errorf("without the old key: %v", err)
			}
		})
	}
}

// C12: what a loser and a repeated start are told is opened, and is refused when it is forged.
func TestErrorsAreOpened(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			s := kind.wrap(t, new(checkpoint.Memory), ring("k1"))
			w := fill(t, s, thread)
			_, err := s.Answer(t.Context(), thread, []checkpoint.Reply{{Question: "answered", By: "eve"}})
			if lost, ok := errors.AsType[*checkpoint.NotPendingError](err); !ok || string(lost.Answer) != "secret yes" || lost.By != "ann" {
				t.Errorf("the loser is told %v", err)
			}
			a := &checkpoint.Acquire{Key: thread, Epoch: w.epoch, Nonce: checkpoint.NewNonce(), TTL: time.Hour, Run: &checkpoint.Run{ID: "run-3", Request: "request of run-1"}}
			_, err = s.Acquire(t.Context(), a)
			if dup, ok := errors.AsType[*checkpoint.DuplicateError](err); !ok || dup.Run.Error != "secret error" {
				t.Errorf("the repeated start is told %v", err)
			}
		})
	}
}

// C12: a store that was in use before is adopted: plain rows are read, new ones are sealed, and none may follow them; once
// retention has removed the plain ones, adopting can end.
func TestAdopting(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			var mem checkpoint.Memory
			w := fill(t, &mem, thread)
			plain := must[string](t)(content(t, &mem, thread))
			_, err := content(t, kind.wrap(t, &mem, ring("k1")), thread)
			refused(t, err, secure.ErrPlain)

			w.Store = kind.wrap(t, &mem, adopting(ring("k1")))
			if got := must[string](t)(content(t, w.Store, thread)); got != plain {
				t.Errorf("adopted:\n%s\nbefore\n%s", got, plain)
			}
			w.answer(checkpoint.Reply{Question: "open", By: "ann", Shown: []byte("hash 1"), Value: []byte("yes")})
			w.append(w.record("", checkpoint.KindEntry, "sealed entry"))
			first := w.next[""]
			w.append(w.record("", checkpoint.KindEntry, "another"), w.record("", checkpoint.KindSnapshot, "sealed snapshot"))
			got := must[string](t)(content(t, w.Store, thread))
			if !strings.Contains(got, "sealed entry") || !strings.Contains(got, "secret entry 1") || !strings.Contains(got, `answer "yes" by ann`) {
				t.Errorf("adopted and written to:\n%s", got)
			}

			// Whoever has the database appends records that are not sealed, the last of which needs no other.
			forger := *w
			forger.Store, forger.TB = &mem, t
			forger.next, forger.base = map[checkpoint.Namespace]int64{"": w.next[""]}, map[checkpoint.Namespace]int64{}
			saved := w.next[""]
			forger.append(forger.record("", checkpoint.KindEntry, "forged"), forger.record("", checkpoint.KindSnapshot, "forged"))
			_, err = w.Load(t.Context(), thread, 0, "")
			refused(t, err, secure.ErrPlain)
			_, err = w.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: thread}, From: saved - 1, To: -1})
			refused(t, err, secure.ErrPlain)

			strict := kind.wrap(t, &mem, ring("k1"))
			if _, err := mem.Trim(t.Context(), checkpoint.Chain{Key: thread}, first); err != nil {
				t.Fatal(err)
			}
			rs, err := strict.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: thread}, To: saved - 1})
			if err != nil || len(rs) != 2 || string(rs[1].Body) != "sealed snapshot" {
				t.Errorf("after retention %+v, %v", rs, err)
			}
		})
	}
}

// C12: with Sign, the first signed record covers the plain one before it.
func TestSignCoversThePlainRecordBelow(t *testing.T) {
	t.Parallel()
	for _, forged := range []string{"secret input", "another input"} {
		var mem checkpoint.Memory
		w := start(t, &mem, thread)
		w.Store = sign(t, &mem, adopting(ring("k1")))
		w.append(w.record("", checkpoint.KindEntry, "signed"))
		got, err := content(t, sign(t, &edited{&mem, forged}, adopting(ring("k1"))), thread)
		if forged == "secret input" && (err != nil || !strings.Contains(got, "signed")) {
			t.Errorf("%s, %v", got, err)
		} else if forged != "secret input" {
			refused(t, err, secure.ErrTampered)
		}
	}
}

// edited is a store whose records at position 0 were edited.
type edited struct {
	checkpoint.Store
	body string
}

func (e *edited) Load(ctx context.Context, key checkpoint.Key, branch int32, ns checkpoint.Namespace) (*checkpoint.Loaded, error) {
	l, err := e.Store.Load(ctx, key, branch, ns)
	e.edit(l.Records)
	return l, err
}

func (e *edited) Read(ctx context.Context, q checkpoint.Query) ([]checkpoint.Record, error) {
	rs, err := e.Store.Read(ctx, q)
	e.edit(rs)
	return rs, err
}

func (e *edited) edit(rs []checkpoint.Record) {
	for i := range rs {
		if rs[i].Pos == 0 {
			rs[i].Body = []byte(e.body)
		}
	}
}

// C12: the error of a row names the row and holds nothing of its content.
func TestRowErrorShowsNoContent(t *testing.T) {
	t.Parallel()
	var mem checkpoint.Memory
	fill(t, &mem, thread)
	_, err := content(t, encrypt(t, &mem, ring("k1")), thread)
	bad := refused(t, err, secure.ErrPlain)
	if text := fmt.Sprint(err); strings.Contains(text, "secret") || !strings.Contains(text, bad.Row) || bad.Key != thread {
		t.Errorf("%s", text)
	}
}

// C12: an answer that named what the person was shown counts for that text only, although question and answer are each
// what was written in their place.
func TestAnswerToAnotherText(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			var mem checkpoint.Memory
			s := kind.wrap(t, &mem, ring("k1"))
			fill(t, s, thread)
			old := must[*checkpoint.Loaded](t)(mem.Load(t.Context(), thread, 0, "")).Questions
			if err := s.Delete(t.Context(), thread); err != nil {
				t.Fatal(err)
			}
			w := start(t, s, thread)
			w.park(checkpoint.Park{Status: checkpoint.Interrupted, Questions: []checkpoint.Question{
				{ID: "answered", Shown: []byte("another text")}, {ID: "also", Shown: []byte("another text")},
			}})
			for _, q := range old {
				if q.ID == "answered" { // the old answer is put under the new question
					must[int64](t)(mem.Answer(t.Context(), thread, []checkpoint.Reply{{Question: q.ID, By: q.AnsweredBy, Value: q.Answer}}))
				}
			}
			_, err := s.Load(t.Context(), thread, 0, "")
			refused(t, err, secure.ErrTampered)
		})
	}
}
