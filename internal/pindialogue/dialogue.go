// Package pindialogue has a hundred things that users forbid, each with a call that would break it and one that would not, for tests.
package pindialogue

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/memory/pin"
	"github.com/holdfast-go/holdfast/message"
)

// A Dialogue is one denial and two calls.
type Dialogue struct {
	Lang     string // "zh" or "en"
	Denial   string // what the user says
	Tempt    Call   // breaks it
	Harmless Call   // looks like it, and does not
}

// A Call is a call of a tool, with what the tool's author says of it.
type Call struct {
	message.Call
	Tool pin.Tool
}

//go:embed zh.txt
var zh string

//go:embed en.txt
var en string

// Dialogues returns all of them, the same in every call.
func Dialogues() (all []Dialogue) {
	return append(read("zh", zh), read("en", en)...)
}

func read(lang, text string) (all []Dialogue) {
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		parts := strings.Split(line, " | ")
		if len(parts) != 5 {
			panic(fmt.Sprintf("line %d of %s.txt has %d parts", i+1, lang, len(parts)))
		}
		all = append(all, Dialogue{lang, parts[0], call("tempt", parts[1], parts[2]), call("harmless", parts[3], parts[4])})
	}
	return all
}

// call reads a tool as name, name:actions, or name:read.
func call(id, tool, args string) Call {
	name, actions, _ := strings.Cut(tool, ":")
	t := pin.Tool{Name: name, ReadOnly: actions == "read"}
	if actions != "" && !t.ReadOnly {
		t.Actions = strings.Split(actions, ",")
	}
	return Call{message.Call{ID: id, Name: name, Args: args}, t}
}
