package knowledge

import "strings"

// A class is what a word of a question or of a document does there. A word may have several.
type class uint64

// Words that ask, by the form that an answer has: who asks how long something takes finds no answer in a text without a time.
const (
	askAmount class = 1 << iota
	askMoney
	askSpan
	askDate
	askPerson
	askWeight
	askShare
	asks   // asks for no form
	begins // asks where a clause begins with it
	plain  // says nothing about what a question is about
	common // says little
	stands // for what was named before
	joins  // two things
	whole  // looks like one of those above, and is not

	// What makes the form of an answer.
	number
	unitMoney
	unitSpan
	unitWeight
	unitShare
	day
	person
	doubtful // it may be a part of another word
	firstConcept
)

// forms are what a question may ask for.
const forms = askAmount | askMoney | askSpan | askDate | askPerson | askWeight | askShare

// function words are no part of what a question is about.
const function = forms | asks | begins | plain | stands | joins

// measure words are in every rule.
const measure = number | unitMoney | unitSpan | unitWeight | unitShare | day

// lexicon has the words of each class, Chinese and English; a phrase has _ for its spaces.
var lexicon = []struct {
	class class
	words string
}{
	{askMoney, `多少钱 几块钱 多少块 多少元 价格 价钱 价位 费用 收费 花费 要钱 收多少 多贵 how_much_can how_much_may how_much_do how_much_does how_much_did how_much_is how_much_are
		how_much_will how_much_would how_much_money how_expensive cost price fee charge`},
	{askSpan, `多久 多长时间 几天 多少天 几个工作日 多少个工作日 几个月 多少个月 几年 多少年 几小时 几个小时 多少小时 几周 多少周 几个星期 几分钟 多少分钟 期限 时限 时长 多少时间
		how_long how_many_day how_many_week how_many_month how_many_hour how_many_year how_many_minute how_many_business_day how_many_working_day how_fast how_quickly how_soon how_late duration time_limit`},
	{askDate, `什么时候 什么时间 何时 几点 几号 哪天 哪一天 几月 哪年 日期 截止 最晚 最迟 when what_time which_day what_day what_date which_date by_when until_when deadline due latest cut-off`},
	{askPerson, `谁 哪个部门 什么部门 哪位 什么人 哪个团队 哪个人 who whom whose which_team what_team which_department what_department which_person`},
	{askWeight, `多重 几公斤 多少公斤 几斤 重量 how_heavy weight weigh`},
	{askShare, `百分之几 百分之多少 比例 几成 百分比 what_percentage which_percentage percentage what_share what_proportion`},
	{askAmount, `多少 几个 几次 几份 几人 几名 几台 几张 几条 多少次 多少个 多少人 上限 限额 限制 额度 最多 最少 至多 至少 最高 最低 多大 多高 多远
		how_many how_much what_amount what_sum what_number how_big how_large how_far how_high how_often how_many_time maximum max minimum at_most at_least upper_limit limit quota cap the_most`},
	{asks, `什么 怎么 怎样 如何 为什么 为何 哪里 哪儿 哪些 哪个 哪 几 吗 呢 能不能 可不可以 能否 可否 是否 是不是 有没有 要不要 需不需要 会不会 怎么办 怎么样
		what which where why how`},
	{begins, `can could may do does did is are will would should am was were shall has have`},
	{plain, `请问 请教 找 办 办理 做 满 才 说 每 刚 只 我想问 我想知道 想了解 想知道 想问 告诉我 告诉 能告诉 帮我 可以 能够 应该 应当 必须 需要 允许 一下 情况下 情况 时候 的话 如果 假如 要是 关于 对于
		我们 你们 咱们 他们 大家 一个 一些 知道 属于 算是 比如 例如 具体 一共 总共 大概 大约 目前 现在 如今 通常 一般 得到 拿到 才能 才会 分别 之内 以内 规定 公司 员工 时间 经过 里 中 内 个 一年 每年 一个月 每个月 每月 一周 每周 一天 每天
		的 了 吧 啊 呀 嘛 么 是 在 有 要 会 能 想 得 去 来 到 我 你 您 他 她 把 被 给 让 对 从 用 向 为 于 之 或 就 都 也 还 又 再 很 着 过 某 若 由 没 没有 不
		please tell me i my mine we us our you your the a an of to for in on at by with from about if any some this_company i_would i_d i_m like know wonder happen take took get got make made give given
		need want find found go come let allow allowed permitted possible able must might ask say explain anyone somebody people thing way long often many much soon kind sort type
		currently now today usually normally typically exactly total still ever yet one have has had be been someone somehow actually there here their really just also too put keep see look try
		expect suppose mean company firm employer employee people staff write say become reach a_year per_year each_year every_year a_month per_month a_week per_week left more most not no or but so as than then after before during up out off over under whether`},
	{common, `change_my_mind change_my_plan 一次 每次 本次 上次 下次 首次 以下 以上 自己 自行 同一 同一个 同一个人 别人 某人 有人 本人 对方 双方 的人 临时 突然 打算 准备 希望 觉得 认为 以为 发现 看到 听说 出现 发生 进行 实行 执行 实施 采取 产生 造成 导致 引起
		成为 作为 变成 存在 保持 继续 停止 完成 达到 超过 低于 高于 足够 不够 过后 以后 之后 最近 已经 曾经 正在 马上 立刻 尽快 一直 总是 经常 偶尔 有时 从来 至今 左右 许多 很多 不少 全部 所有
		各个 各种 任何 另外 此外 同时 一起 分开 单独 直接 间接 正常 特殊 特别 普通 重要 必要 主要 基本 简单 复杂 容易 困难 方便 清楚 明确 正确 错误 合适 合理 有效 无效 可能 不能 不会 不用 不必
		不要 不行 去不了 来不了 做不到 用不了 带来 交给 做到 想要 愿意 喜欢 担心 注意 小心 记得 忘记 忘了 了解 明白 理解 说明 解释 介绍 描述 提供 获得 取得 收到 接受 答应 帮助 帮忙 处理 解决
		应对 安排 管理 要求 标准 条件 原因 结果 目的 方式 方法 办法 步骤 过程 流程 内容 部分 方面 问题 事情 东西 地方 刚刚 刚才 还是 或者 只要 只有 除非 除了 因为 所以 由于 但是 可是 不过
		虽然 尽管 即使 政策 制度
		accept according achieve act actual add additional adjust affect afford again age ago aim almost alone already although always amount answer appear approach aspect assume attempt available avoid aware
		away bad base basic back begin behave believe belong best better big bit brief busy care careful case catch cause certain chance choose clear collect common compare complete concern condition connect
		consider contain control correct count create current cut deal deep definite depend describe deserve despite detail determine develop difference different difficult direct discover discuss double
		doubt draw drop early earn easy effect effort either else enable enjoy enough ensure enter entire equal especially essential even event eventually everything example except exist experience extend
		extra face fact fail fair fall familiar fast feel fill final finish first fit follow force forget former forward frequent full further future gain general good great grow guess half handle hang
		happy hard hardly hear heavy help hesitate high hold hope however huge idea identify imagine immediate important improve include increase indeed indicate individual instead intend interest involve
		judge jump lack large later lay learn least less lie life likely little live lot low main maintain major manage matter maybe meanwhile meet mention mind minor miss mistake moment move natural near
		nearly necessary never new next nice normal note nothing obvious occur offer old only operate opinion opportunity option ordinary original other otherwise ought own particular partly pass past perfect
		perform perhaps period pick piece place plenty policy policies practice prefer prepare pretty prevent previous probably problem procedure proceed process produce progress promise proper propose
		prove provide purpose push question quick quite raise rather react ready real realise reason reasonable receive recent recognise recommend reduce refer reflect refuse regard regular relate remain
		remember remind repeat reply represent require requirement respond rest result reveal right rise role rough rule rules same save seem seldom select sense separate serious serve several short show
		similar simple since single situation size slow small solve sometimes special specific stage stand state stay step stick stop straight strange strong stuff subject succeed sudden suffer suggest
		suit suitable sure surprise talk tend think though throw together touch trouble true trust try turn twice understand unless urgent useful various very view wait walk warn watch well whatever whenever
		whole wide willing wish without work worry worth wrong`},
	{stands, `它 它们 其 这个 那个 这些 那些 该 此 it its they them that this these those`},
	{joins, `、 以及 还有 和 与 及 and as_well_as plus`},
	{whole, `和平 和谐 和解 和睦 饱和 温和 总和 缓和 参与 与会 给与 赠与 与否 及时 及格 及早 普及 提及 危及 触及 顾及 来得及 来不及 会议 会员 会计 会客 用户 用品 用餐 用车 要求 要点 对账 对象 到账 到岗 得分 过期 过户 过敏 去年
		来源 来电 来访 给付 给药 由来 其他 其它 其中 向导 为主 行为 在职 在线 在途 在岗 有效 有限公司 有关 想法 能力 能源 能耗 性能 功能 智能 是非 从业 从事 让利 把手 被子 对接 用工 用印 用章 用量 用途 使用 应用 信用 费用 中心 中文 中国 中介 内部 内网 内容 内推 国内 里程 公里 个人
		个税 不动产 没收 还款 还贷 还书 再生 着装 着陆 之间 于是 人才 小说 满意 圆满 做法 刚性 只读 会场 会费 年会 机会 社会 工会 协会 部门 门诊 几何 为期 时间表 时间段 每次 一次 此次 本次 上次 下次 首次
		last_year last_spring last_summer last_autumn last_winter last_month last_week last_time last_day last_name at_any_time any_time in_time on_time real_time full_time part_time working_time at_the_time`},

	{number, `零 半 两 一 二 三 四 五 六 七 八 九 十 百 千 万 亿 half one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty ninety hundred thousand once twice unlimited no_limit 不限 无上限 免费 免收 free free_of_charge no_charge no_cost at_no_cost 当天 次日 当日 立即 即时 长期 永久 an_hour a_day a_week a_month same_day next_day immediately overnight indefinitely lifetime permanent`},
	{unitMoney, `元 块 块钱 美元 欧元 人民币 免费 免收 yuan rmb cny usd eur dollar euro pound cent free free_of_charge no_charge no_cost at_no_cost $ ¥ ￥ € £`},
	{unitSpan, `工作日 自然日 working_day business_day calendar_day working_hour 天 日 小时 分钟 秒 周 星期 个月 月 季度 年 当天 次日 当日 立即 即时 长期 永久 second minute hour day week fortnight month quarter year same_day next_day immediately overnight indefinitely lifetime permanent an_hour a_day a_week a_month`},
	{unitWeight, `公斤 千克 克 斤 吨 kg g kilogram kilo gram lb tonne ton`},
	{unitShare, `% ％ 百分之 成 percent per_cent half third quarter`},
	{day, `月 号 日 点 周一 周二 周三 周四 周五 周六 周日 周末 星期一 星期二 星期三 星期四 星期五 星期六 星期日 每天 每日 每周 每月 每季度 每年 月底 月初 年底 年初 工作日 上午 下午 晚上 当天 次日 之前 以前 之后 以内 前 小时
		monday tuesday wednesday thursday friday saturday sunday weekday weekend january february march april may june july august september october november december am pm daily weekly monthly quarterly yearly annually
		noon midnight morning afternoon evening end_of start_of before within after no_later_than until hour day week month`},
	{person, `我们 我司 本公司 顾客 买家 卖家 部 部门 组 科 室 处 中心 经理 主管 主任 总监 负责人 负责 人员 专员 老师 医生 客服 前台 服务台 行政 财务 人事 法务 领导 同事 上级 团队 委员会
		we buyer seller team department desk office manager director officer supervisor lead head hr human_resource finance legal reception support committee board administrator owner nurse doctor engineer service colleague`},
}

// concepts are words for one thing that a rule may say of something. A question for one is answered by a text with another. They are what rules of
// companies and terms of shops are about, whatever their things are.
var concepts = strings.Split(`
报销 报 退给 承担 支付 付 出钱 花钱 花了 钱 补贴 支出 垫付 报账 出资 花销 贴补 给钱 reimburse claim pay paid pay_back money cover spend spent spending expense refund money_back returned
审批 批 批准 同意 签字 签 许可 决定 核准 approve approval sign sign_off signature permission authorise authorize authorisation authorization agreement agree consent decide decision go_ahead okay sanction
取消 撤销 退订 作废 不要了 不想要 撤回 退掉 退订 不去 不用了 cancel cancelled cancellation cancelling call_off called_off withdraw revoke annul back_out
申请 提交 交 交表 手续 材料 登记 报名 填写 填 提出 apply application request file filed submit submission hand_in send_in turn_in paperwork register registration sign_up enrol enroll lodge
入职 工作 享有 资格 工龄 面向 工作满 有权 新同事 新员工 entitle entitled entitlement eligible eligibility qualify open_to service worked tenure seniority join newcomer new_colleague new_hire new_employee new_starter
次 次数 频率 频次 几次 多少次 how_often how_many_time time often frequency frequent times_a_year once twice
最长 持续 时长 不得超过 不超过 为期 last longest longer duration goes_on go_on continue run
提前 预先 事先 之前 以前 ahead advance beforehand notice prior before late
退货 退回 归还 还 return returned give_back send_back bring_back
退款 退钱 返还 退 refund money_back reimburse
换货 更换 换 调换 exchange replace replacement swap
维修 修理 修 repair fix mend
保修 质保 保固 warranty guarantee
配送 送货 发货 送达 到货 寄 deliver delivery ship shipping shipment dispatch arrive
保存 保留 存放 存储 留存 store storage retain retention archive saved kept
删除 清除 销毁 delete deletion erase destroy purge
联系 咨询 求助 contact phone hotline email get_in_touch
上报 通报 汇报 报备 report notify inform raise escalate
开始 生效 启动 起 start begin effective commence kick_in take_effect
结束 到期 失效 过期 end expire expiry finish close
开放 营业 开门 opening open opened
购买 买 采购 buy bought purchase order procure procurement
借 借用 租 租用 borrow rent lend loan hire
预订 预约 预定 订 book booking reserve reservation appointment
修改 变更 更改 改 change modify amend alter edit
丢失 丢 遗失 挂失 被盗 lose lost missing stolen
工资 薪水 薪资 月薪 salary wage payroll
请假 休假 假期 leave holiday vacation time_off day_off
携带 带 bring carry
禁止 不准 不得 不许 forbid forbidden prohibit banned not_allowed
证明 凭证 发票 收据 票据 proof receipt invoice certificate evidence voucher
居家 远程 在家 remote remotely from_home telework
酒店 宾馆 住宿 旅馆 hotel lodging accommodation
机票 飞机 航班 飞 flight plane airfare fly
火车 高铁 动车 train rail railway
培训 课程 上课 training course class
迟到 晚到 late tardy lateness
加班 超时工作 overtime extra_hour
罚款 处罚 扣 违约金 fine penalty penalise penalize
安装 部署 装 install installation setup set_up
密码 口令 password passphrase
负责 管 responsible responsibility charge_of in_charge
`, "\n")
