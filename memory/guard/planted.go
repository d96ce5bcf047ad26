package guard

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/memory/internal/fold"
)

// Planted finds instructions to the model: "ignore all previous instructions", "忽略以上规则", marks of roles, and their like. What a user
// may want for good is none: "always answer in tables", 从现在起默认生产, "never restart production", "forget my earlier rule". It takes
// linear time.
func Planted(text string) []Finding {
	t := fold.Of(text)
	lower := fold.Lower(t.S)
	var found []Finding
	for _, p := range plants {
		for trigger := range strings.SplitSeq(p.triggers, "|") {
			for i := range places(lower, trigger) {
				if end, ok := p.at(lower, i); ok {
					found = append(found, Finding{p.kind, i, end})
				}
			}
		}
	}
	return settle(t, found)
}

// A plant is one way to talk to the model behind the user's back. A trigger is looked for by its bytes, and the pattern only where one was
// found, so that long texts are read fast.
type plant struct {
	kind     string
	triggers string
	line     bool // it begins a line
	pattern  *regexp.Regexp
}

const maxPlant = 240 // bytes that a pattern may look at

func (p plant) at(s string, i int) (int, bool) {
	if s[i] < utf8.RuneSelf && alnum(s[i]) && i > 0 && alnum(s[i-1]) {
		return 0, false
	}
	if before := strings.TrimRight(s[max(0, i-8):i], " \t#*_>-"); p.line && before != "" && !strings.HasSuffix(before, "\n") {
		return 0, false
	}
	m := p.pattern.FindStringIndex(s[i:min(len(s), i+maxPlant)])
	if m == nil {
		return 0, false
	}
	return i + m[1], true
}

// Parts of patterns.
const (
	enRules = `(?:instructions?|rules?|prompts?|guidelines?|directions?|directives?|constraints?|commands?|programming|training|system messages?|safety|policies|safeguards|guardrails|filters?|messages above|text above)`
	enWhich = `(?:all|any|every|everything|the|of|your|these|those|previous|prior|preceding|above|earlier|former|past|existing|initial|original|system|developer|safety|security|content|hidden|other|current)`
	zhRules = `(?:规则|规定|指令|指示|提示词|系统提示|提示语|命令|约束|prompts?|instructions?|rules?)`
	zhWhich = `(?:以上|上面|上述|之前|先前|前面|此前|所有|全部|一切|任何|系统|原有|原来|原先|你的|您的|你|既定|安全|的|那些|这些|内置|预设|开发者|已有|给你|我们|\s|、|和|及|与)`
	secrets = `(?:system prompts?|system messages?|system instructions?|hidden instructions?|hidden prompts?|initial prompts?|initial instructions?|developer messages?|secret instructions?|original instructions?|secret memor(?:y|ies)|internal instructions?|prompt verbatim|instructions verbatim)`
)

var plants = []plant{
	{"instruction", "ignore|disregard|forget|override|bypass|overrule|overwrite|neglect|violate|discard|drop|skip", false,
		regexp.MustCompile(`^(?:ignor|disregard|forget|overrid|bypass|overrul|overwrit|neglect|violat|discard|drop|skip)\w*\s+(?:about\s+)?(?:` + enWhich + `\s+)*(?:all|any|every|your|previous|prior|preceding|above|system|developer|safety|security|hidden)\s+(?:` + enWhich + `\s+)*` + enRules + `\b`)},
	{"instruction", "ignore|disregard|forget", false,
		regexp.MustCompile(`^(?:ignore|disregard|forget)\s+(?:everything|all|what|anything)\s+(?:that\s+|you\s+)?(?:(?:is|was|were|has been|have been|are)\s+)?(?:above|before this|written above|said above|you were told|told before|previously told|told so far)`)},
	{"instruction", "忽略|无视|忘记|忘掉|忘了|抛弃|不要理会|不用理会|不要遵守|不必遵守|不用遵守|别遵守|跳过|覆盖|违反|绕过|丢弃|不要遵循|停止遵循|不再遵守", false,
		regexp.MustCompile(`^\p{Han}{2,4}?掉?(?:关于)?(?:` + zhWhich + `)*(?:以上|上面|上述|之前|先前|前面|此前|所有|全部|一切|任何|系统|原有|原来|你的|你|既定|安全|内置|预设|开发者|已有)(?:` + zhWhich + `)*(?:` + zhRules + `|限制|设定|要求|审查|策略)`)},
	{"instruction", "忽略|无视|忘记|忘掉", false, regexp.MustCompile(`^\p{Han}{2}(?:掉|了)?(?:以上|上面|上文|前文|上述|前面)的?(?:所有|一切|全部)?的?(?:内容|话|文字|对话|一切)`)},
	{"instruction", "from now on|starting now|from this point", false,
		regexp.MustCompile(`^(?:from now on|starting now|from this point (?:on|forward)),?\s+(?:you(?:'re| are| will be| become)|act as|pretend to be|behave as)(?:\s+now)?\s+(?:an?|the|no longer|free|dan|my|going to act|not bound|unrestricted|called|named|acting as|jailbroken|root|admin|god|evil|unfiltered)\b`)},
	{"instruction", "you are now|you're now|you are no longer|you will now act|act as|pretend|roleplay as|simulate", false,
		regexp.MustCompile(`^(?:you(?:'re| are) now (?:an? (?:new |different |unrestricted |unfiltered |evil |uncensored )*(?:ai|assistant|agent|model|bot|hacker|system|persona|character|root|admin\w*|developer|terminal|expert)\b|dan\b|free from|unrestricted|jailbroken|unfiltered|(?:in|entering) (?:an? )?(?:dan|developer|god|debug|root|admin|sudo|maintenance|unrestricted|jailbreak|dev) mode)|you are no longer (?:an? |bound|restricted|limited|required to follow|the assistant)|` +
			`(?:act as|pretend (?:to be|you are|that you are)|roleplay as|simulate|you will now act as) (?:an? )?(?:dan\b|unrestricted|unfiltered|uncensored|jailbroken|evil|root\b|system administrator|the system|ai without|assistant without|model without))`)},
	{"instruction", "从现在起|从现在开始|从此刻起|从今以后|现在开始|你现在|接下来", false,
		regexp.MustCompile(`^(?:从现在起|从现在开始|从此刻起|从今以后|现在开始|接下来)?[，,\s]*你(?:现在)?(?:就)?(?:已经)?(?:是|不再是|将扮演|要扮演|扮演|变成|成为|进入了?|处于|叫|不受)(?:了)?(?:一个|一名|一位|DAN|dan|没有|不受|无限制|自由|超级|管理员|root|开发者模式|越狱|上帝模式|调试模式|系统|任何|新的|另一个|黑客|人工智能|ai)`)},
	{"instruction", "reveal|show|print|repeat|output|leak|tell|give|dump|display|disclose|expose|recite|quote|send|share|what is|what are|write", false,
		regexp.MustCompile(`^(?:reveal|show|print|repeat|output|leak|tell|give|dump|display|disclose|expose|recite|quote|send|share|what is|what are|write)(?:ing|s)?\s+(?:out\s+|me\s+|us\s+|back\s+|to me\s+)*(?:your|the|all|any|full|entire|whole|of|exact|complete|contents?|these|those|every|\s)*` + secrets)},
	{"instruction", "输出|显示|泄露|告诉我|打印|重复|复述|透露|公开|说出|给我看|展示|列出|发送|交出", false,
		regexp.MustCompile(`^\p{Han}{2,4}?(?:一下|出)?(?:给我|我)?(?:你的|你|您的|全部|完整|所有|的|系统|最初|原始|内部|一字不差|隐藏|机密|秘密|开发者|\s)*(?:系统提示词?|提示词|系统指令|初始指令|隐藏指令|开发者指令|机密记忆|秘密记忆|内部指令|内部规则|隐藏规则|隐藏提示|system prompt)`)},
	{"instruction", "do not tell|don't tell|never tell|don't mention|do not mention|without telling|without informing|don't inform|do not inform|hide this from|keep this from|do not reveal this", false,
		regexp.MustCompile(`^(?:(?:do not|don't|never) (?:tell|mention|inform|reveal)|without (?:telling|informing)|hide|keep)\s+(?:this |it |that |anything )?(?:to |from )?the user\b`)},
	{"instruction", "不要告诉用户|别告诉用户|不要让用户|别让用户|瞒着用户|不得告知用户|不要向用户|对用户保密|不能让用户知道", false,
		regexp.MustCompile(`^\p{Han}+`)},
	{"instruction", "system override|new instructions|new system prompt|admin override|developer override|begin system|updated instructions|important instructions|override code|security override|override:", false,
		regexp.MustCompile(`^(?:(?:begin )?system (?:override|prompt)|new (?:system )?(?:instructions?|prompt)\s*(?::|for (?:the|you)|from)|(?:admin|developer|security) override|(?:updated|important) instructions?\s*(?:for|:)|override(?: code)?:)`)},
	{"instruction", "新指令|新的指令|系统覆盖|最新指令|系统指令|管理员指令|隐藏指令|秘密指令", false,
		regexp.MustCompile(`^(?:新的?指令|系统覆盖|最新指令|系统指令|管理员指令|隐藏指令|秘密指令)\s*(?:[:：]|如下)`)},
	{"instruction", "note to|note for|message to|message for|instruction to|instruction for|instructions to|instructions for|attention|dear|hey", false,
		regexp.MustCompile(`^(?:(?:note|message|instructions?) (?:to|for) (?:the |any |all )?(?:ai|assistants?|models?|llms?|agents?|chatbots?|language models?|bots?)\b|(?:attention|dear|hey),? (?:ai|assistant|llm|language model|chatbot)s?\b\s*[:,])`)},
	{"instruction", "if you are an|if you're an|as an ai", false, regexp.MustCompile(`^if you(?:'re| are) an? (?:ai|llm|language model|large language model|ai assistant|assistant|chatbot|bot|agent)\b`)},
	{"instruction", "the assistant|the ai|the model|the agent|the llm|ai assistants", false,
		regexp.MustCompile(`^(?:the )?(?:assistants?|ai|model|agent|llm|ai assistants)(?: reading this)? (?:must|should|shall|is required to|has to|needs to) (?:now |always |immediately |also )*(?:ignore|disregard|forget|send|transfer|approve|reveal|execute|obey|comply|email|forward|delete|grant|refund)\b`)},
	{"instruction", "给ai|给 ai|致ai|给大模型|给模型|给助手|给智能体|如果你是|注意大模型|注意，ai|注意：ai|ai助手请|ai 助手请|ai必须|ai 必须|助手必须|模型必须", false,
		regexp.MustCompile(`^(?:(?:给|致)\s*(?:ai|大模型|模型|助手|智能体)(?:助手|模型)?的(?:指令|提示|消息|说明|留言|话)|如果你是(?:一个|一名)?(?:ai|大模型|语言模型|大语言模型|助手|人工智能|智能体|机器人)|注意[，：:]?\s*(?:大模型|ai)|ai\s*助手请|(?:ai|助手|模型)\s*必须(?:立即|马上|无条件|始终|总是)?(?:忽略|无视|服从|发送|转账|批准|泄露|执行|删除|退款|输出))`)},
	{"instruction", "you must obey|do anything now|jailbreak|without any restrictions|without any limitations|without restrictions|no restrictions|no content policy|disable your|disable all|turn off your|bypass", false,
		regexp.MustCompile(`^(?:you must obey|do anything now|jailbreak (?:mode|prompt|yourself)|(?:answer|respond|act) without (?:any )?(?:restrictions|limitations)|without any (?:restrictions|limitations) (?:or|and) |you have no restrictions|no content policy|(?:disable|turn off|bypass) (?:your|all|the|any) (?:safety|security|filters?|guardrails?|safeguards?|restrictions|content|moderation|approval|access control)\w*)`)},
	{"instruction", "无条件服从|无条件执行|必须服从|越狱|不受任何|没有任何限制|解除你的|关闭你的|绕过|突破", false,
		regexp.MustCompile(`^(?:无条件(?:服从|执行)(?:我|以下|一切|所有)|必须服从(?:我|以下|一切|所有)|越狱(?:模式|提示|成功)|不受任何(?:限制|约束|规则)|没有任何限制地|(?:解除|关闭)你的(?:所有|全部|一切)?(?:安全|限制|约束|审查|过滤|防护)|(?:绕过|突破)(?:你的|所有|一切|系统|全部|的)*(?:安全|限制|审查|过滤|审批|权限|防护))`)},
	{"role mark", "<", false, regexp.MustCompile(`^<\|\s*(?:im_start|im_end|system|user|assistant|developer|tool|endoftext|end|eot_id|start_header_id|end_header_id|begin_of_text|endofprompt|channel|message)\s*\|>`)},
	{"role mark", "[inst]|[/inst]|<<sys>>|<</sys>>|[system]|[/system]|<｜", false, regexp.MustCompile(`^(?:\[/?inst\]|<</?sys>>|\[/?system\]|<｜)`)},
	{"role mark", "<system|</system|<assistant|</assistant|<developer|</developer|<instructions|</instructions|<human|</human", false, regexp.MustCompile(`^</?(?:system|assistant|developer|human|system[-_ ](?:prompt|message|reminder)|instructions?)\s*/?>`)},
	{"role mark", "system|assistant|developer|系统|助手", true, regexp.MustCompile(`^(?:system|assistant|developer|系统|助手)(?: prompt| message|提示|消息|指令)?(?:\*\*)?\s*[:：]\s*\S`)},
	{"role mark", "human:|user:", true, regexp.MustCompile(`^(?:human|user):[^\n]{0,200}\n+\s*(?:assistant|ai|system):`)},
}
