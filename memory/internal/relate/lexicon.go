package relate

import (
	"strings"
	"unicode/utf8"
)

// A mark says what a phrase does to its sentence.
type mark uint16

const (
	fills   mark = 1 << iota // nothing: it is left out
	negates                  // it turns the sentence around
	copies                   // a copula: what follows is said of what stands before
	changes                  // something is new
	bids                     // it is an order or a permission
	past                     // it happened
	adds                     // it can be so of many things at a time
	only                     // it is so of one thing
	recurs                   // every week
	owns                     // somebody's
	orders                   // something comes first
	asks                     // a question
	moves                    // "change ... to": the copula is to come
)

// A phrase is an entry of the lexicon: words that stand for one, or for none.
type phrase struct {
	text  string // that it becomes; "": it is left out
	class class
	marks mark
	words string // of both languages
}

var phrases = []phrase{
	// What changes nothing.
	{"", 0, fills, "请|请你|麻烦|帮我|帮忙|的|地|得|吧|呢|啊|呀|哦|嗯|哈|就|也|都|还|还是|比较|很|非常|特别|更|更加|挺|蛮|超|超级|一般|通常|平时|平常|总是|一直|始终|一律|其实|实际上|对了|另外|顺便|以后|今后|将来|从今以后|往后|用|使用|采用|来|去|展示|显示|呈现|表示|输出|方式|形式|样式|格式|的话|一下|给|跟|和我|与我|我|我的|咱|本人|用户|用户的|该用户|自己|环境|在|于|上|里|中|进行|做|希望|想要你|记住|记得|注意|好的|好|嗯嗯|呃|然后|所以|因此|因为|需要|应该|会|到时候|个人|本身|了解到|确实|真的|有点|稍微|大约|大概|左右|一共|总共|那个|这个|这|那|些|把|将|对|被|由|让|向|往|以|于是|第一时间|时候|时"},
	{"", 0, fills, "please|pls|kindly|the|a|an|my|me|i|i'd|i'll|i've|user|the user|user's|the user's|mine|myself|to|of|for|in|on|at|by|with|that|this|these|those|really|very|quite|rather|pretty|so|just|also|too|usually|generally|normally|typically|actually|well|ok|okay|oh|hey|it|its|them|using|use|used|format|form|style|way|as|and|do|does|will|would|should|shall|be|been|being|want|wants|want you|you|your|when|here|there|then|yet|still|so far|by the way|btw|remember|note|always|environment|env|system|current|currently|about|around|approximately|roughly|some|any|mostly|much|a lot|lot|have to|need|needs|one|going|has to|is to|into|from here"},
	{"", 0, fills, "请注意|不得不|差不多|不过，|不过,|别的|特别是|级别|区别|类别|性别|识别|告别|个别|分别|没关系|无所谓|无论|不仅|不但|不光|不管|不同|不错|非常不错"},
	// New things.
	{"", 0, fills | changes, "现在|目前|如今|从现在起|从现在开始|今天起|从今天起|最近|刚刚|刚|已经|now|nowadays|from now on|starting now|as of now|as of today|instead|already|recently|just now|these days|改主意了|changed my mind"},
	{"", 0, copies | changes, "改成了|改成|改为了|改为|换成了|换成|换为|改用|调整为|调整到|调整成|调到|调成|设为|设成|设置为|设置成|设定为|变成了|变成|变为|变更为|变更成|升级到|升级为|升到|升为|降到|降为|提高到|提升到|降低到|增加到|减少到|缩短到|缩短为|延长到|延长为|放宽到|收紧到|改到|改在|推迟到|提前到|延期到|延后到|定在|定为|定到|切换到|切换成|切到|切成|更新为|更新到|转为|转成|换到|now is|is now|are now|became|becomes|has become|changed to|changes to|has changed to|was changed to|is changed to|have changed to|been changed to|set to|is set to|was set to|moved to|was moved to|has moved to|has been moved to|switched to|raised to|was raised to|has been raised to|lowered to|was lowered to|increased to|was increased to|decreased to|reduced to|was reduced to|extended to|shortened to|upgraded to|downgraded to|updated to|was updated to|postponed to|was postponed to|rescheduled to|pushed to|pulled forward to"},
	{"", 0, fills | moves | changes, "change|switch|raise|lower|increase|decrease|reduce|extend|shorten|update|reschedule|postpone"},
	{"", 0, fills | moves, "set|move"},
	// What parts a sentence.
	{"", 0, copies, "是|为|等于|＝|=|：|:|就是|叫作|am|i'm|is|are|was|were|equals|will be|should be|shall be|'s going to be"},
	{"NAME", noun, copies, "名字叫|名字是|姓名是|名叫|叫做|叫|我叫|name is|name's|named|is called|am called|i'm called|are called|go by|goes by|名字改成|名字改成了|改名|改名叫|改名为|更名为|改叫|name is now|name was changed to"},
	{"NICKNAME", noun, copies, "叫我|称呼我|称呼我为|喊我|管我叫|call me|address me as"},
	{"JOB", noun, copies, "就职|就职于|入职|入职了|入职到|跳槽到|跳槽到了|加入|加入了|任职于|work at|works at|work for|works for|working at|working for|joined|employed by|employed at|have joined|has joined|work now at|now work at|now work for|now works at|now works for"},
	{"HOME", noun, copies, "住在|住|搬到|搬到了|搬去|搬去了|搬家到|搬家到了|定居|定居在|定居于|居住在|居住于|live in|lives in|living in|moved house to|moved to live in|relocated to|has relocated to|based in|is based in|am based in|reside in|resides in"},
	// Negations.
	{"", 0, negates, "不|没|没有|无|未|非|并不|并非|并没有|从不|从来不|从来没|从未|不会|不是|尚未|还没|还没有|not|n't|don't|doesn't|didn't|isn't|aren't|wasn't|weren't|won't|wouldn't|haven't|hasn't|hadn't|can't|cannot|couldn't|shouldn't|no|none|neither|never ever|without|do not|does not|did not|is not|are not|was not|were not|will not|has not|have not"},
	{"", 0, negates | changes, "不再|再也不|不想再|不再是|no longer|not anymore|not any more|stopped|don't anymore|quit|戒了|戒掉了|停用|停用了|弃用"},
	{"", 0, fills, "anymore|any more|any longer|再也|再|了"},
	{"", 0, negates | bids, "不要|别|勿|请勿|切勿|不许|不准|不得|不能|不可|不可以|不允许|禁止|严禁|千万别|不要再|别再|never|must not|mustn't|may not|must never|don't ever|do not ever|forbid|forbidden|not allowed|prohibited|refrain from|avoid|stop"},
	{"", 0, bids, "可以|允许|能|必须|务必|一定要|一定|得要|要|准许|同意你|may|can|could|must|allowed|allowed to|are allowed to|is allowed|feel free to|free to|ok to|okay to|have to|permitted|go ahead and"},
	{"", 0, fills | past, "过|了过|曾|曾经|过了|had|once"},
	// What can be so of many things.
	{"LIKE", known, adds, "喜欢|喜爱|爱|热爱|爱好|喜好|偏爱|like|likes|liked|love|loves|enjoy|enjoys|fond of|am into|is into|like to|likes to|love to|want to see|would like|想要|想|乐意|愿意|习惯|倾向于|倾向|prefer to|would love"},
	{"LIKE", known, adds | only, "prefer|prefers|preferred|最喜欢|最爱|更喜欢|更偏好|偏好|首选|优先|favourite|favorite|like best|like most|would prefer|would rather|would rather have"},
	{"LIKE", known, adds | negates, "讨厌|反感|厌恶|不爱|嫌弃|受不了|hate|hates|dislike|dislikes|can't stand|cannot stand|detest|detests"},
	{"ACCEPT", known, adds, "接受|同意|答应|赞成|认可|通过|批准|accept|accepts|accepted|agree to|agrees to|agreed to|approve|approves|approved|agree with|agreed with"},
	{"ACCEPT", known, adds | negates, "拒绝|回绝|否决|驳回|反对|不同意|谢绝|婉拒|refuse|refuses|refused|reject|rejects|rejected|decline|declines|declined|turned down|turn down|turns down|denied|opposed"},
	{"HAVE", known, adds, "有|拥有|养|养了|have|has|own|owns|has got|have got"},
	{"", 0, adds, "买|买了|吃|喝|学|学过|去过|见过|看过|读过|认识|会说|参加|bought|buy|buys|eat|eats|drink|drinks|went|visited|met|meet|know|knows|saw|read|watched|studied|speak|speaks|play|plays|attended"},
	{"EAT", known, adds, "吃|eat|eats"}, {"DRINK", known, adds, "喝|drink|drinks"}, {"BUY", known, adds, "买|买了|买过|bought|buy|buys|purchased"}, {"SPEAK", known, adds, "会说|speak|speaks"},
	{"SEVERAL", known, adds, "爱好|兴趣|特长|技能|过敏源|朋友们|hobby|hobbies|interest|interests|skill|skills|allergy|allergies|之一|one of"},
	{"ALLERGIC", known, adds, "过敏|allergic"},
	{"SOMETIMES", known, adds, "有时|有时候|偶尔|可能|也许|大概率|sometimes|occasionally|maybe|perhaps|might|possibly|once in a while"},
	{"ONLY", known, only, "只|只能|只用|仅|仅仅|only|solely|exclusively"},
	{"DEFAULT", known, only, "默认|缺省|默认用|默认使用|default|default to|defaults to|by default|default is|default environment"},
	{"", 0, only | fills, "每次|每回|最好|every time|each time|best"},
	{"WEEKLY", known, recurs, "每周|每星期|每个星期|每个礼拜|weekly|every week|each week"}, {"EVERY", known, recurs, "每|每个|every|each"}, {"DAILY", known, recurs, "每天|每日|daily|every day|each day"},
	{"MONTHLY", known, recurs, "每月|每个月|monthly|every month|each month"}, {"YEARLY", known, recurs, "每年|yearly|every year|annually"},
	{"ORDER", known, orders, "先|然后再|再给|之后|之前|first|before|after|followed by"}, {"", 0, fills | orders, "后|最后|后给|last|afterwards"},
	// People, and what belongs to somebody.
	{"", 0, fills | owns, "我的|用户的|my|our|his|her|their|the user's|user's|'s"}, {"WE", known, owns, "我们|我们的|咱们|咱们的|我司|our|we|us"}, {"HE", person, 0, "他|他的|he|his|him"}, {"SHE", person, 0, "她|她的|she|her"}, {"THEY", person, 0, "他们|他们的|they|their|them all"},
	{"WIFE", person, 0, "老婆|妻子|太太|媳妇|爱人|wife"}, {"HUSBAND", person, 0, "老公|丈夫|先生|husband"}, {"SON", person, 0, "儿子|son"}, {"DAUGHTER", person, 0, "女儿|daughter"}, {"CHILD", person, 0, "孩子|小孩|kid|child|kids|children"},
	{"FATHER", person, 0, "爸爸|爸|父亲|father|dad"}, {"MOTHER", person, 0, "妈妈|妈|母亲|mother|mom|mum"}, {"BROTHER", person, 0, "哥哥|弟弟|哥|弟|brother"}, {"SISTER", person, 0, "姐姐|妹妹|姐|妹|sister"},
	{"FRIEND", person, 0, "朋友|friend"}, {"COLLEAGUE", person, 0, "同事|colleague|coworker|co-worker"}, {"BOSS", person, 0, "老板|领导|上司|boss"}, {"TEAM", known, 0, "团队|小组|team"}, {"CUSTOMER", person, 0, "客户|顾客|customer|client"},
	// Classes of values.
	{"production", environment, 0, "生产|生产环境|线上|线上环境|正式环境|prod|production|live environment|production environment"},
	{"testing", environment, 0, "测试|测试环境|test environment|testing|testing environment|test env"}, {"staging", environment, 0, "预发|预发环境|预发布|预发布环境|预生产|staging|staging environment|preprod"},
	{"development", environment, 0, "开发|开发环境|dev|development|development environment|dev environment"}, {"local", environment, 0, "本地|本地环境|localhost|local environment"},
	{"zh", language, 0, "中文|汉语|普通话|简体中文|chinese|mandarin"}, {"en", language, 0, "英文|英语|english"}, {"ja", language, 0, "日文|日语|japanese"}, {"de", language, 0, "德语|德文|german"}, {"fr", language, 0, "法语|法文|french"}, {"es", language, 0, "西班牙语|spanish"}, {"ko", language, 0, "韩语|韩文|korean"}, {"yue", language, 0, "粤语|cantonese"},
	{"email", channel, 0, "邮件|电子邮件|邮箱联系|email|e-mail|mail|emails"}, {"phone", channel, 0, "电话|打电话|phone|phone call|phone calls|by phone|call|calls|telephone"}, {"sms", channel, 0, "短信|sms|text message|text messages"}, {"wechat", channel, 0, "微信|wechat"}, {"dingtalk", channel, 0, "钉钉|dingtalk"}, {"feishu", channel, 0, "飞书|feishu|lark"}, {"slack", channel, 0, "slack"}, {"teams", channel, 0, "microsoft teams"}, {"video", channel, 0, "视频|视频会议|video|video calls|video call"},
	{"table", format, 0, "表格|表|table|tables|tabular"}, {"list", format, 0, "列表|清单|要点|list|lists|bullet points|bullets|bullet list"}, {"prose", format, 0, "段落|文字|长文|prose|paragraphs|plain paragraphs"}, {"json", format, 0, "json"}, {"markdown", format, 0, "markdown"}, {"plain", format, 0, "纯文本|plain text"}, {"chart", format, 0, "图表|图|chart|charts|graphs"},
	{"short", length, 0, "简短|简洁|精简|短|简单|short|brief|concise|terse"}, {"long", length, 0, "详细|详尽|长|完整|long|detailed|thorough|in detail|verbose"},
	{"red", color, 0, "红色|red"}, {"blue", color, 0, "蓝色|blue"}, {"green", color, 0, "绿色|green"}, {"black", color, 0, "黑色|black"}, {"white", color, 0, "白色|white"}, {"yellow", color, 0, "黄色|yellow"}, {"dark", color, 0, "深色|暗色|深色模式|dark|dark mode|dark theme"}, {"light", color, 0, "浅色|亮色|浅色模式|light|light mode|light theme"}, {"grey", color, 0, "灰色|grey|gray"},
	{"engineer", role, 0, "工程师|程序员|engineer|developer|programmer"}, {"backend engineer", role, 0, "后端工程师|后端|backend engineer|backend developer"}, {"frontend engineer", role, 0, "前端工程师|前端|frontend engineer|frontend developer"}, {"product manager", role, 0, "产品经理|product manager"}, {"manager", role, 0, "经理|主管|manager|team lead|team leader"}, {"tester", role, 0, "测试工程师|测试员|qa engineer|tester"}, {"designer", role, 0, "设计师|designer"}, {"analyst", role, 0, "分析师|数据分析师|analyst|data analyst"}, {"sre", role, 0, "运维|运维工程师|sre|site reliability engineer"}, {"architect", role, 0, "架构师|architect"}, {"director", role, 0, "总监|director"}, {"cto", role, 0, "cto|技术总监"}, {"student", role, 0, "学生|student"}, {"teacher", role, 0, "老师|教师|teacher"}, {"doctor", role, 0, "医生|doctor"}, {"accountant", role, 0, "会计|accountant"}, {"sales", role, 0, "销售|销售员|salesperson"}, {"buyer", role, 0, "采购|采购员|buyer"}, {"support", role, 0, "客服|support agent"},
	{"time:ms", unit, 0, "毫秒|ms|millisecond|milliseconds"}, {"time:s", unit, 0, "秒|秒钟|s|sec|secs|second|seconds"}, {"time:min", unit, 0, "分钟|min|mins|minute|minutes"}, {"time:h", unit, 0, "小时|个小时|钟头|h|hour|hours"}, {"time:d", unit, 0, "天|工作日|day|days|business days|working days"}, {"time:w", unit, 0, "周内|个星期|个礼拜|week|weeks"}, {"time:m", unit, 0, "个月|month|months"}, {"time:y", unit, 0, "年|year|years"}, {"age", unit, 0, "岁|years old"},
	{"money:cny", unit, 0, "元|块|块钱|人民币|rmb|cny|yuan|¥|￥"}, {"money:cny4", unit, 0, "万|万元|万块"}, {"money:usd", unit, 0, "美元|美金|usd|dollar|dollars|$"}, {"money:eur", unit, 0, "欧元|eur|euro|euros|€"},
	{"size:kb", unit, 0, "kb"}, {"size:mb", unit, 0, "mb|兆"}, {"size:gb", unit, 0, "gb"}, {"size:tb", unit, 0, "tb"}, {"rate:%", unit, 0, "%|％|percent"}, {"count:person", unit, 0, "人|个人|名|位|people|persons|members|seats"}, {"count", unit, 0, "个|件|台|条|份|套|张|只|辆|本|次|遍|times|units|pieces|replicas|copies|retries|instances"}, {"temp", unit, 0, "度|摄氏度|degrees|celsius"}, {"length:m", unit, 0, "米|meters|metres"}, {"length:km", unit, 0, "公里|千米|km|kilometers"}, {"length:cm", unit, 0, "厘米|cm"}, {"weight:kg", unit, 0, "公斤|千克|kg|kilograms"}, {"weight:jin", unit, 0, "斤"}, {"rate:qps", unit, 0, "qps|rps"},
	{"EVENT:meeting", event, 0, "会议|开会|meeting|meetings"}, {"EVENT:weekly", event, 0, "周会|例会|站会|晨会|standup|stand-up|sync"}, {"EVENT:demo", event, 0, "演示|评审|demo|review"}, {"EVENT:release", event, 0, "上线|发布|发版|release|launch|go-live"}, {"EVENT:deadline", event, 0, "截止|截止日期|截止时间|期限|deadline|due date|due"}, {"EVENT:delivery", event, 0, "交付|送货|配送|delivery|shipping date"}, {"EVENT:flight", event, 0, "航班|飞机|flight"}, {"EVENT:train", event, 0, "火车|高铁|train"}, {"EVENT:interview", event, 0, "面试|interview"}, {"EVENT:appointment", event, 0, "预约|约|appointment"}, {"EVENT:birthday", event, 0, "生日|birthday"}, {"EVENT:training", event, 0, "培训|training"}, {"EVENT:report", event, 0, "周报|日报|月报|report"}, {"EVENT:maintenance", event, 0, "维护|维护窗口|维护时间|maintenance|maintenance window"}, {"EVENT:backup", event, 0, "备份|备份时间|backup|backups"},
	{"NAME", noun, 0, "名字|姓名|名称|name|full name"}, {"NICKNAME", noun, 0, "昵称|nickname"}, {"AGE", noun, 0, "年龄|年纪|age"}, {"EMAIL", noun, 0, "邮箱|邮箱地址|电子邮箱|email address|mail address"}, {"PHONE", noun, 0, "手机|手机号|电话号码|手机号码|联系电话|phone number|mobile number|mobile"}, {"ADDRESS", noun, 0, "地址|住址|收货地址|address|shipping address|delivery address"}, {"BUDGET", noun, 0, "预算|budget"}, {"TIMEOUT", noun, 0, "超时|超时时间|timeout|time-out"}, {"LIMIT", noun, 0, "上限|限额|额度|阈值|limit|threshold|quota|cap"}, {"MINIMUM", noun, 0, "下限|最低|minimum"}, {"PRICE", noun, 0, "价格|价钱|单价|报价|price|quote|rate"}, {"STATUS", noun, 0, "状态|进度|status|state|progress"}, {"VERSION", noun, 0, "版本|版本号|version"}, {"OWNER", noun, 0, "负责人|对接人|联系人|接口人|owner|contact person|person in charge|point of contact|contact|assignee"}, {"PLAN", noun, 0, "套餐|方案|plan|tier"}, {"COLOR", noun, 0, "颜色|主题|color|colour|theme"}, {"LANGUAGE", noun, 0, "语言|language"}, {"CITY", noun, 0, "城市|所在地|city|location"}, {"TIMEZONE", noun, 0, "时区|timezone|time zone"}, {"COMPANY", noun, 0, "公司|单位|雇主|company|employer"}, {"POSITION", noun, 0, "职位|职务|岗位|title|position|job title|role"}, {"DEPARTMENT", noun, 0, "部门|department"}, {"PORT", noun, 0, "端口|port"}, {"RETRY", noun, 0, "重试|重试次数|retry|retry count|retries limit"}, {"SIZE", noun, 0, "尺码|大小|尺寸|size"}, {"REASON", noun, 0, "原因|reason"}, {"RESULT", noun, 0, "结果|result"}, {"GOAL", noun, 0, "目标|goal|target"}, {"PASSPORT", noun, 0, "护照号|passport number"}, {"PLATE", noun, 0, "车牌|车牌号|license plate"}, {"AMOUNT", noun, 0, "金额|数量|amount|quantity"}, {"NUMBER", known, 0, "number|编号"}, {"FREQUENCY", noun, 0, "频率|frequency|interval|周期|间隔"}, {"MARITAL", noun, 0, "婚姻状况|marital status"}, {"CHANNEL", noun, 0, "联系方式|沟通方式|contact method|contact channel|preferred channel"}, {"DOSE", noun, 0, "剂量|dose|dosage"}, {"WEIGHT", noun, 0, "体重|重量|weight"}, {"HEIGHT", noun, 0, "身高|height"}, {"SALARY", noun, 0, "工资|薪水|月薪|年薪|salary"}, {"RENT", noun, 0, "房租|租金|rent"}, {"CURRENCY", noun, 0, "币种|货币|currency"}, {"SCHOOL", noun, 0, "学校|school"}, {"MAJOR", noun, 0, "专业|major"}, {"SEAT", noun, 0, "座位|seat"}, {"INVOICE", noun, 0, "发票抬头|抬头|invoice title"},
	// Verbs that take a value, and actions.
	{"REPLY", known, 0, "回复|回答|答复|回话|答|说|沟通|交流|reply|replies|answer|answers|respond|response|responses|speak to|talk|talk to|write|write to"}, {"CONTACT", known, 0, "联系|联络|找|通知|contact|reach|reach out|notify"},
	{"RESTART", known, 0, "重启|重新启动|restart|restarts|reboot"}, {"DEPLOY", known, 0, "部署|deploy|deploys"}, {"DELETE", known, 0, "删除|删|delete|remove"}, {"REFUND", known, 0, "退款|退钱|refund|refunds"}, {"ENABLE", known, 0, "启用|打开|开启|开通|enable|enabled|turn on|turned on|switched on|is on"}, {"ENABLE", known, negates, "禁用|关闭|关掉|关了|disable|disabled|turn off|turned off|switched off|is off"},
	{"PAID", known, 0, "已付款|已支付|付款|付了款|paid"}, {"PAID", known, negates, "未付款|未支付|没付款|unpaid"}, {"MARRIED", known, 0, "已婚|结婚|结婚了|married"}, {"MARRIED", known, negates, "未婚|单身|离婚|离婚了|single|unmarried|divorced"},
	{"SOLVED", known, 0, "解决|解决了|已解决|修好|修好了|修复|solved|fixed|resolved"}, {"DELIVERED", known, 0, "到货|送到|送到了|收到|到了|到账|到账了|delivered|arrived|received"},
	{"", 0, asks, "吗|什么|哪个|哪里|哪儿|怎么|为什么|多少|几点|谁|是不是|能不能|要不要|可不可以|有没有|how|what|why|where|which|who|whether|is it|do you|can you|could you|should i|shall we|does it|did it"},
}

// kept are words with a character in them that would mean something by itself.
const kept = "无锡|无线|无人机|无糖|非洲|非盟|未来|未知|不丹|不锈钢|没想到|上海|中国|中海|里斯本|对象|由于|表哥|表妹|表弟|表姐|地图|图书|图书馆|图片|地铁|得力|来福|去年|好友|做法|上班|下班|有限公司|有名|有关|会员|会计师|学校|生产线|测试用例|开发商|开发区|开发者|" +
	"能源|能力|功能|智能|性能|可能性|只要|爱尔兰|爱丁堡|约会|约翰|叫车|住院|住宿|因为|为了|认为|成为|以为|作为|行为|是非|吃惊|长沙|长春|红茶|绿茶|黑茶|白酒|红酒|黑板|白板|黄河|绿化|短裤|到期|用户名|使用手册|买家|有效期|不动产|不等式|别墅|无名|未名湖"

// by holds the phrases by their first rune, the longest first; of two that are written alike the later one counts.
var by = func() map[rune][]written {
	m := map[rune][]written{}
	phrases := phrases
	for w := range strings.SplitSeq(kept, "|") {
		phrases = append(phrases, phrase{text: w, words: w})
	}
	for i := range phrases {
		for w := range strings.SplitSeq(phrases[i].words, "|") {
			r, _ := utf8.DecodeRuneInString(w)
			at := 0
			for at < len(m[r]) && len(m[r][at].words) > len(w) {
				at++
			}
			if at < len(m[r]) && m[r][at].words == w {
				m[r][at].phrase = &phrases[i]
				continue
			}
			m[r] = append(m[r][:at], append([]written{{w, &phrases[i]}}, m[r][at:]...)...)
		}
	}
	return m
}()

// A written phrase is one way to write it.
type written struct {
	words string
	*phrase
}
