package sqlite_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/audit"
	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
)

// canary is in all content, and in ids that are none.
const canary = "canary4711"

// holds reports which of the files of a log has a text. Close has brought all of it there.
func holds(t *testing.T, path, text string) []string {
	t.Helper()
	files, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	var with []string
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(text)) {
			with = append(with, f)
		}
	}
	return with
}

// T24, R112: the log has every read and write, and nothing of their content; ids that an application chose are sealed, and who is forgotten is
// named nowhere in the file.
func TestNoContent(t *testing.T) {
	t.Parallel()
	path := file(t)
	log := openAt(t, path)
	sc, err := memory.NewScope("shop", "erika-mustermann")
	if err != nil {
		t.Fatal(err)
	}
	inSession(t, log, sc)
	inLongterm(t, log, sc)
	inKnowledge(t, log)
	if n, err := log.Verify(t.Context(), "shop"); err != nil || n < 20 {
		t.Fatal(n, err)
	}
	if got, err := log.List(t.Context(), audit.Filter{Tenant: "shop", User: "erika-mustermann", Item: "app-chosen-id"}); err != nil || len(got) < 3 {
		t.Fatal(got, err)
	}
	for _, text := range []string{canary, "app-chosen-id", "app-chosen-chat"} {
		if with := holds(t, path, text); with != nil {
			t.Errorf("%q is in %v", text, with)
		}
	}
	if holds(t, path, "erika-mustermann") == nil {
		t.Error("the user has no name: this test finds nothing")
	}
	if err := log.Forget(t.Context(), sc); err != nil {
		t.Fatal(err)
	}
	for range 2 { // while the log is open, and when it is not
		if with := holds(t, path, "erika-mustermann"); with != nil {
			t.Errorf("who was forgotten is in %v", with)
		}
		log.Close()
	}
	log = openAt(t, path)
	if n, err := log.Verify(t.Context(), "shop"); err != nil || n < 20 {
		t.Fatal(n, err)
	}
}

func inSession(t *testing.T, log *audit.Log, sc memory.Scope) {
	t.Helper()
	ctx := memory.As(t.Context(), "support")
	s, err := session.NewMemory(session.Options{Auditor: log})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	said := message.Message{ID: "app-chosen-id", Role: message.RoleUser, Parts: []message.Part{message.Text("my env is " + canary)}}
	body := []byte(canary + " in a result")
	must(t, second(s.Write(ctx, sc, "app-chosen-chat", session.Write{
		Messages: []message.Message{said},
		Set:      []session.Change{session.Set(session.CurrentService, session.Service{ID: canary}, session.FromUser(said.ID))},
		Results: []memory.Result{{
			ID: memory.ResultID(sc, "app-chosen-chat", canary, body), Conversation: "app-chosen-chat", Call: canary, Body: body,
		}},
	})))
	must(t, second(s.State(ctx, sc, "app-chosen-chat")))
	must(t, second(s.Messages(ctx, sc, "app-chosen-chat", session.Page{})))
	must(t, second(s.Result(ctx, sc, memory.ResultID(sc, "app-chosen-chat", canary, body))))
	for _, id := range []string{canary + "\nis no id", strings.Repeat(canary, 30), canary + "\xff"} {
		if _, err := s.State(ctx, sc, id); err == nil {
			t.Errorf("%q is an id", id)
		}
		if _, err := s.Write(ctx, sc, "app-chosen-chat", session.Write{Messages: []message.Message{{ID: id}}}); err == nil {
			t.Errorf("%q is an id", id)
		}
	}
	if _, err := s.Result(ctx, sc, canary); err == nil { // a good id of nothing, which is noted, and sealed
		t.Error("there is a result")
	}
}

func inLongterm(t *testing.T, log *audit.Log, sc memory.Scope) {
	t.Helper()
	ctx := t.Context()
	agent, err := memory.NewAgent("support", memory.Secret, "shop")
	if err != nil {
		t.Fatal(err)
	}
	s, err := longterm.NewMemory(longterm.Options{Auditor: log, Rules: quoting{}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	source := longterm.Source{Conversation: "app-chosen-chat", Message: "app-chosen-id"}
	out, err := s.Add(ctx, sc, agent, longterm.Draft{Text: "likes " + canary, Key: canary, Kind: longterm.Preference, Origin: longterm.FromUser, Source: source})
	must(t, err)
	must(t, second(s.Search(ctx, sc, agent, longterm.Query{Text: "what about " + canary + "?"})))
	must(t, second(s.Get(ctx, sc, agent, out[0].ID)))
	must(t, second(s.AsOf(ctx, sc, agent, "shop", canary, time.Time{})))
	must(t, s.Remember(ctx, sc, agent, longterm.Exchange{Conversation: "app-chosen-chat", Messages: []message.Message{
		{ID: "app-chosen-id", Role: message.RoleUser, Parts: []message.Part{message.Text("again " + canary)}},
	}}))
	must(t, second(s.Drain(ctx)))
	must(t, second(s.Jobs(ctx, sc, agent, "", 0)))
	must(t, s.Forget(ctx, sc, agent, out[0].ID))
}

func inKnowledge(t *testing.T, log *audit.Log) {
	t.Helper()
	ctx := memory.As(t.Context(), "support")
	s, err := knowledge.NewMemory(knowledge.Options{Auditor: log})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	must(t, s.Index(ctx, "shop", knowledge.Document{ID: "handbook", Version: "1", Title: canary, Text: "All about " + canary, Roles: []string{knowledge.Everyone}}))
	must(t, s.Relate(ctx, "shop", "handbook", knowledge.Relation{From: canary, Name: "is", To: canary + " too"}))
	reader, err := knowledge.NewReader("shop")
	must(t, err)
	must(t, second(s.Retrieve(ctx, reader, knowledge.Query{Text: "What about " + canary + "?"})))
	must(t, second(s.Paths(ctx, reader, canary, false, 2)))
	must(t, second(s.Document(ctx, reader, "handbook")))
}

// quoting makes a draft of each text.
type quoting struct{}

func (quoting) Extract(_ context.Context, texts []longterm.Text, _ []longterm.Item) (out []longterm.Draft, err error) {
	for _, t := range texts {
		out = append(out, longterm.Draft{Text: t.Text, Kind: longterm.Semantic, Origin: t.Origin, Source: t.Source})
	}
	return out, nil
}

func second[T any](_ T, err error) error { return err }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
