package compact

import (
	"context"
	"fmt"
	"slices"

	"github.com/holdfast-go/holdfast/message"
)

// evict takes the groups that the plan gives up out of the history, chunk by chunk. After each chunk the run is whole: its
// messages are archived, summarized and gone. So an ended context costs at most one chunk.
func (r *run) evict(ctx context.Context) error {
	for _, chunk := range r.chunks(r.plan()) {
		if ctx.Err() != nil {
			return fmt.Errorf("compact: %w", context.Cause(ctx))
		}
		if err := r.fold(ctx, chunk); err != nil {
			return err
		}
	}
	return nil
}

// plan returns the groups to take out, oldest first. What is held counts first, then the rounds from the latest back: the
// first Rounds of them stay if they fit under the trigger, more if they fit under the target. Of a latest round that is
// too long itself the newest groups stay.
func (r *run) plan() []message.Group {
	groups := message.Groups(r.history)
	rounds := roundsOf(groups)
	keep := r.held(groups, rounds)
	used := r.options.SummaryCap
	for i, g := range groups {
		if keep[i] {
			used += r.size(g)
		}
	}
	for n, round := range slices.Backward(rounds) {
		rest := 0
		for i := round.from; i < round.to; i++ {
			if !keep[i] {
				rest += r.size(groups[i])
			}
		}
		limit := r.options.target()
		if len(rounds)-n <= r.options.Rounds {
			limit = r.options.trigger()
		}
		if used+rest > limit {
			if n == len(rounds)-1 {
				r.keepNewest(groups[round.from:round.to], keep[round.from:round.to], used)
			}
			break
		}
		used += rest
		for i := round.from; i < round.to; i++ {
			keep[i] = true
		}
	}
	var out []message.Group
	for i, g := range groups {
		if !keep[i] {
			out = append(out, g)
		}
	}
	return out
}

func (r *run) keepNewest(groups []message.Group, keep []bool, used int) {
	for i, g := range slices.Backward(groups) {
		if keep[i] {
			continue
		}
		if used += r.size(g); used > r.options.target() {
			return
		}
		keep[i] = true
	}
}

func (r *run) size(g message.Group) int {
	n := 0
	for i := range g.Messages {
		n += r.sizes[g.Start+i]
	}
	return n
}

// held says which groups stay in any case: system messages, the latest user message, the newest group, and open calls; if a call is
// open or has the latest user message before its result, also the user message that began its round: a history begins with the user.
func (r *run) held(groups []message.Group, rounds []round) []bool {
	keep := make([]bool, len(groups))
	latest := r.latestUser()
	for _, round := range rounds {
		for i := round.from; i < round.to; i++ {
			g := groups[i]
			open := len(message.Open(g.Messages)) > 0
			asked := g.Start <= latest && latest < g.Start+len(g.Messages)
			keep[i] = keep[i] || open || g.Messages[0].Role == message.RoleSystem || asked || i == len(groups)-1
			if open || asked && g.Start < latest { // said between a call and its result
				keep[round.head] = true
			}
		}
	}
	return keep
}

// A round is a part of the groups: a user message and all up to the next one that does not follow directly. What stands
// before the first user message is a round too.
type round struct{ from, to, head int } // head: the group it begins with, system messages left out

func roundsOf(groups []message.Group) []round {
	var rounds []round
	before := message.RoleSystem // role that began the last group, system messages left out
	for i, g := range groups {
		role := g.Messages[0].Role
		if role == message.RoleSystem && i > 0 {
			rounds[len(rounds)-1].to = i + 1
			continue
		}
		if i == 0 || role == message.RoleUser && before != message.RoleUser {
			rounds = append(rounds, round{from: i, head: i})
		}
		rounds[len(rounds)-1].to = i + 1
		before = role
	}
	return rounds
}

// A chunk is what is summarized at once.
type chunk struct {
	groups []message.Group
	tokens int
}

// chunks joins neighbouring groups as long as a Summarizer can be told them together with the summary so far.
func (r *run) chunks(groups []message.Group) []chunk {
	var chunks []chunk
	for _, g := range groups {
		n := r.counter.Count(transcript(g.Messages)) + 1
		if len(chunks) == 0 || chunks[len(chunks)-1].tokens+n > r.room() {
			chunks = append(chunks, chunk{})
		}
		last := &chunks[len(chunks)-1]
		last.groups, last.tokens = append(last.groups, g), last.tokens+n
	}
	return chunks
}

// room is how much text a Summarizer is told at once, beside the summary so far.
func (r *run) room() int { return r.options.ChunkCap - r.options.SummaryCap }

// fold archives a chunk, adds it to the summary and takes it out.
func (r *run) fold(ctx context.Context, c chunk) error {
	var messages []message.Message
	for _, g := range c.groups {
		messages = append(messages, g.Messages...)
	}
	d := readDigest(r.summary.Text)
	id, index, err := r.keeper.archive(ctx, d.index, messages)
	if err != nil {
		return err
	}
	text := Excerpt(r.counter, transcript(messages), ExcerptOptions{MaxTokens: r.room(), Result: id})
	d.index, d.covered = index, d.covered+len(messages)
	request := Request{Previous: d.prose, Text: text, MaxTokens: d.proseCap(r.counter, r.options.SummaryCap)}
	if d.prose, err = r.summarize(ctx, request); err != nil {
		return err
	}
	d.facts = mergeFacts(d.facts, findFacts(r.counter, messages))
	r.summary.Text = d.fit(r.counter, r.options.SummaryCap).String()
	r.report.Archives = append(r.report.Archives, id)
	for _, g := range c.groups {
		for i, m := range g.Messages {
			r.gone[g.Start+i] = true
			r.cover(m.ID)
		}
	}
	return nil
}

func (r *run) cover(id string) {
	r.report.Evicted = append(r.report.Evicted, id)
	covers := append(r.summary.Covers, id)
	r.summary.Covers = covers[max(0, len(covers)-MaxCovers):]
}

// summarize asks the Summarizer, as long as it has not failed too often. It returns what there was if it fails.
func (r *run) summarize(ctx context.Context, request Request) (string, error) {
	for r.options.Summarizer != nil && len(r.report.Failures) < r.options.Attempts {
		r.report.Requests++
		out, err := r.options.Summarizer.Summarize(ctx, request)
		if ctx.Err() != nil {
			return "", fmt.Errorf("compact: %w", context.Cause(ctx))
		}
		if err == nil {
			out, err = r.accept(out, request.Previous, request.Text)
		}
		if err == nil {
			return out, nil
		}
		r.report.Failures = append(r.report.Failures, err.Error())
	}
	return request.Previous, nil
}

// accept is the progress check: a summary that is above its limit and no shorter than what it was made of is none.
func (r *run) accept(out, previous, text string) (string, error) {
	limit := max(r.options.SummaryCap, r.counter.Count(previous)+r.counter.Count(text)-1)
	if longer(r.counter, out, limit) {
		return "", fmt.Errorf("the summary is no shorter than what it was made of")
	}
	if out = clean(out); out == "" {
		return "", fmt.Errorf("the summary is empty")
	}
	return out, nil
}
