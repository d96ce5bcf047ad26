package main

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/textwidth"
)

// A ran is what a process has left.
type ran struct {
	code   int
	stdout string
	stderr string
}

// execute runs the real binary with an input, and with an environment that says nothing.
func execute(t *testing.T, env []string, input string, args ...string) ran {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(), args...)
	cmd.Env = append(append(bareEnv(), home(t, args)...), env...)
	cmd.Stdin = strings.NewReader(input)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	return ran{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// home gives a program whose threads are on a server a place for the shop's file: the same one for all starts of a test.
func home(t *testing.T, args []string) []string {
	if !strings.Contains(strings.Join(args, " "), "://") {
		return nil
	}
	return []string{"XDG_STATE_HOME=" + filepath.Join(folder, t.Name())}
}

// bareEnv is the environment without what chooses a language or a folder.
func bareEnv() (env []string) {
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		switch strings.ToUpper(name) {
		case "LC_ALL", "LC_MESSAGES", "LANG", "HOME", "XDG_STATE_HOME", "LOCALAPPDATA":
		default:
			env = append(env, e)
		}
	}
	return env
}

// wantLines checks that the texts come in this order, and that nothing is wider than a terminal.
func (r ran) wantLines(t *testing.T, texts ...string) {
	t.Helper()
	rest := r.stdout
	for _, text := range texts {
		_, after, ok := strings.Cut(rest, text)
		if !ok {
			t.Fatalf("%q is missing, or not in its place, in:\n%s%s", text, r.stdout, r.stderr)
		}
		rest = after
	}
	for _, l := range strings.Split(r.stdout+r.stderr, "\n") {
		if textwidth.Of(l) > 80 {
			t.Errorf("%d columns: %s", textwidth.Of(l), l)
		}
	}
	if strings.Contains(r.stdout, "\x1b") {
		t.Error("there are escape sequences in a pipe")
	}
}

// E23, E38, E61: the worker is killed between the payment and its record; another one finishes; the money has
// moved once.
func TestDemo(t *testing.T) {
	t.Parallel()
	for lang, texts := range map[string][]string{
		"en": {"500", "attempt 2", "Not allowed", "kill -9", "R-2  order 1005  ¥210.00", "exactly once"},
		"zh": {"500", "第 2 次尝试", "不允许", "kill -9", "R-2  订单 1005  ¥210.00", "钱只退了一次"},
	} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			args := []string{"-demo", "-lang", lang}
			if db := place(t, ""); isURL(db) {
				args = append(args, "-db", db)
			}
			r := execute(t, []string{"TMPDIR=" + dir, "TMP=" + dir}, "", args...)
			if r.code != 0 {
				t.Fatalf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
			}
			r.wantLines(t, texts...)
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("it has left %v, %v", left, err)
			}
		})
	}
}

func TestTalkInEnglish(t *testing.T) {
	t.Parallel()
	db := place(t, "a.db")
	r := execute(t, nil, "hello\n1005 35.555\nlatest 1280\n\n1001\n1005 35 one bulb flickers\nlatest\nmaybe\ny\nledger\nquit\n", "-db", db)
	if r.code != 0 {
		t.Fatalf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	r.wantLines(t, "Which order?", "is not an amount", "latest or 1280", "Nothing was typed", "delivered 45 days ago",
		"order 1005, ¥35.00", "-> pay", "Refunded: ¥35.00", "latest order", "Approve?", "neither yes nor no", "Approve?",
		"Refunded: ¥445.00", "R-3", "Goodbye")
}

func TestTalkInChinese(t *testing.T) {
	t.Parallel()
	db := place(t, "售后.db")
	r := execute(t, []string{"LANG=zh_CN.UTF-8"}, "你好\n1005 0元\n9999\n1004\n捣乱\n退最近一单，太亮了\n也许\n否\n下单\n最近一单\n是\n退出\n", "-db", db)
	if r.code != 0 {
		t.Fatalf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	r.wantLines(t, "要退哪个订单", "不是金额", "没有这个订单", "这不是您的订单", "第 1 次尝试", "批准吗", "不是“是”也不是“否”",
		"没有退款：审批的同事没有批准", "订单 1006", "已退款：¥480.00", "再见")
}

// E30, E43: the input ends while a question is open; the next start asks it again.
func TestTalkGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	db := place(t, "a.db")
	r := execute(t, nil, "latest\n", "-db", db)
	if r.code != exitFailed {
		t.Fatalf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	r.wantLines(t, "Approve?", "stays open")
	r = execute(t, nil, "yes\n", "-db", db)
	if r.code != 0 {
		t.Fatalf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	r.wantLines(t, "is unfinished", "Done so far: find, policy, assess, decide.", "Approve?", "-> pay", "Refunded: ¥480.00", "Goodbye")
	r = execute(t, nil, "ledger\n", "-db", db)
	if strings.Contains(r.stdout, "unfinished") || strings.Count(r.stdout, "order 1005  ¥480.00") != 1 {
		t.Errorf("at the third start:\n%s", r.stdout)
	}
}

// E26: Ctrl-C in the middle, then a new start.
func TestTalkGoesOnAfterCtrlC(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be sent Ctrl-C here")
	}
	db := place(t, "a.db")
	args := []string{"-db", db, "-pace", "2s", "-timeout", "1m"}
	cmd := exec.CommandContext(t.Context(), program(), args...)
	cmd.Env = append(bareEnv(), home(t, args)...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := stdin.Write([]byte("1002\n")); err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(stdout); s.Scan(); {
		if strings.Contains(s.Text(), "-> find") {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitSignal || !strings.Contains(errs.String(), "start again") {
		t.Fatalf("exit code %d\n%s", code, errs.String())
	}
	r := execute(t, nil, "", "-db", db)
	r.wantLines(t, "is unfinished", "-> find", "Refunded: ¥68.00", "Goodbye")
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		env  string
		args string
		code int
		want string
	}{
		{"LANG=zh_CN.UTF-8", "-help", 0, "自动演示"},
		{"LANG=C", "-help", 0, "unattended"},
		{"LC_ALL=zh_TW", "-help -lang en", 0, "unattended"},
		{"LANG=en", "-lang fr", 2, "-lang takes en or zh"},
		{"LANG=zh", "-graph png", 2, "-graph 只能是"},
		{"LANG=en", "-demo -db x", 2, "leave -db out"},
		{"LANG=zh", "-db mysql://x", 2, "不能是 mysql://"},
		{"LANG=en", "-demo -db mysql://x", 2, "not mysql://"},
		{"LANG=en", "-nonsense", 2, "-nonsense"},
		{"LANG=zh", "latest", 2, `没有 "latest" 这个参数`},
		{"LANG=en", "", 1, "name a file with -db"}, // no HOME, no %LocalAppData%
		{"LANG=zh", "", 1, "请用 -db 指定文件"},
		{"LANG=en", "-graph dot", 0, "digraph"},
		{"LANG=en", "-graph mermaid", 0, "flowchart"},
	} {
		r := execute(t, []string{tc.env}, "", strings.Fields(tc.args)...)
		if flat := strings.Join(strings.Fields(r.stdout+r.stderr), " "); r.code != tc.code || !strings.Contains(flat, tc.want) {
			t.Errorf("%s aftersales %s: exit code %d, want %d and %q:\n%s%s", tc.env, tc.args, r.code, tc.code, tc.want, r.stdout, r.stderr)
		}
	}
}
