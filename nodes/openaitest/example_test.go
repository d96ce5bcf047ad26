package openaitest_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
	"github.com/holdfast-go/holdfast/nodes/openai"
	"github.com/holdfast-go/holdfast/nodes/openaitest"
)

func Example() {
	p := openaitest.New(openaitest.Config{Replies: []openaitest.Reply{
		{Error: openaitest.RateLimited("2")},
		{Text: "It is in Lyon.", Cut: &openaitest.Cut{After: 450}},
		{Text: "It is in Lyon."},
	}})
	defer p.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	model, err := openai.New(openai.Options{BaseURL: p.URL, Model: "test", HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ask := nodes.Request{Messages: []message.Message{message.User("Where is my parcel?")}}
	for range 3 {
		answer, err := model.Generate(context.Background(), ask, nil)
		fmt.Printf("%q %q\n", answer.Message.Text(), nodes.KindOf(err))
	}
	fmt.Println(len(p.Requests()), p.Refused())
	// Output:
	// "" "rate_limited"
	// "It is in Lyon." "cut"
	// "It is in Lyon." ""
	// 3 []
}
