package working_test

import (
	"fmt"
	"log"

	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

func Example() {
	a, err := working.New(working.Assistant(), working.Estimate)
	if err != nil {
		log.Fatal(err)
	}
	prompt, err := a.Assemble(working.Input{
		System:   []string{"You answer questions about orders."},
		State:    "order: 4711 (the user confirmed it)",
		History:  []message.Message{message.User("Where is it?")},
		Recalled: []working.Item{{Source: working.LongTerm, ID: "m1", Kind: "preference", Text: "Prefers short answers."}},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range prompt.Messages {
		fmt.Println(m.Role, len(m.Parts))
	}
	for _, e := range prompt.Manifest.Entries {
		fmt.Println(e.Section, e.Outcome)
	}
	// Output:
	// system 2
	// user 2
	// system kept
	// state kept
	// question kept
	// memories kept
}

func ExampleProfile() {
	p := working.Operations()
	p.MaxInput, p.Caps.Knowledge = 32_000, 14_000
	p.Language = working.Chinese
	fmt.Println(p.Check())
	p.Caps.Memories = 4_000
	fmt.Println(p.Check())
	// Output:
	// <nil>
	// working: the profile cannot work: "operations"
	// 	the caps and Reserve add up to 34000, MaxInput is 32000
}
