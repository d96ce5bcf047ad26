package pin

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/message"
)

// Detect returns what a message of the user forbids, rules or permits, in the order of its sentences. It reads Chinese and English by
// rule, in linear time, and returns nothing for a message of anybody else: what a model or a tool says binds nobody.
//
// Questions, quotations, pasted logs and code, reports of what others said, idioms ("don't worry", 别担心) and double negations ("don't forget
// to restart", 不要忘记重启) are no denials. Where a sentence is a denial only under a condition, it waits for the user's word (Found.Ask).
func Detect(m message.Message) []Found {
	if m.Role != message.RoleUser {
		return nil
	}
	var out []Found
	for _, p := range m.Parts {
		if p.Kind == message.KindText {
			out = append(out, detect(p.Text)...)
		}
	}
	return out
}

func detect(text string) (out []Found) {
	ts := tokens(text)
	for start := 0; start < len(ts); {
		end := sentenceEnd(text, ts, start)
		if end > start {
			s := read(text, ts[start:end])
			s.asks = s.asks || end < len(ts) && ts[end].text == "?"
			out = append(out, s.found()...)
		}
		if start = end; end < len(ts) && ts[end].kind == mark {
			start++
		}
	}
	return out
}

// sentenceEnd returns where the sentence that begins at a token ends: at a full stop or, in one that a Found cannot hold, at the last comma
// before that, so that nothing behind it is lost.
func sentenceEnd(text string, ts []token, start int) int {
	comma := -1
	runes := 0
	for end, t := range ts[start:] {
		end += start
		switch {
		case t.kind == mark && strings.Contains("\n.!?。;", t.text):
			return end
		case runes > MaxText && comma > start:
			return comma
		case end-start == maxItems:
			return end
		case t.kind == mark && strings.Contains(",，、", t.text):
			comma = end
		}
		if end > start {
			runes += utf8.RuneCountInString(text[ts[end-1].end:t.end])
		}
	}
	return len(ts)
}

// An item is a phrase of the lexicon in a sentence, or a token that the lexicon does not know.
type item struct {
	entry
	text  string // as the user wrote it
	token token  // the first
	known bool
}

func (i item) is(c class) bool { return i.class&c != 0 }
func (i item) comma() bool {
	return i.token.kind == mark && !i.known && strings.Contains(",，:：—", i.token.text)
}

// A sentence is what stands between two full stops.
type sentence struct {
	text  string
	items []item
	asks  bool
}

const maxItems = 400 // of a sentence; what is longer is read in pieces

func read(text string, ts []token) sentence {
	s := sentence{text: cutText(strings.TrimSpace(text[ts[0].start:ts[len(ts)-1].end]))}
	for i := 0; i < len(ts) && len(s.items) < maxItems; {
		n := 1
		it := item{token: ts[i]}
		if e, ok := match(ts[i:]); ok {
			it.entry, it.known, n = e, true, len(e.tokens)
		} else if e, ok := compound(ts[i]); ok {
			it.entry, it.known = e, true
		}
		it.text = text[ts[i].start:ts[i+n-1].end]
		s.items, i = append(s.items, it), i+n
	}
	if n := len(s.items); n > 0 {
		last := s.items[n-1].token.text
		s.asks = slices.Contains([]string{"吗", "么", "呢"}, last) && !s.items[n-1].is(cTag)
	}
	return s
}

// compound is the action that a word ends with: auto-renew.
func compound(t token) (entry, bool) {
	at := strings.LastIndexByte(t.text, '-')
	if t.kind != word || at < 0 || at+1 == len(t.text) {
		return entry{}, false
	}
	e, ok := match([]token{{text: t.text[at+1:], kind: word}})
	return e, ok && e.class&cAction != 0 && len(e.tokens) == 1
}

func cutText(s string) string {
	if utf8.RuneCountInString(s) <= MaxText {
		return s
	}
	return string([]rune(s)[:MaxText])
}

func (s sentence) has(c class) bool {
	return slices.ContainsFunc(s.items, func(i item) bool { return i.is(c) })
}

// found is what a sentence says about what may be done.
func (s sentence) found() (out []Found) {
	if s.has(cHypo) || s.asks && !s.has(cTag) && !s.ordered() {
		return nil
	}
	denied := s.denials()
	if len(denied) == 0 {
		denied = s.approvals()
	}
	if len(denied) > 0 {
		return denied
	}
	if f, ok := s.permit(); ok {
		return []Found{f}
	}
	if f, ok := s.rule(); ok {
		return []Found{f}
	}
	return nil
}

// ordered reports whether a question is an order: "could you please not restart it?"
func (s sentence) ordered() bool {
	return slices.ContainsFunc(s.items, func(i item) bool {
		return i.is(cDeny) && (strings.HasPrefix(foldText(i.text), "could you") || strings.HasPrefix(foldText(i.text), "would you") || strings.HasPrefix(foldText(i.text), "can you") || strings.HasPrefix(foldText(i.text), "will you"))
	})
}

const forbids = cDeny | cModal | cCannot | cGerund | cPost | cHandsOff

// denials looks for words that forbid, and for what they forbid. Of several in one sentence each makes a denial of its own, unless it
// only repeats the one before.
func (s sentence) denials() (out []Found) {
	for i, it := range s.items {
		if !it.is(forbids) && !s.leaves(i) || s.vetoed(i) || i > 0 && it.is(cGerund) && s.items[i-1].is(cState) && !s.items[i-1].is(cFill) {
			continue
		}
		f, ok := s.denial(i)
		if ok && !slices.ContainsFunc(out, func(o Found) bool { return covered(f, o) }) {
			out = append(out, s.elsewhere(f)...)
		}
	}
	return out
}

// leaves reports whether a place begins "leave them alone".
func (s sentence) leaves(at int) bool {
	return s.items[at].token.text == "leave" && slices.ContainsFunc(s.items[at:], func(i item) bool { return i.token.text == "alone" })
}

// covered reports whether a denial says nothing beyond another.
func covered(f, o Found) bool {
	if f.Effect != o.Effect || f.Env != o.Env || !slices.Equal(f.Targets, o.Targets) {
		return false
	}
	return len(o.Actions) == 0 || len(f.Actions) > 0 && !slices.ContainsFunc(f.Actions, func(a string) bool { return !slices.Contains(o.Actions, a) })
}

// vetoed reports whether the words before a place say that somebody else forbids, or that it is a question or a thought.
func (s sentence) vetoed(at int) bool {
	for i := at - 1; i >= 0; i-- {
		it := s.items[i]
		switch {
		case it.is(cQuestion):
			return true
		case it.is(cMe) && it.is(cYou): // 我说: the user's own words follow
			return false
		case it.is(cSay) && !it.is(cDeny):
			return !s.mine(i)
		case it.is(cDoc) && !it.is(cOther) && s.clause(i, at): // "I have read the log, do not restart"
		case it.is(cOther | cDoc), it.is(cPerson) && s.subject(i, at):
			return true
		case it.is(cUndo) && i+1 == at && !it.is(cFill|cDeny): // "I see no restart"
			return !it.known
		}
	}
	return false
}

// clause reports whether a comma, and no colon, stands between two places.
func (s sentence) clause(from, to int) bool {
	between := func(marks string) bool {
		return slices.ContainsFunc(s.items[from:to], func(i item) bool { return i.comma() && strings.Contains(marks, i.token.text) })
	}
	return between(",，") && !between(":：—")
}

// mine reports whether the user is who says it.
func (s sentence) mine(at int) bool {
	for i := at - 1; i >= 0 && !s.items[i].comma(); i-- {
		if s.items[i].is(cMe) {
			return true
		}
		if s.items[i].is(cOther|cPerson|cDoc) || !s.items[i].known {
			return false
		}
	}
	return false
}

// subject reports whether a person stands right before a word that forbids: "the manager must not", 客户不能. Of such a denial the person
// is the subject, and nobody is told.
func (s sentence) subject(at, deny int) bool {
	for i := at + 1; i < deny; i++ {
		if !s.items[i].is(cFill) {
			return s.items[i].is(cSay)
		}
	}
	return true
}

// denial reads what stands behind a word that forbids, or, for one that comes last, before it.
func (s sentence) denial(at int) (Found, bool) {
	it := s.items[at]
	f := Found{Effect: Deny, Text: s.text, Standing: s.has(cStanding), Ask: s.has(cApproval) || s.conditional(at)}
	if it.is(cPost) && !it.is(cDeny|cModal|cGerund) {
		return s.fill(f, s.items[:at], 0)
	}
	if it.is(cHandsOff) || s.leaves(at) {
		g, _ := s.fill(f, s.items[at+1:], 0)
		g.Actions = nil
		if len(g.Targets) == 0 && g.Env == "" {
			g, _ = s.fill(f, s.items[:at], 0)
			g.Actions = nil
		}
		return g, len(g.Targets) > 0 || g.Env != ""
	}
	rest := s.items[at+1:]
	if undone(rest) || it.is(cCannot) && !s.told(at) || it.is(cModal) && !it.is(cYou) && len(rest) > 0 && rest[0].is(cMe) && !rest[0].is(cYou) {
		return Found{}, false
	}
	forms := base | noun
	switch {
	case it.is(cGerund) && it.is(cDeny|cModal):
		forms = base | noun | gerund | past
	case it.is(cGerund):
		forms = gerund | noun
	case it.is(cModal):
		forms = base | past | gerund | noun
	}
	f, ok := s.fill(f, rest, forms)
	if !ok || it.is(cGerund) && happened(rest) || slices.Equal(f.Actions, []string{"read"}) && at > 0 && !s.items[at-1].known {
		return f, false
	}
	if topic := s.items[:at]; len(f.Targets) == 0 || f.Env == "" { // 生产实例不要重启: what it is about stands first
		g, _ := s.fill(Found{}, untilComma(topic), 0)
		if len(f.Targets) == 0 {
			f.Targets = g.Targets
		}
		if f.Env == "" {
			f.Env = g.Env
		}
	}
	return f, true
}

// untilComma is what stands behind the last comma that is not the last word.
func untilComma(items []item) []item {
	for i := len(items) - 2; i >= 0; i-- {
		if items[i].comma() {
			return items[i+1:]
		}
	}
	return items
}

// undone reports whether a denial is turned around by what follows it: forget, worry, not.
func undone(rest []item) bool {
	for _, it := range rest {
		switch {
		case it.is(cUndo) && !it.is(cAction):
			return true
		case it.is(cFill), it.is(cYou):
		default:
			return false
		}
	}
	return false
}

// happened reports whether what follows "no" is told, and not forbidden: "no refund has arrived".
func happened(rest []item) bool {
	at := slices.IndexFunc(rest, func(i item) bool { return i.is(cAction) })
	return at >= 0 && at+1 < len(rest) && rest[at+1].is(cState) && !rest[at+1].is(cFill)
}

// told reports whether 不能 or "cannot" tells somebody what to do, and does not say what is: "you can't", or a Chinese sentence without a
// subject or with a thing as its topic.
func (s sentence) told(at int) bool {
	if s.has(cQuestion) {
		return false // 不能重启的原因是什么
	}
	if s.items[at].token.kind == word {
		return at > 0 && s.items[at-1].is(cYou)
	}
	for i := at - 1; i >= 0; i-- {
		if s.items[i].is(cMe | cOther) {
			return false
		}
	}
	if at > 0 && !s.items[at-1].is(cYou) && at+1 < len(s.items) && slices.Equal(s.items[at+1].actions, []string{"start"}) {
		return false // 服务不能启动 is what has happened
	}
	return !slices.ContainsFunc(s.items[at+1:], func(i item) bool { return i.is(cState) })
}

// conditional reports whether a condition stands before a place.
func (s sentence) conditional(at int) bool {
	return slices.ContainsFunc(s.items[:at], func(i item) bool {
		return i.is(cCond) && !i.is(cFill|cStanding)
	})
}

// fill takes actions, targets and the environment from words, up to one that ends their reach. With forms, there must be an action in one of
// them, near the beginning; without, any.
func (s sentence) fill(f Found, items []item, forms int) (Found, bool) {
	acted, strange := false, 0
	for i, it := range items {
		switch {
		case it.is(cAction) && (forms == 0 || it.form&forms != 0 || it.token.kind == han) && !(acted && it.is(cNoun) && it.token.kind != han && i > 0 && items[i-1].is(cFill|cEnv)):
			if !acted && strange > maxStrange {
				return f, false
			}
			f.Actions, acted = join(f.Actions, it.actions), true
		case it.comma() && !acted && strange == 0 && aside(items[:i]): // "never, under any circumstances, ..."
		case it.comma():
			if !acted || !enumerates(items[i+1:]) {
				return done(f, acted)
			}
		case it.is(cStop) && acted && !it.is(cFill), it.is(cApproval), it.is(forbids) && acted:
			return done(f, acted)
		case it.is(cEnv):
			f.Env = it.value
		case it.is(cNoun):
			f.Targets = append(f.Targets, it.text)
		case it.is(cState) && forms != 0 && !acted && !it.is(cFill):
			return f, false
		case it.known:
		case it.token.kind == quoted, it.token.kind == word && named(it.text):
			f.Targets = append(f.Targets, it.text)
		case it.token.kind == han:
			strange++
		case it.token.kind == word:
			strange += 3
		}
	}
	return done(f, acted)
}

func done(f Found, acted bool) (Found, bool) {
	if slices.Contains(f.Actions, anything) {
		f.Actions = nil
	}
	return f, acted
}

// enumerates reports whether a list of actions goes on behind a comma: "restart, stop or delete", and not "call me, write instead".
func enumerates(items []item) bool {
	if len(items) == 0 || !items[0].is(cAction|cFill) {
		return false
	}
	or := slices.IndexFunc(items, func(i item) bool {
		return slices.Contains([]string{"or", "nor", "或", "或者", "以及"}, foldText(i.text))
	})
	stop := slices.IndexFunc(items, func(i item) bool { return i.is(cStop) && !i.is(cFill) })
	return or >= 0 && (stop < 0 || stop > or)
}

// aside reports whether words add nothing to what is forbidden.
func aside(items []item) bool {
	return !slices.ContainsFunc(items, func(i item) bool { return !i.comma() && !i.is(cStanding|cFill) })
}

// maxStrange is how much may stand between a word that forbids and what it forbids that the lexicon does not know: characters, and words
// at three characters each.
const maxStrange = 6

// named reports whether a word looks like the name of something: payment-api, svc17, 10.0.0.1.
func named(w string) bool { return strings.ContainsAny(w, "-_./:0123456789") }

func join(to, more []string) []string {
	for _, a := range more {
		if !slices.Contains(to, a) {
			to = append(to, a)
		}
	}
	return to
}

// elsewhere turns a denial that is about all but one environment, or that allows only one, into denials for the others.
func (s sentence) elsewhere(f Found) []Found {
	spared := ""
	for i, it := range s.items {
		if it.is(cExcept) {
			for _, next := range s.items[i+1:] {
				if next.is(cEnv) {
					spared = next.value
					break
				}
			}
		}
	}
	if spared == "" {
		return []Found{f}
	}
	var out []Found
	for _, env := range []string{Production, Testing, Development} {
		if env != spared {
			g := f
			g.Env = env
			out = append(out, g)
		}
	}
	return out
}

// approvals finds what needs the user's word without being forbidden: 重启前先问我, "ask me before you restart", "refunds need my approval".
func (s sentence) approvals() []Found {
	at := slices.IndexFunc(s.items, func(i item) bool { return i.is(cApproval) })
	if at < 0 || s.vetoed(at) {
		return nil
	}
	f := Found{Effect: Deny, Text: s.text, Standing: s.has(cStanding), Ask: true}
	if g, ok := s.fill(f, s.items[at+1:], 0); ok {
		return []Found{g}
	}
	if g, ok := s.fill(f, s.items[:at], 0); ok {
		return []Found{g}
	}
	return nil
}

// permit finds what takes denials back.
func (s sentence) permit() (Found, bool) {
	f := Found{Effect: Permit, Text: s.text, Standing: s.has(cStanding), All: s.has(cAll)}
	if s.conditional(len(s.items)) {
		return f, false // whether the condition holds is for the user to say
	}
	for i, it := range s.items {
		switch {
		case it.is(cRevoke) && (s.has(cBan) || s.has(cAll)) && !s.vetoed(i) && !s.negated(i):
			g, _ := s.fill(f, s.items[i+1:], 0)
			return g, true
		case it.is(cPermit) && !s.vetoed(i) && !s.negated(i) && !s.other(i):
			if g, ok := s.fill(f, s.items[i+1:], 0); ok {
				return g, true
			}
			if g, ok := s.fill(f, s.items[:i], 0); ok {
				return g, true
			}
		}
	}
	return f, false
}

func (s sentence) negated(at int) bool {
	return at > 0 && s.items[at-1].is(cNot|forbids) || at > 1 && s.items[at-2].is(cNot) && s.items[at-1].is(cFill)
}

// other reports whether somebody else than the one who is told is the subject.
func (s sentence) other(at int) bool {
	for i := at - 1; i >= 0 && !s.items[i].comma(); i-- {
		if s.items[i].is(cMe) && !s.items[i].is(cYou) && s.items[at].token.kind != word || s.items[i].is(cOther|cPerson) {
			return true
		}
	}
	return false
}

// rule finds what an assistant is told to do from now on, or how it is to answer.
func (s sentence) rule() (Found, bool) {
	f := Found{Effect: Rule, Text: s.text, Standing: s.has(cStanding)}
	if s.has(cOnce) || s.has(cQuestion|cOther|cDoc|cCond) && !s.has(cStanding) {
		return f, false
	}
	for i, it := range s.items {
		if it.is(cStanding) && s.vetoed(i) {
			return f, false
		}
	}
	first := slices.IndexFunc(s.items, func(i item) bool { return !i.is(cFill|cStanding|cYou|cMe) && !i.comma() })
	if first < 0 {
		return f, false
	}
	styled := s.has(cStyle)
	orders := s.items[first].is(cBehave | cDeny | cGerund)
	return f, orders && (styled || s.has(cStanding) && s.has(cBehave))
}
