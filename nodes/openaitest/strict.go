package openaitest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	callID   = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)
)

// Limits of the providers with the least.
const (
	maxTools       = 128
	maxDescription = 1024 // characters
)

// A checker reads a request from its beginning and notes the first thing that a provider refuses.
type checker struct {
	fault string
	calls map[string]bool // all ids of calls so far
	open  map[string]bool // calls of the latest assistant message that have no result yet
}

// check returns why a provider would refuse the request, or "".
func check(b body) string {
	c := checker{calls: map[string]bool{}, open: map[string]bool{}}
	c.params(b)
	c.tools(b)
	c.first(b.Messages)
	for i, m := range b.Messages {
		if isSystem(m) && i > 0 && !isSystem(b.Messages[i-1]) {
			c.refuse("messages[%d]: messages of the system must be at the beginning", i)
		}
		c.message(i, m)
	}
	c.answered("the end")
	c.last(b.Messages)
	return c.fault
}

func (c *checker) refuse(format string, args ...any) {
	if c.fault == "" {
		c.fault = fmt.Sprintf(format, args...)
	}
}

func (c *checker) params(b body) {
	if b.Model == "" {
		c.refuse("you must provide a model parameter")
	}
	if b.MaxTokens != nil && b.MaxCompletionTokens != nil {
		c.refuse("max_tokens and max_completion_tokens cannot both be set")
	}
	if b.StreamOptions != nil && !b.Stream {
		c.refuse("stream_options is only allowed when stream is true")
	}
	f := b.ResponseFormat
	switch {
	case f == nil || f.Type == "text":
	case f.Type == "json_object":
		if !mentionsJSON(b.Messages) {
			c.refuse("messages must contain the word 'json' to use response_format of type 'json_object'")
		}
	case f.Type == "json_schema":
		if f.JSONSchema == nil || !toolName.MatchString(f.JSONSchema.Name) || !isObject(f.JSONSchema.Schema) {
			c.refuse("response_format.json_schema needs a name and a schema")
		}
	default:
		c.refuse("response_format of type %q is not known", f.Type)
	}
}

func mentionsJSON(messages []bodyMessage) bool {
	for _, m := range messages {
		if strings.Contains(strings.ToLower(string(m.Content)), "json") {
			return true
		}
	}
	return false
}

func (c *checker) tools(b body) {
	if b.Tools != nil && len(b.Tools) == 0 {
		c.refuse("tools is an empty array")
	}
	if len(b.ToolChoice) > 0 && len(b.Tools) == 0 {
		c.refuse("tool_choice is only allowed when tools are specified")
	}
	if len(b.Tools) > maxTools {
		c.refuse("tools is too long: %d, at most %d", len(b.Tools), maxTools)
	}
	seen := map[string]bool{}
	for i, t := range b.Tools {
		name := t.Function.Name
		var schema struct {
			Type string `json:"type"`
		}
		switch {
		case t.Type != "function":
			c.refuse("tools[%d].type is %q, not 'function'", i, t.Type)
		case !toolName.MatchString(name):
			c.refuse("tools[%d].function.name %q does not match %s", i, name, toolName)
		case seen[name]:
			c.refuse("tools[%d].function.name %q is there twice", i, name)
		case utf8.RuneCountInString(t.Function.Description) > maxDescription:
			c.refuse("tools[%d].function.description is longer than %d characters", i, maxDescription)
		case !isObject(t.Function.Parameters) || json.Unmarshal(t.Function.Parameters, &schema) != nil || schema.Type != "object":
			c.refuse("invalid schema for function %q: schema must be of type object", name)
		}
		seen[name] = true
	}
}

func (c *checker) first(messages []bodyMessage) {
	for _, m := range messages {
		if isSystem(m) {
			continue
		}
		if m.Role != "user" {
			c.refuse("the first message after those of the system must be from the user, not from %q", m.Role)
		}
		break
	}
}

func isSystem(m bodyMessage) bool { return m.Role == "system" || m.Role == "developer" }

func (c *checker) last(messages []bodyMessage) {
	if len(messages) == 0 {
		c.refuse("messages is too short, at least one is needed")
	} else if messages[len(messages)-1].Role == "assistant" {
		c.refuse("the last message must not be from the assistant")
	}
}

func (c *checker) message(i int, m bodyMessage) {
	parts, fault := m.parts()
	if fault != "" {
		c.refuse("messages[%d]: %s", i, fault)
	}
	for _, p := range parts {
		c.part(i, m.Role, p)
	}
	if len(parts) == 0 && len(m.ToolCalls) == 0 {
		c.refuse("messages[%d]: content is missing", i)
	}
	if m.Role != "assistant" && m.ToolCalls != nil {
		c.refuse("messages[%d]: only the assistant calls tools", i)
	}
	switch m.Role {
	case "system", "developer", "user":
		c.answered(fmt.Sprintf("messages[%d]", i))
	case "assistant":
		c.answered(fmt.Sprintf("messages[%d]", i))
		c.called(i, m)
	case "tool":
		c.result(i, m)
	default:
		c.refuse("messages[%d]: role %q is not known", i, m.Role)
	}
}

func (c *checker) part(i int, role string, p Part) {
	switch {
	case p.ImageURL == "" && strings.TrimSpace(p.Text) == "":
		c.refuse("messages[%d]: text content is empty", i)
	case p.ImageURL != "" && role != "user":
		c.refuse("messages[%d]: only the user shows images", i)
	case p.ImageURL != "" && !isImage(p.ImageURL):
		c.refuse("messages[%d]: image_url is neither an address nor a base64 image", i)
	}
}

func isImage(address string) bool {
	if rest, ok := strings.CutPrefix(address, "data:"); ok {
		kind, data, ok := strings.Cut(rest, ";base64,")
		_, err := base64.StdEncoding.DecodeString(data)
		return ok && err == nil && data != "" && strings.HasPrefix(kind, "image/")
	}
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}

// answered refuses what stands between calls and their results.
func (c *checker) answered(at string) {
	for id := range c.open {
		c.refuse("an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id': "+
			"%q has no result before %s", id, at)
	}
}

func (c *checker) called(i int, m bodyMessage) {
	if m.ToolCalls != nil && len(m.ToolCalls) == 0 {
		c.refuse("messages[%d]: tool_calls is an empty array", i)
	}
	c.open = map[string]bool{}
	for _, t := range m.ToolCalls {
		switch {
		case t.ID == "":
			c.refuse("messages[%d]: a tool call has no id", i)
		case !callID.MatchString(t.ID):
			c.refuse("messages[%d]: tool call id %q does not match %s", i, t.ID, callID)
		case c.calls[t.ID]:
			c.refuse("messages[%d]: the tool call id %q is there twice", i, t.ID)
		case t.Type != "function":
			c.refuse("messages[%d]: tool call %q is of type %q, not 'function'", i, t.ID, t.Type)
		case !toolName.MatchString(t.Function.Name):
			c.refuse("messages[%d]: tool call %q: name %q does not match %s", i, t.ID, t.Function.Name, toolName)
		case !isObject([]byte(t.Function.Arguments)):
			c.refuse("messages[%d]: tool call %q: arguments are no JSON object", i, t.ID)
		}
		c.calls[t.ID], c.open[t.ID] = true, true
	}
}

func (c *checker) result(i int, m bodyMessage) {
	switch {
	case m.ToolCallID == "":
		c.refuse("messages[%d]: tool_call_id is missing", i)
	case !c.open[m.ToolCallID]:
		c.refuse("messages[%d]: messages with role 'tool' must be a response to a preceding message with 'tool_calls': "+
			"%q is none of its calls, or has a result already", i, m.ToolCallID)
	}
	delete(c.open, m.ToolCallID)
}

// isObject reports whether a text is one JSON object and nothing else.
func isObject(text []byte) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal(text, &object) == nil && object != nil
}
