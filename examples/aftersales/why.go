package main

import (
	"context"
	"errors"
	"strings"

	"github.com/holdfast-go/holdfast/govern"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/textwidth"
)

// wonders is what a line asks why about, "" if it is a message to the agent.
func wonders(line string) string {
	for _, word := range []string{"why:", "为什么：", "为什么:"} {
		if n := len(word); len(line) >= n && strings.EqualFold(line[:n], word) {
			return strings.TrimSpace(line[n:])
		}
	}
	return ""
}

// why tells what became of words of the customer: whether they are remembered, and whether the agent was told at its latest turn.
func (d *desk) why(ctx context.Context, words string) error {
	who, err := agent()
	if err != nil {
		return err
	}
	boxes := govern.Boxes{Session: d.sessions, Longterm: d.memories, Threads: d.store, Tenant: graph.SingleTenant}
	e, err := steady(ctx, func() (govern.Explanation, error) {
		return boxes.Why(ctx, govern.Question{Scope: d.scope, Agent: who, Words: words})
	})
	if errors.Is(err, govern.ErrQuestion) {
		d.p.sayf(`Name some words that were said, as in "why: short answers".`, "请写出说过的话，例如“为什么：简短的回答”。")
		return nil
	}
	if err != nil {
		return err
	}
	d.p.line("", e.Line(d.p.zh))
	for _, s := range e.Stages {
		if s.Verdict != govern.Beyond {
			d.p.line("  "+textwidth.Pad(string(s.Name), 10), d.p.pick(s.English, s.Chinese))
		}
	}
	return nil
}
