package search

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxTerm is how many bytes a term has at most; of a longer word it is the beginning and a hash.
const maxTerm = 100

// Terms are what a text is found by, in order: NFKC, lower case; English words by their stems; of Chinese, Japanese and Korean
// each character and each pair, and a number with the character behind it; identifiers such as "payment-api", "E504", "svc_17",
// "getUser" and "10.0.3.7" whole and in parts. Words that every text has, such as "the" and "的", are none.
func Terms(text string) []string { return terms(norm.NFKC.String(text)) }

func terms(normal string) []string {
	s := scanner{text: normal}
	for s.at < len(s.text) {
		s.next()
	}
	return s.terms
}

// speaker returns the terms of who speaks in "Ann: hello": a name of one to three words.
func speaker(text string) []string {
	normal := norm.NFKC.String(text)
	name, _, ok := strings.Cut(normal[:min(len(normal), maxTerm)], ":")
	if !ok || len(strings.Fields(name)) > 3 || strings.ContainsFunc(name, func(r rune) bool { return r != ' ' && !cjk(r) && !alphanumeric(r) }) {
		return nil
	}
	return terms(name)
}

type scanner struct {
	text  string
	at    int
	terms []string
}

func (s *scanner) next() {
	r, size := utf8.DecodeRuneInString(s.text[s.at:])
	switch {
	case cjk(r):
		s.characters()
	case alphanumeric(r):
		s.word()
	default:
		s.at += size
	}
}

func (s *scanner) add(term string) {
	if len(term) > maxTerm {
		head := strings.ToValidUTF8(term[:maxTerm-33], "")
		term = fmt.Sprintf("%s#%x", head, sha256.Sum256([]byte(term)))[:len(head)+33]
	}
	s.terms = append(s.terms, term)
}

// characters takes a run of Chinese, Japanese or Korean: each character and each pair.
func (s *scanner) characters() {
	var before rune
	for s.at < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[s.at:])
		if !cjk(r) {
			return
		}
		if before != 0 {
			s.pair(before, r)
		}
		if !emptyRune(r) {
			s.add(string(r))
		}
		before = r
		s.at += size
	}
}

func (s *scanner) pair(a, b rune) {
	if pair := string([]rune{a, b}); !(emptyRune(a) && emptyRune(b)) && !emptyPairs[pair] {
		s.add(pair)
	}
}

// word takes a run of letters and digits, with single marks inside it.
func (s *scanner) word() {
	from, number := s.at, true
	var before rune
	for s.at < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[s.at:])
		if !alphanumeric(r) && !joins(before, r, s.peek(s.at+size)) {
			break
		}
		number = number && unicode.IsDigit(r)
		before = r
		s.at += size
	}
	word := s.text[from:s.at]
	s.identifier(word)
	if r := s.peek(s.at); number && cjk(r) { // 5月, 12人
		s.add(word + string(r))
	}
}

func (s *scanner) peek(at int) rune {
	r, _ := utf8.DecodeRuneInString(s.text[at:])
	return r
}

func (s *scanner) identifier(word string) {
	word = plain(word)
	parts := split(word)
	if len(parts) == 1 {
		s.part(parts[0], true)
		return
	}
	s.add(strings.ToLower(word))
	for _, p := range parts {
		s.part(p, false)
	}
}

func (s *scanner) part(word string, alone bool) {
	word = strings.ToLower(word)
	r, size := utf8.DecodeRuneInString(word)
	switch {
	case emptyWords[word]:
	case !alone && size == len(word) && !unicode.IsDigit(r): // a letter says nothing
	default:
		s.add(stem(cmp.Or(regular[word], word)))
	}
}

// plain takes out of a word what is no part of its meaning: apostrophes, and commas in a number.
func plain(word string) string {
	word = strings.ReplaceAll(word, "’", "'")
	for _, s := range []string{"'s", "'S"} {
		word = strings.TrimSuffix(word, s)
	}
	return silent.Replace(word)
}

var silent = strings.NewReplacer("'", "", ",", "")

// split cuts a word at marks, between letters and digits, and where a capital follows a small letter.
func split(word string) []string {
	var parts []string
	from := 0
	var before rune
	for at, r := range word {
		if at > from && apart(before, r) {
			parts, from = append(parts, word[from:at]), at
		}
		if !alphanumeric(r) {
			from = at + utf8.RuneLen(r)
		}
		before = r
	}
	return append(parts, word[from:])
}

func apart(a, b rune) bool {
	return !alphanumeric(b) || unicode.IsDigit(a) != unicode.IsDigit(b) || unicode.IsLower(a) && unicode.IsUpper(b)
}

func alphanumeric(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9'
	}
	return !cjk(r) && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r))
}

// joins reports whether a mark between two letters or digits makes one word of them.
func joins(before, mark, after rune) bool {
	switch mark {
	case '-', '_', '.', '/', ':', '@', '\'', '’':
		return alphanumeric(before) && alphanumeric(after)
	case ',':
		return unicode.IsDigit(before) && unicode.IsDigit(after)
	}
	return false
}

func cjk(r rune) bool {
	return r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// dateTerms are the words and numbers of a day, in UTC: 2023, may, 8; 2023年, 5月, 8日.
func dateTerms(t time.Time) []string {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return Terms(t.Format("2 January 2006 2006年1月2日"))
}
