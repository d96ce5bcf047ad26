package knowledge_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/holdfast-go/holdfast/memory/knowledge"
)

// A rule is something that a handbook may say of a thing, and how people ask for it: in other words. %s is the thing, %d a number.
type rule struct {
	says []string
	asks [3][]string // by what the lexicon was made with: these, and when it had these it was made better with those; with none of the last
}

// A tongue is what handbooks of a language are made of.
type tongue struct {
	things  []string
	rules   []rule
	filler  []string
	foreign []string // questions that no handbook answers
	themes  []string
}

var english = tongue{
	things: strings.Split("hotel stay|train ticket|parking permit|parental leave|gym membership|training course|meeting room|company car|language class|"+
		"relocation grant|sick leave|overtime shift|travel advance|expense report|VPN access|software licence|canteen meal|shuttle bus|locker key|"+
		"referral bonus|health check|dental treatment|vaccination|sabbatical|bereavement leave|jury duty|volunteer day|conference ticket|headset|"+
		"standing desk|data backup|incident report|fire drill|courier parcel|X5 printer|K2 kettle|R740 server|Aurora projector|visitor badge|wedding gift|"+
		"childcare subsidy|night taxi|bicycle rack|mobile plan|security audit|press interview|patent application|customer refund|trial account|pager duty", "|"),
	rules: []rule{
		{
			[]string{"The company reimburses each %s up to %d yuan.", "Spending for a %s is capped at %d yuan."},
			[3][]string{
				{"How much can I claim for a %s?", "What is the most the firm pays for a %s?", "What does a %s cost me at most, what do I get back?"},
				{"Up to what amount will you pay back a %s?", "If I spend money on a %s, how much of it is returned to me?"},
				{"What budget do I have for a %s?", "How many yuan are covered for the %s?", "Is the %s free for me or is there a ceiling?"},
			},
		},
		{
			[]string{"Requests for a %s have to be filed within %d working days.", "Hand in the form for the %s no later than %d days after the event."},
			[3][]string{
				{"How long do I have to apply for a %s?", "How many days are left to send in my %s paperwork?", "By when must the %s request reach you?"},
				{"What is the time limit for filing a %s?", "How soon after the fact do I need to submit the %s?"},
				{"What is the final day to hand in the %s?", "When does my %s form have to arrive?", "I forgot to file the %s, how many days do I still have?"},
			},
		},
		{
			[]string{"The %s is approved by the finance team, extension %d.", "The head of department decides about each %s (list no. %d)."},
			[3][]string{
				{"Who signs off a %s?", "Which team do I ask for permission for a %s?", "Whose agreement do I need for the %s?"},
				{"Who has to agree before I book a %s?", "Is there someone who must authorise the %s, and who?"},
				{"Whom should I contact to get the %s approved?", "Does my manager decide about the %s or does somebody else?", "Who has the last word on the %s?"},
			},
		},
		{
			[]string{"Every employee may use the %s %d times a year.", "The %s is granted at most %d times per year."},
			[3][]string{
				{"How often can I have a %s?", "How many times may I take the %s?", "Is there a limit on how many times I get the %s?"},
				{"How many times per year am I allowed a %s?", "Can I have more than one %s in a year, how often?"},
				{"Can I use the %s every month?", "How many %s can one person have annually?", "What is the yearly allowance of the %s?"},
			},
		},
		{
			[]string{"A %s lasts %d weeks at most.", "No %s goes on for longer than %d weeks."},
			[3][]string{
				{"How long can a %s last?", "What is the longest possible %s?", "For how many weeks can the %s go on?"},
				{"What is the maximum duration of a %s?", "Tell me how long the %s may run."},
				{"Is there a maximum length for the %s?", "Up to how many weeks does a %s go?", "When is a %s over?"},
			},
		},
		{
			[]string{"To cancel a %s, write to the desk at least %d hours before.", "A %s can be cancelled up to %d hours ahead."},
			[3][]string{
				{"How late can I still cancel a %s?", "I want to cancel the %s, when do I have to write?", "What is the cancellation deadline for a %s?"},
				{"If I change my mind about the %s, how many hours ahead must I cancel?", "How much notice is needed to call off a %s?"},
				{"I cannot make it: until when can I cancel the %s?", "Cancelling a %s, how far in advance?", "What do I have to do to call off the %s?"},
			},
		},
		{
			[]string{"The %s is open to all who have been here for %d months.", "After %[2]d months of service you are entitled to the %[1]s."},
			[3][]string{
				{"How long must I have worked here for a %s?", "After how many months am I entitled to a %s?", "When does a new colleague become eligible for the %s?"},
				{"Do I qualify for the %s, and after how many months?", "How many months of service does the %s require?"},
				{"From which month on do I get a %s?", "Are newcomers eligible for the %s?", "What seniority does the %s need?"},
			},
		},
	},
	filler: []string{"Please keep your receipts.", "Questions are welcome at any time.", "This section was reviewed last spring.", "Contractors follow the same rules.",
		"Exceptions are rare and are documented.", "Forms are on the intranet."},
	foreign: []string{"What is the capital of Portugal?", "How do I cook risotto with mushrooms?", "Who won the world cup in 1998?", "How far is the moon from the earth?",
		"What is the weather like in Oslo tomorrow?", "How old is the president of France?", "Which vitamin is in oranges?", "When did the Roman empire fall?",
		"Who wrote the novel Moby Dick?", "What is the boiling point of mercury?", "How many legs does a spider have?", "What is the price of gold today?",
		"When does the next train to Geneva leave?", "How do I tie a bow tie?", "What is the share price of our competitor?", "Who is the CEO of Toyota?",
		"How long does it take to fly to Sydney?", "Which language is spoken in Brazil?", "How much does a litre of petrol cost in Spain?", "Can you write me a poem about autumn?"},
	themes: strings.Split("Travel and expenses|Working time|Office and equipment|Benefits|Safety and data", "|"),
}

var chinese = tongue{
	things: strings.Split("酒店住宿|高铁票|停车证|育儿假|健身卡|培训课程|会议室|公司车辆|英语班|搬家补贴|病假|加班餐|差旅借款|报销单|VPN账号|软件授权|食堂餐卡|班车|储物柜|"+
		"内推奖金|体检|牙科治疗|疫苗接种|长期休假|丧假|陪审义务|志愿者日|展会门票|耳机|升降桌|数据备份|事故报告|消防演习|快递包裹|X5打印机|K2水壶|R740服务器|极光投影仪|访客证|"+
		"结婚礼金|托儿补助|夜间打车|自行车棚|手机套餐|安全审计|媒体采访|专利申请|客户退款|试用账户|值班寻呼", "|"),
	rules: []rule{
		{
			[]string{"%s由公司承担，上限为%d元。", "每次%s的支出不得超过%d元。"},
			[3][]string{
				{"%s可以报多少钱？", "%s公司最多给多少钱？", "%s花了钱能退给我多少？"},
				{"%s最高能报销多少元？", "做%s自己垫付的钱，公司能报多少？"},
				{"%s的费用标准是多少？", "%s能报销到什么程度，封顶多少钱？", "公司对%s的预算是多少？"},
			},
		},
		{
			[]string{"%s的申请须在%d个工作日内提交。", "%s结束后%d天内必须交表。"},
			[3][]string{
				{"%s要在几天内申请？", "%s的材料多久之内要交？", "我的%s手续最晚什么时候要办？"},
				{"%s申请的截止期限是几天？", "%s过后几天之内提交材料才有效？"},
				{"%s多少天之内要报上去？", "%s的手续几号之前办完？", "忘了申请%s，还来得及吗，最晚几天？"},
			},
		},
		{
			[]string{"%s由财务部审批，分机%d。", "%s由部门负责人决定，见附表%d。"},
			[3][]string{
				{"%s找谁批？", "%s要经过哪个部门同意？", "办%s需要谁签字？"},
				{"%s的审批人是谁？", "%s需要谁来批准？"},
				{"%s归谁管？", "我想要%s，领导批还是财务批？", "%s的审批流程要找哪个部门？"},
			},
		},
		{
			[]string{"每位员工每年可使用%s%d次。", "%s每年最多%d次。"},
			[3][]string{
				{"%s一年能用几次？", "一年可以有多少次%s？", "%s的次数有限制吗，最多几次？"},
				{"%s每年的次数上限是多少？", "同一个人一年能申请几次%s？"},
				{"%s每年能享受几回？", "一个人全年可以用多少次%s？", "%s的使用频率有什么要求？"},
			},
		},
		{
			[]string{"%s最长为%d周。", "一次%s不得超过%d周。"},
			[3][]string{
				{"%s最长能多久？", "%s可以持续几周？", "请问%s的时长有什么规定？"},
				{"%s一次最多能持续多长时间？", "%s的最长期限是几周？"},
				{"%s一般多长时间？", "%s可以延长到几周？", "%s最多多少周？"},
			},
		},
		{
			[]string{"取消%s须提前%d小时通知服务台。", "%s可在%d小时之前取消。"},
			[3][]string{
				{"%s要提前多久取消？", "不想要%s了，什么时候之前可以取消？", "%s的取消时限是多少？"},
				{"临时去不了，%s要提前几个小时退掉？", "撤销%s至少要提前多长时间说？"},
				{"%s能退吗，要提前多久？", "怎么取消%s？", "%s取消的最后时间是什么时候？"},
			},
		},
		{
			[]string{"入职满%[2]d个月即可享有%[1]s。", "%s面向工作满%d个月的同事。"},
			[3][]string{
				{"入职多久可以有%s？", "要工作几个月才能享有%s？", "新同事什么时候能有%s？"},
				{"刚入职的人多久以后可以申请%s？", "%s对工龄有什么要求，要满几个月？"},
				{"试用期能不能申请%s？", "来公司几个月可以用%s？", "%s对司龄的要求是多少个月？"},
			},
		},
	},
	filler: []string{"请保留票据。", "如有疑问，欢迎随时咨询。", "本节于去年春天修订。", "外包人员同样适用。", "例外情况须书面记录。", "表格见内网。"},
	foreign: []string{"葡萄牙的首都是哪里？", "蘑菇烩饭怎么做？", "1998年世界杯冠军是谁？", "月球离地球有多远？", "明天奥斯陆天气怎么样？", "法国总统今年多大？", "橙子里有什么维生素？",
		"罗马帝国是什么时候灭亡的？", "《白鲸》的作者是谁？", "水银的沸点是多少？", "蜘蛛有几条腿？", "今天黄金价格是多少？", "下一班去日内瓦的火车几点？", "领结怎么打？", "竞争对手的股价是多少？",
		"丰田的首席执行官是谁？", "飞到悉尼要多久？", "巴西说什么语言？", "西班牙一升汽油多少钱？", "能写一首秋天的诗吗？"},
	themes: strings.Split("差旅与费用|工作时间|办公与设备|福利|安全与数据", "|"),
}

// A handbook is what was generated: documents, and questions with the section that answers them.
type handbook struct {
	docs      []knowledge.Document
	questions []asked
}

type asked struct {
	text string
	gold string // heading of the section; "": none answers it
}

// newHandbook makes one of a language. Half of the things are in it, each with four of the seven rules. Of n questions that it cannot answer 40% are
// about other things, 30% about rules that are not there, 30% about something else altogether. ways is which of the ways to ask.
func (l tongue) newHandbook(seed uint64, n, ways int) handbook {
	r := rand.New(rand.NewPCG(seed, 7))
	things := make([]string, len(l.things))
	for i, j := range r.Perm(len(l.things)) {
		things[i] = l.things[j]
	}
	in, out := things[:len(things)/2], things[len(things)/2:]
	var h handbook
	has := map[string][]int{}
	docs := make([]strings.Builder, len(l.themes))
	for i, thing := range in {
		has[thing] = r.Perm(len(l.rules))
		fmt.Fprintf(&docs[i%len(docs)], "## %s\n\n%s\n\n", thing, l.section(r, thing, has[thing][:4]))
	}
	for i := range docs {
		h.docs = append(h.docs, knowledge.Document{
			ID: fmt.Sprintf("handbook-%d", i), Version: "1", Title: l.themes[i], Text: docs[i].String(), Roles: []string{knowledge.Everyone},
		})
	}
	ask := func(thing string, k int, gold string) {
		asks := l.rules[k].asks[ways]
		h.questions = append(h.questions, asked{fmt.Sprintf(asks[r.IntN(len(asks))], thing), gold})
	}
	for i := range n {
		thing := in[r.IntN(len(in))]
		ask(thing, has[thing][r.IntN(4)], thing)
		switch {
		case i%10 < 4:
			ask(out[r.IntN(len(out))], r.IntN(len(l.rules)), "")
		case i%10 < 7:
			ask(thing, has[thing][4+r.IntN(len(l.rules)-4)], "")
		default:
			h.questions = append(h.questions, asked{l.foreign[r.IntN(len(l.foreign))], ""})
		}
	}
	return h
}

func (l tongue) section(r *rand.Rand, thing string, rules []int) string {
	var out []string
	for _, k := range rules {
		says := l.rules[k].says
		out = append(out, fmt.Sprintf(says[r.IntN(len(says))], thing, 2+r.IntN(90)))
	}
	return strings.Join(append(out, l.filler[r.IntN(len(l.filler))]), " ")
}
