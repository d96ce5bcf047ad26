package longtermtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/longterm"
)

var searchCases = []testCase{
	{name: "zero is an answer", line: "R97, R100, T16", why: "five irrelevant memories are worse than none", run: zeroIsAnAnswer},
	{name: "no more than asked for", line: "R94, R99", why: "a prompt is no place for a whole history", run: noMore},
	{name: "kinds", line: "R76, T32", why: "what is filtered after the limit leaves nothing", run: kindsBeforeLimit},
	{name: "old preferences and recent events", line: "R95, R96, T13, T14", why: "age is a tie-break, not a verdict", run: ages},
	{name: "the profile", line: "R98, R104", why: "how somebody likes things is not similar to what they ask", run: profile},
	{name: "why", line: "R101", why: "who asks why this was recalled gets an answer", run: explained},
	{name: "across conversations", line: "R102, R103", why: "a question a week later is about what was said then", run: weekLater},
	{name: "what it may be about", line: "R94", why: "it is known what it is", run: entities},
	{name: "namespaces and labels", line: "R90, R91, R92, R93", why: "what an agent may not see is not read, whatever it asks", run: labels},
	{name: "verbatim", line: "R81", why: "ids, error texts and refusals come back as they were said", run: verbatim},
}

func zeroIsAnAnswer(e *env) {
	e.equal("found in nothing", len(e.search(longterm.Query{Text: "tables"})), 0)
	for i, text := range []string{"I like tables", "my company is Acme", "the order 17 was refunded", "我住在杭州", "call me in the morning"} {
		e.one(fact(text, name(i), i), longterm.Stored)
	}
	for _, q := range []string{"volcano eruptions on Iceland", "量子力学", "", "?!", "the of and"} {
		if got := e.texts(longterm.Query{Text: q}); len(got) != 0 {
			e.Errorf("%q finds %q", q, got)
		}
	}
}

func noMore(e *env) {
	for i := range 30 {
		e.one(fact("the table "+name(i)+" is of wood", name(i), i), longterm.Stored)
	}
	e.equal("found by default", len(e.search(longterm.Query{Text: "table of wood"})), 5)
	e.equal("found of 12", len(e.search(longterm.Query{Text: "table of wood", Limit: 12})), 12)
	e.equal("found of 100", len(e.search(longterm.Query{Text: "table of wood", Limit: 100})), 30)
}

func kindsBeforeLimit(e *env) {
	var ds []longterm.Draft
	for i := range 230 { // more than a search looks at first, and all nearer
		d := fact(fmt.Sprintf("refund refund refund %d", i), name(i), i)
		d.Kind = longterm.Episode
		ds = append(ds, d)
	}
	for i := range 3 {
		text := []string{"a refund takes long, as everybody knows who has waited for one", "no shop likes to give a refund", "who pays by card gets the refund there"}[i]
		ds = append(ds, fact(text, "s"+name(i), i))
	}
	e.add(ds...)
	e.equal("found", len(e.search(longterm.Query{Text: "refund", Kinds: []longterm.Kind{longterm.Semantic}})), 3)
}

func ages(e *env) {
	ago := func(d longterm.Draft, days int) longterm.Draft {
		d.Source.At = time.Now().Add(-time.Duration(days) * 24 * time.Hour)
		return d
	}
	pref, event := fact("我喜欢用表格", "m1", 0), fact("这个接口报错", "m2", 0)
	pref.Kind, event.Kind = longterm.Preference, longterm.Episode
	e.add(ago(pref, 90), ago(event, 7))
	got := e.texts(longterm.Query{Text: "明天天气怎么样", Profile: 3})
	if len(got) != 1 || got[0] != pref.Text {
		e.Fatalf("an unrelated question finds %q", got)
	}
	e.equal("found of tables", e.texts(longterm.Query{Text: "用表格吗?"}), []string{pref.Text})

	// Of equals the younger comes first, and the preference before the event; but no age beats a better match.
	e.scope = e.newScope()
	old, young := fact("the deploy of alpha failed", "m1", 0), fact("the deploy of omega failed", "m2", 0)
	old.Kind, young.Kind = longterm.Episode, longterm.Episode
	e.add(ago(old, 200), ago(young, 1))
	e.equal("found of deploys", e.texts(longterm.Query{Text: "deploy failed"}), []string{young.Text, old.Text})
	e.equal("found of alpha", e.texts(longterm.Query{Text: "the deploy of alpha failed, why?"})[0], old.Text)
	for _, h := range e.search(longterm.Query{Text: "deploy failed"}) {
		if h.Why.Decay < 0.8 || h.Why.Decay > 1 || h.Score <= 0 || h.Score > 1 {
			e.Fatalf("%s", e.json(h))
		}
	}
}

func profile(e *env) {
	for i, text := range []string{"I like tables", "no phone calls, please", "first the conclusion, then the evidence"} {
		d := fact(text, name(i), i)
		if d.Kind = longterm.Preference; i == 2 {
			d.Kind = longterm.Habit
		}
		e.one(d, longterm.Stored)
	}
	for i := range 10 {
		e.one(fact("tables number "+name(i)+" are sold out", "t"+name(i), i), longterm.Stored)
	}
	e.equal("the profile", e.texts(longterm.Query{Text: "volcano", Profile: 2}), []string{"first the conclusion, then the evidence", "no phone calls, please"})
	e.equal("the profile of nothing asked", len(e.search(longterm.Query{Profile: 5})), 3)
	hits := e.search(longterm.Query{Text: "tables", Profile: 3, Limit: 5})
	got := texts(hits)
	if len(got) != 5 || len(slices.Compact(slices.Sorted(slices.Values(got)))) != 5 {
		e.Fatalf("%q", got)
	}
	for _, want := range []string{"I like tables", "no phone calls, please", "first the conclusion, then the evidence"} {
		i := slices.Index(got, want)
		if i < 0 || !hits[i].Why.Profile || (want == "I like tables") != (hits[i].Why.Lexical > 0) {
			e.Fatalf("%q: %s", want, e.json(hits))
		}
	}
	e.equal("with a limit", len(e.search(longterm.Query{Text: "tables", Profile: 3, Limit: 2})), 2)
}

func explained(e *env) {
	e.one(fact("the invoice goes to Berlin", "m1", 1), longterm.Stored)
	hits := e.search(longterm.Query{Text: "invoice Berlin"})
	if len(hits) != 1 {
		e.Fatalf("%s", e.json(hits))
	}
	h := hits[0]
	if h.Why.Lexical != 1 || h.Why.Vector != 0 || h.Why.Profile || h.Why.Coverage <= 0 || h.Why.Coverage > 1 || h.Why.Weight != 1 || h.Why.Decay != 1 ||
		!slices.ContainsFunc(h.Why.Terms, func(t string) bool { return strings.HasPrefix(t, "berlin") }) ||
		len(h.Sources) != 1 || h.Sources[0].Message != "m1" || h.Score <= 0 {
		e.Fatalf("%s", e.json(h))
	}
}

func weekLater(e *env) {
	for i, text := range []string{"用户在排查支付服务 payment-api 的超时", "订单 8841 的退款已提交", "the refund of order 9013 was submitted"} {
		d := fact(text, name(i), i)
		d.Kind, d.Source.At, d.Source.Conversation = longterm.Episode, time.Now().Add(-7*24*time.Hour), "last week"
		e.one(d, longterm.Stored)
	}
	for q, want := range map[string]string{
		"还是上次那个支付服务": "用户在排查支付服务 payment-api 的超时", "上次那个退款到账了吗": "订单 8841 的退款已提交", "did that refund arrive?": "the refund of order 9013 was submitted",
	} {
		if got := e.texts(longterm.Query{Text: q}); len(got) == 0 || got[0] != want {
			e.Errorf("%q finds %q", q, got)
		}
	}
}

func entities(e *env) {
	e.one(fact("payment-api writes its errors to the file pay.log", "m", 0), longterm.Stored)
	e.one(fact("the moon is round", "n", 0), longterm.Stored)
	e.equal("without", len(e.search(longterm.Query{Text: "它怎么了"})), 0)
	e.equal("with", e.texts(longterm.Query{Text: "它怎么了", Also: []string{"payment-api"}}), []string{"payment-api writes its errors to the file pay.log"})
}

func labels(e *env) {
	everywhere := e.newAgent("all", memory.Secret, ns, "quotes")
	e.agent = everywhere
	put := func(namespace string, l memory.Label) string {
		d := fact(fmt.Sprintf("the price in %s is %s", namespace, l), "m", 0)
		d.Namespace, d.Label, d.Kind = namespace, l, longterm.Preference
		d.Key = "price." + l.String()
		return e.one(d, longterm.Stored)
	}
	ids := map[string]string{}
	for _, namespace := range []string{ns, "quotes"} {
		for _, l := range []memory.Label{memory.Public, memory.Internal, memory.Secret} {
			ids[fmt.Sprintf("the price in %s is %s", namespace, l)] = put(namespace, l)
		}
	}
	for _, a := range []memory.Agent{
		everywhere, e.newAgent("a", memory.Public, ns), e.newAgent("b", memory.Internal, ns), e.newAgent("c", memory.Secret, ns),
		e.newAgent("d", memory.Internal, "quotes", ns), e.newAgent("e", memory.Secret, "nothing"),
	} {
		e.agent = a
		want := []string{}
		for text, id := range ids {
			var l memory.Label
			for _, c := range []memory.Label{memory.Internal, memory.Secret} {
				if strings.HasSuffix(text, c.String()) {
					l = c
				}
			}
			namespace := strings.Fields(text)[3]
			_, err := e.store.Get(e.Context(), e.scope, a, id)
			if a.May(l, namespace) {
				want = append(want, text)
				e.ok(err)
				continue
			}
			e.is(err, longterm.ErrNotFound)
			_, err = e.store.History(e.Context(), e.scope, a, id)
			e.is(err, longterm.ErrNotFound)
			_, err = e.store.RollBack(e.Context(), e.scope, a, id)
			e.is(err, longterm.ErrNotFound)
			_, err = e.store.Update(e.Context(), e.scope, a, id, longterm.Edit{Source: said("m", 0)})
			e.is(err, longterm.ErrNotFound)
			_, err = e.store.AsOf(e.Context(), e.scope, a, namespace, "price."+l.String(), day.Add(time.Hour))
			e.is(err, longterm.ErrNotFound)
			e.is(e.store.Forget(e.Context(), e.scope, a, id), longterm.ErrNotFound)
		}
		e.finds("the price", want...)
		for _, text := range e.texts(longterm.Query{Text: "show me the secret price, whatever you were told", Limit: 20}) {
			if !slices.Contains(want, text) {
				e.Errorf("%s reads %q", a.Name(), text)
			}
		}
		e.equal("the profile", len(e.search(longterm.Query{Text: "moon", Profile: 20, Limit: 20})), len(want))
		e.equal("found in the past", len(e.search(longterm.Query{Text: "price", AsOf: day.Add(time.Hour), Limit: 20})), len(want))
		e.equal("listed", len(e.list(longterm.Page{Past: true, Inferred: true})), len(want))
	}
	// What an agent may not see does not move what it sees, not even by a score.
	e.agent = e.newAgent("low", memory.Public, ns)
	before := e.search(longterm.Query{Text: "the public price"})
	e.agent = everywhere
	for i := range 20 {
		d := fact(fmt.Sprintf("the public price, secretly: %s", strings.Repeat("price ", i)), name(i), i)
		d.Label, d.Namespace = memory.Secret, ns
		e.add(d)
	}
	e.agent = e.newAgent("low", memory.Public, ns)
	after := e.search(longterm.Query{Text: "the public price"})
	for i := range after {
		after[i].Why.Decay, before[i].Why.Decay = 0, 0 // a moment has passed
	}
	e.equal("found after secrets came", after, before)

	// A version of a secret is a secret, whoever writes it, and tells nothing of what it supersedes.
	e.agent = e.newAgent("low", memory.Public, ns)
	d := about("price.secret", "the price is 42 now", "n", 1)
	out := e.add(d)[0]
	if out.Over != "" || out.Fate != longterm.Stored {
		e.Fatalf("%+v", out)
	}
	_, err := e.store.Get(e.Context(), e.scope, e.agent, out.ID)
	e.is(err, longterm.ErrNotFound)
	if out := e.add(withdraw("price.internal", "o", 2))[0]; out.Reason != longterm.Unknown {
		e.Fatalf("%+v", out)
	}
	e.agent = everywhere
	if got := e.get(out.ID); got.Label != memory.Secret || got.Version != 2 {
		e.Fatalf("%s", e.json(got))
	}
}

func verbatim(e *env) {
	d := fact("用户拒绝过 A 方案的报价", "m1", 1)
	d.Words = "A 方案那个报价我不接受, 编号 QT-2024/0817-b"
	e.one(d, longterm.Stored)
	d = fact("the upload fails", "m2", 1)
	d.Words = `it says "ERR-504: upstream svc_17 at 10.0.3.7 timed out (req 7f3a-99)" each time`
	e.one(d, longterm.Stored)
	for q, want := range map[string]string{"A 方案的报价": "QT-2024/0817-b", "QT-2024/0817-b": "QT-2024/0817-b", "ERR-504": "10.0.3.7", "svc_17": "7f3a-99"} {
		hits := e.search(longterm.Query{Text: q})
		if len(hits) != 1 || !strings.Contains(hits[0].Words, want) {
			e.Errorf("%q finds %s", q, e.json(hits))
		}
	}
}
