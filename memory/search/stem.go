package search

import "strings"

// stem takes the endings off an English word: the Porter2 algorithm (Porter and Boulton, snowballstem.org/algorithms/english) without
// its list of single words. What has other than ASCII letters is left as it is.
func stem(word string) string {
	if len(word) < 3 || strings.IndexFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) >= 0 {
		return word
	}
	s := stemmer{w: []byte(word)}
	s.markConsonants()
	s.r1, s.r2 = s.regions()
	s.plural()
	s.past()
	s.finalY()
	s.longEnding()
	s.shortEnding()
	s.deriving()
	s.finalE()
	return strings.ToLower(string(s.w))
}

// A stemmer works on a word whose y is Y where it is a consonant. r1 and r2 begin behind the first consonant that follows a
// vowel, and behind the next such.
type stemmer struct {
	w      []byte
	r1, r2 int
}

func vowel(c byte) bool { return strings.IndexByte("aeiouy", c) >= 0 }

func (s *stemmer) markConsonants() {
	for i, c := range s.w {
		if c == 'y' && (i == 0 || vowel(s.w[i-1])) {
			s.w[i] = 'Y'
		}
	}
}

func (s *stemmer) regions() (r1, r2 int) {
	r1 = s.region(0)
	for _, p := range []string{"gener", "commun", "arsen", "past", "univers", "later", "emerg", "organ"} {
		if strings.HasPrefix(string(s.w), p) {
			r1 = len(p)
		}
	}
	return r1, s.region(r1)
}

func (s *stemmer) region(from int) int {
	for i := from + 1; i < len(s.w); i++ {
		if vowel(s.w[i-1]) && !vowel(s.w[i]) {
			return i + 1
		}
	}
	return len(s.w)
}

func (s *stemmer) ends(suffix string) bool { return strings.HasSuffix(string(s.w), suffix) }

// in reports whether an ending of n letters is within a region.
func (s *stemmer) in(region, n int) bool { return len(s.w)-n >= region }

func (s *stemmer) cut(n int, put string) { s.w = append(s.w[:len(s.w)-n], put...) }

func hasVowel(w []byte) bool {
	return strings.IndexFunc(string(w), func(r rune) bool { return vowel(byte(r)) }) >= 0
}

func (s *stemmer) plural() {
	switch n := len(s.w); {
	case s.ends("sses"):
		s.cut(2, "")
	case s.ends("ied"), s.ends("ies"):
		if n > 4 {
			s.cut(2, "")
		} else {
			s.cut(1, "")
		}
	case s.ends("us"), s.ends("ss"):
	case s.ends("s") && hasVowel(s.w[:n-2]):
		s.cut(1, "")
	}
}

func (s *stemmer) past() {
	for _, e := range []string{"eedly", "eed"} {
		if s.ends(e) {
			if s.in(s.r1, len(e)) {
				s.cut(len(e), "ee")
			}
			return
		}
	}
	for _, e := range []string{"ingly", "edly", "ing", "ed"} {
		if s.ends(e) {
			if hasVowel(s.w[:len(s.w)-len(e)]) {
				s.cut(len(e), "")
				s.mend()
			}
			return
		}
	}
}

// mend gives a word back what its ending had taken: hop(p)ing, hop(e)ing.
func (s *stemmer) mend() {
	n := len(s.w)
	switch {
	case s.ends("at"), s.ends("bl"), s.ends("iz"):
		s.cut(0, "e")
	case n > 1 && s.w[n-1] == s.w[n-2] && strings.IndexByte("bdfgmnprt", s.w[n-1]) >= 0:
		s.cut(1, "")
	case s.r1 >= n && s.shortSyllable():
		s.cut(0, "e")
	}
}

// shortSyllable reports whether a word ends in a vowel and a consonant that is none of w, x, Y behind a consonant, or is these two.
func (s *stemmer) shortSyllable() bool {
	n := len(s.w)
	if n == 2 {
		return vowel(s.w[0]) && !vowel(s.w[1])
	}
	return n > 2 && !vowel(s.w[n-3]) && vowel(s.w[n-2]) && !vowel(s.w[n-1]) && strings.IndexByte("wxY", s.w[n-1]) < 0
}

func (s *stemmer) finalY() {
	if n := len(s.w); n > 2 && (s.w[n-1] == 'y' || s.w[n-1] == 'Y') && !vowel(s.w[n-2]) {
		s.w[n-1] = 'i'
	}
}

// An ending and what takes its place, the longer endings first.
type ending struct{ from, to string }

var longEndings = []ending{
	{"ization", "ize"}, {"ational", "ate"}, {"fulness", "ful"}, {"ousness", "ous"}, {"iveness", "ive"}, {"tional", "tion"}, {"biliti", "ble"},
	{"lessli", "less"}, {"entli", "ent"}, {"ation", "ate"}, {"alism", "al"}, {"aliti", "al"}, {"ousli", "ous"}, {"iviti", "ive"}, {"fulli", "ful"},
	{"enci", "ence"}, {"anci", "ance"}, {"abli", "able"}, {"izer", "ize"}, {"ator", "ate"}, {"alli", "al"}, {"bli", "ble"},
}

var shortEndings = []ending{
	{"ational", "ate"}, {"tional", "tion"}, {"alize", "al"}, {"icate", "ic"}, {"iciti", "ic"}, {"ical", "ic"}, {"ness", ""}, {"ful", ""},
}

func (s *stemmer) replace(endings []ending) bool {
	for _, e := range endings {
		if s.ends(e.from) {
			if s.in(s.r1, len(e.from)) {
				s.cut(len(e.from), e.to)
			}
			return true
		}
	}
	return false
}

func (s *stemmer) longEnding() {
	n := len(s.w)
	switch {
	case s.replace(longEndings):
	case s.ends("ogi") && s.in(s.r1, 3) && n > 3 && s.w[n-4] == 'l':
		s.cut(1, "")
	case s.ends("li") && s.in(s.r1, 2) && n > 2 && strings.IndexByte("cdeghkmnrt", s.w[n-3]) >= 0:
		s.cut(2, "")
	}
}

func (s *stemmer) shortEnding() {
	if !s.replace(shortEndings) && s.ends("ative") && s.in(s.r2, 5) {
		s.cut(5, "")
	}
}

var derivingEndings = []string{
	"ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "al", "er", "ic",
}

func (s *stemmer) deriving() {
	for _, e := range derivingEndings {
		if s.ends(e) {
			if s.in(s.r2, len(e)) {
				s.cut(len(e), "")
			}
			return
		}
	}
	if n := len(s.w); s.ends("ion") && s.in(s.r2, 3) && n > 3 && (s.w[n-4] == 's' || s.w[n-4] == 't') {
		s.cut(3, "")
	}
}

func (s *stemmer) finalE() {
	n := len(s.w)
	switch {
	case s.ends("e"):
		if s.in(s.r2, 1) {
			s.cut(1, "")
			return
		}
		short := stemmer{w: s.w[:n-1]}
		if s.in(s.r1, 1) && !short.shortSyllable() {
			s.cut(1, "")
		}
	case s.ends("ll") && s.in(s.r2, 1):
		s.cut(1, "")
	}
}
