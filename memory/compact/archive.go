package compact

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/message"
)

// Names of the results that compaction stores; those of tools have the names of their tools.
const (
	ArchiveName = "compact.archive" // the transcript of messages that were taken out
	IndexName   = "compact.index"   // a line for each archive, the newest last
)

// maxEntries is how many archives an index lists. The next one begins with the id of the full one.
const maxEntries = 64

const olderPrefix = "older archives: result "

// A keeper stores full texts of one conversation. Ids depend on content alone, so storing again after a crash changes
// nothing.
type keeper struct {
	results      memory.Results
	scope        memory.Scope
	conversation string
}

func (k keeper) put(ctx context.Context, call, name, body string) (string, error) {
	call, name = label(call), label(name)
	id := memory.ResultID(k.scope, k.conversation, call, []byte(body))
	err := k.results.PutResult(ctx, k.scope, memory.Result{ID: id, Conversation: k.conversation, Call: call, Name: name, Body: []byte(body)})
	if err != nil {
		return "", fmt.Errorf("compact: store the full text of %q: %w", call, err)
	}
	return id, nil
}

// maxLabel is how long the names of a result may be, in bytes: a store has a limit.
const maxLabel = 200

// label makes a name that any store takes: models make up ids and names, and one that were refused would block compaction.
func label(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, clip(valid(text), maxLabel))
}

// full stores a text that is to be replaced by an excerpt. If it is one already, the full text is what it was made of: an
// excerpt of an excerpt would name a result that is not the full text.
func (k keeper) full(ctx context.Context, call, name, text string) (id, full string, err error) {
	if m := footLine.FindStringSubmatch(text); m != nil && m[2] != "" {
		r, err := k.results.Result(ctx, k.scope, m[2])
		if err != nil && !errors.Is(err, memory.ErrNoResult) {
			return "", "", fmt.Errorf("compact: read the full text of %q: %w", call, err)
		}
		body := string(r.Body) // anybody can write such a line, so it is believed only of what was stored for this very text
		if err == nil && r.Call == label(call) && r.Conversation == k.conversation && footer(valid(body), m[1], m[2]) == m[0] {
			return m[2], body, nil
		}
	}
	id, err = k.put(ctx, call, name, text)
	return id, text, err
}

// archive stores the transcript of messages, then an index that leads to it and to all before it.
func (k keeper) archive(ctx context.Context, index string, messages []message.Message) (id, next string, err error) {
	first, last := messages[0].ID, messages[len(messages)-1].ID
	id, err = k.put(ctx, first, ArchiveName, transcript(messages))
	if err != nil {
		return "", "", err
	}
	entries, err := k.entries(ctx, index)
	if err != nil {
		return "", "", err
	}
	if listed(entries, id) { // of an attempt whose state was not kept in full
		return id, index, nil
	}
	if len(entries) >= maxEntries {
		entries = []string{olderPrefix + index}
	}
	entries = append(entries, fmt.Sprintf("result %s: %s, %s to %s: %s", id, count(len(messages), "message"), first, last, topic(messages)))
	next, err = k.put(ctx, first, IndexName, strings.Join(entries, "\n"))
	return id, next, err
}

// entries reads an index. One that is gone is only pointed to: what it led to was deleted.
func (k keeper) entries(ctx context.Context, index string) ([]string, error) {
	if index == "" {
		return nil, nil
	}
	r, err := k.results.Result(ctx, k.scope, index)
	if errors.Is(err, memory.ErrNoResult) {
		return []string{olderPrefix + index}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("compact: read the index %s: %w", index, err)
	}
	return strings.Split(string(r.Body), "\n"), nil
}

func listed(entries []string, id string) bool {
	for _, e := range entries {
		if strings.HasPrefix(e, "result "+id+":") {
			return true
		}
	}
	return false
}

// topic is what a person would recognise messages by: how the user began.
func topic(messages []message.Message) string {
	for _, role := range []message.Role{message.RoleUser, message.RoleAssistant, message.RoleTool} {
		for _, m := range messages {
			if text := short(strings.ToValidUTF8(m.Text(), "\uFFFD"), 90); m.Role == role && text != "" {
				return string(role) + ": " + text
			}
		}
	}
	return "no text"
}
