package sessiontest

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
)

// Work writes to one conversation for ever, a message and a fact at a time, and prints the id of each message whose write was
// acknowledged. It is for a process that a test kills. name is part of the ids: each process has another.
func Work(s *session.Store, sc memory.Scope, name string, out io.Writer) error {
	for i := 0; ; i++ {
		id := fmt.Sprintf("%s-%d", name, i)
		if _, err := s.Write(context.Background(), sc, conv, set(id, []string{"testing", "production"}[i%2])); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, id); err != nil {
			return err
		}
	}
}

// Check fails unless every acknowledged message is there, and each message with its fact: none is there alone.
func Check(t *testing.T, s *session.Store, sc memory.Scope, acknowledged []string) {
	t.Helper()
	facts := map[string]bool{}
	h, err := s.FactHistory(t.Context(), sc, conv, "env")
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range h {
		if facts[f.Ref] || f.Version != int64(i+1) {
			t.Fatalf("fact %d: %+v", i, f)
		}
		facts[f.Ref] = true
	}
	there := map[string]bool{}
	for p := (session.Page{Limit: 1000}); ; {
		ms, err := s.Messages(t.Context(), sc, conv, p)
		if err != nil {
			t.Fatal(err)
		}
		if len(ms) == 0 {
			break
		}
		for _, m := range ms {
			p.After = m.Seq
			if there[m.ID] = true; m.Role == message.RoleUser && !facts[m.ID] {
				t.Fatalf("message %s is there without its fact", m.ID)
			}
		}
	}
	if len(there) != len(facts) {
		t.Fatalf("%d messages and %d facts", len(there), len(facts))
	}
	for _, id := range acknowledged {
		if !there[id] {
			t.Fatalf("%s was acknowledged and is not there", id)
		}
	}
}
