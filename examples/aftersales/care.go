package main

import (
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/examples/aftersales/script"
	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/memory/working/tiktoken"
	"github.com/holdfast-go/holdfast/nodes"
	"github.com/holdfast-go/holdfast/nodes/openai"
)

// Care is the state of one conversation with a customer.
type Care struct {
	nodes.Turn
}

// What a conversation keeps as confirmed: the order that it is about, and the refund that it has made last.
var (
	aboutOrder  = session.NewField("order", notEmpty)
	aboutRefund = session.NewField[refundFact]("refund")
)

func notEmpty(s string) error {
	if s == "" {
		return errors.New("an order has a number")
	}
	return nil
}

// A refundFact is what is remembered of a refund.
type refundFact struct {
	ID     string `json:"id"`
	Order  string `json:"order"`
	Amount string `json:"amount"`
}

// rules are told to the model in every call.
var rules = []string{
	"You are the after-sales agent of a shop. You help one customer with orders, deliveries and refunds, in the customer's " +
		"language.",
	"What you say about orders and refunds comes from tools, of this turn where it may have changed. \"It\" is the order of the " +
		"session state, if there is one. If you do not know which order is meant, ask.",
	"A refund that may have been made must be looked up before it is tried again. Never promise what no tool has confirmed.",
}

// newCare makes the graph of the agent.
func newCare(client *shop.Client, sessions *session.Store, brain brain, around func(nodes.Tool) nodes.Tool) (
	*graph.Graph[Care], error,
) {
	tools := clerk{client}.tools()
	for i := range tools {
		tools[i] = around(tools[i])
	}
	kit, err := nodes.New(nodes.Config{
		Roles:   []nodes.Role{{Name: "aftersales", System: rules, Tools: tools, Models: []nodes.Model{brain.model}}},
		Session: sessions,
		Profile: working.Assistant(),
		Counter: brain.counter,
	})
	if err != nil {
		return nil, err
	}
	return nodes.Agent[Care]("care", kit), nil
}

// A brain is a model and how its tokens are counted.
type brain struct {
	model   nodes.Model
	counter working.Counter // nil: an estimate
}

// scripted is the brain that needs no provider. It pauses for pace between two parts of an answer.
func scripted(pace time.Duration) brain { return brain{model: script.Model{Pace: pace}} }

// brainOf is the one that the environment names, or else the scripted one.
func brainOf(pace time.Duration) (brain, error) {
	m, named, err := openai.FromEnv()
	if err != nil || !named {
		return scripted(pace), err
	}
	return brain{m, working.Cached(tiktoken.O200k(), 10_000)}, nil
}

// tenant is the shop: everybody who talks to this program is a customer of it.
const tenant = "shop"

func scopeOf(user string) (memory.Scope, error) { return memory.NewScope(tenant, user) }
