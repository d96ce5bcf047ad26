package longterm_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/internal/audited/auditedtest"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/message"
)

// flat embeds all texts alike.
type flat struct{}

func (flat) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	return slices.Repeat([][]float32{{1}}, len(texts)), nil
}

func (flat) EmbedQuery(context.Context, string) ([]float32, error) { return []float32{1}, nil }

// whole makes a draft of each text.
type whole struct{}

func (whole) Extract(_ context.Context, texts []longterm.Text, _ []longterm.Item) (out []longterm.Draft, err error) {
	for _, t := range texts {
		out = append(out, longterm.Draft{Text: t.Text, Kind: longterm.Semantic, Origin: t.Origin, Source: t.Source})
	}
	return out, nil
}

func auditedUser(t *testing.T) (*user, *auditedtest.Recorder) {
	t.Helper()
	r := &auditedtest.Recorder{}
	s, err := longterm.NewMemory(longterm.Options{Auditor: r, Extractor: whole{}, Embedder: flat{}, Space: "flat"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return newUser(t, s), r
}

func spoken() longterm.Exchange {
	return longterm.Exchange{Conversation: "chat", Messages: []message.Message{
		{ID: "m1", Role: message.RoleUser, Parts: []message.Part{message.Text("I prefer tea")}},
	}}
}

// R112, T24: every exported method that reads or writes is noted, and refused where it cannot be.
func TestEveryMethodIsAudited(t *testing.T) {
	t.Parallel()
	u, r := auditedUser(t)
	source := longterm.Source{Conversation: "chat", Message: "m1"}
	auditedtest.Every(t, r, u.s, []any{t.Context(), u.sc, u.a, "id", spoken(), source}, nil, map[string]string{
		"Close":   "ends the store",
		"Compact": "is of no scope, and reads and writes no row",
		"Work":    "is of no scope; its jobs are noted, see TestJobsAreAudited",
		"Drain":   "the same",
	})
}

// R112: a job is noted as its user's and its agent's, with what it wrote, whoever works it off. Where that cannot be it is not done; where its
// end cannot be noted it is done, once.
func TestJobsAreAudited(t *testing.T) {
	t.Parallel()
	u, r := auditedUser(t)
	ctx := t.Context()
	if err := u.s.Remember(ctx, u.sc, u.a, spoken()); err != nil {
		t.Fatal(err)
	}
	r.Take()
	if n, err := u.s.Drain(ctx); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	got := r.Take()
	items, err := u.s.List(ctx, u.sc, u.a, longterm.Page{})
	if err != nil || len(items) != 1 {
		t.Fatal(items, err)
	}
	jobs, err := u.s.Jobs(ctx, u.sc, u.a, "", 0)
	if err != nil || len(jobs) != 1 {
		t.Fatal(jobs, err)
	}
	if len(got) != 2 || got[0].Result != memory.AccessBegun || got[1].Result != memory.AccessOK {
		t.Fatalf("%+v", got)
	}
	a := got[1]
	if a.Tenant != "acme" || a.User != "ann" || a.Agent != "writer" || a.Conversation != "chat" || a.Verb != "Work" || !a.Write ||
		!slices.Equal(a.Items, []string{jobs[0].ID, items[0].ID}) {
		t.Errorf("%+v", a)
	}
}

// R112: as above.
func TestJobsThatCannotBeAudited(t *testing.T) {
	t.Parallel()
	u, r := auditedUser(t)
	ctx := t.Context()
	if err := u.s.Remember(ctx, u.sc, u.a, spoken()); err != nil {
		t.Fatal(err)
	}
	r.Refuse(2) // the end of the job
	if _, err := u.s.Drain(ctx); !errors.Is(err, memory.ErrAudit) {
		t.Fatal(err)
	}
	if n, err := u.s.Drain(ctx); n != 0 || err != nil {
		t.Errorf("the job was done twice: %d, %v", n, err)
	}
	if items, err := u.s.List(ctx, u.sc, u.a, longterm.Page{}); len(items) != 1 || err != nil {
		t.Error(items, err)
	}
	e := spoken()
	e.Messages[0].ID, e.At = "m2", time.Now()
	if err := u.s.Remember(ctx, u.sc, u.a, e); err != nil {
		t.Fatal(err)
	}
	r.Refuse(1) // its begin
	if _, err := u.s.Drain(ctx); !errors.Is(err, memory.ErrAudit) {
		t.Fatal(err)
	}
	jobs, err := u.s.Jobs(ctx, u.sc, u.a, "", 0)
	if i := slices.IndexFunc(jobs, func(j longterm.Job) bool { return j.State == longterm.Queued }); err != nil || i < 0 || jobs[i].Attempts != 0 {
		t.Errorf("%+v, %v: a job was worked on that could not be noted", jobs, err)
	}
}

// R112: what a search has found is noted by id, and what was asked for and not found.
func TestReadsAreAudited(t *testing.T) {
	t.Parallel()
	u, r := auditedUser(t)
	id := u.add(longterm.Draft{Text: "likes tea", Kind: longterm.Preference, Origin: longterm.FromUser,
		Source: longterm.Source{Conversation: "chat", Message: "m1"}})[0].ID
	r.Take()
	u.search(longterm.Query{Text: "tea"})
	if _, err := u.s.Get(t.Context(), u.sc, u.a, "nothing"); !errors.Is(err, longterm.ErrNotFound) {
		t.Fatal(err)
	}
	got := r.Take()
	if len(got) != 2 || !slices.Equal(got[0].Items, []string{id}) || got[0].Write || !slices.Equal(got[1].Items, []string{"nothing"}) ||
		got[1].Result != "not found" {
		t.Errorf("%+v", got)
	}
	r.Refuse(1)
	if hits, err := u.s.Search(t.Context(), u.sc, u.a, longterm.Query{Text: "tea"}); !errors.Is(err, memory.ErrAudit) || hits != nil {
		t.Errorf("%v, %v: what was not noted was returned", hits, err)
	}
}
