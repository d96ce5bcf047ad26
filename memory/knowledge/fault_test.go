package knowledge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/search"
)

// A faulty back end fails at the n-th call of a transaction that writes, counted from 1, or after the commit. 0: never.
type faulty struct {
	knowledge.Backend
	at    int
	after bool // the update happens, and nobody hears of it
	calls int
}

var errFault = fmt.Errorf("%w: on purpose", knowledge.ErrUnavailable)

func (b *faulty) Update(ctx context.Context, tenant string, f func(knowledge.Tx) error) error {
	b.calls = 0
	err := b.Backend.Update(ctx, tenant, func(tx knowledge.Tx) error { return f(&faultyTx{tx, b}) })
	if err == nil && b.after {
		return errFault
	}
	return err
}

func (b *faulty) fail() error {
	if b.calls++; b.calls == b.at {
		return errFault
	}
	return nil
}

type faultyTx struct {
	knowledge.Tx
	b *faulty
}

func (x *faultyTx) Load(ctx context.Context, keys []search.Key) (map[search.Key][]byte, error) {
	if err := x.b.fail(); err != nil {
		return nil, err
	}
	return x.Tx.Load(ctx, keys)
}

func (x *faultyTx) Save(ctx context.Context, rows map[search.Key][]byte) error {
	return errors.Join(x.b.fail(), x.Tx.Save(ctx, rows))
}

func (x *faultyTx) Shelf(ctx context.Context, name string) (knowledge.Shelf, error) {
	s, err := x.Tx.Shelf(ctx, name)
	return s, errors.Join(err, x.b.fail())
}

func (x *faultyTx) PutShelf(ctx context.Context, s knowledge.Shelf) error {
	return errors.Join(x.Tx.PutShelf(ctx, s), x.b.fail())
}

func (x *faultyTx) Versions(ctx context.Context, s knowledge.Select) ([]knowledge.VersionRow, error) {
	vs, err := x.Tx.Versions(ctx, s)
	return vs, errors.Join(err, x.b.fail())
}

func (x *faultyTx) PutVersions(ctx context.Context, rows ...knowledge.VersionRow) error {
	return errors.Join(x.Tx.PutVersions(ctx, rows...), x.b.fail())
}

func (x *faultyTx) Delete(ctx context.Context, documents []string) error {
	return errors.Join(x.Tx.Delete(ctx, documents), x.b.fail())
}

func (x *faultyTx) Chunks(ctx context.Context, places []search.Place, at time.Time) ([]knowledge.ChunkRow, error) {
	cs, err := x.Tx.Chunks(ctx, places, at)
	return cs, errors.Join(err, x.b.fail())
}

func (x *faultyTx) PutChunks(ctx context.Context, rows ...knowledge.ChunkRow) error {
	return errors.Join(x.Tx.PutChunks(ctx, rows...), x.b.fail())
}

func (x *faultyTx) DeleteChunks(ctx context.Context, places []search.Place) error {
	return errors.Join(x.Tx.DeleteChunks(ctx, places), x.b.fail())
}

func (x *faultyTx) PutVectors(ctx context.Context, shelf, space string, vectors map[uint32][]float32) error {
	return errors.Join(x.Tx.PutVectors(ctx, shelf, space, vectors), x.b.fail())
}

func (x *faultyTx) PutRelations(ctx context.Context, document string, rs []knowledge.Relation) error {
	return errors.Join(x.Tx.PutRelations(ctx, document, rs), x.b.fail())
}

// letters embeds a text by how often it has each letter.
type letters struct{}

func (letters) EmbedDocuments(_ context.Context, texts []string) (out [][]float32, _ error) {
	for _, t := range texts {
		v := make([]float32, 26)
		for _, r := range t {
			if r >= 'a' && r <= 'z' {
				v[r-'a']++
			}
		}
		v[0]++
		out = append(out, v)
	}
	return out, nil
}

func (l letters) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	vs, err := l.EmbedDocuments(ctx, []string{text})
	return vs[0], err
}

// R106: an update that fails at any of its calls changes nothing, and one whose end is unknown can be repeated.
func TestFaults(t *testing.T) {
	t.Parallel()
	v := func(id, version string, roles ...string) knowledge.Document {
		return knowledge.Document{ID: id, Version: version, Roles: roles, Text: fmt.Sprintf("# A\n\nThe %s has %s stripes.\n\n# B\n\nIt sleeps.", id, version)}
	}
	for name, step := range map[string]func(context.Context, *knowledge.Store) error{
		"swap": func(ctx context.Context, s *knowledge.Store) error {
			return s.Index(ctx, "t", v("zebra", "2", "staff"), v("tiger", "1", "staff", "guests"))
		},
		"withdraw": func(ctx context.Context, s *knowledge.Store) error { return s.Withdraw(ctx, "t", "zebra") },
		"relate": func(ctx context.Context, s *knowledge.Store) error {
			return s.Relate(ctx, "t", "zebra", knowledge.Relation{From: "zebra", Name: "eats", To: "hay"})
		},
		"embed": func(ctx context.Context, s *knowledge.Store) error {
			_, err := s.Embed(ctx, "t")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for at := 1; ; at++ {
				b := &faulty{Backend: knowledge.MemoryBackend()}
				for _, space := range []string{"old", "new"} {
					s := over(t, b, space)
					if space == "new" && name != "embed" {
						if _, err := s.Embed(t.Context(), "t"); err != nil {
							t.Fatal(err)
						}
						continue
					}
					if err := s.Index(t.Context(), "t", v("zebra", "1", "staff"), v("ant", "1", "staff")); err != nil {
						t.Fatal(err)
					}
					if err := s.Relate(t.Context(), "t", "zebra", knowledge.Relation{From: "zebra", Name: "eats", To: "grass"}); err != nil {
						t.Fatal(err)
					}
				}
				s := over(t, b, "new")
				before := everything(t, s)
				b.at = at
				err := step(t.Context(), s)
				calls := b.calls
				b.at = 0
				if err == nil {
					if at < 3 {
						t.Fatalf("%s has %d calls", name, calls)
					}
					break
				}
				if !errors.Is(err, errFault) || !errors.Is(err, knowledge.ErrUnavailable) {
					t.Fatalf("call %d: %v", at, err)
				}
				if name != "embed" { // whose documents are transactions of their own
					if after := everything(t, s); after != before {
						t.Fatalf("call %d failed and left\n%s\nof\n%s", at, after, before)
					}
				}
				b.after = true
				if err := step(t.Context(), s); !errors.Is(err, errFault) {
					t.Fatalf("call %d: %v", at, err)
				}
				b.after = false
				done := everything(t, s)
				if err := step(t.Context(), s); err != nil {
					t.Fatal(err)
				}
				if again := everything(t, s); again != done && name != "embed" {
					t.Fatalf("call %d: once more\n%s\nafter\n%s", at, again, done)
				}
			}
		})
	}
}

func over(t *testing.T, b knowledge.Backend, space string) *knowledge.Store {
	t.Helper()
	s, err := knowledge.New(b, knowledge.Options{Embedder: letters{}, Space: space, Cosine: 0.0001})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// everything is what can be read of the documents of TestFaults.
func everything(t *testing.T, s *knowledge.Store) string {
	t.Helper()
	r, err := knowledge.NewReader("t", "staff", "guests")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := s.Documents(t.Context(), r, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []any
	for _, d := range docs {
		full, err := s.Document(t.Context(), r, d.ID)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, full)
	}
	for _, q := range []string{"How many stripes has the zebra?", "Which stripes has the tiger?", "Where does the ant sleep?"} {
		a, err := s.Retrieve(t.Context(), r, knowledge.Query{Text: q, Limit: 50})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	ps, err := s.Paths(t.Context(), r, "zebra", false, 1)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := json.Marshal(append(all, ps))
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}
