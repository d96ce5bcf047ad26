package extract

import (
	"regexp"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/memory/internal/fold"
	"github.com/holdfast-go/holdfast/memory/internal/relate"
	"github.com/holdfast-go/holdfast/memory/longterm"
)

// forgets are orders to forget something, which the group v names.
var forgets = []*regexp.Regexp{
	zh(`(?:请|麻烦|帮我|把|将|可以|你|就)*(?:忘掉|忘记|忘了|删掉|删除|清除|清掉|抹掉|别再记|不要再记|别记|不要记)(?:掉|了|住|一下)*(?:关于|有关)?(?:我)?(?:之前|刚才|上次|以前)?(?:说|提|讲|告诉你)?(?:过)?的?(?:那个|那条|这条|这个)?(?P<v>.{1,40}?)(?:的?(?:这件事|这事|事|记忆|偏好|要求|设置|设定|信息|记录))?(?:吧|了)?`),
	zh(`(?:请|麻烦|帮我)*(?:把|将)(?:关于|有关)?(?:我)?(?:的|之前的|说的)?(?P<v>.{1,40}?)(?:的?(?:这件事|这事|记忆|偏好|要求|设置|设定|信息|记录))?(?:忘掉|忘记|忘了|删掉|删除|删了|清除|清掉|抹掉)(?:吧|了)?`),
	en(`(?:you can |you should )?(?:forget|delete|remove|erase|drop|clear|stop remembering|don't remember|do not remember|no longer remember)(?: about)?(?: the fact)?(?: that)?(?: what I said about)? ?(?:my |the |our )?(?P<v>.{2,60}?)(?: preference| setting| memory| rule)?(?: from (?:your )?memory)?`),
}

// ends are sentences that something no longer holds. The key is what they are about, or "*" for what the group v says.
var ends = []struct {
	key     string
	pattern *regexp.Regexp
}{
	{"profile.company", zh(`我(?:现在|已经|早就|目前)*(?:不在.{1,24}(?:工作|上班|任职|做|干)了?|离职了?|辞职了?|从.{1,24}(?:离职|辞职)了?|不再(?:在|为|就职于).{1,24})`)},
	{"profile.company", en(`I (?:no longer work|don't work|do not work|stopped working|quit working) (?:at|for|with) .{2,40}?(?: any ?more)?|I(?:'ve| have)? (?:quit|left) my job|I(?:'m| am) no longer (?:at|with|employed (?:at|by)) .{2,40}`)},
	{"default.env", zh(`(?:以后|今后|从现在起|请|现在|就|也)*(?:不再|不用再|不要再|别再|不用|取消|别|不要)默认(?:用|查|走|是|到|看)?` + envZH + `(?:环境)?了?|(?:以后)?(?:没有|不需要|不设|不要)默认环境了?`)},
	{"default.env", en(`(?:please )?(?:no longer|don't|do not|stop|never) (?:default(?:ing)? to|us(?:e|ing)) ` + envEN + `(?: environment)?(?: by default| as (?:the|my) default)?(?: any ?more| from now on)?|I (?:no longer|don't) (?:want|need|have) (?:a|any|the) default environment(?: any ?more)?`)},
	{"*", zh(`(?:我|以后|今后|现在|请|也|就)*(?:不再|不用再|不要再|别再|不用|不需要|不必|不想|再也不)(?:喜欢|偏好|想要|需要|用|要|使用|给我)*(?P<v>.{1,30}?)(?:回答|展示|回复|输出|给我)?了?`)},
	{"*", en(`(?:I|we)(?:'m)? (?:no longer|don't|do not) (?:like|want|need|prefer|use|care for) (?P<v>.{2,50}?)(?: any ?more)?|(?:no more|stop using|stop with|no) (?P<w>.{2,40}?)(?: any ?more| from now on)?`)},
}

// withdrawal is what a clause takes back: a subject by its name, a default, a form of the answer, or one of the items that are
// known. It reports false if the clause takes nothing back.
func (c clause) withdrawal(known []longterm.Item) ([]longterm.Draft, bool) {
	for _, re := range forgets {
		m := re.FindStringSubmatchIndex(c.text)
		if m == nil {
			continue
		}
		v := c.group(re, m, "v")
		if key := subjectOf(v); key != "" {
			return ending(key), true
		}
		if key := formOf(v); key != "" && memory.MatchString(c.text) {
			return ending(key), true
		}
		if memory.MatchString(c.text) {
			return endKnown(v, known)
		}
	}
	for _, e := range ends {
		m := e.pattern.FindStringSubmatchIndex(c.text)
		if m == nil {
			continue
		}
		if e.key != "*" {
			return ending(e.key), true
		}
		v := c.group(e.pattern, m, "v") + c.group(e.pattern, m, "w")
		if key := formOf(v); strings.HasPrefix(key, "format.") && gone.MatchString(c.text) {
			return ending(key), true
		}
	}
	return nil, false
}

// memory matches what can only be meant for what is remembered: who says "delete order 1005" means the order.
var memory = regexp.MustCompile(`(?i)忘|记|forget|rememb|memory`)

// gone matches what says that something held and no longer does.
var gone = regexp.MustCompile(`(?i)不再|再也不|了$|\b(?:no longer|any ?more|stop|no more)\b`)

func ending(key string) []longterm.Draft { return []longterm.Draft{{Key: key, Ends: true}} }

// liked is what stands before the thing in "forget that I like coffee".
var liked = regexp.MustCompile(`(?i)^(?:that )?(?:I (?:like|love|prefer|want|use|hate|dislike|don't like) |我?(?:喜欢|偏好|想要|要|用|讨厌|不喜欢)(?:用)?)`)

// formOf is the key of a form of the answer that a phrase is about, and of nothing else.
func formOf(phrase string) string {
	_, key, _ := wish(longterm.Preference, liked.ReplaceAllString(phrase, ""), "")
	if strings.HasPrefix(key, "format.") || key == "contact.channel" {
		return key
	}
	return ""
}

// endKnown ends the one item of those known that says what a phrase says.
func endKnown(phrase string, known []longterm.Item) ([]longterm.Draft, bool) {
	var of []longterm.Item
	for _, i := range known {
		if i.Current() && (relate.Compare(i.Text, phrase) == relate.Same || strings.Contains(squeeze(i.Text), squeeze(phrase)) && len(phrase) >= 6) {
			of = append(of, i)
		}
	}
	of = slices.CompactFunc(of, func(a, b longterm.Item) bool { return a.ID == b.ID })
	if len(of) != 1 {
		return nil, len(of) > 1
	}
	return []longterm.Draft{{Key: of[0].Key, Namespace: of[0].Namespace, Replaces: of[0].ID, Ends: true}}, true
}

// squeeze is a text without the differences of case, width and spaces.
func squeeze(s string) string { return strings.Join(strings.Fields(fold.Lower(fold.Of(s).S)), "") }
