package govern

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/record"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/state"
)

// A turn is one run that answers a message, as the log of its thread has it.
type turn struct {
	key          checkpoint.Key
	branch       int32
	run          string
	conversation string
	message      string // of the user
	text         string // of that message
	begun        time.Time
	wasRead      bool           // long-term memory was asked
	read         []working.Item // of long-term memory
	prompts      []logged
}

// A logged prompt is a manifest and where it stands.
type logged struct {
	pos, step int64
	at        time.Time
	manifest  working.Manifest
}

// asked is what a run of package nodes is begun with.
type asked struct {
	Scope   memory.Scope `json:"scope"`
	Message string       `json:"message"`
}

// readTurn finds the turn that the question is about.
func (w *inquiry) readTurn(ctx context.Context) error {
	if w.boxes.Threads == nil {
		return nil
	}
	heads, err := w.heads(ctx)
	if err != nil {
		return err
	}
	for _, h := range heads {
		if w.turn != nil && w.turn.begun.After(h.Updated) {
			return nil // nothing in this thread and those behind it is later
		}
		t, err := w.lastTurn(ctx, h)
		if err != nil {
			return err
		}
		if t != nil && (w.turn == nil || t.begun.After(w.turn.begun)) {
			w.turn = t
		}
	}
	return nil
}

// heads are those of the user's threads in which it may be, the latest first.
func (w *inquiry) heads(ctx context.Context) (out []checkpoint.Head, err error) {
	filter := threads{w.boxes.Threads, w.boxes.Tenant}.of(w.q.Scope)
	for {
		found, err := w.boxes.Threads.Threads(ctx, filter)
		if err != nil {
			return nil, err
		}
		for _, h := range found {
			if c := w.q.Conversation; c == "" || conversationOf(h) == c {
				out = append(out, h)
			}
		}
		if len(found) < filter.Limit {
			break
		}
		filter.After = found[len(found)-1].Key
	}
	slices.SortStableFunc(out, func(a, b checkpoint.Head) int { return b.Updated.Compare(a.Updated) })
	return out, nil
}

// conversationOf is the conversation of a thread: nodes.RunOptions notes it, and without that it has the thread's name.
func conversationOf(h checkpoint.Head) string { return cmp.Or(h.Meta["conversation"], h.Thread) }

// lastTurn is the latest turn of a thread that the question may be about, or nil. It reads the newest records, and more only if it is
// not among them.
func (w *inquiry) lastTurn(ctx context.Context, h checkpoint.Head) (*turn, error) {
	for n := 256; ; n *= 8 {
		recs, err := w.boxes.Threads.Read(ctx, checkpoint.Query{
			Chain: checkpoint.Chain{Key: h.Key, Branch: h.Active}, To: -1, Limit: n, Newest: true,
		})
		if err != nil {
			return nil, err
		}
		turns, err := turnsOf(recs, h)
		if err != nil {
			return nil, err
		}
		for _, t := range slices.Backward(turns) {
			if t.scope == w.q.Scope && (w.q.At.IsZero() || !t.begun.After(w.q.At)) {
				return &t.turn, nil
			}
		}
		if len(recs) < n {
			return nil, nil
		}
	}
}

// An owned turn is one with the scope that it was begun for.
type owned struct {
	turn
	scope memory.Scope
}

// turnsOf are the turns whose beginnings are among some records.
func turnsOf(recs []checkpoint.Record, h checkpoint.Head) (out []owned, err error) {
	results := map[string]record.Writes{}
	for _, r := range recs {
		var ws record.Writes
		switch r.Kind {
		case checkpoint.KindInput:
			var in record.Input
			if err := record.Decode(r, &in); err != nil {
				return nil, err
			}
			out = append(out, owned{turn: turn{key: h.Key, branch: h.Active, run: in.Run, conversation: conversationOf(h), begun: r.At}})
			ws = in.Writes
		case checkpoint.KindResult:
			var res record.Result
			if err := record.Decode(r, &res); err != nil {
				return nil, err
			}
			results[res.ID] = res.Writes
		case checkpoint.KindEntry:
			var e record.Entry
			if err := record.Decode(r, &e); err != nil {
				return nil, err
			}
			for _, t := range e.Tasks {
				if t.Ref {
					t.Writes = results[t.ID]
				}
				ws = append(ws, t.Writes...)
			}
			clear(results)
		}
		if len(out) > 0 {
			if err := out[len(out)-1].note(r, ws); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// note takes what a record writes to the fields of nodes.Turn.
func (t *owned) note(r checkpoint.Record, ws []state.Write) error {
	for _, w := range ws {
		var err error
		switch w.Field[strings.LastIndexByte(w.Field, '.')+1:] {
		case "asked":
			var a asked
			if err = json.Unmarshal(w.Data, &a); err == nil {
				t.scope, t.message = a.Scope, a.Message
			}
		case "messages":
			if r.Kind == checkpoint.KindInput {
				t.text = textOf(w.Data)
			}
		case "memories":
			t.wasRead, t.read = true, nil
			err = json.Unmarshal(w.Data, &t.read)
		case "report":
			p := logged{pos: r.Pos, step: r.Step, at: r.At}
			if err = json.Unmarshal(w.Data, &p.manifest); err == nil {
				t.prompts = append(t.prompts, p)
			}
		}
		if err != nil && w.Kind == "last" { // else a program has other fields of these names
			return err
		}
	}
	return nil
}

// textOf is the text of the last message of a write to a keyed field.
func textOf(data json.RawMessage) (text string) {
	var rows [][]json.RawMessage
	if json.Unmarshal(data, &rows) != nil {
		return ""
	}
	for _, row := range rows {
		var m message.Message
		if len(row) == 2 && json.Unmarshal(row[1], &m) == nil {
			text = m.Text()
		}
	}
	return text
}

// entry is what a prompt notes of an item or message.
func (p logged) entry(id string) (working.Entry, bool) {
	for _, e := range p.manifest.Entries {
		if e.ID == id {
			return e, true
		}
	}
	return working.Entry{}, false
}

// log is what an explanation shows of the last prompt: of long-term memory the ids that are known.
func (t *turn) log(known func(id string) bool) *Prompt {
	if len(t.prompts) == 0 {
		return nil
	}
	p := t.prompts[len(t.prompts)-1]
	out := &Prompt{
		Thread: t.key.Thread, Conversation: t.conversation, Message: t.message, Run: t.run, Step: p.step, At: p.at,
		Before: p.manifest.Before, After: p.manifest.After, Limit: p.manifest.Limit,
	}
	for _, src := range []working.Source{working.LongTerm, working.Knowledge, working.Graph} {
		r := Read{Source: string(src)}
		for _, e := range p.manifest.Entries {
			if e.Source != src || src == working.LongTerm && !known(e.ID) {
				continue
			}
			switch e.Outcome {
			case working.Kept:
				r.Kept = append(r.Kept, e.ID)
			case working.Shortened:
				r.Shortened = append(r.Shortened, e.ID)
			default:
				r.Dropped = append(r.Dropped, e.ID)
			}
		}
		if len(r.Kept)+len(r.Shortened)+len(r.Dropped) > 0 {
			out.Read = append(out.Read, r)
		}
	}
	return out
}

// tells reports whether a message itself was told in the last prompt of the turn, as one of the conversation.
func (t *turn) tells(ctx context.Context, store checkpoint.Store, id string) (bool, error) {
	if len(t.prompts) == 0 {
		return false, nil
	}
	p := t.prompts[len(t.prompts)-1]
	if e, ok := p.entry(id); ok {
		return e.Outcome != working.Dropped, nil
	}
	view := graph.Bare(store)
	defer view.Close(context.WithoutCancel(ctx))
	info, err := view.StateAt(ctx, graph.Thread{Tenant: t.key.Tenant, ID: t.key.Thread}, p.pos)
	if err != nil {
		return false, err
	}
	var s struct {
		Messages []message.Message `json:"messages"`
	}
	if err := json.Unmarshal(info.JSON, &s); err != nil {
		return false, err
	}
	return slices.ContainsFunc(s.Messages, func(m message.Message) bool { return m.ID == id }), nil
}
