package nodes

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/longterm"
)

// Tools are what a user can ask for about their memories, through a model that reads and writes as an agent: "remember" keeps words that the
// user has said in this turn, "memories" lists what is known, "forget" removes it for good once a person has approved: the question shows what
// it is. What they change holds in the very next search. // R83
func (m Memories) Tools(a memory.Agent) []Tool {
	t := memoryTools{m.Store, a}
	return []Tool{
		NewTool("remember", "Keeps something the user just said beyond this conversation, when they ask for it.", t.remember,
			ToolOptions[rememberArgs, string]{Actions: []string{"remember"}}),
		NewTool("memories", "Lists what is remembered of the user, with ids.", t.list,
			ToolOptions[memoriesArgs, []remembered]{ReadOnly: true}),
		NewTool("forget", "Removes memories for good, when the user asks for it. Ids are those of the tool memories.", t.forget,
			ToolOptions[forgetArgs, string]{AskIf: t.shown, Actions: []string{"forget"}}),
	}
}

type memoryTools struct {
	store *longterm.Store
	agent memory.Agent
}

type rememberArgs struct {
	Quote string        `json:"quote" description:"the user's own words, exactly as they stand in their message"`
	Kind  longterm.Kind `json:"kind" enum:"preference,habit,semantic,episode" description:"what the user likes or refuses; how they work; what is so; what happened"`
}

// remember keeps words of the user. A model's own would make its guesses facts. // R77, T15
func (t memoryTools) remember(ctx context.Context, a rememberArgs) (string, error) {
	in, ok := Current(ctx)
	if !ok {
		return "", ErrNoTurn
	}
	quote := strings.TrimSpace(a.Quote)
	if quote == "" || !strings.Contains(in.Said.Text(), quote) {
		return "", errors.New("these are not words of the user's message: quote them exactly as they stand there")
	}
	out, err := t.store.Add(ctx, in.Scope, t.agent, longterm.Draft{
		Kind: a.Kind, Text: quote, Origin: longterm.FromUser,
		Source: longterm.Source{Conversation: in.Conversation, Message: in.Said.ID, At: time.Now()},
	})
	if err != nil {
		return "", err
	}
	if out[0].Fate == longterm.Dropped {
		return "", fmt.Errorf("it was not kept: %s", out[0].Reason)
	}
	said := string(out[0].Fate) + " " + out[0].ID
	if out[0].Redacted {
		said += ", without what was secret in it"
	}
	return said, nil
}

type memoriesArgs struct {
	About string `json:"about,omitzero" description:"what they are about; all of them if it is missing"`
	After string `json:"after,omitzero" description:"the last id of the page before"`
}

// remembered is a memory as a model reads it.
type remembered struct {
	ID    string    `json:"id"`
	Text  string    `json:"text"`
	Since time.Time `json:"since"`
}

func (t memoryTools) list(ctx context.Context, a memoriesArgs) ([]remembered, error) {
	in, ok := Current(ctx)
	if !ok {
		return nil, ErrNoTurn
	}
	out := []remembered{}
	if a.About == "" {
		items, err := t.store.List(ctx, in.Scope, t.agent, longterm.Page{After: a.After, Limit: 50})
		for _, i := range items {
			out = append(out, remembered{i.ID, i.Text, i.From})
		}
		return out, err
	}
	hits, err := t.store.Search(ctx, in.Scope, t.agent, longterm.Query{Text: a.About, Limit: 20})
	for _, h := range hits {
		if !h.Pending { // it has no id yet by which it could be forgotten
			out = append(out, remembered{h.ID, h.Text, h.From})
		}
	}
	return out, err
}

type forgetArgs struct {
	IDs []string `json:"ids" description:"of the memories"`
}

// shown asks a person, with the words of what would be forgotten. Ids alone say nothing.
func (t memoryTools) shown(ctx context.Context, a forgetArgs) (string, bool) {
	in, _ := Current(ctx)
	reason := "Forget for good? / 永久忘记？"
	for _, id := range a.IDs {
		text := "?"
		if i, err := t.store.Get(ctx, in.Scope, t.agent, id); err == nil {
			text = strconv.Quote(i.Text)
		}
		reason += "\n" + text
	}
	return reason, len(a.IDs) > 0
}

func (t memoryTools) forget(ctx context.Context, a forgetArgs) (string, error) {
	in, ok := Current(ctx)
	if !ok {
		return "", ErrNoTurn
	}
	if len(a.IDs) == 0 {
		return "", errors.New("which ones? Name ids of the tool memories")
	}
	if err := t.store.Forget(ctx, in.Scope, t.agent, a.IDs...); err != nil {
		return "", err
	}
	return fmt.Sprintf("forgotten: %d", len(a.IDs)), nil
}
