package message

// An askedCall is a call of a history that is being repaired.
type askedCall struct {
	Call
	given   string // its id in the history
	owner   *piece
	part    int // its index in owner.Parts
	among   *namesake
	latest  bool    // no later message uses its id
	stays   bool    // it is left open
	interim *answer // the last one before the final result
	final   *answer // the first one
}

// An answer is a result of a history that is being repaired.
type answer struct {
	Result
	from    *piece     // nil if the history lacked it
	to      *askedCall // nil if there is none before it
	changed bool
}

// A namesake holds the calls of one message that have one id. Providers without ids leave them all empty and go by the
// name of the tool.
type namesake struct {
	owner  *piece
	calls  []*askedCall
	byName map[string][]*askedCall
	stay   bool // one of them is left open, and keeps the id
}

// pair finds the call of each result as the function pair does, and among calls of one message that share an id the first
// of the same name that is still open. What is then one result too many, or answers nothing, is dropped.
func (r *repairer) pair() {
	latest := map[string]*namesake{}
	for _, p := range r.pieces {
		calls := 0 // parts that are no results
		for _, part := range p.form.Parts {
			switch {
			case part.Kind == KindResult:
				r.answer(&answer{Result: *part.Result, from: p}, latest[part.Result.CallID])
				continue
			case part.Kind == KindCall && !p.copied:
				c := &askedCall{Call: *part.Call, given: part.Call.ID, owner: p, part: calls}
				if n := latest[c.ID]; n == nil || n.owner != p {
					latest[c.ID] = &namesake{owner: p, byName: map[string][]*askedCall{}}
				}
				latest[c.ID].add(c)
				r.calls = append(r.calls, c)
				r.callIDs.seen(c.ID)
			}
			calls++
		}
	}
	for _, c := range r.calls {
		c.latest = latest[c.given].owner == c.owner
	}
}

func (n *namesake) add(c *askedCall) {
	c.among = n
	n.calls = append(n.calls, c)
	n.byName[c.Name] = append(n.byName[c.Name], c)
}

// next returns the call that the next result of a tool of some name answers. It has a final result only if all have.
func (n *namesake) next(name string) *askedCall {
	if calls, ok := n.byName[name]; ok {
		n.byName[name] = skipAnswered(calls)
		return n.byName[name][0]
	}
	n.calls = skipAnswered(n.calls)
	return n.calls[0]
}

func skipAnswered(calls []*askedCall) []*askedCall {
	for len(calls) > 1 && calls[0].final != nil {
		calls = calls[1:]
	}
	return calls
}

func (r *repairer) answer(a *answer, n *namesake) {
	if n == nil {
		r.drop(RuleOrphan, a, "a result that answers no call before it was dropped")
		return
	}
	c := n.next(a.Name)
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
	r.fix(rule, a.from, a.CallID, detail, Part{Kind: KindResult, Result: &a.Result})
}
