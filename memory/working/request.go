package working

import "github.com/holdfast-go/holdfast/message"

// What a request costs beside its texts. The first three are from the OpenAI cookbook, "How to count tokens with tiktoken":
// three tokens frame each message, its role is one more, and three begin the answer. Every call and every result is framed
// as a message is, since some providers send each as one. The cookbook frames a tool with 7 and ends the list with 12, and
// rewrites schemas into something shorter than the JSON that is counted here.
const (
	perMessage = 3
	perRole    = 1
	perRequest = 3
	perTool    = 7
	perTools   = 12
)

// CountMessage returns the tokens of one message as it is sent: its frame, role and every part, ids, names and arguments of
// calls, results with their texts, images, and reasoning with its signature. The message's own id is not sent.
func CountMessage(c Counter, m message.Message) int {
	return perMessage + perRole + countParts(c, m.Parts)
}

// CountMessages returns the sum of CountMessage.
func CountMessages(c Counter, messages []message.Message) int {
	n := 0
	for _, m := range messages {
		n += CountMessage(c, m)
	}
	return n
}

// CountTools returns the tokens of what the model is told about its tools, 0 for none.
func CountTools(c Counter, tools []Tool) int {
	if len(tools) == 0 {
		return 0
	}
	n := perTools
	for _, t := range tools {
		n += perTool + countText(c, t.Name) + countText(c, t.Description) + countText(c, t.Schema)
	}
	return n
}

// CountRequest returns the tokens of a whole request: the messages, the tools, and the beginning of the answer.
func CountRequest(c Counter, messages []message.Message, tools []Tool) int {
	return perRequest + CountMessages(c, messages) + CountTools(c, tools)
}

func countParts(c Counter, parts []message.Part) int {
	n := 0
	for _, p := range parts {
		n += countPart(c, p)
	}
	return n
}

func countPart(c Counter, p message.Part) int {
	n := countText(c, p.Text) + countText(c, p.Signature)
	if p.Image != nil {
		n += imageTokens(p.Image)
	}
	if p.Call != nil {
		n += perMessage + countText(c, p.Call.ID) + countText(c, p.Call.Name) + countText(c, p.Call.Args)
	}
	if p.Result != nil {
		n += perMessage + countText(c, p.Result.CallID) + countText(c, p.Result.Name) + countParts(c, p.Result.Parts)
	}
	return n
}

// countText spares a cache the empty text.
func countText(c Counter, text string) int {
	if text == "" {
		return 0
	}
	return c.Count(text)
}
