package compact

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

// A fact is a sentence that a summary keeps, and who said it: "user", "assistant", or "tool" and its name.
type fact struct {
	who, text string
}

func (f fact) line() string { return "- (" + f.who + ") " + f.text }

var factLine = regexp.MustCompile(`^- \(((?:user|assistant|tool)[^()]*)\) (.+)$`)

// maxSentence is the length in runes above which a sentence is taken clause by clause, and a clause is cut.
const maxSentence = 120

// maxSift is the length in bytes up to which every sentence of a text is looked at; of a longer one its excerpt.
const maxSift = 64 << 10

// footLines are the last lines of excerpts: they say nothing about what was talked about.
var footLines = regexp.MustCompile(`(?m)^\[excerpt of a \w+ of \d+ lines, \d+ bytes.*\]$`)

// findFacts takes the sentences worth keeping out of messages, in their order. Of a tool result the heaviest three count.
func findFacts(c working.Counter, messages []message.Message) []fact {
	var facts []fact
	add := func(who, text string, limit int) {
		text = footLines.ReplaceAllLiteralString(text, "")
		if len(text) > maxSift {
			text = footLines.ReplaceAllLiteralString(Excerpt(c, text, ExcerptOptions{MaxTokens: maxSift / 8}), "")
		}
		facts = append(facts, sift(who, footLine.ReplaceAllLiteralString(text, ""), limit)...) // what this package says is no fact
	}
	for _, m := range messages {
		switch m.Role {
		case message.RoleUser, message.RoleAssistant:
			add(string(m.Role), m.Text(), -1)
		case message.RoleTool:
			for _, r := range m.Results() {
				add(strings.TrimSpace("tool "+toolName(r.Name)), r.Text(), 3)
			}
		}
	}
	return facts
}

func toolName(name string) string {
	return clip(strings.Map(func(r rune) rune {
		if r == '(' || r == ')' || r < ' ' {
			return -1
		}
		return r
	}, name), 40)
}

// sift returns the facts of a text, the heaviest of them if there is a limit.
func sift(who, text string, limit int) []fact {
	var facts []fact
	for sentence := range sentences(text) {
		if f := (fact{who, sentence}); f.weight() >= worth && !isOrder(sentence) {
			facts = append(facts, f)
		}
	}
	if limit < 0 || len(facts) <= limit {
		return facts
	}
	order := make([]int, len(facts))
	weights := make([]int, len(facts))
	for i, f := range facts {
		order[i], weights[i] = i, f.weight()
	}
	slices.SortStableFunc(order, func(a, b int) int { return weights[b] - weights[a] })
	slices.Sort(order[:limit])
	heaviest := make([]fact, 0, limit)
	for _, i := range order[:limit] {
		heaviest = append(heaviest, facts[i])
	}
	return heaviest
}

var (
	sentenceEnd = regexp.MustCompile(`[。！？；!?;]+["”’)）]?|\.(?:\s+|$)|\n+`)
	clauseEnd   = regexp.MustCompile(`[，,、：]\s*`)
)

// sentences yields the sentences of a text without surrounding space; a long one clause by clause.
func sentences(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, sentence := range split(strings.ToValidUTF8(text, "\uFFFD"), sentenceEnd) {
			if utf8.RuneCountInString(sentence) <= maxSentence {
				if !yield(sentence) {
					return
				}
				continue
			}
			for _, clause := range split(sentence, clauseEnd) {
				if runes := []rune(clause); len(runes) > maxSentence {
					clause = string(runes[:maxSentence])
				}
				if !yield(clause) {
					return
				}
			}
		}
	}
}

// split cuts behind each match and leaves out blanks. Space inside becomes single.
func split(text string, at *regexp.Regexp) []string {
	var parts []string
	add := func(part string) {
		if part = strings.Join(strings.Fields(part), " "); part != "" {
			parts = append(parts, part)
		}
	}
	from := 0
	for _, m := range at.FindAllStringIndex(text, -1) {
		add(text[from:m[1]])
		from = m[1]
	}
	add(text[from:])
	return parts
}

var (
	keyed = regexp.MustCompile(`(?i)^(?:(?:ok|so|now|and|please|actually|correction|sorry|set|change|the|our|my|your)[ ,:]+)*([\pL\pN][\pL\pN _./-]{1,40}?)` +
		`\s*(?:\bis now\b|\bis\b|\bare\b|\bwas\b|\bchanged to\b|\bset to\b|\bmoved to\b|\bto\b|=|: )\s*(\S.*)$`)
	keyedHan = regexp.MustCompile(`^(?:(?:好的|请|那|现在|更正|抱歉|把|将|我们的|我们|我的|我)[，, ]*)*([\p{Han}\w .-]{2,20}?)(?:现在是|已改为|改为|改成|换成|设为|定为|应为|是|为|叫|：|=)\s*(\S.*)$`)
	pronoun  = set("it this that there he she they what which who these those here we you 这 那 它 他 她 这个 那个 这里 什么 问题 结果 原因 因为 可能 不 只 都 就 还")
)

// key is what a sentence tells the value of, as in "default environment" or "默认环境"; "" if it tells none, as a question or
// a guess does. Of two facts with the same key the later holds.
func (f fact) key() string {
	if signQuestion.MatchString(f.text) || signGuess.in(spaced(f.text)) {
		return ""
	}
	for _, form := range []*regexp.Regexp{keyed, keyedHan} {
		if m := form.FindStringSubmatch(f.text); m != nil {
			if key := strings.ToLower(strings.TrimSpace(m[1])); !pronoun[key] {
				return key
			}
		}
	}
	return ""
}

// same is equal for facts that differ only in case, space and punctuation.
func (f fact) same() string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" .,;:!?。，；：！？、\"'“”‘’", r) {
			return -1
		}
		return r
	}, strings.ToLower(f.text))
}

// mergeFacts adds new facts to old ones. What is said again moves to the end; a new value replaces the old one of its key,
// except that what the assistant says replaces nothing that the user or a tool has said, nor who has said it.
func mergeFacts(old, more []fact) []fact {
	all := slices.Concat(old, more)
	said, told := map[string]bool{}, map[string]bool{}
	checked, echoed := map[string]bool{}, map[string]bool{} // keys with a value, and texts, that are not the assistant's
	for _, f := range all {
		if f.who != "assistant" {
			checked[f.key()], echoed[f.same()] = true, true
		}
	}
	var kept []fact
	for _, f := range slices.Backward(all) {
		key := f.key()
		stale := key != "" && (told[key] || f.who == "assistant" && checked[key]) || f.who == "assistant" && echoed[f.same()]
		if stale || said[f.same()] {
			continue
		}
		said[f.same()], told[key] = true, true
		kept = append(kept, f)
	}
	slices.Reverse(kept)
	return kept
}

// fitFacts returns the lines of the weightiest facts that fit, the later of equals, in their order.
func fitFacts(c working.Counter, facts []fact, n int) []fact {
	order := make([]int, len(facts))
	weights := make([]int, len(facts))
	for i, f := range facts {
		order[i], weights[i] = len(facts)-1-i, f.weight()
	}
	slices.SortStableFunc(order, func(a, b int) int { return weights[b] - weights[a] })
	space := budget{counter: c, left: n}
	fits := make([]bool, len(facts))
	for _, i := range order {
		fits[i] = space.take(facts[i].line())
	}
	var kept []fact
	for i, f := range facts {
		if fits[i] {
			kept = append(kept, f)
		}
	}
	return kept
}
