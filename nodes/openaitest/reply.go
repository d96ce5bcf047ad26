package openaitest

import "time"

// A Reply is what the provider answers to one request. The zero value is an answer that says nothing.
type Reply struct {
	Text      string
	Reasoning string
	Refusal   string
	Calls     []Call
	Finish    string // finish_reason; "" is "tool_calls" if there are any, else "stop"
	Usage     *Usage // nil: counted by working.Estimate
	Style     Style

	Error *Error // instead of the answer, or after some events of it if Style.Break is above zero
	Cut   *Cut   // ends the stream before its time

	Delay time.Duration   // before each event
	Sent  func(event int) // called after each event has been sent, on the goroutine of the request; may be nil
}

// A Usage is what the provider says that it has counted.
type Usage struct {
	Input, Cached, Output, Reasoning int
}

// A Cut ends the body of a stream after some bytes.
type Cut struct {
	After int  // bytes; no cut if the stream is shorter
	Clean bool // the body ends as if it were whole, as a proxy makes it; else the connection breaks
}

// A Style is how a reply is written into a stream. The zero value is OpenAI's.
type Style struct {
	Piece      int    // bytes of text or arguments in an event, 16 by default; it may cut characters
	Interleave bool   // the arguments of several calls come in turns
	Whole      bool   // each call comes in one event, and says no type
	OneIndex   bool   // all calls have the index 0
	NoIndex    bool   // calls have no index
	NoIDs      bool   // calls have no ids
	EveryID    bool   // each piece of a call has its id and name, not just the first
	Escape     bool   // characters beyond ASCII are written as \u escapes, and pieces may cut pairs of them
	Reasoning  string // field of reasoning: "reasoning_content" by default
	NoUsage    bool   // no usage, even if the client asked for it
	NoDone     bool   // the stream ends without [DONE]
	NoFinish   bool   // no event has a finish_reason
	CRLF       bool   // lines end with CR LF
	Comments   bool   // comments stand between the events, as some send them to keep connections alive
	Break      int    // Reply.Error is sent as an event, after so many events
}

func (r Reply) finish() string {
	switch {
	case r.Finish != "":
		return r.Finish
	case len(r.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

// usage counts what was not told.
func (r Reply) usage(q Request) Usage {
	if r.Usage != nil {
		return *r.Usage
	}
	m := Message{Parts: []Part{{Text: r.Text}}, Calls: r.Calls, Reasoning: r.Reasoning}
	return Usage{Input: q.Tokens(), Output: Request{Messages: []Message{m}}.Tokens()}
}
