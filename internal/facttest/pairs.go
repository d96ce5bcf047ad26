package facttest

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
)

// A Pair is a fact, and a later one that takes its place.
type Pair struct {
	Lang, Class string
	Old, New    string
	Neighbours  []string // facts with nearly the same words about something else, which hold before and after
	Question    string   // that asks for the fact
	Want        string   // words of New that answer it
}

//go:embed pairs.zh.txt
var pairsZH string

//go:embed pairs.en.txt
var pairsEN string

// Pairs returns n pairs, half of them in Chinese, of negations, numbers, environments, dates, names and more, the same for the same seed.
func Pairs(seed uint64, n int) (out []Pair) {
	r := rand.New(rand.NewPCG(seed, 2))
	zh, en := lines(pairsZH, 6), lines(pairsEN, 6)
	for i := range n {
		lang, from := "zh", zh
		if i%2 == 1 {
			lang, from = "en", en
		}
		out = append(out, pair(lang, from[(i/2)%len(from)], r))
	}
	return out
}

func lines(text string, parts int) (out [][]string) {
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		p := strings.Split(line, " | ")
		if len(p) != parts {
			panic(fmt.Sprintf("line %d has %d parts", i+1, len(p)))
		}
		out = append(out, p)
	}
	return out
}

func pair(lang string, p []string, r *rand.Rand) Pair {
	f := filler{r: r, lang: lang, was: map[string]string{}}
	return Pair{
		Lang: lang, Class: p[0], Old: f.fill(p[1]), New: f.fill(p[2]), Neighbours: strings.Split(f.fill(p[3]), ";"), Question: f.fill(p[4]), Want: f.fill(p[5]),
	}
}

var pools = map[string]map[string]string{
	"zh": {
		"e": "生产 测试 预发 开发", "s": "payment-api order-api search-api 支付服务 通知服务 库存服务 user-center", "p": "王芳 李雷 张伟 陈静 刘洋 赵敏 孙强 周杰", "w": "周一 周二 周三 周四 周五",
		"k": "星河科技 云海软件 蓝鲸数据 北辰物流", "y": "上海 北京 杭州 成都 无锡 深圳", "j": "产品经理 工程师 设计师 架构师 测试工程师", "l": "中文 英文 日文 德语", "c": "邮件 电话 短信 微信 钉钉",
		"h": "简短 详细", "r": "红色 蓝色 绿色 深色", "x": "A B C D",
	},
	"en": {
		"e": "production testing staging development", "s": "payment-api order-api search-api billing user-center checkout", "p": "Alice Bob Carol Dave Erin Frank Grace Heidi", "w": "Monday Tuesday Wednesday Thursday Friday",
		"k": "Acme Initech Globex Umbrella", "y": "Paris Berlin Shanghai Oslo Madrid", "j": "designer developer architect tester teacher", "l": "English German French Chinese", "c": "email phone sms slack wechat",
		"h": "short detailed", "r": "red blue green dark", "x": "A B C D",
	},
}

var slot = regexp.MustCompile(`\{([a-z])(\d)\}`)

// A filler fills slots, two of one kind never with the same.
type filler struct {
	r    *rand.Rand
	lang string
	was  map[string]string
}

func (f filler) fill(s string) string {
	return slot.ReplaceAllStringFunc(s, func(m string) string {
		for f.was[m] == "" {
			v := f.value(m[1:2])
			taken := false
			for k, was := range f.was {
				taken = taken || k[1] == m[1] && was == v
			}
			if !taken {
				f.was[m] = v
			}
		}
		return f.was[m]
	})
}

func (f filler) value(kind string) string {
	switch kind {
	case "n":
		return strconv.Itoa(2 + f.r.IntN(97))
	case "o":
		return "20260" + strconv.Itoa(10000+f.r.IntN(89999))
	case "d":
		month, day := 1+f.r.IntN(12), 1+f.r.IntN(28)
		if f.lang == "zh" {
			return []string{fmt.Sprintf("%d月%d日", month, day), fmt.Sprintf("2026-%02d-%02d", month, day)}[f.r.IntN(2)]
		}
		return []string{"January", "March", "June", "August", "October", "December"}[month%6] + " " + strconv.Itoa(day)
	case "m":
		return pick(f.r, lower, 5) + "@example.com"
	}
	pool := strings.Fields(pools[f.lang][kind])
	return pool[f.r.IntN(len(pool))]
}
