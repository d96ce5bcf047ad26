package compact

import (
	"regexp"
	"strings"
	"unicode"
)

var (
	// roleTags are the marks with which chat formats begin another speaker's turn.
	roleTags = regexp.MustCompile(`(?i)<\|[^|>\n]{0,40}\|>|\[/?INST\]|<</?SYS>>|</?(?:system|user|assistant|tool|developer|human)\b[^>\n]{0,40}>`)
	marks    = regexp.MustCompile(`(?i)^(?:\s*- \(|[#*\s]*(?:system|user|assistant|tool|developer|human|系统|用户|助手)\**\s*[:：]\**)+`) // of a speaker, of a fact
	ownLine  = regexp.MustCompile(`^Full text of \d+ earlier messages`)                                                            // with anything behind, which may be cut off
	roleWord = regexp.MustCompile(`(?i)^(?:system|user|assistant|tool|developer|human)$`)                                          // what is left of a tag before it

	// orders are sentences that talk to the model about its rules. A summary reports what was said and never does.
	orders = regexp.MustCompile(`(?i)\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|above|prior|earlier|all|any|system)\b.{0,40}\b(?:instructions?|rules?|prompts?|messages?)\b|` +
		`\byou are now\b|\bnew (?:system )?instructions?\b|\bact as (?:the )?(?:system|root|admin)|\b(?:reveal|print|repeat)\b.{0,30}\bsystem prompt\b|` +
		`(?:忽略|无视|忘记|不要理会|绕过).{0,12}(?:以上|上面|之前|先前|所有|全部|系统).{0,12}(?:规则|指令|指示|要求|提示|消息)|从现在起?开始?，?你(?:是|就是|必须)|你现在是|系统提示词`)
)

func isOrder(sentence string) bool { return orders.MatchString(sentence) }

// clean makes a generated text data: no role tags, no orders to the model, no control characters, and none of the lines
// that only this package writes.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	var kept []string
	for line := range strings.SplitSeq(roleTags.ReplaceAllLiteralString(text, ""), "\n") {
		if line = cleanLine(line); line != "" {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// cleanLine takes orders out before marks at the beginning: what stood behind an order would else begin the line.
func cleanLine(line string) string {
	if isOrder(line) {
		var kept []string
		for _, sentence := range split(line, sentenceEnd) {
			if !isOrder(sentence) {
				kept = append(kept, sentence)
			}
		}
		line = strings.Join(kept, " ")
	}
	line = strings.TrimSpace(marks.ReplaceAllLiteralString(line, ""))
	if ownLine.MatchString(line) || roleWord.MatchString(line) || roleTags.MatchString(line) { // a tag that was around another one
		return ""
	}
	return line
}
