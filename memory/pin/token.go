package pin

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

type kind uint8

const (
	word   kind = iota // letters and digits, such as "restart" or "payment-api"
	han                // one character
	quoted             // what stands between quotes: the words of somebody else, or a name
	mark               // punctuation
)

// A token is a piece of a text; text is folded, start and end are bytes of the original.
type token struct {
	text       string
	kind       kind
	start, end int
}

// maxQuote is how many runes may stand between two quotes. A quote that is not closed within them is punctuation.
const maxQuote = 400

var quotes = map[rune]rune{'"': '"', '“': '”', '„': '“', '「': '」', '『': '』', '«': '»', '《': '》', '`': '`', '‘': '’', '\'': '\''}

// tokens splits what a user wrote, without the lines that are not prose. It takes linear time.
func tokens(text string) []token {
	var out []token
	for _, line := range prose(text) {
		out = scan(out, text, line.start, line.end)
		out = append(out, token{"\n", mark, line.end, line.end})
	}
	return out
}

func scan(out []token, text string, i, end int) []token {
	space := true // whether the last rune was none of a word
	for i < end {
		r, size := utf8.DecodeRuneInString(text[i:end])
		f := fold(r)
		switch {
		case f < 0 || unicode.IsSpace(f):
			space, i = true, i+size
			continue
		case quotes[r] != 0 && (r != '\'' || space):
			if n := quote(text[i+size:end], quotes[r]); n >= 0 {
				_, tail := utf8.DecodeRuneInString(text[i+size+n:])
				out = append(out, token{foldText(text[i+size : i+size+n]), quoted, i + size, i + size + n})
				i += size + n + tail
				break
			}
			out, i = append(out, token{string(f), mark, i, i + size}), i+size
		case unicode.Is(unicode.Han, f):
			out, i = append(out, token{string(f), han, i, i + size}), i+size
		case unicode.IsLetter(f) || unicode.IsDigit(f):
			n := wordEnd(text[i:end])
			out, i = append(out, token{foldText(text[i : i+n]), word, i, i + n}), i+n
		default:
			out, i = append(out, token{string(f), mark, i, i + size}), i+size
		}
		space = out[len(out)-1].kind == mark
	}
	return out
}

// quote returns how many bytes stand before the closing quote, -1 if it does not come.
func quote(s string, closing rune) int {
	n := 0
	for i, r := range s {
		if r == closing {
			next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
			if closing != '\'' && closing != '’' || !unicode.IsLetter(next) || unicode.Is(unicode.Han, next) {
				return i
			}
		}
		if n++; n > maxQuote {
			break
		}
	}
	return -1
}

// wordEnd returns the length of the word that s begins with. Inside it may be the punctuation of names and addresses.
func wordEnd(s string) int {
	last := 0 // end of the last letter or digit
	for i, r := range s {
		f := fold(r)
		switch {
		case f < 0:
		case unicode.Is(unicode.Han, f):
			return last
		case unicode.IsLetter(f) || unicode.IsDigit(f):
			last = i + utf8.RuneLen(r)
			if r == utf8.RuneError { // one byte in the text, three by itself
				return i
			}
		case !strings.ContainsRune("'-_./:@#", f) || i > last:
			return last
		}
	}
	return last
}

type span struct{ start, end int }

// notProse matches lines that a person pastes and does not say: quoted mail, prompts of a shell, logs, stack traces.
var notProse = regexp.MustCompile(`^\s*(>|\$ |# \w+ -|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|\[(INFO|WARN|WARNING|ERROR|DEBUG|FATAL|TRACE)\]` +
	`|(INFO|ERROR|DEBUG|FATAL|TRACE|WARN)\b|at [\w.$]+\(|Traceback )`)

// prose returns the lines that are a person's own words. A fence that is not closed hides nothing: losing a denial is worse than
// reading code.
func prose(text string) []span {
	var out, code []span
	fenced := false
	for start := 0; start < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i
		}
		line := text[start:end]
		switch {
		case isFence(line):
			fenced, code = !fenced, nil
		case fenced:
			code = append(code, span{start, end})
		case !notProse.MatchString(line[:min(len(line), 80)]):
			out = append(out, span{start, end})
		}
		start = end + 1
	}
	if fenced {
		out = append(out, code...)
	}
	return out
}

func isFence(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "```") && !strings.Contains(line[3:], "```") || strings.HasPrefix(line, "~~~")
}
