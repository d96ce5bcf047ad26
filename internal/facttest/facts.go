package facttest

import (
	_ "embed"
	"strings"
)

// A Fact is what a user says, among other things.
type Fact struct {
	Lang string
	Said string // all that the user wrote
	Key  string // of the draft that it makes; "": none
	Text string // of the conclusion
}

//go:embed planted.txt
var plantedText string

// Planted returns 20 facts that users say among small talk, 10 in each language, the same in every call.
func Planted() []Fact { return facts(plantedText) }

//go:embed denials.txt
var denialsText string

// Denials returns facts that are negations: what somebody refuses, dislikes, or forbids for good.
func Denials() []Fact { return facts(denialsText) }

func facts(text string) (out []Fact) {
	for _, p := range lines(text, 4) {
		out = append(out, Fact{p[0], strings.ReplaceAll(p[1], `\n`, "\n"), p[2], p[3]})
	}
	return out
}

//go:embed junk.txt
var junkText string

// Junk returns texts that hold nothing to remember of a user, though many look like it: system prompts, dumps of tools, recalled
// memories, answers of an assistant, small talk, questions, suppositions, reports of others, logs, code.
func Junk() []string { return strings.Split(strings.TrimSpace(junkText), "\n----\n") }
