package extract

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/holdfast-go/holdfast/memory/guard"
	"github.com/holdfast-go/holdfast/memory/internal/fold"
	"github.com/holdfast-go/holdfast/memory/internal/prose"
	"github.com/holdfast-go/holdfast/memory/longterm"
)

// Model returns an extractor that asks a model. ask gets a prompt and returns the model's answer; it must be safe for concurrent
// use. The prompt is in the language of what the user said, has the texts as data, without what is pasted, recalled or planted in
// them, and costs one call; none is made if nothing is left of the texts.
//
// An answer is read as far as it can be, whatever stands around it. Where a piece cannot be read the model is asked again, twice
// at most, and told why; then the error is ErrAnswer, and the drafts that are whole are returned with it. What ask returns as its
// error is wrapped.
//
// The model decides nothing about where a draft is from. Its words must be in the text that it names, but for case, width and
// spaces, or it is left out; its origin is that of the text, or Inferred if the model says so, and if the words are in a
// question, in a supposition or another's. A conclusion in another language than the words gives way to them.
func Model(ask func(ctx context.Context, prompt string) (string, error)) longterm.Extractor {
	return model{ask}
}

type model struct {
	ask func(context.Context, string) (string, error)
}

// maxAsked is how often a model is asked for one answer.
const maxAsked = 3

func (m model) Extract(ctx context.Context, texts []longterm.Text, known []longterm.Item) (out []longterm.Draft, err error) {
	q := newQuestion(texts, known)
	if len(q.texts) == 0 {
		return nil, nil
	}
	prompt := q.prompt()
	for asked := 1; ; asked++ {
		answer, err := m.ask(ctx, prompt)
		if err != nil {
			return out, fmt.Errorf("extract: the model was asked: %w", err)
		}
		objects, failed := drafted(answer)
		if echoes(answer) {
			objects, failed = nil, []Span{{0, len(answer), "it is the question"}}
		}
		for _, o := range objects {
			if d, ok := q.draft(o); ok && !slices.ContainsFunc(out, func(e longterm.Draft) bool { return same(d, e) }) {
				out = append(out, d)
			}
		}
		if len(failed) == 0 {
			return out, nil
		}
		if asked == maxAsked {
			return out, &AnswerError{Asked: asked, Length: len(answer), Failed: failed}
		}
		prompt = q.again(failed[0], out)
	}
}

// echoes reports whether an answer is our own prompt.
func echoes(answer string) bool {
	return strings.Contains(answer, markZH) || strings.Contains(answer, markEN)
}

func same(a, b longterm.Draft) bool {
	return a.Source == b.Source && a.Key == b.Key && a.Text == b.Text && a.Ends == b.Ends && a.Replaces == b.Replaces
}

// A question is what a model is asked about: the texts and items that it may name, by short ids.
type question struct {
	texts []sourceText
	known []longterm.Item
	zh    bool
}

// A sourceText is a text, and what of it the model sees.
type sourceText struct {
	longterm.Text
	shown string
}

func newQuestion(texts []longterm.Text, known []longterm.Item) *question {
	q := &question{}
	for _, t := range texts {
		shown := ownText(t)
		if strings.TrimSpace(shown) == "" {
			continue
		}
		q.texts = append(q.texts, sourceText{t, shown})
		q.zh = q.zh || t.Origin == longterm.FromUser && fold.HasHan(shown)
	}
	for _, i := range known {
		if i.Current() {
			q.known = append(q.known, i)
		}
	}
	return q
}

// ownText is what of a text may be a source: the user's own words, or what a tool says, without what is planted in it.
func ownText(t longterm.Text) string {
	switch {
	case len(guard.Planted(t.Text)) > 0, t.Origin != longterm.FromUser && t.Origin != longterm.FromTool:
		return ""
	case t.Origin == longterm.FromTool:
		if parse(t.Text) == nil { // a page, a log
			return ""
		}
		return t.Text
	case foreign.MatchString(t.Text):
		return ""
	}
	text := withoutBlocks(t.Text)
	var lines []string
	own, _ := prose.Lines(text)
	for _, l := range own {
		if line := text[l.Start:l.End]; !dump(line) {
			lines = append(lines, line)
		}
	}
	text = strings.TrimSpace(strings.Join(lines, "\n"))
	if empty.MatchString(text) {
		return ""
	}
	return text
}

// empty matches what says nothing, for which no model is asked.
var empty = regexp.MustCompile(`(?i)^[\s\p{P}\p{S}]*(?:(?:嗯+|好的?|哦|噢|啊|行|可以|谢谢你?|多谢|收到|知道了|明白了?|是的?|不是|没有|没事|你好|您好|在吗|再见|ok(?:ay)?|yes|no|thanks?|thank you|thx|great|cool|fine|sure|got it|hi|hello|bye|good)[\s\p{P}\p{S}]*)*$`)

// keyed are the subjects that a model may name, and no others: two facts under one key supersede one another.
var keyed = regexp.MustCompile(`^(?:profile\.(?:name|nickname|company|role|city|birthday|timezone|duty)|contact\.(?:channel|email|phone)|default\.[\p{L}\p{N}_]{1,24}|` +
	`format\.(?:order|table|chart|list|json|language|length|emoji|code|tone)|favorite\.[\p{L}\p{N} _]{1,40}|(?:order|refund|ticket|service)\.[\p{L}\p{N}._-]{1,60})$`)

// maxWords is how long a quotation and a conclusion may be, in bytes: what is longer is no fact.
const maxWords = 1000

// draft makes a draft of what the model wrote, or reports false if it may not be one.
func (q *question) draft(o object) (longterm.Draft, bool) {
	t, ok := q.named(o["id"], o["words"])
	if !ok || len(o["words"]) > maxWords || len(o["text"]) > maxWords {
		return longterm.Draft{}, false
	}
	d := longterm.Draft{
		Kind: longterm.Kind(o["kind"]), Text: strings.TrimSpace(o["text"]), Words: strings.TrimSpace(o["words"]), Origin: t.Origin, Source: t.Source,
		Confidence: number(o["confidence"]), Ends: truth(o["ends"]), Repeats: q.item(o["repeats"]), Replaces: q.item(o["replaces"]),
	}
	if key := strings.ToLower(strings.TrimSpace(o["key"])); keyed.MatchString(key) {
		d.Key = key
	}
	if !slices.Contains([]longterm.Kind{longterm.Semantic, longterm.Preference, longterm.Episode, longterm.Habit}, d.Kind) {
		d.Kind = longterm.Semantic
	}
	if d.Text == "" || fold.HasHan(d.Text) != fold.HasHan(d.Words) || echoes(d.Text) {
		d.Text = d.Words
	}
	if o["said"] != "" && !truth(o["said"]) || t.Origin == longterm.FromUser && !stated(t.Text.Text, d.Words) {
		d.Origin = longterm.Inferred
	}
	if d.Ends && (d.Origin != longterm.FromUser || d.Key == "" && d.Replaces == "") {
		return d, false
	}
	return d, true
}

// named is the text that a draft names, or the only one that has its words.
func (q *question) named(id, words string) (sourceText, bool) {
	var having []sourceText
	for i, t := range q.texts {
		if !quotes(t.shown, words) || !quotes(t.Text.Text, words) {
			continue
		}
		if id == textID(i) {
			return t, true
		}
		having = append(having, t)
	}
	if len(having) != 1 {
		return sourceText{}, false
	}
	return having[0], true
}

// item is the id of an item that is known; "" if it is none.
func (q *question) item(id string) string {
	for i, k := range q.known {
		if id == itemID(i) {
			return k.ID
		}
	}
	return ""
}

func textID(i int) string { return "t" + strconv.Itoa(i+1) }
func itemID(i int) string { return "k" + strconv.Itoa(i+1) }

// quotes reports whether words are in a text, but for case, width and spaces.
func quotes(text, words string) bool {
	words = narrow(words)
	return words != "" && strings.Contains(narrow(text), words)
}

func narrow(s string) string {
	return strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(s))), "")
}

// stated reports whether words of a user are a statement: they are not all in questions, suppositions or reports.
func stated(text, words string) bool {
	words = narrow(words)
	only := false
	for _, c := range clauses(text) {
		if own := narrow(c.words); own == "" || !strings.Contains(own, words) && !strings.Contains(words, own) {
			continue
		}
		if !c.asks && !c.reported && !c.supposed {
			return true
		}
		only = true
	}
	return !only
}

func truth(s string) bool {
	return strings.EqualFold(s, "true") || s == "1" || strings.EqualFold(s, "yes")
}

// number is how sure a model says it is. What is none is not sure.
func number(s string) float64 {
	if s == "" {
		return 0.8
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) {
		return 0.5
	}
	return min(max(f, 0.01), 1) // 0 would be the default
}
