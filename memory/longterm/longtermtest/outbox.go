package longtermtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/message"
)

var quick = longterm.Options{Extractor: extractor(noted), Backoff: 1}

var outboxCases = []testCase{
	{name: "an exchange becomes facts", line: "R65, R80, T23", why: "what was said a moment ago must not be contradicted", o: quick, run: becomesFacts},
	{name: "an exchange again", line: "R80", why: "a retried turn must not double a fact", o: quick, run: exchangeAgain},
	{name: "what is a source", line: "R65, R78, reports 124, 126", why: "the assistant's own words stored as the user's are junk", o: quick, run: whatIsASource},
	{name: "rules", line: "R66, R83", why: "what is plain is known at once", o: longterm.Options{Rules: extractor(noted)}, run: rules},
	{name: "rules that fail", line: "reports 127, 128", why: "a fault of the rules must not lose the turn", run: rulesFail},
	{name: "as many users", line: "report 130", why: "an add that reports success and stores nothing is a lie", o: longterm.Options{Rules: extractor(noted)}, run: asManyUsers},
	{name: "rules and a model", line: "R69", why: "what both find is one fact",
		o: longterm.Options{Rules: extractor(noted), Extractor: extractor(noted), Backoff: 1}, run: rulesAndModel},
	{name: "error or nothing", line: "R67, reports 127, 128", why: "an extractor that fails looks like nothing to store", run: errorOrNothing},
	{name: "parked", line: "R80, report 130", why: "what fails for ever must be seen, and kept", run: parked},
	{name: "faults", line: "R68, report 128", why: "a panic is a fault, and a fault repeats no words of the user", run: faults},
	{name: "drafts of extractors", line: "R73, R78, T15", why: "a model may claim anything of where it has something from", run: claims},
	{name: "one bad draft", line: "report 130", why: "one bad draft must not cost the good ones", run: oneBadDraft},
	{name: "secrets in an exchange", line: "R68", why: "the outbox is a store as well", o: quick, run: secretExchange},
	{name: "pending and visible", line: "R91, T23", why: "a word in the outbox has no label yet", o: quick, run: pendingLabels},
	{name: "several workers", line: "R80", why: "two workers must not double a fact", o: quick, run: severalWorkers},
	{name: "a worker that comes too late", line: "R80", why: "a lease that ran out must not be written under", run: tooLate},
	{name: "a worker that is told to stop", line: "R80", why: "a deploy is no fault of a job, and costs it no lease", run: toldToStop},
	{name: "forgotten while it waits", line: "R83, R114", why: "a late job must not bring back what the user has deleted", run: forgottenWaiting},
	{name: "erased while it runs", line: "R114", why: "a late job must not bring back a user", run: erasedRunning},
	{name: "work", line: "R79", why: "the reply does not wait for the extraction", o: quick, run: work},
	{name: "done jobs are kept for a while", line: "R80", why: "they are listed, and then gone", run: keep},
	{name: "nothing extracts", line: "R66", why: "a store that can never know must say so", run: nothingExtracts},
}

func becomesFacts(e *env) {
	old := e.one(about("editor", "editor: vim it is", "m0", 0), longterm.Stored)
	x := longterm.Exchange{Conversation: conv, At: day.Add(time.Hour), Messages: []message.Message{
		says("m1", "note editor: emacs it is\nand some chatter about the weather"), message.Assistant("note emacs is wrong"),
	}}
	e.remember(x)
	jobs := e.jobs()
	if len(jobs) != 1 || jobs[0].State != longterm.Queued || jobs[0].Scope != e.scope || jobs[0].Agent.Name() != "writer" || jobs[0].Conversation != conv ||
		len(jobs[0].Texts) != 1 || jobs[0].Texts[0].Source.Message != "m1" || !jobs[0].Texts[0].Source.At.Equal(x.At) {
		e.Fatalf("%s", e.json(jobs))
	}
	hits := e.search(longterm.Query{Text: "which editor?"})
	if len(hits) != 2 || !hits[0].Pending || !strings.Contains(hits[0].Text, "emacs") || hits[1].Pending {
		e.Fatalf("before it is extracted: %s", e.json(hits))
	}
	jobs = e.drain(all(longterm.Done))
	if len(jobs[0].Texts) != 0 || len(jobs[0].Outcomes) != 1 || jobs[0].Outcomes[0].Over != old || jobs[0].Attempts != 1 || jobs[0].Done.IsZero() {
		e.Fatalf("%s", e.json(jobs))
	}
	hits = e.search(longterm.Query{Text: "which editor?"})
	if len(hits) != 1 || hits[0].Pending || hits[0].Text != "editor: emacs it is" {
		e.Fatalf("after it was extracted: %s", e.json(hits))
	}
	e.finds("weather") // the transcript is nowhere

	// Words that say otherwise than what is found are told even if they have none in common with the question.
	e.one(fact("I live in Berlin", "m5", 5), longterm.Stored)
	e.remember(exchange("m6", "By the way: I moved to Oslo."))
	hits = e.search(longterm.Query{Text: "where do I live?"})
	if len(hits) != 2 || !hits[0].Pending || !strings.Contains(hits[0].Text, "Oslo") {
		e.Fatalf("what was said just now: %s", e.json(hits))
	}
}

func exchangeAgain(e *env) {
	x := exchange("m1", "note it is stored once")
	for range 3 {
		e.remember(x)
	}
	e.equal("jobs", len(e.jobs()), 1)
	e.drain(all(longterm.Done))
	before := e.all()
	e.remember(x)
	n, err := e.store.Drain(e.Context())
	e.ok(err)
	e.equal("jobs done", n, 0)
	e.equal("all after it came again", e.all(), before)
	for what, bad := range map[string]longterm.Exchange{
		"no conversation": {Messages: x.Messages}, "no user": {Conversation: conv, Messages: []message.Message{message.Assistant("hello")}},
		"nothing": {Conversation: conv}, "no id": {Conversation: conv, Messages: []message.Message{says("", "note it has no id")}},
	} {
		if err := e.store.Remember(e.Context(), e.scope, e.agent, bad); !errors.Is(err, longterm.ErrExchange) {
			e.Errorf("%s: %v", what, err)
		}
	}
}

func whatIsASource(e *env) {
	ok := message.Call{ID: "c1", Name: "orders"}
	bad := message.Call{ID: "c2", Name: "orders"}
	interim := ok.Done("note an interim result")
	interim.CallID, interim.Interim = "c3", true
	id := func(m message.Message, id string) message.Message { m.ID = id; return m }
	e.remember(longterm.Exchange{Conversation: conv, Messages: []message.Message{
		id(message.System("note the system prompt"), "s"), says("m1", "note the user has said it"),
		id(message.Assistant("note the assistant has said it", ok, bad), "a"),
		id(message.Tool(ok.Done("note the tool has verified it\n"+strings.Repeat("a line of a log\n", 20_000)+"note the last line"),
			bad.Ended(message.StatusError, "note the call has failed"), interim), "t"),
		id(message.Assistant("note the assistant has the last word"), "b"),
	}})
	size := 0
	for _, t := range e.jobs()[0].Texts {
		size += len(t.Text)
	}
	if size > 10_000 {
		e.Fatalf("%d bytes of a log are kept", size)
	}
	e.drain(all(longterm.Done))
	got := map[string]longterm.Origin{}
	for _, i := range e.list(longterm.Page{Inferred: true}) {
		if got[i.Text] = i.Origin; i.Origin == longterm.FromTool && i.Sources[0].Call != "c1" {
			e.Errorf("%s", e.json(i))
		}
	}
	e.equal("stored", got, map[string]longterm.Origin{
		"the user has said it": longterm.FromUser, "the tool has verified it": longterm.FromTool, "the last line": longterm.FromTool,
	})
}

func rules(e *env) {
	e.remember(exchange("m1", "note it is known at once"))
	jobs := e.jobs()
	if len(jobs) != 1 || jobs[0].State != longterm.Done || len(jobs[0].Outcomes) != 1 || len(jobs[0].Texts) != 0 {
		e.Fatalf("%s", e.json(jobs))
	}
	e.finds("what is known at once?", "it is known at once")
	e.remember(exchange("m2", "嗯"))
	if jobs := e.jobs(); len(jobs) != 2 || !all(longterm.Done)(jobs) || len(e.list(longterm.Page{Past: true, Inferred: true})) != 1 {
		e.Fatalf("%s", e.json(jobs))
	}
}

func rulesFail(e *env) {
	var well atomic.Bool
	e.store = e.open(e.T, longterm.Options{Backoff: 1, Rules: extractor(
		func(ctx context.Context, ts []longterm.Text, _ []longterm.Item) ([]longterm.Draft, error) {
			if !well.Load() {
				panic("a rule is wrong")
			}
			return noted(ctx, ts, nil)
		})})
	e.remember(exchange("m1", "note it is kept"))
	if jobs := e.jobs(); len(jobs) != 1 || jobs[0].State != longterm.Queued || !strings.Contains(jobs[0].Fault, "a rule is wrong") {
		e.Fatalf("%s", e.json(jobs))
	}
	well.Store(true)
	e.drain(all(longterm.Done))
	e.finds("kept", "it is kept")
}

func asManyUsers(e *env) {
	for range 20 {
		e.scope = e.newScope()
		e.remember(exchange("m1", "note the parcel goes to the office"))
		if jobs := e.jobs(); len(jobs) != 1 || len(jobs[0].Outcomes) != 1 || jobs[0].Outcomes[0].Fate != longterm.Stored {
			e.Fatalf("%s", e.json(jobs))
		}
		e.finds("parcel", "the parcel goes to the office")
	}
}

func rulesAndModel(e *env) {
	e.remember(exchange("m1", "note both find it"))
	hits := e.search(longterm.Query{Text: "what do both find?"})
	if len(hits) != 1 || hits[0].Pending { // the fact is there: its words are not told a second time
		e.Fatalf("%s", e.json(hits))
	}
	e.drain(all(longterm.Done))
	items := e.list(longterm.Page{Past: true})
	if len(items) != 1 || len(items[0].Sources) != 1 {
		e.Fatalf("%s", e.json(items))
	}
}

func errorOrNothing(e *env) {
	var fails atomic.Int64
	e.store = e.open(e.T, longterm.Options{Backoff: 1, Extractor: extractor(func(ctx context.Context, ts []longterm.Text, _ []longterm.Item) ([]longterm.Draft, error) {
		if fails.Add(-1) >= 0 && strings.Contains(ts[0].Text, "note") {
			return nil, errors.New("the answer is no JSON")
		}
		return noted(ctx, ts, nil)
	})})
	e.remember(exchange("m1", "嗯"))
	if jobs := e.drain(all(longterm.Done)); len(jobs[0].Outcomes) != 0 || jobs[0].Fault != "" {
		e.Fatalf("nothing to store: %s", e.json(jobs))
	}
	e.remember(exchange("m2", "note the third time is the charm"))
	fails.Store(2)
	var seen []longterm.JobState
	for range 3 {
		e.spin("the next attempt", func() bool {
			_, err := e.store.Drain(e.Context())
			e.ok(err)
			return fails.Load() < 2
		})
		for _, j := range e.jobs() {
			seen = append(seen, j.State)
		}
	}
	jobs := e.drain(all(longterm.Done))
	i := slices.IndexFunc(jobs, func(j longterm.Job) bool { return len(j.Outcomes) > 0 })
	if i < 0 || jobs[i].Attempts != 3 || jobs[i].Fault != "" {
		e.Fatalf("after two failures: %s (seen %v)", e.json(jobs), seen)
	}
	e.finds("charm", "the third time is the charm")
}

func parked(e *env) {
	var well atomic.Bool
	e.store = e.open(e.T, longterm.Options{Backoff: 1, Attempts: 3, Extractor: extractor(
		func(ctx context.Context, ts []longterm.Text, _ []longterm.Item) ([]longterm.Draft, error) {
			if !well.Load() {
				return nil, errors.New("no answer")
			}
			return noted(ctx, ts, nil)
		})})
	e.remember(exchange("m1", "note it is kept"))
	jobs := e.drain(all(longterm.Parked))
	if jobs[0].Attempts != 3 || jobs[0].Fault != "no answer" || len(jobs[0].Texts) != 1 {
		e.Fatalf("%s", e.json(jobs))
	}
	n, err := e.store.Drain(e.Context())
	e.ok(err)
	e.equal("parked jobs done", n, 0)
	well.Store(true)
	e.is(e.store.Retry(e.Context(), e.scope, e.agent, "nothing"), longterm.ErrNotFound)
	e.ok(e.store.Retry(e.Context(), e.scope, e.agent, jobs[0].ID))
	jobs = e.drain(all(longterm.Done))
	e.finds("kept", "it is kept")
	e.ok(e.store.Retry(e.Context(), e.scope, e.agent, jobs[0].ID)) // it is done: nothing happens
	e.equal("state", e.jobs()[0].State, longterm.Done)
}

func faults(e *env) {
	e.store = e.open(e.T, longterm.Options{Backoff: 1, Attempts: 1, Extractor: extractor(
		func(_ context.Context, ts []longterm.Text, _ []longterm.Item) ([]longterm.Draft, error) {
			if strings.Contains(ts[0].Text, "panic") {
				panic("the extractor met " + ts[0].Text)
			}
			return nil, fmt.Errorf("status 500: cannot parse %q", ts[0].Text)
		})})
	e.remember(exchange("m1", "panic about Rumpelstilzchen"))
	e.remember(exchange("m2", "我叫张三丰, Rumpelstilzchen"))
	for _, j := range e.drain(all(longterm.Parked)) {
		if j.Fault == "" || strings.Contains(j.Fault, "Rumpel") || strings.Contains(j.Fault, "张三丰") ||
			!strings.Contains(j.Fault, "panic") && !strings.Contains(j.Fault, "status 500") && !strings.Contains(j.Fault, "extractor met") {
			e.Errorf("fault %q", j.Fault)
		}
	}
}

func claims(e *env) {
	drafts := func(ts []longterm.Text) []longterm.Draft {
		t := ts[0]
		d := longterm.Draft{Kind: longterm.Semantic, Text: "the user lives in Berlin", Words: "i live in  Berlin", Origin: longterm.FromUser, Source: t.Source}
		invented, elsewhere, none, laundered, guess := d, d, d, d, d
		invented.Words = "I live in Paris"
		elsewhere.Source.Message = "another"
		none.Source = longterm.Source{}
		laundered.Text, laundered.Words, laundered.Source, laundered.Origin = "order 17 is paid", "order 17 is paid", ts[1].Source, longterm.FromUser
		guess.Text, guess.Origin, guess.Confidence = "the user is a Berliner", longterm.Inferred, 1
		return []longterm.Draft{d, invented, elsewhere, none, laundered, guess}
	}
	e.store = e.open(e.T, longterm.Options{Extractor: extractor(func(_ context.Context, ts []longterm.Text, _ []longterm.Item) ([]longterm.Draft, error) {
		if len(ts) < 2 {
			return nil, nil
		}
		return drafts(ts), nil
	})})
	tool := message.Tool(message.Call{ID: "c", Name: "orders"}.Done("order 17 is paid"))
	tool.ID = "t"
	e.remember(longterm.Exchange{Conversation: conv, Messages: []message.Message{says("m1", "I live in\nBerlin, you know"), tool}})
	jobs := e.drain(all(longterm.Done))
	got := []string{}
	for _, o := range jobs[0].Outcomes {
		got = append(got, string(o.Fate)+string(o.Reason))
	}
	e.equal("outcomes", got, []string{"stored", "dropped" + string(longterm.Invented), "dropped" + string(longterm.NoSource), "dropped" + string(longterm.NoSource), "stored", "held"})
	for _, i := range e.list(longterm.Page{}) {
		if (i.Origin == longterm.FromTool) != (i.Text == "order 17 is paid") {
			e.Errorf("%s", e.json(i))
		}
	}
}

func oneBadDraft(e *env) {
	e.store = e.open(e.T, longterm.Options{ItemBytes: 2000, Extractor: extractor(func(_ context.Context, ts []longterm.Text, _ []longterm.Item) ([]longterm.Draft, error) {
		if !strings.Contains(ts[0].Text, "sentence") {
			return nil, nil
		}
		good := longterm.Draft{Kind: longterm.Semantic, Text: "a good one", Words: "sentence", Origin: longterm.FromUser, Source: ts[0].Source}
		kind, long, depends, foreign := good, good, good, good
		kind.Kind = "document"
		long.Text = strings.Repeat("long ", 1000)
		depends.Text, depends.Depends = "it depends", []string{"nothing"}
		foreign.Namespace = "another"
		return []longterm.Draft{kind, long, depends, foreign, good}, nil
	})})
	e.remember(exchange("m1", "a sentence"))
	got := []longterm.Reason{}
	for _, o := range e.drain(all(longterm.Done))[0].Outcomes {
		got = append(got, o.Reason)
	}
	e.equal("reasons", got, []longterm.Reason{longterm.Malformed, longterm.OverLimit, longterm.Malformed, longterm.Malformed, ""})
	e.finds("a good one", "a good one")
}

func secretExchange(e *env) {
	e.remember(exchange("m1", "note my key for the shop in Berlin is "+canary))
	if all := e.all() + e.json(e.search(longterm.Query{Text: "key for the shop in Berlin"})); strings.Contains(all, canary) {
		e.Fatalf("the outbox has the secret: %s", all)
	}
	e.drain(all(longterm.Done))
	if all := e.all(); strings.Contains(all, canary) {
		e.Fatalf("the store has the secret: %s", all)
	}
}

func pendingLabels(e *env) {
	e.agent = e.newAgent("writer", memory.Internal, ns, "quotes")
	e.remember(exchange("m1", "note the price is 17"))
	for _, c := range []struct {
		reader memory.Agent
		want   int
	}{
		{e.agent, 1}, {e.newAgent("all", memory.Secret, ns, "quotes", "more"), 1}, {e.newAgent("low", memory.Public, ns, "quotes"), 0},
		{e.newAgent("other", memory.Secret, ns), 0},
	} {
		hits, err := e.store.Search(e.Context(), e.scope, c.reader, longterm.Query{Text: "the price"})
		e.ok(err)
		jobs, err := e.store.Jobs(e.Context(), e.scope, c.reader, "", 0)
		e.ok(err)
		if len(hits) != c.want || len(jobs) != c.want {
			e.Fatalf("%s sees %s and %s", c.reader.Name(), e.json(hits), e.json(jobs))
		}
		if err := e.store.Retry(e.Context(), e.scope, c.reader, e.jobs()[0].ID); (err == nil) != (c.want == 1) {
			e.Fatalf("%s: retry: %v", c.reader.Name(), err)
		}
	}
	hits := e.search(longterm.Query{Text: "the price", Kinds: []longterm.Kind{longterm.Semantic}}) // it has no kind yet
	e.equal("found by kind", len(hits), 0)
}

func severalWorkers(e *env) {
	const n = 40
	for i := range n {
		e.remember(exchange(name(i), fmt.Sprintf("note fact zq%dx of many", i)))
	}
	var wg sync.WaitGroup
	var total atomic.Int64
	for range 4 {
		wg.Go(func() {
			done, err := e.store.Drain(e.Context())
			if err != nil {
				e.Errorf("drain: %v", err)
			}
			total.Add(int64(done))
		})
	}
	wg.Wait()
	jobs := e.drain(all(longterm.Done))
	items := e.list(longterm.Page{Past: true, Limit: 1000})
	e.equal("jobs", len(jobs), n)
	e.equal("facts", len(items), n)
	for _, i := range items {
		if len(i.Sources) != 1 || i.Version != 1 {
			e.Errorf("%s", e.json(i))
		}
	}
}

// A gate is an extractor whose call about a text waits until it may go on.
type gate struct {
	text  string
	calls atomic.Int64 // about the text
	in    chan struct{}
	out   chan struct{}
}

func newGate(text string) *gate {
	return &gate{text: text, in: make(chan struct{}), out: make(chan struct{})}
}

func (g *gate) Extract(ctx context.Context, ts []longterm.Text, known []longterm.Item) ([]longterm.Draft, error) {
	if slices.ContainsFunc(ts, func(t longterm.Text) bool { return strings.Contains(t.Text, g.text) }) && g.calls.Add(1) == 1 {
		close(g.in)
		<-g.out
	}
	return noted(ctx, ts, known)
}

func tooLate(e *env) {
	g := newGate("late fact")
	e.store = e.open(e.T, longterm.Options{Extractor: g, Lease: 20 * time.Millisecond, Attempts: 100})
	e.remember(exchange("m1", "note a late fact"))
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := e.store.Drain(e.Context()); err != nil {
			e.Errorf("drain: %v", err)
		}
	})
	<-g.in
	e.drain(all(longterm.Done)) // another worker, when the lease is over
	before := e.all()
	close(g.out)
	wg.Wait()
	e.equal("all after the first worker came back", e.all(), before)
	e.finds("fact", "a late fact")
	if items := e.list(longterm.Page{}); len(items) != 1 || len(items[0].Sources) != 1 {
		e.Fatalf("%s", e.json(items))
	}
}

func toldToStop(e *env) {
	in := make(chan struct{})
	var stopped atomic.Bool
	e.store = e.open(e.T, longterm.Options{Extractor: extractor(func(ctx context.Context, ts []longterm.Text, _ []longterm.Item) ([]longterm.Draft, error) {
		if strings.Contains(ts[0].Text, "a slow fact") && !stopped.Swap(true) {
			close(in)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return noted(ctx, ts, nil)
	})})
	e.remember(exchange("m1", "note a slow fact"))
	ctx, cancel := context.WithCancel(e.Context())
	ended := make(chan error)
	go func() { ended <- e.store.Work(ctx) }()
	<-in
	cancel()
	e.ok(<-ended)
	if jobs := e.jobs(); jobs[0].Attempts != 0 || jobs[0].State != longterm.Queued || jobs[0].Fault != "" {
		e.Fatalf("%s", e.json(jobs))
	}
	_, err := e.store.Drain(e.Context())
	e.ok(err)
	e.equal("state", e.jobs()[0].State, longterm.Done)
}

func forgottenWaiting(e *env) {
	g := newGate("canary")
	e.store = e.open(e.T, longterm.Options{Extractor: g})
	e.remember(longterm.Exchange{Conversation: conv, Messages: []message.Message{says("m1", "note the canary sings"), says("m2", "note the sparrow too")}})
	id := e.one(fact("the canary sings", "m1", 0), longterm.Stored)
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := e.store.Drain(e.Context()); err != nil {
			e.Errorf("drain: %v", err)
		}
	})
	<-g.in // a worker has the texts
	e.ok(e.store.Forget(e.Context(), e.scope, e.agent, id))
	if all := e.all(); strings.Contains(all, "canary") {
		e.Fatalf("the outbox has it: %s", all)
	}
	close(g.out)
	wg.Wait()
	e.drain(all(longterm.Done))
	if all := e.all(); strings.Contains(all, "canary") {
		e.Fatalf("it came back: %s", all)
	}
	e.finds("sparrow", "the sparrow too") // what else was said in another message stays

	// What was rolled back is not extracted again from the same message.
	wrong := e.one(fact("the heron sings", "m3", 0), longterm.Stored)
	e.remember(exchange("m3", "note the heron sings, they say"))
	_, err := e.store.RollBack(e.Context(), e.scope, e.agent, wrong)
	e.ok(err)
	e.drain(all(longterm.Done))
	e.finds("heron")
}

func erasedRunning(e *env) {
	g := newGate("canary")
	e.store = e.open(e.T, longterm.Options{Extractor: g})
	e.remember(exchange("m1", "note the canary sings"))
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := e.store.Drain(e.Context()); err != nil {
			e.Errorf("drain: %v", err)
		}
	})
	<-g.in
	e.ok(e.store.Erase(e.Context(), e.scope))
	close(g.out)
	wg.Wait()
	e.equal("jobs", len(e.jobs()), 0)
	e.equal("items", len(e.list(longterm.Page{Past: true, Inferred: true})), 0)
	e.finds("canary")
}

func work(e *env) {
	ctx, cancel := context.WithCancel(e.Context())
	ended := make(chan error, 2)
	for range 2 {
		go func() { ended <- e.store.Work(ctx) }()
	}
	for i := range 5 {
		e.remember(exchange(name(i), fmt.Sprintf("note fact zq%dx", i)))
	}
	e.spin("the facts", func() bool { return len(e.list(longterm.Page{})) == 5 })
	cancel()
	for range 2 {
		e.ok(<-ended)
	}
	go func() { ended <- e.store.Work(e.Context()) }()
	e.remember(exchange("last", "note the last fact"))
	e.spin("the last fact", func() bool { return len(e.list(longterm.Page{})) == 6 })
	e.ok(e.store.Close())
	e.is(<-ended, longterm.ErrClosed)
}

func keep(e *env) {
	e.store = e.open(e.T, longterm.Options{Extractor: extractor(noted), Keep: 1})
	e.remember(exchange("m1", "note the first"))
	e.drain(all(longterm.Done))
	e.remember(exchange("m2", "note the second"))
	e.spin("the end of the first job", func() bool {
		e.drain(all(longterm.Done))
		return len(e.jobs()) == 1
	})
	e.equal("facts", len(e.list(longterm.Page{})), 2)

	e.store = e.open(e.T, longterm.Options{Rules: extractor(noted), Keep: 1}) // and without a worker
	e.scope = e.newScope()
	for i := range 3 {
		e.remember(exchange(name(i), "note a fact, "+name(i)))
	}
	if jobs := e.jobs(); len(jobs) > 2 {
		e.Fatalf("%s", e.json(jobs))
	}
}

func nothingExtracts(e *env) {
	e.is(e.store.Remember(e.Context(), e.scope, e.agent, exchange("m1", "hello")), longterm.ErrNoExtractor)
	e.is(e.store.Work(e.Context()), longterm.ErrNoExtractor)
	_, err := e.store.Drain(e.Context())
	e.is(err, longterm.ErrNoExtractor)
	_, err = e.store.Embed(e.Context(), e.scope)
	e.is(err, longterm.ErrOptions)
	e.one(fact("adding and searching are enough", "m", 0), longterm.Stored) // R87
	e.finds("searching", "adding and searching are enough")
}
