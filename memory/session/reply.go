package session

import (
	"strings"
	"unicode"
)

// A Verdict is what a short reply of the user says to a question.
type Verdict uint8

// The verdicts.
const (
	Unclear Verdict = iota // neither of the two, or with more to it: ask again, or have it read by other means
	Yes
	No
)

// String is the verdict's name.
func (v Verdict) String() string {
	switch v {
	case Yes:
		return "yes"
	case No:
		return "no"
	}
	return "unclear"
}

// Reply reads a reply, in Chinese or English, by rule. It is Yes or No only if the whole text says so and nothing else:
// "好的" is Yes, "好的，但是先等等" is Unclear, and so is every question. It costs one pass.
func Reply(text string) Verdict {
	out := Unclear
	for _, clause := range clauses(text) {
		v, filler := judge(clause)
		switch {
		case filler:
		case v == Unclear, out != Unclear && v != out:
			return Unclear
		default:
			out = v
		}
	}
	return out
}

// clauses are the texts between punctuation and symbols, in small letters. A question has one that nobody knows.
func clauses(text string) []string {
	if strings.ContainsAny(text, "?？") || len(text) > 400 {
		return []string{"?"}
	}
	text = strings.ToLower(strings.Map(halfWidth, gestures.Replace(text)))
	return strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '\'' && r != ' ' &&
			(r < unicode.MaxASCII || !unicode.IsSymbol(r)) // other symbols may say anything
	})
}

// gestures are what people say with a picture: nodding adds nothing to what is said, and alone it is not enough; shaking the head says no. Shades of
// skin and the wish for colour say nothing.
var gestures = strings.NewReplacer(
	"👍", ",", "👌", ",", "✅", ",", "🆗", ",", "🙏", ",", "👎", ",no,", "❌", ",no,", "🙅", ",no,", "🚫", ",no,",
	"\U0001F3FB", "", "\U0001F3FC", "", "\U0001F3FD", "", "\U0001F3FE", "", "\U0001F3FF", "", "\uFE0F", "",
)

// halfWidth maps the full-width forms of ASCII to ASCII, and typographic apostrophes and spaces to plain ones.
func halfWidth(r rune) rune {
	switch {
	case r >= '！' && r <= '～':
		return r - '！' + '!'
	case r == '’':
		return '\''
	case r == '\u3000' || r == '\u00a0':
		return ' '
	}
	return r
}

// judge says what one clause means, or that it means nothing.
func judge(clause string) (v Verdict, filler bool) {
	clause = strings.Join(strings.Fields(clause), " ")
	clause = strings.TrimSuffix(strings.TrimPrefix(clause, "please "), " please")
	if v, ok := replies[clause]; ok {
		return v, false
	}
	if fillers[clause] {
		return Unclear, true
	}
	// A particle at the end, or a filler before it, does not change what is said in Chinese. Others do: "对了" is "by the way".
	if short := strings.TrimRight(clause, "啊呀啦哈"); short != clause && short != "" {
		if v, ok := replies[short]; ok {
			return v, false
		}
	}
	if short := strings.TrimLeft(clause, "嗯哦啊"); short != clause && short != "" {
		return judge(short)
	}
	if first, rest, ok := strings.Cut(clause, " "); ok { // "yes go ahead", "好的 谢谢"
		v, known := replies[first]
		if w, filler := judge(rest); known && (filler || w == v) {
			return v, false
		}
	}
	return Unclear, false
}

const (
	saysYes = "好|好的|好吧|行|行的|可以|可以的|对|对的|没错|是|是的|是这样|就是这个|就这个|正确|确认|确定|同意|没问题|当然|当然可以|" +
		"要|需要|用吧|就这样|就这样吧|" +
		"yes|yeah|yep|yup|sure|ok|okay|k|correct|right|that's right|that is right|confirm|confirmed|i confirm|go ahead|do it|" +
		"yes do|sounds good|of course|absolutely|exactly|agreed|i agree|fine|that's it|that is it|that's correct|that is correct"

	saysNo = "不|不是|不是的|不对|不行|不可以|不要|不要了|不用|不用了|不必|不必了|不需要|不同意|错|错了|不是这个|取消|算了|别|先不要|先不用|否|" +
		"no|nope|nah|not|don't|do not|don't do it|do not do it|cancel|cancel it|stop|wrong|incorrect|that's wrong|that is wrong|" +
		"not that|not that one|not this|never|no way|never mind|nevermind|not now|not yet"

	saysNothing = "嗯|哦|啊|谢谢|谢谢你|多谢|麻烦了|辛苦了|请|thanks|thank you|thx|please|um|well|oh|ah|"
)

var replies, fillers = vocabulary()

func vocabulary() (map[string]Verdict, map[string]bool) {
	said, nothing := map[string]Verdict{}, map[string]bool{}
	for _, w := range strings.Split(saysYes, "|") {
		said[w] = Yes
	}
	for _, w := range strings.Split(saysNo, "|") {
		said[w] = No
	}
	for _, w := range strings.Split(saysNothing, "|") {
		nothing[w] = true
	}
	return said, nothing
}
