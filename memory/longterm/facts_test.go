package longterm_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/facttest"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/message"
)

// as is a user of the same store with another name.
func (u *user) as(name string) *user {
	u.Helper()
	sc, err := memory.NewScope("acme", name)
	if err != nil {
		u.Fatal(err)
	}
	c := *u
	c.sc = sc
	return &c
}

// R70, R71, R72, R81, report 132: of 200 pairs in Chinese and English, of negations, numbers, environments, dates and names, without a key,
// the later is current in at least 98 of 100 and the earlier in the history of each of these; no neighbour is lost; whatever the order.
func TestPairs(t *testing.T) {
	t.Parallel()
	pairs := facttest.Pairs(1, 200)
	orders := map[string]bool{"in order": false, "the older one later": true}
	if testing.Short() {
		delete(orders, "the older one later")
	}
	for name, turned := range orders {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, longterm.Options{})
			wrong := 0
			for i, p := range pairs {
				u := newUser(t, s).as(fmt.Sprint("user-", i))
				if err := u.pair(p, turned); err != "" {
					wrong++
					t.Logf("%s %s: %q, then %q: %s", p.Lang, p.Class, p.Old, p.New, err)
				}
			}
			if wrong > len(pairs)*2/100 {
				t.Errorf("%d of %d pairs are wrong", wrong, len(pairs))
			}
		})
	}
}

// kindOf is what sort of memory the pairs of a class are: how the user wants things is in the profile, whatever the words of the question.
func kindOf(class string) longterm.Kind {
	switch class {
	case "order", "次序":
		return longterm.Habit
	case "language", "语言", "length", "长度", "channel", "渠道", "color", "颜色":
		return longterm.Preference
	}
	return longterm.Semantic
}

// pair says what is wrong with a pair. A lost neighbour fails the test.
func (u *user) pair(p facttest.Pair, turned bool) string {
	u.Helper()
	at := func(text, id string, days int) longterm.Draft {
		d := fact(text, id)
		d.Source.At = time.Date(2026, 1, 1+days, 0, 0, 0, 0, time.UTC)
		d.Kind = kindOf(p.Class)
		return d
	}
	var neighbours []string
	for i, n := range p.Neighbours {
		out := u.add(at(n, fmt.Sprint("n", i), i))[0]
		neighbours = append(neighbours, out.ID)
	}
	drafts := []longterm.Draft{at(p.Old, "old", 10), at(p.New, "new", 20)}
	if turned {
		slices.Reverse(drafts)
	}
	out := u.add(drafts...)
	if turned {
		slices.Reverse(out)
	}
	for i, id := range neighbours {
		if got := u.get(id); !got.Current() || got.Text != p.Neighbours[i] || len(got.Sources) != 1 {
			u.Errorf("%q, then %q: the neighbour %q is %+v", p.Old, p.New, p.Neighbours[i], got)
		}
	}
	old, now := u.get(out[0].ID), u.get(out[1].ID)
	var found []string
	for _, h := range u.search(longterm.Query{Text: p.Question, Limit: 10, Profile: 3}) {
		found = append(found, h.Text)
	}
	switch {
	case !now.Current() || old.Current() || old.End != longterm.Superseded || old.By != now.ID:
		return fmt.Sprintf("%s and %s", out[0].Fate, out[1].Fate)
	case slices.Contains(found, p.Old) || !slices.Contains(found, p.New):
		return fmt.Sprintf("%q finds %q", p.Question, found)
	}
	h, err := u.s.History(u.Context(), u.sc, u.a, now.ID)
	if err != nil || len(h) != 2 || h[0].Text != p.Old || h[1].Text != p.New {
		u.Errorf("%q, then %q: history %+v (%v)", p.Old, p.New, h, err)
	}
	return ""
}

func (u *user) get(id string) longterm.Item {
	u.Helper()
	i, err := u.s.Get(u.Context(), u.sc, u.a, id)
	if err != nil {
		u.Fatal(err)
	}
	return i
}

// R68: of 1,000 credentials of all forms none is in a store, whichever way it came: not in items, not in the outbox, not in what is found.
func TestCanaries(t *testing.T) {
	t.Parallel()
	n := 1000
	if testing.Short() {
		n = 100
	}
	s := open(t, longterm.Options{Extractor: echo{}})
	for i, c := range facttest.Canaries(1, n) {
		u := newUser(t, s).as(fmt.Sprint("user-", i))
		doc, err := json.Marshal(map[string]string{"note": c.Text})
		if err != nil {
			t.Fatal(err)
		}
		d := fact(c.Text, "a")
		d.Meta, d.Value = map[string]string{"note": c.Text}, doc
		u.add(d)
		x := longterm.Exchange{Conversation: "c", Messages: []message.Message{message.User(c.Text), message.Tool(message.Call{ID: "c", Name: "tool"}.Done(c.Text))}}
		if err := u.s.Remember(u.Context(), u.sc, u.a, x); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(u.all(), c.Secret) {
			t.Errorf("%s: %q waits in the outbox, or was added: %s", c.Form, c.Secret, u.all())
		}
		if _, err := u.s.Drain(u.Context()); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(u.all(), c.Secret) {
			t.Errorf("%s: %q was extracted: %s", c.Form, c.Secret, u.all())
		}
		for _, h := range u.search(longterm.Query{Text: c.Text, Limit: 20}) {
			if strings.Contains(h.Text+h.Words+fmt.Sprint(h.Meta), c.Secret) {
				t.Errorf("%s: %q is found", c.Form, c.Secret)
			}
		}
	}
}

// all is everything that can be read of a user, without the escapes of JSON.
func (u *user) all() string {
	u.Helper()
	var b strings.Builder
	for after := ""; ; {
		page, err := u.s.List(u.Context(), u.sc, u.a, longterm.Page{After: after, Past: true, Inferred: true, Limit: 1000})
		if err != nil {
			u.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		after = page[len(page)-1].ID
		for _, i := range page {
			var value map[string]string
			if len(i.Value) > 0 {
				if err := json.Unmarshal(i.Value, &value); err != nil {
					u.Fatal(err)
				}
			}
			fmt.Fprintf(&b, "%s\n%s\n%s\n%v\n%v\n", i.Key, i.Text, i.Words, i.Meta, value)
		}
	}
	for after := ""; ; {
		page, err := u.s.Jobs(u.Context(), u.sc, u.a, after, 1000)
		if err != nil {
			u.Fatal(err)
		}
		if len(page) == 0 {
			return b.String()
		}
		after = page[len(page)-1].ID
		for _, j := range page {
			fmt.Fprintf(&b, "%+v\n%s\n", j.Texts, j.Fault)
		}
	}
}
