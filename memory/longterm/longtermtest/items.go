package longtermtest

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/longterm"
)

var itemCases = []testCase{
	{name: "a draft becomes an item", line: "R73, R75, R76", why: "an item without its source cannot be explained", run: oneOfEach},
	{name: "bad drafts", line: "R6, report 130", why: "half a call stored is worse than none", run: badDrafts},
	{name: "said again", line: "R69, report 134", why: "the same fact twice is junk, and adding it must not delete it", run: saidAgain},
	{name: "pages", line: "R83", why: "a user who lists memories must see each once", run: pages},
	{name: "documents", line: "R86", why: "stable facts are read by key, not searched", run: documents},
	{name: "metadata", line: "report 131", why: "an update of the text must not drop the rest", run: metadata},
	{name: "expiry", line: "R84, T32", why: "what has expired must not fill the places of what holds", run: expiry},
	{name: "time to live", line: "R85", why: "each kind is forgotten at its own pace", run: timeToLive,
		o: longterm.Options{TTL: map[longterm.Kind]time.Duration{longterm.Episode: 24 * time.Hour}}},
	{name: "limits", line: "Options", why: "one user must not fill the disk", run: limits, o: longterm.Options{Items: 3, ItemBytes: 600}},
}

func oneOfEach(e *env) {
	for i, kind := range []longterm.Kind{longterm.Semantic, longterm.Preference, longterm.Episode, longterm.Habit} {
		d := longterm.Draft{
			Namespace: ns, Label: memory.Internal, Kind: kind, Key: "key." + string(kind), Text: "the conclusion about " + string(kind),
			Words: "what was said of " + string(kind), Value: json.RawMessage(`{"n":1}`), Meta: map[string]string{"a": "b"},
			Origin: longterm.FromTool, Source: longterm.Source{Conversation: conv, Message: "m", Call: name(i), At: day},
			Confidence: 0.91, From: day.Add(-time.Hour), Expires: time.Now().Add(time.Hour),
		}
		before := time.Now().Add(-time.Minute)
		out := e.add(d)[0]
		got := e.get(out.ID)
		if got.Stored.Before(before) || out.Hash == "" || out.Confidence != 0.91 {
			e.Fatalf("stored %v, outcome %+v", got.Stored, out)
		}
		want := longterm.Item{
			ID: out.ID, Namespace: ns, Label: d.Label, Kind: kind, Key: d.Key, Text: d.Text, Words: d.Words, Value: d.Value, Meta: d.Meta, Origin: d.Origin,
			Sources: []longterm.Source{d.Source}, Agent: "writer", Confidence: 0.91, Version: 1, From: d.From,
			Expires: d.Expires.UTC().Truncate(time.Microsecond), Stored: got.Stored,
		}
		e.equal("the item", got, want)
		e.equal("the list", e.list(longterm.Page{Kinds: []longterm.Kind{kind}}), []longterm.Item{want})
		hits := e.search(longterm.Query{Text: string(kind), Kinds: []longterm.Kind{kind}})
		if len(hits) != 1 || e.json(hits[0].Item) != e.json(want) {
			e.Fatalf("found %s", e.json(hits))
		}
	}
	d := fact("only what is needed", "m", 0)
	got := e.get(e.one(d, longterm.Stored))
	if got.Namespace != ns || got.Words != d.Text || got.Confidence != 1 || !got.From.Equal(d.Source.At) || !got.Current() {
		e.Fatalf("defaults: %s", e.json(got))
	}
}

func badDrafts(e *env) {
	good := fact("it is well formed", "m", 0)
	for what, spoil := range map[string]func(*longterm.Draft){
		"no text": func(d *longterm.Draft) { d.Text = " \n" }, "no kind": func(d *longterm.Draft) { d.Kind = "" },
		"another kind": func(d *longterm.Draft) { d.Kind = "document" }, "no origin": func(d *longterm.Draft) { d.Origin = "" },
		"no conversation": func(d *longterm.Draft) { d.Source.Conversation = "" }, "no message": func(d *longterm.Draft) { d.Source.Message = "" },
		"bad message": func(d *longterm.Draft) { d.Source.Message = "a\x00b" }, "bad JSON": func(d *longterm.Draft) { d.Value = json.RawMessage("{") },
		"sure": func(d *longterm.Draft) { d.Confidence = 1.1 }, "unsure": func(d *longterm.Draft) { d.Confidence = -1 },
		"no number": func(d *longterm.Draft) { d.Confidence = math.NaN() }, "long key": func(d *longterm.Draft) { d.Key = strings.Repeat("k", 257) },
		"depends on nothing": func(d *longterm.Draft) { d.Depends = []string{"nothing"} }, "ends nothing": func(d *longterm.Draft) { d.Ends = true },
	} {
		bad := good
		spoil(&bad)
		if err := e.refused(longterm.ErrDraft, good, bad); !strings.Contains(err.Error(), "draft 1") {
			e.Errorf("%s: the error does not say which: %v", what, err)
		}
	}
	bad := good
	bad.Namespace = "another"
	e.refused(longterm.ErrDenied, good, bad)
	e.agent = e.newAgent("low", memory.Public, ns)
	bad = good
	bad.Label = memory.Internal
	e.refused(longterm.ErrDenied, bad)
}

func saidAgain(e *env) {
	d := fact("I like tables", "m1", 1)
	id := e.one(d, longterm.Stored)
	before := e.all()
	if again := e.one(d, longterm.Repeated); again != id {
		e.Fatalf("added again it is %s; was %s", again, id)
	}
	e.equal("all after the same draft", e.all(), before)
	for i, text := range []string{"i like tables.", "I  like\ntables", "I like tables", "I LIKE TABLES!"} {
		if again := e.one(fact(text, name(i+2), i+2), longterm.Repeated); again != id {
			e.Fatalf("%q is not the same", text)
		}
	}
	e.one(fact("I like tables", "m0", 0), longterm.Repeated)
	e.one(about("default.env", "my default environment is testing", "k1", 0), longterm.Stored) // in other words too
	e.one(about("default.env", "The default environment is testing", "k2", 1), longterm.Repeated)
	e.one(about("default.env", "the default environment is production", "k3", 2), longterm.Replaced)
	e.one(fact("the cat is named Tom", "c1", 0), longterm.Stored) // and under a key from now on
	if cat := e.get(e.one(about("cat", "the cat is named Tom", "c2", 1), longterm.Replaced)); len(cat.Sources) != 2 || cat.Key != "cat" {
		e.Fatalf("%s", e.json(cat))
	}
	e.ok(e.store.Forget(e.Context(), e.scope, e.agent, e.search(longterm.Query{Text: "cat"})[0].ID))
	e.ok(e.store.Forget(e.Context(), e.scope, e.agent, e.search(longterm.Query{Text: "environment"})[0].ID))
	items := e.list(longterm.Page{})
	if len(items) != 1 || len(items[0].Sources) != 6 || items[0].Sources[0].Message != "m0" {
		e.Fatalf("%s", e.json(items))
	}
	e.finds("tables", "I like tables")
	two := e.add(fact("the sky is blue", "m", 0), fact("the sky is blue", "n", 0)) // in one call too
	if two[0].Fate != longterm.Stored || two[1].Fate != longterm.Repeated || two[0].ID != two[1].ID {
		e.Fatalf("%s", e.json(two))
	}
}

func pages(e *env) {
	const n = 25
	var want []string
	for i := range n {
		want = append(want, e.one(fact("number "+strings.Repeat("x", i+1), name(i), i), longterm.Stored))
	}
	if !slices.IsSorted(want) {
		e.Fatalf("ids do not sort as they were made: %q", want)
	}
	var got []string
	for after := ""; ; {
		page := e.list(longterm.Page{After: after, Limit: 7})
		if len(page) == 0 {
			break
		}
		for _, i := range page {
			got, after = append(got, i.ID), i.ID
		}
	}
	e.equal("ids of all pages", got, want)
}

// settings are a document.
type settings struct {
	Theme string `json:"theme"`
	Size  int    `json:"size"`
}

func documents(e *env) {
	put := func(v settings, id string) longterm.Item {
		e.Helper()
		i, err := longterm.Put(e.Context(), e.store, e.scope, e.agent, ns, "settings", v, said(id, len(id)))
		e.ok(err)
		return i
	}
	value := func(want settings) {
		e.Helper()
		got, err := longterm.Value[settings](e.Context(), e.store, e.scope, e.agent, ns, "settings")
		e.ok(err)
		e.equal("the document", got, want)
	}
	_, err := longterm.Value[settings](e.Context(), e.store, e.scope, e.agent, ns, "settings")
	e.is(err, longterm.ErrNotFound)
	one := put(settings{"Dark", 12}, "m")
	value(settings{"Dark", 12})
	two := put(settings{"dark", 12}, "mm") // a value is not folded
	value(settings{"dark", 12})
	if two.Version != 2 || two.Replaces != one.ID || put(settings{"dark", 12}, "mm").ID != two.ID {
		e.Fatalf("%s", e.json(two))
	}
	other, err := longterm.Put(e.Context(), e.store, e.scope, e.agent, ns, "other", settings{"dark", 12}, said("m", 1))
	e.ok(err)
	if other.ID == two.ID {
		e.Fatal("two keys have one document")
	}
	old, err := e.store.AsOf(e.Context(), e.scope, e.agent, ns, "settings", day.Add(90*time.Minute))
	e.ok(err)
	e.equal("as of then", string(old.Value), `{"theme":"Dark","size":12}`)
	if _, err := longterm.Value[[]int](e.Context(), e.store, e.scope, e.agent, ns, "settings"); !errors.Is(err, longterm.ErrCorrupt) {
		e.Fatalf("another type: %v", err)
	}
}

func metadata(e *env) {
	d := fact("the invoice goes to Berlin", "m", 0)
	d.Meta = map[string]string{"a": "1", "b": "2", "c": "3", "d": "4", "e": "5"}
	d.Value = json.RawMessage(`{"city":"Berlin"}`)
	id := e.one(d, longterm.Stored)
	text := "the invoice goes to Bonn"
	got, err := e.store.Update(e.Context(), e.scope, e.agent, id, longterm.Edit{Text: &text, Source: said("n", 1)})
	e.ok(err)
	e.equal("metadata after an update of the text", got.Meta, d.Meta)
	e.equal("value after an update of the text", got.Value, d.Value)
	got, err = e.store.Update(e.Context(), e.scope, e.agent, got.ID, longterm.Edit{Meta: map[string]string{"a": "", "f": "6"}, Source: said("o", 2)})
	e.ok(err)
	e.equal("metadata after a patch", got.Meta, map[string]string{"b": "2", "c": "3", "d": "4", "e": "5", "f": "6"})
	if got.Text != text || got.Version != 3 {
		e.Fatalf("%s", e.json(got))
	}
}

func expiry(e *env) {
	soon := time.Now().Add(time.Second)
	var ds []longterm.Draft
	for i := range 60 {
		d := fact("tables tables tables "+strings.Repeat("of wood ", i%3)+name(i), name(i), i)
		d.Expires = soon
		ds = append(ds, d)
	}
	for i, text := range []string{"Anna has tables of oak", "no tables in the garden", "we sell tables on Monday", "the cat sleeps under tables", "all chairs go with tables"} {
		ds = append(ds, fact(text, "k"+name(i), i))
	}
	e.add(ds...)
	for _, h := range e.search(longterm.Query{Text: "tables"}) { // reading prolongs nothing
		if got := e.get(h.ID).Expires; !got.IsZero() && !got.Equal(soon.UTC().Truncate(time.Microsecond)) {
			e.Fatalf("expires %v after it was read; before %v", got, soon)
		}
	}
	e.spin("expiry", func() bool { return time.Now().After(soon.Add(10 * time.Millisecond)) })
	e.equal("found of 60 expired and 5 others", len(e.search(longterm.Query{Text: "tables"})), 5)
	e.equal("listed", len(e.list(longterm.Page{})), 5)
	e.equal("listed with the past", len(e.list(longterm.Page{Past: true, Limit: 1000})), 65)
	d := fact("it has expired before it came", "m", 0)
	d.Expires = day
	if out := e.add(d)[0]; out.Fate != longterm.Dropped || out.Reason != longterm.Expired {
		e.Fatalf("%+v", out)
	}
}

func timeToLive(e *env) {
	d := fact("an event", "m", 0)
	d.Kind, d.Source.At = longterm.Episode, time.Now().Add(-23*time.Hour)
	got := e.get(e.one(d, longterm.Stored))
	if !got.Expires.Equal(got.From.Add(24 * time.Hour)) {
		e.Fatalf("from %v it expires %v", got.From, got.Expires)
	}
	d.Text, d.Source = "an event of old", said("n", 0)
	if out := e.add(d)[0]; out.Reason != longterm.Expired {
		e.Fatalf("%+v", out)
	}
	if got := e.get(e.one(fact("a fact", "m", 0), longterm.Stored)); !got.Expires.IsZero() {
		e.Fatalf("a fact expires %v", got.Expires)
	}
}

func limits(e *env) {
	e.refused(longterm.ErrTooLarge, fact(strings.Repeat("long ", 200), "m", 0))
	e.add(fact("one", "m", 0), fact("two", "m", 0), about("k", "three", "m", 0))
	e.refused(longterm.ErrTooLarge, fact("four", "m", 0))
	e.one(about("k", "another three", "n", 1), longterm.Replaced) // it takes the place of one
	e.ok(e.store.Forget(e.Context(), e.scope, e.agent, e.list(longterm.Page{})[0].ID))
	e.one(fact("four", "m", 0), longterm.Stored)
}
