package guard

import (
	"regexp"
	"strings"
)

// A form is what the keys of one issuer look like: how they begin, and what follows.
type form struct {
	prefix   string
	kind     string
	follows  func(byte) bool
	min, max int // bytes that follow
}

var forms = []form{
	{"AKIA", "key", upper, 12, 32}, {"ASIA", "key", upper, 12, 32}, {"ABIA", "key", upper, 12, 32}, {"ACCA", "key", upper, 12, 32}, // AWS
	{"AIza", "key", word, 30, 60}, {"ya29.", "token", dotted, 20, 2000}, {"GOCSPX-", "key", word, 16, 60}, // Google
	{"LTAI", "key", alnum, 12, 40}, {"AKID", "key", alnum, 13, 60}, // Alibaba, Tencent
	{"ghp_", "token", alnum, 16, 255}, {"gho_", "token", alnum, 16, 255}, {"ghu_", "token", alnum, 16, 255}, {"ghs_", "token", dotted, 16, 255},
	{"ghr_", "token", alnum, 16, 255}, {"github_pat_", "token", word, 20, 255},
	{"glpat-", "token", dotted, 16, 100}, {"gldt-", "token", word, 16, 100}, {"glrt-", "token", dotted, 16, 100}, {"glcbt-", "token", word, 16, 100},
	{"xoxa-", "token", word, 10, 255}, {"xoxb-", "token", word, 10, 255}, {"xoxp-", "token", word, 10, 255}, {"xoxr-", "token", word, 10, 255},
	{"xoxs-", "token", word, 10, 255}, {"xoxe.", "token", dotted, 10, 400}, {"xapp-", "token", word, 10, 255}, // Slack
	{"sk_live_", "key", alnum, 10, 255}, {"sk_test_", "key", alnum, 10, 255}, {"rk_live_", "key", alnum, 10, 255}, {"rk_test_", "key", alnum, 10, 255},
	{"whsec_", "key", base64, 16, 255},                                 // Stripe
	{"sk-", "key", word, 20, 300},                                      // OpenAI, Anthropic, DeepSeek, OpenRouter
	{"hf_", "token", alnum, 20, 100}, {"r8_", "token", alnum, 20, 100}, // Hugging Face, Replicate
	{"gsk_", "key", alnum, 20, 100}, {"xai-", "key", alnum, 20, 200}, // Groq, xAI
	{"npm_", "token", alnum, 20, 100}, {"pypi-", "token", word, 30, 400}, // npm, PyPI
	{"dop_v1_", "token", alnum, 20, 100}, {"shpat_", "token", alnum, 20, 100}, {"shpss_", "token", alnum, 20, 100}, // DigitalOcean, Shopify
	{"SG.", "key", dotted, 30, 100}, {"key-", "key", hexadecimal, 32, 32}, // SendGrid, Mailgun
	{"hvs.", "token", word, 20, 300}, {"dapi", "token", hexadecimal, 32, 40}, {"ATATT", "token", base64, 40, 400}, // Vault, Databricks, Atlassian
	{"AGE-SECRET-KEY-1", "private key", upper, 20, 100}, {"PMAK-", "key", word, 20, 100}, {"lin_api_", "key", alnum, 20, 100},
	{"eyJ", "token", dotted, 30, 8000}, // a JWT: JSON in base64, and a dot or two
}

func upper(c byte) bool       { return 'A' <= c && c <= 'Z' || digit(c) }
func digit(c byte) bool       { return '0' <= c && c <= '9' }
func letter(c byte) bool      { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func alnum(c byte) bool       { return letter(c) || digit(c) }
func word(c byte) bool        { return alnum(c) || c == '_' || c == '-' }
func dotted(c byte) bool      { return word(c) || c == '.' }
func base64(c byte) bool      { return word(c) || c == '+' || c == '/' || c == '=' }
func hexadecimal(c byte) bool { return digit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }

// run returns where a run of bytes of a class ends, at most so far.
func run(s string, from, limit int, class func(byte) bool) int {
	end := from
	for end < len(s) && end < from+limit && class(s[end]) {
		end++
	}
	return end
}

// forms finds keys by how they begin. A key begins where a word does.
func (s source) forms() (out []Finding) {
	for _, f := range forms {
		for i := range places(s.text, f.prefix) {
			if i > 0 && alnum(s.text[i-1]) {
				continue
			}
			from := i + len(f.prefix)
			end := run(s.text, from, f.max+1, f.follows)
			if end-from < f.min || end-from > f.max || !f.plausible(s.text[from:end]) {
				continue
			}
			out = append(out, Finding{f.kind, i, end})
			if f.prefix == "AKIA" || f.prefix == "ASIA" {
				out = append(out, s.pair(end)...)
			}
		}
	}
	return append(out, s.hooks()...)
}

// plausible keeps words such as "sk-learn-contributors-and-friends" out.
func (f form) plausible(rest string) bool {
	switch f.prefix {
	case "eyJ":
		return strings.Count(rest, ".") >= 1 && !strings.Contains(rest, "..")
	case "sk-", "pypi-", "hf_", "AKIA", "ASIA", "ABIA", "ACCA", "AKID", "LTAI", "SG.":
		return strings.ContainsFunc(rest, func(r rune) bool { return r < 128 && digit(byte(r)) }) || mixed(rest)
	}
	return true
}

// pair finds the secret that stands behind the id of an AWS key: 40 bytes that look like chance.
func (s source) pair(from int) []Finding {
	end := min(len(s.text), from+60)
	for i := from; i < end; i++ {
		if base64(s.text[i]) && !base64(s.text[i-1]) {
			if n := run(s.text, i, 41, base64); n-i == 40 && entropy(s.text[i:n]) > 3.5 {
				return []Finding{{"key", i, n}}
			}
		}
	}
	return nil
}

var hook = regexp.MustCompile(`^(?:hooks\.slack\.com/(?:services|workflows)|discord(?:app)?\.com/api/webhooks|open\.feishu\.cn/open-apis/bot/v2/hook|oapi\.dingtalk\.com/robot/send\?access_token=|qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=)[/\w=.-]{8,200}`)

// hooks finds addresses that whoever knows them may post to.
func (s source) hooks() (out []Finding) {
	for _, start := range []string{"hooks.slack", "discord.com", "discordapp", "open.feishu", "oapi.ding", "qyapi.weixin"} {
		for i := range places(s.lower, start) {
			if m := hook.FindStringIndex(s.lower[i:min(len(s.lower), i+300)]); m != nil {
				out = append(out, Finding{"token", i, i + m[1]})
			}
		}
	}
	return out
}

const maxBlock = 64 << 10 // bytes of a private key

// blocks finds private keys between their first and last line, or as far as they go.
func (s source) blocks() (out []Finding) {
	done := 0
	for i := range places(s.text, "-----BEGIN ") {
		head := s.text[i:min(len(s.text), i+80)]
		if i < done || !strings.Contains(head, "PRIVATE KEY") {
			continue
		}
		rest := s.text[i:min(len(s.text), i+maxBlock)]
		end := len(rest)
		if at := strings.Index(rest, "-----END "); at > 0 {
			end = run(rest, at+len("-----END "), 60, func(c byte) bool { return upper(c) || c == ' ' || c == '-' })
		} else if at := strings.Index(rest, "\n\n"); at > 0 {
			end = at
		}
		done = i + end
		out = append(out, Finding{"private key", i, i + end})
	}
	return out
}
