package knowledge

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A token is a word of the lexicon, or what is between them: a word, a number, a Chinese character, a mark.
type token struct {
	text     string
	from, to int // in the text that was scanned
	class    class
}

func (t token) is(c class) bool { return t.class&c != 0 }

// concepts are the classes that say what is asked of a thing.
func (t token) concepts() class { return t.class &^ (firstConcept - 1) }

// known reports whether it is a word of several characters, so that what stands beside it makes no word with it.
func (t token) known() bool { return t.class != 0 && utf8.RuneCountInString(t.text) > 1 }

// A dictionary has the words of the lexicon by their roots, and how many atoms the longest has that begins with a root.
type dictionary struct {
	entries map[string]class
	longest map[string]int
}

// words is made at the first use: it takes a millisecond.
var words = sync.OnceValue(func() dictionary {
	d := dictionary{map[string]class{}, map[string]int{}}
	for _, l := range lexicon {
		d.add(l.words, l.class)
	}
	c := firstConcept
	for _, same := range concepts {
		if same != "" {
			d.add(same, c)
			c <<= 1
		}
	}
	return d
})

func (d dictionary) add(words string, c class) {
	for w := range strings.FieldsSeq(words) {
		atoms := atomsOf(strings.ReplaceAll(w, "_", " "))
		d.entries[key(atoms)] |= c
		d.longest[atoms[0].root] = max(d.longest[atoms[0].root], len(atoms))
	}
}

// An atom is what words of the lexicon are made of.
type atom struct {
	from, to int
	root     string // small, without the endings of English
}

func key(atoms []atom) string {
	if len(atoms) == 1 {
		return atoms[0].root
	}
	var b strings.Builder
	for _, a := range atoms {
		b.WriteString(a.root)
		b.WriteByte(' ')
	}
	return b.String()
}

// scan cuts a text, at each place at the longest word that the lexicon has.
func scan(text string) []token {
	atoms, dict := atomsOf(text), words()
	out := make([]token, 0, len(atoms))
	for i := 0; i < len(atoms); {
		n, c := 1, class(0)
		for size := min(dict.longest[atoms[i].root], len(atoms)-i); size > 0; size-- {
			if found, ok := dict.entries[key(atoms[i:i+size])]; ok {
				n, c = size, found
				break
			}
		}
		t := token{from: atoms[i].from, to: atoms[i+n-1].to, class: c}
		t.text = text[t.from:t.to]
		if r, _ := utf8.DecodeRuneInString(t.text); unicode.IsDigit(r) && n == 1 {
			t.class |= number
		}
		if t.is(whole) {
			t.class &^= function
		}
		out = append(out, t)
		i += n
	}
	for i := range out {
		out[i].doubt(out, i)
	}
	return out
}

// doubt looks again at a single Chinese character that is a concept: before an unknown one it is the beginning of a word, as in 报告; behind one it may be
// the end of one.
func (t *token) doubt(s []token, i int) {
	unknown := func(i int) bool {
		return i >= 0 && i < len(s) && s[i].class == 0 && wide(firstOf(s[i].text))
	}
	switch {
	case t.concepts() == 0 || t.known() || !wide(firstOf(t.text)):
	case unknown(i + 1):
		t.class &= firstConcept - 1
	case unknown(i - 1):
		t.class |= doubtful
	}
}

func firstOf(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// atomsOf cuts a text into words, numbers, and all other characters but spaces. Breaks of lines stay.
func atomsOf(text string) (out []atom) {
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		switch n := wordLen(text[at:]); {
		case n > 0:
			out = append(out, atom{at, at + n, root(text[at : at+n])})
			at += n
			continue
		case r == '\n' || !unicode.IsSpace(r):
			out = append(out, atom{at, at + size, string(narrow(r))})
		}
		at += size
	}
	return out
}

// narrow makes of a full-width character the one of ASCII.
func narrow(r rune) rune {
	if r >= '！' && r <= '～' {
		r -= '！' - '!'
	}
	return unicode.ToLower(r)
}

// wordLen is how many bytes the word or number has that a text begins with: letters and digits, and single marks between them. A number ends where a
// letter follows: 20kg.
func wordLen(text string) int {
	n, digits := 0, true
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		switch next, _ := utf8.DecodeRuneInString(text[n+size:]); {
		case n > 0 && digits && !unicode.IsDigit(r) && letter(r):
			return n
		case letter(r) || unicode.IsDigit(r):
			digits = digits && unicode.IsDigit(r)
		case n > 0 && strings.ContainsRune("-_./:@'’,", r) && (letter(next) && r != ',' && !digits || unicode.IsDigit(next) && (digits || r != ',')):
		default:
			return n
		}
		n += size
	}
	return n
}

func letter(r rune) bool { return unicode.IsLetter(r) && !wide(r) }

// wide characters are words by themselves.
func wide(r rune) bool {
	return r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// root takes the endings off an English word, roughly: both sides of a comparison go through it.
func root(word string) string {
	w := strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "’s"))
	for _, end := range []string{"ing", "ies", "ed", "es", "s", "e", "y"} {
		if rest, ok := strings.CutSuffix(w, end); ok && len(rest) > 2 {
			if n := len(rest); len(rest) > 3 && rest[n-1] == rest[n-2] && end != "s" && end != "e" { // cancelled
				rest = rest[:n-1]
			}
			return rest
		}
	}
	return w
}
