package longterm_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/longterm"
)

// A later fact about the same subject supersedes the one before, which stays in the history and can be brought back.
func Example() {
	store, err := longterm.NewMemory(longterm.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	ctx := context.Background()
	user, err := memory.NewScope("acme", "ann") // from the authenticated request
	if err != nil {
		log.Fatal(err)
	}
	agent, err := memory.NewAgent("assistant", memory.Public, "preferences")
	if err != nil {
		log.Fatal(err)
	}
	said := func(text, message string, at time.Time) longterm.Outcome {
		out, err := store.Add(ctx, user, agent, longterm.Draft{
			Kind: longterm.Preference, Key: "report.format", Text: text, Origin: longterm.FromUser,
			Source: longterm.Source{Conversation: "c-1", Message: message, At: at},
		})
		if err != nil {
			log.Fatal(err)
		}
		return out[0]
	}
	monday := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	fmt.Println(said("I like reports as tables", "m-1", monday).Fate)
	last := said("I like reports as plain text", "m-7", monday.Add(24*time.Hour))
	fmt.Println(last.Fate)

	hits, err := store.Search(ctx, user, agent, longterm.Query{Text: "how should I format the report?"})
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range hits {
		fmt.Printf("%s (message %s, by words: rank %d)\n", h.Text, h.Sources[0].Message, h.Why.Lexical)
	}
	back, err := store.RollBack(ctx, user, agent, last.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("again:", back.Text)
	// Output:
	// stored
	// replaced
	// I like reports as plain text (message m-7, by words: rank 1)
	// again: I like reports as tables
}
