package nodes

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

// A Query asks what is known about a message of the user.
type Query struct {
	Scope        memory.Scope
	Agent        memory.Agent
	Conversation string
	Text         string   // what the user said
	Entities     []string // values of confirmed facts: what "it" may stand for
}

// LongTerm is what one user told us, across conversations. Memories is the one over a store of memory/longterm.
type LongTerm interface {
	// Recall returns items for a prompt, none if nothing fits. A failure is logged and the turn goes on without.
	Recall(ctx context.Context, q Query) ([]working.Item, error)

	// Remember takes an exchange into a durable outbox and returns; extraction comes later. It may be called again with the
	// same exchange.
	Remember(ctx context.Context, e Exchange) error
}

// An Exchange is what was said in one turn, and to whom.
type Exchange struct {
	Scope        memory.Scope
	Agent        memory.Agent
	Conversation string
	Messages     []message.Message // the user's message and all that followed, with the results of tools
}

// Knowledge is what documents say. Documents is the one over a store of memory/knowledge.
type Knowledge interface {
	// Retrieve returns items for a prompt, and what the documents do not say: of that the model is told, so that it does not
	// answer from anything else. After a failure it is told that documents could not be read.
	Retrieve(ctx context.Context, q Query) (Retrieved, error)
}

// Retrieved is what documents say to a question.
type Retrieved struct {
	Items   []working.Item
	Missing []string // parts of the question that no document answers, in the user's words
}

// LoadLongTermMemory is the body of load_long_term_memory. It asks with what the user said and with the entities of the session
// state, so that "its error log?" finds something. Without a LongTerm it does nothing.
func (k *Kit) LoadLongTermMemory(ctx context.Context, t *Turn) error {
	if k.c.LongTerm == nil || !k.c.Profile.Uses(working.LongTerm) {
		return nil
	}
	items, err := recall(ctx, k, t, k.c.LongTerm.Recall)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		k.c.Logger.Warn("nodes: long-term memory could not be read; the turn goes on without", "err", err)
	}
	t.Memories.Set(clean(items))
	return nil
}

// RetrieveKnowledge is the body of retrieve_knowledge. Without a Knowledge it does nothing.
func (k *Kit) RetrieveKnowledge(ctx context.Context, t *Turn) error {
	if k.c.Knowledge == nil || !k.c.Profile.Uses(working.Knowledge) && !k.c.Profile.Uses(working.Graph) {
		return nil
	}
	found, err := recall(ctx, k, t, k.c.Knowledge.Retrieve)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		k.c.Logger.Warn("nodes: documents could not be read", "err", err)
		t.Notes.Append(working.Note{ID: "documents", Text: k.text(
			"The documents could not be read just now. Say so instead of answering what only they can tell.",
			"目前无法读取文档。凡是只有文档才能回答的问题，请直接说明，不要自行作答。")})
	}
	if len(found.Missing) > 0 {
		t.Notes.Append(working.Note{ID: "documents", Text: k.missing(found.Missing)})
	}
	t.Documents.Set(clean(found.Items))
	return nil
}

// missing tells the model what the documents do not say. // R107
func (k *Kit) missing(parts []string) string {
	quoted := make([]string, len(parts))
	for i, p := range parts {
		quoted[i] = strconv.Quote(strings.ToValidUTF8(p, "\uFFFD"))
	}
	list := strings.Join(quoted, ", ")
	return k.text(
		"The documents say nothing about "+list+". Where only they could tell, say that they do not, and answer from nothing else.",
		"文档中没有关于"+list+"的内容。凡是只有文档才能回答的，请直接说明知识库没有，不要用其他内容作答。")
}

// recall asks what is known about the user's last message.
func recall[T any](ctx context.Context, k *Kit, t *Turn, find func(context.Context, Query) (T, error)) (found T, err error) {
	ctx, cancel := context.WithTimeout(ctx, k.c.RecallTime)
	defer cancel()
	last, ok := lastOfUser(t)
	if !ok {
		return found, nil
	}
	return find(ctx, Query{Scope: t.Scope.Get(), Agent: k.c.Agent, Conversation: t.Conversation.Get(), Text: last.Text(),
		Entities: entities(t.Session.Get())})
}

// clean returns a copy of items that a state can hold: documents may be anything, and a state has no text but UTF-8.
func clean(items []working.Item) []working.Item {
	items = slices.Clone(items)
	for i := range items {
		for _, text := range []*string{&items[i].ID, &items[i].Text, &items[i].Origin, &items[i].Subject, &items[i].Kind} {
			*text = strings.ToValidUTF8(*text, "\uFFFD")
		}
	}
	return items
}

// entities are the texts and numbers in the confirmed facts, by field, each once.
func entities(s session.State) (out []string) {
	seen := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if v != "" && !seen[v] {
				seen[v] = true
				out = append(out, v)
			}
		case json.Number:
			walk(v.String())
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				walk(v[name])
			}
		}
	}
	for _, f := range s.Facts {
		d := json.NewDecoder(bytes.NewReader(f.Value))
		d.UseNumber()
		var v any
		if d.Decode(&v) == nil {
			walk(v)
		}
	}
	return out
}
