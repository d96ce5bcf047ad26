package main

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/audit"
	auditsqlite "github.com/holdfast-go/holdfast/memory/audit/sqlite"
	"github.com/holdfast-go/holdfast/memory/session"
	sessionsqlite "github.com/holdfast-go/holdfast/memory/session/sqlite"
	"github.com/holdfast-go/holdfast/message"
)

// audited makes a file with a conversation and the log of how it was written and read.
func audited(t *testing.T, path string) {
	t.Helper()
	log, err := auditsqlite.Open(path, auditsqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	s, err := sessionsqlite.Open(path, sessionsqlite.Options{Session: session.Options{Auditor: log}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sc, err := memory.NewScope("shop", "lilei")
	if err != nil {
		t.Fatal(err)
	}
	ctx := memory.As(t.Context(), "support")
	said := message.Message{ID: "m1", Role: message.RoleUser, Parts: []message.Part{message.Text("我的地址是人民路一号")}}
	if _, err := s.Write(ctx, sc, "chat-7", session.Write{Messages: []message.Message{said}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Messages(ctx, sc, "chat-7", session.Page{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.State(ctx, sc, "chat-8"); err == nil {
		t.Fatal("there is a conversation")
	}
}

var (
	instant = regexp.MustCompile(`20\d\d-\d\d-\d\d([ T])\d\d:\d\d:\d\d(\.\d+)?`)
	hash    = regexp.MustCompile(`"(hash|token)":"[0-9a-f]+"`)
)

func steady(s string) string {
	return hash.ReplaceAllString(instant.ReplaceAllString(s, "2026-01-02${1}03:04:05"), `"$1":"HEX"`)
}

// R112: the examples of docs/cli.md print what the page says.
func TestAuditOfTheDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(page), "\n## Audit\n")
	if !ok {
		t.Fatal("docs/cli.md has no section Audit")
	}
	block := regexp.MustCompile("(?s)```text\n(.*?)```").FindStringSubmatch(section)
	if block == nil {
		t.Fatal("the section has no examples")
	}
	t.Chdir(t.TempDir())
	audited(t, "app.db")
	var got strings.Builder
	for line := range strings.Lines(block[1]) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ holdfast ")
		if !ok {
			continue
		}
		got.WriteString(line)
		command, file, _ := strings.Cut(command, " > ")
		out, errs, code := holdfast(t, nil, "", strings.Fields(command)...)
		if code != 0 {
			t.Errorf("%s: code %d, %s", command, code, errs)
		}
		if file == "" {
			got.WriteString(steady(out))
		} else if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got.String() != block[1] {
		t.Errorf("docs/cli.md says otherwise; it is:\n%s", got.String())
	}
}

// R112: filters, JSON, anchors, and a code of 1 for what was tampered with.
func TestAudit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, saved := filepath.Join(dir, "app.db"), filepath.Join(dir, "anchors.json")
	audited(t, path)
	run := func(args ...string) (string, string, int) {
		return holdfast(t, nil, "", append([]string{"-memory", path, "audit"}, args...)...)
	}
	out, errs, code := run("list", "-tenant", "shop", "-item", "m1", "-user", "lilei", "-box", "session", "-from", "2020-01-01", "-to", "2100-01-01T00:00:00Z", "-json")
	var e audit.Entry
	if err := json.Unmarshal([]byte(strings.Split(out, "\n")[2]), &e); code != 0 || err != nil || e.Verb != "Messages" || e.User != "lilei" {
		t.Fatalf("%d %s %v\n%s", code, errs, err, out)
	}
	if out, _, _ := run("list", "-tenant", "shop", "-limit", "2"); !strings.HasSuffix(out, "there may be more: -after 2\n") || strings.Contains(out, "人民路") {
		t.Error(out)
	}
	anchor, errs, code := run("anchor", "-tenant", "shop")
	if code != 0 {
		t.Fatal(errs)
	}
	if err := os.WriteFile(saved, []byte(anchor), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := run("verify", "-tenant", "shop", "-anchor", saved, "-json"); code != 0 || out != `{"tenant":"shop","entries":4,"anchors":1}`+"\n" {
		t.Errorf("%d %s %s", code, errs, out)
	}
	for _, args := range [][]string{
		{}, {"show"}, {"list"}, {"list", "-tenant", "shop", "more"}, {"list", "-tenant", "shop", "-from", "yesterday"},
		{"verify", "-tenant", "shop", "-anchor", path}, {"verify", "-tenant", "shop", "-anchor", filepath.Join(dir, "missing")},
	} {
		if out, _, code := run(args...); code != 2 || out != "" {
			t.Errorf("%q: code %d, %s", args, code, out)
		}
	}
	for _, args := range [][]string{{"-h"}, {"list", "-h"}} {
		if out, _, code := run(args...); code != 0 || !strings.Contains(out, "-tenant") {
			t.Errorf("%q: code %d, %s", args, code, out)
		}
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`delete from hfa_entry where n = 4; update hfa_chain set n = 3, hash = (select hash from hfa_entry where n = 3)`); err != nil {
		t.Fatal(err)
	}
	if out, _, code := run("verify", "-tenant", "shop"); code != 0 {
		t.Errorf("without the anchor: code %d, %s", code, out)
	}
	if _, errs, code := run("verify", "-tenant", "shop", "-anchor", saved); code != 1 || !strings.Contains(errs, "tampered with at entry 4") {
		t.Errorf("code %d, %s", code, errs)
	}
}

// A place without a log says so.
func TestNoAudit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "app.db")
	s, err := sessionsqlite.Open(path, sessionsqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, errs, code := holdfast(t, nil, "", "-memory", path, "audit", "verify", "-tenant", "shop"); code != 1 || !strings.Contains(errs, "no audit log") {
		t.Errorf("code %d, %s", code, errs)
	}
}
