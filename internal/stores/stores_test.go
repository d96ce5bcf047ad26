package stores_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/stores"
	"github.com/holdfast-go/holdfast/internal/testserver"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(testserver.Main{M: m}) }

func TestOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		url  func(t *testing.T) string
		want string // durability
	}{
		{"memory", func(*testing.T) string { return "memory:" }, ""},
		{"path", func(*testing.T) string { return filepath.Join(dir, "a.db") }, "SQLite FULL"},
		{"sqlite", func(*testing.T) string {
			return "sqlite:" + filepath.Join(dir, "b.db") + "?synchronous=normal&readers=1"
		}, "SQLite NORMAL"},
		{"postgres", func(t *testing.T) string {
			return testserver.Postgres(t).URL() + "&schema=stores_test&synchronous_commit=off&pool_max_conns=1"
		}, "Postgres synchronous_commit=off"},
		{"redis", func(t *testing.T) string { return testserver.SharedRedis(t).URL() + "?prefix=stores&ttl=720h" }, "Redis"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := stores.Open(t.Context(), c.url(t))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if got := s.Info().Durability; !strings.HasPrefix(got, c.want) {
				t.Errorf("durability %q; want %q", got, c.want)
			}
			if _, err := s.Threads(t.Context(), checkpoint.ThreadFilter{}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"", "mysql://host/db", "sqlite:x.db?synchronous=perhaps", "sqlite:x.db?colour=red", "postgres://h/d?synchronous_commit=maybe",
		"postgres://u:secret@h/%zz", "redis://u:secret@h:x/0", "redis://u:secret@h/0?ttl=soon",
	} {
		s, err := stores.Open(t.Context(), url)
		if err == nil {
			s.Close()
			t.Errorf("%q was opened", url)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error has the password: %v", url, err)
		}
	}
}
