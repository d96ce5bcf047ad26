package script

import "regexp"

// An intent is what the user wants.
type intent string

const (
	nothing  intent = "nothing" // called off
	forbids  intent = "forbids" // says what must not be done
	arrived  intent = "arrived" // asks after a refund
	wantsAll intent = "all"     // asks after all refunds
	refunds  intent = "refunds" // wants money back
	where    intent = "where"   // asks after an order
	unclear  intent = "unclear"

	allOrders intent = "orders"  // asks after all orders
	ruled     intent = "ruled"   // asks what the shop's rules are
	forms     intent = "forms"   // says how answers shall look
	recalls   intent = "recalls" // asks what is remembered
	forgets   intent = "forgets" // wants something forgotten
	keeps     intent = "keeps"   // wants something remembered
)

// patterns are tried in this order.
var patterns = []struct {
	intent
	re *regexp.Regexp
}{
	{recalls, regexp.MustCompile(`(?i)what (do|did) you (know|remember) (about|of) me|你(还)?(记得|知道)我(什么|哪些)|记得关于我`)},
	{forgets, regexp.MustCompile(`(?i)\bforget (that|what|my)\b|忘掉|忘记|忘了`)},
	{keeps, regexp.MustCompile(`(?i)\bremember\b|记住|记下|记一下`)},
	{nothing, regexp.MustCompile(`(?i)never ?mind|forget (it|about it)|call it off|算了|不用了|不退了|当我没说`)},
	{forbids, regexp.MustCompile(`(?i)\b(don'?t|don’t|do not|never|not)\b.*\brefund|without asking|ask me (first|before)|` +
		`(不要|别|不许|禁止).*退|先问(过)?我`)},
	{wantsAll, regexp.MustCompile(`(?i)\b(my|all|which|list)\b.*\brefunds\b|(全部|所有|哪些).*退款|退款记录`)},
	{allOrders, regexp.MustCompile(`(?i)\b(all|list|show)\b.*\borders\b|(全部|所有|哪些|列出).*订单`)},
	{forms, tables},
	{arrived, regexp.MustCompile(`(?i)\brefund\b.*\b(arrive|arrived|there|come|came|paid|status|through)\b|` +
		`(did|has|is) (that|the|my) (refund|money)|` +
		`go through|went through|退款.*(到|状态|怎么样|成功)|(钱|款).*到账|到账了|退了吗|退成功`)},
	{ruled, regexp.MustCompile(`(?i)how (long|many days)|\bpostage\b|\bpolicy\b|do you (offer|have|ship|repair|take|sell)|多久|几天|期限|政策|运费|提供|支持.*吗`)},
	{refunds, regexp.MustCompile(`(?i)refund|money back|return (it|them)|send (it|them) back|退`)},
	{where, regexp.MustCompile(`(?i)where|status|track|arriv|deliver|latest|last order|到哪|在哪|哪里|物流|送到|发货|最近|最新|上一单|查`)},
}

var (
	money  = regexp.MustCompile(`(?i)[¥￥]\s*(\d+(?:\.\d+)?)|(\d+(?:\.\d+)?)\s*(?:元|块钱|块|yuan\b|rmb\b|cny\b)`)
	latest = regexp.MustCompile(`(?i)\b(latest|last|newest|most recent)\b|最近|最新|上一单|上一笔`)
	reason = regexp.MustCompile(`(?i)\bbecause\s+(.+?)[.!。！]?$|因为(.+?)[。！!]?$`)
)

func (p *prompt) intent() intent {
	for _, x := range patterns {
		if x.re.MatchString(p.said) {
			return x.intent
		}
	}
	if len(orders(p.said)) > 0 {
		return where
	}
	return unclear
}

// amount is the sum of money that the user names, as digits; "" if there is none.
func amount(text string) string {
	m := money.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return m[1] + m[2]
}

// because is the reason that the user gives.
func because(text string) string {
	m := reason.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return m[1] + m[2]
}
