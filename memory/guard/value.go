package guard

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

type span struct{ start, end int }

const maxValue = 200 // bytes of a value between quotes

// value reads what a link leads to, and says whether it is the secret.
func (s source) value(f find, l link) (span, bool) {
	v, quoted := s.read(l.at)
	w := s.text[v.start:v.end]
	if w == "" || strings.IndexByte(w, 0) >= 0 || placeholder(w) {
		return v, false
	}
	switch f.proof {
	case phrase:
		return s.phrase(v), !statement(w)
	case shell:
		return s.userinfo(f, v), f.start == 0 || l.how == adjacent && w[0] != '-'
	case chance:
		return v, proved(w, l.how, quoted)
	case weak:
		if l.how != colon || statement(w) && !quoted {
			return v, false
		}
	}
	first, _ := utf8.DecodeRuneInString(w)
	switch {
	case han(first):
		return v, l.how != adjacent && utf8.RuneCountInString(w) > 1 && !tells(w)
	case l.how == adjacent:
		return v, quoted && !statement(w) || looks(w)
	case quoted:
		return v, true
	case l.how == colon:
		return s.words(v), !statement(w)
	}
	return v, !statement(w) || looks(w)
}

// read returns a value that begins at a place: what stands between quotes, a word, or a run of Chinese.
func (s source) read(at int) (span, bool) {
	from, lines := at, 0
	for from < len(s.text) && from < at+40 {
		r, size := utf8.DecodeRuneInString(s.text[from:])
		if r == '\n' {
			lines++
		}
		if lines > 1 || !strings.ContainsRune(" \t\n\r*\\(（[:：=了就的>", r) {
			break
		}
		from += size
	}
	open, size := utf8.DecodeRuneInString(s.text[min(from, len(s.text)):])
	if from >= len(s.text) || lines > 0 && han(open) || lines > 1 {
		return span{from, from}, false
	}
	if closing, ok := quotes[open]; ok {
		from += size
		line := s.text[from:min(len(s.text), from+maxValue)]
		if i := strings.IndexByte(line, '\n'); i >= 0 {
			line = line[:i]
		}
		if i := strings.IndexRune(line, closing); i > 0 {
			return span{from, from + len(strings.TrimRight(line[:i], "\\"))}, true
		}
	}
	return span{from, s.wordEnd(from)}, false
}

var quotes = map[rune]rune{'"': '"', '\'': '\'', '`': '`', '「': '」', '『': '』', '《': '》', '【': '】'}

// wordEnd returns where a word that begins at a place ends. A comma within it belongs to it, one behind it does not.
func (s source) wordEnd(from int) int {
	end, chinese := from, 0
	for i, r := range s.text[from:min(len(s.text), from+8<<10)] {
		if i == 0 && han(r) {
			chinese = 1
		}
		switch {
		case unicode.IsSpace(r), r == 0, r > 127 && !unicode.IsLetter(r) && !unicode.IsDigit(r), strings.ContainsRune("\"'`<|&", r):
			return from + trim(s.text[from:end])
		case chinese == 0 && han(r):
			return from + trim(s.text[from:end])
		case chinese > 0:
			if chinese++; chinese > maxHan {
				return end
			}
		}
		end = from + i + utf8.RuneLen(r)
		if r == utf8.RuneError && !strings.HasPrefix(s.text[from+i:], "\uFFFD") {
			end = from + i + 1
		}
	}
	return from + trim(s.text[from:end])
}

const maxHan = 24 // characters of a password in Chinese

// trim returns the length without the punctuation that ends a sentence or a list.
func trim(w string) int { return len(strings.TrimRight(w, ".,;:)]}>\\")) }

// words takes the words of a line that all are lower case: "password: correct horse battery staple".
func (s source) words(v span) span {
	line := s.text[v.start:min(len(s.text), v.start+maxValue)]
	if m := spoken.FindString(line); len(m) > v.end-v.start {
		v.end = v.start + len(strings.TrimRight(m, ".\n"))
	}
	return s.pair2(v)
}

var spoken = regexp.MustCompile(`^[a-z]+(?: [a-z]+){2,7}\.?(?:\n|$)`)

// pair2 takes the second part of "admin / secret".
func (s source) pair2(v span) span {
	rest := s.text[v.end:min(len(s.text), v.end+8)]
	if after := strings.TrimLeft(rest, " "); len(after) > 1 && after[0] == '/' {
		if next, _ := s.read(v.end + len(rest) - len(after) + 1); next.end > next.start {
			v.end = next.end
		}
	}
	return v
}

// phrase takes all words up to the end of a sentence.
func (s source) phrase(v span) span {
	line := s.text[v.start:min(len(s.text), v.start+maxPhrase)]
	if i := strings.IndexAny(line, ".\n。；;，\""); i > 0 {
		line = line[:i]
	}
	v.end = max(v.end, v.start+len(strings.TrimRight(line, " ,")))
	return v
}

const maxPhrase = 400 // bytes of a recovery phrase: 24 words

// userinfo is the password of "curl -u name:password".
func (s source) userinfo(f find, v span) span {
	if i := strings.IndexByte(s.text[v.start:v.end], ':'); i >= 0 && s.text[f.start:f.end] == "-u" {
		v.start += i + 1
	} else if s.text[f.start:f.end] == "-u" {
		v.end = v.start
	}
	return v
}

// before finds a secret that stands before the word for it: "hunter2 is my password", 用 hunter2 作为密码.
func (s source) before(f find) []Finding {
	from := max(0, f.start-120)
	for from < f.start && !utf8.RuneStart(s.text[from]) {
		from++
	}
	window := s.text[from:f.start]
	if !turned(window) {
		return nil
	}
	m := reversed.FindStringSubmatchIndex(window)
	if m == nil {
		return nil
	}
	w := strings.Trim(window[m[2]:m[3]], "\"'`,:;()")
	at := from + m[2] + strings.Index(window[m[2]:m[3]], w)
	if w == "" || placeholder(w) || f.proof == coded && !isCode(w) || f.proof == loose && !looks(w) && (statement(w) || len(w) < 4) {
		return nil
	}
	return []Finding{{f.kind, at, at + len(w)}}
}

var reversed = regexp.MustCompile(`(?i)([!-~]{3,80})\s*(?:(?:\s(?:is|as|was|for)|\()\s+?(?:(?:my|the|our|your|a|an|new|login|admin|root|wifi|db|database|account|current|old|google|bank|email)\s+)*` +
	`|(?:是|作为|做|当作|当|设为|设成|为|（)\s*(?:我们的|我的|我|你的|您的|他的|新的|新|旧的|登录|登陆|管理员|账号|账户|数据库|支付|银行卡|邮箱|本次|这次|后台|的|\s)*)$`)

// turned reports whether words may say it the other way round. It is asked first, since reversed takes its time.
func turned(window string) bool {
	window = strings.ToLower(window)
	for _, w := range []string{" is ", " as ", " was ", " for ", "(", "（", "是", "作", "做", "当", "设", "为"} {
		if strings.Contains(window, w) {
			return true
		}
	}
	return false
}

// proved reports whether a word behind a word for a key is one.
func proved(w string, h how, quoted bool) bool {
	switch {
	case strings.Contains(w, "://") || statement(w) || code(w):
		return false
	case h == adjacent:
		return len(w) >= 8 && random(w) && looks(w) && !identifier(w) && !strings.ContainsAny(w, "/")
	case quoted && h == colon:
		return len(w) >= 8
	case digits(w):
		return len(w) >= 6
	}
	return len(w) >= 6 && random(w) || len(w) >= 20 || len(w) >= 8 && h == colon && looks(w)
}

// code reports whether a word is a piece of a program: os.Getenv("TOKEN"), self.secret.
func code(w string) bool { return strings.Contains(w, "(") || inProgram.MatchString(w) }

var inProgram = regexp.MustCompile(`^(?:[a-z_]\w*\.)+[A-Za-z_]\w*$`)

// looks reports whether a word looks like a password: it has a digit or a mark that words do not have, or changes its case within.
func looks(w string) bool {
	if len(w) < 4 || timely.MatchString(w) {
		return false
	}
	inner := strings.Trim(w, ".,;:!?()'\"-")
	return strings.ContainsAny(inner, "0123456789!@#$%^&*+=~") || mixed(inner)
}

// timely matches what has digits and is no password: dates, times, versions, counts.
var timely = regexp.MustCompile(`^(?:\d{1,4}[-/.]\d{1,2}(?:[-/.]\d{1,4})?|\d{1,2}:\d\d(?::\d\d)?|v?\d+(?:\.\d+)+|\d+(?:st|nd|rd|th|s|ms|m|h|d|kb|mb|gb|%))$`)

// placeholder reports whether a word stands where a secret would.
func placeholder(w string) bool {
	if strings.Trim(w, "*") == "" || strings.Trim(w, "xX") == "" || strings.Trim(w, ".") == "" || strings.Trim(w, "•") == "" || strings.Trim(w, "_") == "" || strings.Trim(w, "?") == "" {
		return true
	}
	for _, p := range []string{"${", "{{", "<", "%", "$(", "your", "process.env", "os.", "env."} {
		if strings.HasPrefix(strings.ToLower(w), p) {
			return true
		}
	}
	return variable.MatchString(w)
}

var variable = regexp.MustCompile(`^\$[A-Z_]+$`)

// statement reports whether a word says something about secrets instead of being one.
func statement(w string) bool {
	w = strings.ToLower(strings.Trim(w, ".,;:!?()'\"*`"))
	if tells(w) || w == "" {
		return true
	}
	_, ok := about[w]
	return ok || strings.Contains(w, "'")
}

var about = func() map[string]struct{} {
	m := map[string]struct{}{}
	for w := range strings.FieldsSeq(`a an the to too not no none null nil true false undefined string str int bool bytes text varchar char optional required mandatory needed necessary empty blank
		missing wrong incorrect invalid correct right valid expired expiring old new weak strong secure insecure safe unsafe stored saved kept hidden encrypted hashed salted masked reset changed updated
		rotated revoked leaked compromised exposed generated sent shared used unused reused set unset unknown known available unavailable in on at by for from of with and or if when how what who why where which
		that this these those it its my your our his her their very so also still now then here there only just same different case being been be was were is are will would can could should must may might
		manager management policy policies field fields reset reminder hint length strength rotation protected protection authentication authorization auth login page form box input prompt less based
		long short simple complex easy hard default enabled disabled ok okay fine good bad working broken failing failed fails denied rejected accepted verified checked confirmed requested created
		deleted removed forgotten lost stolen found visible invisible public private please thanks after before until unless because since about like as always never sometimes usually often every each
		all any some both either neither one two three more most nothing something anything everything someone anyone limit limits count usage budget price cost service services server endpoint api is_valid
		up down out off over under again once via per into onto than but yet you we they he she i me us them him do does did done has have had having get gets got make makes made need needs want wants
		consistency success happiness love changing coming going getting running used_by type types name names value values key keys token tokens secret secrets password passwords code codes`) {
		m[w] = struct{}{}
	}
	return m
}()

// tells reports whether Chinese behind a word for a secret says something about it.
func tells(w string) bool {
	for _, p := range strings.Fields("什么 多少 几 哪 谁 怎 错 对 正确 必 空 一样 一致 相同 不 没 未 无 忘 通过 由 需 应 可 会 要 已 被 过期 失效 有效 默认 存 保存 加密 明文 安全 强 弱 随机 自动 和 与 跟 或 在 从 以 按 为 吗 呢 吧 啊 输入 修改 重置 设置 更改 找回 验证 登录 管理 太 很 比较 最 旧 新 这 那 他 她 它 我们 你 请 如 因 所 只 用来 用于 否 真 假 问题 原因 长度 位数 策略 规则 字段 参数 错误 还 也 都 再 必须 什 啥 正常 以前 之前") {
		if strings.HasPrefix(w, p) {
			return true
		}
	}
	return false
}
