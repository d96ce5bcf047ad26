package working_test

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

// inputs is how many random inputs are tried: ten thousand in the long form.
func inputs() uint64 {
	switch {
	case os.Getenv("HOLDFAST_LONG") != "":
		return 10_000
	case raceEnabled:
		return 300
	}
	return 1500
}

// Whatever the history, the budget, the cuts and the cancels: the prompt is valid, within the limit, and has all of the hard
// zone; calls keep their results; the manifest adds up. Only a hard zone that is over the limit has no prompt.
// R36, R37, R39, R55, R56, T1, T2, T3, T8, T33, report 12, report 17, report 99, report 163, report 166
func TestRandomInputs(t *testing.T) {
	t.Parallel()
	const workers = 4
	for worker := range uint64(workers) {
		t.Run(fmt.Sprint(worker), func(t *testing.T) {
			t.Parallel()
			sent := 0
			for seed := worker; seed < inputs(); seed += workers {
				if tryInput(t, seed) {
					sent++
				}
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
			if sent == 0 {
				t.Fatal("no input made a prompt")
			}
			t.Logf("%d prompts", sent)
		})
	}
}

func tryInput(t *testing.T, seed uint64) bool {
	g := newGen(seed)
	in, profile := g.input(), g.profile()
	before := clone(in)
	a, err := working.New(profile, working.Estimate)
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Assemble(in)
	if !reflect.DeepEqual(in, before) {
		t.Error("the input was changed")
	}
	if e, ok := errors.AsType[*working.BudgetError](err); ok {
		checkRefusal(t, e)
		return false
	}
	if err != nil {
		t.Error(err)
		return false
	}
	checkPrompt(t, in, p)
	checkManifest(t, in, p)
	return true
}

func clone(in working.Input) working.Input {
	in.History = slices.Clone(in.History)
	for i, m := range in.History {
		in.History[i] = m.Clone()
	}
	in.Recalled, in.Notes = slices.Clone(in.Recalled), slices.Clone(in.Notes)
	return in
}

// checkRefusal proves that the hard zone has no room, from its parts.
func checkRefusal(t *testing.T, e *working.BudgetError) {
	sum := 0
	for _, p := range e.Parts {
		sum += p.Sent
	}
	if e.Tokens <= e.Limit || sum > e.Tokens || !errors.Is(e, working.ErrBudget) {
		t.Errorf("refused %d tokens of %d, the parts have %d", e.Tokens, e.Limit, sum)
	}
}

func checkPrompt(t *testing.T, in working.Input, p working.Prompt) {
	if err := message.Valid(p.Messages); err != nil {
		t.Error(err)
	}
	if n := working.CountRequest(working.Estimate, p.Messages, p.Tools); n != p.Manifest.After || n > p.Manifest.Limit {
		t.Errorf("%d tokens, the manifest says %d, the limit is %d", n, p.Manifest.After, p.Manifest.Limit)
	}
	checkHardZone(t, in, p)
	checkQuestion(t, in, p)
	checkGroups(t, in, p)
}

// checkHardZone looks for each byte of it: rules first, as parts of the one system message, then state and pins.
func checkHardZone(t *testing.T, in working.Input, p working.Prompt) {
	if len(in.Tools) != len(p.Tools) || len(in.Tools) > 0 && !reflect.DeepEqual(in.Tools, p.Tools) {
		t.Error("the tools were changed")
	}
	var texts []string
	for i, m := range p.Messages {
		if m.Role == message.RoleSystem {
			if i > 0 {
				t.Errorf("message %d is of the system", i)
			}
			for _, part := range m.Parts {
				texts = append(texts, part.Text)
			}
		}
	}
	if len(texts) < len(in.System) || !slices.Equal(texts[:len(in.System)], in.System) {
		t.Error("the rules were changed")
		return
	}
	rest := strings.Join(texts[len(in.System):], "\n")
	for _, want := range append(in.Pins, in.State) {
		if !strings.Contains(rest, want) {
			t.Errorf("state or pin is not there: %.60q", want)
		}
	}
	for _, m := range in.History {
		if m.Role == message.RoleSystem && !strings.Contains(rest, m.Text()) {
			t.Errorf("system message %s is not there", m.ID) // report 96
		}
	}
}

func lastUser(history []message.Message) (at int) {
	for i, m := range history {
		if m.Role == message.RoleUser {
			at = i
		}
	}
	return at
}

// checkQuestion: the latest user message is there, with all its parts behind the data, whole or said to be shortened.
func checkQuestion(t *testing.T, in working.Input, p working.Prompt) {
	want, got := in.History[lastUser(in.History)], p.Messages[lastUser(p.Messages)]
	if got.ID != want.ID {
		t.Errorf("the question is %s, want %s", got.ID, want.ID)
		return
	}
	parts := got.Parts
	if len(parts) > len(want.Parts) {
		parts = parts[1:]
	}
	at := slices.IndexFunc(p.Manifest.Entries, func(e working.Entry) bool { return e.Section == working.SectionQuestion })
	whole := p.Manifest.Entries[at].Outcome == working.Kept
	if len(parts) != len(want.Parts) || whole && !reflect.DeepEqual(parts, want.Parts) {
		t.Errorf("the question was changed, and the manifest says %+v", p.Manifest.Entries[at])
	}
}

// checkGroups: messages stand in their order, groups are whole, and the latest step is there.
func checkGroups(t *testing.T, in working.Input, p working.Prompt) {
	place := map[string]int{}
	for i, m := range p.Messages {
		place[m.ID] = i + 1
	}
	last := 0
	for _, g := range message.Groups(in.History) {
		for _, m := range g.Messages {
			if (place[m.ID] == 0) != (place[g.Messages[0].ID] == 0) {
				t.Errorf("the group of message %s was cut", m.ID)
			}
			if at := place[m.ID]; at > 0 && at < last {
				t.Errorf("message %s is out of order", m.ID)
			} else if at > 0 {
				last = at
			}
		}
	}
	if end := in.History[len(in.History)-1]; end.Role != message.RoleSystem && place[end.ID] == 0 {
		t.Error("the end of the history is not there")
	}
}

func checkManifest(t *testing.T, in working.Input, p working.Prompt) {
	m := p.Manifest
	sent, before, entries := m.Frame, m.Frame, 0
	for _, u := range m.Sections {
		tokens, kept := 0, 0
		for _, e := range m.Entries {
			if e.Section != u.Section {
				continue
			}
			tokens += e.Sent
			before += e.Tokens
			if e.Outcome != working.Dropped {
				kept++
			}
			if (e.Outcome == working.Dropped) != (e.Sent == 0) && e.Tokens > 0 || (e.Outcome == working.Kept) != (e.Reason == "") {
				t.Errorf("%+v contradicts itself", e)
			}
		}
		if tokens != u.Tokens || kept != u.Kept+u.Shortened {
			t.Errorf("section %+v: its entries have %d tokens, %d are there", u, tokens, kept)
		}
		sent += tokens
		entries += u.Kept + u.Shortened + u.Dropped
	}
	if sent != m.After || before != m.Before || entries != len(m.Entries) || m.Frame < 0 {
		t.Errorf("%d sent, %d before, %d entries: %+v", sent, before, entries, m)
	}
	checkAllNamed(t, in, m)
}

// checkAllNamed: whatever was given is in the manifest once.
func checkAllNamed(t *testing.T, in working.Input, m working.Manifest) {
	var want, got []string
	for _, x := range in.History {
		want = append(want, x.ID)
	}
	for _, x := range in.Tools {
		want = append(want, x.Name)
	}
	for _, x := range in.Notes {
		want = append(want, x.ID)
	}
	for _, x := range in.Recalled {
		want = append(want, x.ID)
	}
	for _, e := range m.Entries {
		if e.Section != working.SectionState && e.Section != working.SectionSummary && !(e.Section == working.SectionSystem && len(e.ID) == 1) {
			got = append(got, e.ID)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the manifest names %q, want %q", got, want)
	}
}
