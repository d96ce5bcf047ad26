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
)

// patterns are tried in this order.
var patterns = []struct {
	intent
	re *regexp.Regexp
}{
	{nothing, regexp.MustCompile(`(?i)never ?mind|forget (it|about it)|call it off|算了|不用了|不退了|当我没说`)},
	{forbids, regexp.MustCompile(`(?i)\b(don'?t|don’t|do not|never|not)\b.*\brefund|without asking|ask me (first|before)|` +
		`(不要|别|不许|禁止).*退|先问(过)?我`)},
	{wantsAll, regexp.MustCompile(`(?i)\b(my|all|which|list)\b.*\brefunds\b|(全部|所有|哪些).*退款|退款记录`)},
	{arrived, regexp.MustCompile(`(?i)\brefund\b.*\b(arrive|arrived|there|come|came|paid|status|through)\b|` +
		`(did|has|is) (that|the|my) (refund|money)|` +
		`go through|went through|退款.*(到|状态|怎么样|成功)|(钱|款).*到账|到账了|退了吗|退成功`)},
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
