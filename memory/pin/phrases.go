package pin

// phrases are the words that are no verbs of an action. A phrase is found longest first, so what only looks like a denial (别人,
// 特别) stands here as well.
var phrases = []struct {
	class class
	value string
	words string
}{
	{cDeny, "", "不要|不要再|别|别再|千万别|千万不要|请勿|勿|切勿|切莫|莫|先别|先不要|暂时别|暂时不要|暂不|先不|不想|不想要|不希望|不想让|不愿意|不愿|可别|别给我|少给我|绝不要|绝对不要|绝对别|永远不要|永远别|不再|休想|避免"},
	{cDeny, "", "don't|dont|do not|never|never ever|don't ever|do not ever|don't you dare|let's not|let us not|please not|would you not|could you not|can you not|could you please not|can you please not|will you not|" +
		"would you please not|could you maybe not|you do not|you don't|i'd rather you didn't|i would rather you didn't|i'd prefer you didn't|i'd prefer you not|i'd rather you not|prefer not|hold off before you"},
	{cModal, "", "不准|不许|不得|不可|不可以|不允许|禁止|严禁|切忌|严格禁止|绝不允许|绝不能|绝不可以|绝对不能|绝对不可以|绝对不准|绝对不许|绝对禁止|一律禁止|一律不准|一律不许|一律不得|不应|不应该|不该|不能再|不许再|不准再|决不能|决不允许|永远不能|万万不可|不同意|反对|不接受|不授权|不批准"},
	{cModal, "", "must not|mustn't|must never|may not|shall not|shan't|should not|shouldn't|should never|may never|shall never|not to|never to|not allowed to|not permitted to|not supposed to|not authorized to|not authorised to|" +
		"forbidden to|prohibited from|forbidden from|banned from|not to be|never to be|mustnt|shouldnt|under no circumstances|on no account|by no means|nothing may|nothing should|no one may|nobody may|no one should|nobody should|nobody is to|no one is to|" +
		"i forbid|i forbid you to|i do not allow|i don't allow|i won't allow|i do not permit|i don't permit|i don't consent to|i do not consent to|i don't want|i do not want|i don't approve of|i do not approve|i won't accept|i refuse|i object to|at no point|at no time|in no case|won't tolerate"},
	{cCannot, "", "不能|can't|cannot|can not|can never|cant"},
	{cGerund, "", "no|no more|stop|avoid|refrain from|quit|cease|hold off|hold off on|abstain from|steer clear of|zero|absolutely no|keep from|not a single|no further|no automatic|no auto|no unapproved|停止对|别继续|停止给|停止向"},
	{cPost, "", "不行|免谈|想都别想|没门|不被允许|是不允许的|是禁止的|是不行的|is forbidden|are forbidden|is prohibited|are prohibited|is not allowed|are not allowed|isn't allowed|aren't allowed|is not permitted|are not permitted|is banned|are banned|" +
		"is a no-go|is a no go|are a no-go|is out of the question|is off the table|is taboo|is not an option|is strictly forbidden|is strictly prohibited|are strictly prohibited|is not ok|is not okay|isn't okay|isn't ok|is unacceptable|not allowed|strictly forbidden|forbidden|prohibited|not ok|" +
		"is never ok|is never okay|is never allowed|are never allowed|is never acceptable|are never acceptable|verboten"},
	{cHandsOff, "", "hands off|keep your hands off|stay away from|keep away from|stay out of|keep out of|stay off|keep off|leave alone|off limits|off-limits|is off limits|are off limits|is off-limits|are off-limits|read-only for you|keep clear of|保持原样|保持不动|保持不变|原封不动|离远点|远离|不能动|不许动|不准动|动不得|碰不得|列为禁区|是禁区|是红线|只读"},
	{cStanding, "", "永远|永远都|以后|以后都|今后|往后|从今以后|从现在起|从现在开始|从今天起|从今往后|一直|始终|总是|每次|每次都|任何时候|无论何时|长期|永久|再也|一概|一律|默认|记住以后|从此|务必|一向|" +
		"from now on|from today on|from today|always|going forward|in future|in the future|henceforth|every time|each time|whenever|ever|ever again|at any time|permanently|for good|by default|forever|any time|under any circumstances|for all future|at all times|never|never ever|from here on|from here on out|as a rule|without exception|as a standing rule"},
	{cApproval, "", "先经过我|要经过我|必须经过我|须经过我|都要问我|都得问我|没有我同意|没有我的同意|没有我点头|没有我确认|没有我的确认|没有我批准|没有我的批准|没我同意|没我的同意|没经过我同意|没经我同意|未经我同意|未经我的同意|未经我允许|未经我批准|未经我确认|未经同意|未经批准|未经许可|未经授权|未经确认|不经我同意|不经过我|没有我授权|没有我的授权|没有我许可|没有我的许可|除非我同意|除非我|除非经过我|除非得到我|" +
		"先问我|先问一下我|先问问我|问我一声|先跟我确认|先和我确认|先向我确认|先找我确认|跟我确认|经我同意|经过我同意|经过我的同意|得到我同意|得到我的同意|征得我同意|征得我的同意|经我确认|经我批准|我同意后|我同意了|我确认后|我确认了|我批准后|我点头|要我同意|要我批准|需要我同意|需要我批准|需要我确认|等我同意|等我确认|等我批准|由我批准|由我审批|由我确认|只有我同意|先请示我|先请示|先征求我|先告诉我|先经过我|必须经过我|我签字"},
	{cApproval, "", "without my approval|without my consent|without my permission|without my ok|without my okay|without my explicit approval|without my explicit consent|without my explicit permission|without my confirmation|without my say-so|without my sign-off|without my go-ahead|without my knowledge|without my agreement|without asking me|without asking|without asking me first|without checking with me|" +
		"without approval|without permission|without explicit approval|without my authorization|without my authorisation|without confirming with me|without consulting me|without telling me|unless i say so|unless i approve|unless i agree|unless i confirm|unless i tell you|unless i ask|unless i explicitly|until i say so|until i approve|until i confirm|until i agree|until i tell you|until i give|" +
		"ask me before|ask me first|ask before|ask for my approval|ask for my permission|ask for my ok|ask my permission|check with me|confirm with me|get my approval|get my ok|get my okay|get my permission|get my consent|get my sign-off|needs my approval|need my approval|requires my approval|require my approval|needs my ok|need my ok|needs my sign-off|need my sign-off|requires my sign-off|require my sign-off|requires my permission|needs my permission|" +
		"require my consent|requires my consent|need my permission|need my consent|run it by me|clear it with me|wait for my approval|wait for my ok|wait for my go-ahead|wait for my confirmation|only with my approval|only with my permission|only with my consent|only after i approve|only after i confirm|only after i agree|only if i approve|only if i agree|only if i say so|require my confirmation|requires my confirmation|need my confirmation|needs my confirmation|consult me before|consult me first|tell me before|let me approve|i have to approve|i must approve|i need to approve|has to be approved by me|must be approved by me"},
	{cOnly, "", "只能|只可以|只许|只准|只允许|仅限|仅能|may only|can only|must only|should only|only ever|only allowed to|are only to|just in|only in|仅允许"},
	{cExcept, "", "除了|除|except|except for|except in|except on|other than|apart from|outside|outside of|以外的|anywhere but|any place but"},
	{cQuestion, "", "为什么|为何|为啥|怎么|怎么样|如何|是不是|是否|能不能|要不要|可不可以|该不该|需不需要|用不用|准不准|许不许|行不行得|难道|什么时候|何时|哪里|哪个|哪些|哪儿|谁说|谁让|是谁|什么意思|多少|会不会|有没有|凭什么|干嘛|干吗|干什么|咋|什么是|是什么|什么情况下|什么原因|何必|吗|么|要不|不是吗|好不好|会怎样|会怎么样|会如何|有什么|是啥"},
	{cQuestion, "", "why|how|what|when should|where|who|which|what if|how come|why not|is it|are we|are you|should i|should we|do you|do we|do i|does it|did you|did we|can we|can i|could we|may i|may we|would it|shouldn't we|shouldn't i|shouldn't you|don't you|don't we|don't they|don't i|isn't it|won't it|won't you|can't we|can't you|can't i|can you|could you|would you|will you|will it|shall we|shall i|must i|must we|whether|wondering|have you|has it|did it|whose"},
	{cTag, "", "好吗|好不好|可以吗|行吗|行不行|明白吗|明白了吗|明白吧|懂吗|懂了吗|知道吗|知道了吗|听到了吗|听见了吗|听到没|清楚吗|清楚了吗|清楚没有|记住了吗|记住没有|记住没|听懂了吗|能做到吗|ok吗|ok|okay|alright|all right|please|got it|understood|deal|will you|would you|clear|is that clear|you understand|do you understand|do you hear me|are we clear|can you remember that|can you do that|got that|capisce|yes|thanks|拜托|谢谢"},
	{cSay, "", "说|说过|说了|都说了|说道|说是|写着|写道|写了|写|提到|提示|显示|讲|讲过|要求|建议|告诉|听说|据说|叮嘱|吩咐|喊|嘱咐|警告|回复说|表示|声称|强调|规定了|告知|反馈|转告|叫|让|劝|问|抱怨|念叨|标着|标注|注明|常说|老说|提醒过|提醒"},
	{cSay, "", "said|says|say|saying|told|tells|tell|telling|wrote|writes|asked|asks|suggested|suggests|suggest|recommended|recommends|recommend|warned|warns|warning|claimed|claims|mentioned|mentions|stated|states|reads|insisted|insists|ordered|instructed|advised|advises|advise|complained|shouted|posted|announced|quoted|quote|according to|heard|demanded|begged|decided|decides|chose|promised|agreed"},
	{cDoc, "", "文档|文档里|手册|说明书|说明|readme|wiki|教程|博客|帖子|日志|日志里|报错|告示|公告|系统提示|页面|屏幕|标签|群里|网上|注释|脚本里|提示语|弹窗|邮件里|小说|电影|歌词|docs|documentation|runbook|comment|sign|banner|tutorial|article|book|movie|song"},
	{cMe, "", "我|我们|咱|咱们|本人|i|we|i've|i'm|we've|we're|i'll|we'll|me|i'd"},
	{cYou, "", "你|您|你们|谁|谁也|谁都|任何人|所有人|大家|你可|you|nobody|no one|anyone|anybody|everyone|everybody|none of you|you're|you are|agents|the agent|the bot|the assistant|assistant|bot|the ai|人|机器人|助手"},
	{cOther, "", "他|她|它|他们|她们|它们|对方|人家|有人|别人|某人|he|she|it|they|someone|somebody|him|her|them|he's|she's|they're|it's|my boss|my colleague"},
	{cPerson, "", "老板|经理|领导|同事|主管|医生|妈妈|爸爸|妈|爸|老师|朋友|客服|买家|卖家|顾客|运维同学|dba|boss|manager|colleague|doctor|teacher|friend|mother|father|ceo|cto|director"},
	{cPerson | cNoun, "customer", "客户|客人|customer|customers|client|clients|消费者"},
	{cPerson | cNoun, "user", "用户|user|users|会员|members|member"},
	{cCond, "", "如果|要是|假如|假设|若|若是|倘若|万一|一旦|即使|即便|虽然|因为|由于|只要|when|if|once|unless|because|since|although|though|even if|even though|as long as|in case|as soon as|provided|while|whereas|suppose|assuming|既然|当|的话"},
	{cThen, "", "就|那|那么|那就|都|也|请|一定|then|所以"},
	{cHypo, "", "就好了|当时|当初|早知道|早知|本来|原本|本该|本应|要不是|幸好|幸亏|还好|后悔|差点|if only|would have|should have|shouldn't have|could have|had we|had i|wish we|wish i|i wish|must not have|may not have|can't have|cannot have|regret|last time we|上次没|昨天没"},
	{cUndo, "", "忘|忘了|忘记|忘掉|漏|漏掉|错过|担心|害怕|怕|以为|觉得|认为|指望|怪|怀疑|紧张|慌|介意|客气|犹豫|跳过|少|拖延|耽误|影响|阻止|妨碍|只|光|仅仅|因为|等|等到|急于|说|提|问|管|错|没|浪费|嫌|惊讶|奇怪|小看|低估|轻视|放弃|拒绝|吝啬|不好意思|误会|理解成|当成|信|相信|被"},
	{cUndo, "", "forget|forgets|forgetting|hesitate|fail|worry|mind|bother|think|know|see|understand|care|believe|remember|skip|miss|neglect|expect|like|have|need|need to|have to|mean|wait|wonder|feel|seem|afraid|be afraid|be shy|blame|assume|suppose|just|only|panic|delay|postpone|omit|seen|been|had|happened|work|require|look|recall|give up|be surprised|be scared|be discouraged|prevent|regret|overlook|underestimate|refuse|let me down|lose|support|trust"},
	{cNot, "", "不|没|没有|未|无法|无|无需|无须|不用|不必|不会|不了|not|n't|no need to|no need|isn't|aren't|doesn't|didn't|won't|haven't|hasn't|wasn't|weren't|doesn't need|never mind|unable to"},
	{cStop, "", "但|但是|不过|而是|而|然而|可是|只需|改为|but|instead|however|rather|just|except that|并|并且|然后|and then|so that|以免|以便|为了|否则|不然|or else|otherwise|until|unless|直到|之前|以前|because|since|因为|after|before|when|if|in order to|then|while"},
	{cPermit | cYou, "", "你可以|您可以|你们可以|你现在可以|你可以放心|你可以去|你能"},
	{cDeny | cYou, "", "i would prefer that you not|i'd prefer that you not|i would prefer you not|i'd like you not to|i would like you not to|i ask you not to|i want you not to|i need you not to|i beg you not to"},
	{cModal, "", "nothing gets|nothing gets to be|nothing is to be|nothing will be|nothing can be|nothing is|under no condition|under no conditions|in no case|at no time|no one is to|nobody is to"},
	{cModal | cYou, "", "it's forbidden to|it is forbidden to|it's prohibited to|it is prohibited to|it's not allowed to|it is not allowed to|it isn't allowed to|it is strictly forbidden to|you must not|you must never|you should not|you should never|you may not|you may never|you shall not|you shall never|you are not to|you're not to|you are not allowed to|you're not allowed to|you are never to|you're never to|you have to stop|you need to stop|you must stop|you should stop|you are forbidden to|you are forbidden from|你不要|您不要|你别|您别|你不准|你不许|你不得|你不可以|你不可"},
	{cPermit, "", "可以|能够|允许|准许|准|批准|同意|放行|放开|解禁|现在可以|可以放心|you may|you can|you may now|you can now|you're allowed to|you are allowed to|you're free to|you are free to|feel free to|go ahead and|go ahead with|it's ok to|it is ok to|it's okay to|it is okay to|it's fine to|it is fine to|it's safe to|ok to|okay to|fine to|safe to|i allow you to|i allow|i now allow|i permit|i permit you to|i hereby allow you to|" +
		"you have my permission to|you have my approval to|you have permission to|you have my ok to|you're welcome to|you're clear to|you are clear to|cleared to|i approve|i authorize|i authorise|is allowed again|is allowed now|is fine now|is ok now|is okay now|are allowed again|are fine now|are allowed now|is permitted now|is no longer forbidden|are no longer forbidden|is permitted again|no longer forbidden|now allowed|permission granted|我同意|我批准|我允许|you may again|you can again|is allowed|is ok again|is okay again"},
	{cRevoke, "", "取消|解除|撤销|收回|作废|忘掉|忘了|忘记|忽略|不用管|不用理|无视|不算数|失效|放开|废除|拿掉|去掉|不再有效|撤回|forget|forget about|ignore|disregard|lift|lifted|remove|cancel|drop|revoke|take back|i take back|i'm lifting|scratch|never mind|withdraw|i withdraw|i retract|retract|no longer applies|no longer apply|is lifted|are lifted|is over|you no longer need to ask|you don't need to ask|you do not need to ask|you no longer have to ask"},
	{cBan, "", "限制|禁令|禁止令|规定|约束|规则|要求|我说的|我说过的|我刚说的|我刚才说的|我之前说的|我之前的话|刚才的话|那句话|我的话|禁止|指示|指令|之前说的|刚才说的|what i said|what i told you|my earlier|my previous|my last|my instruction|my instructions|my rule|the rule|the restriction|the restrictions|the ban|restriction|restrictions|ban|the block|my ban|the freeze|my restriction|my restrictions|that rule|that restriction|my earlier instruction|my words|my prohibition|the prohibition|you no longer need to ask|you don't need to ask|you do not need to ask|you no longer have to ask|what i asked"},
	{cAll, "", "所有限制|全部限制|一切限制|所有的限制|所有禁令|全部禁令|所有规则|all restrictions|all the restrictions|all my restrictions|all bans|all rules|all my rules|every restriction|all earlier restrictions|all previous restrictions|everything i forbade"},
	{cBehave, "", "用|使用|回答|回复|答复|输出|说|写|给出|列出|列|叫我|称呼|附上|注明|解释|总结|按|按照|以|检查|查|确认|问我|提醒我|翻译|引用|先|附带|标注|标明|保持|遵守|遵循|返回|展示|显示|告诉我|汇报|讲|沟通|交流|告知我|带上|加上|放在|提供|给我|" +
		"answer|reply|respond|use|write|speak|call me|address me|address|show|include|put|give|start|begin|end|keep|explain|cite|list|check|ask|confirm|prefer|format|summarise|summarize|translate|quote|make|be|tell|tell me|remind me|follow|talk|present|state|provide|mention|attach|round|report|sort|label|double-check|verify|treat|assume|stick|output|print"},
	{cStyle, "", "中文|英文|英语|汉语|日语|日文|韩语|法语|德语|繁体|繁体字|简体|普通话|粤语|表格|列表|markdown|json|emoji|表情|表情符号|简短|简洁|精简|一句话|三句话|要点|结论|证据|大白话|敬语|专业术语|术语|口语|正式语气|english|chinese|mandarin|german|french|spanish|japanese|korean|simplified chinese|traditional chinese|table|tables|bullet points|bullets|plain text|emojis|short|brief|concise|formal|informal|plain language|jargon|exclamation marks|metric units|iso dates|conclusion|conclusions|evidence|sources|abbreviations|acronyms|small talk|code comments|slang|废话|客套话|客套|套话|啰嗦|长篇大论|感叹号|缩写|比喻|行话"},
	{cOnce, "", "这次|这一次|这个问题|这回|本次|今天|今晚|这一题|这条|这封|这段|this time|this question|this one|just once|today|tonight|just now|this message|for this|this paragraph|this email"},
	{cState, "", "会|将会|会自动|可能|应该会|在用|正在|已经|已|曾|曾经|一直在|都在|起来|不起来|失败|成功|是因为|的是|will|is|are|was|were|has|it's|happened|happens|needed|required|found|necessary|occurred|fails|failed|takes|took|works|worked|seems|exists|detected|scheduled|came|went|yet|there|left|detected|possible|available|planned|pending|visible|received|shown|arrived"},
	{cFill, "", "请|请你|麻烦|麻烦你|拜托|再|随便|随意|擅自|私自|自动|自己|自行|直接|轻易|乱|去|来|把|将|对|给|让|帮我|替我|在|往|向|于|的|了|吧|啊|哦|呀|呢|哈|啦|里|里的|上|上的|中|下|任何|所有|全部|一切|什么都|什么|各种|我的|我们的|你的|现在|马上|立刻|今天|明天|晚上|周末|暂时|记住|记得|注意|听好|听着|总之|反正|无论如何|不管怎样|不管怎么样|不管怎么说|无论怎样|绝对|千万|一定|坚决|主动|手动|这个|那个|这些|那些|这台|那台|该|此|些|个|台|次|一下|一次|进行|执行|做|强制|强行|随时|继续|动不动就|急着|着急|环境|系统的|为|跟|和|与|或|或者|以及|及|还是|还|又|只要|里面|之后|后|以上|上面|目前|眼下|期间|时|时候|要|到|从|被|都|也|就|另外|还有|同时|此外|而且|首先|其次|最后|特别是|尤其|尤其是|尽量|尽可能|一|两|三|第|号"},
	{cFill, "", "please|pls|plz|again|even|try|to|go|start to|dare|let|anyone|anybody|to ever|automatically|manually|accidentally|be|get|for any reason|simply|also|yet|now|right now|attempt|attempt to|do|perform|issue|trigger|initiate|schedule|process|a|an|the|more|any|all|my|our|these|those|your|their|this|that|such|further|go ahead with|go ahead and|proceed with|apply|in|on|at|for|with|of|from|by|and|or|nor|either|so|ok|okay|hey|hi|hello|note|listen|look|important|then|well|also|remember|reminder|seriously|really|absolutely|definitely|for now|for the moment|until further notice|tonight|today|tomorrow|this week|later|want|want you to|wanted|ever|just in case|whatever you do|whatever happens|no matter what|" +
		"i repeat|to be clear|make sure|make sure you|make sure that you|be sure|be sure you|ensure|ensure that|ensure you|see to it that|remember that|keep in mind|keep in mind that|i want|i want you|i'd like you|i need you|you must|you have to|you need to|you should|take care|be careful|be very careful|attention|one thing|one more thing|first of all|as i said|like i said|importantly|fyi|environment|env|system|systems|anything|everything|something|things|thing|stuff|there|here|who|whoever|into|onto|under|about|per|via|up|out|off|over|as|too|it|them|him|her|us|someone|else|me|single|will be|there will be|there should be|there must be|there are to be|its|his|her|some|one|other|another|allowed|permitted|are allowed|are permitted|are to be|is to be|being|been|having|directly|yourself|myself|on your own|by yourself|automatic|automated|auto|under|way|period|full stop|at all|going|try to|trying to"},
	{cYou, "", "you must|you have to|you need to|you should|you are|you're|你要|你必须|您要|i want you|i need you|ensure you|make sure you|make sure that you|be sure you"},
	{cMe | cYou, "", "我说|我说了|我说过|我再说一遍|我重申|我告诉你|我跟你说|我跟你说过|我跟你讲|我让你|我叫你|我要求你|我要求|我要求过|我提醒你|我强调|我强调过|我都说了|我已经说了|我已经说过|我说过了|我不是说过|我不是说了|都说了|说了|说过了|i said|i already said|i told you|i have told you|i've told you|i already told you|i'm telling you|i am telling you|i tell you|i say|i asked you|i've asked you|i ask you|i mean|i meant|as i said|like i said|i already asked you|i have said|i've said|i insist|i order you|i instruct you|i instructed you|i'm asking you|i am asking you|i beg you|i'm ordering you|i warned you|i warn you"},
	{0, "", "不要紧|不要脸|别客气|别担心|别急|别着急|别怕|别慌|别介|别提了|别提|别说|别墅|别致|别扭|别样|别的|别处|别名|特别|分别|级别|区别|类别|性别|识别|告别|个别|差别|派别|辨别|鉴别|不得不|不得了|不得已|不能不|不可不|不可或缺|不可能|不可靠|不可用|不可思议|不可避免|不要不|禁不住|不禁|不见得|舍不得|巴不得|恨不得|怪不得|要不得|不得而知|不能自已|不能说|不行了|不行的话|莫名|莫非|莫过于|莫斯科|勿忘|" +
		"动态|活动|运动|动作|动不动|联动|驱动|推动|变动|主动|被动|滚动|动画|动力|动机|互动|劳动|动手术|感动|激动|心动|流动|波动|浮动|动物|改天|改善|改进|发现|发生|出发|发展|发挥|并发|研发|发起|爆发|沙发|头发|发烧|突发|发觉|发出声|发热|发表|发言|发明|发脾气|发愁|发火|发呆|发挥|停车|不停|停留|停顿|查到|推荐|推迟|推理|推测|推断|推特|碰到|碰巧|碰头|碰运气|买家|卖家|购买力|跑步|跑题|逃跑|删减版|订阅号|恢复力|动辄|举动|动听|发言权|寄托|寄予|启动器|执行力|执行官|运行时|运行中|运行良好|运行正常|通知栏|发型|买单|停不下来|改变主意|打扰了|打扰一下|批准文号|联系人|联系方式|操作系统|操作手册|操作步骤|操作记录|更新日志|发布会|发布时间|发布记录|付款记录|支付宝"},
	{cNoun, "", "支付服务|支付系统|支付网关|支付接口|通知服务|推送服务|更新记录|重启记录|退款记录|变更记录|发票服务"},
	{cEnv, Production, "生产|生产环境|线上|线上环境|正式环境|正式|现网|prod|production|prd|live|production environment|prod environment|live environment|live system|生产系统|线上系统"},
	{cEnv, Testing, "测试|测试环境|测试服|预发|预发布|预发环境|预生产|灰度|test|testing|staging|stage|stg|uat|qa|sit|sandbox|test environment|staging environment|preprod|pre-prod|沙箱"},
	{cEnv, Development, "开发环境|开发机|开发库|本地|本地环境|dev|development|local|localhost|dev environment"},
	{cNoun, "order", "订单|order|orders|单子"},
	{cNoun, "database", "数据库|库|主库|从库|database|databases|db|dbs|mysql|postgres|redis|mongodb"},
	{cNoun, "table", "数据表|表|表结构|字段|schema|schemas"},
	{cNoun, "instance", "实例|主机|机器|服务器|节点|instance|instances|server|servers|host|hosts|node|nodes|machine|machines|vm|vms|pod|pods|容器|container|containers"},
	{cNoun, "service", "服务|应用|service|services|app|apps|application|微服务|进程|process|processes"},
	{cNoun, "cluster", "集群|cluster|clusters"},
	{cNoun, "file", "文件|文件夹|目录|file|files|folder|folders|directory|directories|附件"},
	{cNoun, "config", "配置|配置文件|设置|参数|config|configs|configuration|configurations|settings|setting"},
	{cNoun, "log", "日志文件|log|logs"},
	{cNoun, "backup", "备份文件|快照|snapshot|snapshots|backups"},
	{cNoun, "account", "账号|账户|帐号|account|accounts"},
	{cNoun, "data", "数据|记录|资料|data|record|records|row|rows"},
	{cNoun, "ticket", "工单|ticket|tickets|issue|issues|case|cases"},
	{cNoun, "branch", "分支|主干|branch|branches|main branch|master"},
	{cNoun, "code", "代码|源码|code|codebase|repo|repository|仓库"},
	{cNoun, "contract", "合同|contract|contracts"},
	{cNoun, "invoice", "发票|账单|invoice|invoices|bill|bills"},
	{cNoun, "price", "价格|定价|price|prices|pricing|报价"},
	{cNoun, "permission", "权限|permissions|access rights"},
	{cNoun, "product", "商品|产品|库存|product|products|stock|inventory"},
	{cNoun, "subscription", "订阅|套餐|subscription|subscriptions"},
	{cNoun, "queue", "队列|queue|queues|topic|topics"},
	{cNoun, "cache", "缓存|cache|caches"},
	{cNoun, "index", "索引|index|indexes|indices"},
	{cNoun, "mail", "邮件|短信|邮箱|mailbox|inbox"},
	{cNoun, "key", "密钥|证书|密码|key|keys|secret|secrets|certificate|certificates|password|passwords|token|tokens"},
	{cNoun, "domain", "域名|domain|domains|dns"},
	{cNoun, "payment", "支付|payment|payments"},
	{cNoun, "money", "钱|资金|money|funds"},
}
