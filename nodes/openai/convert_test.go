package openai_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
	"github.com/holdfast-go/holdfast/nodes/openai"
	"github.com/holdfast-go/holdfast/nodes/openaitest"
)

var png = []byte("\x89PNG\r\n\x1a\n")

func text(s ...string) (out []openaitest.Part) {
	for _, t := range s {
		out = append(out, openaitest.Part{Text: t})
	}
	return out
}

// What the provider received is what was sent.
func TestConvert(t *testing.T) {
	t.Parallel()
	c1 := message.Call{ID: "c1", Name: "track", Args: `{ "parcel" : "P-\u0037", "n": 12345678901234567890 }`}
	c2 := message.Call{ID: "c2", Name: "look", Args: `{"<&>":"é😀\n"}`}
	thought := message.Assistant("It is in Lyon.", c1, c2)
	thought.Parts = append([]message.Part{message.Reasoning("Where?", "sig")}, thought.Parts...)
	only := message.Assistant("")
	only.Parts = []message.Part{message.Reasoning("Hm.", "")}
	shown := c2.Done("Here.")
	shown.Parts = append(shown.Parts, message.ImageData("image/png", png))
	refused := message.Call{ID: "c3", Name: "look", Args: "{}"}
	silent := message.Call{ID: "c4", Name: "look", Args: "{}"}
	image := "data:image/png;base64,iVBORw0KGgo="

	messages := []message.Message{
		message.System("You help."), message.System("With orders."),
		message.User("Where is it?", message.Text("Quick.")),
		message.User("And this?", message.ImageURL("https://example.com/a.png"), message.ImageData("image/png", png)),
		thought, message.Tool(shown), message.Tool(c1.Done("in Lyon")),
		message.Assistant("", refused, silent),
		message.Tool(refused.Ended(message.StatusDenied, "The user says no."), message.Result{CallID: "c4", Name: "look", Status: message.StatusOK}),
		only, message.User("Thanks."),
	}
	if err := message.Valid(messages); err != nil {
		t.Fatal(err)
	}
	want := []openaitest.Message{
		{Role: "system", Parts: text("You help.")},
		{Role: "system", Parts: text("With orders.")},
		{Role: "user", Parts: text("Where is it?\nQuick.")},
		{Role: "user", Parts: []openaitest.Part{{Text: "And this?"}, {ImageURL: "https://example.com/a.png"}, {ImageURL: image}}},
		{Role: "assistant", Parts: text("It is in Lyon."), Reasoning: "Where?", Calls: []openaitest.Call{openaitest.Call(c1), openaitest.Call(c2)}},
		{Role: "tool", CallID: "c2", Parts: text("Here.\n[image 1: see the message after the results]")},
		{Role: "tool", CallID: "c1", Parts: text("in Lyon")},
		{Role: "user", Parts: []openaitest.Part{{Text: "Image 1, of the result of call c2 (look):"}, {ImageURL: image}}},
		{Role: "assistant", Calls: []openaitest.Call{openaitest.Call(refused), openaitest.Call(silent)}},
		{Role: "tool", CallID: "c3", Parts: text("[denied] The user says no.")},
		{Role: "tool", CallID: "c4", Parts: text("(no output)")},
		{Role: "user", Parts: text("Thanks.")},
	}
	for _, send := range []bool{true, false} {
		m, p := provide(t, replies(openaitest.Reply{Text: "Yes."}), openai.Options{SendReasoning: send})
		ask(t, m, nodes.Request{Messages: messages})
		if !send {
			want[4].Reasoning = ""
		}
		if got := p.Requests()[0].Messages; !reflect.DeepEqual(got, want) {
			t.Errorf("SendReasoning %v: got\n%+v\nwant\n%+v", send, got, want)
		}
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	zero := 0.0
	schema := `{"type":"object","properties":{"z":{"type":"string"},"a":{"const":12345678901234567890}},"required":["z"]}`
	tools := []working.Tool{{Name: "b", Description: "Does b.", Schema: schema}, {Name: "a", Schema: `{"type":"object"}`}, {Name: "c"}}
	m, p := provide(t, replies(openaitest.Reply{Text: "Yes."}, openaitest.Reply{Text: "Yes."}), openai.Options{MaxTokens: 77, Temperature: &zero, Model: "m-1"})
	ask(t, m, nodes.Request{Messages: hello().Messages, Tools: tools, NoCalls: true})
	ask(t, m, nodes.Request{Messages: hello().Messages, NoCalls: true})
	got := p.Requests()[0]
	want := []openaitest.Tool{{Name: "b", Description: "Does b.", Schema: schema}, {Name: "a", Schema: `{"type":"object"}`},
		{Name: "c", Schema: `{"type":"object","properties":{}}`}}
	if !reflect.DeepEqual(got.Tools, want) {
		t.Errorf("tools: got %+v, want %+v", got.Tools, want)
	}
	if got.ToolChoice != "none" || got.Model != "m-1" || got.MaxTokens != 77 || got.Temperature == nil || *got.Temperature != 0 ||
		!got.Stream || !got.IncludeUsage || got.APIKey != key {
		t.Errorf("parameters: %+v", got)
	}
	if !strings.Contains(got.Body, `"max_tokens":77`) {
		t.Error("another endpoint than OpenAI's needs max_tokens")
	}
	if c := p.Requests()[1].ToolChoice; c != "" {
		t.Errorf("tool_choice %q without tools", c)
	}
}

func TestOutput(t *testing.T) {
	t.Parallel()
	out := &nodes.Output{Name: "verdict", Schema: json.RawMessage(`{"type":"object","properties":{"z":{},"a":{}}}`)}
	system := []message.Message{message.System("One."), message.System("Two."), message.User("Hello")}
	for _, c := range []struct {
		name     string
		plain    bool
		messages []message.Message
		format   string
		texts    []string // of the messages; schema stands for the instruction
	}{
		{"schema", false, system, "json_schema", []string{"One.", "Two.", "Hello"}},
		{"plain", true, system, "json_object", []string{"One.", "Two.\n\n$", "Hello"}},
		{"plain without instructions", true, system[2:], "json_object", []string{"$", "Hello"}},
	} {
		m, p := provide(t, replies(openaitest.Reply{Text: "{}"}), openai.Options{PlainJSON: c.plain})
		ask(t, m, nodes.Request{Messages: c.messages, Output: out})
		got := p.Requests()[0]
		if got.Format != c.format || !c.plain && (got.FormatName != "verdict" || got.FormatSchema != string(out.Schema)) {
			t.Errorf("%s: format %s %s %s", c.name, got.Format, got.FormatName, got.FormatSchema)
		}
		instruction := "Answer with a JSON document and nothing else. Its JSON Schema is:\n" + string(out.Schema)
		var texts []string
		for _, m := range got.Messages {
			texts = append(texts, strings.ReplaceAll(m.Text(), instruction, "$"))
		}
		if !reflect.DeepEqual(texts, c.texts) {
			t.Errorf("%s: messages %q, want %q", c.name, texts, c.texts)
		}
	}
	if system[1].Text() != "Two." {
		t.Error("the caller's messages were written to")
	}
}
