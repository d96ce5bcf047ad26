package boxes_test

import (
	"path/filepath"
	"testing"

	"github.com/holdfast-go/holdfast/internal/boxes"
	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/audit"
	auditsqlite "github.com/holdfast-go/holdfast/memory/audit/sqlite"
	"github.com/holdfast-go/holdfast/memory/knowledge"
	knowledgesqlite "github.com/holdfast-go/holdfast/memory/knowledge/sqlite"
	longtermsqlite "github.com/holdfast-go/holdfast/memory/longterm/sqlite"
	sessionpostgres "github.com/holdfast-go/holdfast/memory/session/postgres"
	sessionsqlite "github.com/holdfast-go/holdfast/memory/session/sqlite"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(testserver.Main{M: m}) }

// What is there is opened, each from the first place that has it; what is not there is not made.
func TestOpen(t *testing.T) {
	t.Parallel()
	one, two := filepath.Join(t.TempDir(), "one.db"), filepath.Join(t.TempDir(), "two?%41.db")
	sessions, err := sessionsqlite.Open(one, sessionsqlite.Options{})
	made(t, sessions, err)
	memories, err := longtermsqlite.Open(two, longtermsqlite.Options{})
	made(t, memories, err)

	b, err := boxes.Open(t.Context(), one)
	if err != nil {
		t.Fatal(err)
	}
	if b.Session == nil || b.Longterm != nil || b.Knowledge != nil {
		t.Errorf("one: %+v", b)
	}
	made(t, b, nil)
	b, err = boxes.Open(t.Context(), one, two)
	if err != nil {
		t.Fatal(err)
	}
	if b.Session == nil || b.Longterm == nil || b.Knowledge != nil {
		t.Errorf("both: %+v", b)
	}
	made(t, b, nil)

	books, err := knowledgesqlite.Open(one, knowledgesqlite.Options{Knowledge: knowledge.Options{}})
	made(t, books, err)
	if b, err = boxes.Open(t.Context(), "sqlite:"+one); err != nil || b.Knowledge == nil {
		t.Errorf("a second box in one file: %+v, %v", b, err)
	}
	made(t, b, err)
}

func TestOpenPostgres(t *testing.T) {
	t.Parallel()
	url := testserver.Postgres(t).URL()
	sessions, err := sessionpostgres.Open(t.Context(), url, sessionpostgres.Options{Schema: "boxes"})
	made(t, sessions, err)
	b, err := boxes.Open(t.Context(), url+"&schema=boxes&pool_max_conns=2")
	if err != nil {
		t.Fatal(err)
	}
	if b.Session == nil || b.Longterm != nil || b.Knowledge != nil {
		t.Errorf("%+v", b)
	}
	made(t, b, nil)
}

// R112: where there is an audit log, in whatever place, what is done with the boxes is noted there.
func TestOpenAudited(t *testing.T) {
	t.Parallel()
	one, two := filepath.Join(t.TempDir(), "one.db"), filepath.Join(t.TempDir(), "two.db")
	sessions, err := sessionsqlite.Open(one, sessionsqlite.Options{})
	made(t, sessions, err)
	log, err := auditsqlite.Open(two, auditsqlite.Options{})
	made(t, log, err)
	b, err := boxes.Open(t.Context(), one, two)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	sc, err := memory.NewScope("t", "u")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Session.Count(t.Context(), sc); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Audit.List(t.Context(), audit.Filter{Tenant: "t"}); err != nil || len(got) != 1 || got[0].Verb != "Count" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "memory:", "redis://h", "sqlite:", filepath.Join(t.TempDir(), "missing.db"), "postgres://%zz"} {
		if b, err := boxes.Open(t.Context(), url); err == nil {
			t.Errorf("%q: %+v", url, b)
		}
	}
}

// made closes what was only to be made.
func made(t *testing.T, c interface{ Close() error }, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}
