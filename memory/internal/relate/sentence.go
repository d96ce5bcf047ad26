package relate

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/memory/internal/fold"
)

// A sentence is what is left of one for comparing.
type sentence struct {
	words    []word
	copula   int  // where what is said begins; -1: nothing parts it
	negative bool // after all negations
	changes  bool
	bids     bool
	past     bool
	adds     bool
	only     bool
	recurs   bool
	owned    bool // what it is about is somebody's
	orders   bool
	asks     bool
}

// rewritings bring phrases that stand around a value before it.
var rewritings = []struct {
	when string // what must be there, for the sake of speed: one of these
	from *regexp.Regexp
	to   string
}{
	{"now|现在|目前|如今", regexp.MustCompile(`(?i)\b(?:from|starting) now(?: on)?\b|(?:从)?现在(?:起|开始)?|目前|如今`), " now "},
	{"上班|工作|任职|就职", regexp.MustCompile(`在(.{1,24}?)(?:上班|工作|任职|就职)(?:了)?`), "就职 $1 "},
	{"从", regexp.MustCompile(`从(.{1,24}?)(改成|改为|换成|调到|调成|调整为|调整到|变成|变为|升到|降到|提高到|提升到|降低到|增加到|减少到|缩短到|延长到|搬到|改到|推迟到|提前到|跳槽到|切换到|切到|升级到)`), "$2"},
	{"每", regexp.MustCompile(`每(周|星期|礼拜)([一二三四五六日天])`), "每 $1$2"},
	{"岁", regexp.MustCompile(`^(?:我|用户)?(?:的年龄是?|今年|已经|现在|\s)*(\d+) ?岁`), "年龄是${1}岁"},
	{"from ", regexp.MustCompile(`(?i)\bfrom (\S+(?: \S+){0,3}?) to `), "to "},
	{"years old", regexp.MustCompile(`(?i)^(?:i am|i'm|the user is) (\d+) years old`), "age is ${1} years old"},
	{"moved to ", regexp.MustCompile(`(?i)\b(i|we|they|he|she|user) moved to `), "$1 moved house to "},
}

// instead matches what is put away for something else.
var instead = regexp.MustCompile(`(?:,? ?(?:instead of|rather than|and not) [^,.;]+)|(?:[，,]?(?:而不是|而非)[^，。,;；]+)`)

// clauses are the parts of a sentence between commas and full stops, if there are several.
func clauses(text string) []string {
	out := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("，,。;；!！\n", r) })
	if len(out) < 2 {
		return nil
	}
	return out[:min(len(out), 8)]
}

// read takes a sentence apart.
func read(text string) sentence {
	text = strings.TrimSpace(fold.Of(text).S)
	p := parser{sentence: sentence{copula: -1}, text: text}
	p.asks = strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？")
	p.text = strings.TrimRight(text, ".。!！?？ ;；")
	for _, r := range rewritings {
		if !anyOf(p.text, r.when) {
			continue
		}
		p.text = r.from.ReplaceAllString(p.text, r.to)
	}
	p.lower = strings.ToLower(p.text)
	if len(p.lower) != len(p.text) {
		p.text = p.lower
	}
	if anyOf(p.lower, "instead of|rather|and not|而") {
		if at := instead.FindStringIndex(p.lower); at != nil {
			p.text, p.lower, p.changes = p.text[:at[0]]+p.text[at[1]:], p.lower[:at[0]]+p.lower[at[1]:], true
		}
	}
	for p.at < len(p.text) {
		p.next()
	}
	p.close()
	return p.sentence
}

// anyOf reports whether one of some words is in a text, whatever the case of its first letter.
func anyOf(text, words string) bool {
	for w := range strings.SplitSeq(words, "|") {
		if strings.Contains(text, w) || w[0] < utf8.RuneSelf && strings.Contains(text, w[1:]) {
			return true
		}
	}
	return false
}

// A parser reads a sentence from left to right.
type parser struct {
	sentence
	text, lower string
	at          int
	moving      bool // a verb wants a copula: "change ... to"
	counts      bool // an identifier is to come: "order 1001"
}

func (p *parser) next() {
	r, size := utf8.DecodeRuneInString(p.lower[p.at:])
	switch {
	case p.moving && strings.HasPrefix(p.lower[p.at:], "to ") && len(p.words) > 0:
		p.copula, p.changes, p.at = len(p.words), true, p.at+3
	case p.date() || p.numeral():
	case p.phrase():
	case fold.Han(r):
		p.add(word{string(r), strange})
		p.at += size
	case unicode.IsLetter(r) || unicode.IsDigit(r):
		p.latin()
	default:
		p.at += size
	}
}

func (p *parser) add(w word) {
	if n := len(p.words); n > 0 && p.words[n-1].text == w.text && w.class != strange && w.class != number {
		return // 名字叫 says it twice
	}
	p.words = append(p.words, w)
	p.counts = slices.Contains(countable, w.text)
}

// countable are words before a number that is none but tells things apart.
var countable = []string{"NUMBER", "单", "order", "ticket", "工", "号", "room", "server", "房", "楼", "栋", "case", "issue", "invoice", "incident", "batch", "row", "line", "chapter", "page", "step", "node", "host", "shard", "第", "编", "版"}

var dates = regexp.MustCompile(`^(?:\d{4}[-/.年]\d{1,2}(?:[-/.月]\d{1,2}[日号]?)?月?|\d{1,2}月(?:\d{1,2}[日号]?)?|(?:上午|下午|晚上|早上|中午|凌晨|傍晚)?[\d零一二两三四五六七八九十]{1,3}点(?:半|一刻|三刻|\d{1,2}分?|钟)?|\d{1,2}:\d\d(?::\d\d)? ?(?:am|pm)?|\d{1,2} ?(?:am|pm)\b|` +
	`\d{1,2}[日号](?:\D|$)|(?:下|这|本|上)?个?(?:周|星期|礼拜)[一二三四五六日天末\d]|(?:今|明|后|昨|大后)[天晚早]|下个?月|月底|月初|年底|年初|季度末|上午|下午|晚上|早上|中午|凌晨|` +
	`(?:next |this )?(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|mon|tue|wed|thu|fri)s?\b|(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec)\.? \d{1,2}(?:st|nd|rd|th)?\b(?:,? \d{4})?|` +
	`\d{1,2}(?:st|nd|rd|th)? (?:of )?(?:january|february|march|april|may|june|july|august|september|october|november|december)\b|the \d{1,2}(?:st|nd|rd|th)\b|q[1-4]\b|(?:january|february|march|april|june|july|august|september|october|november|december)\b|` +
	`tomorrow\b|today\b|tonight\b|yesterday\b|next week\b|next month\b|morning\b|afternoon\b|evening\b|noon\b|midnight\b|weekends?\b|周末|节假日)`)

// dateBegins are the runes that a date can begin with.
const dateBegins = "0123456789上下午晚早中凌傍零一二两三四五六七八九十这本个周星礼今明后昨大月年季节jfmasondtwqe"

func first(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// date reads a day or a time.
func (p *parser) date() bool {
	if p.at > 0 && digitOrLetter(p.lower[p.at-1]) || !strings.ContainsRune(dateBegins, first(p.lower[p.at:])) {
		return false
	}
	m := dates.FindString(p.lower[p.at:])
	if m == "" {
		return false
	}
	if r, size := utf8.DecodeLastRuneInString(m); r > 127 && !fold.Han(r) || size == 1 && !digitOrLetter(m[len(m)-1]) {
		m = m[:len(m)-size] // what only had to follow
	}
	if strings.HasPrefix(p.lower[p.at:], "may ") && !strings.ContainsAny(m, "0123456789") {
		return false
	}
	p.words = append(p.words, word{dateForm(m), date})
	p.at += len(m)
	return true
}

// dateForm is one form of a date.
func dateForm(m string) string {
	m = strings.NewReplacer("星期", "周", "礼拜", "周", "号", "日", "年", "-", "月", "-", "/", "-", "点钟", "点", " ", "", "the", "").Replace(m)
	m = strings.TrimSuffix(strings.TrimSuffix(m, "日"), "s")
	return strings.Trim(m, "-")
}

func digitOrLetter(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

var numerals = regexp.MustCompile(`^([零一二两三四五六七八九十百千万半]{1,12})(个|元|块|秒|分钟|小时|天|岁|人|台|次|条|份|套|件|年|万|度|名|位|公里|公斤|只|张|辆|本|倍|期|遍)`)

// numeral reads a number in Chinese characters, which is one only before what it counts.
func (p *parser) numeral() bool {
	if !strings.ContainsRune("零一二两三四五六七八九十百千万半", first(p.lower[p.at:])) {
		return false
	}
	m := numerals.FindStringSubmatch(p.lower[p.at:])
	if m == nil {
		return false
	}
	p.add(word{value(m[1]), number})
	p.at += len(m[1])
	return true
}

// value is a Chinese numeral in digits.
func value(s string) string {
	total, section, n := 0, 0, 0
	for _, r := range s {
		switch i := strings.IndexRune("零一二三四五六七八九", r) / 3; {
		case r == '半':
			return s
		case r == '两':
			n = 2
		case strings.ContainsRune("零一二三四五六七八九", r):
			n = i
		case r == '万':
			total, section, n = total+(section+n)*10000, 0, 0
		default:
			unit := map[rune]int{'十': 10, '百': 100, '千': 1000}[r]
			section, n = section+max(n, 1)*unit, 0
		}
	}
	return itoa(total + section + n)
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

// phrase reads a phrase of the lexicon.
func (p *parser) phrase() bool {
	rest := p.lower[p.at:]
	r, _ := utf8.DecodeRuneInString(rest)
	for _, w := range by[r] {
		if !strings.HasPrefix(rest, w.words) || !p.whole(w.words) {
			continue
		}
		if w.class == unit && (len(p.words) == 0 || p.words[len(p.words)-1].class != number) {
			continue // "s" is seconds behind a number
		}
		if (w.words == "may" || w.words == "无" || w.words == "非" || w.words == "万") && p.part(w.words) {
			continue
		}
		p.apply(w.phrase)
		p.at += len(w.words)
		return true
	}
	return false
}

// part reports whether a phrase of one character is a part of a word here.
func (p *parser) part(w string) bool {
	switch w {
	case "万":
		return len(p.words) == 0 || p.words[len(p.words)-1].class != number
	case "may":
		return false
	}
	next, _ := utf8.DecodeRuneInString(p.lower[p.at+len(w):])
	return !strings.ContainsRune("需须法", next) && fold.Han(next) && w == "非"
}

// whole reports whether a phrase in Latin letters stands between the ends of words.
func (p *parser) whole(w string) bool {
	if r, _ := utf8.DecodeRuneInString(w); r > 127 || !unicode.IsLetter(r) {
		return true
	}
	end := p.at + len(w)
	behind := end == len(p.lower) || !digitOrLetter(p.lower[end]) && !strings.ContainsRune("-_@", rune(p.lower[end]))
	if end < len(p.lower) && p.lower[end] == '\'' && w != "user" && !strings.HasPrefix(p.lower[end:], "'s") {
		behind = false
	}
	before := p.at == 0 || !letterBefore(p.lower[:p.at])
	return before && behind
}

func letterBefore(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r < 128 && (unicode.IsLetter(r) || r == '-' || r == '_' || r == '@')
}

func (p *parser) apply(w *phrase) {
	if w.marks&negates != 0 {
		p.negative = !p.negative
	}
	p.changes = p.changes || w.marks&changes != 0
	p.bids = p.bids || w.marks&bids != 0
	p.past = p.past || w.marks&past != 0
	p.adds = p.adds || w.marks&adds != 0
	p.only = p.only || w.marks&only != 0
	p.recurs = p.recurs || w.marks&recurs != 0
	p.orders = p.orders || w.marks&orders != 0
	p.asks = p.asks || w.marks&asks != 0
	p.moving = p.moving || w.marks&moves != 0
	p.owned = p.owned || w.marks&owns != 0 && p.copula < 0
	if w.text != "" {
		p.add(word{w.text, w.class})
	}
	if w.marks&copies != 0 && (p.copula <= 0 || len(p.words) == p.copula) {
		p.copula = len(p.words)
	}
}

// latin reads a word that the lexicon does not know.
func (p *parser) latin() {
	end := p.at
	for end < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[end:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_@./,%'", r) || fold.Han(r) {
			break
		}
		end += size
	}
	w := strings.TrimRight(p.text[p.at:end], "-_@./,'")
	if w == "" {
		p.at++
		return
	}
	if w2, ok := strings.CutSuffix(strings.ToLower(w), "'s"); ok {
		p.owned = p.owned || p.copula < 0
		w = w[:len(w2)]
		p.at += 2
	}
	if n := digitsBefore(w); n > 0 && n < len(w) && p.unit(w[n:]) {
		p.add(word{strings.ReplaceAll(w[:n], ",", ""), number})
		p.at += n
		return
	}
	it := latin(w, len(p.words) == 0)
	if it.class == number && (p.counts || p.numbered(end)) {
		it.class = identifier
	}
	p.add(it)
	p.at += len(w)
}

// digitsBefore counts the digits that a word begins with.
func digitsBefore(w string) int {
	return len(w) - len(strings.TrimLeft(w, "0123456789.,"))
}

// unit reports whether letters behind digits are what they count: 30s.
func (p *parser) unit(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	for _, w := range by[r] {
		if w.words == strings.ToLower(s) && w.class == unit {
			return true
		}
	}
	return false
}

// numbered reports whether a number is that of a thing: 3 号机房.
func (p *parser) numbered(end int) bool {
	return strings.HasPrefix(strings.TrimLeft(p.lower[min(end, len(p.lower)):], " "), "号")
}

// close drops a copula at the end or behind nothing but a default, and finds the place of the value behind one.
func (p *parser) close() {
	if p.copula >= len(p.words) {
		p.copula = -1
	}
	if i := slices.IndexFunc(p.words, func(w word) bool { return w.text == "DEFAULT" }); i >= 0 && p.copula <= i {
		if p.copula == 0 || p.copula == i || p.copula < 0 && i == 0 {
			p.copula = -1
			if i+1 < len(p.words) {
				p.copula = i + 1
			}
		}
	}
}
