package message

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrInvalid is returned when a history breaks a rule. The error is an *InvalidError.
var ErrInvalid = errors.New("message: the history is invalid")

// A Rule is one of the rules that a history must obey.
type Rule string

// The rules. Together they are the strictest that known providers apply.
const (
	RuleForm      Rule = "form"      // a message is well formed: see Encode
	RuleEmpty     Rule = "empty"     // a message has parts, and its texts are not empty
	RuleFirst     Rule = "first"     // the first message that is not from the system is from the user
	RuleMessageID Rule = "messageid" // each message has an id of its own
	RuleCallID    Rule = "callid"    // each call has an id of its own
	RuleArgs      Rule = "args"      // the arguments of a call are a JSON object
	RuleOpen      Rule = "open"      // each call has a final result
	RuleOnce      Rule = "once"      // each call has no more than one result
	RuleOrphan    Rule = "orphan"    // each result answers a call before it
	RulePlace     Rule = "place"     // results follow their call with nothing between
)

// A Violation says which rule was broken, and where.
type Violation struct {
	Rule   Rule
	Index  int    // of the message in the history
	ID     string // of the message
	CallID string // of the call or result; "" if the rule is about messages
	Detail string
}

// String is one line.
func (v Violation) String() string {
	return fmt.Sprintf("message %d (%q): %s (rule %s)", v.Index, v.ID, v.Detail, v.Rule)
}

// An InvalidError lists every violation of a history, in the order of its messages. It matches ErrInvalid.
type InvalidError struct{ Violations []Violation }

// Error has one line for each violation.
func (e *InvalidError) Error() string {
	var b strings.Builder
	b.WriteString(ErrInvalid.Error())
	for _, v := range e.Violations {
		b.WriteString("\n\t" + v.String())
	}
	return b.String()
}

// Is reports whether target is ErrInvalid.
func (e *InvalidError) Is(target error) bool { return target == ErrInvalid }

// Valid returns nil if every provider takes the history, else an *InvalidError that lists all reasons. The empty history
// is valid. It takes linear time and changes nothing.
func Valid(history []Message) error {
	v := validator{history: history, byMessage: make([][]Violation, len(history))}
	v.messages()
	p := pair(history)
	v.calls(p)
	v.results(p)
	var all []Violation
	for _, found := range v.byMessage {
		all = append(all, found...)
	}
	if all == nil {
		return nil
	}
	return &InvalidError{Violations: all}
}

type validator struct {
	history   []Message
	byMessage [][]Violation
}

func (v *validator) add(rule Rule, at int, callID, detail string) {
	v.byMessage[at] = append(v.byMessage[at], Violation{Rule: rule, Index: at, ID: v.history[at].ID, CallID: callID, Detail: detail})
}

func (v *validator) messages() {
	ids := map[string]bool{}
	started := false
	for i, m := range v.history {
		switch {
		case m.ID == "":
			v.add(RuleMessageID, i, "", "it has no id")
		case ids[m.ID]:
			v.add(RuleMessageID, i, "", "an earlier message has the same id")
		}
		ids[m.ID] = true
		if !started && m.Role != RoleSystem {
			started = true
			if m.Role != RoleUser {
				v.add(RuleFirst, i, "", fmt.Sprintf("the conversation begins with role %q, not with the user", m.Role))
			}
		}
		if err := checkForm(m); err != nil {
			v.add(RuleForm, i, "", err.Error())
		}
		if hole := emptyPart(m); hole != "" {
			v.add(RuleEmpty, i, "", hole)
		}
	}
}

func emptyPart(m Message) string {
	if len(m.Parts) == 0 {
		return "it has no parts"
	}
	for i, p := range m.Parts {
		switch {
		case p.Kind == KindText && blank(p.Text):
			return fmt.Sprintf("part %d is an empty text", i)
		case p.Kind == KindResult && p.Result != nil && wordless(*p.Result):
			return fmt.Sprintf("part %d is a failed result without words", i)
		}
	}
	return ""
}

// blank reports whether a text says nothing: some providers refuse white space alone.
func blank(text string) bool { return strings.TrimSpace(text) == "" }

// wordless reports whether a result says that a call failed and not a word more, which some providers refuse.
func wordless(r Result) bool {
	return r.Failed() && !r.Interim && !slices.ContainsFunc(r.Parts, func(p Part) bool { return p.Kind == KindImage || !blank(p.Text) })
}

func (v *validator) calls(p pairs) {
	for _, c := range p.calls {
		switch {
		case c.ID == "":
			v.add(RuleCallID, c.message, "", "a call has no id")
		case c.again:
			v.add(RuleCallID, c.message, c.ID, fmt.Sprintf("an earlier call has the id %q too", c.ID))
		}
		if !isObject(c.Args) {
			v.add(RuleArgs, c.message, c.ID, fmt.Sprintf("the arguments of call %q are no JSON object", c.ID))
		}
		switch {
		case c.finals == 0:
			v.add(RuleOpen, c.message, c.ID, fmt.Sprintf("call %q has no final result", c.ID))
		case c.finals+c.interim > 1:
			v.add(RuleOnce, c.message, c.ID, fmt.Sprintf("call %q has %d results", c.ID, c.finals+c.interim))
		}
	}
}

func isObject(args string) bool {
	return strings.HasPrefix(strings.TrimLeft(args, " \t\r\n"), "{") && json.Valid([]byte(args))
}

func (v *validator) results(p pairs) {
	for _, r := range p.results {
		switch {
		case r.call < 0:
			v.add(RuleOrphan, r.message, r.CallID, fmt.Sprintf("a result answers call %q, which is not before it", r.CallID))
			continue
		case r.Name != p.calls[r.place].Name:
			v.add(RuleForm, r.message, r.CallID, fmt.Sprintf("the result of call %q names tool %q, the call names %q", r.CallID, r.Name, p.calls[r.place].Name))
		}
		for i := r.call + 1; i < r.message; i++ {
			if v.history[i].Role != RoleTool {
				v.add(RulePlace, r.message, r.CallID, fmt.Sprintf("between call %q and its result stands a message of role %q", r.CallID, v.history[i].Role))
				break
			}
		}
	}
}
