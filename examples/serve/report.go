package main

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/state"
)

// A Report is the state: lines that are written one after another, and what a person has said to them.
type Report struct {
	Topic  state.Last[string] `json:"topic"`
	Lines  state.List[string] `json:"lines"`
	Status state.Last[string] `json:"status"`
}

// A Verdict is what a person answers.
type Verdict struct {
	Publish bool   `json:"publish"`
	Reason  string `json:"reason,omitempty"`
}

// length is how many lines a report has.
const length = 5

// report writes a report line by line, a superstep each, and asks a person whether to publish it. While a line is being
// written its words are events, as the tokens of a model would be.
func report(pace time.Duration) *graph.Graph[Report] {
	g := graph.New[Report]("report")
	g.Branch("write", func(ctx context.Context, s *Report) (graph.Next, error) {
		n := s.Lines.Len() + 1
		line := fmt.Sprintf("%s, part %d.", s.Topic.Get(), n)
		if err := say(ctx, line, pace); err != nil {
			return graph.Next{}, err
		}
		s.Lines.Append(line)
		if n%length != 0 {
			return graph.To("write"), nil
		}
		return graph.To("review"), nil
	}, "write", "review")
	g.Node("review", func(ctx context.Context, s *Report) error {
		v, err := graph.Ask[Verdict](ctx, "publish", fmt.Sprintf("Publish %q?", s.Topic.Get()))
		if err != nil {
			return err
		}
		s.Status.Set(map[bool]string{true: "published", false: "rejected"}[v.Publish])
		return nil
	})
	g.Edge(graph.Start, "write")
	return g
}

// say tells a line as it comes into being.
func say(ctx context.Context, line string, pace time.Duration) error {
	words := []rune(line)
	for _, half := range []string{string(words[:len(words)/2]), string(words[len(words)/2:])} {
		if err := graph.Emit(ctx, graph.ModelToken, half); err != nil {
			return err
		}
		select {
		case <-time.After(pace / 2):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
