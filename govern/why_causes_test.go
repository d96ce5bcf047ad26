package govern_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/govern"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/working"
)

const (
	fact  = "My dog is called Rex and is afraid of thunder."
	words = "the dog Rex is afraid of thunder"
	ask   = "What should I know about the dog?"
)

// itemOf is the one item of a user.
func (c *clinic) itemOf(user string) longterm.Item {
	c.Helper()
	items, err := c.boxes.Longterm.List(c.Context(), scopeOf(c, user), c.agent, longterm.Page{Past: true, Inferred: true})
	ok(c, err)
	if len(items) != 1 {
		c.Fatalf("%d items", len(items))
	}
	return items[0]
}

// R116, T30: each cause that is not in the large test, planted once.
func TestWhyOtherCauses(t *testing.T) {
	t.Parallel()
	keep := longterm.Draft{Text: fact, Confidence: 0.9}
	for _, tc := range []struct {
		cause govern.Cause
		run   func(t *testing.T, c *clinic)
	}{
		{govern.NeverSaid, func(t *testing.T, c *clinic) {
			c.say("ann", "early", "My cat is called Tom.")
			c.extract()
			c.say("ann", "late", ask)
		}},
		{govern.Waiting, func(t *testing.T, c *clinic) {
			c.say("ann", "early", fact)
			c.say("ann", "late", "Which planets have rings?") // the words that wait are not searched for this
		}},
		{govern.Parked, func(t *testing.T, c *clinic) {
			c.say("ann", "early", fact)
			c.reader.fails = errors.New("the provider is away")
			c.extract()
			c.retry("ann")
			c.extract()
			c.retry("ann") // a job that is parked is not due
			c.say("ann", "late", "Which planets have rings?")
		}},
		{govern.NotQueued, func(t *testing.T, c *clinic) {
			c.say("ann", "early", fact)
			ok(t, c.boxes.Longterm.Erase(t.Context(), scopeOf(t, "ann")))
			ok(t, c.boxes.Longterm.Readmit(t.Context(), scopeOf(t, "ann")))
			c.say("ann", "late", ask)
		}},
		{govern.Forgotten, func(t *testing.T, c *clinic) {
			c.say("ann", "early", fact)
			c.extract()
			ok(t, c.boxes.Longterm.Forget(t.Context(), scopeOf(t, "ann"), c.agent, c.itemOf("ann").ID))
			c.say("ann", "late", ask)
		}},
		{govern.RolledBack, func(t *testing.T, c *clinic) {
			c.say("ann", "early", fact)
			c.extract()
			_, err := c.boxes.Longterm.RollBack(t.Context(), scopeOf(t, "ann"), c.agent, c.itemOf("ann").ID)
			ok(t, err)
			c.say("ann", "late", ask)
		}},
		{govern.Withdrawn, func(t *testing.T, c *clinic) {
			c.reader.keep(fact, longterm.Draft{Text: fact, Confidence: 0.9, Key: "dog"})
			c.reader.keep("Forget that, there is no pet.", longterm.Draft{Text: "Forget that, there is no pet.", Confidence: 0.9, Key: "dog", Ends: true})
			c.say("ann", "early", fact)
			c.extract()
			c.say("ann", "early", "Forget that, there is no pet.")
			c.extract()
			c.say("ann", "late", ask)
		}},
		{govern.Unconfirmed, func(t *testing.T, c *clinic) {
			c.reader.infers = true
			c.say("ann", "early", fact)
			c.extract()
			c.say("ann", "late", ask)
		}},
		{govern.Expired, func(t *testing.T, c *clinic) {
			d := keep
			d.Expires = time.Now().Add(3 * time.Second)
			c.reader.keep(fact, d)
			c.say("ann", "early", fact)
			c.extract()
			for time.Until(d.Expires) > 0 {
				time.Sleep(time.Until(d.Expires))
			}
			c.say("ann", "late", ask)
		}},
		{govern.HiddenByLabel, func(t *testing.T, c *clinic) {
			c.reader.keep(fact, longterm.Draft{Text: fact, Confidence: 0.9, Label: memory.Internal})
			c.say("ann", "early", fact)
			c.extract()
			c.say("ann", "late", "Which planets have rings?")
			var err error
			c.reads, err = memory.NewAgent("clerk", memory.Public, namespace)
			ok(t, err)
		}},
		{govern.TooLate, func(t *testing.T, c *clinic) {
			c.reader.fails = errors.New("the provider is away")
			c.say("ann", "early", "Hello.")
			c.say("ann", "late", ask)
			c.add("ann", fact)
		}},
		{govern.NoMatch, func(t *testing.T, c *clinic) {
			c.say("ann", "early", fact)
			c.extract()
			c.say("ann", "late", "Which planets have rings?")
		}},
		{govern.NotAsked, func(t *testing.T, c *clinic) {
			c.add("ann", fact)
		}},
		{govern.InPrompt, func(t *testing.T, c *clinic) {
			c.say("ann", "early", fact)
			c.extract()
			c.say("ann", "late", ask)
		}},
		{govern.InPrompt, func(t *testing.T, c *clinic) { // the words themselves are in the history
			c.reader.keep(fact, longterm.Draft{})
			c.say("ann", "late", fact)
			c.extract()
			c.say("ann", "late", ask)
		}},
		{govern.InPrompt, func(t *testing.T, c *clinic) { // words that wait are told as they are
			c.say("ann", "early", fact)
			c.say("ann", "late", "What is the dog Rex afraid of?")
		}},
	} {
		t.Run(string(tc.cause), func(t *testing.T) {
			t.Parallel()
			c := newClinic(t, false, working.Default())
			tc.run(t, c)
			e, err := c.boxes.Why(t.Context(), govern.Question{Scope: scopeOf(t, "ann"), Agent: c.agent, Reader: c.reads, Words: words})
			ok(t, err)
			if e.Cause != tc.cause {
				t.Errorf("%s: %+v", e.Cause, e.Stages)
			}
			if len(e.Stages) != 8 || e.Line(true) == "" || e.Line(false) == e.Line(true) {
				t.Errorf("stages %+v", e.Stages)
			}
			for _, s := range e.Stages {
				if s.English == "" || s.Chinese == "" || strings.Contains(s.English+s.Chinese, "\n") {
					t.Errorf("stage %+v", s)
				}
			}
			doc, err := json.Marshal(e)
			ok(t, err)
			var back govern.Explanation
			ok(t, json.Unmarshal(doc, &back))
			if back.Cause != e.Cause || len(back.Stages) != 8 {
				t.Errorf("as JSON %s", doc)
			}
		})
	}
}

// T30: a draft that was dropped is told with its number and the least that was needed, and with nothing of what it said.
func TestWhyTellsTheReason(t *testing.T) {
	t.Parallel()
	c := newClinic(t, false, working.Default())
	c.reader.keep(fact, longterm.Draft{Text: fact, Confidence: 0.62})
	c.say("ann", "early", fact)
	c.extract()
	jobs, err := c.boxes.Longterm.Jobs(t.Context(), scopeOf(t, "ann"), c.agent, "", 0)
	ok(t, err)
	doc, err := json.Marshal(jobs)
	ok(t, err)
	if len(jobs) != 1 || strings.Contains(string(doc), "Rex") || len(jobs[0].Messages) != 1 || jobs[0].Outcomes[0].Message != jobs[0].Messages[0] {
		t.Errorf("jobs %s", doc)
	}
	c.say("ann", "late", ask)
	if e := c.why("ann", words); e.Reason != "confidence 0.62, at least 0.70 is needed" || e.Stage(govern.StageKept).Found[0].Confidence != 0.62 {
		t.Errorf("%+v", e)
	}
}

// R117: of what was superseded the versions after it are shown, each with the message that said it.
func TestWhyShowsLaterVersions(t *testing.T) {
	t.Parallel()
	c := newClinic(t, false, working.Default())
	said := []string{fact, "It is called Bruno by now.", "We have renamed it to Max."}
	for _, text := range said {
		c.reader.keep(text, longterm.Draft{Text: text, Confidence: 0.9, Key: "dog"})
		c.say("ann", "early", text)
		c.extract()
	}
	c.say("ann", "late", ask)
	found := c.why("ann", words).Stage(govern.StageCurrent).Found
	if len(found) != 3 {
		t.Fatalf("versions %+v", found)
	}
	for i, f := range found {
		if f.Text != said[i] || f.Conversation != "early" || f.Message == "" || i < 2 && f.By != found[i+1].ID {
			t.Errorf("version %d: %+v", i, f)
		}
	}
}

// R115: an explanation has the log of its prompt: what was read, from which store, what of it was told, and the tokens without and with what was
// left out.
func TestWhyHasTheLogOfThePrompt(t *testing.T) {
	t.Parallel()
	c := newClinic(t, false, small())
	long := strings.Repeat("The dog likes the long walk along the river. ", 4)
	ids := c.add("ann", fact, "The dog eats twice a day. "+long, "The dog sleeps in the hall. "+long)
	out := c.say("ann", "late", ask)
	e := c.why("ann", words)
	m := out.Report.Get()
	if p := e.Prompt; p == nil || p.Before != m.Before || p.After != m.After || p.After >= p.Before || p.Conversation != "late" || p.Run == "" || len(p.Read) != 1 {
		t.Fatalf("prompt %+v of %+v", e.Prompt, m)
	}
	r := e.Prompt.Read[0]
	all := slices.Sorted(slices.Values(slices.Concat(r.Kept, r.Shortened, r.Dropped)))
	if slices.Sort(ids); r.Source != string(working.LongTerm) || !slices.Equal(all, ids) || len(r.Dropped) == 0 || len(r.Kept) == 0 {
		t.Errorf("read %+v of %v", r, ids)
	}
}

// What is not the agent's to see is as if it were not there, and nobody learns of another user.
func TestWhyShowsNothingOfOthers(t *testing.T) {
	t.Parallel()
	c := newClinic(t, false, working.Default())
	c.reader.keep(fact, longterm.Draft{Text: fact, Confidence: 0.9, Label: memory.Internal})
	c.say("ann", "early", fact)
	c.extract()
	c.say("ann", "late", ask)
	public, err := memory.NewAgent("clerk", memory.Public, namespace)
	ok(t, err)
	elsewhere, err := memory.NewAgent("cook", memory.Secret, "kitchen")
	ok(t, err)
	id := c.itemOf("ann").ID
	for _, a := range []memory.Agent{public, elsewhere} {
		e, err := c.boxes.Why(t.Context(), govern.Question{Scope: scopeOf(t, "ann"), Agent: a, Words: words})
		ok(t, err)
		doc, err := json.Marshal(e.Stages)
		ok(t, err)
		if e.Cause != govern.NotQueued || strings.Contains(string(doc), id) || strings.Contains(string(doc), "Rex") {
			t.Errorf("%s: %s", a.Name(), doc)
		}
		if e.Prompt != nil {
			for _, r := range e.Prompt.Read {
				if slices.Contains(slices.Concat(r.Kept, r.Shortened, r.Dropped), id) {
					t.Errorf("%s learns the id of an item", a.Name())
				}
			}
		}
	}
	if e := c.why("bob", words); e.Cause != govern.NeverSaid || e.Prompt != nil {
		t.Errorf("bob: %+v", e)
	}
	other, err := memory.NewScope("other", "ann")
	ok(t, err)
	c.boxes.Tenant = tenant // threads of many tenants in one, as without tenants
	if e, err := c.boxes.Why(t.Context(), govern.Question{Scope: other, Agent: c.agent, Words: words}); err != nil || e.Cause != govern.NeverSaid || e.Prompt != nil {
		t.Errorf("of another tenant: %+v, %v", e, err)
	}
}

func TestWhyRefuses(t *testing.T) {
	t.Parallel()
	c := newClinic(t, false, working.Default())
	sc := scopeOf(t, "ann")
	for want, q := range map[error]govern.Question{
		memory.ErrScope:    {Agent: c.agent, Words: words},
		memory.ErrAgent:    {Scope: sc, Words: words},
		govern.ErrQuestion: {Scope: sc, Agent: c.agent, Words: " ?! "},
	} {
		_, err := c.boxes.Why(t.Context(), q)
		is(t, err, want)
	}
}

// Without a box the stages that need it are unknown, and the others are told.
func TestWhyWithoutBoxes(t *testing.T) {
	t.Parallel()
	c := newClinic(t, false, working.Default())
	c.say("ann", "early", fact)
	c.extract()
	c.say("ann", "late", ask)
	sc := scopeOf(t, "ann")
	for _, tc := range []struct {
		boxes govern.Boxes
		asked string
		want  govern.Cause
	}{
		{govern.Boxes{}, "", govern.NeverSaid},
		{govern.Boxes{Session: c.boxes.Session}, "", govern.NotQueued},
		{govern.Boxes{Longterm: c.boxes.Longterm}, ask, govern.Found},
		{govern.Boxes{Longterm: c.boxes.Longterm}, "", govern.NotAsked},
		{govern.Boxes{Longterm: c.boxes.Longterm, Threads: c.boxes.Threads}, "", govern.InPrompt},
	} {
		e, err := tc.boxes.Why(t.Context(), govern.Question{Scope: sc, Agent: c.agent, Words: words, Asked: tc.asked})
		if err != nil || e.Cause != tc.want || len(e.Stages) != 8 {
			t.Errorf("%+v: %v, want %s", e, err, tc.want)
		}
	}
}
