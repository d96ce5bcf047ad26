package extract

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/memory/internal/fold"
	"github.com/holdfast-go/holdfast/memory/longterm"
)

// Rules returns an extractor that knows how people say, in Chinese and English, who they are, what they prefer, refuse or are
// used to, what holds for good, what is open, and what changed. Of a tool's result, which must be JSON, it takes which order,
// refund or service it is about, and in what state that is. It is fast, the same every time, takes linear time, and misses what
// is said in other words.
//
// The keys that it gives are "profile.name" (and .nickname, .company, .role, .city, .birthday, .timezone), "contact.channel" (and
// .email, .phone), "default.env" (and what else has a default), "format.table" (and other forms of an answer), "order.<id>",
// "order.<id>.refund", "refund.<id>", "ticket.<id>", "service.<name>" and "favorite.<what>". What it is less than sure of has the
// confidence 0.5.
func Rules() longterm.Extractor { return rules{} }

type rules struct{}

func (rules) Extract(ctx context.Context, texts []longterm.Text, known []longterm.Item) (out []longterm.Draft, err error) {
	said := speech(texts)
	for _, t := range texts {
		var drafts []longterm.Draft
		switch t.Origin {
		case longterm.FromUser:
			drafts = fromUser(t, known)
		case longterm.FromTool:
			drafts = fromTool(t, said)
		}
		out = append(out, drafts...)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// speech is what the user says in some texts.
func speech(texts []longterm.Text) string {
	var b strings.Builder
	for _, t := range texts {
		if t.Origin == longterm.FromUser {
			b.WriteString(t.Text + "\n")
		}
	}
	return b.String()
}

func fromUser(t longterm.Text, known []longterm.Item) (out []longterm.Draft) {
	for _, c := range clauses(t.Text) {
		if c.asks || c.reported || c.supposed {
			continue
		}
		for _, d := range c.drafts(known) {
			d.Origin, d.Source, d.Words, d.Confidence = t.Origin, t.Source, c.words, 1
			if c.unsure {
				d.Confidence = 0.5
			}
			if !slices.ContainsFunc(out, func(o longterm.Draft) bool { return o.Key == d.Key && o.Text == d.Text && o.Ends == d.Ends }) {
				out = append(out, d)
			}
		}
	}
	return out
}

// A rule makes a draft of a clause. Its pattern matches the clause from its beginning, and may have the groups k, what it is
// about, and v, what is said about that.
type rule struct {
	kind    longterm.Kind
	key     string // "*": by what v says, see wish; "default": by k
	pattern *regexp.Regexp
	not     *regexp.Regexp // v must not match it; nil: v may be anything
	ends    bool
	open    bool // something that is not done
}

// drafts are what the rules make of a clause. The first rule for a key wins, and one that finds no key of its
// own comes after all.
func (c clause) drafts(known []longterm.Item) (out []longterm.Draft) {
	if d, ok := c.withdrawal(known); ok {
		return d
	}
	if once.MatchString(c.text) {
		return nil
	}
	var used []string
	for _, r := range c.rules() {
		m := r.pattern.FindStringSubmatchIndex(c.text)
		if m == nil || len(out) > 0 && (r.key == "" || r.key == "*") || slices.Contains(used, r.key) {
			continue
		}
		d, ok := r.draft(c, c.group(r.pattern, m, "k"), c.group(r.pattern, m, "v"))
		if ok {
			used, out = append(used, r.key), append(out, d)
		}
	}
	return out
}

// once matches what is meant for this time only.
var once = regexp.MustCompile(`(?i)\b(?:this time|this once|just once|for now|right now|for today|just today|one time)\b|这次|这回|本次|这一次|今天先|暂时|眼下|先这样`)

func (c clause) rules() []rule {
	if fold.HasHan(c.text) {
		return chinese
	}
	return english
}

// group is what a group of a match has, with what is quoted.
func (c clause) group(re *regexp.Regexp, m []int, name string) string {
	for i, n := range re.SubexpNames() {
		if n == name && m[2*i] >= 0 {
			return strings.Trim(c.plain[m[2*i]:m[2*i+1]], " \t\"`「」『』《》'")
		}
	}
	return ""
}

func (r rule) draft(c clause, k, v string) (longterm.Draft, bool) {
	d := longterm.Draft{Kind: r.kind, Key: r.key, Text: c.core, Ends: r.ends}
	if r.not != nil && r.not.MatchString(v) || r.open && strings.TrimSpace(v) == "" {
		return d, false
	}
	if r.open {
		d.Meta = map[string]string{"status": "open"}
	}
	switch {
	case r.key == "*":
		d.Kind, d.Key, v = wish(r.kind, v, c.text)
	case r.key == "default":
		d.Key, v = fallback(k, v)
		if d.Key == "" {
			return d, false
		}
	case strings.HasSuffix(r.key, "."):
		d.Key = r.key + strings.ToLower(k)
	}
	if !validKey(d.Key) {
		return d, false
	}
	if l := label(d.Key, fold.HasHan(c.text)); l != "" && v != "" {
		d.Text = l + v
	}
	return d, true
}

func validKey(key string) bool { return len(key) <= 120 && !strings.ContainsRune(key, blank) }
