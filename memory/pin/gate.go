package pin

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/holdfast-go/holdfast/internal/strictjson"
	"github.com/holdfast-go/holdfast/message"
)

// A Tool says what a tool does. Its author knows; where Actions is empty and ReadOnly is false, the gate goes by the words of the name
// and the arguments.
type Tool struct {
	Name     string
	Actions  []string // canonical names, or words that the lexicon knows; "execute" for what runs commands
	ReadOnly bool     // it changes nothing
}

// A Decision is what the gate says to a call.
type Decision uint8

// The decisions, the strictest last.
const (
	Allow Decision = iota
	Ask            // a person must confirm exactly this call: show it, and pass its Hash as approved
	Block
)

// String is the decision's name.
func (d Decision) String() string { return [...]string{"allow", "ask", "block"}[min(d, Block)] }

// A Verdict is the gate's decision about one call.
type Verdict struct {
	Decision Decision
	Pin      Pin    // that decided; zero for Allow
	Reason   string // for the user and the model, in the language of the pin's words; "" for Allow
}

// Gate decides whether a tool may be called. Every call goes through it, whatever the prompt said. approved are the hashes (Hash) of calls
// that the user has confirmed: a call that is changed afterwards has another one. Give an approval once, to the call it was made for: one that is
// kept would also pass a denial that comes later.
//
// It fails closed. A denial stops a call of what it forbids, unless an argument proves that the call is about something else: another
// environment, or another name where the denial has one. Where that is open (no environment is named), and where nothing tells what a
// tool does, the decision is Ask.
func Gate(pins []Pin, call message.Call, tool Tool, approved ...string) Verdict {
	if slices.Contains(approved, Hash(call)) {
		return Verdict{}
	}
	c := newMatter(call, tool)
	var worst Verdict
	for _, p := range pins {
		if p.Effect != Deny {
			continue
		}
		if d, why := c.judge(p); d > worst.Decision {
			worst = Verdict{d, p, reason(p, call, d, why)}
		}
	}
	return worst
}

// Hash identifies a call by the tool's name and the arguments. Spaces and the order of properties do not count; the call's id does not
// either.
func Hash(call message.Call) string {
	args := []byte(call.Args)
	if v, err := decode(call.Args); err == nil && strictjson.Check(args) == nil {
		if b, err := json.Marshal(v); err == nil {
			args = b
		}
	}
	h := sha256.New()
	fmt.Fprintf(h, "%d %s ", len(call.Name), call.Name)
	h.Write(args)
	return hex.EncodeToString(h.Sum(nil))
}

func decode(args string) (v any, err error) {
	d := json.NewDecoder(strings.NewReader(args))
	d.UseNumber()
	if err = d.Decode(&v); err == nil && d.More() {
		err = fmt.Errorf("bytes behind the arguments")
	}
	return v, err
}

// A matter is one call as the gate sees it.
type matter struct {
	actions []string
	unknown bool // nothing tells what the tool does
	dark    bool // not all of the arguments was read: they prove nothing
	wide    bool // it may reach more than it names: a wildcard, or a line of several commands
	envs    []string
	nouns   []string // canonical, of the tool's name and its properties: values prove nothing
	names   []string // words that look like names of things, folded
	words   string   // all of them, folded
}

func newMatter(call message.Call, tool Tool) *matter {
	c := &matter{}
	if name := cmp.Or(tool.Name, call.Name); name != call.Name {
		tool = Tool{} // what is said of another tool says nothing of this one
	}
	name := call.Name
	var args arguments
	v, err := decode(call.Args)
	if err != nil {
		args.command("", call.Args)
		args.dark = args.dark || strings.TrimSpace(call.Args) != ""
	} else {
		args.walk("", v, 0)
		if strictjson.Check([]byte(call.Args)) != nil { // of two equal names readers take either value
			args.command("", call.Args)
			args.dark = true
		}
	}
	for _, a := range tool.Actions {
		if known := canonical(a); known != nil {
			c.actions = join(c.actions, known)
		} else {
			c.unknown = true
		}
	}
	byName := actionsIn(pieces(name))
	if len(tool.Actions) == 0 && !tool.ReadOnly {
		c.actions = byName
	}
	if (len(c.actions) == 0 || slices.Contains(c.actions, "execute")) && !tool.ReadOnly {
		c.unknown = c.unknown || args.dark
		runs := slices.Contains(c.actions, "execute")
		for _, s := range args.all {
			several := strings.ContainsAny(s, ";&|`$<>\n")
			c.actions = join(c.actions, spoken(s, runs && several))
			c.wide = c.wide || runs && several
			c.unknown = c.unknown || runs && several && !slices.ContainsFunc(c.actions, func(a string) bool { return a != "execute" && a != "read" })
		}
	}
	if len(tool.Actions) == 0 && !slices.Contains(byName, "read") && !tool.ReadOnly {
		for _, s := range args.all { // update_service {"operation": "restart"}
			if ts := pieces(s[:min(len(s), 64)]); len(ts) <= maxOperation && len(s) <= 64 {
				c.actions = join(c.actions, actionsIn(ts))
			}
		}
	}
	if args.zero && slices.Contains(c.actions, "scale") {
		c.actions = join(c.actions, []string{"stop"})
	}
	if tool.ReadOnly {
		c.actions = []string{"read"}
	}
	c.unknown, c.dark = c.unknown || len(c.actions) == 0, args.dark
	c.look(args, name)
	return c
}

// spoken are the actions in one argument. In a line of several commands the first one says nothing about the rest.
func spoken(s string, several bool) []string {
	if !several {
		return actionsIn(pieces(s))
	}
	var out []string
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(";&|`$()<>\n", r) }) {
		out = join(out, actionsIn(pieces(part)))
	}
	return out
}

// maxOperation is how many words of an argument may name what an undeclared tool is to do. More are what it writes or sends.
const maxOperation = 3

// look finds out what the call is about.
func (c *matter) look(args arguments, name string) {
	c.wide = c.wide || slices.ContainsFunc(args.all, everything)
	for _, s := range append(slices.Clone(args.all), args.free...) {
		c.words += " " + foldText(s)
	}
	about := args.all
	for _, s := range about {
		for _, w := range strings.Fields(foldText(s)) {
			if named(w) {
				c.names = append(c.names, w)
			}
			if strings.Contains(strings.ReplaceAll(w, "product", ""), "prod") { // prodpay01
				c.envs = join(c.envs, []string{Production})
			}
		}
	}
	if envs := envsIn(args.env); len(envs) > 0 {
		c.envs = join(c.envs, envs)
		said := map[string]bool{}
		for _, s := range args.env {
			said[s] = true
		}
		about = slices.DeleteFunc(slices.Clone(about), func(s string) bool { return said[s] })
	}
	for _, s := range about {
		c.envs = join(c.envs, envsIn([]string{s}))
	}
	c.envs = join(c.envs, envsIn([]string{name}))
	if slices.Contains(c.actions, "execute") {
		return // what a command is about its words do not prove
	}
	for _, s := range append(slices.Clone(args.keys), name) {
		for _, e := range entriesIn(pieces(s)) {
			if e.class&cNoun != 0 && e.value != "" {
				c.nouns = join(c.nouns, []string{e.value})
			}
		}
	}
}

// judge decides by one denial.
func (c *matter) judge(p Pin) (d Decision, why string) {
	hit := slices.ContainsFunc(c.actions, func(a string) bool { return reaches(p.Actions, a) })
	switch {
	case !hit && !c.unknown:
		return Allow, ""
	case !c.dark && c.elsewhere(p):
		return Allow, ""
	case p.Ask:
		return Ask, "word"
	case c.unlike(p):
		return Ask, "thing"
	case !hit:
		return Ask, "tool"
	case p.Env != "" && len(c.envs) == 0:
		return Ask, "env"
	}
	return Block, ""
}

// elsewhere reports whether the call is proved to be about another environment, or another name, than the denial.
func (c *matter) elsewhere(p Pin) bool {
	if c.wide {
		return false
	}
	if p.Env != "" && len(c.envs) > 0 && !slices.Contains(c.envs, p.Env) {
		return true
	}
	theirs := names(p.Targets)
	said := slices.ContainsFunc(theirs, func(n string) bool { return strings.Contains(c.words, n) || slices.ContainsFunc(c.names, like(n)) })
	return len(theirs) > 0 && len(c.names) > 0 && !said
}

// everything reports whether an argument means more than one thing: "*", or a property "all" that is true.
func everything(s string) bool {
	s = foldText(strings.TrimSpace(s))
	return strings.Contains(s, "*") || slices.Contains([]string{"all", "any", "everything", "全部", "所有"}, s)
}

// like returns whether a name may be another spelling of one (payment_api), or is of another kind (10.0.0.3), so that the two cannot be compared.
func like(name string) func(string) bool {
	letters := func(s string) bool { return strings.ContainsFunc(s, unicode.IsLetter) }
	return func(other string) bool {
		return letters(name) != letters(other) || strings.Contains(simple(other), simple(name)) && digits(other) == digits(name)
	}
}

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

// unlike reports whether the call seems to be about another kind of thing. That proves nothing: a contract is a file.
func (c *matter) unlike(p Pin) bool {
	var kinds []string
	for _, t := range p.Targets {
		if named(t) {
			return false
		}
		for _, e := range entriesIn(pieces(t)) {
			if e.class&cNoun != 0 {
				kinds = append(kinds, e.value)
			}
		}
	}
	return len(kinds) > 0 && len(c.nouns) > 0 &&
		!slices.ContainsFunc(c.nouns, func(n string) bool { return slices.ContainsFunc(kinds, func(k string) bool { return akin(k, n) }) })
}

// akin reports whether two things are of one family: what one name says of a service another says of its instances.
func akin(a, b string) bool {
	return a == b || slices.ContainsFunc(families, func(f []string) bool { return slices.Contains(f, a) && slices.Contains(f, b) })
}

var families = [][]string{
	{"instance", "service", "cluster", "config", "queue", "cache", "domain"},
	{"database", "table", "data", "index", "backup", "file", "log", "key", "account"},
	{"customer", "user", "mail", "ticket", "account"},
	{"code", "branch"},
	{"money", "payment", "invoice", "price", "subscription"},
}
