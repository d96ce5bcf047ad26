package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/secure"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/stores"
	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/holdfast-go/holdfast/state"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(testserver.Main{M: m}) }

type order struct {
	Amount state.Last[int]    `json:"amount"`
	Log    state.List[string] `json:"log"`
}

// program is the program whose threads these tests look at without it.
func program(t *testing.T, s checkpoint.Store) *graph.App[order] {
	t.Helper()
	g := graph.New[order]("order")
	g.Node("quote", func(_ context.Context, s *order) error {
		s.Log.Append(fmt.Sprint("quote ", s.Amount.Get()))
		return nil
	})
	g.Node("pay", func(ctx context.Context, s *order) error {
		ok, err := graph.Ask[bool](ctx, "approve", fmt.Sprintf("pay %d?", s.Amount.Get()))
		if err == nil {
			s.Log.Append(fmt.Sprint("paid ", s.Amount.Get(), " ", ok))
		}
		return err
	})
	g.Edge(graph.Start, "quote")
	g.Edge("quote", "pay")
	app, err := g.Compile(graph.Options{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { app.Close(context.Background()) })
	return app
}

// holdfast runs a command line in this process.
func holdfast(t *testing.T, env map[string]string, stdin string, args ...string) (out, errs string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), append([]string{"holdfast"}, args...), func(k string) string { return env[k] }, strings.NewReader(stdin), &o, &e)
	return o.String(), e.String(), code
}

// On every store, by its URL and without the program: a thread that waits is found and answered, and the program resumes it to its
// end; an old entry is edited on a fork, and the program resumes that to the right state; and the house is kept. // E58 E40 E41
func TestEveryStore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		url  func(t *testing.T) string
	}{
		{"sqlite", func(t *testing.T) string {
			return "sqlite:" + filepath.Join(t.TempDir(), "threads.db") + "?synchronous=normal"
		}},
		{"postgres", func(t *testing.T) string {
			return testserver.Postgres(t).URL() + "&schema=holdfast_cli&pool_max_conns=2"
		}},
		{"redis", func(t *testing.T) string { return testserver.SharedRedis(t).URL() + "?prefix=cli" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url := c.url(t)
			s, err := stores.Open(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			app := program(t, s)
			must := func(args ...string) string {
				t.Helper()
				out, errs, code := holdfast(t, nil, "", append([]string{"-store", url}, args...)...)
				if code != 0 || errs != "" {
					t.Fatalf("%q: code %d, %s", args, code, errs)
				}
				return out
			}
			th := graph.ID("order-1")
			if _, err := app.Run(t.Context(), th, func(o *order) { o.Amount.Set(100) }); err == nil {
				t.Fatal("it does not wait")
			}
			var q struct{ ID, Hash string }
			if err := json.Unmarshal([]byte(must("questions", "-json")), &q); err != nil {
				t.Fatal(err)
			}
			must("answer", "order-1", q.ID, "-by", "ann", "-value", "true", "-hash", q.Hash)
			done, err := app.Recover(t.Context())
			if err != nil || len(done) != 1 || done[0].Err != nil {
				t.Fatalf("%+v, %v", done, err)
			}
			must("edit", "order-1", "0", "-as", "quote", "-set", `{"amount":7}`, "-next", "pay", "-name", "cheap", "-by", "bob")
			if _, err := app.Resume(t.Context(), th); err == nil {
				t.Fatal("the fork does not ask")
			}
			if err := json.Unmarshal([]byte(must("questions", "order-1", "-json")), &q); err != nil {
				t.Fatal(err)
			}
			must("answer", "order-1", "-by", "bob", "-value", "false", "-hash", q.Hash)
			out, err := app.Resume(t.Context(), th)
			if err != nil || fmt.Sprint(out.Log.Slice()) != "[paid 7 false]" {
				t.Fatalf("%v %q", err, out.Log.Slice())
			}
			for _, line := range []string{
				"threads", "runs", "show order-1", "history order-1 -diff", "diff order-1 0", "activate order-1 main", "diff order-1 0 1", "verify order-1",
				"export order-1", "fork order-1 1", "cancel order-1 -by ann", "retain order-1 -keep 1", "verify -all", "threads -status cancelled",
			} {
				if must(strings.Fields(line)...) == "" {
					t.Errorf("%s prints nothing", line)
				}
			}
			st, err := app.State(t.Context(), graph.Thread{Tenant: th.Tenant, ID: th.ID, Branch: graph.Main})
			if err != nil || fmt.Sprint(st.State.Log.Slice()) != "[quote 100 paid 100 true]" {
				t.Errorf("main: %v", err)
			}
			must("delete", "order-1", "-yes")
			if got := must("threads"); got != "none\n" {
				t.Error(got)
			}
		})
	}
}

// Keys come from files or from the environment; without them a sealed store is refused in clear text, and no error shows a key. // E58 C12
func TestKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "threads.db")
	key := func(id string) secure.Key {
		return secure.Key{ID: id, Bytes: bytes.Repeat([]byte(id[:1]), secure.KeyBytes)}
	}
	text := func(k secure.Key) string { return k.ID + ":" + base64.StdEncoding.EncodeToString(k.Bytes) }
	inner, err := stores.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	s, err := seal(inner, &secure.Keyring{Current: key("sign")}, &secure.Keyring{Current: key("old")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := program(t, s).Run(t.Context(), graph.ID("a"), nil); err == nil {
		t.Fatal("it does not wait")
	}
	file := filepath.Join(dir, "keys")
	if err := os.WriteFile(file, []byte("# keys\n"+text(key("new"))+"\n"+text(key("old"))+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		env  map[string]string
		args []string
		code int
		want string
	}{
		{"file and environment", map[string]string{"HOLDFAST_SIGN_KEYS": text(key("sign"))}, []string{"-encrypt-keys", file}, 0, "signatures are right"},
		{"environment", map[string]string{"HOLDFAST_SIGN_KEYS": text(key("sign")), "HOLDFAST_ENCRYPT_KEYS": text(key("new")) + "," + text(key("old"))}, nil, 0, "right"},
		{"no keys", nil, nil, 1, "body version"},
		{"a wrong key", map[string]string{"HOLDFAST_SIGN_KEYS": text(key("sign")), "HOLDFAST_ENCRYPT_KEYS": text(key("new"))}, nil, 1, "not in the keyring"},
		{"not a key", map[string]string{"HOLDFAST_SIGN_KEYS": "sign:c2VjcmV0"}, nil, 1, "HOLDFAST_SIGN_KEYS: key 1 is not id:key"},
		{"nothing but comments", map[string]string{"HOLDFAST_SIGN_KEYS": "#"}, nil, 1, "there are no keys"},
		{"no file", nil, []string{"-sign-keys", file + "x"}, 1, "no such file"},
		{"a key twice", map[string]string{"HOLDFAST_SIGN_KEYS": text(key("sign")) + "," + text(key("sign"))}, nil, 1, "there twice"},
	} {
		c.args = append(append([]string{"-store", path}, c.args...), "verify", "a")
		out, errs, code := holdfast(t, c.env, "", c.args...)
		if code != c.code || !strings.Contains(out+errs, c.want) || strings.Contains(errs, "c2VjcmV0") {
			t.Errorf("%s: code %d, %s%s", c.name, code, out, errs)
		}
	}
}

// A store of a newer release, a record of a newer format, and a store that is not there are refused in clear text; nothing is made or
// changed. // E58 C15
func TestRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "threads.db")
	s, err := stores.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	app := program(t, s)
	if _, err := app.Run(t.Context(), graph.ID("a"), nil); err == nil {
		t.Fatal("it does not wait")
	}
	app.Close(t.Context())
	s.Close()
	missing := filepath.Join(dir, "missing.db")
	for _, c := range []struct {
		name, exec string
		args       []string
		code       int
		want       string
	}{
		{"no store", "", []string{"threads"}, 2, "HOLDFAST_STORE"},
		{"no file", "", []string{"-store", missing, "threads"}, 1, "no such file"},
		{"no file by URL", "", []string{"-store", "sqlite:" + missing, "threads"}, 1, "no such file"},
		{"memory", "", []string{"-store", "memory:", "threads"}, 1, "in memory"},
		{"another database", "", []string{"-store", "mysql://h/d", "threads"}, 1, "no URL of a store"},
		{"nobody answers", "", []string{"-store", "redis://127.0.0.1:1/0", "threads"}, 1, "unavailable"},
		{"flag", "", []string{"-colour", "threads"}, 2, "not defined"},
		{"no command", "", []string{"-store", path}, 2, "say what to do"},
		{"run", "", []string{"-store", path, "run", "a"}, 1, "needs the program"},
		{"newer record", "update hf_record set body = cast(x'02' || substr(body, 2) as blob)", []string{"-store", path, "show", "a"}, 1, "version 2"},
		{"newer store", "pragma user_version = 9999", []string{"-store", path, "threads"}, 1, "newer release"},
	} {
		if c.exec != "" {
			change(t, path, c.exec)
		}
		out, errs, code := holdfast(t, nil, "", c.args...)
		if code != c.code || !strings.Contains(errs, c.want) || out != "" {
			t.Errorf("%s: code %d, %q, %q", c.name, code, errs, out)
		}
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("looking at a store has made it")
	}
}

// change changes a SQLite file behind the store's back.
func change(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// Help needs no store, even where one is named that is not there; and the binary takes its arguments and its environment. // E58
func TestBinary(t *testing.T) {
	t.Parallel()
	env := map[string]string{"HOLDFAST_STORE": "redis://127.0.0.1:1/0"}
	for _, args := range [][]string{{"help"}, {"-h"}, {"answer", "-h"}, {"help", "edit"}} {
		out, errs, code := holdfast(t, env, "", args...)
		if code != 0 || errs != "" || !strings.Contains(out, "usage: holdfast") {
			t.Errorf("%q: code %d, %q", args, code, errs)
		}
	}
	if out, _, _ := holdfast(t, nil, "", "help"); !strings.Contains(out, "HOLDFAST_SIGN_KEYS") {
		t.Error("help says nothing of the store")
	}
	bin := filepath.Join(t.TempDir(), "holdfast")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	path := filepath.Join(t.TempDir(), "threads.db")
	s, err := stores.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := program(t, s).Run(t.Context(), graph.ID("a"), nil); err == nil {
		t.Fatal("it does not wait")
	}
	cmd := exec.CommandContext(t.Context(), bin, "answer", "a", "-by", "ann")
	cmd.Env, cmd.Stdin = append(os.Environ(), "HOLDFAST_STORE="+path), strings.NewReader("true\n")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "recorded") {
		t.Errorf("%v\n%s", err, out)
	}
	cmd = exec.CommandContext(t.Context(), bin, "show", "b")
	cmd.Env = append(os.Environ(), "HOLDFAST_STORE="+path)
	if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "no such thread") {
		t.Errorf("%v\n%s", err, out)
	}
}
