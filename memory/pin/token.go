package pin

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/memory/internal/prose"
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
	for _, line := range lines(text) {
		out = scan(out, text, line.Start, line.End)
		out = append(out, token{"\n", mark, line.End, line.End})
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

// lines returns the lines that are a person's own words. A fence that is not closed hides nothing: losing a denial is worse than
// reading code.
func lines(text string) []prose.Span {
	own, open := prose.Lines(text)
	return append(own, open...)
}
