package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
)

// A mistake is bad input, told in both languages.
type mistake struct{ en, zh string }

func (m *mistake) Error() string { return m.en }

// mistakef formats a mistake. Both texts take the same arguments in the same order.
func mistakef(en, zh string, args ...any) error {
	return &mistake{fmt.Sprintf(en, args...), fmt.Sprintf(zh, args...)}
}

// errorText is err in the language, if it is told in both.
func errorText(zh bool, err error) string {
	if m, ok := errors.AsType[*mistake](err); ok {
		return choose(zh, m.en, m.zh)
	}
	return err.Error()
}

var (
	signed  = regexp.MustCompile(`[¥￥]\s*\S*|\d+(?:\.\d+)?\s*(?:元|块钱|块|(?i:yuan\b|rmb\b|cny\b))`)
	dollars = regexp.MustCompile(`[$€£]\s*\d`)
	number  = regexp.MustCompile(`#?[-+]?\d[\d.,]*`)
	orderID = regexp.MustCompile(`^#?\d{4,9}$`)
	newest  = regexp.MustCompile(`(?i:\b(?:(?:my|the)\s+)?(?:latest|last|newest|most recent)(?:\s+(?:order|one))?\b)|(?:我的)?(?:最近|最新|最后|上)(?:的)?(?:一?单|一笔|订单|的)?`)
)

// maxReason is the longest reason in characters.
const maxReason = 200

// parseWish reads what a person typed: an order number or a word for the latest order, then perhaps an amount and a
// reason, in Chinese or English. What it cannot read for certain is a *mistake that says what to write instead.
func parseWish(customer, line string) (Request, error) {
	if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) && r != '\t' || r == unicode.ReplacementChar }) {
		return Request{}, &mistake{"That line has characters that are not text. Please type it again.", "这一行里有不是文字的字符，请重新输入。"}
	}
	if dollars.MatchString(line) {
		return Request{}, &mistake{`Amounts are in yuan. Write 35.50 or ¥35.50.`, `金额以人民币元计，请写成 35.50 或 35.50元。`}
	}
	w := Request{Customer: customer}
	rest, err := w.takeAmount(line)
	if err != nil {
		return Request{}, err
	}
	latest := newest.FindStringIndex(rest)
	if latest != nil {
		rest = rest[:latest[0]] + " \x00 " + rest[latest[1]:] // keeps the place: an amount may stand right behind it
	}
	if rest, err = w.takeNumbers(rest, latest != nil); err != nil {
		return Request{}, err
	}
	if w.Order == "" && latest == nil {
		return Request{}, &mistake{`Which order? Begin with its number, such as 1005, or with "latest".`, `要退哪个订单？请先写订单号（例如 1005），或者写“最近一单”。`}
	}
	w.Reason = tidy(rest)
	if len([]rune(w.Reason)) > maxReason {
		return Request{}, &mistake{"The reason has more than 200 characters. Please make it shorter.", "原因超过 200 个字，请写短一点。"}
	}
	return w, nil
}

// takeAmount finds an amount that is marked as one and returns the line without it.
func (w *Request) takeAmount(line string) (rest string, err error) {
	found := signed.FindAllString(line, -1)
	if len(found) == 0 {
		return line, nil
	}
	if len(found) > 1 {
		return "", &mistake{"There is more than one amount. Please give one.", "写了不止一个金额，请只写一个。"}
	}
	text := strings.TrimRight(strings.TrimSpace(found[0]), "，。；、,;")
	for _, unit := range []string{"块钱", "块"} {
		text = strings.TrimSuffix(text, unit)
	}
	if i := strings.IndexFunc(text, unicode.IsLetter); i > 0 && text[0] < 0x80 && text[i:] != "元" {
		text = strings.TrimSpace(text[:i]) // 35 yuan
	}
	before, after, _ := strings.Cut(line, found[0])
	if strings.HasSuffix(before, "-") {
		text = "-" + text
	}
	if w.Amount, err = shop.ParseMoney(text); err != nil {
		return "", badAmount(text)
	}
	return before + " " + after, nil
}

// takeNumbers finds the order number, and an amount without a mark right behind the order.
func (w *Request) takeNumbers(line string, latest bool) (rest string, err error) {
	for _, at := range number.FindAllStringIndex(line, -1) {
		text := strings.TrimRight(line[at[0]:at[1]], ".,")
		lead := strings.TrimSpace(strings.NewReplacer("，", " ", ",", " ", "：", " ", ":", " ").Replace(line[:at[0]]))
		switch {
		case orderID.MatchString(text) && w.Order == "" && !latest:
			w.Order = strings.TrimPrefix(text, "#")
			line = line[:at[0]] + strings.Repeat("\x00", at[1]-at[0]) + line[at[1]:]
		case orderID.MatchString(text) && strings.TrimPrefix(text, "#") != w.Order:
			other := w.Order
			if latest {
				other = "latest"
			}
			return "", mistakef("Is it %s or %s? Please name one order. If %[2]s is an amount, write ¥%[2]s.",
				"是 %s 还是 %s？请只写一个订单。如果 %[2]s 是金额，请写成 %[2]s元。", other, text)
		case orderID.MatchString(text): // the same number again
		case w.Amount == 0 && strings.HasSuffix(lead, "\x00"):
			if w.Amount, err = shop.ParseMoney(text); err != nil {
				return "", badAmount(text)
			}
			line = line[:at[0]] + strings.Repeat(" ", at[1]-at[0]) + line[at[1]:]
		}
	}
	return strings.ReplaceAll(line, "\x00", ""), nil
}

func badAmount(text string) error {
	return mistakef(`"%s" is not an amount. Write 35 or 35.50: more than zero, at most two decimals.`,
		`“%s”不是金额。请写 35 或 35.50：大于零，最多两位小数。`, text)
}

// tidy makes a reason of what is left of the line: without the verbs and marks around what was taken out.
func tidy(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	for {
		t := strings.Trim(s, " ,，。；;:：、.-")
		for _, word := range fillers {
			if rest, ok := cutWord(t, word); ok {
				t = rest
			}
		}
		if t == s {
			return s
		}
		s = t
	}
}

// fillers are what people write around an order number that is no reason. Longer ones come first.
var fillers = []string{"please refund", "i want a refund for", "i want a refund", "refund", "please", "order", "for", "of", "because",
	"我想要退款", "我想退款", "我要退款", "申请退款", "退款", "我要退", "我想退", "请退", "退掉", "退", "订单号", "订单", "原因", "因为"}

// cutWord removes a word that s begins with. An English word must end where it ends.
func cutWord(s, word string) (string, bool) {
	if len(s) < len(word) || !strings.EqualFold(s[:len(word)], word) {
		return s, false
	}
	rest := s[len(word):]
	if word[0] < 0x80 && rest != "" && rest[0] != ' ' && rest[0] != ',' && rest[0] != ':' {
		return s, false
	}
	return rest, true
}
