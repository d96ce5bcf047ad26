package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/nodes"
)

func TestPrinterKeepsTheIndent(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	p := &printer{width: 20, mu: new(sync.Mutex), w: &b}
	p.line("shop | ", "  the order is on its way")
	if want := "shop |   the order\n         is on its\n         way\n"; b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// Whatever the pieces in which a text arrives, it is printed as one text, within the width.
func TestFlowBreaksLinesWhateverThePieces(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"the order is on its way":          "a: the order is on\n   its way\n",
		"one\ntwo three":                   "a: one\n   two three\n",
		"订单已经送达，退款在路上。":                    "a: 订单已经送达，退\n   款在路上。\n",
		"order 1005（落地灯）is on its way now": "a: order 1005（落地\n   灯）is on its way\n   now\n",
		"antidisestablishmentarianism it":  "a: \n   antidisestablishmentarianism\n   it\n",
	} {
		for size := 1; size < len(text); size++ {
			var b bytes.Buffer
			f := flow{p: &printer{width: 20, mu: new(sync.Mutex), w: &b}, tag: "a: "}
			for part := range slices.Chunk([]rune(text), size) {
				f.write(string(part))
			}
			f.end()
			if b.String() != want {
				t.Errorf("%q in pieces of %d is\n%s\nwant\n%s", text, size, b.String(), want)
				break
			}
		}
	}
}

func TestDecisionsAreRead(t *testing.T) {
	t.Parallel()
	a := nodes.Approval{Args: []byte(`{"order":"1005","amount":"480"}`)}
	for line, want := range map[string]string{
		"y":                      `{"action":"approve"}`,
		"是。":                     `{"action":"approve"}`,
		"n":                      `{"action":"reject"}`,
		"n it was used for long": `{"action":"reject","text":"it was used for long"}`,
		"否 用了太久":                 `{"action":"reject","text":"用了太久"}`,
		"100":                    `{"action":"edit","args":{"amount":"100.00","order":"1005"}}`,
		"35.5元":                  `{"action":"edit","args":{"amount":"35.50","order":"1005"}}`,
		"yes but":                "",
		"maybe":                  "",
		"0":                      "",
		"-5":                     "",
	} {
		got := ""
		if d, ok := readDecision(line, a); ok {
			doc, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			got = string(doc)
		}
		if got != want {
			t.Errorf("%q is %s; want %s", line, got, want)
		}
	}
}

func TestReaderReportsWhatItCannotRead(t *testing.T) {
	t.Parallel()
	in := strings.NewReader("one\r\n" + strings.Repeat("x", 100_000) + "\n\xff\xfe\n  two  \n\nthree")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := newReader(ctx, in)
	for _, want := range []string{"one", "!too long", "!not UTF-8", "two", "", "three"} {
		got, err := r.next(ctx)
		if m, ok := errors.AsType[*mistake](err); ok {
			got, err = "!"+m.en, nil
		}
		if err != nil || got != want && !(want != "" && want[0] == '!' && strings.Contains(got, want[1:])) {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
	if _, err := r.next(ctx); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func TestReaderCanBeLeft(t *testing.T) {
	t.Parallel()
	in, out := io.Pipe()
	ctx, cancel := context.WithCancelCause(t.Context())
	r := newReader(ctx, in)
	want := errors.New("leaving")
	cancel(want)
	if _, err := r.next(ctx); err != want {
		t.Errorf("got %v", err)
	}
	out.Close() // ends the reader's goroutine
	for range r.lines {
	}
}

func TestStateFolder(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		goos string
		env  map[string]string
		want string
	}{
		{"linux", map[string]string{"HOME": "/home/lin"}, "/home/lin/.local/state"},
		{"linux", map[string]string{"HOME": "/home/lin", "XDG_STATE_HOME": "/state"}, "/state"},
		{"linux", map[string]string{"HOME": "/home/lin", "XDG_STATE_HOME": "relative"}, "/home/lin/.local/state"},
		{"linux", nil, "!$HOME"},
		{"darwin", map[string]string{"HOME": "/Users/lin"}, "/Users/lin/Library/Application Support"},
		{"windows", map[string]string{"LocalAppData": `C:\Users\lin\AppData\Local`}, `C:\Users\lin\AppData\Local`},
		{"windows", nil, "!LocalAppData"},
	} {
		got, err := stateFolder(tc.goos, func(k string) string { return tc.env[k] })
		if want, fails := strings.CutPrefix(tc.want, "!"); fails {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %v: %q, %v", tc.goos, tc.env, got, err)
			}
		} else if err != nil || filepath.ToSlash(got) != filepath.ToSlash(tc.want) {
			t.Errorf("%s %v: %q, %v; want %q", tc.goos, tc.env, got, err, tc.want)
		}
	}
}

func TestTheDatabaseFolderIsPrivate(t *testing.T) {
	if os.PathSeparator != '/' {
		t.Skip("modes are a matter of Unix")
	}
	dir := filepath.Join(t.TempDir(), "state")
	t.Setenv("XDG_STATE_HOME", dir)
	t.Setenv("HOME", dir)
	file, err := databaseFile("")
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Dir(file))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if got, err := beside(file, "orders"); err != nil || filepath.Base(got) != "aftersales-orders.db" || filepath.Dir(got) != filepath.Dir(file) {
		t.Errorf("the shop is in %s, %v", got, err)
	}
}

func TestYes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"y": "yes", "YES": "yes", "是": "yes", "是。": "yes", "n": "no", "No": "no", "否": "no",
		"拒绝": "no", "": "?", "maybe": "?", "yn": "?", "1": "?"} {
		got := "?"
		if answer, ok := yes(in); ok {
			got = map[bool]string{true: "yes", false: "no"}[answer]
		}
		if got != want {
			t.Errorf("%q is %s; want %s", in, got, want)
		}
	}
}
