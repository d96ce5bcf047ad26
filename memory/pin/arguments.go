package pin

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/holdfast-go/holdfast/internal/strictjson"
)

// arguments are the texts in a call, by what they can tell.
type arguments struct {
	keys []string
	all  []string // values, and names of properties where those are data
	env  []string // values of properties that name the environment
	free []string // texts for people, such as a reason: they prove nothing and forbid nothing
	zero bool     // a size is set to nothing
	dark bool     // not all of them was read: too long, or of more than one meaning
	seen map[[2]string]bool
}

// first reports whether a text comes under a property for the first time: a list of a million says what one of each kind says.
func (a *arguments) first(key, s string) bool {
	k := [2]string{key, s}
	if a.seen[k] {
		return false
	}
	if a.seen == nil {
		a.seen = map[[2]string]bool{}
	}
	a.seen[k] = true
	return true
}

const maxDepth = 32 // deeper arguments are taken as text

func (a *arguments) walk(key string, v any, depth int) {
	if depth > maxDepth {
		b, err := json.Marshal(v)
		if err == nil {
			a.command(key, string(b))
		}
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if a.first(k, "") {
				a.keys = append(a.keys, k)
			}
			a.walk(k, v[k], depth+1)
		}
	case []any:
		for _, x := range v {
			a.walk(key, x, depth+1)
		}
	case string:
		if a.first(key, v) {
			a.text(key, v, depth)
		}
	case json.Number:
		a.zero = a.zero || v.String() == "0" && sizes[simple(key)]
		if a.first(key, v.String()) {
			a.all = append(a.all, v.String())
		}
	case bool:
		if v && a.first(key, "true") {
			a.all = append(a.all, key) // {"restart": true}
		}
	}
}

func (a *arguments) text(key, s string, depth int) {
	if inner, err := decode(s); err == nil { // JSON inside JSON
		switch inner.(type) {
		case map[string]any, []any:
			a.dark = a.dark || strictjson.Check([]byte(s)) != nil
			a.walk(key, inner, depth+1)
			return
		}
	}
	a.zero = a.zero || strings.TrimSpace(s) == "0" && sizes[simple(key)]
	switch k := simple(key); {
	case envKeys[k]:
		a.env, a.all = append(a.env, s), append(a.all, s)
		a.dark = a.dark || len(s) > maxArgument
	case freeKeys[k]:
		a.free = append(a.free, s)
	default:
		a.command(key, s)
	}
}

func (a *arguments) command(_, s string) {
	a.all = append(a.all, s)
	a.dark = a.dark || len(s) > maxArgument
	a.zero = a.zero || strings.Contains(s, "replicas=0") || strings.Contains(s, "replicas 0")
}

// simple is a property's name without dress.
func simple(key string) string {
	return strings.Map(func(r rune) rune {
		if r = fold(r); !unicode.IsLetter(r) {
			return -1
		}
		return r
	}, key)
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

var (
	envKeys  = set("env environment stage 环境 deploymentenvironment targetenv envname environmentname")
	freeKeys = set("reason comment note notes description why justification explanation remark remarks rationale purpose title summary 原因 备注 说明 理由")
	sizes    = set("replicas replica count size instances desired desiredcount capacity min max num number nodes target 数量 副本数")
)

// pieces are the words of a text, and the parts of those that are put together: payment-prod-3 and restartInstance.
func pieces(s string) []token {
	if len(s) > maxArgument {
		s = s[:maxArgument/2] + " " + s[len(s)-maxArgument/2:]
	}
	var parts []string
	for _, t := range scan(nil, s, 0, len(s)) {
		switch t.kind {
		case mark:
			parts = append(parts, t.text)
		case quoted:
			parts = append(parts, split(s[t.start:t.end])...)
		default:
			parts = append(parts, split(s[t.start:t.end])...)
		}
	}
	var out []token
	for _, p := range parts {
		for _, t := range scan(nil, p, 0, len(p)) {
			if t.kind == quoted {
				t.kind = word
			}
			out = append(out, t)
		}
	}
	return out
}

const maxArgument = 64 << 10 // bytes of one text that are looked at, half of it from either end

// split cuts a word at capitals behind small letters, at digits and at punctuation.
func split(s string) (out []string) {
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			out = append(out, b.String())
			b.Reset()
		}
	}
	var before rune
	for _, r := range s {
		switch {
		case !unicode.IsLetter(r) && fold(r) != -1 && !unicode.IsLetter(fold(r)) && r != '\'':
			flush()
		case unicode.IsUpper(r) && unicode.IsLower(before):
			flush()
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
		before = r
	}
	flush()
	return out
}

// entriesIn are the phrases of the lexicon in some words.
func entriesIn(ts []token) (out []entry) {
	for i := 0; i < len(ts); {
		if e, ok := match(ts[i:]); ok {
			out, i = append(out, e), i+len(e.tokens)
			continue
		}
		i++
	}
	return out
}

// actionsIn are the actions that words name. Words that only read make "read" if nothing else is named.
func actionsIn(ts []token) (out []string) {
	reads := false
	for _, t := range ts {
		reads = reads || readers[t.text]
	}
	for _, e := range entriesIn(ts) {
		if e.class&cAction == 0 {
			continue
		}
		for _, a := range e.actions {
			if a != anything && a != "read" {
				out = join(out, []string{a})
			}
			reads = reads || a == "read"
		}
	}
	if reads && (len(out) == 0 || len(ts) > 0 && readers[ts[0].text]) {
		return []string{"read"}
	}
	return out
}

// readers begin the names of tools that read.
var readers = set("get list query search find show describe fetch read view lookup check count status inspect retrieve select explain tail cat grep ls stat watch preview estimate compute calculate parse summarize translate think plan now time date weather whoami help")

// envsIn are the environments that texts name.
func envsIn(texts []string) (out []string) {
	for _, s := range texts {
		for _, e := range entriesIn(pieces(s)) {
			if e.class&cEnv != 0 {
				out = join(out, []string{e.value})
			}
		}
	}
	return out
}
