// Package facttest makes what people say to an agent, for tests and for measuring: facts, changes of facts, secrets, and what is none of them.
package facttest

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
)

// A Canary is a text with a secret in it.
type Canary struct {
	Text   string
	Secret string // what must not be kept
	Kept   string // words of the text that are none, "" if all is
	Form   string
}

// Canaries returns n texts with secrets, of all forms in turn, in Chinese and English, the same for the same seed.
func Canaries(seed uint64, n int) []Canary {
	r := rand.New(rand.NewPCG(seed, 1))
	var out []Canary
	for i := range n {
		f := secretForms[i%len(secretForms)]
		secret := f.make(r)
		around := f.around
		if around == nil {
			around = anywhere
		}
		text := around[(i/len(secretForms))%len(around)]
		kept := sayings[r.IntN(len(sayings))]
		out = append(out, Canary{
			Text:   strings.ReplaceAll(text, "%", secret) + joint(text, r) + kept,
			Secret: f.secret(secret),
			Kept:   kept,
			Form:   f.name,
		})
	}
	return out
}

func joint(text string, r *rand.Rand) string {
	if strings.HasSuffix(text, "\n") {
		return ""
	}
	return []string{"\n", "\n\n"}[r.IntN(2)]
}

var sayings = []string{
	"我喜欢用表格看数据。", "以后默认用测试环境。", "请先给结论再给证据。", "The parcel should arrive on Friday.", "I like short answers.", "Order 20260412 is mine.",
}

// anywhere are sentences in which a secret is known by its form.
var anywhere = []string{
	"看一下这个：%", "用这个试试 %，应该可以。", "here you go: %", "I pasted it, %, please keep going.", "curl -H 'X: %' https://api.example.com/v1/items", "环境变量是这样的\nexport THING=%\n",
	"日志里有 \"%\"，别管它。", "{\"note\":\"%\",\"n\":3}", "（%）这个能用吗？", "我把%发你了",
}

var (
	spokenPasswords = []string{
		"我的密码是%", "密码：%", "密码是 %，别告诉别人", "登录密码改成了%。", "账号 admin 密码 %", "数据库密码设为 % 了", "my password is %", "The password for the staging database is %.",
		"password: %", "PASSWORD=%", "{\"user\":\"a\",\"password\":\"%\"}", "DB_PASSWORD='%'", "Use % as my password.", "用 % 作为密码", "wifi 密码就是 %", "passwd = \"%\"", "the admin password has been changed to %",
		"--password %", "<password>%</password>", "口令：%", "{\\\"password\\\":\\\"%\\\"}", "pwd：%", "My Password Is: %", "密码【%】", "https://example.com/login?user=a&password=%&next=b",
	}
	spokenKeys = []string{
		"api key: %", "密钥是 %", "密钥：%", "secret=%", "\"client_secret\": \"%\"", "API_KEY=%", "the access token is %", "我的令牌：%", "token %", "auth_token: '%'", "AWS_SECRET_ACCESS_KEY=%",
		"secret key for the bucket is %", "x-api-key: %", "https://example.com/cb?access_token=%&state=1",
	}
	spokenCodes = []string{
		"验证码是 %", "验证码：%", "短信验证码 %，五分钟内有效", "收到的验证码是%。", "the verification code is %", "Your one-time code is % and expires soon", "OTP: %", "% is your verification code", "% 是我的验证码", "校验码为%", "动态口令 %",
	}
	spokenPins  = []string{"my PIN is %", "PIN: %", "银行卡的 PIN 码是 %", "取款密码是%", "the card pin is %", "CVV %", "支付密码：%"}
	spokenCards = []string{
		"我的卡号是 %", "card number %", "用这张卡付款：%", "卡号%，有效期 12/29", "Charge it to %, please.", "In 2024 I used % too.", "信用卡 % 被盗刷了",
	}
)

type secretForm struct {
	name   string
	make   func(*rand.Rand) string
	around []string
	part   func(string) string // of what make made, the secret itself; nil: all of it
}

func (f secretForm) secret(s string) string {
	if f.part == nil {
		return s
	}
	return f.part(s)
}

const (
	lower    = "abcdefghijklmnopqrstuvwxyz"
	capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	figures  = "0123456789"
	hexa     = "0123456789abcdef"
	letters  = lower + capitals + figures
)

func pick(r *rand.Rand, from string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = from[r.IntN(len(from))]
	}
	return string(b)
}

// with makes a word of a class that begins in a certain way, and has a digit and a capital in it, as chance nearly always gives.
func with(prefix, class string, n int) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return prefix + pick(r, class, n-3) + "7Qz" }
}

var secretForms = []secretForm{
	{name: "aws id", make: func(r *rand.Rand) string { return "AKIA" + pick(r, capitals+figures, 15) + "7" }},
	{name: "aws pair", make: func(r *rand.Rand) string {
		return "ASIA" + pick(r, capitals+figures, 15) + "3 " + pick(r, letters+"/+", 37) + "9aZ"
	}, part: func(s string) string { return s[21:] }},
	{name: "google", make: with("AIza", letters+"_-", 35)},
	{name: "github", make: with("ghp_", letters, 36)},
	{name: "github app", make: with("ghs_", letters, 36)},
	{name: "github fine", make: with("github_pat_", letters+"_", 82)},
	{name: "gitlab", make: with("glpat-", letters+"_-", 20)},
	{name: "slack", make: func(r *rand.Rand) string {
		return "xoxb-" + pick(r, figures, 12) + "-" + pick(r, figures, 12) + "-" + pick(r, letters, 24)
	}},
	{name: "slack hook", make: func(r *rand.Rand) string {
		return "https://hooks.slack.com/services/T" + pick(r, capitals+figures, 8) + "/B" + pick(r, capitals+figures, 8) + "/" + pick(r, letters, 24)
	}, part: func(s string) string { return s[len(s)-24:] }},
	{name: "stripe", make: with("sk_live_", letters, 24)},
	{name: "stripe restricted", make: with("rk_live_", letters, 24)},
	{name: "openai", make: with("sk-", letters, 48)},
	{name: "openai project", make: with("sk-proj-", letters+"_-", 64)},
	{name: "anthropic", make: with("sk-ant-api03-", letters+"_-", 80)},
	{name: "hugging face", make: with("hf_", letters, 34)},
	{name: "npm", make: with("npm_", letters, 36)},
	{name: "aliyun", make: with("LTAI5t", letters, 18)},
	{name: "sendgrid", make: func(r *rand.Rand) string { return "SG." + pick(r, letters, 22) + "." + pick(r, letters, 42) + "7" }},
	{name: "jwt", make: func(r *rand.Rand) string {
		part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
		return part(`{"alg":"HS256"}`) + "." + part(fmt.Sprintf(`{"sub":"%d"}`, r.IntN(1e9))) + "." + pick(r, letters+"_-", 43)
	}},
	{name: "private key", make: func(r *rand.Rand) string {
		kind := []string{"RSA ", "EC ", "OPENSSH ", ""}[r.IntN(4)]
		var lines []string
		for range 4 {
			lines = append(lines, pick(r, letters+"+/", 64))
		}
		return "-----BEGIN " + kind + "PRIVATE KEY-----\n" + strings.Join(lines, "\n") + "\n-----END " + kind + "PRIVATE KEY-----"
	}, part: func(s string) string { return strings.Split(s, "\n")[2] }},
	{name: "bearer", make: func(r *rand.Rand) string { return "Bearer " + pick(r, letters, 30) + "7Qz" }, part: func(s string) string { return s[len("Bearer "):] }},
	{name: "basic", make: func(r *rand.Rand) string {
		return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("admin:"+pick(r, letters, 10)))
	}, part: func(s string) string { return s[len("Authorization: Basic "):] }},
	{name: "postgres", make: func(r *rand.Rand) string {
		return "postgres://app:" + pick(r, letters+"!$^", 12) + "@db.example.com:5432/shop"
	}, part: between},
	{name: "mongodb", make: func(r *rand.Rand) string {
		return "mongodb+srv://root:" + pick(r, letters, 9) + "@" + pick(r, letters, 4) + "@cluster0.example.net/x"
	}, part: between},
	{name: "redis", make: func(r *rand.Rand) string { return "redis://:" + pick(r, letters+"/", 16) + "@10.0.0.3:6379/0" }, part: between},
	{name: "password", make: func(r *rand.Rand) string { return pick(r, letters, 6) + pick(r, "!@#$*", 1) + pick(r, figures, 3) }, around: spokenPasswords},
	{name: "password of digits", make: func(r *rand.Rand) string { return pick(r, "123456789", 1) + pick(r, figures, 7) }, around: spokenPasswords},
	{name: "password of letters", make: func(r *rand.Rand) string { return pick(r, "bcdfghjklmnpqrstvwz", 9) }, around: []string{
		"我的密码是%", "密码：%", "my password is %", "password: %", "PASSWORD=%", "\"password\": \"%\"", "% is my password", "用户名 root，密码是 %"}},
	{name: "password in Chinese", make: func(r *rand.Rand) string {
		return []string{"芝麻开门", "天王盖地虎", "春眠觉晓", "床前明月光", "小猫钓鱼"}[r.IntN(5)] + pick(r, figures, 3)
	}, around: []string{"我的密码是%", "密码：%", "登录口令是“%”", "密码设成%"}},
	{name: "full width", make: func(r *rand.Rand) string {
		return strings.Map(func(c rune) rune { return c + 0xFEE0 }, pick(r, figures, 6))
	}, around: []string{"验证码是%", "密码是%", "验证码：%"}},
	{name: "code", make: func(r *rand.Rand) string { return pick(r, "123456789", 1) + pick(r, figures, 5) }, around: spokenCodes},
	{name: "pin", make: func(r *rand.Rand) string { return pick(r, "123456789", 1) + pick(r, figures, 3) }, around: spokenPins},
	{name: "card", make: func(r *rand.Rand) string {
		return card(r, []string{"4", "51", "62", "6011", "3530"}[r.IntN(5)], 16, " ")
	}, around: spokenCards},
	{name: "card in one", make: func(r *rand.Rand) string { return card(r, []string{"4", "55", "62"}[r.IntN(3)], 16, "") }, around: spokenCards},
	{name: "amex", make: func(r *rand.Rand) string { return card(r, "37", 15, "-") }, around: spokenCards},
	{name: "hex key", make: func(r *rand.Rand) string { return pick(r, hexa, 31) + "a" }, around: []string{"api key: %", "密钥：%", "secret=%", "\"api_key\":\"%\"", "APP_SECRET=%", "the token is %"}},
	{name: "key", make: with("", letters, 32), around: spokenKeys},
	{name: "key in base64", make: func(r *rand.Rand) string { return pick(r, letters+"+/", 40) + "7Q==" }, around: spokenKeys},
	{name: "phrase", make: func(r *rand.Rand) string {
		var w []string
		for range 12 {
			w = append(w, pick(r, lower, 4+r.IntN(4)))
		}
		return strings.Join(w, " ")
	}, around: []string{"助记词：%", "my seed phrase is %", "recovery phrase: %", "助记词是 %"}, part: func(s string) string { return strings.Join(strings.Fields(s)[9:], " ") }},
	{name: "login", make: func(r *rand.Rand) string { return "admin / " + pick(r, letters, 8) + "5!" }, around: []string{"账号密码：%", "credentials: %", "登录信息：%"},
		part: func(s string) string { return s[len("admin / "):] }},
}

func between(s string) string {
	from := strings.Index(s, "://") + 3
	from += strings.IndexByte(s[from:], ':') + 1
	return s[from:strings.LastIndexByte(s, '@')]
}

// card makes a number with the right check digit.
func card(r *rand.Rand, prefix string, n int, by string) string {
	d := prefix + pick(r, figures, n-1-len(prefix))
	sum := 0
	for i := range len(d) {
		v := int(d[len(d)-1-i] - '0')
		if i%2 == 0 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	d += string(rune('0' + (10-sum%10)%10))
	var groups []string
	for len(d) > 4 && by != "" {
		groups, d = append(groups, d[:4]), d[4:]
	}
	return strings.Join(append(groups, d), by)
}
