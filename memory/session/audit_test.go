package session_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/internal/audited/auditedtest"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
)

func auditedStore(t *testing.T) (*session.Store, *auditedtest.Recorder, memory.Scope, context.Context) {
	t.Helper()
	r := &auditedtest.Recorder{}
	s, err := session.NewMemory(session.Options{Auditor: r})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	sc, err := memory.NewScope("t", "u")
	if err != nil {
		t.Fatal(err)
	}
	return s, r, sc, memory.As(t.Context(), "support")
}

// R112, T24: every exported method that reads or writes is noted, and refused where it cannot be.
func TestEveryMethodIsAudited(t *testing.T) {
	t.Parallel()
	s, r, sc, ctx := auditedStore(t)
	id := memory.ResultID(sc, "chat", "call", []byte("body"))
	result := memory.Result{ID: id, Conversation: "chat", Call: "call", Body: []byte("body")}
	auditedtest.Every(t, r, s, []any{ctx, sc, "chat", result, session.Conversation{ID: "chat"}, session.Write{}}, nil, map[string]string{
		"Close":     "ends the store",
		"Compact":   "is of no scope, and reads and writes no row",
		"PutResult": "is a Write, which is noted",
	})
}

// R112: who, on which conversation, which items, with what result; no id that is a text.
func TestAuditSaysWhat(t *testing.T) {
	t.Parallel()
	s, r, sc, ctx := auditedStore(t)
	said := message.Message{ID: "m1", Role: message.RoleUser, Parts: []message.Part{message.Text("in production, please")}}
	w := session.Write{Messages: []message.Message{said}, Set: []session.Change{session.Set(session.Env, "production", session.FromUser("m1"))}}
	if _, err := s.Write(ctx, sc, "chat", w); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Messages(ctx, sc, "chat", session.Page{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.State(ctx, sc, "other"); !errors.Is(err, session.ErrNotFound) {
		t.Fatal(err)
	}
	if _, err := s.State(ctx, sc, "a text\nof two lines"); !errors.Is(err, session.ErrBadID) {
		t.Fatal(err)
	}
	want := []memory.Access{
		{Verb: "Write", Write: true, Conversation: "chat", Items: []string{"m1", "env"}, Result: "begun"},
		{Verb: "Write", Write: true, Conversation: "chat", Items: []string{"m1", "env"}, Result: "ok"},
		{Verb: "Messages", Conversation: "chat", Items: []string{"m1"}, Result: "ok"},
		{Verb: "State", Conversation: "other", Result: "not found"},
		{Verb: "State", Result: "bad id"},
	}
	for i := range want {
		want[i].Tenant, want[i].User, want[i].Agent, want[i].Box = "t", "u", "support", "session"
	}
	same := func(a, b memory.Access) bool {
		items := slices.Equal(a.Items, b.Items)
		return items && a.Tenant == b.Tenant && a.User == b.User && a.Agent == b.Agent && a.Box == b.Box && a.Verb == b.Verb && a.Write == b.Write &&
			a.Conversation == b.Conversation && a.Result == b.Result && a.More == b.More
	}
	if got := r.Take(); !slices.EqualFunc(got, want, same) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

// R112: a write whose begin is refused does not happen; one whose end is not noted stands, says so, and may be repeated.
func TestAuditFailsClosed(t *testing.T) {
	t.Parallel()
	s, r, sc, ctx := auditedStore(t)
	w := session.Write{Messages: []message.Message{{ID: "m1", Role: message.RoleUser, Parts: []message.Part{message.Text("hello")}}}}
	r.Refuse(1)
	if _, err := s.Write(ctx, sc, "chat", w); !errors.Is(err, memory.ErrAudit) {
		t.Fatal(err)
	}
	if _, err := s.State(ctx, sc, "chat"); !errors.Is(err, session.ErrNotFound) {
		t.Fatalf("a write that was refused has happened: %v", err)
	}
	r.Refuse(2)
	if _, err := s.Write(ctx, sc, "chat", w); !errors.Is(err, memory.ErrAudit) || err.Error() == memory.ErrAudit.Error() {
		t.Fatal(err)
	}
	for range 2 {
		if ms, err := s.Messages(ctx, sc, "chat", session.Page{}); err != nil || len(ms) != 1 {
			t.Fatalf("%v, %v", ms, err)
		}
		if _, err := s.Write(ctx, sc, "chat", w); err != nil {
			t.Fatal(err)
		}
	}
}

// R112: of many ids a hundred are listed, and the others counted.
func TestAuditCounts(t *testing.T) {
	t.Parallel()
	s, r, sc, ctx := auditedStore(t)
	var w session.Write
	for i := range 150 {
		w.Messages = append(w.Messages, message.Message{ID: string(rune('一' + i)), Role: message.RoleUser, Parts: []message.Part{message.Text("x")}})
	}
	if _, err := s.Write(ctx, sc, "chat", w); err != nil {
		t.Fatal(err)
	}
	for _, a := range r.Take() {
		if len(a.Items) != 100 || a.More != 50 {
			t.Errorf("%d items and %d more", len(a.Items), a.More)
		}
	}
}
