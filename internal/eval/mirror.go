package main

import (
	"fmt"

	"github.com/holdfast-go/holdfast/memory/search"
)

const mirror = "Mirrored"

// A fact is what a user said, and a question about it in other words, in one language. %s is what it is about.
type fact struct{ said, asked string }

// A mirrored fact is the same in both languages.
type mirrored struct{ en, zh fact }

// Each is said about each of subjects, so that neither the words of a fact nor its subject find it alone. A question shares a word with
// its fact in each language; what shares none is not for a search by words.
var facts = []mirrored{
	{fact{"The platform team in Hangzhou is responsible for %s.", "Who is responsible for %s?"}, fact{"%s的负责人是杭州的平台组。", "%s由谁负责？"}},
	{fact{"%s listens on port 8443 in production.", "Which port does %s use in production?"}, fact{"%s在生产环境监听8443端口。", "%s的生产端口是哪个？"}},
	{fact{"Please never restart %s during office hours.", "May I restart %s at noon?"}, fact{"上班时间不要重启%s。", "中午可以重启%s吗？"}},
	{fact{"The logs of %s are kept for ninety days.", "How long do we keep logs of %s?"}, fact{"%s的日志保留九十天。", "%s的日志保留多久？"}},
	{fact{"We refused the quote of the vendor for %s last month.", "Did we accept the vendor's quote for %s?"}, fact{"上个月我们拒绝了供应商给%s的报价。", "%s的供应商报价接受了吗？"}},
	{fact{"%s depends on the inventory database.", "What does %s depend on?"}, fact{"%s依赖库存数据库。", "%s依赖什么？"}},
	{fact{"I like the weekly report about %s as a table.", "In which form do I want the report about %s?"}, fact{"关于%s的周报我喜欢用表格。", "%s的周报用什么形式？"}},
	{fact{"The budget of %s for this year is forty thousand euros.", "How large is the budget of %s?"}, fact{"%s今年的预算是四万欧元。", "%s的预算有多少？"}},
	{fact{"Alerts of %s go to the night shift by phone.", "Where do alerts of %s go?"}, fact{"%s的告警电话通知夜班。", "%s的告警通知给谁？"}},
	{fact{"The contract for %s ends on the last day of March.", "When does the contract for %s end?"}, fact{"%s的合同三月最后一天到期。", "%s的合同什么时候到期？"}},
	{fact{"The migration of %s to the new cluster failed twice.", "How did the migration of %s go?"}, fact{"%s迁移到新集群失败了两次。", "%s的迁移怎么样？"}},
	{fact{"Mrs. Lin approves every change of %s.", "Who approves changes of %s?"}, fact{"%s的每次变更都由林女士审批。", "%s的变更谁审批？"}},
	{fact{"%s listens on port 9443 in testing.", "On which port does %s run for tests?"}, fact{"%s在测试环境监听9443端口。", "测试时%s跑在哪个端口？"}},
	{fact{"Backups of %s are kept for a year.", "For how long are old backups of %s there?"}, fact{"%s的备份保留一年。", "%s的旧备份能留到什么时候？"}},
	{fact{"Zhao is on leave, Qian stands in for %s.", "Whom do I ask about %s while Zhao is away?"}, fact{"小赵休假，%s由小钱代班。", "小赵不在时%s找谁？"}},
	{fact{"The dashboard of %s is slow on Mondays.", "On which day is the dashboard of %s slow?"}, fact{"%s的仪表盘周一很慢。", "%s的仪表盘哪天慢？"}},
	{fact{"%s was renamed last autumn.", "When did %s get its present name?"}, fact{"%s去年秋天改了名。", "%s什么时候有了现在的名字？"}},
	{fact{"The tests of %s take eleven minutes.", "How long do I wait for the tests of %s?"}, fact{"%s的测试要跑十一分钟。", "%s的测试要等多久？"}},
}

var subjects = []struct{ en, zh string }{
	{"the payment service", "支付服务"}, {"the order service", "订单服务"}, {"the search gateway", "搜索网关"}, {"the mail relay", "邮件中继"},
	{"the coupon engine", "优惠券引擎"}, {"the image store", "图片仓库"}, {"the shop window", "商店橱窗"}, {"the data lake", "数据湖"},
	{"payment-api", "payment-api"}, {"svc_17", "svc_17"},
}

// loadMirror returns the same questions about the same facts in both languages, each language apart. It needs no files.
func loadMirror() set {
	s := set{
		name:       mirror,
		about:      "The same 180 facts, said and asked in both languages; a question shares a word with its fact and the subject with 17 others. Generated.",
		categories: []string{"English", chinese, total},
	}
	var en, zh haystack
	for _, subject := range subjects {
		for _, f := range facts {
			en.say(f.en, subject.en, "English")
			zh.say(f.zh, subject.zh, chinese)
		}
	}
	s.haystacks = []haystack{en, zh}
	return s
}

func (h *haystack) say(f fact, about, language string) {
	no := uint32(len(h.docs) + 1)
	h.docs = append(h.docs, search.Doc{No: no, Text: fmt.Sprintf(f.said, about)})
	h.questions = append(h.questions, question{fmt.Sprintf(f.asked, about), language, [][]uint32{{no}}})
}
