package audit

import (
	"context"
	"slices"
	"time"
)

// A Filter says which entries to list. Every field that is set narrows it.
type Filter struct {
	Tenant       string // required
	User         string
	Agent        string
	Box          string
	Conversation string
	Item         string    // id of what was returned or written
	From, To     time.Time // when; To is not part of it
	After        int64     // the N after which it begins
	Limit        int       // at most 1000; 0 is 100
}

// List returns entries by N. The N of the last of a page is the After of the next; an empty page is the end. It costs a select by user,
// agent, box and time; conversations and items are sealed, so those are looked for among all that this finds.
func (l *Log) List(ctx context.Context, f Filter) (out []Entry, err error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	f.Limit = min(f.Limit, 1000)
	err = l.about(ctx, f.Tenant, l.o.OpTimeout, func(ctx context.Context) error {
		return l.back.View(ctx, f.Tenant, func(tx Tx) (err error) {
			out, err = f.find(ctx, tx)
			return err
		})
	})
	return out, err
}

func (f Filter) find(ctx context.Context, tx Tx) (out []Entry, err error) {
	sel := Select{After: f.After, Agent: f.Agent, Box: f.Box, From: f.From, To: f.To, Limit: f.Limit}
	if f.User != "" {
		names, err := tx.NamesOf(ctx, []string{f.User})
		if err != nil || len(names) == 0 {
			return nil, err
		}
		sel.User = names[0].Token
	}
	if f.Conversation != "" || f.Item != "" {
		sel.Limit = page
	}
	err = eachPage(ctx, tx, sel, func(rows []Row, names map[string]Name) (more bool, err error) {
		for _, r := range rows {
			e := r.entry(f.Tenant, nameOf(names, r.User))
			if f.has(e) && len(out) < f.Limit {
				out = append(out, e)
			}
		}
		return len(out) < f.Limit, nil
	})
	return out, err
}

func (f Filter) has(e Entry) bool {
	return (f.Conversation == "" || f.Conversation == e.Conversation) && (f.Item == "" || slices.Contains(e.Items, f.Item))
}

// page is how many rows are read at once.
const page = 1000

// eachPage calls f with the rows of a selection and the names in them, page by page, until it returns false.
func eachPage(ctx context.Context, tx Tx, sel Select, f func([]Row, map[string]Name) (more bool, err error)) error {
	for {
		rows, err := tx.Rows(ctx, sel)
		if err != nil || len(rows) == 0 {
			return err
		}
		names, err := namesIn(ctx, tx, rows)
		if err != nil {
			return err
		}
		if more, err := f(rows, names); err != nil || !more || len(rows) < sel.Limit {
			return err
		}
		sel.After = rows[len(rows)-1].N
	}
}

// namesIn are those of the users in rows who were not forgotten.
func namesIn(ctx context.Context, tx Tx, rows []Row) (map[string]Name, error) {
	var tokens []string
	for _, r := range rows {
		if r.User != "" {
			tokens = append(tokens, r.User)
		}
	}
	if len(tokens) == 0 {
		return nil, nil
	}
	slices.Sort(tokens)
	found, err := tx.Names(ctx, slices.Compact(tokens))
	names := map[string]Name{}
	for _, n := range found {
		names[n.Token] = n
	}
	return names, err
}

func nameOf(names map[string]Name, token string) *Name {
	if n, ok := names[token]; ok {
		return &n
	}
	return nil
}
