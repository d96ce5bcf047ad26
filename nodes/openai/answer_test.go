package openai_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
	"github.com/holdfast-go/holdfast/nodes/openai"
	"github.com/holdfast-go/holdfast/nodes/openaitest"
)

var calls = []openaitest.Call{
	{ID: "c1", Name: "write", Args: `{"text":"Grüße, 世界 😀 \u00e9\n\"","n":1}`},
	{ID: "c2", Name: "write", Args: `{}`},
	{ID: "c3", Name: "read", Args: `{"a":[{"b":"😀😀"}, 12345678901234567890 ]}`},
}

var full = openaitest.Reply{Text: "Grüße, 世界 😀😀!", Reasoning: "Hm 😀, 世…", Calls: calls,
	Usage: &openaitest.Usage{Input: 100, Cached: 80, Output: 20, Reasoning: 7}}

// told puts deltas together as a caller would.
type told struct {
	text, reasoning string
	calls           []message.Call
	broken          string
}

func (d *told) add(p nodes.Delta) {
	d.text += p.Text
	d.reasoning += p.Reasoning
	if strings.ContainsRune(fmt.Sprint(p.Text, p.Reasoning), '\uFFFD') {
		d.broken = "a character was split"
	}
	if p.Call == nil {
		return
	}
	if p.Call.Index == len(d.calls) {
		d.calls = append(d.calls, message.Call{})
	}
	c := &d.calls[p.Call.Index]
	c.ID, c.Name, c.Args = c.ID+p.Call.ID, c.Name+p.Call.Name, c.Args+p.Call.Args
}

func styles() map[string]openaitest.Style {
	return map[string]openaitest.Style{
		"as OpenAI":           {},
		"byte by byte":        {Piece: 1},
		"two bytes":           {Piece: 2},
		"three bytes":         {Piece: 3},
		"interleaved":         {Interleave: true, Piece: 1},
		"whole":               {Whole: true},
		"one index":           {OneIndex: true},
		"one index, whole":    {OneIndex: true, Whole: true},
		"one index, every id": {OneIndex: true, EveryID: true, Interleave: false},
		"no index":            {NoIndex: true},
		"no index, every id":  {NoIndex: true, EveryID: true, Interleave: true},
		"every id":            {EveryID: true, Interleave: true},
		"escapes":             {Escape: true, Piece: 1},
		"escapes, whole":      {Escape: true, Whole: true, Piece: 1000},
		"reasoning":           {Reasoning: "reasoning"},
		"lines, comments":     {CRLF: true, Comments: true},
	}
}

// Whatever the style of the stream, the answer is the same, and so is what was told while it arrived.
func TestStyles(t *testing.T) {
	t.Parallel()
	for name, style := range styles() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := full
			r.Style = style
			m, _ := provide(t, replies(r), openai.Options{})
			var d told
			a, err := m.Generate(within(t), hello(), d.add)
			if err != nil {
				t.Fatal(err)
			}
			same(t, a, r)
			if d.text != r.Text || d.reasoning != r.Reasoning || !reflect.DeepEqual(d.calls, a.Message.Calls()) || d.broken != "" {
				t.Errorf("told %+v", d)
			}
			if want := (nodes.Usage{Input: 100, Cached: 80, Output: 20, Reasoning: 7}); a.Usage != want || a.Model != "test" || a.Stop != nodes.StopEnd {
				t.Errorf("usage %+v, model %q, stop %q", a.Usage, a.Model, a.Stop)
			}
		})
	}
}

// same reports what of a reply is not in the answer, byte for byte.
func same(t *testing.T, a nodes.Answer, r openaitest.Reply) {
	t.Helper()
	var got []openaitest.Call
	for _, c := range a.Message.Calls() {
		got = append(got, openaitest.Call(c))
	}
	if !slices.Equal(got, r.Calls) {
		t.Errorf("calls: got %q, want %q", got, r.Calls)
	}
	if a.Message.Text() != r.Text || reasoning(a.Message) != r.Reasoning {
		t.Errorf("got text %q, reasoning %q", a.Message.Text(), reasoning(a.Message))
	}
	if a.Message.Role != message.RoleAssistant || a.Message.ID == "" || a.Message.Partial {
		t.Errorf("the message is %+v", a.Message)
	}
}

func reasoning(m message.Message) string {
	for _, p := range m.Parts {
		if p.Kind == message.KindReasoning {
			return p.Text
		}
	}
	return ""
}

// Calls without ids get some, those with one id get different ones, and the caller is told.
func TestMadeIDs(t *testing.T) {
	t.Parallel()
	twice := []openaitest.Call{{ID: "read", Name: "read", Args: `{"a":1}`}, {ID: "read", Name: "read", Args: `{"a":2}`}}
	for name, r := range map[string]openaitest.Reply{
		"no ids":                   {Calls: calls, Style: openaitest.Style{NoIDs: true}},
		"no ids, interleaved":      {Calls: calls, Style: openaitest.Style{NoIDs: true, Interleave: true, Piece: 1}},
		"no ids, one index, whole": {Calls: calls, Style: openaitest.Style{NoIDs: true, OneIndex: true, Whole: true}},
		"no ids, no index, whole":  {Calls: calls, Style: openaitest.Style{NoIDs: true, NoIndex: true, Whole: true}},
		"one id":                   {Calls: twice, Style: openaitest.Style{Interleave: true}},
		"one id, always":           {Calls: twice, Style: openaitest.Style{EveryID: true, Interleave: true}},
	} {
		m, _ := provide(t, replies(r), openai.Options{})
		var d told
		a, err := m.Generate(within(t), hello(), d.add)
		if err != nil {
			t.Fatal(name, err)
		}
		got := a.Message.Calls()
		if len(got) != len(r.Calls) || !reflect.DeepEqual(got, d.calls) {
			t.Fatalf("%s: got %+v, told %+v", name, got, d.calls)
		}
		ids := map[string]bool{"": true}
		for i, c := range got {
			if ids[c.ID] || c.Name != r.Calls[i].Name || c.Args != r.Calls[i].Args {
				t.Errorf("%s: call %d is %+v, want %+v", name, i, c, r.Calls[i])
			}
			ids[c.ID] = true
		}
	}
}

func TestEndings(t *testing.T) {
	t.Parallel()
	half := []openaitest.Call{calls[0], {ID: "c9", Name: "write", Args: `{"text":"and th`}}
	for name, c := range map[string]struct {
		reply openaitest.Reply
		kind  nodes.ErrorKind // "": success
		stop  nodes.Stop
	}{
		"length":               {openaitest.Reply{Text: "And th", Finish: "length"}, "", nodes.StopLength},
		"length after calls":   {openaitest.Reply{Calls: calls, Finish: "length"}, "", nodes.StopLength},
		"length inside a call": {openaitest.Reply{Text: "So:", Calls: half, Finish: "length"}, nodes.KindCut, ""},
		"length before a call's arguments": {openaitest.Reply{Calls: []openaitest.Call{{ID: "c1", Name: "drop"}}, Finish: "length"},
			nodes.KindCut, ""},
		"no arguments":   {openaitest.Reply{Calls: []openaitest.Call{{ID: "c1", Name: "list"}}}, "", nodes.StopEnd},
		"filter":         {openaitest.Reply{Text: "How to", Finish: "content_filter"}, nodes.KindFiltered, ""},
		"no capacity":    {openaitest.Reply{Text: "How to", Finish: "insufficient_system_resource"}, nodes.KindUnavailable, ""},
		"unknown reason": {openaitest.Reply{Text: "How to", Finish: "error"}, nodes.KindCut, ""},
		"empty":          {openaitest.Reply{}, nodes.KindEmpty, ""},
		"blank":          {openaitest.Reply{Text: " \n"}, nodes.KindEmpty, ""},
		"only reasoning": {openaitest.Reply{Reasoning: "Hm."}, nodes.KindEmpty, ""},
		"no usage":       {openaitest.Reply{Text: "Yes.", Style: openaitest.Style{NoUsage: true}}, "", nodes.StopEnd},
		"no [DONE]":      {openaitest.Reply{Text: "Yes.", Style: openaitest.Style{NoDone: true}}, nodes.KindCut, ""},
		"no finish":      {openaitest.Reply{Text: "Yes.", Style: openaitest.Style{NoFinish: true}}, nodes.KindCut, ""},
		"no name":        {openaitest.Reply{Calls: []openaitest.Call{{ID: "c1", Args: "{}"}}}, nodes.KindInvalid, ""},
		"lost calls":     {openaitest.Reply{Text: "I'll see.", Finish: "tool_calls"}, nodes.KindCut, ""},
		"refusal":        {openaitest.Reply{Refusal: "I will not."}, "", nodes.StopEnd},
	} {
		m, _ := provide(t, replies(c.reply), openai.Options{})
		a, err := m.Generate(within(t), hello(), nil)
		if nodes.KindOf(err) != c.kind || (err == nil) != (c.kind == "") || a.Stop != c.stop {
			t.Errorf("%s: stop %q, error %v", name, a.Stop, err)
			continue
		}
		if text := a.Message.Text(); text != strings.TrimSpace(c.reply.Text+c.reply.Refusal) {
			t.Errorf("%s: text %q", name, text)
		}
		if err != nil && (!a.Message.Partial || len(a.Message.Calls()) > 0 || reasoning(a.Message) != c.reply.Reasoning) {
			t.Errorf("%s: the rest of the answer is %+v", name, a.Message)
		}
		if err == nil && len(a.Message.Calls()) != len(c.reply.Calls) {
			t.Errorf("%s: calls %+v", name, a.Message.Calls())
		}
	}
}

// A model that refuses to fill a form in has not filled it in.
func TestRefusalOfOutput(t *testing.T) {
	t.Parallel()
	m, _ := provide(t, replies(openaitest.Reply{Refusal: "I will not."}), openai.Options{})
	r := hello()
	r.Output = &nodes.Output{Name: "verdict", Schema: []byte(`{"type":"object"}`)}
	a, err := m.Generate(within(t), r, nil)
	if nodes.KindOf(err) != nodes.KindFiltered || a.Message.Text() != "I will not." {
		t.Error(a, err)
	}
}

// A blank text beside calls is told but not kept: no provider would take it back.
func TestBlankBesideCalls(t *testing.T) {
	t.Parallel()
	m, _ := provide(t, replies(openaitest.Reply{Text: "\n\n", Calls: calls}), openai.Options{})
	a := ask(t, m, hello())
	if len(a.Message.Parts) != len(calls) {
		t.Errorf("parts %+v", a.Message.Parts)
	}
}

// Cancelled at any event, an answer is an error of the context, and what had arrived is kept without calls.
func TestCancelAtEveryEvent(t *testing.T) {
	t.Parallel()
	r := full
	r.Style = openaitest.Style{Piece: 4, Interleave: true}
	events := len(r.Events(openaitest.Request{IncludeUsage: true}))
	whole := 0
	for at := range events - 1 { // after the last one it is whole
		ctx, cancel := context.WithCancel(t.Context())
		r.Sent = func(event int) {
			if event == at {
				cancel()
				<-ctx.Done()
			}
		}
		m, _ := provide(t, openaitest.Config{Answer: func(openaitest.Request) openaitest.Reply { return r }}, openai.Options{})
		var d told
		a, err := m.Generate(ctx, hello(), d.add)
		if kept(t, r, a, err, d) {
			whole++ // the end was faster
		}
		cancel()
	}
	if whole > events/2 {
		t.Errorf("%d of %d answers were not cancelled", whole, events)
	}
}

// kept checks what came of an answer that may have been cut or cancelled anywhere. It reports whether it is whole.
func kept(t *testing.T, r openaitest.Reply, a nodes.Answer, err error, d told) bool {
	t.Helper()
	if err == nil {
		same(t, a, r)
		return true
	}
	if nodes.KindOf(err) == "" && !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	m := a.Message
	if !m.Partial || len(m.Calls()) > 0 || m.Text() != d.text || reasoning(m) != d.reasoning {
		t.Errorf("kept %+v, told %+v", m, d)
	}
	if !strings.HasPrefix(r.Text, d.text) || !strings.HasPrefix(r.Reasoning, d.reasoning) {
		t.Errorf("told %q and %q", d.text, d.reasoning)
	}
	return false
}
