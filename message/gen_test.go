package message_test

import (
	"fmt"
	"slices"

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

// brokenHistory makes a history that may break every rule, in more ways than a program could. The texts and arguments that
// it holds have marks, each another.
func brokenHistory(t *rapid.T) []message.Message {
	g := &breaker{T: t}
	history := validHistory(t)
	for range rapid.IntRange(0, 8).Draw(t, "broken messages") {
		at := rapid.IntRange(0, len(history)).Draw(t, "place")
		history = slices.Insert(history, at, g.message())
	}
	for range rapid.IntRange(0, 6).Draw(t, "accidents") {
		if len(history) == 0 {
			break
		}
		i, j := rapid.IntRange(0, len(history)-1).Draw(t, "one"), rapid.IntRange(0, len(history)-1).Draw(t, "another")
		switch rapid.IntRange(0, 5).Draw(t, "accident") {
		case 0:
			history[i], history[j] = history[j], history[i]
		case 1:
			history = slices.Insert(history, i, history[j].Clone())
		case 2:
			history = slices.Delete(history, i, i+1)
		case 3:
			history[i].ID = rapid.SampledFrom([]string{"", "same", "\xff", history[j].ID}).Draw(t, "id")
		case 4:
			history[i].Role = rapid.SampledFrom([]message.Role{"", "robot", message.RoleSystem, message.RoleUser, message.RoleAssistant, message.RoleTool}).Draw(t, "role")
		case 5:
			history[i].Partial = !history[i].Partial
		}
	}
	return history
}

type breaker struct {
	*rapid.T
	marks int
}

// text has a mark of its own, unless it is empty.
func (g *breaker) text() string {
	g.marks++
	mark := fmt.Sprint("t", g.marks, ".")
	return rapid.SampledFrom([]string{"", mark, mark, "\xff" + mark, "退款" + mark + "\x00"}).Draw(g.T, "text")
}

func (g *breaker) message() message.Message {
	m := oneMessage(g.T)
	m.Parts = nil
	for range rapid.IntRange(0, 4).Draw(g.T, "parts") {
		m.Parts = append(m.Parts, g.part(true))
	}
	return m
}

// part may hold several things, and not what it says it is.
func (g *breaker) part(results bool) message.Part {
	p := message.Part{Kind: rapid.SampledFrom([]message.Kind{
		"", "video", message.KindText, message.KindImage, message.KindReasoning, message.KindCall, message.KindResult,
	}).Draw(g.T, "kind")}
	odd := rapid.IntRange(0, 9).Draw(g.T, "odd") == 0
	if odd || p.Kind == message.KindText || p.Kind == message.KindReasoning || p.Kind == "" {
		p.Text = g.text()
	}
	if odd || p.Kind == message.KindReasoning {
		p.Signature = rapid.SampledFrom([]string{"", "s", "\xff"}).Draw(g.T, "signature")
	}
	if odd || p.Kind == message.KindImage {
		p.Image = &message.Image{URL: g.text(), MediaType: rapid.SampledFrom([]string{"", "image/png"}).Draw(g.T, "media type")}
	}
	if odd || p.Kind == message.KindCall {
		c := g.call()
		p.Call = &c
	}
	if results && (odd || p.Kind == message.KindResult) {
		r := g.result()
		p.Result = &r
	}
	return p
}

func (g *breaker) call() message.Call {
	return message.Call{
		ID:   rapid.SampledFrom([]string{"c1", "c2", "x", "", "\xff"}).Draw(g.T, "call"),
		Name: rapid.SampledFrom([]string{"look", "pay", "", "\xff"}).Draw(g.T, "tool"),
		Args: rapid.SampledFrom([]string{"", "null", "{}", "[]", `{"a":`, "{\"a\":\"\xff\"}", `"{}"`}).Draw(g.T, "args") + g.text(),
	}
}

func (g *breaker) result() message.Result {
	r := g.call().Ended(rapid.SampledFrom([]message.Status{message.StatusOK, message.StatusDenied, "", "fine"}).Draw(g.T, "status"), g.text())
	r.Interim = rapid.Bool().Draw(g.T, "interim")
	if rapid.IntRange(0, 4).Draw(g.T, "odd result") == 0 {
		r.Parts = append(r.Parts, g.part(false))
	}
	return r
}

// calling makes a well formed history of calls and results in any order, each text another. A message has no two calls with one id.
func calling(t *rapid.T) []message.Message {
	ids := []string{"a", "b", "c", ""}
	var history []message.Message
	for i := range rapid.IntRange(0, 15).Draw(t, "messages") {
		switch rapid.IntRange(0, 3).Draw(t, "role") {
		case 0:
			history = append(history, message.User(fmt.Sprint("user ", i)))
		case 1, 2:
			var calls []message.Call
			for _, id := range rapid.Permutation(ids).Draw(t, "ids")[:rapid.IntRange(1, 3).Draw(t, "calls")] {
				calls = append(calls, message.Call{ID: id, Name: "look", Args: "{}"})
			}
			history = append(history, message.Assistant("", calls...))
		case 3:
			var results []message.Result
			for j := range rapid.IntRange(1, 4).Draw(t, "results") {
				c := message.Call{ID: rapid.SampledFrom(ids).Draw(t, "of"), Name: "look"}
				r := c.Ended(rapid.SampledFrom([]message.Status{message.StatusOK, message.StatusDenied}).Draw(t, "status"), fmt.Sprint("result ", i, " ", j))
				r.Interim = rapid.IntRange(0, 3).Draw(t, "interim") == 0
				results = append(results, r)
			}
			history = append(history, message.Tool(results...))
		}
	}
	return history
}
