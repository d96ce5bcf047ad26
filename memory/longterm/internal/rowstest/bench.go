package rowstest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/search"
)

const (
	namespace = "bench"
	shelf     = "0/bench"
)

// Owner is whose facts Fill makes, and Agent who may see them.
func Owner(user string) (memory.Scope, memory.Agent) {
	sc, err := memory.NewScope("bench", user)
	if err != nil {
		panic(err)
	}
	a, err := memory.NewAgent("bench", memory.Public, namespace)
	if err != nil {
		panic(err)
	}
	return sc, a
}

// A Speaker says things, always the same. Words are as common as in a language: the n-th is said in proportion to 1/n.
type Speaker struct {
	r     *rand.Rand
	words *rand.Zipf
}

// NewSpeaker returns one.
func NewSpeaker() *Speaker {
	r := rand.New(rand.NewPCG(5, 6))
	return &Speaker{r, rand.NewZipf(r, 1.05, 3, 30_000)}
}

// Say returns so many words, of English or of Chinese.
func (s *Speaker) Say(words int) string {
	var b strings.Builder
	chinese := s.r.IntN(2) == 0
	for range words {
		n := s.words.Uint64()
		if chinese {
			b.WriteRune(rune(0x4e00 + n%3000))
			continue
		}
		for b.WriteByte(' '); ; n /= 20 {
			b.WriteByte("bcdfghjklmnpqrstvwxz"[n%20])
			b.WriteByte("aeiou"[n%5])
			if n < 20 {
				break
			}
		}
	}
	return b.String()
}

// Fill gives a user so many facts, without what a store decides for each.
func Fill(ctx context.Context, b longterm.Backend, user string, n int) error {
	sc, _ := Owner(user)
	s := NewSpeaker()
	for done := 0; done < n; {
		first, m := done, min(1024, n-done)
		var rows []longterm.Row
		var docs []search.Doc
		for i := range m {
			row, doc, err := fact(first+i+1, s.Say(8+s.r.IntN(12)))
			if err != nil {
				return err
			}
			rows, docs = append(rows, row), append(docs, doc)
		}
		err := b.Update(ctx, sc, func(tx longterm.Tx) error {
			if err := search.Add(ctx, tx, shelf, docs...); err != nil {
				return err
			}
			if err := tx.PutShelf(ctx, longterm.Shelf{Name: shelf, Namespace: namespace, Next: uint32(first + m + 1), Items: first + m}); err != nil {
				return err
			}
			return tx.Put(ctx, rows...)
		})
		if err != nil {
			return err
		}
		done += m
	}
	return nil
}

func fact(no int, text string) (longterm.Row, search.Doc, error) {
	at := epoch.Add(time.Duration(no) * time.Minute)
	src := longterm.Source{Conversation: fmt.Sprint("c", no/20), Message: fmt.Sprint("m", no), At: at}
	item := struct {
		longterm.Item
		Format int `json:"v"`
	}{longterm.Item{
		ID: fmt.Sprintf("%013x", no), Namespace: namespace, Kind: longterm.Semantic, Text: text, Words: text, Origin: longterm.FromUser,
		Sources: []longterm.Source{src}, Agent: "bench", Confidence: 1, Version: 1, From: at, Stored: at,
	}, 1}
	body, err := json.Marshal(item)
	return longterm.Row{
		ID: item.ID, Shelf: shelf, No: uint32(no), Namespace: namespace, Kind: item.Kind, Hash: item.ID, From: at, Body: body,
	}, search.Doc{No: uint32(no), Text: text, Group: src.Conversation, At: at}, err
}

// Bench measures searches of 4 to 16 words over so many facts of a user, and reports the 50th and 99th percentile in milliseconds.
func Bench(b *testing.B, s *longterm.Store, user string) {
	sc, agent := Owner(user)
	speaker := NewSpeaker()
	var took []time.Duration
	found := 0
	for b.Loop() {
		q := longterm.Query{Text: speaker.Say(4 + speaker.r.IntN(13)), Limit: 10}
		start := time.Now()
		hits, err := s.Search(b.Context(), sc, agent, q)
		took = append(took, time.Since(start))
		if err != nil {
			b.Fatal(err)
		}
		found += len(hits)
	}
	if found == 0 {
		b.Fatal("nothing was found")
	}
	slices.Sort(took)
	ms := func(percent int) float64 { return float64(took[(len(took)-1)*percent/100].Microseconds()) / 1000 }
	b.ReportMetric(ms(50), "p50-ms")
	b.ReportMetric(ms(99), "p99-ms")
	b.ReportMetric(float64(found)/float64(len(took)), "hits")
}
