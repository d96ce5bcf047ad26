package openaitest

import (
	"fmt"
	"strings"
)

// Events returns the events of a stream as they are sent, each with the empty line that ends it. A test that cuts streams takes
// their length.
func (r Reply) Events(q Request) []string {
	w := writer{style: r.Style, model: q.Model}
	w.delta(`"role":"assistant","content":""`)
	field := r.Style.Reasoning
	if field == "" {
		field = "reasoning_content"
	}
	w.texts(field, r.Reasoning)
	w.texts("content", r.Text)
	w.texts("refusal", r.Refusal)
	w.calls(r.Calls)
	if !r.Style.NoFinish {
		w.chunk(fmt.Sprintf(`[{"index":0,"delta":{},"finish_reason":%s}]`, quote(r.finish(), false)), "null")
	}
	if q.IncludeUsage && !r.Style.NoUsage {
		w.chunk("[]", r.usage(q).json())
	}
	if !r.Style.NoDone {
		w.data("[DONE]")
	}
	if n := r.Style.Break; r.Error != nil && n > 0 {
		w.events = w.events[:min(n, len(w.events))]
		w.data(string(r.Error.json()))
	}
	return w.events
}

// A writer makes events in a style.
type writer struct {
	style  Style
	model  string
	events []string
}

func (w *writer) data(doc string) {
	end := "\n"
	if w.style.CRLF {
		end = "\r\n"
	}
	event := "data: " + doc + end + end
	if w.style.Comments {
		event = ": keep-alive" + end + end + event
	}
	w.events = append(w.events, event)
}

func (w *writer) chunk(choices, usage string) {
	w.data(fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":%s,"choices":%s,"usage":%s}`,
		quote(w.model, false), choices, usage))
}

func (w *writer) delta(fields string) {
	w.chunk(`[{"index":0,"delta":{`+fields+`},"finish_reason":null}]`, "null")
}

func (w *writer) texts(field, text string) {
	for _, p := range w.pieces(text) {
		w.delta(`"` + field + `":` + p)
	}
}

// calls writes the calls one after the other, or their pieces in turns.
func (w *writer) calls(calls []Call) {
	var queues [][]string
	for i, c := range calls {
		queues = append(queues, w.call(i, c))
	}
	for len(queues) > 0 {
		var rest [][]string
		for i, q := range queues {
			if i > 0 && !w.style.Interleave {
				rest = append(rest, q)
				continue
			}
			w.delta(`"tool_calls":[` + q[0] + `]`)
			if len(q) > 1 {
				rest = append(rest, q[1:])
			}
		}
		queues = rest
	}
}

// call returns the pieces of one call.
func (w *writer) call(i int, c Call) []string {
	if w.style.OneIndex {
		i = 0
	}
	index := fmt.Sprintf(`"index":%d,`, i)
	if w.style.NoIndex {
		index = ""
	}
	id := `"id":` + quote(c.ID, false) + `,`
	if w.style.NoIDs {
		id = ""
	}
	name := `"name":` + quote(c.Name, false) + `,`
	if w.style.Whole {
		return []string{"{" + index + id + `"function":{` + name + `"arguments":` + quote(c.Args, w.style.Escape) + "}}"}
	}
	out := []string{"{" + index + id + `"type":"function","function":{` + name + `"arguments":""}}`}
	if !w.style.EveryID {
		id, name = "", ""
	}
	for _, p := range w.pieces(c.Args) {
		out = append(out, "{"+index+id+`"function":{`+name+`"arguments":`+p+"}}")
	}
	return out
}

// pieces cuts a text and quotes the parts.
func (w *writer) pieces(text string) []string {
	n := w.style.Piece
	if n <= 0 {
		n = 16
	}
	if w.style.Escape {
		return escapedPieces(text, n)
	}
	var out []string
	for text != "" {
		n := min(n, len(text))
		out = append(out, quote(text[:n], false))
		text = text[n:]
	}
	return out
}

func (u Usage) json() string {
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d},`+
		`"completion_tokens_details":{"reasoning_tokens":%d}}`, u.Input, u.Output, u.Input+u.Output, u.Cached, u.Reasoning)
}

// completion is the answer to a request that does not stream.
func (r Reply) completion(q Request) string {
	message := `"role":"assistant","content":null`
	if r.Text != "" {
		message = `"role":"assistant","content":` + quote(r.Text, false)
	}
	if r.Reasoning != "" {
		message += `,"reasoning_content":` + quote(r.Reasoning, false)
	}
	if r.Refusal != "" {
		message += `,"refusal":` + quote(r.Refusal, false)
	}
	var calls []string
	for _, c := range r.Calls {
		calls = append(calls, fmt.Sprintf(`{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`,
			quote(c.ID, false), quote(c.Name, false), quote(c.Args, false)))
	}
	if calls != nil {
		message += `,"tool_calls":[` + strings.Join(calls, ",") + `]`
	}
	return fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":%s,"choices":[{"index":0,"message":{%s},`+
		`"finish_reason":%s}],"usage":%s}`, quote(q.Model, false), message, quote(r.finish(), false), r.usage(q).json())
}
