package compact

import (
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/message"
)

// transcript writes messages as text that a person, a model and a search can read: a head for each message with its role
// and id, then its parts. Nothing that has a text is left out; of a picture its address or size is told. No text can pose as a head: a line
// that begins like one is moved by a space.
func transcript(messages []message.Message) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, headMark+"%s, message %s\n", m.Role, headless(m.ID))
		writeParts(&b, m.Parts)
	}
	return b.String()
}

func writeParts(b *strings.Builder, parts []message.Part) {
	for _, p := range parts {
		switch {
		case p.Kind == message.KindText:
			b.WriteString(headless(p.Text))
		case p.Kind == message.KindReasoning:
			b.WriteString("thought: " + headless(p.Text))
		case p.Call != nil:
			fmt.Fprintf(b, "call %s of %s: %s", headless(p.Call.ID), headless(p.Call.Name), headless(p.Call.Args))
		case p.Result != nil:
			fmt.Fprintf(b, "result of call %s of %s, %s:\n", headless(p.Result.CallID), headless(p.Result.Name), p.Result.Status)
			writeParts(b, p.Result.Parts)
			continue
		case p.Image != nil && p.Image.URL != "":
			b.WriteString("picture: " + headless(p.Image.URL))
		case p.Image != nil:
			fmt.Fprintf(b, "picture: %s, %d bytes", p.Image.MediaType, len(p.Image.Data))
		}
		b.WriteByte('\n')
	}
}

const headMark = "--- "

func headless(text string) string {
	if strings.HasPrefix(text, headMark) {
		text = " " + text
	}
	for _, end := range []string{"\n", "\r"} {
		text = strings.ReplaceAll(text, end+headMark, end+" "+headMark)
	}
	return text
}
