package mcp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdfast-go/holdfast/message"
)

// partsOf is a result as a model reads it.
func partsOf(r *sdk.CallToolResult) (parts []message.Part) {
	said := r.StructuredContent == nil
	for _, c := range r.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			said = said || same(t.Text, r.StructuredContent)
		}
		if p, ok := partOf(c); ok {
			parts = append(parts, p)
		}
	}
	if said {
		return parts
	}
	doc, err := marshal(r.StructuredContent)
	if err != nil {
		return parts
	}
	return append(parts, message.Text(string(doc)))
}

// same reports whether a text is the JSON of a value.
func same(text string, value any) bool {
	var v any
	return json.Unmarshal([]byte(text), &v) == nil && reflect.DeepEqual(v, value)
}

func partOf(c sdk.Content) (message.Part, bool) {
	switch c := c.(type) {
	case *sdk.TextContent:
		return message.Text(c.Text), c.Text != ""
	case *sdk.ImageContent:
		return bytesPart("An image", c.MIMEType, c.Data), true
	case *sdk.AudioContent:
		return bytesPart("A sound", c.MIMEType, c.Data), true
	case *sdk.ResourceLink:
		return message.Text(strings.TrimSpace(fmt.Sprintf("Resource %s: %s\n%s", c.Name, c.URI, c.Description))), true
	case *sdk.EmbeddedResource:
		return resourcePart(c.Resource)
	}
	return message.Text(fmt.Sprintf("[Content of another kind (%T) is not shown.]", c)), true
}

func resourcePart(r *sdk.ResourceContents) (message.Part, bool) {
	switch {
	case r == nil:
		return message.Part{}, false
	case len(r.Blob) > 0:
		return bytesPart("Resource "+r.URI, r.MIMEType, r.Blob), true
	}
	return message.Text(fmt.Sprintf("Resource %s:\n%s", r.URI, r.Text)), true
}

// bytesPart is a picture if providers take its type, else a note about it.
func bytesPart(what, mediaType string, data []byte) message.Part {
	switch mediaType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		if len(data) > 0 {
			return message.ImageData(mediaType, data)
		}
	}
	return message.Text(fmt.Sprintf("[%s (%s, %d bytes) is not shown.]", what, mediaType, len(data)))
}

// errorText is all that a failed result says.
func errorText(r *sdk.CallToolResult) string {
	var texts []string
	for _, p := range partsOf(r) {
		if p.Kind == message.KindText {
			texts = append(texts, p.Text)
		}
	}
	if len(texts) == 0 {
		return "The tool failed and did not say why."
	}
	return strings.Join(texts, "\n")
}
