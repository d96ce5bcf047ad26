package main

import (
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/examples/aftersales/script"
	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/extract"
	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/longterm"
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
	"What is remembered of the customer shapes the form of your answers, and says which order or refund of an earlier conversation is " +
		"meant. What the shop rules is in its handbook: name the chapter. If the handbook does not say, say that.",
}

// boxes are where the agent keeps what it knows: of the conversations, of each customer, of the shop.
type boxes struct {
	sessions *session.Store
	memories *longterm.Store
	handbook *knowledge.Store
}

// emptyBoxes are in memory.
func emptyBoxes() (b boxes, err error) {
	var errs [3]error
	b.sessions, errs[0] = session.NewMemory(session.Options{})
	b.memories, errs[1] = longterm.NewMemory(longterm.Options{})
	b.handbook, errs[2] = knowledge.NewMemory(knowledge.Options{})
	return b, errors.Join(errs[:]...)
}

// close closes those that were opened.
func (b boxes) close() (err error) {
	if b.handbook != nil {
		err = b.handbook.Close()
	}
	if b.memories != nil {
		err = errors.Join(err, b.memories.Close())
	}
	if b.sessions != nil {
		err = errors.Join(err, b.sessions.Close())
	}
	return err
}

// agent is who reads and writes what is remembered of customers. Another agent of the shop has another name, and sees what is in a namespace
// that it shares.
func agent() (memory.Agent, error) {
	return memory.NewAgent("aftersales", memory.Internal, "aftersales")
}

// newCare makes the graph of the agent.
func newCare(client *shop.Client, b boxes, m brain, around surroundings) (*graph.Graph[Care], error) {
	who, err := agent()
	if err != nil {
		return nil, err
	}
	memories := nodes.Memories{Store: b.memories}
	tools := append(clerk{client}.tools(), memories.Tools(who)...)
	for i := range tools {
		tools[i] = around.tool(tools[i])
	}
	kit, err := nodes.New(nodes.Config{
		Roles:     []nodes.Role{{Name: "aftersales", System: rules, Tools: tools, Models: []nodes.Model{m.model}}},
		Session:   b.sessions,
		LongTerm:  around.memories(memories),
		Knowledge: nodes.Documents{Store: b.handbook},
		Agent:     who,
		Profile:   working.Assistant(),
		Counter:   m.counter,
	})
	if err != nil {
		return nil, err
	}
	return nodes.Agent[Care]("care", kit), nil
}

// surroundings are what stands around tools and memories: for people who watch, and for tests.
type surroundings struct {
	tool     func(nodes.Tool) nodes.Tool
	memories func(nodes.LongTerm) nodes.LongTerm
}

// inView shows what tools do.
var inView = surroundings{tool: watched, memories: func(m nodes.LongTerm) nodes.LongTerm { return m }}

// A brain is a model and how its tokens are counted.
type brain struct {
	model   nodes.Model
	counter working.Counter    // nil: an estimate
	reader  longterm.Extractor // finds by the model what is worth keeping of what was said; nil: rules alone
}

// scripted is the brain that needs no provider. It pauses for pace between two parts of an answer.
func scripted(pace time.Duration) brain { return brain{model: script.Model{Pace: pace}} }

// brainOf is the one that the environment names, or else the scripted one.
func brainOf(pace time.Duration) (brain, error) {
	m, named, err := openai.FromEnv()
	if err != nil || !named {
		return scripted(pace), err
	}
	return brain{m, working.Cached(tiktoken.O200k(), 10_000), extract.Model(nodes.Completion(m))}, nil
}

// tenant is the shop: everybody who talks to this program is a customer of it.
const tenant = "shop"

func scopeOf(user string) (memory.Scope, error) { return memory.NewScope(tenant, user) }
