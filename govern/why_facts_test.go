package govern_test

// A planted fact: what the user says, how somebody else would name it, the question for which it should come up, and a later version.
type planted struct{ said, words, ask, later string }

var plantedFacts = []planted{
	{"My dog is called Rex and is afraid of thunder.", "dog Rex afraid of thunder", "What should I know about the dog during thunder?", "The dog is not afraid of thunder any more since the training."},
	{"I take my coffee with oat milk and no sugar.", "coffee with oat milk, no sugar", "How do I take my coffee?", "From today I drink my coffee black."},
	{"Our staging cluster runs in the Frankfurt region.", "the staging cluster is in the Frankfurt region", "In which region is our staging cluster?", "We moved staging to Dublin last night."},
	{"My sister Anna lives in Turin with two cats.", "sister Anna in Turin", "Where does my sister live?", "Anna has moved to Genoa."},
	{"The deploy window is Tuesday between 9 and 11.", "deploy window Tuesday 9 to 11", "When is the deploy window?", "Deploys happen on Thursdays from now on."},
	{"I am allergic to peanuts and cashews.", "allergic to peanuts and cashews", "Which foods am I allergic to?", "The doctor says only walnuts are a problem."},
	{"Please send invoices to the branch in Lyon.", "invoices go to the Lyon branch", "Which branch gets the invoices?", "Billing is handled in Marseille as of June."},
	{"Payment retries are capped at five attempts.", "payment retries capped at five", "How many payment retries are there?", "We allow eight tries for a charge now."},
	{"My flight to Oslo leaves on the third of May.", "flight to Oslo on the third of May", "When does my flight leave?", "They rebooked me to the ninth."},
	{"The nightly backup goes to the bucket vault-eu.", "nightly backup in bucket vault-eu", "Which bucket has the nightly backup?", "Copies are written to cold-us these days."},
	{"我家的猫叫团子，最怕打雷。", "猫叫团子怕打雷", "打雷的时候猫要注意什么？", "它现在改名叫煤球了。"},
	{"我喝咖啡只加燕麦奶，不放糖。", "咖啡加燕麦奶不放糖", "我的咖啡怎么喝？", "从今天起我改喝黑的。"},
	{"我们的预发集群部署在法兰克福机房。", "预发集群在法兰克福机房", "预发集群在哪个机房？", "昨晚已经迁到都柏林。"},
	{"我妹妹小安住在杭州，养了两只鸟。", "妹妹小安住杭州", "我妹妹住在哪里？", "她上个月搬去了宁波。"},
	{"发布窗口是每周二上午九点到十一点。", "发布窗口周二上午九点", "发布窗口是什么时候？", "以后改到周四晚上。"},
	{"我对花生和腰果过敏。", "对花生腰果过敏", "我对哪些食物过敏？", "医生说其实只有核桃不行。"},
	{"请把发票寄到里昂分公司。", "发票寄里昂分公司", "发票应该寄到哪个分公司？", "六月起由马赛负责开票。"},
	{"支付重试最多五次。", "支付重试最多五次", "支付重试几次？", "现在扣款允许试八回。"},
	{"我飞奥斯陆的航班五月三号起飞。", "五月三号飞奥斯陆的航班", "我的航班哪天起飞？", "给我改签到九号了。"},
	{"每晚的备份存到 vault-eu 存储桶。", "每晚备份 vault-eu 存储桶", "每晚的备份在哪个存储桶？", "最近都写到 cold-us 里。"},
}

// What else people say, so that there is something to tell apart.
var plantedNoise = []string{
	"My favourite colour is teal.", "The printer on floor three is broken.", "I work from home on Fridays.",
	"我每周五在家办公。", "三楼的打印机坏了。", "会议室要提前一天预订。",
}
