package openaitest

import (
	"encoding/json"

	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

// A Request is what a client asked.
type Request struct {
	Model        string
	Messages     []Message
	Tools        []Tool
	ToolChoice   string   // "auto", "none", "required"; "" if it was not sent, or is an object
	Stream       bool     // else the answer is one JSON object
	IncludeUsage bool     // the client wants the usage at the end of the stream
	MaxTokens    int      // by either of the two names; 0: not sent
	Temperature  *float64 // nil: not sent
	Format       string   // "json_schema", "json_object", "text"; "" if it was not sent
	FormatName   string   // of a json_schema
	FormatSchema string   // of a json_schema, as it was sent
	APIKey       string   // the bearer
	Body         string   // as it was sent
}

// A Message is one message of a request.
type Message struct {
	Role      string
	Parts     []Part // one for a content that is a string
	Calls     []Call
	CallID    string // of a tool's result
	Reasoning string // reasoning_content
}

// A Part is a text or an image.
type Part struct {
	Text     string
	ImageURL string // https:, or data:
}

// A Call is a tool call, in a request or in a reply.
type Call struct {
	ID   string
	Name string
	Args string // JSON text
}

// A Tool is what the client told about a tool.
type Tool struct {
	Name        string
	Description string
	Schema      string // as it was sent; "" if it was not
}

// Text returns the texts of the message, joined by line breaks.
func (m Message) Text() string {
	var out string
	for _, p := range m.Parts {
		if p.Text != "" && out != "" {
			out += "\n"
		}
		out += p.Text
	}
	return out
}

// Tokens returns what the request costs by working.Estimate. Config.Limit is measured by it.
func (r Request) Tokens() int {
	var history []message.Message
	for _, m := range r.Messages {
		history = append(history, m.counted())
	}
	var tools []working.Tool
	for _, t := range r.Tools {
		tools = append(tools, working.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	return working.CountRequest(working.Estimate, history, tools)
}

// counted is a message of which nothing matters but what it costs.
func (m Message) counted() message.Message {
	var parts []message.Part
	for _, p := range m.Parts {
		if p.ImageURL != "" {
			parts = append(parts, message.ImageURL(p.ImageURL))
		} else {
			parts = append(parts, message.Text(p.Text))
		}
	}
	if m.Reasoning != "" {
		parts = append(parts, message.Reasoning(m.Reasoning, ""))
	}
	for _, c := range m.Calls {
		parts = append(parts, message.Part{Kind: message.KindCall, Call: &message.Call{ID: c.ID, Name: c.Name, Args: c.Args}})
	}
	return message.Message{Role: message.Role(m.Role), Parts: parts}
}

// body is a request as it is on the wire, as far as it is read here.
type body struct {
	Model    string        `json:"model"`
	Messages []bodyMessage `json:"messages"`
	Tools    []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	ToolChoice    json.RawMessage `json:"tool_choice"`
	Stream        bool            `json:"stream"`
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	MaxTokens           *int     `json:"max_tokens"`
	MaxCompletionTokens *int     `json:"max_completion_tokens"`
	Temperature         *float64 `json:"temperature"`
	ResponseFormat      *struct {
		Type       string `json:"type"`
		JSONSchema *struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

type bodyMessage struct {
	Role             string          `json:"role"`
	Content          json.RawMessage `json:"content"`
	ToolCallID       string          `json:"tool_call_id"`
	ReasoningContent string          `json:"reasoning_content"`
	ToolCalls        []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

type bodyPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL struct {
		URL string `json:"url"`
	} `json:"image_url"`
}

// request is the body in the words of this package. Contents that it cannot read are left out: check has refused them.
func (b body) request() Request {
	r := Request{Model: b.Model, Stream: b.Stream, Temperature: b.Temperature}
	for _, m := range b.Messages {
		r.Messages = append(r.Messages, m.message())
	}
	for _, t := range b.Tools {
		r.Tools = append(r.Tools, Tool{t.Function.Name, t.Function.Description, string(t.Function.Parameters)})
	}
	json.Unmarshal(b.ToolChoice, &r.ToolChoice) // an object stays ""
	r.IncludeUsage = b.StreamOptions != nil && b.StreamOptions.IncludeUsage
	for _, n := range []*int{b.MaxTokens, b.MaxCompletionTokens} {
		if n != nil {
			r.MaxTokens = *n
		}
	}
	if f := b.ResponseFormat; f != nil {
		r.Format = f.Type
		if f.JSONSchema != nil {
			r.FormatName, r.FormatSchema = f.JSONSchema.Name, string(f.JSONSchema.Schema)
		}
	}
	return r
}

func (b bodyMessage) message() Message {
	m := Message{Role: b.Role, CallID: b.ToolCallID, Reasoning: b.ReasoningContent}
	m.Parts, _ = b.parts()
	for _, c := range b.ToolCalls {
		m.Calls = append(m.Calls, Call{c.ID, c.Function.Name, c.Function.Arguments})
	}
	return m
}

// parts reads a content: null, a string, or an array. The second result says what is wrong with it.
func (b bodyMessage) parts() ([]Part, string) {
	if len(b.Content) == 0 || string(b.Content) == "null" {
		return nil, ""
	}
	var text string
	if json.Unmarshal(b.Content, &text) == nil {
		return []Part{{Text: text}}, ""
	}
	var list []bodyPart
	if json.Unmarshal(b.Content, &list) != nil {
		return nil, "content is neither a string nor an array of parts"
	}
	var out []Part
	for _, p := range list {
		switch p.Type {
		case "text":
			out = append(out, Part{Text: p.Text})
		case "image_url":
			out = append(out, Part{ImageURL: p.ImageURL.URL})
		default:
			return nil, "a part of type " + p.Type + " is not known"
		}
	}
	if len(out) == 0 {
		return nil, "content is an empty array"
	}
	return out, ""
}
