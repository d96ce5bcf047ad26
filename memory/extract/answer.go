package extract

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrAnswer is returned by the extractor of Model when the model gave no answer that could be read, or only a part of one, as
// often as it was asked. It is an *AnswerError. What was in the texts is not known; try again later.
var ErrAnswer = errors.New("extract: the model's answer cannot be read")

// An AnswerError says where the last answer of a model could not be read. It has none of its words.
type AnswerError struct {
	Asked  int    // how often the model was asked
	Length int    // of the answer, in bytes
	Failed []Span // never empty
}

// A Span is some bytes of an answer.
type Span struct {
	Start, End int
	Reason     string
}

func (s Span) String() string { return fmt.Sprintf("bytes %d to %d: %s", s.Start, s.End, s.Reason) }

// Error is one line.
func (e *AnswerError) Error() string {
	var all []string
	for _, s := range e.Failed[:min(len(e.Failed), 3)] {
		all = append(all, s.String())
	}
	return fmt.Sprintf("%v: asked %d times, %d bytes, %d spans failed (%s)", ErrAnswer, e.Asked, e.Length, len(e.Failed), strings.Join(all, "; "))
}

// Is reports whether the target is ErrAnswer.
func (e *AnswerError) Is(target error) bool { return target == ErrAnswer }

// maxAnswer is how much of an answer is read, in bytes. What is behind it has failed.
const maxAnswer = 256 << 10

// drafted reads the drafts of an answer, wherever they stand in it: in prose, between fences, in a list that was cut off. What is
// whole is returned, and what is not as spans.
func drafted(answer string) (out []object, failed []Span) {
	whole := len(answer)
	answer = answer[:min(whole, maxAnswer)]
	found := false
	for i := 0; i < len(answer); {
		at := strings.IndexAny(answer[i:], "{[")
		if at < 0 {
			break
		}
		i += at
		r := lenient{text: answer, at: i}
		v := r.value(0)
		drafts, is := v.drafts()
		switch {
		case r.fault == "" && is && (len(drafts) > 0 || !prefix.MatchString(answer[max(0, i-20):i])): // an empty list of another name says nothing
			out, found, i = append(out, drafts...), true, r.at
		case r.fault != "" && (begins.MatchString(answer[i:r.at]) || r.at == len(answer) && broken.MatchString(answer[i:])):
			failed = append(failed, Span{i, r.at, r.fault})
			i++
		case r.fault == "" && v.object["id"] != "" && (v.object["text"] != "" || v.object["kind"] != ""):
			failed = append(failed, Span{i, r.at, "a draft without its words"})
			i = r.at
		default: // braces of prose, or what holds the drafts: they are looked for inside
			i++
		}
	}
	if whole > len(answer) {
		failed = append(failed, Span{len(answer), whole, "the answer is too long"})
	}
	if !found && len(failed) == 0 {
		failed = append(failed, Span{0, whole, "no list of drafts in it"})
	}
	return out, failed
}

// begins matches a piece that cannot be read and begins a draft, and not a list of them, whose drafts are read one by one; broken
// matches one that the answer ends with before it says what it is; prefix matches the name before a value.
var (
	begins = regexp.MustCompile(`^\{\s*["'“]?(?:id|words|text|kind|key|said|confidence|replaces|repeats|ends)["'”]?\s*:`)
	prefix = regexp.MustCompile(`["'”]\s*:\s*$`)
	broken = regexp.MustCompile(`^\{\s*(?:["'“]\w{0,12}["'”]?\s*)?$`)
)

// An object is a draft as the model wrote it: its members by name.
type object map[string]string

// A node is a value of an answer.
type node struct {
	object  object
	members map[string]node
	items   []node
	list    bool
}

// drafts are those that a value holds: it is one, or a list of them, or has such a list as "drafts".
func (n node) drafts() ([]object, bool) {
	if l, ok := n.members["drafts"]; ok && l.list {
		return l.drafts()
	}
	if n.object["words"] != "" {
		return []object{n.object}, true
	}
	var out []object
	for _, i := range n.items {
		if i.object["words"] == "" {
			return nil, false
		}
		out = append(out, i.object)
	}
	return out, n.list
}

// A lenient reads JSON as models write it: with commas too many, quotes of any kind, also unescaped ones within a text, and names
// without.
type lenient struct {
	text  string
	at    int
	fault string
}

func (r *lenient) fail(why string) {
	if r.fault == "" {
		r.fault = why
	}
}

func (r *lenient) space() {
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
}

func (r *lenient) next() byte {
	r.space()
	if r.at >= len(r.text) {
		r.fail("it ends in the middle")
		return 0
	}
	return r.text[r.at]
}

func (r *lenient) value(depth int) (n node) {
	if depth > maxDepth {
		r.fail("it is nested too deep")
		return n
	}
	switch r.next() {
	case '{':
		r.at++
		return r.members(depth)
	case '[':
		r.at++
		return r.list(depth)
	}
	return n
}

func (r *lenient) list(depth int) node {
	n := node{list: true}
	for r.fault == "" {
		switch r.next() {
		case ']':
			r.at++
			return n
		case ',':
			r.at++
		case '{', '[':
			n.items = append(n.items, r.value(depth+1))
		default:
			r.scalar()
			n.items = append(n.items, node{})
		}
	}
	return n
}

func (r *lenient) members(depth int) node {
	n := node{object: object{}, members: map[string]node{}}
	for r.fault == "" {
		switch r.next() {
		case '}':
			r.at++
			return n
		case ',':
			r.at++
			continue
		}
		name := r.name()
		if r.fault == "" && r.next() != ':' && r.fault == "" {
			r.fail("a colon is missing")
		}
		if r.fault != "" {
			break
		}
		r.at++
		switch r.next() {
		case '{', '[':
			n.members[name] = r.value(depth + 1)
		default:
			n.object[name] = r.scalar()
		}
	}
	return n
}

func (r *lenient) name() string {
	if closing(r.text[r.at:]) != "" {
		return strings.ToLower(r.quoted(":"))
	}
	return strings.ToLower(r.word())
}

func (r *lenient) scalar() string {
	r.space()
	if closing(r.text[r.at:]) != "" {
		return r.quoted(",}]")
	}
	switch w := r.word(); w {
	case "null", "None":
		return ""
	default:
		return w
	}
}

// word is what has no quotes: a name, a number, true.
func (r *lenient) word() string {
	start := r.at
	for r.at < len(r.text) {
		c, size := utf8.DecodeRuneInString(r.text[r.at:])
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_.-+", c) {
			break
		}
		r.at += size
	}
	if r.at == start {
		r.fail("an unexpected character")
	}
	return r.text[start:r.at]
}

// closing is the quote that ends what s begins with; "" if that is no quote.
func closing(s string) string {
	for open, end := range map[string]string{`"`: `"`, `'`: `'`, "“": "”"} {
		if strings.HasPrefix(s, open) {
			return end
		}
	}
	return ""
}

// quoted reads a text between quotes. A quote ends it only if one of the marks in ends follows.
func (r *lenient) quoted(ends string) string {
	end := closing(r.text[r.at:])
	r.at += utf8.RuneLen([]rune(r.text[r.at:min(len(r.text), r.at+4)])[0])
	var b strings.Builder
	for r.at < len(r.text) {
		rest := r.text[r.at:]
		switch {
		case rest[0] == '\\' && len(rest) > 1:
			r.escape(&b)
		case strings.HasPrefix(rest, end) && follows(rest[len(end):], ends):
			r.at += len(end)
			return b.String()
		default:
			b.WriteByte(rest[0])
			r.at++
		}
	}
	r.fail("it ends in the middle of a text")
	return b.String()
}

func follows(rest, ends string) bool {
	rest = strings.TrimLeft(rest[:min(len(rest), 200)], " \t\r\n")
	return rest == "" || strings.IndexByte(ends, rest[0]) >= 0
}

func (r *lenient) escape(b *strings.Builder) {
	c := r.text[r.at+1]
	r.at += 2
	switch c {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'r', 'b', 'f':
	case 'u':
		b.WriteRune(r.hex())
	default:
		b.WriteByte(c)
	}
}

// hex is the rune of an escape, which may be two for one rune.
func (r *lenient) hex() rune {
	var c, low rune
	if n, _ := fmt.Sscanf(r.text[r.at:min(len(r.text), r.at+4)], "%04x", &c); n == 0 {
		return utf8.RuneError
	}
	r.at = min(len(r.text), r.at+4)
	if strings.HasPrefix(r.text[r.at:], `\u`) && c >= 0xD800 && c < 0xDC00 {
		if n, _ := fmt.Sscanf(r.text[r.at+2:min(len(r.text), r.at+6)], "%04x", &low); n == 1 && low >= 0xDC00 && low < 0xE000 {
			r.at = min(len(r.text), r.at+6)
			return (c-0xD800)<<10 + (low - 0xDC00) + 0x10000
		}
	}
	return c
}
