package compact

import (
	"context"

	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

// trimResults replaces long results by excerpts that name the full text.
func (r *run) trimResults(ctx context.Context) error {
	current := r.current()
	for i, m := range r.history {
		if m.Role != message.RoleTool {
			continue
		}
		limit := r.options.ExcerptCap
		if current[i] {
			limit = r.options.ResultCap
		}
		if err := r.shorten(ctx, i, limit, limit); err != nil {
			return err
		}
	}
	return nil
}

// current says which messages belong to what is still going on: after the last answer of the model, or to an open call.
func (r *run) current() []bool {
	current := make([]bool, len(r.history))
	for i := len(r.history) - 1; i >= 0 && r.history[i].Role != message.RoleAssistant; i-- {
		current[i] = true
	}
	for _, g := range message.Groups(r.history) {
		open := len(message.Open(g.Messages)) > 0
		for i := range g.Messages {
			current[g.Start+i] = current[g.Start+i] || open
		}
	}
	return current
}

// trimLong cuts texts that would fill half of the target alone, so that they do not drive out all else.
func (r *run) trimLong(ctx context.Context) error {
	free := r.free()
	for i := range r.history {
		if free[i] {
			if err := r.shorten(ctx, i, max(r.options.target()/2, r.options.ResultCap), r.options.ResultCap); err != nil {
				return err
			}
		}
	}
	return nil
}

// squeeze cuts what stays, the oldest first, until it is below the trigger.
func (r *run) squeeze(ctx context.Context) error {
	free := r.free()
	for i := range r.history {
		if r.total() <= r.options.trigger() {
			return nil
		}
		if free[i] {
			if err := r.shorten(ctx, i, r.options.ExcerptCap, r.options.ExcerptCap); err != nil {
				return err
			}
		}
	}
	return nil
}

// free says which messages may be shortened: all but system messages, the latest user message and those with open calls.
func (r *run) free() []bool {
	free := make([]bool, len(r.history))
	latest := r.latestUser()
	open := map[string]bool{}
	for _, call := range message.Open(r.history) {
		open[call.ID] = true
	}
	for i, m := range r.history {
		free[i] = !r.gone[i] && i != latest && m.Role != message.RoleSystem
		for _, call := range m.Calls() {
			free[i] = free[i] && !open[call.ID]
		}
	}
	return free
}

// latestUser is the index of the latest user message, -1 if there is none.
func (r *run) latestUser() int {
	for i := len(r.history) - 1; i >= 0; i-- {
		if r.history[i].Role == message.RoleUser {
			return i
		}
	}
	return -1
}

// shorten replaces each text of a message that has more than limit tokens by an excerpt of at most size tokens.
func (r *run) shorten(ctx context.Context, i, limit, size int) error {
	if r.sizes[i] <= limit {
		return nil
	}
	m := r.history[i].Clone()
	done := len(r.report.Excerpts)
	err := r.shortenParts(ctx, m.Parts, Excerpted{Message: m.ID}, m.ID, "", limit, size)
	if len(r.report.Excerpts) > done {
		r.history[i], r.sizes[i] = m, working.CountMessage(r.counter, m)
	}
	return err
}

func (r *run) shortenParts(ctx context.Context, parts []message.Part, note Excerpted, call, name string, limit, size int) error {
	for i := range parts {
		p := &parts[i]
		switch {
		case p.Result != nil:
			if err := r.shortenParts(ctx, p.Result.Parts, note, p.Result.CallID, p.Result.Name, limit, size); err != nil {
				return err
			}
		case p.Kind == message.KindText && longer(r.counter, p.Text, limit):
			id, full, err := r.keeper.full(ctx, call, name, p.Text)
			if err != nil {
				return err
			}
			p.Text = Excerpt(r.counter, full, ExcerptOptions{MaxTokens: size, Result: id, Question: r.question()})
			note.Result, note.Tokens = id, r.counter.Count(p.Text)
			r.report.Excerpts = append(r.report.Excerpts, note)
		}
	}
	return nil
}

// question is the latest user message: what results are read for.
func (r *run) question() string {
	if i := r.latestUser(); i >= 0 {
		return r.history[i].Text()
	}
	return ""
}
