package extract_test

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast/memory/extract"
	"github.com/holdfast-go/holdfast/memory/longterm"
)

func ExampleRules() {
	said := longterm.Text{
		Origin: longterm.FromUser, Source: longterm.Source{Conversation: "c-1", Message: "m-1"},
		Text: "Hi, my name is Dana. Do you ship to Malta? From now on, default to production. My boss likes tables.",
	}
	drafts, err := extract.Rules().Extract(context.Background(), []longterm.Text{said}, nil)
	for _, d := range drafts {
		fmt.Printf("%s: %q, because of %q\n", d.Key, d.Text, d.Words)
	}
	fmt.Println(err)
	// Output:
	// profile.name: "Name: Dana", because of "my name is Dana"
	// default.env: "Default environment: production", because of "From now on, default to production"
	// <nil>
}
