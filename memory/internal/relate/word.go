package relate

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/memory/internal/fold"
)

// A class says what sort of word it is.
type class uint16

const (
	strange     class = 0    // the lexicon does not know it
	known       class = 1    // the lexicon does
	number      class = 2    // 30, 三十
	date        class = 4    // a day, a time
	environment class = 8    // production, testing, development
	language    class = 16   //
	channel     class = 32   // mail, phone
	format      class = 64   // tables, lists
	length      class = 128  // short, long
	role        class = 256  // engineer, manager
	identifier  class = 512  // payment-api, A-1001, a@example.com
	color       class = 1024 //
	name        class = 2048 // of a person, by its looks
	unit        class = 4096 // seconds, yuan
	person      class = 8192 // wife, colleague
	event       class = 1 << 14
	noun        class = 1 << 15 // an attribute, which has one value: budget, deadline
)

const scalar = number | date | environment | language | channel | format | length | role | identifier | color | name

// A word is a piece of a sentence in the one form in which it is compared.
type word struct {
	text  string
	class class
}

// alike reports whether words are the same, whatever their class: a name at the beginning of a sentence does not look like one.
func alike(a, b []word) bool {
	return slices.EqualFunc(a, b, func(x, y word) bool { return x.text == y.text })
}

// classes are those of the values in some words.
func classes(ws []word) (c class) {
	for _, w := range ws {
		c |= w.class & scalar
	}
	if c == 0 && surnamed(ws) {
		return name
	}
	return c
}

// typed reports whether all words are values and their units.
func typed(ws []word) bool {
	return !slices.ContainsFunc(ws, func(w word) bool { return w.class&(scalar|unit) == 0 })
}

// attribute reports whether words end with something that has one value.
func attribute(ws []word) bool {
	return slices.ContainsFunc(ws, func(w word) bool { return w.class == noun || w.class == event || w.text == "DEFAULT" })
}

// several reports whether what words are about has many values at a time: hobbies.
func several(ws []word) bool { return has(ws, "SEVERAL") }

// measured reports whether two values are in units of one kind, or one is in none.
func measured(a, b []word) bool {
	x, y := kinds(a), kinds(b)
	return x == "" || y == "" || x == y
}

// kinds are what the units in some words measure: "s" and "min" are time.
func kinds(ws []word) string {
	for _, w := range ws {
		if w.class == unit {
			kind, _, _ := strings.Cut(w.text, ":")
			return kind
		}
	}
	return ""
}

const surnames = "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文"

// surnamed reports whether words are two to four characters that begin with a surname.
func surnamed(ws []word) bool {
	if len(ws) < 2 || len(ws) > 4 || !strings.Contains(surnames, ws[0].text) {
		return false
	}
	return !slices.ContainsFunc(ws, func(w word) bool {
		r, size := utf8.DecodeRuneInString(w.text)
		return w.class != strange || size != len(w.text) || !fold.Han(r)
	})
}

// latin is the class of a word in Latin letters that the lexicon does not know, and its form.
func latin(s string, first bool) word {
	lower := strings.ToLower(s)
	hasDigit := strings.ContainsFunc(s, unicode.IsDigit)
	switch {
	case hasDigit && strings.Trim(lower, "0123456789.,%+") == "":
		return word{strings.ReplaceAll(strings.Trim(lower, ".,"), ",", ""), number}
	case hasDigit || strings.ContainsAny(s, "-_@/."):
		return word{lower, identifier}
	}
	r, _ := utf8.DecodeRuneInString(s)
	if unicode.IsUpper(r) && !first {
		return word{stem(lower), name}
	}
	return word{stem(lower), strange}
}

// stem takes the ending of the plural and of the third person off.
func stem(w string) string {
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 4 && (strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "xes") || strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "shes")):
		return w[:len(w)-2]
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us"):
		return w[:len(w)-1]
	}
	return w
}
