package knowledge_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/internal/tokens"
	"github.com/holdfast-go/holdfast/memory/knowledge"
)

// chunksOf are the chunks that a text is cut into, in order.
func chunksOf(t *testing.T, text string, o knowledge.Options) (out []knowledge.Chunk) {
	t.Helper()
	for _, p := range knowledge.Parts(knowledge.Document{ID: "d@1", Version: "2#", Title: "Handbook", Text: text, Roles: []string{"r"}}, o) {
		out = append(out, knowledge.Chunk{ID: p.ID, Title: p.Title, Text: p.Text})
	}
	return out
}

func told(cs []knowledge.Chunk) string {
	var b strings.Builder
	for _, c := range cs {
		fmt.Fprintf(&b, "[%s]\n%s\n\n", c.Title, c.Text)
	}
	return strings.TrimSpace(b.String())
}

// R106: text under one heading stays together, with the headings above it; lists, tables and code are kept whole.
func TestChunksOfMarkdown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, want string
		limit      int
	}{
		"headings": {"Intro.\n\n# A\n\nOne.\nTwo.\n\n## B #\nThree.\n\n### C\n\nFour.\n\n## D\n\nFive.\n\n# E\n", `[Handbook]
Intro.

[Handbook > A]
One.
Two.

[Handbook > A > B]
Three.

[Handbook > A > B > C]
Four.

[Handbook > A > D]
Five.

[Handbook > E]
E`, 0},
		"the title is told once":    {"# Handbook\n\nText.\n\n## A\n\nMore.", "[Handbook]\nText.\n\n[Handbook > A]\nMore.", 0},
		"underlined, CRLF":          {"A\r\n===\r\nOne.\r\n\r\nB\r\n---\r\nTwo.\r\n", "[Handbook > A]\nOne.\n\n[Handbook > A > B]\nTwo.", 0},
		"Chinese chapters":          {"第一章 总则\n本制度适用于全体员工。\n第二章　休假\n第一节 年假\n年假为10天。\n第三条 按第一章执行，特殊情况除外。", "[Handbook > 第一章 总则]\n本制度适用于全体员工。\n\n[Handbook > 第二章　休假 > 第一节 年假]\n年假为10天。\n第三条 按第一章执行，特殊情况除外。", 0},
		"no heading in code":        {"```sh\n# not a heading\n- no list | no table\n\nmake\n```\nAfter.", "[Handbook]\n```sh\n# not a heading\n- no list | no table\n\nmake\n```\n\nAfter.", 0},
		"properties before a text":  {"---\ntitle: x\ntags: a\n---\n\nText.", "[Handbook]\n---\ntitle: x\ntags: a\n---\n\nText.", 0},
		"marks alone":               {"#  \n", "[Handbook]\n#", 0},
		"a list with what is below": {"Bring:\n\n- a pen\n  and ink\n\n  or a pencil\n- paper\n\nThank you.", "[Handbook]\nBring:\n\n- a pen\n  and ink\n\n  or a pencil\n- paper\n\nThank you.", 0},
		"a table is cut at rows, with its head": {"| City | Limit |\n|---|---|\n| Paris | 100 euros a night |\n| Rome | 90 euros a night |\n| Oslo | 120 euros a night |", `[Handbook]
| City | Limit |
|---|---|
| Paris | 100 euros a night |

[Handbook]
| City | Limit |
|---|---|
| Rome | 90 euros a night |

[Handbook]
| City | Limit |
|---|---|
| Oslo | 120 euros a night |`, 26},
		"a list is cut at items": {"1. The first thing to do here.\n2. The second thing to do.\n   With a remark below it.\n3. The third thing to do.", `[Handbook]
1. The first thing to do here.

[Handbook]
2. The second thing to do.
   With a remark below it.

[Handbook]
3. The third thing to do.`, 17},
		"a paragraph is cut at sentences": {"Version 3.5 came first. Then came another. 然后是第三个版本！“最后？”他问。", `[Handbook]
Version 3.5 came first.

[Handbook]
Then came another.

[Handbook]
然后是第三个版本！

[Handbook]
“最后？”他问。`, 10},
		"code is cut at lines": {"~~~\nfirst line of code\nsecond line of code\n~~~", "[Handbook]\n~~~\nfirst line of code\n~~~\n\n[Handbook]\n~~~\nsecond line of code\n~~~", 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := told(chunksOf(t, c.text, knowledge.Options{ChunkTokens: c.limit})); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	if got := chunksOf(t, "A.\n\n# B\nC.", knowledge.Options{}); got[0].ID != "d%401@2%23#1" || got[1].ID != "d%401@2%23#2" {
		t.Errorf("%+v", got)
	}
}

// R106, T33: whatever is cut, nothing is lost or torn, the order stays, and no chunk is much longer than it may be.
func TestChunksLoseNothing(t *testing.T) {
	t.Parallel()
	atoms := []string{"# ", "## ", "第一章 ", "\n", "\n\n", "- ", "1. ", "| a | b |\n", "|---|---|\n", "```\n", "word ", "longer-word-with-marks ", "。", "句子很长很长", "3.5 ", "A sentence. ",
		"é", "🙂", "\t", "---\n", "===\n", "> ", "“引用。”", "    indented\n", "x", "，", "第三条 ", strings.Repeat("无标点的长句", 30), strings.Repeat("x", 400)}
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		var b strings.Builder
		for range 1 + r.IntN(60) {
			b.WriteString(atoms[r.IntN(len(atoms))])
		}
		limit := 10 + r.IntN(60)
		cs := chunksOf(t, b.String(), knowledge.Options{ChunkTokens: limit})
		var all strings.Builder
		for _, c := range cs {
			if !utf8.ValidString(c.Text) {
				t.Fatalf("seed %d: a torn character in %q", seed, c.Text)
			}
			if n := tokens.Estimate(c.Text); n > 2*limit+20 {
				t.Fatalf("seed %d: a chunk of %d tokens, limit %d: %q", seed, n, limit, c.Text)
			}
			all.WriteString(c.Title + "\n" + c.Text + "\n")
		}
		if missing := lost(b.String(), all.String()); missing != "" {
			t.Fatalf("seed %d: %q is lost of\n%s\nin\n%s", seed, missing, b.String(), all.String())
		}
	}
}

// lost returns the first letter of a text that is not in another behind those before it.
func lost(text, in string) string {
	rest := []rune(in)
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			continue
		}
		at := 0
		for at < len(rest) && rest[at] != r {
			at++
		}
		if at == len(rest) {
			return string(r)
		}
		rest = rest[at+1:]
	}
	return ""
}
