package langchain

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

var errOver = errors.New("langchain: the call is over")

// A stretch is what a client has streamed so far. Clients stream from goroutines of their own, and some go on when the call has
// returned: after end, nothing is told any more.
type stretch struct {
	tell func(nodes.Delta)

	mu        sync.Mutex
	text      strings.Builder
	reasoning strings.Builder
	calls     []string // ids that were streamed
	held      bool     // the rest is told at the end, because something came that may have been no text
	over      bool
}

// chunk gets text, and from the client for OpenAI the parts of calls as JSON too, which look like text. Those are not told; had
// they been text after all, it is in the answer and told with the rest.
func (s *stretch) chunk(ctx context.Context, b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.stopped(ctx); err != nil || len(b) == 0 {
		return err
	}
	if ids, ok := callParts(b); ok {
		s.calls, s.held = append(s.calls, ids...), true
	}
	if s.held {
		return nil
	}
	s.text.Write(b)
	s.tell(nodes.Delta{Text: string(b)})
	return nil
}

func (s *stretch) reasoningChunk(ctx context.Context, reasoning, _ []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.stopped(ctx); err != nil || len(reasoning) == 0 {
		return err
	}
	s.reasoning.Write(reasoning)
	s.tell(nodes.Delta{Reasoning: string(reasoning)})
	return nil
}

func (s *stretch) stopped(ctx context.Context) error {
	if s.over {
		return errOver
	}
	return ctx.Err()
}

func (s *stretch) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
}

// callParts returns the ids in a list of parts of calls, and whether b is one.
func callParts(b []byte) (ids []string, ok bool) {
	if b[0] != '[' {
		return nil, false
	}
	var parts []struct {
		ID       string           `json:"id"`
		Function *json.RawMessage `json:"function"`
	}
	if json.Unmarshal(b, &parts) != nil || len(parts) == 0 {
		return nil, false
	}
	for _, p := range parts {
		if p.Function == nil {
			return nil, false
		}
		if p.ID != "" {
			ids = append(ids, p.ID)
		}
	}
	return ids, true
}

// any reports whether something had arrived.
func (s *stretch) any() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Len()+s.reasoning.Len()+len(s.calls) > 0
}

// finish tells what the answer has beyond what was streamed, and reports whether it begins with that.
func (s *stretch) finish(reasoning, text string) bool {
	moreReasoning, ok1 := strings.CutPrefix(reasoning, s.reasoning.String())
	moreText, ok2 := strings.CutPrefix(text, s.text.String())
	if !ok1 || !ok2 {
		return false
	}
	if moreReasoning != "" {
		s.tell(nodes.Delta{Reasoning: moreReasoning})
	}
	if moreText != "" {
		s.tell(nodes.Delta{Text: moreText})
	}
	return true
}

// partial is an answer of what had arrived.
func (s *stretch) partial() nodes.Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := said(s.reasoning.String(), "", s.text.String())
	m.Partial = true
	return nodes.Answer{Message: m}
}

func said(reasoning, signature, text string, calls ...message.Call) message.Message {
	m := message.Assistant(strings.ToValidUTF8(text, "\uFFFD"), calls...)
	if reasoning != "" {
		m.Parts = append([]message.Part{message.Reasoning(strings.ToValidUTF8(reasoning, "\uFFFD"), signature)}, m.Parts...)
	}
	return m
}
