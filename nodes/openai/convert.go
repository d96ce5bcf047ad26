package openai

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

type (
	wireMessage = openai.ChatCompletionMessageParamUnion
	wirePart    = openai.ChatCompletionContentPartUnionParam
)

func (m *Model) params(r nodes.Request) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{Model: m.o.Model, Tools: tools(r.Tools)}
	p.StreamOptions.IncludeUsage = param.NewOpt(true)
	if r.NoCalls && len(r.Tools) > 0 {
		p.ToolChoice.OfAuto = param.NewOpt("none")
	}
	if m.o.Temperature != nil {
		p.Temperature = param.NewOpt(*m.o.Temperature)
	}
	m.limit(&p)
	messages := r.Messages
	if r.Output != nil {
		if m.o.PlainJSON {
			messages = instruct(messages, *r.Output)
		}
		p.ResponseFormat = m.format(*r.Output)
	}
	p.Messages = m.messages(messages)
	return p
}

// limit uses the name that the endpoint knows: OpenAI's newer models refuse the old one, others ignore or refuse the new one.
func (m *Model) limit(p *openai.ChatCompletionNewParams) {
	switch {
	case m.o.MaxTokens == 0:
	case m.host == "api.openai.com" || strings.HasSuffix(m.host, ".openai.azure.com"):
		p.MaxCompletionTokens = param.NewOpt(int64(m.o.MaxTokens))
	default:
		p.MaxTokens = param.NewOpt(int64(m.o.MaxTokens))
	}
}

func tools(list []working.Tool) (out []openai.ChatCompletionToolUnionParam) {
	for _, t := range list {
		f := shared.FunctionDefinitionParam{Name: t.Name}
		if t.Description != "" {
			f.Description = param.NewOpt(t.Description)
		}
		schema := t.Schema
		if schema == "" {
			schema = `{"type":"object","properties":{}}`
		}
		f.SetExtraFields(map[string]any{"parameters": json.RawMessage(schema)}) // a map would lose its order, and long numbers
		out = append(out, openai.ChatCompletionFunctionTool(f))
	}
	return out
}

func (m *Model) format(o nodes.Output) (f openai.ChatCompletionNewParamsResponseFormatUnion) {
	if m.o.PlainJSON {
		f.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
		return f
	}
	schema := shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: o.Name, Schema: o.Schema}
	f.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: schema}
	return f
}

// instruct adds the schema to the last of the instructions at the beginning, or begins with it: many templates take a message
// of the system nowhere else.
func instruct(messages []message.Message, o nodes.Output) []message.Message {
	text := "Answer with a JSON document and nothing else. Its JSON Schema is:\n" + string(o.Schema)
	n := 0
	for n < len(messages) && messages[n].Role == message.RoleSystem {
		n++
	}
	out := append([]message.Message(nil), messages...)
	if n == 0 {
		return append([]message.Message{message.System(text)}, out...)
	}
	out[n-1] = message.System(out[n-1].Text() + "\n\n" + text)
	return out
}

// A writer turns a history into wire messages.
type writer struct {
	reasoning bool
	out       []wireMessage
	images    []wirePart // of results, kept until the last result of the group is written
	count     int        // of those images
}

func (m *Model) messages(history []message.Message) []wireMessage {
	w := writer{reasoning: m.o.SendReasoning}
	for _, m := range history {
		if m.Role != message.RoleTool {
			w.flush()
		}
		switch m.Role {
		case message.RoleSystem:
			w.out = append(w.out, openai.SystemMessage(m.Text()))
		case message.RoleUser:
			w.user(m)
		case message.RoleAssistant:
			w.assistant(m)
		case message.RoleTool:
			for _, r := range m.Results() {
				w.result(r)
			}
		}
	}
	w.flush()
	return w.out
}

// flush writes the images of results as a message of the user.
func (w *writer) flush() {
	if w.images != nil {
		w.out = append(w.out, openai.UserMessage(w.images))
	}
	w.images, w.count = nil, 0
}

func (w *writer) user(m message.Message) {
	var parts []wirePart
	pictures := false
	for _, p := range m.Parts {
		switch p.Kind {
		case message.KindText:
			parts = append(parts, openai.TextContentPart(p.Text))
		case message.KindImage:
			parts, pictures = append(parts, picture(p.Image)), true
		}
	}
	if !pictures {
		w.out = append(w.out, openai.UserMessage(m.Text()))
		return
	}
	w.out = append(w.out, openai.UserMessage(parts))
}

func (w *writer) assistant(m message.Message) {
	text, calls := m.Text(), m.Calls()
	if text == "" && len(calls) == 0 {
		return // nothing but reasoning, which alone is no message here
	}
	var a openai.ChatCompletionAssistantMessageParam
	if text != "" {
		a.Content.OfString = param.NewOpt(text)
	}
	for _, c := range calls {
		f := openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: c.Args}
		a.ToolCalls = append(a.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{ID: c.ID, Function: f}})
	}
	if r := reasoning(m); r != "" && w.reasoning {
		a.SetExtraFields(map[string]any{"reasoning_content": r})
	}
	w.out = append(w.out, wireMessage{OfAssistant: &a})
}

func reasoning(m message.Message) string {
	var texts []string
	for _, p := range m.Parts {
		if p.Kind == message.KindReasoning && p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func (w *writer) result(r message.Result) {
	var lines []string
	if t := r.Text(); !blank(t) {
		lines = append(lines, t)
	}
	for _, p := range r.Parts {
		if p.Kind == message.KindImage {
			lines = append(lines, w.image(r, p.Image))
		}
	}
	if lines == nil {
		lines = []string{"(no output)"}
	}
	text := strings.Join(lines, "\n")
	if r.Failed() {
		text = fmt.Sprintf("[%s] %s", r.Status, text)
	}
	w.out = append(w.out, openai.ToolMessage(text, r.CallID))
}

// image keeps an image for the message after the results, and returns the note that stands in its place.
func (w *writer) image(r message.Result, m *message.Image) string {
	w.count++
	label := fmt.Sprintf("Image %d, of the result of call %s (%s):", w.count, r.CallID, r.Name)
	w.images = append(w.images, openai.TextContentPart(label), picture(m))
	return fmt.Sprintf("[image %d: see the message after the results]", w.count)
}

func picture(m *message.Image) wirePart {
	address := m.URL
	if address == "" {
		kind := m.MediaType
		if kind == "" {
			kind = http.DetectContentType(m.Data)
		}
		address = "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(m.Data)
	}
	return openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: address})
}
