package main

import (
	"strings"
	"sync"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/textwidth"
	"github.com/holdfast-go/holdfast/nodes"
)

// A screen prints what a run does while it does it: the answer as it is written, and a line for each thing that a tool tells.
type screen struct {
	p *printer

	mu      sync.Mutex
	flow    flow
	message string // id of the message that is written, or was written last
	try     int
}

func newScreen(p *printer) *screen {
	return &screen{p: p, flow: flow{p: p, tag: p.pick("agent: ", "客服：")}}
}

// event is the App's OnEvent: it is called in order and must be quick.
func (s *screen) event(e graph.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e.Kind {
	case graph.CustomEvent:
		s.custom(e)
	case graph.TaskRetried:
		s.flow.end()
		s.p.line("  !! "+e.Node+" ", s.p.textf("attempt %d: %s; it is tried again", "第 %d 次尝试：%s；稍后重试", e.Attempt, firstLine(e.Error)))
	case graph.TaskCompleted, graph.TaskFailed, graph.TaskStopped:
		if e.Node == nodes.NodeCallModel {
			s.flow.end()
		}
	}
}

func (s *screen) custom(e graph.Event) {
	switch e.Name {
	case graph.ModelToken:
		t, err := graph.Custom[nodes.Token](e)
		if err != nil || t.Text == "" {
			return
		}
		if t.Message != s.message || t.Try != s.try { // what an earlier try has said is void
			s.flow.end()
			s.message, s.try = t.Message, t.Try
		}
		s.flow.write(t.Text)
	case newsEvent:
		if n, err := graph.Custom[toolNews](e); err == nil {
			s.flow.end()
			tag := "  " + n.Mark + " " + n.Tool + " "
			s.p.line(tag, textwidth.Clip(firstLine(n.Text), s.p.width-textwidth.Of(tag)))
		}
	}
}

// last is the id of the message that was written last.
func (s *screen) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.message
}

// whole shows an answer that was not streamed here.
func (s *screen) whole(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flow.write(text)
	s.flow.end()
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
