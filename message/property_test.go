package message_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holdfast-go/holdfast/internal/alloctest"
	"github.com/holdfast-go/holdfast/message"
)

// A history comes back from JSON as it was: through Encode, and as plain data as a state stores it. // E10
func TestJSONBothWays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		history := wellFormed(t)
		doc, err := message.Encode(history)
		if err != nil {
			t.Fatal(err)
		}
		again, err := message.Decode(doc)
		if err != nil || !reflect.DeepEqual(again, history) {
			t.Fatalf("%v\n got %#v\nwant %#v\nfrom %s", err, again, history, doc)
		}
		for _, m := range history {
			var plain message.Message
			doc, err := json.Marshal(m)
			if err = errors.Join(err, json.Unmarshal(doc, &plain)); err != nil || !reflect.DeepEqual(plain, m) {
				t.Fatalf("%v\n got %#v\nwant %#v\nfrom %s", err, plain, m, doc)
			}
		}
	})
}

// A clone is equal and shares nothing.
func TestClone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := oneMessage(t)
		before, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		c := m.Clone()
		if !reflect.DeepEqual(c, m) {
			t.Fatalf("got %#v, want %#v", c, m)
		}
		spoil(c.Parts)
		if after, _ := json.Marshal(m); string(after) != string(before) {
			t.Fatalf("changing the clone changed the original\n got %s\nwant %s", after, before)
		}
	})
}

func spoil(parts []message.Part) {
	for i := range parts {
		p := &parts[i]
		if p.Image != nil {
			clear(p.Image.Data)
			p.Image.Data = append(p.Image.Data, 1)
			p.Image.URL += "!"
		}
		if p.Call != nil {
			p.Call.Args += "!"
		}
		if p.Result != nil {
			p.Result.Name += "!"
			spoil(p.Result.Parts)
		}
		p.Text += "!"
	}
}

// Groups keep the order, lose nothing, and never part a result from its call, whatever the history. // report 12, report 13
func TestGroupsOfAnyHistory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		history := wellFormed(t)
		var joined []message.Message
		open := 0
		for _, g := range message.Groups(history) {
			if g.Start != len(joined) || len(g.Messages) == 0 {
				t.Fatalf("group starts at %d with %d messages, want %d", g.Start, len(g.Messages), len(joined))
			}
			joined = append(joined, g.Messages...)
			open += len(message.Open(g.Messages))
			if len(g.Messages) > 1 && len(g.Messages[0].Calls()) == 0 {
				t.Fatalf("a group of %d messages begins without a call", len(g.Messages))
			}
		}
		if len(joined) != len(history) || len(history) > 0 && !reflect.DeepEqual(joined, history) {
			t.Fatalf("groups hold %d messages of %d", len(joined), len(history))
		}
		if whole := len(message.Open(history)); open != whole {
			t.Fatalf("%d calls are open in the groups, %d in the history: a group was cut", open, whole)
		}
	})
}

// A valid history stays valid when whole groups are dropped so that it still begins with the user, and each id comes once.
// report 12, report 13, report 15, report 16
func TestCuttingAtGroupsKeepsHistoriesValid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		history := validHistory(t)
		if err := message.Valid(history); err != nil {
			t.Fatal(err)
		}
		var kept []message.Message
		for _, g := range message.Groups(history) {
			first := g.Messages[0].Role
			begins := len(kept) == 0 || kept[len(kept)-1].Role == message.RoleSystem
			if first == message.RoleAssistant && begins {
				continue
			}
			if rapid.Bool().Draw(t, "keep") {
				kept = append(kept, g.Messages...)
			}
		}
		if err := message.Valid(kept); err != nil {
			t.Fatal(err)
		}
	})
}

// Dropping any one message of a group with calls, or writing any one message twice, makes a history invalid.
// report 12, report 16
func TestEveryCutInsideAGroupIsSeen(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		history := validHistory(t)
		for _, g := range message.Groups(history) {
			for i := range g.Messages {
				at := g.Start + i
				twice := append(append(append([]message.Message{}, history[:at+1]...), history[at]), history[at+1:]...)
				if message.Valid(twice) == nil {
					t.Fatalf("message %d stands twice and nobody minds", at)
				}
				without := append(append([]message.Message{}, history[:at]...), history[at+1:]...)
				if len(g.Messages) > 1 && message.Valid(without) == nil {
					t.Fatalf("message %d of a group is gone and nobody minds", at)
				}
			}
		}
	})
}

// Decode never panics, and what it takes comes back the same from Encode.
func FuzzDecode(f *testing.F) {
	call := message.Call{ID: "c", Name: "t", Args: "{}"}
	doc, err := message.Encode([]message.Message{
		message.System("s"), message.User("u", message.ImageURL("x"), message.ImageData("image/png", []byte{1})),
		message.Assistant("a", call), message.Tool(call.Done("r")),
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(doc))
	f.Add(`[{"id":"1","role":"assistant","parts":[{"kind":"reasoning","text":"t","signature":"s"}],"partial":true}]`)
	f.Add("[" + strings.Repeat("{},", 5000) + "{}]")
	f.Add(`[{"id":"1","role":"user","parts":[` + strings.Repeat(`{"kind":"text"},`, 2000) + `{"kind":"text"}]}]`)
	f.Add(`[{"id":"1","role":"tool","parts":null},{"id":"1","role":"robot","parts":[]}] x`)
	f.Fuzz(func(t *testing.T, doc string) {
		var history []message.Message
		var err error
		alloctest.Bound(t, 1024, func() { history, err = message.Decode([]byte(doc)) }, []byte(doc)) // a message, its place in the tree of values
		if err != nil {
			if _, ok := errors.AsType[*message.FormError](err); !ok {
				t.Fatalf("Decode(%q) returned %T", doc, err)
			}
			return
		}
		_ = message.Valid(history)
		written, err := message.Encode(history)
		if err != nil {
			t.Fatalf("%q was read but cannot be written: %v", doc, err)
		}
		again, err := message.Decode(written)
		if err != nil || !reflect.DeepEqual(again, history) {
			t.Fatalf("%q became %q: %v", doc, written, err)
		}
	})
}
