package working_test

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

// oneEach counts one token a rune, so that a test can be checked by hand.
type oneEach struct{}

func (oneEach) Count(text string) int { return utf8.RuneCountInString(text) }
func (oneEach) Margin() float64       { return 0 }
func (oneEach) Name() string          { return "one each" }

func picture(t testing.TB, width, height int) message.Part {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return message.ImageData("image/png", b.Bytes())
}

// T7, reports 162, 163: every text that is sent is counted once, with its frame.
func TestCountMessage(t *testing.T) {
	t.Parallel()
	call := message.Call{ID: "c1", Name: "track", Args: `{"id":7}`}
	thought := message.Assistant("ok")
	thought.Parts = append(thought.Parts, message.Reasoning("hmm", "sig"))
	both := call.Done("in 里昂")
	both.Parts = append(both.Parts, message.ImageURL("https://example.com/a-long-address.png"))
	for name, c := range map[string]struct {
		m    message.Message
		want int
	}{
		"empty":        {message.Message{ID: "long id that is not sent", Role: message.RoleUser}, 4},
		"text":         {message.User("退款 now"), 4 + 6},
		"two texts":    {message.User("a", message.Text("bc")), 4 + 3},
		"call":         {message.Assistant("", call), 4 + 3 + 2 + 5 + 8},
		"two calls":    {message.Assistant("hi", call, call), 4 + 2 + 2*(3+2+5+8)},
		"result":       {message.Tool(call.Done("in 里昂")), 4 + 3 + 2 + 5 + 5},
		"with image":   {message.Tool(both), 4 + 3 + 2 + 5 + 5 + 1445},
		"reasoning":    {thought, 4 + 2 + 3 + 3},
		"image by URL": {message.User("x", message.ImageURL("https://example.com")), 4 + 1 + 1445},
		"one tile":     {message.User("x", picture(t, 512, 512)), 4 + 1 + 255},
		"one pixel":    {message.User("x", picture(t, 1, 1)), 4 + 1 + 255},
		"four tiles":   {message.User("x", picture(t, 1024, 1024)), 4 + 1 + 765}, // the guide's own example
		"six tiles":    {message.User("x", picture(t, 1024, 2048)), 4 + 1 + 1105},
		"thin":         {message.User("x", picture(t, 1, 3000)), 4 + 1 + 765},
		"broken image": {message.User("x", message.ImageData("image/png", []byte("no image"))), 4 + 1 + 1445},
	} {
		if got := working.CountMessage(oneEach{}, c.m); got != c.want {
			t.Errorf("%s: %d tokens, want %d", name, got, c.want)
		}
	}
}

// T7, report 163: tools are part of the request.
func TestCountRequest(t *testing.T) {
	t.Parallel()
	tools := []working.Tool{{Name: "track", Description: "finds it", Schema: `{"type":"object"}`}, {Name: "pay"}}
	if got, want := working.CountTools(oneEach{}, tools), 12+(7+5+8+17)+(7+3); got != want {
		t.Errorf("tools: %d tokens, want %d", got, want)
	}
	if got := working.CountTools(oneEach{}, nil); got != 0 {
		t.Errorf("no tools: %d tokens", got)
	}
	history := []message.Message{message.System("be kind"), message.User("hi")}
	if got, want := working.CountRequest(oneEach{}, history, tools), 3+(4+7)+(4+2)+59; got != want {
		t.Errorf("request: %d tokens, want %d", got, want)
	}
	if got := working.CountRequest(oneEach{}, nil, nil); got != 3 {
		t.Errorf("empty request: %d tokens", got)
	}
}

// A message is never cheaper than its text, and a request is the sum of its parts.
func TestCountsAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, args := rapid.String().Draw(t, "text"), rapid.String().Draw(t, "args")
		call := message.Call{ID: "c", Name: "n", Args: args}
		history := []message.Message{message.User(text), message.Assistant(text, call), message.Tool(call.Done(text))}
		got := working.CountMessages(working.Estimate, history)
		if least := 3*working.Estimate.Count(text) + working.Estimate.Count(args); got < least+3*4 {
			t.Fatalf("%d tokens, the texts have %d", got, least)
		}
		sum := working.CountRequest(working.Estimate, history[:1], nil) + working.CountRequest(working.Estimate, history[1:], nil)
		if whole := working.CountRequest(working.Estimate, history, nil); whole != sum-3 {
			t.Fatalf("%d tokens, the parts have %d", whole, sum-3)
		}
	})
}

func TestEstimateOfAnything(t *testing.T) {
	t.Parallel()
	if n := working.Estimate.Count(""); n != 0 {
		t.Errorf("the empty text has %d tokens", n)
	}
	rapid.Check(t, func(t *rapid.T) {
		raw := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		if n := working.Estimate.Count(raw); raw != "" && n < 1 {
			t.Fatalf("%q has %d tokens", raw, n)
		}
	})
	if n := working.Estimate.Count(strings.Repeat("退款", 500)); n < 500 {
		t.Errorf("1000 characters of Chinese have %d tokens", n)
	}
}
