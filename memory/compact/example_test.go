package compact_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/compact"
	"github.com/holdfast-go/holdfast/memory/working"
)

// A long conversation becomes a summary and its latest rounds; what was taken out is found again.
func Example() {
	ctx := context.Background()
	scope, err := memory.NewScope("acme", "li")
	if err != nil {
		panic(err)
	}
	results, counter := &shelf{}, working.Estimate // in a program a store of memory/session
	c, err := compact.New(counter, results, compact.Options{Budget: 1000, SummaryCap: 120, Rounds: 1})
	if err != nil {
		panic(err)
	}
	state := compact.State{History: slices.Concat(
		round("The default environment is staging. I had tea.", "Good to know."),
		round("Order ORD-4711 was refused.", "I see."),
		round("Now the default environment is production.", "Fine."),
	)}
	for range 20 {
		state.History = append(state.History, round("And how is the weather?", strings.Repeat("It rains and rains. ", 10))...)
	}
	state, report, err := c.Compact(ctx, scope, "talk-1", state)
	if err != nil {
		panic(err)
	}
	facts, reference, _ := strings.Cut(state.Summary.Text, "\nFull text of ")
	_, index, _ := strings.Cut(reference, "result ")
	fmt.Println(report.Stop, report.After <= 500)
	fmt.Println(facts)

	page, err := compact.Fetch(ctx, counter, results, scope, compact.Query{Result: index, Text: "tea"})
	if err != nil {
		panic(err)
	}
	fmt.Println(strings.Contains(page.Text, "The default environment is staging. I had tea."))
	// Output:
	// done true
	// - (user) Order ORD-4711 was refused.
	// - (user) Now the default environment is production.
	// true
}
