package compact

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The signs that a sentence says something worth keeping. They are looked for in one sentence at a time.
var (
	signID       = regexp.MustCompile(`[A-Za-z]+[-_#]?\d[\w-]{2,}|\b\d{4,}\b|\b\d+\.\d+\.\d+\b`)
	signAddress  = regexp.MustCompile(`[\w.+-]+@[\w-]+\.\w+|https?://\S+|\b[A-Z]{2,}_[A-Z_]+\b`) // has no digit, perhaps
	signName     = regexp.MustCompile(`\b[a-z]+(?:[-_][a-z0-9]+)+\b`)                            // payment-api, query_logs
	signQuestion = regexp.MustCompile(`[?？]\s*$|(?:吗|呢)。?$`)

	signEnv = newPhrases(`production|staging|testing|development|prod|dev environment|environment|region|cluster|
		生产|测试环境|开发环境|预发|环境|集群|机房`)
	signRuling = newPhrases(`decided|decision|agreed|confirmed|conclusion|concluded|root cause|caused by|because|must|never|always|do not|don't|
		only|limit|at most|at least|deadline|default|budget|owner|responsible|prefer|prefers|preferred|preference|my name is|i am called|call me|
		contact|version|changed to|moved to|approved|rejected|refused|
		决定|确认|结论|同意|原因|因为|必须|不要|不能|不得|禁止|务必|只能|上限|下限|限制|最多|最少|至少|截止|默认|预算|负责|
		我叫|名字|姓名|叫我|联系|改为|改成|批准|拒绝|偏好|喜欢|约定|规定`)
	signGuess = newPhrases(`maybe|perhaps|probably|possibly|might|i guess|i think|可能|也许|大概|或许|猜测|估计是`)
)

// worth is the least weight of a sentence that is kept.
const worth = 3

// weight says how much a sentence matters. It depends on nothing but the fact, so a fact weighs the same in every
// compaction and summaries do not drift.
func (f fact) weight() int {
	w := 0
	add := func(sign bool, worth int) {
		if sign {
			w += worth
		}
	}
	text := spaced(f.text)
	digits := strings.ContainsAny(text, "0123456789")
	add(digits, 1)
	add(digits && signID.MatchString(f.text) || signAddress.MatchString(f.text), 3)
	add(strings.ContainsAny(f.text, "-_") && signName.MatchString(f.text), 2)
	add(signEnv.in(text), 2)
	add(signRuling.in(text), 3)
	add(signGuess.in(text), -3)
	add(signQuestion.MatchString(f.text), -2)
	add(w > 0 && f.who == "user", 1)
	return w
}

// phrases are looked for in spaced text: Latin ones as whole words.
type phrases []string

func newPhrases(list string) phrases {
	var p phrases
	for phrase := range strings.SplitSeq(list, "|") {
		if phrase = strings.TrimSpace(phrase); phrase[0] < utf8.RuneSelf {
			phrase = " " + phrase + " "
		}
		p = append(p, phrase)
	}
	return p
}

func (p phrases) in(spaced string) bool {
	return slices.ContainsFunc(p, func(phrase string) bool { return strings.Contains(spaced, phrase) })
}

// spaced is a sentence in lower case with a space on both sides of each Latin word, and other ASCII marks left out.
func spaced(sentence string) string {
	var b strings.Builder
	wasWord := true // so that the first word has its space too
	for i, r := range sentence + " " {
		isWord := r < utf8.RuneSelf && (r == '\'' || unicode.IsLetter(r) || unicode.IsDigit(r))
		if isWord != wasWord || i == 0 {
			b.WriteByte(' ')
		}
		if isWord || r >= utf8.RuneSelf {
			b.WriteRune(unicode.ToLower(r))
		}
		wasWord = isWord
	}
	return b.String()
}
