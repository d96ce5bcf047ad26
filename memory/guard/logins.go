package guard

import (
	"iter"
	"math"
	"strings"
)

// places yields where a word stands in a text, one after the other.
func places(s, word string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := 0; ; {
			i := strings.Index(s[from:], word)
			if i < 0 || !yield(from+i) {
				return
			}
			from += i + len(word)
		}
	}
}

const maxLogin = 512 // bytes of an address in which a password is looked for

// logins finds passwords in addresses, postgres://user:password@host, and what stands behind "Bearer" and "Basic".
func (s source) logins() (out []Finding) {
	for i := range places(s.text, "://") {
		out = append(out, s.login(i+len("://"))...)
	}
	for _, scheme := range []string{"bearer ", "basic "} {
		for i := range places(s.lower, scheme) {
			from := run(s.text, i+len(scheme), 16, func(c byte) bool { return c == ' ' || c == '"' || c == '\'' })
			end := run(s.text, from, 8<<10, func(c byte) bool { return dotted(c) || base64(c) || c == '~' })
			if end-from >= 8 && (i == 0 || !alnum(s.text[i-1])) && random(s.text[from:end]) {
				out = append(out, Finding{"token", from, end})
			}
		}
	}
	return out
}

func (s source) login(from int) []Finding {
	if strings.IndexByte(s.text[from:min(len(s.text), from+maxLogin)], '@') < 0 {
		return nil
	}
	end := run(s.text, from, maxLogin, func(c byte) bool { return c > ' ' && strings.IndexByte("\"'`<>", c) < 0 })
	address := s.text[from:end]
	host := strings.IndexAny(address, "/?#")
	if host < 0 {
		host = len(address)
	}
	colon, at := strings.IndexByte(address, ':'), strings.LastIndexByte(address[:host], '@')
	if at < 0 { // the password has a slash, or there is none
		at = strings.LastIndexByte(address, '@')
		if colon >= 0 && colon < host && digits(address[colon+1:host]) {
			return nil // a port
		}
	}
	if colon < 0 || at <= colon+1 || placeholder(address[colon+1:at]) {
		return nil
	}
	return []Finding{{"password", from + colon + 1, from + at}}
}

// random reports whether a word looks like chance: letters and digits, or letters of both cases that no name mixes so.
func random(w string) bool {
	var digits, letters bool
	for i := range len(w) {
		digits, letters = digits || digit(w[i]), letters || letter(w[i])
	}
	return digits && letters || mixed(w) || strings.HasSuffix(w, "=")
}

// mixed reports whether the case of letters changes more often than names of things do: dGhpc0lz.
func mixed(w string) bool {
	n := 0
	for i := 1; i < len(w); i++ {
		if letter(w[i-1]) && letter(w[i]) && w[i-1]&0x20 != 0 && w[i]&0x20 == 0 {
			n++
		}
	}
	return n >= 3
}

// entropy is Shannon's, in bits a byte.
func entropy(w string) (bits float64) {
	var count [256]float64
	for i := range len(w) {
		count[w[i]]++
	}
	n := float64(len(w))
	for _, c := range count {
		if c > 0 {
			bits -= c / n * math.Log2(c/n)
		}
	}
	return bits
}
