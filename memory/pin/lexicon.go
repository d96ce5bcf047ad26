package pin

import (
	"slices"
	"strings"
)

// A class says what a phrase does in a sentence. A phrase may do several things.
type class uint64

const (
	cDeny     class = 1 << iota // an imperative: "do not", 不要
	cModal                      // forbids whoever the subject is: "must not", 不准
	cCannot                     // forbids or states: "cannot", 不能
	cGerund                     // forbids what follows as a noun: "no", "stop", "avoid"
	cPost                       // forbids what came before: "is forbidden", 不行
	cHandsOff                   // forbids every change of what follows: "hands off"
	cAction
	cNoun
	cEnv
	cStanding // "from now on", 以后
	cApproval // not without the user's word: "without my approval", 先问我
	cOnly     // "only in": forbids elsewhere
	cExcept   // "except in"
	cQuestion
	cSay   // somebody's words follow
	cDoc   // a document or log, which says things too
	cMe    // I, we
	cYou   // you, and whoever is told: anyone
	cOther // he, they
	cPerson
	cCond   // if
	cThen   // then
	cHypo   // if only, would have
	cUndo   // turns a denial around or takes its object: forget, worry
	cNot    // not
	cFill   // says nothing of its own
	cStop   // ends the reach of a denial: but, instead
	cPermit // you may
	cRevoke // lift, forget, take back
	cBan    // what can be revoked: the restriction, what I said
	cLatest
	cAll
	cBehave // what a standing rule tells an assistant to do
	cStyle  // language, form, length
	cOnce   // this time
	cTag    // ok?
	cState  // a statement follows: will, is
	cCourtesy
)

// The forms of an English verb. Chinese has one.
const (
	base = 1 << iota
	gerund
	past
	third
	noun
)

// An entry is one phrase of the lexicon.
type entry struct {
	tokens  []string
	class   class
	actions []string // of cAction; "*" is every change
	form    int      // of cAction
	value   string   // of cEnv and cNoun: the canonical name
}

// lexicon holds the phrases by their first token, longest first.
var lexicon = buildLexicon()

func buildLexicon() map[string][]entry {
	all := map[string]entry{} // by phrase, so that classes of equal phrases add up
	add := func(phrase string, e entry) {
		var key []string
		for _, t := range scan(nil, phrase, 0, len(phrase)) {
			key = append(key, t.text)
		}
		k := strings.Join(key, " ")
		old := all[k]
		e.tokens, e.class, e.form = key, e.class|old.class, e.form|old.form
		e.actions = append(slices.Clone(old.actions), e.actions...)
		if e.value == "" {
			e.value = old.value
		}
		all[k] = e
	}
	for _, p := range phrases {
		for phrase := range strings.SplitSeq(p.words, "|") {
			add(phrase, entry{class: p.class, value: p.value})
		}
	}
	for _, v := range verbs {
		for phrase := range strings.SplitSeq(v.zh, "|") {
			add(phrase, entry{class: cAction, actions: v.actions(), form: base | gerund | noun})
		}
		for phrase := range strings.FieldsSeq(v.en) {
			for form, text := range conjugate(phrase) {
				add(text, entry{class: cAction, actions: v.actions(), form: form})
			}
		}
		for phrase := range strings.FieldsSeq(v.nouns) {
			add(strings.ReplaceAll(phrase, "_", " "), entry{class: cAction, actions: v.actions(), form: noun})
		}
	}
	out := map[string][]entry{}
	for _, e := range all {
		if len(e.tokens) > 0 {
			out[e.tokens[0]] = append(out[e.tokens[0]], e)
		}
	}
	for _, es := range out {
		slices.SortFunc(es, func(a, b entry) int { return len(b.tokens) - len(a.tokens) })
	}
	return out
}

// conjugate returns the forms of an English verb: "roll_back" inflects its first word, "send/sent/sending" names its own.
func conjugate(v string) map[int]string {
	head, tail, _ := strings.Cut(v, "_")
	tail = strings.ReplaceAll(tail, "_", " ")
	join := func(s string) string { return strings.TrimSpace(s + " " + tail) }
	own := strings.Split(head, "/")
	if len(own) == 3 {
		return map[int]string{base: join(own[0]), past: join(own[1]), gerund: join(own[2]), third: join(own[0] + "s")}
	}
	stem, s := head, head+"s"
	switch {
	case strings.HasSuffix(head, "ee"), strings.HasSuffix(head, "ye"):
	case strings.HasSuffix(head, "e"):
		stem = head[:len(head)-1]
	case strings.HasSuffix(head, "y") && !strings.ContainsAny(head[len(head)-2:len(head)-1], "aeiou"):
		return map[int]string{base: join(head), past: join(head[:len(head)-1] + "ied"), gerund: join(head + "ing"), third: join(head[:len(head)-1] + "ies")}
	case strings.HasSuffix(head, "h"), strings.HasSuffix(head, "s"), strings.HasSuffix(head, "x"):
		s = head + "es"
	}
	return map[int]string{base: join(head), past: join(stem + "ed"), gerund: join(stem + "ing"), third: join(s)}
}

// match returns the longest phrase that tokens begin with.
func match(ts []token) (entry, bool) {
	for _, e := range lexicon[ts[0].text] {
		if len(e.tokens) <= len(ts) && equalTexts(e.tokens, ts) {
			return e, true
		}
	}
	return entry{}, false
}

func equalTexts(want []string, ts []token) bool {
	for i, w := range want {
		if ts[i].kind == quoted || ts[i].text != w {
			return false
		}
	}
	return true
}
