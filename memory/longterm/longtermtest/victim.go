package longtermtest

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/longterm"
)

// WorkOptions are those of a store for Work and Check.
func WorkOptions() longterm.Options {
	return longterm.Options{Rules: extractor(ruled), Extractor: extractor(modelled), Backoff: 1, Lease: 1e9, Attempts: 1000}
}

// ruled finds the first of two facts that a message of Work holds, modelled both.
func ruled(ctx context.Context, ts []longterm.Text, known []longterm.Item) ([]longterm.Draft, error) {
	out, err := noted(ctx, ts, known)
	return out[:min(1, len(out))], err
}

func modelled(ctx context.Context, ts []longterm.Text, known []longterm.Item) ([]longterm.Draft, error) {
	return noted(ctx, ts, known)
}

// Work remembers exchanges of one user for ever, works each off, and prints the id of each message that was acknowledged. It is for a
// process that a test kills. name is part of the ids: each process has another.
func Work(s *longterm.Store, sc memory.Scope, a memory.Agent, name string, out io.Writer) error {
	for i := 0; ; i++ {
		id := fmt.Sprintf("%s-%d", name, i)
		if err := s.Remember(context.Background(), sc, a, exchange(id, work2(id))); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, id); err != nil {
			return err
		}
		if _, err := s.Drain(context.Background()); err != nil {
			return err
		}
	}
}

// work2 is a message with two facts.
func work2(id string) string {
	word := "zq" + strings.ReplaceAll(id, "-", "x")
	return "note latest: " + word + " is the latest\nnote " + word + " was said"
}

// Check works off what is left, and fails unless every acknowledged message has its two facts once, and one of all is the latest.
func Check(t *testing.T, s *longterm.Store, sc memory.Scope, a memory.Agent, acknowledged []string) {
	t.Helper()
	e := &env{T: t, store: s, scope: sc, agent: a}
	e.drain(all(longterm.Done))
	facts := map[string]int{}
	latest := 0
	for after := ""; ; {
		page := e.list(longterm.Page{Past: true, After: after, Limit: 1000})
		if len(page) == 0 {
			break
		}
		for _, i := range page {
			if after = i.ID; len(i.Sources) != 1 {
				t.Fatalf("%s", e.json(i))
			}
			facts[i.Text]++
			if i.Current() && i.Key == "latest" {
				latest++
			}
		}
	}
	if len(acknowledged) > 0 && latest != 1 {
		t.Fatalf("%d facts are the latest", latest)
	}
	for _, id := range acknowledged {
		for line := range strings.Lines(work2(id)) {
			text := strings.TrimPrefix(strings.TrimSpace(line), "note ")
			if facts[text] != 1 {
				t.Fatalf("%q was acknowledged and is there %d times", text, facts[text])
			}
		}
	}
	for text, n := range facts {
		if n != 1 {
			t.Fatalf("%q is there %d times", text, n)
		}
	}
}
