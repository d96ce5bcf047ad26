package extract

import (
	"regexp"
	"strings"

	"github.com/holdfast-go/holdfast/memory/internal/fold"
	"github.com/holdfast-go/holdfast/memory/longterm"
)

// A subject is what an item can be about, with the words for it.
type subject struct {
	key     string
	zh, en  string // its label, of a subject that has one value; "": the user's sentence says it best
	pattern *regexp.Regexp
}

// subjects are those that can be withdrawn by name.
var subjects = []subject{
	{"profile.name", "姓名", "Name", words(`名字|姓名|(?:full )?name`)},
	{"profile.nickname", "称呼", "Goes by", words(`昵称|称呼|nickname`)},
	{"profile.company", "公司", "Company", words(`公司|单位|雇主|东家|company|employer|workplace`)},
	{"profile.role", "职位", "Role", words(`职位|职务|岗位|职业|角色|role|job(?: title)?|title|position|profession|occupation`)},
	{"profile.city", "城市", "City", words(`城市|住处|所在地|居住地|city|home town|where I live`)},
	{"profile.birthday", "生日", "Birthday", words(`生日|birthday|date of birth`)},
	{"profile.timezone", "时区", "Time zone", words(`时区|time ?zone`)},
	{"contact.email", "邮箱", "Email", words(`邮箱(?:地址)?|电子邮箱|e-?mail(?: address)?`)},
	{"contact.phone", "电话", "Phone", words(`手机号码?|电话号码?|手机|电话|(?:phone|mobile|cell)(?: number)?|number`)},
	{"contact.channel", "", "", words(`联系方式(?:偏好)?|联系偏好|contact (?:preference|channel|method)s?`)},
	{"default.env", "默认环境", "Default environment", words(`默认(?:的)?(?:环境|生产|测试|开发|预发)(?:环境)?|default env(?:ironment)?`)},
	{"default.service", "默认服务", "Default service", words(`默认(?:的)?服务|default service`)},
}

// words matches a whole phrase.
func words(alternatives string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:` + alternatives + `)$`)
}

// label stands before the value of a subject that has one.
func label(key string, zh bool) string {
	for _, s := range subjects {
		if s.key == key && s.zh != "" {
			if zh {
				return s.zh + "："
			}
			return s.en + ": "
		}
	}
	if noun, ok := strings.CutPrefix(key, "default."); ok {
		return defaultLabel(noun, zh)
	}
	return ""
}

func defaultLabel(noun string, zh bool) string {
	if !zh {
		return "Default " + noun + ": "
	}
	for _, n := range nouns {
		if n.en == noun {
			noun, _, _ = strings.Cut(n.zh, "|")
		}
	}
	return "默认" + noun + "："
}

// nouns are what can have a default. The first word names it.
var nouns = []struct{ en, zh, more string }{
	{"env", "环境", "environment|stage"}, {"service", "服务", ""}, {"region", "区域|地域|地区", ""}, {"language", "语言", ""}, {"cluster", "集群", ""},
	{"database", "数据库", "db"}, {"branch", "分支", ""}, {"project", "项目", ""}, {"model", "模型", ""}, {"currency", "货币|币种", ""},
	{"address", "地址|收货地址", "shipping address"}, {"carrier", "快递", "courier"}, {"namespace", "命名空间", ""}, {"payment", "支付方式|付款方式", "payment method"},
	{"timezone", "时区", "time zone"}, {"unit", "单位", "units"}, {"format", "格式", "output format"},
}

// fallback is the key and the value of a default; no key if it says none.
func fallback(noun, value string) (string, string) {
	if env := environment(value); env != "" && (noun == "" || nounOf(noun) == "env") {
		return "default.env", env
	}
	if noun == "" && service.MatchString(value) {
		return "default.service", value
	}
	if n := nounOf(noun); n != "" && n != "env" && value != "" {
		return "default." + n, value
	}
	return "", ""
}

func nounOf(word string) string {
	word = strings.ToLower(word)
	for _, n := range nouns {
		for w := range strings.SplitSeq(n.en+"|"+n.zh+"|"+n.more, "|") {
			if w == word {
				return n.en
			}
		}
	}
	return ""
}

// service is how services are called: payment-api, 支付服务.
var service = regexp.MustCompile(`(?i)^[a-z][a-z0-9]*(?:[-_.][a-z0-9]+)+$|^\p{Han}{2,8}服务$`)

// environments are the words for each, the one that is kept first, in each language.
var environments = []struct{ zh, en string }{
	{"生产|线上|正式", "production|prod|live"}, {"测试", "testing|test|qa"}, {"开发|本地", "development|dev|local"}, {"预发|预发布|灰度", "staging|stage|canary"},
}

const (
	envZH = `(?:生产|线上|正式|测试|开发|本地|预发布|预发|灰度|production|prod|testing|test|qa|development|dev|staging)`
	envEN = `(?:production|prod|live|testing|test|qa|development|dev|local|staging|stage|canary)`
)

// environment is the one word for an environment in the language of the word; "" if it is none.
func environment(word string) string {
	word = strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(word), "环境"), " environment"))
	for _, e := range environments {
		for _, names := range []string{e.zh, e.en} {
			for n := range strings.SplitSeq(names, "|") {
				if n == word {
					first, _, _ := strings.Cut(names, "|")
					return first
				}
			}
		}
	}
	return ""
}

// forms are those that an answer can have. A wish is about one if it has the words.
var forms = []subject{
	{key: "format.order", pattern: regexp.MustCompile(`(?i)先[^后再]{0,6}(?:结论|结果|答案|重点|要点|摘要|总结|原因|证据|背景)|(?:结论|答案|重点|摘要|总结)(?:放|写)?(?:在)?(?:最)?前|结论先行` +
		`|\b(?:conclusions?|answers?|summary|bottom line|results?|evidence|reasons?)\b.{0,12}\bfirst\b|\b(?:start|begin|lead|open) with (?:the |a |your )?(?:conclusions?|answers?|summary|bottom line|results?)\b|\bfirst (?:give |state |tell me )?the (?:conclusion|answer|summary|result)`)},
	{key: "format.table", pattern: regexp.MustCompile(`(?i)表格|列表格|\btables?\b|\btabular\b`)},
	{key: "format.chart", pattern: regexp.MustCompile(`(?i)图表|柱状图|折线图|饼图|\b(?:charts?|diagrams?|graphs)\b`)},
	{key: "format.list", pattern: regexp.MustCompile(`(?i)列表|分点|要点列|条列|清单|\bbullet(?:s|ed)?\b|\bbullet points?\b|\b(?:numbered )?lists\b`)},
	{key: "format.json", pattern: regexp.MustCompile(`(?i)json|yaml`)},
	{key: "format.language", pattern: regexp.MustCompile(`(?i)(?:用|说|讲|使用)(?:简体)?(?:中文|英文|英语|汉语|普通话|日语|日文|德语|法语)|(?:中文|英文|英语|日文)(?:回答|回复|交流|沟通|输出)|\b(?:in|speak|use) (?:simplified )?(?:chinese|english|german|french|japanese|spanish)\b`)},
	{key: "format.length", pattern: regexp.MustCompile(`(?i)(?:简短|简洁|精简|简明|简练|言简意赅|详细|详尽|短|长)(?:一点|一些|点|些)?(?:的)?(?:回答|回复|答案|报告|解释|说明|内容|输出|汇报|消息)|(?:回答|回复|答案|报告|解释|说明|输出|汇报)(?:得|要|请|都|尽量|应该|应|能|更|时)*(?:简短|简洁|精简|简明|简练|详细|详尽|短|长)|(?:简短|简洁|精简|简明|简练|详细|详尽)(?:一点|一些|点|些)` +
		`|\b(?:short|brief|concise|terse|detailed|long|lengthy|thorough)(?:er)?,? (?:and \w+ )?(?:answers?|repl(?:y|ies)|responses?|summar(?:y|ies)|reports?|explanations?|messages)\b|\b(?:answers?|repl(?:y|ies)|responses?|reports?|explanations?) (?:to be |that are |should be |must be )?(?:short|brief|concise|terse|detailed|long)\b|\b(?:be|keep it|answer|reply|respond) (?:brief|concise|short|briefly|concisely|in detail)`)},
	{key: "format.emoji", pattern: regexp.MustCompile(`(?i)表情符号|表情|\bemojis?\b`)},
	{key: "format.code", pattern: regexp.MustCompile(`(?i)代码(?:示例|例子|块)?|\bcode (?:examples?|samples?|snippets?|blocks?)\b`)},
	{key: "format.tone", pattern: regexp.MustCompile(`(?i)正式的?语气|口语化|语气(?:正式|随和|轻松)|\b(?:formal|informal|casual|friendly) (?:tone|style|language)\b`)},
}

var (
	channels = regexp.MustCompile(`(?i)^(?:(?:用|通过|走|发|以)?(?:邮件|电邮|邮箱|微信|短信|电话|钉钉|飞书|企业微信|slack|email)(?:来)?(?:跟我|和我|与我)?(?:联系|沟通|通知|交流|找我|联系我|通知我)?` +
		`|(?:to )?(?:be(?:ing)? )?(?:contact(?:ed)? |reach(?:ed)? |communicat\w+ |contact me |notif\w+ )?(?:by |via |over |through |on |with )?(?:e-?mails?|phone(?: calls?)?|text(?: messages?)?|sms|slack|whatsapp|wechat|teams)(?: (?:to|over|instead of|rather than) .{1,30})?)$`)
	denies   = regexp.MustCompile(`(?i)不|别|讨厌|反感|\b(?:not|no|never|don't|hate|dislike|can't|cannot|avoid|stop|without)\b`)
	defaults = regexp.MustCompile(`(?i)^(?:都|就|一律|默认|请|to )*(?:用|查|看|走|连|在|到|是|使用|改成|改用|use|default to|go with|assume|query|check|work (?:in|on)|work against)?(?:到|成)?\s*(?:the )?(` + envZH + `|` + envEN + `)(?:\s*(?:环境|environment))?(?:的?(?:数据|日志))?(?:吧|就行|就好|就可以)?(?: by default)?$`)
)

// wish is what a wish for good is about: a habit of answering, a form, a way to be reached, a default. Of no known subject it has
// no key: a later one is found by its words. The value is only returned where it says all.
func wish(kind longterm.Kind, v, sentence string) (longterm.Kind, string, string) {
	no := denies.MatchString(sentence)
	if m := defaults.FindStringSubmatch(v); m != nil && !no {
		return longterm.Preference, "default.env", environment(m[1])
	}
	if channels.MatchString(v) && !no {
		return longterm.Preference, "contact.channel", ""
	}
	for _, f := range forms {
		if f.pattern.MatchString(v) {
			if f.key == "format.order" {
				kind = longterm.Habit
			}
			return kind, f.key, ""
		}
	}
	return kind, "", ""
}

// subjectOf is the key of what a phrase names; "" if nothing.
func subjectOf(phrase string) string {
	phrase = strings.TrimSpace(fold.Of(phrase).S)
	for _, s := range subjects {
		if s.pattern.MatchString(phrase) {
			return s.key
		}
	}
	return ""
}
