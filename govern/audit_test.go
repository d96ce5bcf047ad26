package govern_test

import (
	"path/filepath"
	"testing"

	"github.com/holdfast-go/holdfast/govern"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/audit"
	auditsqlite "github.com/holdfast-go/holdfast/memory/audit/sqlite"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
)

// R112, T24: an erasure that is noted itself leaves nobody's name in the audit log, in whatever order the boxes are, and the chain valid.
func TestEraseFromTheAudit(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{false, true} {
		log, err := auditsqlite.Open(filepath.Join(t.TempDir(), "audit.db"), auditsqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		s, err := session.NewMemory(session.Options{Auditor: log})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		sc, err := memory.NewScope("shop", "erika")
		if err != nil {
			t.Fatal(err)
		}
		w := session.Write{Messages: []message.Message{{ID: "m1", Role: message.RoleUser, Parts: []message.Part{message.Text("hello")}}}}
		if _, err := s.Write(t.Context(), sc, "chat", w); err != nil {
			t.Fatal(err)
		}
		boxes := []govern.Box{{Name: "conversations", Eraser: s}, {Name: "audit", Eraser: log}}
		if first {
			boxes[0], boxes[1] = boxes[1], boxes[0]
		}
		if r, err := govern.Erase(t.Context(), sc, boxes...); err != nil || r.Boxes[0].Found == 0 || r.Boxes[1].Found == 0 {
			t.Fatal(r, err)
		}
		if n, err := log.Verify(t.Context(), "shop"); n == 0 || err != nil {
			t.Error(n, err)
		}
		if err := govern.Readmit(t.Context(), sc, boxes...); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Write(t.Context(), sc, "chat", w); err != nil {
			t.Fatal(err)
		}
		if got, err := log.List(t.Context(), audit.Filter{Tenant: "shop", User: "erika"}); len(got) == 0 || err != nil {
			t.Error(got, err)
		}
	}
}
