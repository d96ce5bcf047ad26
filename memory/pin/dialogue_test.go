package pin_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/pindialogue"
	"github.com/holdfast-go/holdfast/memory/pin"
	"github.com/holdfast-go/holdfast/message"
)

// pins are what a message makes.
func pins(text string) (out []pin.Pin) {
	for _, f := range pin.Detect(message.User(text)) {
		if f.Effect != pin.Permit {
			out = append(out, f.Pin(f.Text, "m1", time.Unix(int64(len(out)), 0)))
		}
	}
	return out
}

// Each of a hundred denials is found, its breach is stopped, and what only looks like one passes. // R49, R50
func TestDialogues(t *testing.T) {
	t.Parallel()
	all := pindialogue.Dialogues()
	if len(all) != 100 {
		t.Fatalf("%d dialogues", len(all))
	}
	for _, d := range all {
		ps := pins(d.Denial)
		if len(ps) == 0 || ps[0].Effect != pin.Deny {
			t.Errorf("%q makes %+v", d.Denial, ps)
			continue
		}
		if v := pin.Gate(ps, d.Tempt.Call, d.Tempt.Tool); v.Decision == pin.Allow || v.Reason == "" {
			t.Errorf("%q lets %s %s pass: %+v", d.Denial, d.Tempt.Name, d.Tempt.Args, ps)
		}
		if v := pin.Gate(ps, d.Harmless.Call, d.Harmless.Tool); v.Decision != pin.Allow {
			t.Errorf("%q stops %s %s: %s", d.Denial, d.Harmless.Name, d.Harmless.Args, v.Reason)
		}
	}
}

// The dialogues come in one order, so that a failure is found again.
func TestDialoguesOrder(t *testing.T) {
	t.Parallel()
	for range 20 {
		if all := pindialogue.Dialogues(); all[0].Lang != "zh" || all[99].Lang != "en" {
			t.Fatalf("from %s to %s", all[0].Lang, all[99].Lang)
		}
	}
}

// What only sounds like a denial is none: questions, reports, idioms, facts, orders to do something. // R49
func TestHarmlessSentences(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"zh", "en"} {
		for _, text := range lines(t, "testdata/harmless."+lang+".txt") {
			for _, f := range pin.Detect(message.User(text)) {
				t.Errorf("%q is taken for %s %v %v", text, f.Effect, f.Actions, f.Targets)
			}
		}
	}
}

func lines(t *testing.T, file string) []string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(all) < 100 {
		t.Fatalf("%s has %d lines", file, len(all))
	}
	return all
}
