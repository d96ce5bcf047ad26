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

// E23, E38, E61: the worker is killed between the payment and its record; another one finishes; the money has moved once, and
// three days later a conversation that knows nothing of the first one is told so. // R31, R62
func TestDemo(t *testing.T) {
	t.Parallel()
	for lang, texts := range map[string][]string{
		"en": {"500", "attempt 2", "Order 1005", "attempt 1", "Approval", "Not allowed", "kill -9", "Done: refund R-2", "Yes: refund R-2",
			"R-2  order 1005  ¥210.00", "exactly once"},
		"zh": {"500", "第 2 次尝试", "订单 1005", "第 1 次尝试", "审批", "不允许", "kill -9", "办好了：退款 R-2", "到了：退款 R-2",
			"R-2  订单 1005  ¥210.00", "钱只退了一次"},
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

func lines(all ...string) string { return strings.Join(all, "\n") + "\n" }

func TestTalkInEnglish(t *testing.T) {
	t.Parallel()
	db := place(t, "a.db")
	r := execute(t, nil, lines("hello", "", "Where is my latest order?", "refund it", "maybe", "n it was used", "Refund order 1002", "buy",
		"orders", "days 3", "new", "Did that refund arrive?", "Don't refund anything without asking me.", "refund order 1005", "later",
		"never mind", "approve", "ledger", "quit"), "-db", db)
	if r.code != 0 {
		t.Fatalf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	r.wantLines(t, "You are Lin Xiao", "I can say where your orders are", "Nothing was typed", "-> latest_order", "agent: Order 1005",
		"Approval: refund_order", "above the limit", "You are now Zhao Lei", `"maybe" cannot be read`, "You are now Zhao Lei", "1005: that did not",
		"it was used", "-> refund_order", "Done: refund R-2 of ¥68.00", "Order 1006", "  1006", "At the shop it is", "A new conversation",
		"-> refund_status", "Yes: refund R-2",
		"agent: Understood", "Understood, and kept: Not without the user's word: refund", "Approval", "It waits", "All right, I leave it",
		"Nothing waits", "R-2", "Goodbye")
}

func TestTalkInChinese(t *testing.T) {
	t.Parallel()
	db := place(t, "售后.db")
	r := execute(t, []string{"LANG=zh_CN.UTF-8"}, lines("你好", "订单 9999 到哪了？", "退掉订单 1004", "捣乱", "我最近的订单到哪了？",
		"退了吧，因为太亮了", "也许", "100", "过3天", "新对话", "那笔退款到账了吗？", "账本", "退出"), "-db", db)
	if r.code != 0 {
		t.Fatalf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	r.wantLines(t, "您是林晓", "我可以查您的订单", "9999：没有办成", "1004：没有办成", "第 1 次尝试", "客服：订单 1005", "审批", "您现在是赵磊", "看不出是什么决定",
		"!! refund_order", "办好了：退款 R-2，¥100.00", "店铺现在是", "新对话", "到了：退款 R-2", "R-2", "再见")
}

// R83, R28: what the customer likes holds in a new conversation, and another process; it is listed and forgotten by saying so, after a
// question that shows it. Another customer sees nothing of it.
func TestTalkRemembers(t *testing.T) {
	t.Parallel()
	for lang, c := range map[string]struct{ first, later, other, heard []string }{
		"en": {
			[]string{"I like tables", "Refund order 1002"},
			[]string{"new", "List all my refunds", "What do you know about me?", "Forget that I like tables", "y", "List all my refunds", "How long do I have to return something?", "Do you offer gift wrapping?"},
			[]string{"What do you know about me?", "Did that refund arrive?"},
			[]string{"| refund | order |", "- I like tables", "Approval: forget", "Forget for good?", `"I like tables"`, "You are now Lin Xiao", "It is forgotten",
				"Not yet: refund R-2", "30 days from the delivery", "The handbook does not say"},
		},
		"zh": {
			[]string{"我喜欢用表格", "退掉订单 1002"},
			[]string{"新对话", "列出我的所有退款", "你还记得我什么", "忘掉我喜欢用表格这件事", "是", "列出我的所有退款", "退货期限是多久", "你们提供礼品包装吗"},
			[]string{"你还记得我什么", "那笔退款到账了吗"},
			[]string{"| 退款 | 订单 |", "用表格", "审批：forget", "永久忘记？", "用表格", "您现在是林晓", "已经忘记了", "还没有：退款 R-2", "30 天内可以退货", "手册里没有说明"},
		},
	} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			db := place(t, "a.db")
			r := execute(t, nil, lines(c.first...), "-db", db, "-lang", lang)
			r.wantLines(t, "R-2")
			r = execute(t, nil, lines(c.later...), "-db", db, "-lang", lang)
			r.wantLines(t, c.heard...)
			r = execute(t, nil, lines(c.other...), "-db", db, "-lang", lang, "-user", "chen")
			for _, never := range []string{"R-2", "tables", "表格", "1002"} {
				if strings.Contains(r.stdout, never) {
					t.Errorf("another customer reads %q:\n%s", never, r.stdout)
				}
			}
		})
	}
}

// E30, E43: the input ends while a question is open; the next start asks it again.
func TestTalkGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	db := place(t, "a.db")
	r := execute(t, nil, "Refund my latest order\n", "-db", db)
	if r.code != exitFailed {
		t.Fatalf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	r.wantLines(t, "Shall it run?", "stays open")
	r = execute(t, nil, "yes\n", "-db", db)
	if r.code != 0 {
		t.Fatalf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	r.wantLines(t, "is unfinished", "Shall it run?", "-> refund_order", "Done: refund R-2 of ¥480.00", "Goodbye")
	r = execute(t, nil, "did the refund arrive?\nledger\n", "-db", db)
	if strings.Contains(r.stdout, "unfinished") || strings.Count(r.stdout, "order 1005  ¥480.00") != 1 {
		t.Errorf("at the third start:\n%s", r.stdout)
	}
	r.wantLines(t, "-> refund_status", "Not yet: refund R-2") // in the conversation that was the last one
}

// A conversation belongs to its customer: nobody else can go on with it, or see that it is there. // R28
func TestTalkOfSomebodyElse(t *testing.T) {
	t.Parallel()
	db := place(t, "a.db")
	r := execute(t, nil, "Where is my latest order?\n", "-db", db, "-conversation", "mine")
	r.wantLines(t, "Order 1005", "Goodbye")
	r = execute(t, nil, "Refund it\n", "-db", db, "-conversation", "mine", "-user", "chen")
	if r.code != exitFailed || !strings.Contains(r.stderr, "is not yours") || strings.Contains(r.stdout, "1005") {
		t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	r = execute(t, nil, "Refund it\n", "-db", db, "-user", "chen")
	r.wantLines(t, "You are Chen Yu", "Which order do you mean?")
	r = execute(t, nil, "Refund it\n", "-db", db, "-user", "lin", "-conversation", "mine")
	r.wantLines(t, "Approval: refund_order", `"1005"`)
}

// E26: Ctrl-C in the middle of an answer, then a new start.
func TestTalkGoesOnAfterCtrlC(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be sent Ctrl-C here")
	}
	db := place(t, "a.db")
	args := []string{"-db", db, "-pace", "1s"}
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
	if _, err := stdin.Write([]byte("Refund order 1002\n")); err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(stdout); s.Scan(); {
		if strings.Contains(s.Text(), "ok refund_order") {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitSignal || !strings.Contains(errs.String(), "start again") {
		t.Fatalf("exit code %d\n%s", code, errs.String())
	}
	r := execute(t, nil, "ledger\n", "-db", db)
	r.wantLines(t, "is unfinished", "Done: refund R-2 of ¥68.00", "R-2", "Goodbye")
	if strings.Contains(r.stdout, "-> refund_order") || strings.Count(r.stdout, "order 1002  ¥68.00") != 1 {
		t.Errorf("after the restart:\n%s", r.stdout)
	}
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
		{"LANG=en", "-user=", 2, "-user takes a name"},
		{"LANG=en", "-conversation " + strings.Repeat("x", 257), 2, "-conversation takes at most 256 bytes"},
		{"LANG=zh", "-conversation a\x01b", 2, "最多 256 字节"},
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
