package longtermtest

import (
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/memory/longterm"
)

var versionCases = []testCase{
	{name: "a later fact supersedes", line: "R70, R71, R72, R117, T17, report 132", why: "both returned is a contradiction; overwritten is a loss", run: superseding},
	{name: "an older fact comes later", line: "R72, R80", why: "a retried job must not turn back the clock", run: olderLater},
	{name: "withdrawals", line: "R81, R82", why: "what the user took back is not known any more", run: withdrawals},
	{name: "rolling back", line: "R82", why: "one wrong extraction must not flip a stable fact for good", run: rollingBack},
	{name: "rolling back in the middle", line: "R82", why: "the versions around it stay in order", run: rollingBackMiddle},
	{name: "facts without a key", line: "R82, R83, R117", why: "a version that was undone is still part of what happened", run: withoutKey},
	{name: "clocks that are ahead", line: "R72", why: "what was said holds, whatever the clock of who sent it says", run: aheadOfTime},
	{name: "one fact in place of two", line: "R70, R82", why: "what one sentence has ended comes back with it, unless it has a successor", run: inPlaceOfTwo},
	{name: "updates", line: "R83", why: "the user's own correction is a version like others", run: updates},
	{name: "neighbours", line: "R70", why: "a change of one fact must not touch another", run: neighbours},
	{name: "named by the extractor", line: "R70", why: "an extractor that saw the old item may say that this is a later version", run: namedByID},
	{name: "forgetting", line: "R83, R113", why: "what the user has deleted must be nowhere", run: forgetting},
	{name: "as of", line: "R72, R117", why: "what held then must be readable", run: asOf},
	{name: "several at random", line: "R69, R70, R71, R72, R82, R83", why: "no order of calls may lose a version or leave two that hold", run: atRandom},
}

func superseding(e *env) {
	a := e.one(about("name", "My name is Anna", "m1", 1), longterm.Stored)
	out := e.add(about("name", "My name is Berta", "m2", 2))[0]
	if out.Fate != longterm.Replaced || out.Over != a {
		e.Fatalf("%+v", out)
	}
	e.finds("what is my name?", "My name is Berta")
	old, now := e.get(a), e.get(out.ID)
	if old.End != longterm.Superseded || old.By != out.ID || !old.Until.Equal(now.From) || old.Text != "My name is Anna" || old.Current() {
		e.Fatalf("the old one: %s", e.json(old))
	}
	if now.Replaces != a || now.Version != 2 || !now.Current() || !now.Until.IsZero() {
		e.Fatalf("the new one: %s", e.json(now))
	}
	for _, id := range []string{a, out.ID} {
		e.equal("history", e.history(id), []string{"My name is Anna", "My name is Berta"})
	}
	c := e.one(about("name", "My name is Anna", "m3", 3), longterm.Replaced) // and back again: another version
	if c == a {
		e.Fatal("an old version came back to life")
	}
	e.equal("history", e.history(a), []string{"My name is Anna", "My name is Berta", "My name is Anna"})
	before := e.all()
	for _, d := range []longterm.Draft{about("name", "My name is Anna", "m1", 1), about("name", "My name is Berta", "m2", 2), about("name", "My name is Anna", "m3", 3)} {
		e.one(d, longterm.Repeated)
	}
	e.equal("all after the drafts came again", e.all(), before)
	e.equal("listed", len(e.list(longterm.Page{})), 1)
	e.equal("listed with the past", len(e.list(longterm.Page{Past: true})), 3)
}

func olderLater(e *env) {
	for _, order := range [][]int{{1, 2, 3, 4}, {4, 3, 2, 1}, {2, 4, 1, 3}, {3, 1, 4, 2}} {
		e.scope = e.newScope()
		var last string
		for _, i := range order {
			out := e.add(about("env", "the environment is "+strings.Repeat("x", i), name(i), i))[0]
			last = out.ID
		}
		e.finds("which environment?", "the environment is xxxx")
		versions := e.versions(last)
		if len(versions) != 4 {
			e.Fatalf("%v: %s", order, e.json(versions))
		}
		for i, v := range versions {
			if v.Text != "the environment is "+strings.Repeat("x", i+1) || (i > 0 && v.Replaces != versions[i-1].ID) || (i < 3 && v.By != versions[i+1].ID) {
				e.Fatalf("%v: version %d: %s", order, i, e.json(versions))
			}
			if i < 3 && (!v.Until.Equal(versions[i+1].From) || v.Current()) || i == 3 && !v.Current() {
				e.Fatalf("%v: version %d: %s", order, i, e.json(versions))
			}
			got, err := e.store.AsOf(e.Context(), e.scope, e.agent, ns, "env", v.From.Add(time.Minute))
			e.ok(err)
			e.equal("as of then", got, v)
		}
		numbers := []int{}
		for _, v := range versions {
			numbers = append(numbers, v.Version)
		}
		if slices.Sort(numbers); !slices.Equal(numbers, []int{1, 2, 3, 4}) {
			e.Fatalf("%v: numbers %v", order, numbers)
		}
	}
	out := e.add(about("env", "it was nothing before", "old", 0))[0]
	if out.Fate != longterm.Stored || out.Reason != longterm.Older {
		e.Fatalf("%+v", out)
	}
}

func withdraw(key, id string, hours int) longterm.Draft {
	return longterm.Draft{Key: key, Ends: true, Origin: longterm.FromUser, Source: said(id, hours)}
}

func withdrawals(e *env) {
	if out := e.add(withdraw("channel", "m0", 0))[0]; out.Fate != longterm.Dropped || out.Reason != longterm.Unknown {
		e.Fatalf("nothing to withdraw: %+v", out)
	}
	id := e.one(about("channel", "call me by phone", "m2", 2), longterm.Stored)
	if out := e.add(withdraw("channel", "m1", 1))[0]; out.Reason != longterm.Older || !e.get(id).Current() {
		e.Fatalf("an older withdrawal: %+v", out)
	}
	for range 2 {
		if out := e.add(withdraw("channel", "m3", 3))[0]; out.Fate != longterm.Ended || out.Over != id {
			e.Fatalf("%+v", out)
		}
	}
	got := e.get(id)
	if got.End != longterm.Withdrawn || got.Ended.Message != "m3" || !got.Until.Equal(said("", 3).At) {
		e.Fatalf("%s", e.json(got))
	}
	e.finds("phone")
	if out := e.add(about("channel", "write me letters", "m2b", 2))[0]; out.Fate != longterm.Stored || out.Reason != longterm.Older {
		e.Fatalf("what was said before the withdrawal: %+v", out)
	}
	e.finds("letters")
	back, err := e.store.RollBack(e.Context(), e.scope, e.agent, id) // the withdrawal was wrong
	e.ok(err)
	if back.ID != id || !back.Current() {
		e.Fatalf("%s", e.json(back))
	}
	e.finds("phone", "call me by phone")
	e.one(withdraw("channel", "m4", 4), longterm.Ended)
	other := e.one(about("channel", "send me mail", "m5", 5), longterm.Stored)
	_, err = e.store.RollBack(e.Context(), e.scope, e.agent, id)
	e.is(err, longterm.ErrEnded)
	d := withdraw("", "m6", 6)
	d.Replaces = other
	e.one(d, longterm.Ended)
	e.equal("listed", len(e.list(longterm.Page{})), 0)
}

func rollingBack(e *env) {
	stable := e.one(about("channel", "I do not like phone calls", "m1", 1), longterm.Stored)
	e.agent = e.newAgent("faulty", 2, ns)
	wrong := e.one(about("channel", "I like phone calls", "m2", 2), longterm.Replaced)
	if got := e.get(wrong); got.Sources[0].Message != "m2" || got.Agent != "faulty" { // who and when can be told
		e.Fatalf("%s", e.json(got))
	}
	for range 2 { // twice is once
		back, err := e.store.RollBack(e.Context(), e.scope, e.agent, wrong)
		e.ok(err)
		if back.ID != stable || !back.Current() || back.By != "" {
			e.Fatalf("%s", e.json(back))
		}
	}
	e.finds("phone calls", "I do not like phone calls")
	if got := e.get(wrong); got.End != longterm.RolledBack || got.Text != "I like phone calls" {
		e.Fatalf("%s", e.json(got))
	}
	e.one(about("channel", "I like phone calls", "m2", 2), longterm.Repeated) // the same draft again changes nothing
	e.finds("phone calls", "I do not like phone calls")
	for _, id := range []string{stable, wrong} {
		e.equal("versions in the history", len(e.versions(id)), 2)
	}
	later := e.one(about("channel", "letters, please", "m3", 3), longterm.Replaced)
	if got := e.get(later); got.Version != 3 || got.Replaces != stable {
		e.Fatalf("%s", e.json(got))
	}
	zero, err := e.store.RollBack(e.Context(), e.scope, e.agent, e.one(fact("it stands alone", "m4", 4), longterm.Stored))
	e.ok(err)
	e.equal("what holds again where there was nothing", zero, longterm.Item{})
	e.finds("it stands alone")
	_, err = e.store.RollBack(e.Context(), e.scope, e.agent, "nothing")
	e.is(err, longterm.ErrNotFound)
}

func rollingBackMiddle(e *env) {
	var ids []string
	for i := range 4 {
		ids = append(ids, e.add(about("env", "environment "+name(i), name(i), i))[0].ID)
	}
	zero, err := e.store.RollBack(e.Context(), e.scope, e.agent, ids[1])
	e.ok(err)
	e.equal("what holds again", zero, longterm.Item{})
	a, b, c := e.get(ids[0]), e.get(ids[1]), e.get(ids[2])
	if a.By != c.ID || c.Replaces != a.ID || !a.Until.Equal(c.From) || b.End != longterm.RolledBack {
		e.Fatalf("%s", e.json(e.versions(ids[0])))
	}
	got, err := e.store.AsOf(e.Context(), e.scope, e.agent, ns, "env", b.From.Add(time.Minute))
	e.ok(err)
	e.equal("what held when the version did that was undone", got.ID, a.ID)
	for _, id := range ids {
		e.equal("versions in the history", len(e.versions(id)), 4)
	}
	back, err := e.store.RollBack(e.Context(), e.scope, e.agent, ids[3])
	e.ok(err)
	e.equal("what holds again", back.ID, ids[2])
	_, err = e.store.RollBack(e.Context(), e.scope, e.agent, ids[0]) // the first
	e.ok(err)
	e.equal("versions in the history", len(e.versions(ids[2])), 4)
}

// A fact without a key has its history by its links alone.
func withoutKey(e *env) {
	ids := []string{e.one(fact("the cat is grey", "m1", 1), longterm.Stored)}
	for i, text := range []string{"her fur has gone white", "she is dyed pink by now"} {
		d := fact(text, name(i+2), i+2)
		d.Replaces = ids[i]
		ids = append(ids, e.one(d, longterm.Replaced))
	}
	_, err := e.store.RollBack(e.Context(), e.scope, e.agent, ids[0])
	e.ok(err)
	for _, id := range ids {
		e.equal("versions in the history", len(e.versions(id)), 3)
	}
	e.ok(e.store.Forget(e.Context(), e.scope, e.agent, ids[2]))
	for _, id := range ids {
		e.equal("what is left", e.get(id).Text, "")
	}
}

// A clock that is ahead does not make a fact of the future.
func aheadOfTime(e *env) {
	d := about("city", "the city is Bonn", "m1", 0)
	d.Source.At = time.Now().Add(time.Hour)
	got := e.get(e.one(d, longterm.Stored))
	if got.From.After(got.Stored) || got.Sources[0].At.After(got.Stored) {
		e.Fatalf("%s", e.json(got))
	}
	now, err := e.store.AsOf(e.Context(), e.scope, e.agent, ns, "city", time.Time{})
	e.ok(err)
	e.equal("now", now.ID, got.ID)
	d.Text, d.Source.At, d.From = "the city is Rome", time.Now(), time.Now().Add(time.Hour)
	d.Source.Message = "m2"
	if got := e.get(e.one(d, longterm.Replaced)); got.From.After(got.Stored) {
		e.Fatalf("%s", e.json(got))
	}
}

// replacesTwo adds a parcel's address and a city, and a sentence that is a version of the first and supersedes the second.
func (e *env) replacesTwo(cityKey string) (parcel, city, next string) {
	e.Helper()
	e.scope = e.newScope()
	parcel = e.one(about("parcel", "the parcel goes to the office", "m1", 1), longterm.Stored)
	city = e.one(about(cityKey, "I live in Berlin", "m2", 2), longterm.Stored)
	d := fact("I moved to Oslo", "m3", 3)
	d.Replaces = parcel
	next = e.one(d, longterm.Replaced)
	if got := e.get(next); got.Replaces != parcel || len(got.Also) != 1 || got.Also[0] != city || e.get(city).By != next {
		e.Fatalf("%s", e.json(got))
	}
	return parcel, city, next
}

func inPlaceOfTwo(e *env) {
	hold := func(want ...string) {
		e.Helper()
		got := []string{}
		for _, i := range e.list(longterm.Page{}) {
			got = append(got, i.Text)
		}
		slices.Sort(got)
		e.equal("what holds", got, want)
	}
	back := func(id string) {
		e.Helper()
		_, err := e.store.RollBack(e.Context(), e.scope, e.agent, id)
		e.ok(err)
	}
	_, _, next := e.replacesTwo("city")
	e.equal("versions in the history", len(e.versions(next)), 3)
	back(next)
	hold("I live in Berlin", "the parcel goes to the office")

	_, _, next = e.replacesTwo("city")
	e.one(about("city", "my city is Bonn", "m4", 4), longterm.Stored)
	back(next)
	hold("my city is Bonn", "the parcel goes to the office")

	_, city, next := e.replacesTwo("")
	back(city)
	back(next)
	hold("the parcel goes to the office")
	e.equal("versions in the history", len(e.versions(next)), 3)
}

func updates(e *env) {
	d := about("city", "I live in Berlin", "m1", 1)
	d.Words = "berlin is where i live"
	id := e.one(d, longterm.Stored)
	text, l := "I live in Bonn", e.get(id).Label+1
	edit := longterm.Edit{Text: &text, Label: &l, Source: said("m2", 2)}
	got, err := e.store.Update(e.Context(), e.scope, e.agent, id, edit)
	e.ok(err)
	if got.Text != text || got.Words != text || got.Label != l || got.Version != 2 || got.Replaces != id || got.Key != "city" || got.Origin != longterm.FromUser {
		e.Fatalf("%s", e.json(got))
	}
	e.finds("where do I live? in berlin?", text) // effective in the next search
	before := e.all()
	again, err := e.store.Update(e.Context(), e.scope, e.agent, id, edit)
	e.ok(err)
	e.equal("updated again", again, got)
	e.equal("all after it was updated again", e.all(), before)
	other := "I live in Rome"
	_, err = e.store.Update(e.Context(), e.scope, e.agent, id, longterm.Edit{Text: &other, Source: said("m3", 3)})
	e.is(err, longterm.ErrEnded)
	_, err = e.store.Update(e.Context(), e.scope, e.agent, "nothing", edit)
	e.is(err, longterm.ErrNotFound)
	_, err = e.store.Update(e.Context(), e.scope, e.agent, got.ID, longterm.Edit{Text: &other})
	e.is(err, longterm.ErrDraft)
	never, soon := time.Time{}, time.Now().Add(time.Hour)
	got, err = e.store.Update(e.Context(), e.scope, e.agent, got.ID, longterm.Edit{Expires: &soon, Source: said("m4", 4)})
	e.ok(err)
	if got.Expires.IsZero() {
		e.Fatalf("%s", e.json(got))
	}
	got, err = e.store.Update(e.Context(), e.scope, e.agent, got.ID, longterm.Edit{Expires: &never, Source: said("m5", 5)})
	e.ok(err)
	if !got.Expires.IsZero() || got.Version != 4 || got.Text != text {
		e.Fatalf("%s", e.json(got))
	}
	l = 0 // the user may make it public again
	got, err = e.store.Update(e.Context(), e.scope, e.agent, got.ID, longterm.Edit{Label: &l, Source: said("m6", 6)})
	e.ok(err)
	e.equal("label", got.Label, l)
	e.equal("history", len(e.versions(id)), 5)
}

func neighbours(e *env) {
	var ids []string
	for i, text := range []string{
		"the environment of checkout is testing", "the environment of payment is testing", "order 17 was refunded", "order 18 was refunded", "Anna likes tables",
	} {
		ids = append(ids, e.one(about(name(i), text, name(i), i), longterm.Stored))
	}
	before := []longterm.Item{}
	for _, id := range ids[1:] {
		before = append(before, e.get(id))
	}
	e.one(about(name(0), "the environment of checkout is production", "n", 9), longterm.Replaced)
	after := []longterm.Item{}
	for _, id := range ids[1:] {
		after = append(after, e.get(id))
	}
	e.equal("the others", after, before)
	e.equal("listed", len(e.list(longterm.Page{})), len(ids))
}

func namedByID(e *env) {
	id := e.one(fact("the cat is named Tom", "m1", 1), longterm.Stored)
	d := fact("felix is what she calls the animal", "m2", 2)
	d.Replaces = id
	next := e.one(d, longterm.Replaced)
	e.equal("history", e.history(next), []string{"the cat is named Tom", "felix is what she calls the animal"})
	d = fact("her pet goes by Felix", "m3", 3)
	d.Repeats = next
	if again := e.one(d, longterm.Repeated); again != next || len(e.get(next).Sources) != 2 {
		e.Fatalf("%s", e.json(e.get(next)))
	}
	d = fact("a dog is there as well", "m4", 4)
	d.Replaces = "somebody else's"
	e.one(d, longterm.Stored)
}

func forgetting(e *env) {
	const word = "canary7261"
	var ids []string
	for i := range 3 {
		d := about("secret."+word, "the "+word+" sings "+name(i), name(i), i)
		d.Meta = map[string]string{word: word}
		ids = append(ids, e.add(d)[0].ID)
	}
	kept := e.one(fact("the sparrow sings", "k", 0), longterm.Stored)
	before := e.get(kept)
	e.is(e.store.Forget(e.Context(), e.scope, e.agent, ids[0], "nothing"), longterm.ErrNotFound)
	e.finds(word, "the "+word+" sings "+name(2))
	for range 2 {
		e.ok(e.store.Forget(e.Context(), e.scope, e.agent, ids[1]))
	}
	e.finds(word)
	if all := e.all(); strings.Contains(all, word) {
		e.Fatalf("it is there: %s", all)
	}
	for _, id := range ids {
		got := e.get(id)
		if got.End != longterm.Forgotten || got.Until.IsZero() || len(got.Sources) != 0 || got.Agent != "" {
			e.Fatalf("what is left: %s", e.json(got))
		}
		_, err := e.store.RollBack(e.Context(), e.scope, e.agent, id)
		e.is(err, longterm.ErrEnded)
	}
	_, err := e.store.AsOf(e.Context(), e.scope, e.agent, ns, "secret."+word, day.Add(time.Hour))
	e.is(err, longterm.ErrNotFound)
	e.equal("the other", e.get(kept), before)
	e.finds("sings", "the sparrow sings")
	e.one(about("secret."+word, "the "+word+" sings again", "n", 5), longterm.Stored) // who says it again means it
	e.finds(word, "the "+word+" sings again")
}

func asOf(e *env) {
	for i := range 3 {
		e.add(about("city", "the city is "+name(i), name(i), 10*i))
	}
	for _, c := range []struct {
		hours int
		want  string
	}{{0, "the city is m-0"}, {9, "the city is m-0"}, {10, "the city is m-1"}, {20, "the city is m-2"}, {2000, "the city is m-2"}} {
		at := day.Add(time.Duration(c.hours) * time.Hour)
		got, err := e.store.AsOf(e.Context(), e.scope, e.agent, ns, "city", at)
		e.ok(err)
		e.equal("as of then", got.Text, c.want)
		e.equal("found as of then", e.texts(longterm.Query{Text: "city", AsOf: at}), []string{c.want})
		e.equal("listed as of then", len(e.list(longterm.Page{AsOf: at})), 1)
	}
	_, err := e.store.AsOf(e.Context(), e.scope, e.agent, ns, "city", day.Add(-time.Hour))
	e.is(err, longterm.ErrNotFound)
	_, err = e.store.AsOf(e.Context(), e.scope, e.agent, "another", "city", day)
	e.is(err, longterm.ErrNotFound)
	e.equal("found before", len(e.search(longterm.Query{Text: "city", AsOf: day.Add(-time.Hour)})), 0)
}
