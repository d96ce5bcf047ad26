package extract

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/memory/guard"
	"github.com/holdfast-go/holdfast/memory/internal/fold"
	"github.com/holdfast-go/holdfast/memory/internal/prose"
)

// A clause is what stands between two commas of the user's own words.
type clause struct {
	words string // as the user wrote it
	core  string // the same without "by the way" and the like
	text  string // folded, what is quoted blanked
	plain string // the same with what is quoted

	asks     bool
	reported bool // somebody else says so
	supposed bool // under a condition that stands before it
	unsure   bool
}

// maxClause is the longest clause that is read, in bytes. What is longer is no plain statement.
const maxClause = 400

// A reader takes the user's clauses out of a text.
type reader struct {
	folded fold.Text
	raw    string
	masked string
	out    []clause
}

// clauses returns what a user says in a text, in linear time; nothing if the text as a whole is not the user's own.
func clauses(text string) []clause {
	if foreign.MatchString(text) || len(guard.Planted(text)) > 0 {
		return nil
	}
	text = withoutBlocks(text)
	r := &reader{folded: fold.Of(text), raw: text}
	r.masked = mask(r.folded.S)
	own, _ := prose.Lines(r.folded.S)
	for _, line := range own {
		r.line(line.Start, line.End)
	}
	return r.out
}

// foreign matches texts that a person passes on: the prompt of an agent, an answer of one, our own prompt.
var foreign = regexp.MustCompile(`(?im)^[\s#*]*(?:system(?: prompt)?|系统提示词?|系统|assistant|助手)\s*[:：]` +
	`|^[\s#*]*you are [^.\n]{0,60}\b(?:assistant|agent|model|bot|ai|expert|analyst|copilot)\b` +
	`|^[\s#*]*你(?:是|现在是|将扮演)(?:一[个名位款])?[^\n。？?吗]{0,24}(?:助手|助理|机器人|专家|模型|智能体|客服)(?:[，。,.\s]|$)` +
	`|^[\s]*#+ *(?:role|rules?|instructions?|system|context|task|goals?|constraints|角色|规则|指令|任务|约束)[ \t]*[:：]?[ \t]*$` +
	`|\A\s*(?:sure|certainly|of course|absolutely)[!,.] +(?:here|i )|\A\s*(?:当然|好的|没问题)[，,！!。]\s*(?:以下|下面|这)是` +
	`|\bI(?:'m| am) an? (?:ai|virtual assistant|digital assistant)\b|我是(?:一个|一名|一款|你的|您的)?(?:AI|人工智能|智能助手|虚拟助手)` +
	`|\b(?:extract|collect)\b.{0,40}\b(?:memor(?:y|ies)|facts)\b.{0,80}\bjson\b|(?:提取|抽取).{0,12}(?:记忆|事实|偏好).{0,40}json` +
	`|\bas an? (?:ai|large) (?:language )?(?:model|assistant)\b|作为(?:一个|一名|一款)?(?:AI|人工智能|大?语言模型)` +
	`|` + regexp.QuoteMeta(markZH) + `|` + regexp.QuoteMeta(markEN))

// block matches data that is marked as such, recalled memories above all.
var block = regexp.MustCompile(`(?ims)^[ \t]*<([a-z][\w-]*)(?: [^<>\n]*)?>[ \t]*$.*?^[ \t]*</[a-z][\w-]*>[ \t]*$`)

// recalled matches the head of a list of memories, which goes on to an empty line.
var recalled = regexp.MustCompile(`(?im)^[ \t#*\[]*(?:here are |these are |some |the |all |relevant |recalled |retrieved |user |long-term |stored |known |past )*(?:memor(?:y|ies)|facts about the user|user profile)\b[^\n]{0,40}[:：\]][^\n]*(?:\n[^\n]+)*` +
	`|^[ \t#*\[【]*(?:以下|下面|这些|是|的|一些|相关|召回的?|检索到的?|用户|长期|已知|历史)*(?:记忆|用户画像|用户偏好)[^\n，。]{0,12}[:：\]】][^\n]*(?:\n[^\n]+)*` +
	`|^[ \t]*\[[^\]\n]*\|[^\]\n]*\][^\n]*$|^[ \t]*\[(?:memory|ltm|recalled|记忆)\b[^\n]*$` +
	`|^[^\n]*(?:\((?:score:? ?)?[01]\.\d+\)|\[(?:semantic|preference|episode|habit)\])[ \t]*$`)

func withoutBlocks(text string) string {
	for _, re := range []*regexp.Regexp{block, recalled} {
		text = re.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) })
	}
	return text
}

// quoted are the marks around words that are somebody else's, or a name.
var quoted = map[rune]rune{'"': '"', '「': '」', '『': '』', '«': '»', '《': '》', '`': '`'}

// blank stands for each byte of what is quoted.
const blank = '\x01'

// mask blanks what is quoted; every byte keeps its place. A quotation has no line break in it and at most 400 bytes.
func mask(s string) string {
	b := []byte(s)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		end := quoted[r]
		i += size
		if end == 0 {
			continue
		}
		rest := s[i:min(len(s), i+400)]
		n := strings.IndexRune(rest, end)
		if n < 0 || strings.Contains(rest[:n], "\n") {
			continue
		}
		for k := range n {
			b[i+k] = blank
		}
		i += n + utf8.RuneLen(end)
	}
	return string(b)
}

// line reads the sentences of a line.
func (r *reader) line(start, end int) {
	s := r.masked[start:end]
	if dump(s) {
		return
	}
	from := 0
	for i, c := range s {
		size := utf8.RuneLen(c)
		if c == utf8.RuneError {
			size = 1
		}
		if !stops(s, i, c) {
			continue
		}
		if !minds(s[from:i]) { // "I changed my mind. Testing." is one sentence
			r.sentence(start+from, start+i, c)
			from = i + size
		}
	}
	if from < len(s) {
		r.sentence(start+from, end, 0)
	}
}

// dump reports whether a line is data and not language.
func dump(s string) bool {
	t := strings.TrimSpace(s)
	return strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[{") || strings.HasPrefix(t, "|") || strings.Count(t, "=") > 2 || strings.Count(t, `":`) > 1
}

func stops(s string, i int, c rune) bool {
	if c != '.' {
		return strings.ContainsRune("。！？!?；;", c)
	}
	next, _ := utf8.DecodeRuneInString(s[i+1:])
	return i+1 == len(s) || unicode.IsSpace(next) || fold.Han(next)
}

// sentence reads the clauses of a sentence that ends with a mark.
func (r *reader) sentence(start, end int, stop rune) {
	s := r.masked[start:end]
	parts := split(s)
	polite := politely.MatchString(s)
	asked, reported, supposed, doubted := false, false, false, false
	for i := 0; i < len(parts); i++ {
		from, to := parts[i].Start, parts[i].End
		for i+1 < len(parts) && to-from <= maxClause && joins(s[from:to], s[parts[i+1].Start:parts[i+1].End]) {
			i++
			to = parts[i].End
		}
		c := r.clause(start+from, start+to)
		asked = asked || asking.MatchString(s[from:to])
		c.asks = !polite && (asked || (stop == '?' || stop == '？') && (i+1 == len(parts) || i+2 == len(parts) && tag.MatchString(s[parts[i+1].Start:])))
		c.reported = reported
		c.supposed = supposed || condition.MatchString(c.text)
		doubted = doubted || unsure.MatchString(s[from:to])
		c.unsure = doubted
		reported = reported || reports.MatchString(s[from:to]) && !myself.MatchString(s[from:to])
		supposed = supposed || condition.MatchString(s[from:to])
		if c.text != "" && to-from <= maxClause {
			r.out = append(r.out, c)
		}
	}
}

// split cuts a sentence at its commas, and before "and I".
func split(s string) (out []prose.Span) {
	from := 0
	for _, m := range comma.FindAllStringSubmatchIndex(s, -1) {
		end, next := m[0], m[1]
		if m[2] >= 0 { // the word that begins the next clause
			next = m[2]
		}
		if c := s[end]; c == ',' && end > 0 && next < len(s) && digit(s[end-1]) && digit(s[next]) {
			continue
		}
		out = append(out, prose.Span{Start: from, End: end})
		from = next
	}
	return append(out, prose.Span{Start: from, End: len(s)})
}

func digit(b byte) bool { return '0' <= b && b <= '9' }

var comma = regexp.MustCompile(`(?i)[,，]|(?:\s+(?:and|but|so|because)\s+)(I\b|I'|my |please |call me|from now on|always |never |default )|(?:并且|而且|但是?|不过|所以|因为)(我)`)

// joins reports whether a clause goes on behind its comma: "from now on, use tables", "先给结论，再给证据".
func joins(a, b string) bool {
	return heads.MatchString(a) || minds(a) || first.MatchString(a) && then.MatchString(b)
}

func minds(s string) bool { return mind.MatchString(s) }

var (
	heads = regexp.MustCompile(`(?i)^[\s\-*]*(?:(?:and|but|so|please|ok|well|also|好的?|请|那|嗯)[,，\s]+)?(?:from now on|going forward|in (?:the )?future|henceforth|from here on|by default|以后|今后|往后|从现在起|从现在开始|从今以后|默认)\s*$`)
	mind  = regexp.MustCompile(`(?i)^[\s\-*]*(?:(?:sorry|actually|hmm|ok|no|嗯|不|对了|等等)[,，\s]*)?(?:I(?:'ve| have| just)? changed my mind|on second thought|scratch that|我?(?:又)?改主意了?|我?(?:又)?改变主意了?|我?变卦了?)\s*$`)
	first = regexp.MustCompile(`(?i)先[^后再]{1,12}$|\bfirst\b`)
	then  = regexp.MustCompile(`(?i)^\s*(?:and )?(?:then|followed by|再|后|然后|接着|最后)`)

	asking = regexp.MustCompile(`(?i)(?:吗|呢|么)\s*$|^\s*(?:what|which|who|where|why|how|(?:do|does|did|is|are|was|were|am|can|could|would|will|should|has|have) (?:you|i|we|they|he|she|it|the|this|that|my|there)\b)` +
		`|是不是|是否|能不能|要不要|会不会|可不可以|有没有|为什么|怎么|什么时候|哪个|哪些|哪里|谁`)
	tag      = regexp.MustCompile(`(?i)^\s*(?:right|correct|yes|no|isn't it|don't I|am I not|or|对吗?|是吗|对吧|是吧|对不对|不是吗|没错吧|还是.*)\s*$`)
	politely = regexp.MustCompile(`(?i)^\s*(?:(?:hi|hey|hello|ok|so|and|please)[, ]+)*(?:could|can|would|will) you (?:please )?(?:always|never|from now on|remind me|forget|call me|default to|remember)\b|(?:^|[，,])[^，,]*(?:以后|今后|从现在起|提醒我|忘掉|记住)[^，,]*[，,]?(?:好吗|好么|可以吗|行吗|好不好)\s*$`)
	reports  = regexp.MustCompile(`(?i)\b(?:said|says|say|told|tells|wrote|writes|claims?|claimed|asked|asks|thinks?|quote|reads|according to|whether)\b[^,]*$` +
		`|(?:^|[^我])(?:说|表示|认为|觉得|写道|问|提到|反馈|告诉我)(?:过|了|道|是)?[：:]?\s*$|(?:他|她|他们|她们|有人|别人|老板|领导|同事|朋友|客户|老婆|老公|妈|爸)[^，,]{0,8}(?:说|表示|认为|觉得|问)`)
	myself    = regexp.MustCompile(`(?i)^\s*(?:as |like )?(?:I|we)\b|^\s*我(?:之前|上次|已经|刚才|都|跟你|和你|早就)*(?:说|觉得|认为|问|提|告诉)`)
	condition = regexp.MustCompile(`(?i)\b(?:if|suppose|supposing|imagine|assuming|unless|whether|let's say|what if|in case|would have|used to|pretend|for example|e\.g\.)\b|如果|假如|假设|要是|倘若|万一|的话|比如说?|例如|假装|打个比方|本来`)
	unsure    = regexp.MustCompile(`(?i)\b(?:maybe|perhaps|possibly|might|not sure|i guess)\b|可能|也许|或许|大概|好像|似乎|说不定|不确定|不一定`)
)

// clause makes a clause of bytes of the folded text.
func (r *reader) clause(start, end int) clause {
	start, end = trim(r.masked, start, end)
	from, to := r.folded.Span(start, end)
	c := clause{words: r.raw[from:to]}
	for {
		n := filler.FindStringIndex(r.masked[start:end])
		if n == nil || n[1] == 0 {
			break
		}
		start, end = trim(r.masked, start+n[1], end)
	}
	if n := courtesy.FindStringIndex(r.masked[start:end]); n != nil {
		start, end = trim(r.masked, start, start+n[0])
	}
	from, to = r.folded.Span(start, end)
	c.core, c.text, c.plain = r.raw[from:to], r.masked[start:end], r.folded.S[start:end]
	return c
}

// trim leaves out spaces, and the marks of lists.
func trim(s string, start, end int) (int, int) {
	for start < end && (strings.ContainsRune(" \t\r-*•,:", rune(s[start])) || strings.HasPrefix(s[start:end], "，") || strings.HasPrefix(s[start:end], "：")) {
		_, n := utf8.DecodeRuneInString(s[start:])
		start += n
	}
	for start < end && strings.ContainsRune(" \t\r,.", rune(s[end-1])) {
		end--
	}
	return start, end
}

var (
	filler = regexp.MustCompile(`(?i)^(?:(?:hi|hello|hey|oh|ok|okay|well|so|also|and|but|btw|by the way|actually|please|just|fyi|note(?: that)?|(?:please )?remember(?: that| this)?|` +
		`keep in mind(?: that)?|for the record|thanks|thank you|yes|sure|anyway|plus|one more thing|because|since|as you know|you should know(?: that)?|let me tell you(?: that)?|hmm|um|` +
		`could you(?: please)?|can you(?: please)?|would you(?: please)?|will you(?: please)?|I want you to|I need you to|I'd like you to|I would like you to|\d{1,2}[.)])(?:[,:\s]+|$)` +
		`|(?:对了|另外|还有|顺便(?:说|提)?(?:一下|一句)?|嗯+|好的|哦|啊|其实|因为|所以|而且|并且|但是|但|不过|然后|你好|您好|嗨|请(?:你|您)?(?:记住|记一下|记得|注意)?|麻烦(?:你|您)?(?:记住|记一下)?|` +
		`(?:你|您)?(?:要)?记住|记一下|记得|帮我记(?:住|一下|下)?|跟你说(?:一下)?|说一下|告诉你|补充一下|首先|那么|\d{1,2}[、.)]|[一二三四五六七八九][、.])\s*)`)
	courtesy = regexp.MustCompile(`(?i)(?:[\s,]+(?:please|thanks|thank you|okay|ok|though|too|as well)|[，,]?\s*(?:谢谢你?|多谢|好吗|好么|可以吗|行吗|好不好|哈|哦|呀|啦|噢|喔))+$`)
)
