package working_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/memory/working"
)

func profiles() []working.Profile {
	return []working.Profile{working.Default(), working.Answers(), working.Assistant(), working.Operations(), working.LongTask()}
}

// The default caps add up to the whole, the reserve included. // R39, T6
func TestDefaultCaps(t *testing.T) {
	t.Parallel()
	p := working.Default()
	want := working.Caps{System: 4000, State: 1000, Recent: 6000, Summary: 600, Memories: 2000, Knowledge: 6000, Observations: 4000, Notes: 800}
	if p.Caps != want || p.Reserve != 1000 || p.MaxInput != 24_000 {
		t.Errorf("got %+v", p)
	}
}

// Every named profile works, and no two are alike in stores, budgets and thresholds. // R12, R40, R47
func TestNamedProfiles(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, p := range profiles() {
		if err := p.Check(); err != nil || names[p.Name] {
			t.Errorf("%s: %v", p.Name, err)
		}
		names[p.Name] = true
		if p.Rounds < 2 || p.Rounds > 6 {
			t.Errorf("%s keeps %d rounds", p.Name, p.Rounds)
		}
	}
	if p := working.Answers(); p.Uses(working.LongTerm) || !p.Uses(working.Knowledge) {
		t.Error("plain answers come from documents, not from what is remembered of the user")
	}
	if p := working.Assistant(); !p.Uses(working.LongTerm) || p.Uses(working.Graph) || p.Uses("elsewhere") {
		t.Error("an assistant remembers the user")
	}
}

// A profile that cannot work is refused with all that is wrong with it. // R40, T6
func TestConfigErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*working.Profile)
		want   []string
	}{
		"sum":      {func(p *working.Profile) { p.Reserve = 1500 }, []string{"add up to 24500, MaxInput is 24000"}},
		"negative": {func(p *working.Profile) { p.Caps.State, p.Reserve = -1, -2 }, []string{"Caps.State is -1", "Reserve is -2"}},
		"overflow": {func(p *working.Profile) { p.Caps.Recent, p.Caps.Memories = math.MaxInt, math.MaxInt }, []string{"Caps.Recent is", "Caps.Memories is"}},
		"parts":    {func(p *working.Profile) { p.Caps.Summary, p.Caps.Notes = 6001, 4001 }, []string{"6001 of the 6000", "4001 of the 4000"}},
		"order": {func(p *working.Profile) { p.Order[0] = working.SectionState },
			[]string{`Order has "state"`, `Order has "summary" 0 times`}},
		"twice":   {func(p *working.Profile) { p.Order = append(p.Order, p.Order[0]) }, []string{`Order has "summary" 2 times`}},
		"sources": {func(p *working.Profile) { p.Sources = []working.Source{"web", "ltm", "ltm"} }, []string{`"web", which is not known`, `"ltm" twice`}},
		"rest": {func(p *working.Profile) { p.Rounds, p.Excerpt, p.Trigger, p.Language = 0, 0, math.NaN(), 9 },
			[]string{"Rounds is 0", "Excerpt is 0", "Trigger is NaN", "Language 9"}},
		"zero": {func(p *working.Profile) { *p = working.Profile{} }, []string{"Order has", "Rounds is 0", "Trigger is 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := working.Default()
			c.change(&p)
			_, err := working.New(p, nil)
			if e, ok := errors.AsType[*working.ConfigError](err); !ok || !errors.Is(err, working.ErrConfig) || e.Profile != p.Name {
				t.Fatalf("got %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v does not say %q", err, want)
				}
			}
		})
	}
	if _, err := working.New(working.Default(), margin(1)); !errors.Is(err, working.ErrConfig) {
		t.Errorf("a counter that leaves nothing was taken: %v", err)
	}
}

// margin is a counter that counts runes, with a margin.
type margin float64

func (margin) Count(text string) int { return len([]rune(text)) }
func (m margin) Margin() float64     { return float64(m) }
func (margin) Name() string          { return "runes" }
