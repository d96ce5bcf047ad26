package tiktoken

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/holdfast-go/holdfast/memory/working"
)

// O200k returns the counter of GPT-4o and later models. Its first count builds the vocabulary.
func O200k() working.Counter { return o200k }

// CL100k returns the counter of GPT-4 and GPT-3.5. Its first count builds the vocabulary.
func CL100k() working.Counter { return cl100k }

var (
	o200k  = &counter{"o200k", sync.OnceValue(codec.NewO200kBase)}
	cl100k = &counter{"cl100k", sync.OnceValue(codec.NewCl100kBase)}
)

// pieceSize is how much is counted at once, in bytes: the tokenizer needs some thirty times as much memory for a while.
const pieceSize = 64 << 10

type counter struct {
	name  string
	codec func() *codec.Codec
}

// Count is exact, but for a text that has not one word's end in 32 KB: each piece of that may count one token too many.
func (c *counter) Count(text string) int {
	n := 0
	for len(text) > 0 {
		end := cut(text)
		n += c.piece(text[:end])
		text = text[end:]
	}
	return n
}

func (c *counter) Margin() float64 { return 0.05 }
func (c *counter) Name() string    { return c.name }

func (c *counter) piece(text string) int {
	n, err := c.codec().Count(text)
	if err != nil { // the tokenizer gave up on this piece
		return working.Estimate.Count(text)
	}
	return n
}

// cut returns how much of a text to count at once. Both vocabularies are applied to words, and a word ends where a letter is
// followed by what is no letter, mark or apostrophe, so a cut there changes no count.
func cut(text string) int {
	if len(text) <= pieceSize {
		return len(text)
	}
	last := pieceSize
	for range utf8.UTFMax - 1 {
		if !utf8.RuneStart(text[last]) {
			last--
		}
	}
	next, _ := utf8.DecodeRuneInString(text[last:])
	for i := last; i > pieceSize/2; {
		r, size := utf8.DecodeLastRuneInString(text[:i])
		if unicode.IsLetter(r) && !unicode.IsLetter(next) && !unicode.IsMark(next) && next != '\'' {
			return i
		}
		next, i = r, i-size
	}
	return last
}
