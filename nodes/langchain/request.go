package langchain

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

// messages converts a request. Reasoning stays behind: langchaingo has no part for it.
func (m *Model) messages(r nodes.Request) []llms.MessageContent {
	c := converter{provider: m.o.Provider}
	if r.Output != nil && !hasSystem(r.Messages) {
		c.add(llms.ChatMessageTypeSystem, llms.TextContent{Text: form(r.Output)})
	}
	told := r.Output == nil || !hasSystem(r.Messages)
	for _, msg := range r.Messages {
		if msg.Role != message.RoleTool {
			c.showImages()
		}
		switch msg.Role {
		case message.RoleSystem:
			text := msg.Text()
			if !told {
				text, told = text+"\n\n"+form(r.Output), true
			}
			c.add(llms.ChatMessageTypeSystem, llms.TextContent{Text: text})
		case message.RoleUser:
			c.add(llms.ChatMessageTypeHuman, c.parts(msg.Parts)...)
		case message.RoleAssistant:
			c.assistant(msg)
		case message.RoleTool:
			c.results(msg.Results())
		}
	}
	c.showImages()
	return c.out
}

func hasSystem(history []message.Message) bool {
	return len(history) > 0 && history[0].Role == message.RoleSystem
}

// form tells the model what JSON mode does not: which document is wanted.
func form(o *nodes.Output) string {
	return "Answer with one JSON document and nothing else. It must fit this JSON Schema:\n" + string(o.Schema)
}

// A converter makes langchaingo's messages, in the way in which the client of a provider does not lose them.
type converter struct {
	provider string
	out      []llms.MessageContent
	images   []llms.ContentPart // of results, which have no place for them: shown once all results of the step are there
}

func (c *converter) add(role llms.ChatMessageType, parts ...llms.ContentPart) {
	if len(parts) > 0 {
		c.out = append(c.out, llms.MessageContent{Role: role, Parts: parts})
	}
}

// parts converts texts and images. Texts that follow each other are one: some clients take a single one.
func (c *converter) parts(parts []message.Part) (out []llms.ContentPart) {
	var texts []string
	flush := func() {
		if len(texts) > 0 {
			out = append(out, llms.TextContent{Text: strings.Join(texts, "\n")})
		}
		texts = nil
	}
	for _, p := range parts {
		switch p.Kind {
		case message.KindText:
			texts = append(texts, p.Text)
		case message.KindImage:
			if c.provider != "ollama" { // which takes one text, wherever the images are
				flush()
			}
			out = append(out, c.image(p.Image))
		}
	}
	flush()
	return out
}

func (c *converter) image(i *message.Image) llms.ContentPart {
	switch {
	case i.URL != "":
		return llms.ImageURLContent{URL: i.URL}
	case c.provider == "openai": // whose client sends bytes in a form that no endpoint takes
		return llms.ImageURLContent{URL: "data:" + i.MediaType + ";base64," + base64.StdEncoding.EncodeToString(i.Data)}
	}
	return llms.BinaryContent{MIMEType: i.MediaType, Data: i.Data}
}

func (c *converter) assistant(msg message.Message) {
	parts := c.parts(msg.Parts)
	for _, call := range msg.Calls() {
		parts = append(parts, llms.ToolCall{ID: call.ID, Type: "function",
			FunctionCall: &llms.FunctionCall{Name: call.Name, Arguments: call.Args}})
	}
	if c.provider != "anthropic" {
		c.add(llms.ChatMessageTypeAI, parts...)
		return
	}
	for _, p := range parts { // its client reads the first part of a message; the API joins messages of one role
		c.add(llms.ChatMessageTypeAI, p)
	}
}

// results are messages of their own, but for Google's API, which wants all results of a step in one.
func (c *converter) results(results []message.Result) {
	for _, r := range results {
		part := llms.ToolCallResponse{ToolCallID: r.CallID, Name: r.Name, Content: resultText(r)}
		if last := len(c.out) - 1; google(c.provider) && last >= 0 && c.out[last].Role == llms.ChatMessageTypeTool {
			c.out[last].Parts = append(c.out[last].Parts, part)
		} else {
			c.add(llms.ChatMessageTypeTool, part)
		}
		c.keepImages(r)
	}
}

// resultText names the status of what went wrong: langchaingo has no flag for it.
func resultText(r message.Result) string {
	if !r.Failed() {
		return r.Text()
	}
	return strings.TrimSpace(fmt.Sprintf("[%s] %s", r.Status, r.Text()))
}

func (c *converter) keepImages(r message.Result) {
	first := true
	for _, p := range r.Parts {
		if p.Kind != message.KindImage {
			continue
		}
		if first {
			c.images = append(c.images, llms.TextContent{Text: fmt.Sprintf("Images of the result of %s (%s):", r.Name, r.CallID)})
		}
		first = false
		c.images = append(c.images, c.image(p.Image))
	}
}

func (c *converter) showImages() {
	c.add(llms.ChatMessageTypeHuman, c.images...)
	c.images = nil
}

func tools(in []working.Tool) []llms.Tool {
	out := make([]llms.Tool, len(in))
	for i, t := range in {
		out[i] = llms.Tool{Type: "function",
			Function: &llms.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: parameters(t.Schema)}}
	}
	return out
}

// parameters is a map, the only form that every client takes, with the properties that some insist on.
func parameters(schema string) map[string]any {
	out := map[string]any{}
	d := json.NewDecoder(bytes.NewReader([]byte(schema)))
	d.UseNumber()
	if d.Decode(&out) != nil || out == nil {
		out = map[string]any{}
	}
	if out["type"] == nil {
		out["type"] = "object"
	}
	if out["properties"] == nil {
		out["properties"] = map[string]any{}
	}
	return out
}
