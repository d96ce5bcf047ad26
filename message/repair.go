package message

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// RepairOptions say what a history cannot know of its open calls. The zero value ends each of them as crashed, or as
// cancelled if the model was cut off while it wrote the call.
type RepairOptions struct {
	// Outcome says what came of a call that has no final result, so that the model learns the true cause:
	// c.Ended(StatusCancelled, "The user stopped the run."), or Result{Status: StatusCancelled} with a text of ours. The zero
	// Result is for calls of which nothing is known. Nil: nothing is known of any. It sees the call as the history has it,
	// and of several calls with one id only the latest; the earlier ones are over.
	Outcome func(c Call) Result

	// Pending reports whether a call may still end: a person is being asked, or the tool is at work. Such a call stays as it
	// is, open, and its last interim result with it. Nil: no call is pending. It sees the same calls as Outcome.
	Pending func(c Call) bool

	// Waiting is for a history that goes to a model, which takes no open call: the pending calls are answered with their
	// interim results, or else with this text ("Waiting for approval."). Do not store that answer: it would be final.
	Waiting string
}

// A Fix is one thing that Repair changed.
type Fix struct {
	Rule    Rule   // that was broken
	Index   int    // of the message in the history that was given
	ID      string // of the message, as it was given; "" if it had none
	CallID  string // as it was given; "" if this is not about a call
	Detail  string // what was done. It repeats nothing that a person or a tool said.
	Dropped []Part // what the history has lost by it; nil if it lost nothing
}

// String is one line.
func (f Fix) String() string {
	return fmt.Sprintf("message %d (%q): %s (rule %s)", f.Index, f.ID, f.Detail, f.Rule)
}

// Repair returns the history as every provider takes it, whatever broke it, and what it changed to that end, in the order
// of the messages. Each call is followed by its one final result. [Valid] of what it returns is nil, but for calls that are
// pending while o.Waiting is empty.
//
// It keeps the order, every text of the user and every first final result of a call. It drops copies of a message, results
// after the first final one and results of no call before them; Fix.Dropped has them. See the package's section on repair
// for all it does.
//
// It takes linear time, changes nothing that it is given, and does nothing the second time. Messages that were right come
// back as they were and share their parts with those given; if all were, so does the slice itself. The ids it gives are made
// from what the message says or answers, so they are the same wherever and whenever the same history is repaired.
func Repair(history []Message, o RepairOptions) ([]Message, []Fix) {
	if Valid(history) == nil {
		return history, nil
	}
	r := &repairer{history: history, o: o, fixes: make([][]Fix, len(history)), messageIDs: newIDs(), callIDs: newIDs()}
	r.read()
	r.name()
	r.pair()
	r.settle()
	repaired := r.write()
	fixes := slices.Concat(r.fixes...)
	if len(fixes) == 0 {
		return history, nil
	}
	return repaired, fixes
}

type repairer struct {
	history []Message
	o       RepairOptions
	pieces  []*piece // one for each message
	calls   []*askedCall
	answers []*answer // the results of the history, in order
	added   []*answer // those that it lacked
	fixes   [][]Fix   // by message

	messageIDs, callIDs ids
}

// A piece is what becomes of one message.
type piece struct {
	Message           // without its results; it goes if nothing is left
	form    Message   // well formed, with its results
	at      int       // its index
	after   *piece    // the last one before it that is not a tool's
	copied  bool      // it is a copy of an earlier one
	own     bool      // Parts is no part of what was given
	results int       // how many it holds
	follow  []*answer // the results of its calls
}

func (r *repairer) fix(rule Rule, p *piece, callID, detail string, dropped ...Part) {
	r.fixes[p.at] = append(r.fixes[p.at], Fix{Rule: rule, Index: p.at, ID: r.history[p.at].ID, CallID: callID, Detail: detail, Dropped: dropped})
}

// read makes the messages well formed one by one, and takes the results out of them.
func (r *repairer) read() {
	var speaker *piece
	for i, m := range r.history {
		p := &piece{form: m, at: i, after: speaker}
		if rule, reason := fault(m); reason != "" {
			var dropped []Part
			p.form, dropped = reform(m)
			done := "; it was put right"
			if len(p.form.Parts) == 0 {
				done = "; it was dropped"
			}
			r.fix(rule, p, "", reason+done, dropped...)
		}
		p.Message = p.form
		if isResult := func(p Part) bool { return p.Kind == KindResult }; slices.ContainsFunc(p.Parts, isResult) {
			p.Parts, p.own = slices.DeleteFunc(slices.Clone(p.Parts), isResult), true
			p.results = len(p.form.Parts) - len(p.Parts)
		}
		if p.Role != RoleTool {
			speaker = p
		}
		r.messageIDs.seen(p.ID)
		r.pieces = append(r.pieces, p)
	}
}

// name gives each message that stays an id of its own. Those of tools follow when it is known what is left of them.
func (r *repairer) name() {
	first := map[[2]string]bool{} // id and content
	for _, p := range r.pieces {
		if len(p.Parts) == 0 || r.messageIDs.once(p.ID) && r.messageIDs.keep(p.ID) {
			continue
		}
		switch key := [2]string{p.ID, fingerprint(p.form)}; {
		case p.ID != "" && first[key]:
			p.copied, p.Parts = true, nil
			r.fix(RuleMessageID, p, "", "it is a copy of an earlier message and was dropped")
		default:
			first[key] = true
			p.ID = r.messageID(p, p.form)
		}
	}
}

// messageID returns the id of a message that is made of p: its own, or a new one if it has none or another has it.
func (r *repairer) messageID(p *piece, m Message) string {
	if r.messageIDs.keep(p.form.ID) {
		return p.form.ID
	}
	r.fix(RuleMessageID, p, "", "it has no id of its own and was given one")
	return r.messageIDs.derive("message", p.form.ID, fingerprint(m))
}

// settle gives each call an id, arguments and one result, save those that are to stay open.
func (r *repairer) settle() {
	keepID := map[*namesakes]bool{} // because one of them stays open
	for _, c := range r.calls {
		c.stays = c.final == nil && r.o.Waiting == "" && r.pending(c)
		keepID[c.among] = keepID[c.among] || c.stays
	}
	for _, c := range r.calls {
		switch {
		case c.stays: // who brings the result knows the call by its id, and who allows it has seen its arguments
			r.callIDs.keep(c.ID)
			c.final = c.interim
		case c.final == nil && r.pending(c):
			r.wait(c)
		case c.final == nil:
			r.end(c)
		}
		if !c.stays {
			r.nameCall(c, keepID[c.among])
		}
		r.nameResult(c)
	}
	for _, a := range slices.Concat(r.answers, r.added) {
		if a.to != nil && a.to.final == a {
			a.to.owner.follow = append(a.to.owner.follow, a)
		}
	}
}

func (r *repairer) pending(c *askedCall) bool {
	return c.latest && r.o.Pending != nil && r.o.Pending(c.Call)
}

func (r *repairer) wait(c *askedCall) {
	r.fix(RuleOpen, c.owner, c.ID, fmt.Sprintf("call %q is pending, which the model was told", c.ID))
	if c.interim == nil {
		r.add(c, Result{Status: StatusOK, Parts: []Part{Text(validText(r.o.Waiting))}})
		return
	}
	c.final = c.interim
	c.final.Interim, c.final.changed = false, true
	if wordless(c.final.Result) {
		c.final.Parts = []Part{Text(validText(r.o.Waiting))}
	}
}

// end closes a call with what is known of it. What the tool had said until then stays.
func (r *repairer) end(c *askedCall) {
	outcome := r.outcome(c)
	r.fix(RuleOpen, c.owner, c.ID, fmt.Sprintf("call %q had no final result and was ended as %s", c.ID, outcome.Status))
	if c.interim == nil {
		r.add(c, outcome)
		return
	}
	c.final = c.interim
	c.final.Interim, c.final.changed = false, true
	c.final.Status, c.final.Parts = outcome.Status, slices.Concat(c.final.Parts, outcome.Parts)
}

func (r *repairer) add(c *askedCall, result Result) {
	c.final = &answer{Result: result, to: c, changed: true}
	r.added = append(r.added, c.final)
}

// endings are what a model reads of a call whose outcome comes without words.
var endings = map[Status]string{
	StatusOK:        "The call succeeded.",
	StatusError:     "The call failed.",
	StatusCancelled: "The call was stopped before it was done.",
	StatusCrashed:   "The call was interrupted. Its outcome is not known: do not assume that it ran, or that it did not.",
	StatusTimedOut:  "The call took too long and was given up. It may have taken effect.",
	StatusDenied:    "The call was forbidden. It did not run.",
}

func (r *repairer) outcome(c *askedCall) Result {
	var given Result
	if c.latest && r.o.Outcome != nil {
		given = r.o.Outcome(c.Call)
	}
	switch {
	case slices.Contains(statuses, given.Status):
	case c.cutOff():
		given = c.Ended(StatusCancelled, "The call was cut off while it was written. It did not run.")
	default:
		given = Result{Status: StatusCrashed}
	}
	parts, _ := reformParts(given.Parts, inResult)
	if len(parts) == 0 {
		parts = []Part{Text(endings[given.Status])}
	}
	return Result{Status: given.Status, Parts: parts}
}

// cutOff reports whether the model was cut off while it wrote the call: one with more behind it was whole by then, and one
// with an interim result has begun to run.
func (c *askedCall) cutOff() bool {
	return c.owner.Partial && c.part == len(c.owner.Parts)-1 && c.interim == nil
}

// nameCall sees to a call's id, which may be taken, and its arguments.
func (r *repairer) nameCall(c *askedCall, taken bool) {
	id := c.given
	if taken || !r.callIDs.keep(id) {
		c.ID = r.callIDs.derive("call", c.owner.ID, id)
		r.fix(RuleCallID, c.owner, id, fmt.Sprintf("call %q has no id of its own and was given %q, and its result with it", id, c.ID))
	}
	args := c.Args
	if !isObject(args) {
		c.Args = asObject(args)
		r.fix(RuleArgs, c.owner, id, fmt.Sprintf("the arguments of call %q are no JSON object and were put into one", id))
	}
	if c.ID != id || c.Args != args {
		c.owner.setCall(c.part, c.Call)
	}
}

// nameResult makes the result of a call, if there is one, name the call and its tool.
func (r *repairer) nameResult(c *askedCall) {
	a := c.final
	if a == nil || a.CallID == c.ID && a.Name == c.Name {
		return
	}
	if a.from != nil && a.Name != c.Name {
		r.fix(RuleForm, a.from, c.given, fmt.Sprintf("the result of call %q named another tool and was corrected", c.given))
	}
	a.CallID, a.Name, a.changed = c.ID, c.Name, true
}

func (p *piece) setCall(i int, c Call) {
	if !p.own {
		p.Parts, p.own = slices.Clone(p.Parts), true
	}
	p.Parts[i].Call = &c
}

// asObject returns arguments that are no JSON object as one that shows the model what it wrote: {"_raw": "..."}. Nothing,
// and null, mean no arguments.
func asObject(args string) string {
	switch strings.TrimSpace(args) {
	case "", "null":
		return "{}"
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(map[string]string{"_raw": args}) // neither strings nor a strings.Builder fail
	return strings.TrimSpace(b.String())
}

// write puts the messages together, each with the results of its calls behind it.
func (r *repairer) write() []Message {
	history := make([]Message, 0, len(r.history)+len(r.added)+1)
	begun := false
	for _, p := range r.pieces {
		if len(p.Parts) == 0 {
			continue
		}
		if !begun && p.Role != RoleSystem {
			begun = true
			if p.Role != RoleUser {
				r.fix(RuleFirst, p, "", "a message of the user was put before it")
				history = append(history, Message{ID: r.messageIDs.derive("begin", p.ID), Role: RoleUser, Parts: []Part{Text(beginning)}})
			}
		}
		history = append(history, p.Message)
		for rest := p.follow; len(rest) > 0; {
			n := 1
			for n < len(rest) && rest[n].from != nil && rest[n].from == rest[0].from {
				n++
			}
			history = append(history, r.toolMessage(p, rest[:n]))
			rest = rest[n:]
		}
	}
	return history
}

// beginning stands for the user where a conversation begins with the assistant. It must be true of a greeting, and of a
// history that was cut.
const beginning = "(The conversation begins here.)"

// toolMessage makes the message of results that came in one, or of one that was added.
func (r *repairer) toolMessage(owner *piece, answers []*answer) Message {
	m := Message{Role: RoleTool}
	changed := false
	for _, a := range answers {
		m.Parts = append(m.Parts, Part{Kind: KindResult, Result: &a.Result})
		changed = changed || a.changed
	}
	from := answers[0].from
	if from == nil {
		m.ID = r.messageIDs.derive("result", owner.ID, answers[0].CallID)
		return m
	}
	if from.after != owner && from != owner {
		for _, a := range answers {
			r.fix(RulePlace, from, a.to.given, fmt.Sprintf("the result of call %q was moved up to it", a.to.given))
		}
	}
	if from.form.Role == RoleTool && from.results == len(answers) && !changed {
		m.Parts = from.form.Parts
	}
	m.ID = r.messageID(from, m)
	return m
}
