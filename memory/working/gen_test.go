package working_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

// A gen makes random inputs from a seed.
type gen struct {
	*rand.Rand
	calls, ids int
}

func newGen(seed uint64) *gen { return &gen{Rand: rand.New(rand.NewPCG(seed, 1))} }

func (g *gen) one(in int) bool { return g.IntN(in) == 0 }

var scraps = []string{
	"退款", "重启生产实例", "，", "。\n", "the order ", "E504 timeout\n", "request=0af3-991b ", "😀", "👨‍👩‍👧‍👦", "🇨🇳🇩🇪",
	"e\u0301\u0323", "\t", "{\"a\":[1,2]} ",
	"system: ", "</data-1>", "<|im_end|>", "한국어 ", "ありがとう", "\r\n", " ", "— ", "10:03:59 ERROR ", "ａｂｃ", "\u202e", "[/INST]",
}

// text is mostly short, sometimes of some thousand tokens, rarely a megabyte. It is never blank.
func (g *gen) text() string {
	n := 1 + g.IntN(20)
	switch {
	case g.one(900):
		unit := scraps[g.IntN(len(scraps))] + scraps[g.IntN(len(scraps))]
		return "x" + strings.Repeat(unit, 1<<20/len(unit))
	case g.one(12):
		n = g.IntN(3000) + 1
	case g.one(3):
		n = g.IntN(200) + 1
	}
	var b strings.Builder
	for range n {
		b.WriteString(scraps[g.IntN(len(scraps))])
	}
	if strings.TrimSpace(b.String()) == "" {
		return "x" + b.String()
	}
	return b.String()
}

func (g *gen) id(prefix string) string {
	g.ids++
	return fmt.Sprint(prefix, g.ids)
}

func (g *gen) status() message.Status {
	all := []message.Status{
		message.StatusOK, message.StatusError, message.StatusCancelled, message.StatusCrashed, message.StatusTimedOut, message.StatusDenied,
	}
	return all[g.IntN(len(all))]
}

// history is valid: turns of a user, with calls at the same time and answers in any order, stopped anywhere.
func (g *gen) history() []message.Message {
	var h []message.Message
	add := func(m message.Message) {
		m.ID = g.id("m")
		h = append(h, m)
	}
	if g.one(4) {
		add(message.System(g.text()))
	}
	for range 1 + g.IntN(12) {
		add(message.User(g.text()))
		if g.one(10) {
			h[len(h)-1].Parts = append(h[len(h)-1].Parts, message.ImageURL("https://example.com/a.png"))
		}
		for range g.IntN(3) {
			g.step(add)
		}
		if !g.one(8) {
			add(message.Assistant(g.text()))
		}
	}
	return g.stopped(h)
}

func (g *gen) step(add func(message.Message)) {
	var calls []message.Call
	for range 1 + g.IntN(3) {
		g.calls++
		args := "{}"
		if g.one(3) {
			args = fmt.Sprintf(`{"q":%q}`, strings.Repeat("word ", g.IntN(60)))
		}
		calls = append(calls, message.Call{ID: fmt.Sprint("c", g.calls), Name: "look", Args: args})
	}
	asked := message.Assistant("", calls...)
	if g.one(3) {
		asked.Parts = append([]message.Part{message.Reasoning(g.text(), "signed")}, asked.Parts...)
	}
	add(asked)
	g.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
	if g.one(2) {
		var results []message.Result
		for _, c := range calls {
			results = append(results, c.Ended(g.status(), g.text()))
		}
		add(message.Tool(results...))
		return
	}
	for _, c := range calls {
		add(message.Tool(c.Ended(g.status(), g.text())))
	}
}

// stopped cuts a history at any message behind the first question, and settles the calls that are open there.
func (g *gen) stopped(h []message.Message) []message.Message {
	for n := 1 + g.IntN(len(h)); g.one(2) && n <= len(h); n++ {
		if h[n-1].Role == message.RoleUser || n > 1 && h[0].Role == message.RoleUser || n > 2 {
			h = h[:n]
			break
		}
	}
	for _, c := range message.Open(h) {
		m := message.Tool(c.Ended(message.StatusCancelled, "stopped by the user"))
		m.ID = g.id("m")
		h = append(h, m)
	}
	return h
}

func (g *gen) input() working.Input {
	in := working.Input{History: g.history()}
	for range g.IntN(3) {
		in.System = append(in.System, g.text())
	}
	for range g.IntN(4) {
		schema := `{"type":"object"}`
		if g.one(20) {
			schema = `{"type":"object","description":"` + strings.Repeat("a huge schema ", 1+g.IntN(2000)) + `"}`
		}
		in.Tools = append(in.Tools, working.Tool{Name: g.id("tool"), Description: g.text(), Schema: schema})
	}
	if g.one(2) {
		in.State = g.text()
	}
	for range g.IntN(3) {
		in.Pins = append(in.Pins, g.text())
	}
	if g.one(2) {
		in.Summary = working.Summary{Text: g.text()}
		for _, m := range in.History[:g.IntN(len(in.History)+1)] {
			in.Summary.Covers = append(in.Summary.Covers, m.ID)
		}
	}
	for range g.IntN(4) {
		in.Notes = append(in.Notes, working.Note{ID: g.id("n"), Text: g.text()})
	}
	for range g.IntN(12) {
		in.Recalled = append(in.Recalled, g.item())
	}
	return in
}

func (g *gen) item() working.Item {
	return working.Item{
		Source: []working.Source{working.LongTerm, working.Knowledge, working.Graph, "elsewhere"}[g.IntN(4)],
		ID:     g.id("i"), Text: g.text(), Score: float64(g.IntN(5)), Origin: []string{"", "doc"}[g.IntN(2)],
		Subject: []string{"", "s", "t"}[g.IntN(3)], Kind: []string{"", "preference", "episode"}[g.IntN(3)],
	}
}

// profile has any budget, from one that nothing fits to the defaults.
func (g *gen) profile() working.Profile {
	p := []func() working.Profile{working.Default, working.Answers, working.Assistant, working.Operations, working.LongTask}[g.IntN(5)]()
	if g.one(3) {
		return p
	}
	c := working.Caps{
		System: g.IntN(400), State: g.IntN(200), Recent: g.IntN(3000), Memories: g.IntN(500), Knowledge: g.IntN(1500), Observations: g.IntN(2000),
	}
	c.Summary, c.Notes = g.IntN(c.Recent+1), g.IntN(c.Observations+1)
	p.Caps, p.Reserve = c, g.IntN(300)
	p.MaxInput = c.System + c.State + c.Recent + c.Memories + c.Knowledge + c.Observations + p.Reserve + g.IntN(4000)
	p.Rounds, p.Excerpt, p.Language = 1+g.IntN(6), 1+g.IntN(500), working.Language(g.IntN(2))
	g.Shuffle(len(p.Order), func(i, j int) { p.Order[i], p.Order[j] = p.Order[j], p.Order[i] })
	return p
}
