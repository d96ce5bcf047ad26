package working

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
)

// Recalled text was written by anybody: by the user, by a web page that a tool has read, by a model. In a prompt it is
// data, and three things keep it so. Each line of it begins with "> ", so that no line of it can pose as a line of the
// prompt. What models or their templates take for the marks of a role is broken up, visibly. And the fence around a block
// has a hash of what is inside, so that nothing inside can close it.

// quote returns text as quoted lines without marks of roles.
func quote(text string) string {
	return "> " + strings.ReplaceAll(defuse(text), "\n", "\n> ")
}

// fence encloses a block in tags that its text cannot contain. The first line is made from the closing one.
func fence(intro func(closing string) string, body string) string {
	sum := sha256.Sum256([]byte(body))
	tag := "data-" + hex.EncodeToString(sum[:6])
	closing := "</" + tag + ">"
	return "<" + tag + ">\n" + intro(closing) + "\n" + body + "\n" + closing
}

// roles are the words that name a speaker, in lower case. A tag or the beginning of a line that has one is a mark of a role.
var roles = []string{
	"system", "developer", "assistant", "user", "human", "model", "tool", "function", "instruction", "instructions",
	"系统", "助手", "用户", "工具", "指令",
}

// templates are what begins the special tokens of chat templates behind "<" or "[", in lower case, and our own fence.
var templates = []string{
	"|", "｜", "sys>", "s>", "start_of_turn", "end_of_turn", "data-",
	"inst]", "system_prompt", "available_tools", "tool_calls", "tool_results",
}

// defuse makes text plain: no line breaks but \n, no controls, no marks of a role, valid UTF-8.
func defuse(text string) string {
	var b strings.Builder
	text = plain(text)
	b.Grow(len(text))
	for line := range strings.Lines(text) {
		if w := speaker(line); w.end > 0 {
			b.WriteString(line[:w.start] + "(" + line[w.start:w.end] + ")")
			line = line[w.end:]
		}
		breakMarks(&b, line)
	}
	return b.String()
}

// breakMarks writes a space into each "<|im_start|>", "</system>", "<<SYS>>", "[/INST]" and their like.
func breakMarks(b *strings.Builder, line string) {
	for {
		at := strings.IndexAny(line, "<[")
		if at < 0 {
			b.WriteString(line)
			return
		}
		b.WriteString(line[:at+1])
		line = line[at+1:]
		inside := strings.TrimLeft(line, "/ \t")
		if startsWith(inside, roles) != "" || startsWith(inside, templates) != "" {
			b.WriteByte(' ')
		}
	}
}

// startsWith returns the longest of some lower case words that begins text, whatever the case of its letters.
func startsWith(text string, words []string) (found string) {
	for _, w := range words {
		if len(w) > len(found) && len(text) >= len(w) && strings.EqualFold(text[:len(w)], w) {
			found = w
		}
	}
	return found
}

type span struct{ start, end int }

// speaker finds the role in a line that begins as a role would speak: "System:", "### Instruction:", "助手：".
func speaker(line string) span {
	start := len(line) - len(strings.TrimLeft(line, " \t>#*_-"))
	end := start + len(startsWith(line[start:], roles))
	after := strings.TrimLeft(line[end:], " \t*_")
	if end == start || !strings.HasPrefix(after, ":") && !strings.HasPrefix(after, "：") {
		return span{}
	}
	return span{start, end}
}

// plain unifies line breaks and drops what is not seen: controls, marks that turn the direction of writing, spaces of no
// width, and the characters that copy ASCII invisibly.
func plain(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r >= ' ' && r < 0x7f || r == '\n' || r == '\t':
			return r
		case r == '\r' || r == '\v' || r == '\f' || r == '\u0085' || r == '\u2028' || r == '\u2029':
			return '\n'
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		case r == '\u200b' || r == '\u2060' || r == '\ufeff' || r == '\u00ad' || r >= 0xe0000 && r <= 0xe007f:
			return -1
		}
		return r
	}, text)
}

// maxNameRunes is how much of an id is shown in a prompt.
const maxNameRunes = 80

// name returns an id as a prompt may show it: in one line, without what the labels are made of, not too long.
func name(id string) string {
	id = strings.Map(func(r rune) rune {
		if strings.ContainsRune("\n\t[]|<>", r) {
			return ' '
		}
		return r
	}, plain(id))
	if runes := []rune(id); len(runes) > maxNameRunes {
		return string(runes[:maxNameRunes-1]) + "…"
	}
	return id
}
