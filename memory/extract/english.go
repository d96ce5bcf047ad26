package extract

import (
	"regexp"

	"github.com/holdfast-go/holdfast/memory/longterm"
)

const (
	enVery = `(?:\s+(?:really|actually|generally|still|also|now|always|much|very much|strongly|usually|personally|just|do|absolutely|truly|rather|currently|typically))*\s+`
	enName = `[\p{L}\x01"][\p{L}\x01".'-]*(?: [\p{L}\x01"][\p{L}\x01".'-]*){0,3}?`
	enCaps = `(?-i:\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}.'-]*){0,2})`
	enOrg  = `["\x01\w&.'-]+(?: ["\x01\w&.'-]+){0,4}?`
	enEnd  = `(?: (?:now|these days|at the moment|currently|nowadays|these days|anymore))?`
	enRole = `(?:[\w/+#-]+ ){0,4}?(?:engineer|manager|developer|designer|teacher|doctor|nurse|lawyer|student|analyst|accountant|architect|administrator|admin|dba|sre|cto|ceo|cfo|coo|consultant|director|lead|operator|` +
		`scientist|researcher|programmer|tester|writer|editor|journalist|founder|owner|assistant manager|officer|specialist|technician|professor|freelancer|support agent|salesperson|buyer|driver|chef|translator|recruiter|supervisor|coordinator)`
	enTitle = `(?:(?:senior|junior|head of|vp of|director of) [\w /+#-]{2,40}|cto|ceo|cfo|coo|dba|sre)`
	enDo    = `(?:answer|reply|respond|give|show|use|start|begin|put|write|send|ask|tell|include|list|explain|summari[sz]e|format|cite|quote|check|confirm|address|call|speak|default|keep|provide|` +
		`present|mention|add|translate|round|sort|group|return|notify|restart|deploy|delete|refund|charge|avoid|assume|contact|email|e-mail|text|ship|deliver|book|cc|run|touch|change|share|wait|convert|skip|leave|` +
		`report|state|number|highlight|double-check|verify|attach|link|prefer|query|go|work|drop|pick|choose|make|lead|open|stop|scale|roll|page|reach|message|ping|be)`
	enTell  = `(?:please |you should |you must |you can |I want you to |I'd like you to |let's |do )*`
	enChan  = `(?:e-?mail|phone|text(?: message)?|sms|slack|whatsapp|wechat|teams|post)`
	enOwned = `(?:cats?|dogs?|pets?|kids?|child|children|sons?|daughters?|brothers?|sisters?|siblings?|car|bike|wife|husband|house|garden|driv\w+ licen[cs]e|passport|smartphone|printer|credit cards?)`
)

func en(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?i)^(?:` + pattern + `)$`) }

var (
	notLiked  = regexp.MustCompile(`(?i)^(?:it|this|that|these|those|their|your|you|him|her|his|them|they|what|how|where|when|to$|to know|to see|to get|to have my|to return|to cancel|to ask|the (?:idea|way|answer|sound|look|result|response|plan|suggestion|new|first|second|other))\b|^(?:a|my) (?:refund|replacement|return|copy|discount)\b`)
	notWanted = regexp.MustCompile(`(?i)^(?:it|this|that|these|those|you|him|her|them|to)\b`)
	notEnOrg  = regexp.MustCompile(`(?i)^(?:home|night|nights|day|days|an?|my|the office|this|that|it|it's|myself|hours|weekends?|present|once|all|least|me|you|us|hours|the moment|least|days|years|now)\b`)
	notEnName = regexp.MustCompile(`(?i)^(?:not|on|in|the|a|an|back|later|again|when|if|at|tomorrow|today|tonight|about|for|before|after|as soon|by|over|instead|anything|what|whatever|old|crazy)\b`)
	notPerson = regexp.MustCompile(`^(?:Sorry|OK|Okay|Happy|Fine|Sure|Not|Just|New|Trying|Looking|Having|Using|Glad|Ready|Done|Good|Great|Chinese|American|German|French|English|British)\b`)
	notAlways = regexp.MustCompile(`(?i)^(?:give up\b|make (?:us|me|my|our|him|her|it|sure your)\b|put your\b|be (?:a|the|it|that)|go (?:wrong|down|back and)|work(?:s|ed)?$|show(?:s|ed|ing)|give me (?:this|the same|an error)|run(?:s|ning) (?:out|into)|stop(?:s|ped))`)
	notHabit  = regexp.MustCompile(`(?i)^(?:get|got|see|have|had|forget|forgot|thought|think|wonder|feel|receive|receiv\w+|want|wanted|fail|hear|heard|find|run into|been|like|love|prefer|knew|know|hit|lose|end up|look forward|don't|do not|\w+ed)\b|\berrors?\b|\bfails?\b`)
)

var english = []rule{
	{kind: longterm.Semantic, key: "profile.name", pattern: en(`my (?:full |real |first )?name(?:'s| is|:) (?:now )?(?P<v>` + enName + `)(?: now| (?:from|at|with) (?P<o>` + enOrg + `))?`), not: regexp.MustCompile(`(?i)^(?:not|no|spelled|wrong|misspelled|on|in|missing|the)\b`)},
	{kind: longterm.Semantic, key: "profile.name", pattern: en(`(?:this is|I'm|I am) (?P<v>` + enCaps + `)(?:(?: here)? (?:from|at|with|of) .{2,40}| here)`), not: notPerson},
	{kind: longterm.Semantic, key: "profile.name", pattern: en(`(?:I'm|I am) (?P<v>(?-i:\p{Lu}[\p{L}'-]+ \p{Lu}[\p{L}.'-]+(?: \p{Lu}[\p{L}.'-]+)?))`), not: notPerson},
	{kind: longterm.Preference, key: "profile.nickname", pattern: en(enTell + `(?:from now on,? )?(?:you can |you may |just )?call me (?P<v>` + enName + `)(?: from now on)?`), not: notEnName},
	{kind: longterm.Preference, key: "profile.nickname", pattern: en(`(?:I go by|everyone calls me|people call me) (?P<v>` + enName + `)`), not: notEnName},

	{kind: longterm.Semantic, key: "profile.company", pattern: en(`I(?:'m| am)?(?: currently| now| also)? (?:work|working|am employed|employed)(?: as (?:an? |the )?.{2,40}?)? (?:at|for|with) (?P<v>` + enOrg + `)` + enEnd + `(?: as .{2,60}| in .{2,40})?`), not: notEnOrg},
	{kind: longterm.Semantic, key: "profile.company", pattern: en(`(?:my|our) (?:company|employer)(?: name)?(?:'s name)?(?: is|:| is called)(?: called| now)? (?P<v>` + enOrg + `)`), not: regexp.MustCompile(`(?i)^(?:an?|not|in|based|very|too|looking|going|moving|small|big|large|using)\b`)},
	{kind: longterm.Semantic, key: "profile.company", pattern: en(`I(?:'ve| have)?(?: just| recently)? (?:joined|started at|started working at|moved to|switched to) (?P<v>` + enCaps + `)(?: as .{2,60})?`), not: regexp.MustCompile(`(?i)^(?:the|a|your)\b|^(?:Berlin|London|Paris|Tokyo|Beijing|Shanghai|New York|Boston|Seattle|Munich|Singapore|Germany|France|China|Windows|Linux|Mac)`)},
	{kind: longterm.Semantic, key: "profile.company", pattern: en(`(?:this is|I'm|I am) ` + enCaps + `(?: here)? (?:from|at|with) (?P<v>(?-i:\p{Lu}[\w&.'-]*(?: \p{Lu}[\w&.'-]*){0,3}))`)},
	{kind: longterm.Semantic, key: "profile.role", pattern: en(`I(?:'m| am)(?: currently| now| also)? (?:(?:an? |the |our |one of the )(?P<v>` + enRole + `s?)|(?P<v>` + enTitle + `))(?: (?:at|for|with|in|of|by) .{2,60})?` + enEnd), not: regexp.MustCompile(`(?i)\b(?:not|talking|looking|waiting|sure|happy|no longer)\b`)},
	{kind: longterm.Semantic, key: "profile.role", pattern: en(`I(?: currently| now)? work(?:ing)?(?: (?:at|for|with) .{2,40}?)? as (?:an? |the )?(?P<v>[\w /+#-]{2,50}?)(?: (?:at|for|with) .{2,60})?` + enEnd)},
	{kind: longterm.Semantic, key: "profile.role", pattern: en(`my (?:current |new )?(?:job|role|position|job title|title|occupation|profession)(?:'s| is|:)(?: now)? (?:(?:an? |the )?(?P<v>` + enRole + `)|(?P<v>` + enTitle + `))(?: (?:at|for|of|in) .{2,40})?`)},
	{kind: longterm.Semantic, key: "profile.duty", pattern: en(`I(?:'m| am) (?:responsible for|in charge of) (?P<v>.{2,60})`), not: notWanted},
	{kind: longterm.Semantic, key: "profile.city", pattern: en(`I(?:'m| am)?(?: currently| now)? (?:live|living|based|located) in (?P<v>[\p{L}][\p{L}., '-]{1,40}?)` + enEnd), not: regexp.MustCompile(`(?i)^(?:an?|my|the same|fear)\b`)},
	{kind: longterm.Semantic, key: "profile.city", pattern: en(`I(?:'ve| have)?(?: just| recently)? (?:moved|relocated) to (?P<v>` + enCaps + `)(?: last.*| this.*| in.*)?`)},
	{kind: longterm.Semantic, key: "profile.birthday", pattern: en(`my birthday(?:'s| is)(?: on)? (?P<v>.{3,24})`), not: regexp.MustCompile(`(?i)^(?:soon|coming|today|tomorrow|next)`)},
	{kind: longterm.Semantic, key: "profile.timezone", pattern: en(`my time ?zone(?:'s| is) (?P<v>.{2,32})|I(?:'m| am) (?:in|on) (?:the )?(?P<k>[A-Z]{2,4}|[A-Z]\w+) time(?: zone)?`)},
	{kind: longterm.Semantic, key: "contact.email", pattern: en(`my (?:new |work )?e-?mail(?: address)?(?:'s| is|:)(?: now)? (?P<v>[\w.+-]+@[\w.-]+)`)},
	{kind: longterm.Semantic, key: "contact.phone", pattern: en(`my (?:new |work )?(?:phone|mobile|cell)(?: number)?(?:'s| is|:)(?: now)? (?P<v>\+?[\d() -]{6,20})`)},
	{kind: longterm.Semantic, key: "order.", pattern: en(`my order(?: number| id| no\.?)?(?:'s| is|:)? #?(?P<k>[a-z]{0,4}-?\d[\w-]{2,24})`)},
	{kind: longterm.Preference, key: "favorite.", pattern: en(`my favou?rite (?P<k>\w+(?: \w+)?)(?:'s| is| are) (?P<v>.{1,40})`), not: notLiked},
	{kind: longterm.Semantic, key: "", pattern: en(`I(?:'m| am)(?: not| no longer| also)? (?:allergic to .{2,40}|an? (?:vegetarian|vegan|diabetic|night owl|early bird)|vegetarian|vegan|colou?r[- ]?blind|left-handed|right-handed|diabetic|pregnant|lactose intolerant|hard of hearing|deaf)`)},
	{kind: longterm.Semantic, key: "", pattern: en(`I(?:'ve| have| own| do not have| don't have| don't own| do not own| never had| have never had| have no)(?: got)?(?: an?| any| two| three| four| \d+)?(?: \w+)? ` + enOwned + `(?: (?:named|called) .{2,30}| any ?more)?`)},

	{kind: longterm.Preference, key: "default", pattern: en(enTell + `(?:from now on,? |always |by default,? )*default to (?:the )?(?P<v>[\w./-]+)(?: environment| service)?(?: from now on| again| instead| now)?`)},
	{kind: longterm.Preference, key: "default", pattern: en(enTell + `(?:(?:set|change|switch|make|move) (?:my|the|our) |my |our )?default(?: (?P<k>env|environment|stage|service|region|language|cluster|database|db|branch|project|model|currency|address|shipping address|carrier|courier|namespace|payment method|time zone|units?|format|output format))?(?: is| to| should be|:| must be| will be)(?: now| be)? (?:the )?(?P<v>[\w./-]+(?: [\w./-]+){0,4}?)(?: environment)?(?: from now on| now| instead)?`), not: regexp.MustCompile(`(?i)^(?:not|wrong|what|on|off|a|an|set)\b`)},
	{kind: longterm.Preference, key: "default", pattern: en(enTell + `(?:use|make|set|take|query|switch to|go with|assume|check|work against|work in)(?: the)? (?P<v>[\w./-]+)(?: environment)? (?:as (?:my|the|our|a) default|by default|the default|our default|from now on|going forward)(?: environment)?`)},
	{kind: longterm.Preference, key: "default", pattern: en(`(?:from now on|going forward|in (?:the )?future|by default|always|henceforth)[, ]+` + enTell + `(?:use|take|query|switch to|go with|assume|check|work (?:against|in|on)|it's)? ?(?:the )?(?P<v>` + envEN + `)(?: environment)?(?: please)?`)},
	{kind: longterm.Preference, key: "default", pattern: en(`.*?(?:changed my mind|on second thought|scratch that)[,.: ]+` + enTell + `(?:use|make it|go with|take|default to|switch (?:back )?to|back to|make that|it's|I want)? ?(?:the )?(?P<v>` + envEN + `)(?: environment)?(?: please| instead| then| again| as (?:the|my) default)*`)},

	{kind: longterm.Preference, key: "", pattern: en(`(?:I|we)(?:'ve| have)?(?: already| previously| clearly| always)? (?:rejected|declined|refused|turned down|said no to|vetoed|refuse|reject|decline|won't accept|will not accept|do not accept|don't accept|can't accept) (?P<v>.{2,80})`), not: notWanted},
	{kind: longterm.Preference, key: "*", pattern: en(`(?:I|we)` + enVery + `(?:like|love|prefer|enjoy|favou?r)(?: to have| having| to get| to receive| it when you (?:use|give|write|keep|start with|answer in|answer with|show me))? (?P<v>.{2,80})`), not: notLiked},
	{kind: longterm.Preference, key: "*", pattern: en(`(?:I|we)` + enVery + `(?:dislike|hate|can't stand|cannot stand|detest|can't bear|don't like|do not like|no longer like|no longer drink|no longer eat|no longer use|no longer smoke|no longer drive|no longer trust|no longer want|never liked|don't enjoy|do not enjoy|don't care for|don't eat|do not eat|don't drink|do not drink|don't use|do not use|don't drive|do not drive|don't smoke|do not smoke|don't work|do not work|don't accept|don't trust|never eat|never drink|never use|never drive|never work|am not a fan of|am not fond of|avoid)(?P<v> .{2,80}|)`), not: regexp.MustCompile(`(?i)^(?:it|this|that|these|those|you|him|her|them|to (?:be|bother|complain|wait)|well|properly|at all|for me|with)\b`)},
	{kind: longterm.Preference, key: "*", pattern: en(`I(?:'m| am) (?:not |no longer |really )*(?:a (?:big )?fan of|fond of|into) (?P<v>.{2,60})`), not: notLiked},
	{kind: longterm.Preference, key: "*", pattern: en(`I(?: really)? (?:don't|do not|never) want (?:to (?:be|get|receive) |any )+(?P<v>(?:called|calls|phone calls|e-?mails|texts|sms|newsletters|marketing|notifications|ads|phoned|contacted|spam|promotions).{0,40})`)},
	{kind: longterm.Preference, key: "contact.channel", pattern: en(enTell + `(?:only |always |from now on,? |in future,? |better )*(?:contact|reach|notify|message|ping|update|inform|write to) me (?:only |back )*(?:by|via|on|through|over|with) (?:an? )?` + enChan + `s?(?: only| instead| from now on)?`)},
	{kind: longterm.Preference, key: "contact.channel", pattern: en(`the best (?:way|channel) to (?:reach|contact) me is (?:by|via|through|on)? ?(?:an? )?` + enChan + `s?|(?:e-?mail|text|phone|slack) is (?:the )?best(?: way)?(?: to reach me| for me)|(?:write|send)(?: me)? (?:an )?e-?mails? instead|(?:e-?mail|text|message) me instead`)},
	{kind: longterm.Preference, key: "*", pattern: en(enTell + `(?:never|don't ever|don't|do not|stop) (?P<v>(?:call|calling|phone|phoning|text|texting|e-?mail|e-?mailing|ring|ringing) me(?: .{0,40})?)`), not: regexp.MustCompile(`(?i)^(?:call|calling) me (?:` + enName + `)$`)},
	{kind: longterm.Preference, key: "*", pattern: en(enTell + `(?:always|never|don't ever|do not ever) (?:please )?(?P<v>` + enDo + `\b.{2,120})`), not: notAlways},
	{kind: longterm.Preference, key: "*", pattern: en(enTell + `(?:don't|do not|stop) (?P<v>(?:us(?:e|ing)|giv(?:e|ing)|send(?:ing)?|show(?:ing)?|writ(?:e|ing)|ask(?:ing)?) .{2,60}?) (?:any ?more|ever again|from now on)`)},
	{kind: longterm.Preference, key: "*", pattern: en(`(?:from now on|going forward|in (?:the )?future|henceforth|from here on|by default|every time|each time)[, ]+` + enTell + `(?:always |never |don't |only )*(?P<v>` + enDo + `\b.{2,120})`)},
	{kind: longterm.Preference, key: "*", pattern: en(enTell + `(?:only |don't |do not )?(?P<v>` + enDo + `\b.{2,120}?) (?:from now on|going forward|by default|in (?:the )?future|every time|each time|whenever you answer|in (?:all )?your (?:answers|replies|responses|reports))`)},
	{kind: longterm.Preference, key: "*", pattern: en(enTell + `(?:keep|make|format|write|give) (?P<v>(?:your |the |all |me )*(?:answers|replies|responses|reports|short answers|brief answers|concise answers|detailed answers)\b.{2,60})`)},
	{kind: longterm.Habit, key: "*", pattern: en(`(?:(?:I|we) .{0,30}?)?(?P<v>(?:give |put |the |state |write )*(?:conclusions?|answer|summary|bottom line|result) (?:comes |goes |always )?first(?:[, ]+(?:and )?(?:then|followed by).{2,40})?)`)},
	{kind: longterm.Habit, key: "*", pattern: en(`(?:I|we) (?:usually|normally|typically|generally|mostly|habitually|always|tend to|am used to) (?P<v>.{3,80})`), not: notHabit},
	{kind: longterm.Habit, key: "*", pattern: en(`I(?:'m| am) (?:used to|accustomed to|in the habit of) (?P<v>.{3,80})`), not: regexp.MustCompile(`(?i)^(?:it|this|that)\b`)},
	{kind: longterm.Habit, key: "*", pattern: en(`(?:I|we) (?P<v>(?:work|read|check|review|deploy|ship|meet|exercise|run|get up|start|write|report|plan|test|order|shop|pay) .{0,50}\b(?:every|each) (?:day|morning|evening|night|week|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday|weekend|other).{0,20})`)},

	{kind: longterm.Episode, key: "", open: true, pattern: en(enTell + `(?:don't forget to )?remind me (?P<v>(?:to|about|that|on|at|in|next|tomorrow|later|every|when) ?.{2,80})`)},
	{kind: longterm.Episode, key: "", open: true, pattern: en(`(?:todo|to-do|to do|open item|action item|still open)(?::| -|) (?P<v>.{3,100})`)},
	{kind: longterm.Episode, key: "", open: true, pattern: en(`(?P<v>(?:the|my|our) .{2,50}?) (?:is|are|has|have|was|were|does|did)(?: still| yet)?(?: not|n't)(?: yet)?(?: been| be)? ?(?:yet )?(?:solved|resolved|fixed|done|finished|arrived|answered|paid|refunded|shipped|delivered|closed|settled|come|arrive)(?: yet| so far)?`)},
	{kind: longterm.Episode, key: "", open: true, pattern: en(`(?P<v>(?:the|my|our) .{2,50}?) (?:is|are|remains?) still (?:open|pending|unresolved|unsolved|outstanding|missing|unanswered|broken|not (?:solved|resolved|fixed|done|there))`)},
}
