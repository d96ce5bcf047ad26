package message

import "slices"

// An askedCall is a call of a history that is being repaired.
type askedCall struct {
	Call
	given   string // its id in the history
	owner   *piece
	part    int // its index in owner.Parts
	among   *namesakes
	latest  bool    // no later message uses its id
	stays   bool    // it is left open
	interim *answer // the last one before the final result
	final   *answer // the first one
}

// An answer is a result of a history that is being repaired.
type answer struct {
	Result
	from    *piece     // nil if the history lacked it
	to      *askedCall // nil if it is dropped
	changed bool
}

// pair finds the call of each result. What is then one result too many, or answers nothing, is dropped.
func (r *repairer) pair() {
	forms := make([]Message, len(r.pieces))
	for i, p := range r.pieces {
		forms[i] = p.form
		if p.copied { // its results may have come late, though it did not
			forms[i].Parts = slices.DeleteFunc(slices.Clone(p.form.Parts), func(p Part) bool { return p.Kind != KindResult })
		}
	}
	p := pair(forms)
	r.ask(p.calls)
	for _, placed := range p.results {
		a := &answer{Result: placed.Result, from: r.pieces[placed.message]}
		if placed.call < 0 {
			r.drop(RuleOrphan, a, "a result that answers no call before it was dropped")
		} else {
			r.answer(a, r.calls[placed.place])
		}
	}
}

// ask lists the calls, which stand in the pieces in the same order.
func (r *repairer) ask(placed []placedCall) {
	latest := map[string]*piece{}
	for _, p := range r.pieces {
		for i, part := range p.Parts {
			if part.Kind == KindCall {
				id := part.Call.ID
				r.calls = append(r.calls, &askedCall{Call: *part.Call, given: id, owner: p, part: i, among: placed[len(r.calls)].among})
				r.callIDs.seen(id)
				latest[id] = p
			}
		}
	}
	for _, c := range r.calls {
		c.latest = latest[c.given] == c.owner
	}
}

func (r *repairer) answer(a *answer, c *askedCall) {
	if c.final != nil {
		r.drop(RuleOnce, a, "a result of a call that had its final one was dropped")
		return
	}
	a.to = c
	r.answers = append(r.answers, a)
	if c.interim != nil {
		r.drop(RuleOnce, c.interim, "an interim result was dropped for the next one")
		c.interim = nil
	}
	if a.Interim {
		c.interim = a
	} else {
		c.final = a
	}
}

func (r *repairer) drop(rule Rule, a *answer, detail string) {
	a.to = nil
	r.fix(rule, a.from, a.CallID, detail, Part{Kind: KindResult, Result: &a.Result})
}
