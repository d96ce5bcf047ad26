package extract

import (
	"regexp"

	"github.com/holdfast-go/holdfast/memory/longterm"
)

const (
	zhVery    = `(?:真的|一直|平时|还是|现在|目前|其实|比较|更加|更|很|最|特别|非常|挺|蛮|就|都|一般|通常|总是|确实|也|只|向来|越来越|从来|从|不再|已经|再也)*`
	zhName    = `[\p{Han}·\x01"]{1,8}|[A-Za-z\x01"][\w.' \x01"-]{0,40}`
	zhOrg     = `[\p{Han}A-Za-z0-9·&. \x01"《》-]{2,30}?`
	zhOrgEnd  = `[\p{Han}A-Za-z0-9·&. -]{0,24}(?:公司|集团|科技|银行|大学|医院|学院|学校|中学|小学|研究院|研究所|工作室|事务所|实验室|网络|软件|电商|商城|保险|证券|法院|政府|电力|物流|出版社)`
	zhRole    = `[\p{Han}A-Za-z0-9 -]{0,14}(?:工程师|经理|主管|总监|运维|开发|测试|产品|设计师|老师|教师|医生|护士|律师|会计|财务|出纳|客服|销售|采购|学生|研究生|程序员|架构师|负责人|管理员|分析师|科学家|研究员|顾问|编辑|记者|司机|厨师|创始人|合伙人|专员|组长|队长|行政|人事|教授|站长|店长|店主|翻译|DBA|SRE|CTO|CEO|CFO|COO|HR|PM|QA)`
	zhCity    = `(?:北京|上海|广州|深圳|杭州|成都|重庆|武汉|西安|南京|苏州|天津|长沙|郑州|青岛|大连|厦门|宁波|无锡|合肥|福州|济南|沈阳|昆明|哈尔滨|东莞|佛山|珠海|南昌|贵阳|南宁|海口|太原|石家庄|兰州|乌鲁木齐|香港|澳门|台北|纽约|伦敦|东京|新加坡|柏林|巴黎|旧金山|硅谷)[市区]?`
	zhSurname = `(?:欧阳|司马|上官|诸葛|[王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段钱汤尹黎易常武乔贺赖龚文])`
	zhThing   = `^(?:这|那|你|您|它|他|她|什么|哪|怎|吗|的|了|上|到|着|过|下|完|惯|就好|$|好$|是)`
	zhStyle   = `(?:表格|列表|图表|json|markdown|分点|要点|清单|中文|英文|简短|简洁|详细|结论)`
)

func zh(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?i)^(?:` + pattern + `)$`) }

var notName = regexp.MustCompile(`^(?:他|她|它|你|您|了|个|车|人|外卖|什么|不|大家|客服|师傅|过|的|一|这|那|谁|啥|出|做|来|去|声|醒|停|起)|(?:员|师|长|管|生|工|者|人|户|客|手|领|导|民|友|粉|党|方|的|了|吧)$|服务|测试|默认|问题|订单|方案`)

// notCalled leaves out what 叫 means besides.
var notCalled = regexp.MustCompile(`^(?:他|她|它|你|您|了|个|车|人|外卖|什么|不|大家|客服|师傅|过|的|一|这|那|谁|啥|出|做|来|去|声|醒|停|起|等|怎)`)

var notOrg = regexp.MustCompile(`^(?:一家|一个|当前|目前|现在|考虑|看|想|准备|忙|学|写|找|自己|处理|做|路上|为|跟|和|同|家|这|那|公司|办公室|外面|单位|网上|线上|手机|电脑|这边|那边|里面|一起|认真|努力|哪|远程|晚上|早上|周末|夜里|假期|正常|测试|生产|开发|等|$)`)

var chinese = []rule{
	{kind: longterm.Semantic, key: "profile.name", pattern: zh(`(?:我|本人)(?:的全名|的名字|的姓名|的真名)?(?:就|是)?(?:叫做|叫|名叫|名为)(?P<v>` + zhName + `)`), not: notCalled},
	{kind: longterm.Semantic, key: "profile.name", pattern: zh(`我的?(?:名字|姓名|全名|真名)(?:是|叫|为|：|:|\s)+(?:做)?(?P<v>` + zhName + `)`), not: notCalled},
	{kind: longterm.Semantic, key: "profile.name", pattern: zh(`(?:我|这里|这边)是(?:` + zhOrgEnd + `的?)?(?P<v>` + zhSurname + `\p{Han}{1,2})`), not: notName},
	{kind: longterm.Semantic, key: "profile.name", pattern: zh(`(?:我|本人)?(?:已经)?改名(?:为|叫|成)?了?(?:叫)?(?P<v>` + zhName + `)(?:了)?`), not: notCalled},
	{kind: longterm.Preference, key: "profile.nickname", pattern: zh(`(?:以后|今后|请|你可以|您可以|就|都|直接|可以)*(?:叫|称呼|喊)我(?:为|做)?(?P<v>[\p{Han}·\x01"]{1,8}?|[A-Za-z\x01"][\w.' \x01"-]{0,40}?)(?:就行|就好|就可以|吧|即可|就成)?(?:了)?`), not: notCalled},

	{kind: longterm.Semantic, key: "profile.city", pattern: zh(`我(?:现在|目前|人|家|平时|一直|已经)*(?:住在|在|搬到了?|定居在?|搬去了?|来自|常驻)(?P<v>` + zhCity + `)(?:工作|上班|生活|定居|住|这边|了|居住)*`)},
	{kind: longterm.Semantic, key: "profile.city", pattern: zh(`我(?:现在|目前|平时|一直|已经)*(?:住在|搬到了?|定居在?|搬去了?|常驻)(?P<v>\p{Han}{2,8}?)(?:了|这边|生活)?`), not: notOrg},
	{kind: longterm.Semantic, key: "profile.company", pattern: zh(`我(?:们)?(?:现在|目前|已经|一直|刚|最近)*(?:就职于|任职于|供职于|跳槽到了?|跳槽去了?|入职了?|加入了?|换到了?)(?P<v>` + zhOrg + `)(?:(?:上班|工作|任职|就职|做|当|担任|负责|的).*|了)?`), not: notOrg},
	{kind: longterm.Semantic, key: "profile.company", pattern: zh(`我(?:们)?(?:现在|目前|已经|一直|刚|最近)*在(?P<v>` + zhOrg + `)(?:(?:上班|工作|任职|就职)(?:了.{0,8})?|(?:做|当|担任)(?:了)?(?:一名|一个)?` + zhRole + `|负责.{2,20})`), not: regexp.MustCompile(notOrg.String() + `|^` + zhCity + `$`)},
	{kind: longterm.Semantic, key: "profile.company", pattern: zh(`我(?:们)?(?:的)?(?:公司|单位|东家)(?:名字|名称|名)?(?:叫做|叫|是)(?P<v>` + zhOrg + `)`), not: regexp.MustCompile(`^(?:一|做|个|家|不|在|什么|专)`)},
	{kind: longterm.Semantic, key: "profile.company", pattern: zh(`(?:我|我们|这里)(?:是|来自)(?P<v>` + zhOrgEnd + `)(?:的(?:.{0,20})?)?`), not: regexp.MustCompile(`^(?:一家|这|那|你|贵|哪)`)},
	{kind: longterm.Semantic, key: "profile.role", pattern: zh(`我(?:现在|目前|已经|其实)*(?:是|担任|做|当|任)(?:了)?(?:一名|一个|一位|一家\p{Han}{0,12}的|个|名|` + zhOrgEnd + `的)?(?P<v>` + zhRole + `)(?:了)?`), not: regexp.MustCompile(`^(?:你|他|她|这|那|贵)`)},
	{kind: longterm.Semantic, key: "profile.role", pattern: zh(`我(?:现在|目前)*在` + zhOrg + `(?:担任|做|当|任)(?P<v>` + zhRole + `)(?:了)?`)},
	{kind: longterm.Semantic, key: "profile.role", pattern: zh(`我的(?:职位|岗位|职务|角色|工作|职业)(?:是|为)(?P<v>.{2,24})`)},
	{kind: longterm.Semantic, key: "profile.duty", pattern: zh(`我(?:现在|目前|主要|在公司|平时)*负责(?P<v>.{2,40})`), not: regexp.MustCompile(zhThing)},
	{kind: longterm.Semantic, key: "profile.birthday", pattern: zh(`我的?生日(?:是|在)(?P<v>.{2,20})`)},
	{kind: longterm.Semantic, key: "profile.timezone", pattern: zh(`我的?时区(?:是|为)(?P<v>.{2,24})`)},
	{kind: longterm.Semantic, key: "contact.email", pattern: zh(`我的?(?:电子|工作|新)?(?:邮箱|邮件)(?:地址)?(?:是|为|：|:|改成了?|换成了?|\s)+(?P<v>[\w.+-]+@[\w.-]+)(?:了)?`)},
	{kind: longterm.Semantic, key: "contact.phone", pattern: zh(`我的?(?:新|工作)?(?:手机|电话|联系电话)(?:号码?)?(?:是|为|：|:|改成了?|换成了?|\s)+(?P<v>\+?[\d -]{6,20})(?:了)?`)},
	{kind: longterm.Semantic, key: "order.", pattern: zh(`我的?订单号?码?(?:是|为|：|:|\s)+(?P<k>[A-Za-z]{0,4}-?\d[\w-]{2,24})`)},
	{kind: longterm.Preference, key: "favorite.", pattern: zh(`我最(?:喜欢|爱)的(?P<k>\p{Han}{1,6})(?:是|就是)(?P<v>.{1,30})`)},
	{kind: longterm.Semantic, key: "", pattern: zh(`我(?:现在|已经|从小|不)*对.{1,16}过敏(?:了)?`)},
	{kind: longterm.Semantic, key: "", pattern: zh(`我(?:现在|已经|其实)*(?:不)?是(?:个|一个|一名)?(?:素食主义者|素食者|色盲|色弱|左撇子|糖尿病人|糖尿病患者|独生子女|单身|孕妇)`)},
	{kind: longterm.Semantic, key: "", pattern: zh(`我(?:们)?(?:家)?(?:里)?(?:从来|现在|目前)*(?:没有|没|有|没养|养了?|没养过|没有养)(?:过)?[一二两三四五几\d]*[只条个辆台位]?(?:猫|狗|宠物|孩子|女儿|儿子|兄弟|姐妹|哥哥|弟弟|姐姐|妹妹|车|汽车|房子|驾照|护照|信用卡)`)},

	{kind: longterm.Preference, key: "default", pattern: zh(`(?:我的?|把|将|以后|今后|从现在起|从现在开始|从今以后|请|都|就|还是|改成|换成|改为|设成|设为|恢复|调整为|变成|切换为|切成)*[，,\s]*默认(?:的)?(?P<k>环境)?(?:都|就|改成|改为|改|换成|换|是|用|为|走|到|查|看|连|设为|设成|设置为|设置成|选|切到|切成|切换到|还是)*(?:了)?\s*(?P<v>` + envZH + `(?:环境)?)(?:了|吧|就行|就好|就可以|的?数据|的?日志)*`)},
	{kind: longterm.Preference, key: "default", pattern: zh(`(?:我的?|把|将|以后|今后|从现在起|从现在开始|请|都|就)*[，,\s]*默认(?:的)?(?P<k>服务|区域|地域|地区|语言|集群|数据库|分支|项目|模型|货币|币种|收货地址|地址|快递|命名空间|支付方式|付款方式|时区|格式)(?:都|就|改成|改为|换成|是|用|为|走|设为|设成|设置为|选|切到)+(?:了)?\s*(?P<v>.{1,40}?)(?:了|吧|就行|就好)?`), not: regexp.MustCompile(`^(?:什么|哪)`)},
	{kind: longterm.Preference, key: "default", pattern: zh(`(?:以后|今后|从现在起|从现在开始|请|都|就|改成|换成)*[，,\s]*默认(?:都|就|用|查|看|走|是|改成|查询)*\s*(?P<v>[a-z][a-z0-9]*(?:-[a-z0-9]+)+|\p{Han}{2,6}服务)(?:的?(?:日志|数据))?(?:吧|就行|就好)?`)},
	{kind: longterm.Preference, key: "default", pattern: zh(`.{0,6}?我?(?:又)?(?:改主意|改变主意|变卦)了?[，,。\s]+(?:还是|就|默认|改成|换成|改用|用|改为|改|查|回|切)*(?:到)?\s*(?P<v>` + envZH + `(?:环境)?)(?:吧|了|就行|就好)*`)},

	{kind: longterm.Preference, key: "", pattern: zh(`(?:我|我们)(?:已经|之前|上次|曾经|曾|明确|当时|都)*(?:拒绝|否决|回绝|谢绝|不接受|不同意|不考虑)(?:了|过)?(?P<v>.{2,60})`), not: regexp.MustCompile(zhThing)},
	{kind: longterm.Preference, key: "", pattern: zh(`(?P<v>[^我这那它]{2,40}?)(?:我|我们)(?:已经|之前|上次|曾经|明确|都|是)*(?:拒绝|否决|回绝|谢绝|不接受|不同意|不考虑)(?:过)?(?:了|的)?`), not: regexp.MustCompile(zhThing)},
	{kind: longterm.Habit, key: "*", pattern: zh(`(?:我)?(?:习惯|喜欢|希望|要|请|都|回答|汇报|你|以后|今后|每次|写|报告|的|时|时候|给我|，)*(?P<v>先[^后再，]{1,12}[，,\s]*(?:后|再|然后|接着)[^，]{1,16})`), not: regexp.MustCompile(`^先(?:[^结答重要摘总原背证]{0,4}$|试|等|吃|去|看|查|重启|退|付)`)},
	{kind: longterm.Preference, key: "*", pattern: zh(`(?:我|我们|本人)` + zhVery + `(?:喜欢|偏好|偏爱|倾向于?|更愿意|爱吃|爱喝|爱看|爱用|钟爱)(?P<v>.{1,60})`), not: regexp.MustCompile(zhNotLiked)},
	{kind: longterm.Preference, key: "*", pattern: zh(`(?:现在|如今|最近)` + zhVery + `(?:喜欢|偏好|倾向于?)(?P<v>.{1,60})`), not: regexp.MustCompile(zhNotLiked)},
	{kind: longterm.Preference, key: "*", pattern: zh(`(?:我|我们|本人)?` + zhVery + `(?:不喜欢|不太喜欢|不怎么喜欢|不大喜欢|不爱|不习惯|讨厌|反感|受不了|厌恶|不吃|不喝|不接受|不抽|不再吃|不再喝|不再抽|不再用|不再看|不再开|不想收到|不想接到|不想接|不希望收到|不希望接到)(?P<v>.{1,60})`), not: regexp.MustCompile(zhThing)},
	{kind: longterm.Preference, key: "*", pattern: zh(`(?P<v>[^我这那它，]{1,20})我` + zhVery + `(?:喜欢|不喜欢|不太喜欢|讨厌|反感)(?:了)?`), not: regexp.MustCompile(zhThing)},
	{kind: longterm.Preference, key: "contact.channel", pattern: zh(`(?:请|麻烦|以后|今后|有事|有问题|尽量|最好|都|优先|改|还是|就|你|可以|，|\s)*(?:用|通过|发|走|改用|以)(?:邮件|电邮|微信|短信|电话|钉钉|飞书|企业微信|slack|邮箱|email)(?:跟|和|与|给|来)?(?:联系|通知|沟通|找|联络|告诉)我?(?:吧|就行|就好|即可)?`)},
	{kind: longterm.Preference, key: "contact.channel", pattern: zh(`(?:以后|今后|有事|有消息|有进展|结果)(?:请|都|就|尽量|最好|，|\s|再|有事|有消息|有进展)*(?:给我)?(?:发邮件|打电话|发短信|发微信|微信我|邮件我)(?:给我|通知我|联系我)?(?:吧|就行|就好)?`)},
	{kind: longterm.Preference, key: "*", pattern: zh(`(?:请|以后|今后|尽量|都)*(?:不要|别|不用|不准|不许|别再|不要再)(?:再)?(?:总是|老是)?(?P<v>(?:给我)?(?:打电话|发短信|发邮件|推销|打扰我|发广告|发营销\p{Han}{0,4})(?:给我|联系我)?)(?:了)?`)},
	{kind: longterm.Preference, key: "*", pattern: zh(`(?:以后|今后|往后|从现在起|从现在开始|从今以后|永远|一律|每次|始终)(?:请|都|就|你|您|要|给我|，|,|\s|跟我)*(?P<v>(?:回答|回复|汇报|报告|输出|展示|用|先|别|不要|不准|不许|不能|不得|禁止|给|按|以|发|走|查|看|默认|联系|通知|写|加|列|提醒|确认|问|不用|直接|说|使用|采用|附|标|改用|避免|少|多|叫).{0,60})`), not: regexp.MustCompile(`再说|再聊|再看|再见|说不定|失败|报错|出错|超时|不了|联系吧$`)},
	{kind: longterm.Preference, key: "*", pattern: zh(`(?:我|请|你|您|希望|写|给我)*(?:回答|回复|输出|报告|结果|汇报|展示|答案|数据)(?:问题)?(?:的时候|时|请|都|尽量|要|最好|应该|一律|能|内容|希望)*(?P<v>(?:用|以|使用|采用|按|先|简短|简洁|精简|详细|中文|英文).{0,30})`), not: regexp.MustCompile(`^用(?:户|途|不)|^按时`)},
	{kind: longterm.Preference, key: "*", pattern: zh(`(?:请|尽量|都|最好|希望你|麻烦)+(?P<v>(?:用|以|使用|说|讲).{0,4}` + zhStyle + `.{0,12}(?:回答|回复|展示|输出|汇报|交流|沟通).{0,6})`)},
	{kind: longterm.Habit, key: "*", pattern: zh(`我(?:一般|通常|平时|总是|每天|每周|每月|每晚|每早|习惯|一向|向来)+(?:都|会|先|于|在|是)*(?P<v>.{2,60})`), not: regexp.MustCompile(`报错|失败|错误|收不到|打不开|遇到|出现|超时|卡|没|问题|有个|想|觉得|以为|喜欢|偏好`)},

	{kind: longterm.Episode, key: "", open: true, pattern: zh(`(?:请|记得|到时候?|麻烦|帮我)*(?:.{0,12})?提醒我(?P<v>.{2,60})`)},
	{kind: longterm.Episode, key: "", open: true, pattern: zh(`(?:待办|TODO|待处理|未完成)(?:事项)?(?:：|:|是|\s)+(?P<v>.{2,80})`)},
	{kind: longterm.Episode, key: "", open: true, pattern: zh(`(?P<v>.{2,40}?)(?:还是|到现在|现在|目前|仍然)*(?:还没有?|尚未|仍未|一直没有?|仍没有?)(?:被|能|有)?(?:解决|处理|修好|完成|到账|搞定|修复|回复|收到|退回|发货)(?:完|好)?(?:呢|了)?`)},
}

// zhNotLiked leaves out what is liked here and now, and lets "you" stand only before what an assistant does.
const zhNotLiked = `^(?:这|那|它|他|她|什么|哪|怎|吗|的|了|上|就好|$)|^(?:你|您)(?:的|们|$|[^用先给直接以把多少按说在]*$)`
