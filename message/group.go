package message

// A Group is a part of a history that is kept or dropped as a whole.
type Group struct {
	Start    int       // index of the first message in the history
	Messages []Message // a part of the history, not a copy
}

// Groups splits a history where it may be cut. An assistant message with calls stays together with all that follows up
// to the last result of its calls; every other message is a group alone. The groups are in order, leave nothing out and
// overlap nowhere, whatever the history looks like. It takes linear time.
func Groups(history []Message) []Group {
	end := make([]int, len(history)) // index of the last message that belongs to the calls of message i
	for i := range end {
		end[i] = i
	}
	for _, p := range pair(history).results {
		if p.call >= 0 {
			end[p.call] = max(end[p.call], p.message)
		}
	}
	var groups []Group
	for start := 0; start < len(history); {
		last := end[start]
		for i := start; i <= last; i++ {
			last = max(last, end[i])
		}
		groups = append(groups, Group{Start: start, Messages: history[start : last+1 : last+1]})
		start = last + 1
	}
	return groups
}

// Open returns the calls of a history that have no final result, in their order.
func Open(history []Message) []Call {
	var open []Call
	for _, c := range pair(history).calls {
		if c.finals == 0 {
			open = append(open, c.Call)
		}
	}
	return open
}

// A placedCall is a call and where it stands.
type placedCall struct {
	Call
	message int  // index of the assistant message
	finals  int  // results that are not interim
	interim int  // results that are
	again   bool // its id was used by an earlier call
	among   *namesakes
}

// A placedResult is a result and the call that it answers.
type placedResult struct {
	Result
	message int // index of the tool message
	call    int // index of the assistant message, -1 if there is none before it
	place   int // index in pairs.calls, if there is a call
}

type pairs struct {
	calls   []placedCall
	results []placedResult
}

// pair finds for each result the call that it answers: of the latest message before it that has a call with the same id.
// Some providers count ids from zero in each turn, so an id alone does not name a call. Others give none, and go by the name
// of the tool and the order: so of several calls of one message with one id it is the first with the name that is open.
func pair(history []Message) pairs {
	var p pairs
	latest := map[string]*namesakes{}
	for i, m := range history {
		for _, part := range m.Parts {
			switch {
			case part.Kind == KindCall && part.Call != nil:
				n := latest[part.Call.ID]
				p.calls = append(p.calls, placedCall{Call: *part.Call, message: i, again: n != nil})
				if n == nil || n.message != i {
					n = &namesakes{message: i}
					latest[part.Call.ID] = n
				}
				p.add(n)
			case part.Kind == KindResult && part.Result != nil:
				p.results = append(p.results, p.place(*part.Result, i, latest[part.Result.CallID]))
			}
		}
	}
	return p
}

func (p *pairs) place(r Result, at int, n *namesakes) placedResult {
	if n == nil {
		return placedResult{Result: r, message: at, call: -1}
	}
	place := p.next(n, r.Name)
	c := &p.calls[place]
	if r.Interim {
		c.interim++
	} else {
		c.finals++
	}
	return placedResult{Result: r, message: at, call: c.message, place: place}
}

// namesakes are the calls of one message that have one id, by their index in pairs.calls. Those that are answered are taken
// off the front, except for the last.
type namesakes struct {
	message int
	calls   []int
	byName  map[string][]int // nil as long as there is one call
}

// add adds the last call.
func (p *pairs) add(n *namesakes) {
	last := len(p.calls) - 1
	p.calls[last].among = n
	n.calls = append(n.calls, last)
	switch {
	case n.byName != nil:
	case len(n.calls) > 1:
		first := n.calls[0]
		n.byName = map[string][]int{p.calls[first].Name: {first}}
	default:
		return
	}
	name := p.calls[last].Name
	n.byName[name] = append(n.byName[name], last)
}

// next returns the call that the next result of a tool answers. It has a final result only if all have.
func (p *pairs) next(n *namesakes, name string) int {
	if named, ok := n.byName[name]; ok {
		n.byName[name] = p.skipAnswered(named)
		return n.byName[name][0]
	}
	n.calls = p.skipAnswered(n.calls)
	return n.calls[0]
}

func (p *pairs) skipAnswered(calls []int) []int {
	for len(calls) > 1 && p.calls[calls[0]].finals > 0 {
		calls = calls[1:]
	}
	return calls
}
