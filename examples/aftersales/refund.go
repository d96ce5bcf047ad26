package main

import (
	"time"

	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/state"
)

// Refund is the state of one refund. A field's type says how the writes of nodes that run at the same time merge.
type Refund struct {
	Request  state.Last[Request]      `json:"request"`
	Order    state.Last[shop.Order]   `json:"order"`
	Check    state.Last[shop.Check]   `json:"check"`
	Risk     state.Map[string, int]   `json:"risk"`   // points of each article, written by one task each
	Points   state.Sum[int]           `json:"points"` // and their sum
	Amount   state.Last[shop.Money]   `json:"amount"`
	Approval state.Last[Approval]     `json:"approval"`
	Receipt  state.Last[shop.Receipt] `json:"receipt"`
	Notices  state.Keyed[shop.Notice] `json:"notices"`
	Booking  state.Last[shop.Booking] `json:"booking"`
	Outcome  state.Last[Outcome]      `json:"outcome"`
	Trail    state.List[string]       `json:"trail"` // names of the nodes that have done their work
}

// newRefund draws the graph. Everything it does in the outside world goes through the client.
func newRefund(client *shop.Client) *graph.Graph[Refund] {
	c := &clerk{shop: client}
	g := graph.New[Refund]("refund")
	g.Branch("find", c.find, "policy", "assess", "decline")
	g.Node("policy", c.policy)
	c.articles = graph.Each(g, "assess", c.assess)
	g.Branch("decide", decide, "approve", "pay", "decline")
	g.Branch("approve", approve, "pay", "decline")
	g.Node("pay", c.pay)
	g.Node("notify", c.notify)
	g.Node("books", c.books)
	g.Node("decline", c.decline)
	g.Node("done", done)

	g.Edge(graph.Start, "find")
	g.Join([]string{"policy", "assess"}, "decide")
	g.Edge("pay", "notify")
	g.Edge("pay", "books")
	g.Join([]string{"notify", "books"}, "done")
	g.Handle("pay", c.unpaid, "decline")
	return g
}

// patience is how every node is run: an error that may pass is tried again, with longer and longer waits between.
var patience = graph.Policy{Attempts: 5, Backoff: 150 * time.Millisecond, MaxBackoff: 2 * time.Second}
