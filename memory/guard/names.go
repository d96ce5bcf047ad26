package guard

import (
	"strings"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/memory/internal/fold"
)

// A name is a word for a secret, and how much proof it takes that one follows.
type name struct {
	kind  string
	proof proof
	words string // of several words a space may be a dash, an underscore or nothing in the text
}

type proof int

const (
	loose  proof = iota // a password: what follows "is" or a colon, unless it is a word that says something about passwords
	weak                // the same, behind a colon alone
	coded               // a code: a few digits
	chance              // a key: what looks like chance
	phrase              // several words
	shell               // what follows at once
)

var names = []name{
	{"password", loose, "password|passwd|pwd|passcode|passwort|密码|密碼|口令|暗号"},
	{"password", weak, "pass|pw|psw|credentials|credential|登录信息|登陆信息|账号信息|账密"},
	{"password", shell, "--password|--passwd|--pass|identified by|sshpass -p|-u"},
	{"recovery phrase", phrase, "seed phrase|mnemonic phrase|mnemonic|recovery phrase|passphrase|pass phrase|backup phrase|助记词|恢复短语|恢复词"},
	{"code", coded, "verification code|security code|one-time code|one time code|one-time password|one-time passcode|one time password|otp|2fa code|mfa code|totp|auth code|" +
		"authentication code|sms code|login code|confirmation code|access code|pin code|pin number|pin|cvv|cvv2|cvc|验证码|驗證碼|校验码|动态码|动态密码|动态口令|短信码|安全码|取款码|pin码|恢复码|recovery code|backup code|door code|门禁码|开锁码"},
	{"key", chance, "api key|access key|access key id|secret key|secret access key|private key|signing key|encryption key|account key|master key|service key|app key|app secret|client secret|shared secret|" +
		"license key|ssh key|secret|credential|密钥|秘钥|私钥|公私钥|授权码|访问凭证|凭证"},
	{"token", chance, "token|access token|auth token|refresh token|id token|session token|session id|sessionid|jsessionid|phpsessid|set-cookie|cookie|authorization|bearer token|令牌|凭据"},
}

// A find is a word for a secret in a text: where it ends, and where it began.
type find struct {
	name
	start, end int
}

// named finds what is called a secret.
func (s source) named() (out []Finding) {
	for _, n := range names {
		for _, w := range spelled(n.words) {
			done := 0
			for i := range places(s.lower, w) {
				f, ok := s.begins(find{n, i, i + len(w)}, w)
				if !ok || i < done {
					continue
				}
				for _, found := range s.of(f) {
					out, done = append(out, found), max(done, found.End)
				}
			}
		}
	}
	return out
}

// spelled are the ways to write words.
func spelled(words string) (out []string) {
	for w := range strings.SplitSeq(words, "|") {
		out = append(out, w)
		if strings.Contains(w, " ") && w[0] != '-' && !strings.Contains(w, " -") {
			for _, by := range []string{"_", "-", ""} {
				out = append(out, strings.ReplaceAll(w, " ", by))
			}
		}
	}
	return out
}

// begins reports whether a word stands at a place as a word, or as a part of a name such as DB_PASSWORD or userToken, and moves its end to
// that of the name.
func (s source) begins(f find, w string) (find, bool) {
	if !alnum(w[0]) && w[0] != '-' { // Chinese
		return f, true
	}
	if strings.HasSuffix(s.text[:f.start], "</") {
		return f, false
	}
	if f.start > 0 && alnum(s.text[f.start-1]) {
		camel := letter(s.text[f.start-1]) && s.text[f.start-1]&0x20 != 0 && s.text[f.start]&0x20 == 0
		joined := len(w) > 5 && (strings.HasPrefix(w, "pass") || strings.HasPrefix(w, "apikey") || w == "accesstoken" || w == "secretkey")
		if !camel && !joined {
			return f, false
		}
	}
	if w[0] == '-' {
		return f, (f.start == 0 || s.text[f.start-1] <= ' ') && f.end < len(s.text) && strings.IndexByte(" =", s.text[f.end]) >= 0
	}
	if f.end < len(s.text) && s.lower[f.end] == 's' && f.proof == loose {
		f.end++
	}
	end := run(s.text, f.end, 40, word)
	if f.end < end && letter(s.text[f.end]) && s.text[f.end]&0x20 != 0 {
		return f, false // the beginning of another word
	}
	rest := s.lower[f.end:end]
	for _, about := range []string{"count", "len", "type", "limit", "budget", "name", "file", "path", "url", "policy", "hint", "expir", "ttl", "field", "max", "min", "size", "usage", "age", "valid", "required"} {
		if strings.Contains(rest, about) {
			return f, false
		}
	}
	f.end = end
	if f.proof == coded && w == "pin" {
		return f, s.pin(f)
	}
	return f, true
}

// pin keeps "pin 3456 to the top" out.
func (s source) pin(f find) bool {
	before := strings.Fields(s.lower[max(0, f.start-12):f.start])
	owned := len(before) > 0 && strings.Contains(" my your our the card sim debit atm bank door alarm phone ", " "+before[len(before)-1]+" ")
	after := strings.TrimLeft(s.lower[f.end:min(len(s.lower), f.end+12)], " \"'`*)")
	linked := strings.HasPrefix(after, ":") || strings.HasPrefix(after, "=") || strings.HasPrefix(after, "is ") || strings.HasPrefix(after, "是") || strings.HasPrefix(after, "：")
	return owned || linked || s.text[f.start:f.start+3] == "PIN"
}

// of finds the secret that a word is for.
func (s source) of(f find) []Finding {
	if f.proof == coded {
		return s.code(f)
	}
	for _, l := range s.links(f.end) {
		if v, ok := s.value(f, l); ok {
			return []Finding{{f.kind, v.start, v.end}}
		}
	}
	if f.proof == chance {
		return s.near(f)
	}
	if f.proof == loose {
		return s.before(f)
	}
	return nil
}

// A link is a place where a value may begin, and what leads to it.
type link struct {
	at  int
	how how
}

type how int

const (
	adjacent how = iota // nothing
	verb                // is, 是
	colon               // a colon, an equals sign, the end of a tag
)

const maxLink = 90 // bytes between a word and its secret

// lead returns how many bytes at a place stand between a word and its secret, and how they lead to it; and where to look next.
func lead(s string, i int) (n int, h how, next int) {
	switch c := s[i]; {
	case c == ':' || c == '=' || c == '|':
		return 1, colon, i + 1
	case c == '-' && strings.HasPrefix(s[i:], "->"):
		return 2, colon, i + 2
	case alnum(c):
		end := run(s, i, len(s), alnum)
		switch s[i:end] {
		case "is", "was", "are", "now", "to", "as", "be", "equals", "called":
			return end - i, verb, end
		}
		return 0, verb, end
	case c >= utf8.RuneSelf && len(s) >= i+3:
		switch s[i : i+3] {
		case "：":
			return 3, colon, i + 3
		case "是", "为", "叫", "成", "到", "用", "作", "于":
			return 3, verb, i + 3
		}
	}
	return 0, verb, i + 1
}

// links are the places behind a word where its secret may begin, the likeliest first.
func (s source) links(from int) (out []link) {
	window := s.lower[from:min(len(s.lower), from+maxLink)]
	dressed := strings.TrimLeft(window, "\"'`*\\)]> \t）】")
	at := from + len(window) - len(dressed)
	dressed = dressed[:sentence(dressed)]
	for i := 0; i < len(dressed); {
		n, h, next := lead(dressed, i)
		if n > 0 && !denied(dressed[:i]) && !strings.HasPrefix(dressed[i:], "://") {
			out = append(out, link{at + i + n, h})
		}
		i = next
	}
	if strings.HasPrefix(window, ">") {
		out = append(out, link{from + 1, colon})
	}
	if next, _ := utf8.DecodeRuneInString(window); from > 0 && !alnum(s.text[from-1]) || next > 127 || strings.ContainsRune(" \t\"'`*)", next) {
		out = append(out, link{at, adjacent})
	}
	return out
}

// denied reports whether a verb behind some words is none: 不用.
func denied(before string) bool {
	for _, w := range []string{"不", "没", "未", "别", "怎么"} {
		if strings.HasSuffix(before, w) {
			return true
		}
	}
	return false
}

// sentence returns where a sentence ends, or a clause.
func sentence(s string) int {
	end := len(s)
	for _, stop := range []string{"\n", "\x00", ". ", "。", "！", "？", "? ", "! ", "；", "; ", ", ", "，"} {
		if i := strings.Index(s, stop); i >= 0 {
			end = min(end, i)
		}
	}
	return end
}

// code finds the digits behind a word for a code, or before it: "839201 is your verification code".
func (s source) code(f find) []Finding {
	window := s.lower[f.end:min(len(s.lower), f.end+60)]
	for i := 0; i < len(window); i++ {
		if strings.HasPrefix(window[i:], "。") || window[i] == 0 || window[i] == '\n' && i > 3 || strings.HasPrefix(window[i:], ". ") {
			break
		}
		at := f.end + i
		if !alnum(window[i]) || at > 0 && (alnum(s.text[at-1]) || s.text[at-1] == '.') {
			continue
		}
		end := run(s.text, at, 24, func(c byte) bool { return alnum(c) || c == '-' })
		if end-at == 3 && digits(s.text[at:end]) && end+4 <= len(s.text) && s.text[end] == ' ' && digits(s.text[end+1:end+4]) {
			end += 4 // 123 456
		}
		if isCode(s.text[at:end]) && !s.counts(end) {
			return []Finding{{f.kind, at, end}}
		}
		i = end - f.end - 1
	}
	return s.before(f)
}

func digits(w string) bool { return w != "" && strings.Trim(w, "0123456789") == "" }

// isCode reports whether a word is three to ten digits, or capitals and digits of a code.
func isCode(w string) bool {
	n := 0
	for i := range len(w) {
		if digit(w[i]) {
			n++
		}
	}
	plain := strings.NewReplacer("-", "", " ", "").Replace(w)
	return digits(plain) && len(plain) >= 3 && len(plain) <= 10 || n >= 2 && len(plain) >= 4 && len(plain) <= 12 && strings.ToUpper(plain) == plain
}

// counts reports whether what follows a number is what it counts: 300 seconds.
func (s source) counts(end int) bool {
	after := strings.TrimLeft(s.lower[end:min(len(s.lower), end+16)], " -")
	for _, unit := range []string{"分钟", "秒", "位", "小时", "天", "次", "个", "条", "人", "元", "年", "月", "minute", "second", "digit", "hour", "day", "time", "user", "char", "min ", "sec", "ms", "%"} {
		if strings.HasPrefix(after, unit) {
			return true
		}
	}
	return false
}

const maxNear = 48 // bytes between a word and what looks like chance

// near finds what looks like chance close behind a word for a key. Hashes of commits, uuids, paths and addresses are no keys there.
func (s source) near(f find) []Finding {
	limit := min(len(s.text), f.end+maxNear)
	for i := f.end; i < limit && s.text[i] != '\n' && s.text[i] != 0; i++ {
		if !base64(s.text[i]) {
			continue
		}
		end := run(s.text, i, 8<<10, func(c byte) bool { return base64(c) || c == '.' || c == '~' || c == ':' })
		if w := strings.TrimRight(s.text[i:end], ".:"); len(w) >= 16 && random(w) && entropy(w) > 3 && !identifier(w) {
			return []Finding{{f.kind, i, i + len(w)}}
		}
		i = end - 1
	}
	return nil
}

// identifier reports whether a word is a hash or a uuid in hexadecimal digits, an address or a path, or words joined by marks.
func identifier(w string) bool {
	plain := strings.ReplaceAll(w, "-", "")
	if (len(plain) == 32 || len(plain) == 40 || len(plain) == 64) && run(plain, 0, len(plain), hexadecimal) == len(plain) {
		return true
	}
	return strings.Contains(w, "//") || !mixed(w) && strings.Count(w, "/") >= 2 || strings.Count(w, ":") >= 2
}

// han reports whether a rune of a value is Chinese.
func han(r rune) bool { return fold.Han(r) }
