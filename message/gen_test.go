package message_test

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/holdfast-go/holdfast/message"
)

// texts has what breaks careless encoders: NUL, quotes, HTML, line separators, astral planes, the replacement character.
var texts = rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
	"", "\x00", `"\`, "<b>&amp;</b>", "\u2028\u2029", "😀", "\ufffd", "退款", "e\u0301", "\r\n\t", "{\"a\": 1}",
}))

func images(t *rapid.T) message.Part {
	if rapid.Bool().Draw(t, "by address") {
		return message.ImageURL("https://example.com/" + texts.Draw(t, "url"))
	}
	data := rapid.SliceOf(rapid.Byte()).Draw(t, "data")
	return message.ImageData("image/png", append([]byte{}, data...))
}

// anyResult makes a result of any status for a call.
func anyResult(t *rapid.T, c message.Call) message.Result {
	r := c.Ended(rapid.SampledFrom([]message.Status{
		message.StatusOK, message.StatusError, message.StatusCancelled, message.StatusCrashed, message.StatusTimedOut, message.StatusDenied,
	}).Draw(t, "status"), texts.Draw(t, "result"))
	r.Interim = rapid.Bool().Draw(t, "interim")
	switch rapid.IntRange(0, 3).Draw(t, "parts of result") {
	case 0:
		r.Parts = nil
	case 1:
		r.Parts = []message.Part{}
	case 2:
		r.Parts = append(r.Parts, images(t))
	}
	return r
}

// wellFormed makes messages that Encode takes, valid as a history or not: calls without results, results without calls,
// ids of calls that come again.
func wellFormed(t *rapid.T) []message.Message {
	var history []message.Message
	for range rapid.IntRange(0, 12).Draw(t, "messages") {
		history = append(history, oneMessage(t))
	}
	return history
}

func oneMessage(t *rapid.T) message.Message {
	ids := rapid.SampledFrom([]string{"a", "b", "c", ""})
	call := func() message.Call {
		return message.Call{ID: ids.Draw(t, "call"), Name: texts.Draw(t, "tool"), Args: texts.Draw(t, "args")}
	}
	var m message.Message
	switch rapid.IntRange(0, 3).Draw(t, "role") {
	case 0:
		m = message.System(texts.Draw(t, "text"))
	case 1:
		m = message.User(texts.Draw(t, "text"), images(t))
	case 2:
		m = message.Assistant(texts.Draw(t, "text"))
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			m.Parts = append(m.Parts, message.Assistant("", call()).Parts...)
		}
		m.Parts = append(m.Parts, message.Reasoning(texts.Draw(t, "thought"), texts.Draw(t, "signature")))
		m.Partial = rapid.Bool().Draw(t, "partial")
	case 3:
		m = message.Tool(anyResult(t, call()))
		if rapid.Bool().Draw(t, "two results") {
			m = message.Tool(append(m.Results(), anyResult(t, call()))...)
		}
	}
	switch rapid.IntRange(0, 9).Draw(t, "holes") {
	case 0:
		m.Parts = nil
	case 1:
		m.Parts = []message.Part{}
	}
	return m
}

// validHistory makes a history of turns, each begun by the user. The ids of calls differ.
func validHistory(t *rapid.T) []message.Message {
	var history []message.Message
	if rapid.Bool().Draw(t, "system") {
		history = append(history, message.System("be kind"))
	}
	n := 0
	for range rapid.IntRange(0, 5).Draw(t, "turns") {
		history = append(history, message.User("question"))
		for range rapid.IntRange(0, 2).Draw(t, "rounds") {
			var calls []message.Call
			for range rapid.IntRange(1, 3).Draw(t, "calls") {
				n++
				calls = append(calls, message.Call{ID: fmt.Sprint("c", n), Name: "look", Args: "{}"})
			}
			history = append(history, message.Assistant("", calls...))
			history = append(history, answers(t, calls)...)
		}
		history = append(history, message.Assistant("answer"))
	}
	return history
}

// answers gives each call its result, in any order, together in one message or apart.
func answers(t *rapid.T, calls []message.Call) []message.Message {
	var results []message.Result
	for _, c := range rapid.Permutation(calls).Draw(t, "order") {
		results = append(results, c.Done("found"))
	}
	if rapid.Bool().Draw(t, "together") {
		return []message.Message{message.Tool(results...)}
	}
	var tools []message.Message
	for _, r := range results {
		tools = append(tools, message.Tool(r))
	}
	return tools
}
